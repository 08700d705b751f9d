// SPDX-License-Identifier: MIT
// What a body needs to sound: modes, what they radiate, and its surface. Bodies of the same mesh and material
// share one.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "thrum/elastic/modal_filter.h"
#include "thrum/mesh/bvh.h"
#include "thrum/model/modal_model.h"
#include "thrum/sound/radiation_map.h"
#include "thrum/sound/synthesis_settings.h"

namespace thrum::sound {

class ModeTail;        // thrum/sound/mode_tail.h
struct ModeRadiation;  // thrum/sound/scalar_radiation.h

/// Displacement of a point by each mode [kg^(-1/2)].
using PointShapes = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;

class SoundModel {
 public:
  /// `modes` may be empty: then the body only clicks. `surface` in the same axes; it may be open or have no
  /// triangles.
  SoundModel(std::shared_ptr<const model::ModalModel> modes, const mesh::TriangleMesh& surface,
             const model::Material& material, const SynthesisSettings& settings = {});

  /// Those of the model, then those above them that are known in the mean only (mode_tail.h).
  [[nodiscard]] std::size_t mode_count() const { return modes_.size(); }
  [[nodiscard]] std::size_t known_mode_count() const { return known_modes_; }
  /// Of the known ones, those from min_frequency to half the sample rate.
  [[nodiscard]] std::size_t heard_mode_count() const { return heard_modes_; }
  [[nodiscard]] const elastic::ModeList& modes() const { return modes_; }
  [[nodiscard]] const model::ModalModel* modal_model() const { return model_.get(); }
  /// r p / q' of each mode [Pa m / (kg^1/2 m/s)].
  [[nodiscard]] const std::vector<double>& amplitudes() const { return amplitudes_; }
  /// How many modes of the body each stands for: 1, or more above the known ones.
  [[nodiscard]] const std::vector<double>& counts() const { return counts_; }
  /// What the known ones radiate by direction; none with SoundRadiation::scalar.
  [[nodiscard]] const RadiationMap* radiation() const { return radiation_.get(); }
  [[nodiscard]] PointShapes shapes_at(const Vec3& position) const;

  /// Of the surface at a point: the larger, estimated from the angles between triangles; that of a ball of
  /// kEdgeRadius at an edge or a corner; 0 where it is flat [1/m].
  [[nodiscard]] double curvature_at(const Vec3& position) const;
  static constexpr double kEdgeRadius = 2e-3;  ///< of sharp edges and corners [m]

  [[nodiscard]] double modulus() const { return modulus_; }                  ///< E / (1 - nu^2) [Pa]
  [[nodiscard]] double contact_damping() const { return contact_damping_; }  ///< gamma
  /// Radius of the sphere of the same volume; 0 for an open surface [m].
  [[nodiscard]] double radius() const { return radius_; }

 private:
  void find_radiation(SoundRadiation kind);
  void add_tail(const std::vector<ModeRadiation>& radiation, const model::Material& material,
                const SynthesisSettings& settings);
  void find_curvatures(const mesh::TriangleMesh& surface);

  std::shared_ptr<const model::ModalModel> model_;
  elastic::ModeList modes_;
  std::vector<double> amplitudes_;
  std::vector<double> counts_;
  std::size_t known_modes_ = 0;
  std::size_t heard_modes_ = 0;
  std::shared_ptr<const ModeTail> tail_;
  std::shared_ptr<const RadiationMap> radiation_;
  std::unique_ptr<mesh::Bvh> modal_surface_;
  std::unique_ptr<mesh::Bvh> surface_;
  std::vector<double> curvatures_;          ///< by triangle of the surface [1/m]
  std::vector<std::array<bool, 3>> sharp_;  ///< by triangle: whether edge k, from corner k on, is sharp
  double edge_distance_ = 0;                ///< nearer to a sharp edge the edge is struck [m]
  double modulus_ = 0;
  double contact_damping_ = 0;
  double radius_ = 0;
};

/// Adds what an impulse [N s] at a point, spread over half a sine of `duration` about the time `middle` [s],
/// makes of each mode: U . J P(w) exp(-i w middle), with the spectrum P of the pulse [kg^1/2 m/s].
void add_modal_impulse(const SoundModel& model, const Vec3& position, const Vec3& impulse, double duration,
                       double middle, std::vector<std::complex<double>>& modes);

/// 1 / m_s of a body at a point: what a unit impulse along `direction` (unit), spread over half a sine of
/// `duration` [s], adds to the speed of the point by the modes, sum (U . n)^2 P(w)^2 with the spectrum P of
/// the pulse [1/kg].
[[nodiscard]] double modal_inverse_mass(const SoundModel& model, const Vec3& position, const Vec3& direction,
                                        double duration);

/// Spectrum at `omega` [rad/s] of half a sine of unit area and of `duration` [s], about its middle.
[[nodiscard]] double half_sine_spectrum(double omega, double duration);

/// Time over which two bodies push each other apart in an impact [s]: Hertz' contact of their materials and
/// curvatures at the point (each in the axes of its body), for an approach at `speed` [m/s] and
/// `inverse_mass` [1/kg] of both. 0 when a mass or the moduli are not known.
[[nodiscard]] double impact_duration(const SoundModel& a, const Vec3& position_a, const SoundModel& b,
                                     const Vec3& position_b, double inverse_mass, double speed);

}  // namespace thrum::sound
