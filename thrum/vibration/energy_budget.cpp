// SPDX-License-Identifier: MIT
#include "thrum/vibration/energy_budget.h"

#include <algorithm>
#include <cmath>

namespace thrum::vibration {

// With B >= 0 the quadratic a^2 s.s/2 + a v.s - B is <= 0 at a = 0, so only its larger root counts. Written
// with the sum of the two terms of equal sign, nothing cancels: for v.s > 0 it is 2 B / (v.s + sqrt(...)),
// which tends to B / v.s for small s, and to 1 at most.
double max_scale_within_budget(double along, double square, double budget)
{
  if (along + square / 2 <= budget) return 1;
  const double B = std::max(0.0, budget);
  const double root = std::sqrt(along * along + 2 * square * B);
  const double share = along > 0 ? 2 * B / (along + root) : (root - along) / square;
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace thrum::vibration
