// SPDX-License-Identifier: MIT
#include "thrum/sound/air_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace thrum::sound {

namespace {

constexpr double kHalfLength = 0.67e-3;    ///< of the filter, at most [s]
constexpr double kFullDistance = 10;       ///< from which on it is as long [m]
constexpr double kMinShare = 0.25;         ///< of the length, for short distances
constexpr std::size_t kMinGridPerTap = 4;  ///< frequencies for each tap
constexpr double kNeperPerDecibel = 0.11512925464970229;

}  // namespace

AirFilter::AirFilter(const Air& air, int sample_rate)
    : half_length_(static_cast<std::size_t>(std::ceil(kHalfLength * sample_rate))),
      transform_(2 * std::bit_ceil(kMinGridPerTap * half_length_))
{
  const std::size_t grid = transform_.size() / 2;
  for (std::size_t i = 0; i <= grid; ++i) {
    const double frequency = 0.5 * sample_rate * static_cast<double>(i) / static_cast<double>(grid);
    nepers_.push_back(kNeperPerDecibel * air.absorption(frequency));
  }
}

// A real and even response has real and even taps.
std::size_t AirFilter::taps(double distance, std::span<double> out)
{
  std::vector<std::complex<double>> gains(nepers_.size());
  for (std::size_t i = 0; i < gains.size(); ++i) gains[i] = std::exp(-nepers_[i] * distance);
  const std::vector<double> taps = transform_.samples(gains);
  const double share = std::clamp(distance / kFullDistance, kMinShare, 1.0);
  const auto used = static_cast<std::size_t>(std::ceil(share * static_cast<double>(half_length_)));
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t k = 0; k <= used; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(used + 1);
    out[k] = taps[k] * 0.5 * (1 + std::cos(angle));
  }
  return used;
}

}  // namespace thrum::sound
