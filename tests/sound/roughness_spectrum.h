// SPDX-License-Identifier: MIT
// The power spectrum of rough surfaces in closed form, and that of samples.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "thrum/sound/roughness.h"
#include "thrum/sound/transform.h"

namespace thrum::sound::test {

// Of an octave: values of variance s^2 at the points of a lattice of spacing L, joined by the kernel
// g(u) = 1 - 3 u^2 + 2 |u|^3 on [-1, 1], of mean square 26/35. At k cycles a metre, for positive and negative
// k together,
//
//     S(k) = 2 s^2 L G(k L)^2,      G(x) = integral of g(u) cos(2 pi x u) du,      s^2 26/35 = variance.
inline double octave_spectrum(double rms, double wavelength, double k)
{
  const double L = wavelength / 2;
  const int count = 400;
  double G = 0;  // Simpson's rule over [0, 1], twice
  for (int i = 0; i <= count; ++i) {
    const double u = static_cast<double>(i) / count;
    const double weight = (i == 0 || i == count ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) / (3.0 * count);
    G += 2 * weight * (1 - 3 * u * u + 2 * u * u * u) * std::cos(2 * std::numbers::pi * k * L * u);
  }
  return 2 * rms * rms * (35.0 / 26.0) * L * G * G;
}

/// [m^2 / (cycle/m)]
inline double surface_spectrum(const RoughnessOctaves& octaves, double k)
{
  double sum = 0;
  double wavelength = kLongestRoughness;
  for (const double octave : octaves) {
    sum += octave_spectrum(octave, wavelength, k);
    wavelength /= 2;
  }
  return sum;
}

/// Mean square of samples in a band, by windows of Hann, averaged.
inline double band_power(const std::vector<double>& samples, double rate, double low, double high)
{
  constexpr std::size_t kSize = 8192;
  FourierTransform transform(kSize);
  double power = 0;
  int windows = 0;
  for (std::size_t begin = 0; begin + kSize <= samples.size(); begin += kSize / 2, ++windows) {
    std::vector<double> part(kSize);
    for (std::size_t i = 0; i < kSize; ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kSize;
      part[i] = samples[begin + i] * (0.5 - 0.5 * std::cos(angle));
    }
    const std::vector<std::complex<double>> bins = transform.spectrum(part);
    for (std::size_t b = 1; b < kSize / 2; ++b) {
      const double f = rate * static_cast<double>(b) / kSize;
      if (f >= low && f < high) power += 2 * std::norm(bins[b]) / (0.375 * kSize * kSize);
    }
  }
  return power / windows;
}

}  // namespace thrum::sound::test
