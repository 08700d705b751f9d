// SPDX-License-Identifier: MIT
#include "thrum/sound/roughness.h"

#include <algorithm>
#include <cmath>

namespace thrum::sound {

namespace {

/// Root mean square of value_noise(), for values even in [-1, 1]: variance 1/3 times the mean of
/// w^2 + (1 - w)^2 over x, which is 26/35 for w = 3 x^2 - 2 x^3.
const double kNoiseRms = std::sqrt(26.0 / 105.0);

// Even in [-1, 1], a function of its arguments alone (the mixer of splitmix64).
double lattice_value(std::uint64_t seed, std::int64_t i)
{
  std::uint64_t x = seed + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(i + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * (2.0 / 9007199254740992.0) - 1;
}

double value_noise(std::uint64_t seed, double x)
{
  const double floor = std::floor(x);
  const auto i = static_cast<std::int64_t>(floor);
  const double u = x - floor;
  const double w = u * u * (3 - 2 * u);
  return (1 - w) * lattice_value(seed, i) + w * lattice_value(seed, i + 1);
}

}  // namespace

RoughnessOctaves roughness_octaves(const model::Roughness& roughness)
{
  RoughnessOctaves octaves = {};
  double amplitude = 1;
  for (double& octave : octaves) {
    octave = amplitude;
    amplitude *= std::pow(0.5, roughness.exponent);
  }
  return scaled_to(octaves, roughness.height);
}

const RoughnessOctaves kUnitOctaves = roughness_octaves({.height = 1, .exponent = 0.5});

RoughnessOctaves combined(const RoughnessOctaves& a, const RoughnessOctaves& b)
{
  RoughnessOctaves sum = {};
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = std::hypot(a[i], b[i]);
  return sum;
}

double rms_height(const RoughnessOctaves& octaves)
{
  double variance = 0;
  for (const double octave : octaves) variance += octave * octave;
  return std::sqrt(variance);
}

RoughnessOctaves scaled_to(const RoughnessOctaves& octaves, double height)
{
  RoughnessOctaves scaled = octaves;
  const double now = rms_height(octaves);
  if (!(now > 0)) return scaled;
  for (double& octave : scaled) octave *= height / now;
  return scaled;
}

double roughness_profile(std::uint64_t seed, const RoughnessOctaves& octaves, double distance, double speed,
                         double max_frequency)
{
  double sum = 0;
  double wavelength = kLongestRoughness;
  for (std::size_t i = 0; i < octaves.size(); ++i, wavelength /= 2) {
    // A lattice of half the wavelength; the fade takes the octave below the limit.
    const double fade = std::clamp(2 - 2 * speed / (wavelength * max_frequency), 0.0, 1.0);
    if (!(fade > 0) || octaves[i] == 0) continue;
    const std::uint64_t own = seed ^ (0xd1b54a32d192ed03ULL * (i + 1));
    sum += fade * octaves[i] * value_noise(own, 2 * distance / wavelength);
  }
  return sum / kNoiseRms;
}

}  // namespace thrum::sound
