// SPDX-License-Identifier: MIT
#include "thrum/sound/transform.h"

#include <algorithm>
#include <unsupported/Eigen/FFT>

namespace thrum::sound {

struct FourierTransform::Tables {
  Eigen::FFT<double> fft{Eigen::default_fft_impl<double>(), Eigen::FFT<double>::HalfSpectrum};
};

FourierTransform::FourierTransform(std::size_t size) : size_(size), tables_(std::make_unique<Tables>()) {}
FourierTransform::~FourierTransform() = default;
FourierTransform::FourierTransform(FourierTransform&&) noexcept = default;
FourierTransform& FourierTransform::operator=(FourierTransform&&) noexcept = default;

std::vector<std::complex<double>> FourierTransform::spectrum(std::span<const double> samples)
{
  std::vector<double> padded(size_, 0.0);
  std::copy_n(samples.begin(), std::min(size_, samples.size()), padded.begin());
  std::vector<std::complex<double>> spectrum(size_ / 2 + 1);
  tables_->fft.fwd(spectrum.data(), padded.data(), static_cast<Eigen::Index>(size_));
  return spectrum;
}

std::vector<double> FourierTransform::samples(std::span<const std::complex<double>> spectrum)
{
  std::vector<double> samples(size_);
  tables_->fft.inv(samples.data(), spectrum.data(), static_cast<Eigen::Index>(size_));
  return samples;
}

}  // namespace thrum::sound
