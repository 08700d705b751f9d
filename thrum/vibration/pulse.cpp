// SPDX-License-Identifier: MIT
#include "thrum/vibration/pulse.h"

#include <array>
#include <cmath>
#include <numbers>

namespace thrum::vibration {

double contact_duration(double inverse_effective_mass, double own_modulus, double other_modulus,
                        double radius, double speed)
{
  const double modulus = contact_modulus(own_modulus, other_modulus);
  if (!(modulus > 0) || !(inverse_effective_mass > 0)) return 0;
  return hertz_duration(1 / inverse_effective_mass, modulus, radius, speed);
}

// hertz_duration() with E*^2 R = (3 k / 4)^2.
double stiffness_for_duration(double m, double duration, double speed)
{
  constexpr double kFactor = 2.8683;
  return 4.0 / 3 * m / std::sqrt(speed) * std::pow(kFactor / duration, 2.5);
}

// The spectrum of a half-sine of unit area and length tau, about its middle, is, with x = w tau / pi and y =
// x^2,
//
//     P = cos(pi x / 2) / (1 - y) = sum_n p_n y^n,      p_n = sum_(k <= n) (-1)^k (pi/2)^(2k) / (2k)!,
//
// since 1 / (1 - y) adds up the terms of the cosine. The p_n fall as fast as those terms, for the whole sum
// is cos(pi/2) = 0, and with them x = 1 is nothing special. Up to the first zero at x = 3 the series below is
// right to 1e-14; a list of modes takes a tenth of the time that cosines do. Beyond, the side lobes are below
// 3 % and change sign; a mode there is left alone.
namespace {

constexpr double kFirstZero = 3;
constexpr std::size_t kTerms = 17;

constexpr std::array<double, kTerms> pulse_series()
{
  // p_n as what is left of the cosine's terms beyond n, smallest first, so that nothing cancels.
  constexpr std::size_t kTail = kTerms + 8;
  constexpr double kSquare = std::numbers::pi * std::numbers::pi / 4;
  std::array<double, kTail + 1> terms{};
  terms[0] = 1;
  for (std::size_t k = 1; k <= kTail; ++k)
    terms[k] = -terms[k - 1] * kSquare / static_cast<double>((2 * k - 1) * (2 * k));
  std::array<double, kTerms> p{};
  double tail = 0;
  for (std::size_t k = kTail; k > 0; --k) {
    tail += terms[k];
    if (k <= kTerms) p[k - 1] = -tail;
  }
  p[0] = 1;
  return p;
}

constexpr std::array<double, kTerms> kSeries = pulse_series();

double weight_at(double x)
{
  const double y = x * x;
  double sum = kSeries[kTerms - 1];
  for (std::size_t n = kTerms - 1; n > 0; --n) sum = sum * y + kSeries[n - 1];
  return x < kFirstZero ? sum : 0;
}

}  // namespace

double pulse_weight(double omega, double duration)
{
  return weight_at(omega * duration / std::numbers::pi);
}

VecX pulse_weights(const elastic::ModeList& modes, double duration)
{
  // The same as weight_at(), some modes at a time.
  constexpr Eigen::Index kLanes = 8;
  using Block = Eigen::Array<double, kLanes, 1>;
  const double scale = duration / std::numbers::pi;
  const Eigen::Index count = modes.omegas.size();
  VecX weights(count);
  Eigen::Index m = 0;
  for (; m + kLanes <= count; m += kLanes) {
    const Block x = modes.omegas.segment<kLanes>(m).array() * scale;
    const Block y = x * x;
    Block sum = Block::Constant(kSeries[kTerms - 1]);
    for (std::size_t n = kTerms - 1; n > 0; --n) sum = sum * y + kSeries[n - 1];
    weights.segment<kLanes>(m) = (x < kFirstZero).select(sum, 0.0);
  }
  for (; m < count; ++m) weights[m] = weight_at(modes.omegas[m] * scale);
  return weights;
}

}  // namespace thrum::vibration
