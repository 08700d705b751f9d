// SPDX-License-Identifier: MIT
// Sound fields of sources spread over the surface of a body itself: for thin walls and slender parts, in
// which no source lies deep enough inside.
#pragma once

#include <memory>
#include <vector>

#include "thrum/sound/equivalent_sources.h"

namespace thrum::sound {

/// The part of the equations that all modes share.
class SurfaceSources {
 public:
  /// Cuts the surface into at most `count` patches of about equal size, each of one side of a wall.
  /// Sources `inside`, a few of them, make the solution unique at the standing waves inside a solid body.
  SurfaceSources(const model::ModalModel& model, int count, SourceSet inside = {});

  /// The far field of a mode. The residual is the part of the normal velocity that differs within patches,
  /// and so is not represented.
  [[nodiscard]] ModeFarField fit(Index mode, double omega, const Vec3& centre, double radius, int max_order,
                                 const Air& air) const;

  [[nodiscard]] Index patch_count() const { return count_of(patch_areas_); }

 private:
  /// A few of them make a patch: points of the integrals that depend on the frequency.
  struct Cell {
    Vec3 centre = Vec3::Zero();
    Vec3 area_vector = Vec3::Zero();  ///< area times normal, summed [m^2]
    double area = 0;                  ///< [m^2]
    Index patch = 0;
  };
  [[nodiscard]] Eigen::MatrixXcd matrix_at(double wave_number) const;
  [[nodiscard]] Eigen::MatrixXcd inner_fluxes(double omega, const Air& air) const;
  void build_static_part(const mesh::TriangleMesh& surface, const std::vector<Index>& patch_of);

  SourceSet inside_;
  std::vector<Cell> cells_;
  std::vector<double> patch_areas_;  ///< [m^2]
  MatX static_;                      ///< flux through a patch of a unit density on another, at frequency 0
  MatX fluxes_;                      ///< integral of the normal velocity over each patch, by mode
  VecX missed_;                      ///< residual, by mode
};

}  // namespace thrum::sound
