// SPDX-License-Identifier: MIT
// When groups of bodies fall asleep.
#pragma once

namespace thrum::rigid {

struct SleepSettings {
  bool enabled = true;
  double speed = 0.01;          ///< a body slower than this many length scales a second is still
  double angular_speed = 0.02;  ///< and turning slower than this [rad/s]
  double time = 0.5;            ///< a group falls asleep after being still for this long [s]
};

}  // namespace thrum::rigid
