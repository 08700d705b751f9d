// SPDX-License-Identifier: MIT
// How a body vibrates at one moment.
#pragma once

#include "thrum/base/vec.h"

namespace thrum::vibration {

/// Amplitudes and their speeds, one entry a mode. Modes have unit mass.
struct ModeState {
  VecX q;  ///< [kg^1/2 m]
  VecX v;  ///< [kg^1/2 m/s]

  [[nodiscard]] static ModeState at_rest(Eigen::Index modes)
  {
    return {VecX::Zero(modes), VecX::Zero(modes)};
  }
};

}  // namespace thrum::vibration
