// SPDX-License-Identifier: MIT
#include "thrum/vibration/pulse.h"

#include <cmath>
#include <numbers>

namespace thrum::vibration {

double contact_modulus(double a, double b)
{
  if (!(a > 0)) return b > 0 ? b / 2 : 0;
  if (!(b > 0)) return a / 2;
  return a * b / (a + b);
}

// The factor is 2 integral dx / sqrt(1 - x^(5/2)) (15/16)^(2/5) over [0, 1].
double hertz_duration(double m, double modulus, double radius, double speed)
{
  constexpr double kFactor = 2.8683;
  return kFactor * std::pow(m * m / (modulus * modulus * radius * speed), 0.2);
}

double equal_time_stiffness(double m, double duration)
{
  const double omega = std::numbers::pi / duration;
  return m * omega * omega;
}

// The spectrum of a half-sine of unit area and length tau, about its middle, is
//
//     P(w) = cos(w tau / 2) / (1 - (w tau / pi)^2),
//
// with the limits 1 for w tau -> 0 and pi/4 for w tau -> pi. Beyond the first zero at w tau = 3 pi the side lobes are
// below 3 % and change sign; a mode there is left alone.
double pulse_weight(double omega, double duration)
{
  constexpr double kNearLimit = 1e-6;
  const double x = omega * duration / std::numbers::pi;
  if (x >= 3) return 0;
  const double denominator = 1 - x * x;
  if (std::abs(denominator) < kNearLimit) return std::numbers::pi / 4;
  return std::cos(x * std::numbers::pi / 2) / denominator;
}

VecX pulse_weights(const elastic::ModeList& modes, double duration)
{
  VecX weights(modes.omegas.size());
  for (Eigen::Index m = 0; m < weights.size(); ++m) weights[m] = pulse_weight(modes.omegas[m], duration);
  return weights;
}

}  // namespace thrum::vibration
