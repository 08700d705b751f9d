// SPDX-License-Identifier: MIT
// Fourier transforms of real samples and the sinc function; transforms by Eigen's portable implementation.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

namespace thrum::sound {

/// sin(pi x) / (pi x), 1 at 0.
[[nodiscard]] inline double sinc(double x)
{
  const double angle = std::numbers::pi * x;
  return x == 0 ? 1 : std::sin(angle) / angle;
}

/// Spectrum at frequencies 0 ... size / 2 (size / 2 + 1 values) of `samples`, filled up with zeros to `size`,
/// which is even: X[k] = sum_n x[n] exp(-2 pi i k n / size).
[[nodiscard]] std::vector<std::complex<double>> transform(std::span<const double> samples, std::size_t size);

/// The `size` samples of such a spectrum.
[[nodiscard]] std::vector<double> inverse_transform(std::span<const std::complex<double>> spectrum,
                                                    std::size_t size);

}  // namespace thrum::sound
