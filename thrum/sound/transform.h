// SPDX-License-Identifier: MIT
// Fourier transforms of real samples and the sinc function; transforms by Eigen's portable implementation.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
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

/// Transforms of one size, which is even. It keeps the tables of that size: one for each thread that
/// transforms.
class FourierTransform {
 public:
  explicit FourierTransform(std::size_t size);
  ~FourierTransform();
  FourierTransform(FourierTransform&&) noexcept;
  FourierTransform& operator=(FourierTransform&&) noexcept;

  [[nodiscard]] std::size_t size() const { return size_; }
  /// At frequencies 0 ... size / 2 (size / 2 + 1 values) of `samples`, filled up with zeros to the size:
  /// X[k] = sum_n x[n] exp(-2 pi i k n / size).
  [[nodiscard]] std::vector<std::complex<double>> spectrum(std::span<const double> samples);
  /// The samples of such a spectrum.
  [[nodiscard]] std::vector<double> samples(std::span<const std::complex<double>> spectrum);

 private:
  struct Tables;
  std::size_t size_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace thrum::sound
