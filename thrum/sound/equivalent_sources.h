// SPDX-License-Identifier: MIT
// Sound fields as sums of monopoles and dipoles inside a body [Koopmann89].
#pragma once

#include <span>
#include <vector>

#include "thrum/distance/mesh_distance.h"
#include "thrum/sound/multipole.h"

namespace thrum::sound {

/// A monopole and a dipole along `axis` at one place.
struct EquivalentSource {
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 axis = Vec3::UnitX();     ///< normal of the surface above it, unit
};
using SourceSet = std::vector<EquivalentSource>;

/// About `count` sources below the surface, evenly spread, one and a half times as deep as they are apart
/// where the body is thick enough and near its middle where it is thin. None for a surface without an
/// inside.
[[nodiscard]] SourceSet place_sources(const SurfacePoints& surface, const distance::MeshDistance& inside,
                                      int count);

/// Area-weighted normal velocity of each source: first all monopoles exp(-i k R) / R, then all dipoles, their
/// derivatives along the axis by the place of the source.
[[nodiscard]] FieldMatrix source_fields(const SurfacePoints& surface, const SourceSet& sources,
                                        double wave_number, const Air& air);

/// r p exp(i k r) far away in some directions, r from the centre, of sources of amplitudes x.
[[nodiscard]] std::vector<Complex> far_amplitudes(const SourceSet& sources, const Eigen::VectorXcd& x,
                                                  const Vec3& centre, double wave_number,
                                                  std::span<const Vec3> directions);

struct SourceFit {
  Vec3 centre = Vec3::Zero();
  double radius = 0;     ///< of the body about the centre [m]
  int max_order = 0;     ///< of the stored harmonics
  double tolerance = 0;  ///< of the residual
  Air air = {};
};

/// Fits the sets of sources, each larger than the one before, until the residual is below the tolerance, and
/// keeps the one of the smallest residual.
[[nodiscard]] ModeFarField fit_sources(std::span<const SourceSet> sets, std::span<const SurfacePoints> fitted,
                                       const SurfacePoints& check, Index mode, double omega,
                                       const SourceFit& fit);

}  // namespace thrum::sound
