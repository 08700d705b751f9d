// SPDX-License-Identifier: MIT
// The modal response of one body [Coevoet20, sections 4.1 to 4.3]: impacts set its modes ringing, and what
// is in contact with it elsewhere is kicked.
//
//   ModalResponse table(model, settings);             // model: elastic/modal_analysis.h or a modal file
//   ModeState state = table.at_rest();
//   const ResponseResult r = table.respond({bodies, contacts, 0.01}, state);     // once a step
//   for (const Kick& kick : r.kicks) ...              // separation speeds for the solver; or r.body_impulses
//
// A step without an impact costs nothing but the decay of what still rings.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "thrum/elastic/modal_filter.h"
#include "thrum/elastic/surface_map.h"
#include "thrum/elastic/surface_response.h"
#include "thrum/vibration/kick_distribution.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/response_context.h"
#include "thrum/vibration/response_settings.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

using elastic::MappedPoint;
using elastic::SurfaceMap;

class ModalResponse {
 public:
  /// Throws Error for a model without modes or surface, settings out of range, and with `paper_filter` for
  /// modes that its coefficients do not cover.
  ModalResponse(std::shared_ptr<const model::ModalModel> model, const ResponseSettings& settings);

  /// One rigid step. `state` is carried on to its end. Throws Error for input that is not finite.
  [[nodiscard]] ResponseResult respond(const ResponseInput& input, ModeState& state);

  [[nodiscard]] ModeState at_rest() const { return ModeState::at_rest(modes_.omegas.size()); }
  [[nodiscard]] const elastic::ModeList& modes() const { return modes_; }
  [[nodiscard]] const ResponseSettings& settings() const { return settings_; }
  [[nodiscard]] SurfaceMap& map() { return map_; }
  [[nodiscard]] double modulus() const { return modulus_; }  ///< E / (1 - nu^2) [Pa]

 private:
  void map_contacts(const ResponseInput& input, ResponseResult& result);
  [[nodiscard]] bool reaches_impacts(const ResponseContext& context) const;
  [[nodiscard]] KickRule choose_rule(const ResponseContext& context) const;
  [[nodiscard]] double apply_time_budget(KickRule rule, ResponseContext& context) const;
  [[nodiscard]] ResponseResult exchange_standing(const ResponseContext& context, ModeState& state);
  [[nodiscard]] ResponseResult kick_by_peaks(const ResponseContext& context, ModeState& state, KickRule rule);
  [[nodiscard]] static std::size_t paper_samples(double step, double T);
  void paper_peaks(const ResponseContext& context, const VecX& mode_impulse);
  void displacement_peaks(const ResponseContext& context, const ModeState& state);
  void find_corners(const ResponseContext& context);
  void interpolate_corners(const ResponseContext& context);
  void add_tangential_impulses(const ResponseContext& context, const ModeState& state,
                               std::span<const Peak> peaks, double budget, ResponseResult& result) const;

  std::shared_ptr<const model::ModalModel> model_;
  ResponseSettings settings_;
  SurfaceMap map_;
  elastic::ModeList modes_;
  VecX inverse_omegas_;
  DiffuseModes diffuse_modes_;
  double modulus_ = 0;
  PeakSearch search_;

  // Kept from step to step, so that a response asks for little memory.
  MappedContacts mapped_contacts_;
  std::vector<const MappedPoint*> points_;  ///< of the contacts
  std::vector<SurfaceMap::Hint> hints_;     ///< where each contact was in the step before
  VecX mode_impulse_, row_;
  ModeState kept_;           ///< vibration before the impacts of a step
  MatX resting_columns_;     ///< modes x points
  std::vector<Peak> peaks_;  ///< of the resting contacts
  std::vector<TargetSpeed> targets_;
  KickDistributor distributor_;

  /// A corner of a triangle that something rests on, and the direction in which it presses.
  struct Corner {
    Index vertex = 0;
    Vec3 normal = Vec3::Zero();
    bool is_new = true;  ///< not the same as in the step before: its row is to be computed
  };
  /// Where a contact rests.
  struct RestingPlace {
    Index triangle = -1;
    Vec3 normal = Vec3::Zero();
  };
  std::vector<RestingPlace> resting_places_;                ///< of the step before
  std::vector<Corner> corners_;                             ///< of the resting contacts, each once
  std::vector<std::array<std::size_t, 3>> corner_indices_;  ///< into corners_, of each resting contact
  std::vector<std::size_t> corner_of_vertex_;               ///< by vertex; only what corners_ confirms counts
  std::vector<double> corner_peaks_;                        ///< by corner
  std::optional<elastic::RestartedPeakDisplacement> paper_filter_;
  elastic::SurfaceRows corner_rows_;
};

}  // namespace thrum::vibration
