// SPDX-License-Identifier: MIT
#include "thrum/sound/air_filter.h"

#include <cmath>
#include <numbers>

namespace thrum::sound {

namespace {

constexpr double kHalfLength = 0.67e-3;  ///< of the filter [s]
constexpr std::size_t kGridPerTap = 4;   ///< frequencies for each tap
constexpr double kNeperPerDecibel = 0.11512925464970229;

}  // namespace

AirFilter::AirFilter(const Air& air, int sample_rate)
    : half_length_(static_cast<std::size_t>(std::ceil(kHalfLength * sample_rate)))
{
  const std::size_t grid = kGridPerTap * half_length_;
  for (std::size_t i = 0; i <= grid; ++i) {
    const double frequency = 0.5 * sample_rate * static_cast<double>(i) / static_cast<double>(grid);
    nepers_.push_back(kNeperPerDecibel * air.absorption(frequency));
  }
  for (std::size_t i = 0; i < 2 * grid; ++i) {
    cosines_.push_back(std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(grid)));
  }
  for (std::size_t k = 0; k <= half_length_; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(half_length_ + 1);
    window_.push_back(0.5 * (1 + std::cos(angle)));
  }
}

void AirFilter::taps(double distance, std::span<double> out) const
{
  const std::size_t grid = nepers_.size() - 1;
  std::vector<double> gains(grid + 1);
  for (std::size_t i = 0; i <= grid; ++i) gains[i] = std::exp(-nepers_[i] * distance);
  // The inverse transform of a real and even response; both ends of the grid count half.
  gains.front() *= 0.5;
  gains.back() *= 0.5;
  for (std::size_t k = 0; k <= half_length_; ++k) {
    double tap = 0;
    for (std::size_t i = 0, phase = 0; i <= grid; ++i, phase = (phase + k) % (2 * grid)) {
      tap += gains[i] * cosines_[phase];
    }
    out[k] = tap * window_[k] / static_cast<double>(grid);
  }
}

}  // namespace thrum::sound
