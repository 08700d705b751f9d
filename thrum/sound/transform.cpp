// SPDX-License-Identifier: MIT
#include "thrum/sound/transform.h"

#include <algorithm>
#include <unsupported/Eigen/FFT>

namespace thrum::sound {

namespace {

// Keeps the tables of the sizes that were used.
Eigen::FFT<double>& plan()
{
  thread_local Eigen::FFT<double> fft(Eigen::default_fft_impl<double>(), Eigen::FFT<double>::HalfSpectrum);
  return fft;
}

}  // namespace

std::vector<std::complex<double>> transform(std::span<const double> samples, std::size_t size)
{
  std::vector<double> padded(size, 0.0);
  std::copy_n(samples.begin(), std::min(size, samples.size()), padded.begin());
  std::vector<std::complex<double>> spectrum(size / 2 + 1);
  plan().fwd(spectrum.data(), padded.data(), static_cast<Eigen::Index>(size));
  return spectrum;
}

std::vector<double> inverse_transform(std::span<const std::complex<double>> spectrum, std::size_t size)
{
  std::vector<double> samples(size);
  plan().inv(samples.data(), spectrum.data(), static_cast<Eigen::Index>(size));
  return samples;
}

}  // namespace thrum::sound
