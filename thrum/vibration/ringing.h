// SPDX-License-Identifier: MIT
// What the kick rules work on: the modes of the struck body and its touches, mapped to the surface.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/vibration/mode_motion.h"
#include "thrum/vibration/response_settings.h"
#include "thrum/vibration/touch.h"

namespace thrum::vibration {

/// The touches of one step; one object serves many steps, so that it keeps its memory.
struct MappedTouches {
  MatX rows;    ///< one row a touch: f = n^T H U, what each mode moves it along its normal [kg^(-1/2)]
  VecX answer;  ///< rigid_answer(i, i) of each touch [1/kg]
  std::vector<const Eigen::Matrix<double, 3, Eigen::Dynamic>*> shapes;  ///< H U of each touch
  std::vector<std::size_t> struck;                                      ///< touches whose impacts count
  std::vector<std::size_t> resting;                                     ///< touches of the other bodies
  std::vector<char> strikes;                                            ///< by body
};

struct Ringing {
  const elastic::ModeList& modes;
  const ResponseInput& input;
  const ResponseSettings& settings;
  double modulus;  ///< E / (1 - nu^2) of the ringing body [Pa]
  const MappedTouches& touches;

  const MatX& rows = touches.rows;
  const VecX& answer = touches.answer;
  const std::vector<const Eigen::Matrix<double, 3, Eigen::Dynamic>*>& shapes = touches.shapes;
  const std::vector<std::size_t>& struck = touches.struck;
  const std::vector<std::size_t>& resting = touches.resting;

  [[nodiscard]] const Touch& touch(std::size_t i) const { return input.touches[i]; }
  [[nodiscard]] const RigidPart& body_of(std::size_t i) const
  {
    return input.bodies[static_cast<std::size_t>(touch(i).body)];
  }
  /// Hertz' contact time at a touch for a speed of approach [s].
  [[nodiscard]] double pulse_duration(std::size_t i, double speed) const;
};

/// Speed that stands for the gentle blows of a rattling surface where none is known, in durations of contact [m/s].
inline constexpr double kRattleSpeed = 0.1;

}  // namespace thrum::vibration
