// SPDX-License-Identifier: MIT
// Fourier transforms of real samples, by Eigen's portable implementation.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace thrum::sound {

/// Spectrum at frequencies 0 ... size / 2 (size / 2 + 1 values) of `samples`, filled up with zeros to `size`,
/// which is even: X[k] = sum_n x[n] exp(-2 pi i k n / size).
[[nodiscard]] std::vector<std::complex<double>> transform(std::span<const double> samples, std::size_t size);

/// The `size` samples of such a spectrum.
[[nodiscard]] std::vector<double> inverse_transform(std::span<const std::complex<double>> spectrum,
                                                    std::size_t size);

}  // namespace thrum::sound
