// SPDX-License-Identifier: MIT
#include "thrum/sound/hrtf.h"

#include <fmt/format.h>
#include <mysofa.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>

#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/sound/transform.h"

namespace thrum::sound {

namespace {

constexpr std::size_t kMaxFileSize = std::size_t{1} << 30;  ///< [byte]
constexpr double kOnsetLevel = 0.15;                        ///< of the peak of a response
constexpr double kLowBand = 200;                            ///< band in which the level is set [Hz]
constexpr double kHighBand = 800;
constexpr std::size_t kNeighbours = 5;   ///< the farthest one has weight 0
constexpr double kSameDirection = 1e-4;  ///< chord between directions that count as one
constexpr double kTurn = 0.005;          ///< chord after which the spectra are computed again
constexpr double kSilence = 1e-10;       ///< pieces below are left out [Pa]
constexpr double kTwoPi = 2 * std::numbers::pi;

struct FreeSofa {
  void operator()(MYSOFA_HRTF* set) const { mysofa_free(set); }
};
using SofaFile = std::unique_ptr<MYSOFA_HRTF, FreeSofa>;

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& why)
{
  throw Error(fmt::format("Cannot use the head-related impulse responses of {}: {}", file.string(), why));
}

SofaFile load(const std::filesystem::path& file)
{
  // Read here only for the message when that fails. libmysofa has to read the file by itself: version 1.3.1
  // overwrites its stack when a damaged file is given to it in memory (5 of 400 random damages, and files cut
  // short), and did so in none of them when it reads the file.
  static_cast<void>(base::read_file(file, kMaxFileSize));
  int code = MYSOFA_OK;
  SofaFile set(mysofa_load(file.c_str(), &code));
  if (!set || code != MYSOFA_OK) {
    fail(file, fmt::format("it is not a SOFA file, or it is damaged (libmysofa reports {}).", code));
  }
  if (code = mysofa_check(set.get()); code != MYSOFA_OK) {
    fail(file,
         fmt::format("it is damaged, or holds no impulse responses in free field (libmysofa reports {}).",
                     code));
  }
  const std::size_t responses = std::size_t{set->M} * set->R;
  const bool complete = set->R == 2 && set->M > 0 && set->N > 0 && set->C == 3 &&
                        set->DataIR.elements == responses * set->N &&
                        set->SourcePosition.elements == set->M * 3 && set->DataSamplingRate.elements >= 1 &&
                        set->DataSamplingRate.values[0] > 0 &&
                        (set->DataDelay.elements == set->R || set->DataDelay.elements == responses);
  if (!complete) {
    fail(file,
         fmt::format("it holds {} responses of {} ears and {} samples, whose tables do not fit together; "
                     "two ears are expected.",
                     set->M, set->R, set->N));
  }
  for (std::size_t i = 0; i < set->DataIR.elements; ++i) {
    if (!std::isfinite(set->DataIR.values[i])) fail(file, "a sample is not a finite number.");
  }
  mysofa_tocartesian(set.get());
  return set;
}

/// Brings responses to another rate: band-limited to the lower of both, by a sinc under a cosine window. The
/// weights are the same for all responses.
class Resampler {
 public:
  Resampler(std::size_t samples, double ratio) : ratio_(ratio)
  {
    constexpr double kHalfWidth = 32;  // zeros of the sinc on each side
    const double cutoff = std::min(1.0, ratio);
    const double reach = kHalfWidth / cutoff;
    const auto count = static_cast<std::size_t>(std::ceil(static_cast<double>(samples) * ratio));
    rows_.resize(count);
    for (std::size_t i = 0; i < count && ratio != 1; ++i) {
      const double position = static_cast<double>(i) / ratio;
      const auto first = static_cast<std::size_t>(std::ceil(std::max(0.0, position - reach)));
      const auto end = std::min(samples, static_cast<std::size_t>(position + reach) + 1);
      rows_[i].first = first;
      for (std::size_t k = first; k < end; ++k) {
        const double x = cutoff * (static_cast<double>(k) - position);
        const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * x / kHalfWidth);
        rows_[i].weights.push_back(sinc(x) * window * cutoff / ratio);
      }
    }
  }

  [[nodiscard]] std::vector<double> operator()(std::span<const float> response) const
  {
    if (ratio_ == 1) return {response.begin(), response.end()};
    std::vector<double> out(rows_.size(), 0.0);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Row& row = rows_[i];
      for (std::size_t k = 0; k < row.weights.size(); ++k) out[i] += row.weights[k] * response[row.first + k];
    }
    return out;
  }

 private:
  struct Row {
    std::size_t first = 0;
    std::vector<double> weights;
  };
  double ratio_;
  std::vector<Row> rows_;
};

/// Where the response first reaches kOnsetLevel of its peak, between samples by a straight line [samples].
double onset_of(std::span<const double> response)
{
  double peak = 0;
  for (const double sample : response) peak = std::max(peak, std::abs(sample));
  for (std::size_t i = 0; i < response.size(); ++i) {
    const double level = std::abs(response[i]);
    if (level < kOnsetLevel * peak || level == 0) continue;
    const double before = i > 0 ? std::abs(response[i - 1]) : 0;
    const double part = (kOnsetLevel * peak - before) / (level - before);
    return std::max(0.0, static_cast<double>(i) - 1 + part);
  }
  return 0;
}

/// Moves a spectrum by a time [samples]: positive is later.
void shift(Hrtf::Spectrum& spectrum, double samples, std::size_t size)
{
  const std::complex<double> step = std::polar(1.0, -kTwoPi * samples / static_cast<double>(size));
  std::complex<double> turn = 1;
  for (std::complex<double>& value : spectrum) {
    value *= turn;
    turn *= step;
  }
}

std::size_t power_of_two_above(std::size_t size)
{
  std::size_t power = 2;
  while (power < size) power *= 2;
  return power;
}

}  // namespace

std::filesystem::path default_hrtf_file()
{
  return THRUM_DEFAULT_SOFA;
}

Hrtf::Hrtf(const std::filesystem::path& file, int sample_rate) : sample_rate_(sample_rate)
{
  const std::filesystem::path path = file.empty() ? default_hrtf_file() : file;
  if (path.empty()) {
    throw Error(
        "There is no default set of head-related impulse responses: name a SOFA file, or install the "
        "package libmysofa1 and build again.");
  }
  const SofaFile set = load(path);
  const double ratio = sample_rate / static_cast<double>(set->DataSamplingRate.values[0]);
  if (!(ratio > 0.1 && ratio < 20)) {
    fail(path, fmt::format("its rate of {} Hz cannot be brought to {} Hz.", set->DataSamplingRate.values[0],
                           sample_rate));
  }
  const std::size_t response_size = static_cast<std::size_t>(std::ceil(set->N * ratio));
  double latest = 0;
  for (std::size_t i = 0; i < set->DataDelay.elements; ++i) {
    latest = std::max(latest, set->DataDelay.values[i] * ratio);
  }
  length_ = response_size + static_cast<std::size_t>(std::ceil(latest));
  transform_size_ = power_of_two_above(2 * length_);

  const Resampler resample(set->N, ratio);
  FourierTransform transform(transform_size_);
  double power = 0;
  std::size_t power_count = 0;
  for (std::size_t m = 0; m < set->M; ++m) {
    const float* const place = set->SourcePosition.values + 3 * m;
    const Vec3 direction(place[0], place[1], place[2]);
    if (!(direction.norm() > 0)) fail(path, fmt::format("direction {} has no length.", m));
    directions_.push_back(direction.normalized());
    measured_.emplace_back();
    for (std::size_t ear = 0; ear < 2; ++ear) {
      const std::span<const float> raw(set->DataIR.values + (2 * m + ear) * set->N, set->N);
      const std::vector<double> response = resample(raw);
      const std::size_t delay_index = set->DataDelay.elements == 2 ? ear : 2 * m + ear;
      Measured& measured = measured_.back()[ear];
      measured.aligned = transform.spectrum(response);
      const double onset = onset_of(response);
      shift(measured.aligned, -onset, transform_size_);
      measured.onset = onset + set->DataDelay.values[delay_index] * ratio;
      for (std::size_t k = 0; k < measured.aligned.size(); ++k) {
        const double frequency = static_cast<double>(k) * sample_rate / static_cast<double>(transform_size_);
        if (frequency < kLowBand || frequency > kHighBand) continue;
        power += std::norm(measured.aligned[k]);
        ++power_count;
      }
    }
  }
  if (!(power > 0)) fail(path, "it is silent between 200 and 800 Hz.");
  gain_ = std::sqrt(static_cast<double>(power_count) / power);
  const auto [low, high] = std::minmax_element(directions_.begin(), directions_.end(),
                                               [](const Vec3& a, const Vec3& b) { return a.z() < b.z(); });
  // A set of one height says nothing of others.
  if (high->z() - low->z() > kSameDirection) {
    lowest_ = low->z();
    highest_ = high->z();
  }
}

// (1) of the header.
std::vector<Hrtf::Weight> Hrtf::weights(const Vec3& direction) const
{
  const double height = std::clamp(direction.z(), lowest_, highest_);
  const double across = std::sqrt(std::max(0.0, 1 - height * height));  // cos(e0)
  if (height == direction.z() || across < kSameDirection) return nearest_weights(direction);
  const double level = direction.head<2>().norm();  // cos(e)
  const double share = level / across;
  std::vector<Weight> sum;
  const auto add = [&](const Vec3& towards, double weight) {
    if (!(weight > 0)) return;
    for (const Weight& w : nearest_weights(towards)) sum.push_back({w.index, weight * w.weight});
  };
  const Vec2 azimuth = level > 0 ? Vec2(direction.head<2>() / level) : Vec2(Vec2::UnitX());
  add({across * azimuth.x(), across * azimuth.y(), height}, share);
  add({across, 0, height}, (1 - share) / 2);
  add({-across, 0, height}, (1 - share) / 2);
  return sum;
}

// Inverse distances to the power of two that end at the farthest of the neighbours [Franke and Little], so
// that nothing jumps when another direction becomes a neighbour.
std::vector<Hrtf::Weight> Hrtf::nearest_weights(const Vec3& direction) const
{
  std::vector<Weight> near(directions_.size());
  for (std::size_t i = 0; i < near.size(); ++i) near[i] = {i, (directions_[i] - direction).norm()};
  const std::size_t count = std::min(kNeighbours, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end(),
                    [](const Weight& a, const Weight& b) {
                      return a.weight != b.weight ? a.weight < b.weight : a.index < b.index;
                    });
  near.resize(count);
  const double reach = near.back().weight;
  if (near.front().weight < kSameDirection || count == 1 || near.front().weight >= reach) {
    return {{near.front().index, 1.0}};
  }
  double sum = 0;
  for (Weight& w : near) {
    w.weight = std::pow((reach - w.weight) / (reach * w.weight), 2);
    sum += w.weight;
  }
  for (Weight& w : near) w.weight /= sum;
  return near;
}

std::array<Hrtf::Spectrum, 2> Hrtf::spectra(const Vec3& direction) const
{
  const std::vector<Weight> near = weights(direction);
  std::array<Spectrum, 2> result;
  for (std::size_t ear = 0; ear < 2; ++ear) {
    Spectrum& spectrum = result[ear];
    spectrum.assign(transform_size_ / 2 + 1, 0.0);
    double onset = 0;
    for (const auto& [index, weight] : near) {
      const Measured& measured = measured_[index][ear];
      const double factor = gain_ * weight;
      for (std::size_t k = 0; k < spectrum.size(); ++k) spectrum[k] += factor * measured.aligned[k];
      onset += weight * measured.onset;
    }
    shift(spectrum, onset, transform_size_);
  }
  return result;
}

BinauralStream::BinauralStream(const Hrtf& hrtf)
    : hrtf_(&hrtf),
      transform_(std::make_unique<FourierTransform>(hrtf.transform_size())),
      hop_((hrtf.transform_size() - hrtf.length()) / 2)
{
  for (std::size_t i = 0; i <= hop_; ++i)
    window_.push_back(0.5 +
                      0.5 * std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(hop_)));
}

BinauralStream::~BinauralStream() = default;

void BinauralStream::push(std::span<const double> pressure)
{
  input_.insert(input_.end(), pressure.begin(), pressure.end());
}

bool BinauralStream::has_piece() const
{
  return input_begin_ + input_.size() >= (piece_ + 1) * hop_;
}

void BinauralStream::add_piece(const Vec3& direction, std::span<double> left, std::span<double> right)
{
  const std::size_t middle = piece_ * hop_;
  const std::size_t begin = piece_ == 0 ? 0 : middle - hop_;
  ++piece_;
  std::vector<double> samples(2 * hop_, 0.0);  // sample 0 is that before the piece starts to count
  double largest = 0;
  for (std::size_t i = begin; i < middle + hop_; ++i) {
    if (i < input_begin_ || i >= input_begin_ + input_.size()) continue;
    const double sample = input_[i - input_begin_] * window_[i < middle ? middle - i : i - middle];
    samples[i - begin] = sample;
    largest = std::max(largest, std::abs(sample));
  }
  if (largest >= kSilence) {
    if ((direction - last_direction_).norm() > kTurn) {
      last_spectra_ = hrtf_->spectra(direction);
      last_direction_ = direction;
    }
    const Hrtf::Spectrum input = transform_->spectrum(samples);
    const std::array<std::span<double>, 2> ears{left, right};
    for (std::size_t ear = 0; ear < 2; ++ear) {
      Hrtf::Spectrum output = last_spectra_[ear];
      for (std::size_t k = 0; k < output.size(); ++k) output[k] *= input[k];
      const std::vector<double> heard = transform_->samples(output);
      const std::size_t end = std::min(heard.size(), ears[ear].size() - std::min(begin, ears[ear].size()));
      for (std::size_t i = 0; i < end; ++i) ears[ear][begin + i] += heard[i];
    }
  }
  // The next piece begins in the middle of this one.
  const std::size_t drop = std::min(input_.size(), middle - std::min(middle, input_begin_));
  input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(drop));
  input_begin_ += drop;
}

}  // namespace thrum::sound
