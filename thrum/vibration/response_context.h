// SPDX-License-Identifier: MIT
// What the kick rules work on: the modes of the struck body and its contacts, mapped to the surface.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/vibration/diffuse_modes.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/response_settings.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// The contacts of one step; one object serves many steps, so that it keeps its memory.
struct MappedContacts {
  MatX rows;  ///< one row a contact: f = n^T H U, what each mode moves it along its normal [kg^(-1/2)]
  VecX inverse_effective_mass;  ///< inverse_effective_mass(i, i) of each contact [1/kg]
  std::vector<const Eigen::Matrix<double, 3, Eigen::Dynamic>*> shapes;  ///< H U of each contact
  std::vector<Vec3> places;  ///< of each contact on the surface: positions lie in the middle of the gap [m]
  std::vector<std::size_t> struck;   ///< contacts whose impacts count
  std::vector<std::size_t> resting;  ///< contacts of the other bodies
  std::vector<char> strikes;         ///< by body
};

/// What micro-collisions leave out to take less time, in the order in which it is left out.
struct MicroSavings {
  bool fast_modes = false;    ///< modes that turn more than once within the contact time of every impact
  double substep_factor = 1;  ///< by which substeps are longer
};

struct ResponseContext {
  const elastic::ModeList& modes;
  const ResponseInput& input;
  const ResponseSettings& settings;
  double modulus;  ///< E / (1 - nu^2) of the ringing body [Pa]
  const MappedContacts& contacts;

  const MatX& rows = contacts.rows;
  const VecX& inverse_effective_mass = contacts.inverse_effective_mass;
  const std::vector<const Eigen::Matrix<double, 3, Eigen::Dynamic>*>& shapes = contacts.shapes;
  const std::vector<Vec3>& places = contacts.places;
  const std::vector<std::size_t>& struck = contacts.struck;
  const std::vector<std::size_t>& resting = contacts.resting;
  const DiffuseModes* diffuse_modes = nullptr;  ///< above the highest of the model; may be none
  MicroSavings savings = {};                    ///< of micro_collisions

  [[nodiscard]] const SurfaceContact& contact(std::size_t i) const { return input.contacts[i]; }
  [[nodiscard]] const RigidBodyData& body_of(std::size_t i) const
  {
    return input.bodies[at(contact(i).body)];
  }
  /// Hertz' contact time at a contact for a speed of approach [s].
  [[nodiscard]] double pulse_duration(std::size_t i, double speed) const;
};

/// How a striking body has fallen since it met the surface. The rigid solver leaves it at the end of a step,
/// where gravity has acted on it for the rest of that step: a ball from 0.2 m that is taken back to before
/// its impact by the solver's impulse alone strikes with 0.8 to 1.2 of its energy in steps of 1/30 s,
/// depending on when in the step it struck. Over the struck contacts of one body, with the acceleration a,
///
///     separation speed without the impact = -approach speed + t_before (n . a),
///     separation speed now                = restitution x approach speed + t_after (n . a)
///
/// in the least-squares sense. Both are 0 where they would be longer than a step: then it was not the fall.
class FallSinceImpact {
 public:
  void add(const SurfaceContact& contact, const Vec3& acceleration, double separation_without_impact,
           double separation_now)
  {
    const double along = contact.normal.dot(acceleration);
    // Across gravity it changes nothing.
    if (std::abs(along) < kMinAlong * acceleration.norm()) return;
    before_ += along * (separation_without_impact + contact.approach_speed);
    after_ += along * (separation_now - contact.restitution * contact.approach_speed);
    square_ += along * along;
  }
  /// To be removed from the body before the impact is solved again [s].
  [[nodiscard]] double time_before(double step) const { return within(before_, -step, step); }
  /// To be added afterwards [s].
  [[nodiscard]] double time_after(double step) const { return within(after_, 0, step); }

 private:
  static constexpr double kMinAlong = 0.1;
  static constexpr double kTolerance = 0.25;  ///< of a step: gravity acts in substeps

  [[nodiscard]] double within(double sum, double min, double max) const
  {
    const double time = square_ > 0 ? sum / square_ : 0;
    const double slack = kTolerance * max;
    return time < min - slack || time > max + slack ? 0 : std::clamp(time, min, max);
  }

  double before_ = 0;  ///< [m^2/s^3]
  double after_ = 0;   ///< [m^2/s^3]
  double square_ = 0;  ///< [m^2/s^4]
};

/// Speed that stands for the gentle impacts of a rattling surface where none is known, in durations of
/// contact [m/s].
inline constexpr double kRattleSpeed = 0.1;

/// Of ResponseSettings::window = 0: at least the first, at most the second [s].
inline constexpr double kDefaultWindow = 0.02;
inline constexpr double kMaxDefaultWindow = 0.25;

/// The window of the settings, or the default for these modes [s].
[[nodiscard]] double response_window(const ResponseSettings& settings, const elastic::ModeList& modes);

}  // namespace thrum::vibration
