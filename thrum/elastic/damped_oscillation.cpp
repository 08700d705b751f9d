// SPDX-License-Identifier: MIT
#include "thrum/elastic/damped_oscillation.h"

#include <cmath>

namespace thrum::elastic {

DampedOscillation damped_oscillation(double omega, double decay, double time)
{
  // Below this the series of sin(x)/x to second order is exact in double precision.
  constexpr double kSeriesThreshold = 1e-4;
  const double square = (omega - decay) * (omega + decay) * time * time;
  const double angle = std::sqrt(std::abs(square));
  const double e = std::exp(-decay * time);
  if (angle < kSeriesThreshold) return {e * (1 - square / 2), e * time * (1 - square / 6)};
  if (square > 0) return {e * std::cos(angle), e * time * std::sin(angle) / angle};
  // Two decaying exponentials, never the product of one that overflows and one that underflows.
  const double slow = std::exp(angle - decay * time);
  const double fast = std::exp(-angle - decay * time);
  return {(slow + fast) / 2, time * (slow - fast) / (2 * angle)};
}

}  // namespace thrum::elastic
