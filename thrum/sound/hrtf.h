// SPDX-License-Identifier: MIT
// Head-related impulse responses from a SOFA file [AES69]: what each ear hears of sound from a direction.
//
// libmysofa reads the file; its default set is MIT KEMAR [Gardner94]. Responses are resampled to the rate in
// use. Between measured directions the responses are blended with their onsets aligned, and the onsets are
// blended by themselves: blending unaligned responses would comb-filter high frequencies. At a measured
// direction the result is the measured response.
//
// Sets end some way above straight below (the default one at -40 degrees). Below its lowest directions, at
// the elevation e0, a sound from the elevation e and the azimuth a is
//
//     s h(a, e0) + (1 - s) (h(0, e0) + h(180, e0)) / 2,      s = cos(e) / cos(e0),                       (1)
//
// so that delays between the ears go as the sine of the lateral angle, as round a ball, and straight below,
// which lies in the plane of symmetry, is the mean of in front and behind. Likewise above the highest ones.
//
// Level: sets are measured at any gain. Here the mean power of all directions and both ears between 200 and
// 800 Hz, where a head hardly disturbs the sound, is made 1, so that pascals at the place of the head become
// pascals at the ears.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::sound {

class FourierTransform;

/// The set that the package of libmysofa carries; empty when it was not installed at build time.
[[nodiscard]] std::filesystem::path default_hrtf_file();

class Hrtf {
 public:
  /// An empty path is the default set. Throws Error, with the reason, when the file is missing, damaged, or
  /// holds something other than impulse responses of two ears; there is no fallback.
  Hrtf(const std::filesystem::path& file, int sample_rate);

  using Spectrum = std::vector<std::complex<double>>;

  /// Samples of a response at the rate in use, the latest onset included.
  [[nodiscard]] std::size_t length() const { return length_; }
  /// Samples of the transform that the spectra belong to, at least twice the length.
  [[nodiscard]] std::size_t transform_size() const { return transform_size_; }
  [[nodiscard]] int sample_rate() const { return sample_rate_; }
  /// Measured directions, unit, in the axes of the head: x forward, y left, z up.
  [[nodiscard]] std::span<const Vec3> directions() const { return directions_; }
  /// Factor applied to the responses of the file.
  [[nodiscard]] double gain() const { return gain_; }

  /// Spectra (transform_size() / 2 + 1 values) of the left and the right ear for a direction in the axes of
  /// the head.
  [[nodiscard]] std::array<Spectrum, 2> spectra(const Vec3& direction) const;

 private:
  struct Measured {
    Spectrum aligned;  ///< of the response with its onset moved to time 0
    double onset = 0;  ///< [samples]
  };
  struct Weight {
    std::size_t index = 0;
    double weight = 0;
  };
  [[nodiscard]] std::vector<Weight> weights(const Vec3& direction) const;
  [[nodiscard]] std::vector<Weight> nearest_weights(const Vec3& direction) const;

  int sample_rate_;
  std::size_t length_ = 0;
  std::size_t transform_size_ = 0;
  double gain_ = 1;
  std::vector<Vec3> directions_;
  double lowest_ = -1;                             ///< sine of the elevation of the lowest direction
  double highest_ = 1;                             ///< and of the highest
  std::vector<std::array<Measured, 2>> measured_;  ///< by direction, then ear
};

/// Convolves a stream with the responses of a direction that changes: pieces under overlapping windows of
/// Hann, each with the response of the direction at its middle. Triangles leave a kink at each: of a head
/// that turns twice a second -55 dB from sample to sample. The result does not depend on the lengths of the
/// blocks.
class BinauralStream {
 public:
  /// Keeps a reference to the set.
  explicit BinauralStream(const Hrtf& hrtf);
  ~BinauralStream();

  /// Samples between two directions. Piece k is centred on sample k * hop().
  [[nodiscard]] std::size_t hop() const { return hop_; }
  /// The number of the piece that the next call of add_piece() takes.
  [[nodiscard]] std::size_t next_piece() const { return piece_; }
  void push(std::span<const double> pressure);
  /// Whether enough samples are there for the next piece.
  [[nodiscard]] bool has_piece() const;
  /// Adds the next piece, heard from `direction` in the axes of the head, to both ears; samples after the end
  /// of the ears are left out. Samples that were not pushed count as silence.
  void add_piece(const Vec3& direction, std::span<double> left, std::span<double> right);

 private:
  const Hrtf* hrtf_;
  std::unique_ptr<FourierTransform> transform_;
  std::size_t hop_;
  std::vector<double> window_;  ///< from the middle of a piece to its end
  std::size_t piece_ = 0;
  std::vector<double> input_;
  std::size_t input_begin_ = 0;  ///< number of its first sample
  Vec3 last_direction_ = Vec3::Zero();
  std::array<Hrtf::Spectrum, 2> last_spectra_;
};

}  // namespace thrum::sound
