// SPDX-License-Identifier: MIT
// Random numbers for property tests, spread over the whole range from the first case on.
#pragma once

#include <rapidcheck.h>

namespace thrum::support {

/// low <= n < high.
inline int whole(int low, int high)
{
  return *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high)));
}

inline double real(double low, double high)
{
  constexpr int kSteps = 1 << 24;
  return low + (high - low) * whole(0, kSteps) / kSteps;
}

}  // namespace thrum::support
