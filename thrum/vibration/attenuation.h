// SPDX-License-Identifier: MIT
// The attenuated response [Coevoet20, section 4.4]: in large bodies an impact sends out waves that grow
// weaker with distance.
//
//     s = exp(-alpha (r - r0)) (r / r0)^-beta,                                          [eq. 14]
//     s = C r^-beta                                                   [section 4.5, with r0 = 1]
//
// times the motion of the struck point itself, which is known for a unit impulse at each vertex [eq. 15].
//
// For the rules that know of speeds that motion is f w f^T per impulse, w being the weights with which a
// pulse of Hertz' duration reaches the modes (pulse.h), as for modes by themselves: a heavy striker presses
// longer and sends out slower waves. Those that know of masses take 1/m_s = (w f).(w f) of the struck place
// and of each resting one with its own pulse.
#pragma once

#include <map>
#include <memory>

#include "thrum/distance/heat_geodesics.h"
#include "thrum/vibration/kick_distribution.h"
#include "thrum/vibration/modal_response.h"
#include "thrum/vibration/response_settings.h"

namespace thrum::vibration {

/// About c_S (0.862 + 1.14 nu) / (1 + nu) [m/s].
[[nodiscard]] double rayleigh_speed(const model::Material& material);

/// Distances along the surface from places that are asked for again and again. A place is rounded to a part
/// of an edge of the mesh, and the field of each is kept until it was not used for long.
class GeodesicCache {
 public:
  static constexpr double kGrid = 0.5;            ///< share of the mean edge to which places are rounded
  static constexpr std::size_t kMaxFields = 512;  ///< beyond it those not used for longest go

  /// `map` must outlive this.
  explicit GeodesicCache(SurfaceMap& map) : map_(map) {}

  /// Distances [m] from each of `from` to each of `to`, as rows. Solves for whichever side needs fewer new
  /// fields.
  [[nodiscard]] MatX distances(std::span<const Vec3> from, std::span<const Vec3> to);
  [[nodiscard]] std::uint64_t solves() const { return solves_; }

 private:
  struct Field {
    distance::GeodesicField field;
    std::uint64_t used = 0;
  };
  using Cell = std::array<std::int64_t, 3>;
  [[nodiscard]] Cell cell_of(const Vec3& p) const;
  [[nodiscard]] const distance::GeodesicField& field_from(const Cell& cell);

  SurfaceMap& map_;
  std::unique_ptr<distance::HeatGeodesics> geodesics_;
  double grid_ = 0;
  std::map<Cell, Field> fields_;
  std::uint64_t calls_ = 0;
  std::uint64_t solves_ = 0;
};

class AttenuatedResponse {
 public:
  /// Throws Error as ModalResponse does, and for attenuation that would grow with distance.
  AttenuatedResponse(std::shared_ptr<const model::ModalModel> model, const ResponseSettings& settings,
                     const AttenuationSettings& attenuation);

  AttenuatedResponse(const AttenuatedResponse&) = delete;
  AttenuatedResponse& operator=(const AttenuatedResponse&) = delete;

  /// One rigid step.
  [[nodiscard]] ResponseResult respond(const ResponseInput& input);

  /// Largest displacement of each vertex along its normal within `step` after a unit normal impulse at the
  /// same vertex [m/(N s)], the vector q^ of eq. 15.
  [[nodiscard]] const VecX& self_displacement(double step);
  /// Speed of each vertex along its normal right after that impulse: the inverse of its effective mass
  /// [1/kg].
  [[nodiscard]] const VecX& self_speed() const { return self_speed_; }
  [[nodiscard]] GeodesicCache& geodesics() { return geodesics_; }
  [[nodiscard]] SurfaceMap& map() { return map_; }

 private:
  [[nodiscard]] double at_point(const VecX& values, const Vec3& position);
  /// f^2 of each mode at a place, or their mean [1/kg].
  [[nodiscard]] VecX squared_shapes_at(const Vec3& position);
  /// Share of each mode that an impact at a contact reaches, or that a body resting there can follow.
  [[nodiscard]] VecX contact_pulse_weights(const ResponseInput& input, const SurfaceContact& contact,
                                           double speed) const;
  [[nodiscard]] std::vector<TargetSpeed> target_speeds(const ResponseInput& input,
                                                       const std::vector<std::size_t>& struck,
                                                       const std::vector<std::size_t>& resting,
                                                       MatX& distances);

  std::shared_ptr<const model::ModalModel> model_;
  ResponseSettings settings_;
  AttenuationSettings attenuation_;
  SurfaceMap map_;
  GeodesicCache geodesics_;
  elastic::ModeList modes_;
  MatX vertex_squares_;        ///< modes x vertices: f^2 along the normals [1/kg]
  std::vector<Index> upward_;  ///< vertices that face up, or all when none does
  VecX mean_squares_;          ///< their mean over these vertices
  double modulus_ = 0;         ///< E / (1 - nu^2) [Pa]
  VecX self_speed_;
  VecX self_displacement_;
  double displacement_step_ = -1;
  double wave_speed_ = 0;
};

}  // namespace thrum::vibration
