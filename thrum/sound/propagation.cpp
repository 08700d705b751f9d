// SPDX-License-Identifier: MIT
#include "thrum/sound/propagation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/simd.h"
#include "thrum/sound/air_filter.h"
#include "thrum/sound/fir_row.h"
#include "thrum/sound/transform.h"

namespace thrum::sound {

namespace {

// Fractional delay by a sinc under a Kaiser window. Up to 0.89 of half the sample rate its error is below
// -75 dB (measured by the test): 21.4 kHz at 48 kHz, 19.6 kHz at 44.1 kHz.
constexpr std::ptrdiff_t kTaps = 48;
constexpr std::ptrdiff_t kPhases = 512;  ///< tabulated fractions; linear between them
constexpr double kKaiser = 8;

// Times between control points are the same at every rate, or the cost would grow with its square.
constexpr std::ptrdiff_t kControlRate = 48000;    ///< rate that the next is for [Hz]
constexpr std::ptrdiff_t kDelayControl = 32;      ///< samples between exact travel times; cubic between
constexpr std::ptrdiff_t kDelaysPerFilter = 8;    ///< of these between filters; linear between
constexpr std::ptrdiff_t kFilteredAtOnce = 256;   ///< samples
constexpr std::ptrdiff_t kConstantAtOnce = 2048;  ///< likewise, of a path that never changes
constexpr double kSameDistance = 1e-3;  ///< change of the way that leaves the filter as it is: 5e-4 dB [m]
constexpr std::ptrdiff_t kDroppedAtOnce = 1024;  ///< old samples
constexpr int kMaxIterations = 200;
constexpr double kSeriesEnd = 1e-17;  ///< terms below this share of their sum do not change it
constexpr int kTrials = 10;           ///< iterations after which each must change less than the one before
constexpr double kTimeTolerance = 1e-12;        ///< of (1) [s]
constexpr double kFirstBracket = 1e-3;          ///< [s]
constexpr double kMaxTravel = 1e6;              ///< a travel time that is looked for by halving, at most [s]
constexpr double kMaxDelay = 1e12;              ///< [samples]; also of distances that are no numbers
constexpr std::size_t kPulledAtOnce = 1 << 16;  ///< samples of a path that changes; the rest comes later
/// Outer weights of a path that never changes are left out while they sum to less than this share: -120 dB.
constexpr double kUnheardShare = 1e-6;

double bessel_i0(double x)
{
  double term = 1;
  double sum = 1;
  for (int k = 1; term > kSeriesEnd * sum; ++k) {
    term *= (x / (2 * k)) * (x / (2 * k));
    sum += term;
  }
  return sum;
}

/// Row f holds the weights of samples -kTaps/2 + 1 ... kTaps/2 for the position f / kPhases between 0 and 1.
std::vector<double> make_sinc_table()
{
  std::vector<double> table(static_cast<std::size_t>((kPhases + 1) * kTaps));
  for (std::ptrdiff_t phase = 0; phase <= kPhases; ++phase) {
    double* const row = table.data() + phase * kTaps;
    const double position = static_cast<double>(phase) / kPhases;
    double sum = 0;
    for (std::ptrdiff_t k = 0; k < kTaps; ++k) {
      const double x = static_cast<double>(k - kTaps / 2 + 1) - position;
      const double u = x / (kTaps / 2);
      const double window =
          std::abs(u) < 1 ? bessel_i0(kKaiser * std::sqrt(1 - u * u)) / bessel_i0(kKaiser) : 0;
      row[k] = window * sinc(x);
      sum += row[k];
    }
    for (std::ptrdiff_t k = 0; k < kTaps; ++k) row[k] /= sum;
  }
  return table;
}

const std::vector<double>& sinc_table()
{
  static const std::vector<double> table = make_sinc_table();
  return table;
}

// Sum of both rows of weights over kTaps samples. Four chains of pairs, because a sum in one chain waits for
// each addition.
std::pair<double, double> weighted_sums(const double* a, const double* b, const double* samples)
{
  using base::simd::Double2;
  const auto load = [](const double* from) {
    Double2 pair;
    std::memcpy(&pair, from, sizeof(pair));
    return pair;
  };
  static_assert(kTaps % 4 == 0);
  Double2 a0{}, a1{}, b0{}, b1{};
  for (std::ptrdiff_t k = 0; k < kTaps; k += 4) {
    const Double2 s0 = load(samples + k);
    const Double2 s1 = load(samples + k + 2);
    a0 += load(a + k) * s0;
    a1 += load(a + k + 2) * s1;
    b0 += load(b + k) * s0;
    b1 += load(b + k + 2) * s1;
  }
  a0 += a1;
  b0 += b1;
  return {a0[0] + a0[1], b0[0] + b0[1]};
}

// Of the samples from ceil(delay) + kTaps/2 - 1 before the one heard on.
std::vector<double> delay_weights(double delay, double gain)
{
  const double phase = (std::ceil(delay) - delay) * kPhases;
  const auto row = std::min(static_cast<std::ptrdiff_t>(phase), kPhases - 1);
  const double blend = phase - static_cast<double>(row);
  const double* const at_row = sinc_table().data() + row * kTaps;
  std::vector<double> weights(at(kTaps));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] = gain * (at_row[k] + blend * (at_row[at(kTaps) + k] - at_row[k]));
  return weights;
}

Vec3 mirrored(const Vec3& point, double height)
{
  return {point.x(), point.y(), 2 * height - point.z()};
}

}  // namespace

SoundPath::SoundPath(const TrackPoint& source, const TrackPoint& receiver, const PathDesc& desc)
    : source_(source), receiver_(receiver), desc_(desc), sound_speed_(desc.air.sound_speed())
{
  check_air(desc.air);
}

/// The source, or its mirror image below the ground. What is below the ground counts as lying on it.
Vec3 SoundPath::source_at(double time) const
{
  Vec3 point = source_.position(time);
  if (!desc_.reflected) return point;
  point.z() = std::max(point.z(), desc_.ground.height);
  return mirrored(point, desc_.ground.height);
}

Vec3 SoundPath::receiver_at(double time) const
{
  Vec3 point = receiver_.position(time);
  if (desc_.reflected) point.z() = std::max(point.z(), desc_.ground.height);
  return point;
}

PathMoment SoundPath::moment(double emission, double reception) const
{
  PathMoment m;
  m.emission = emission;
  m.reception = reception;
  const Vec3 way = receiver_at(reception) - source_at(emission);
  m.distance = way.norm();
  const Vec3 direction = m.distance > 0 ? Vec3(way / m.distance) : Vec3(Vec3::UnitX());
  m.arrival = -direction;
  m.departure = desc_.reflected ? mirrored(direction, 0) : direction;
  m.departure_b = source_.track->rotation(emission).conjugate() * m.departure;
  return m;
}

// A solution of (1) before (sign -1) or after a time: an interval from there is doubled until its end is
// beyond it, then halved. Tracks are constant before their first and after their last pose, so that there is
// such an end unless numbers overflow.
template <typename IsBeyond>
double bisected(double time, double sign, const IsBeyond& is_beyond)
{
  double inner = 0;
  double outer = kFirstBracket;
  while (!is_beyond(time + sign * outer) && outer < kMaxTravel) outer *= 2;
  while (outer - inner > kTimeTolerance) {
    const double middle = inner + 0.5 * (outer - inner);
    if (middle <= inner || middle >= outer) break;
    (is_beyond(time + sign * middle) ? outer : inner) = middle;
  }
  return time + sign * outer;
}

// Both solve (1) by fixed-point iteration, which contracts by the Mach number of whatever moves. Of what is
// faster than sound it grows: then an interval is halved. Who flies away has one solution at any speed, who
// comes closer can have several.
PathMoment SoundPath::at_emission(double time) const
{
  const Vec3 source = source_at(time);
  const auto travel = [&](double reception) {
    return (receiver_at(reception) - source).norm() / sound_speed_;
  };
  double reception = time;
  double change = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMaxIterations; ++i) {
    const double next = time + travel(reception);
    const double before = change;
    change = std::abs(next - reception);
    reception = next;
    if (change < kTimeTolerance || receiver_.track->is_constant()) return moment(time, reception);
    if (i >= kTrials && !(change < before)) break;
  }
  return moment(time, bisected(time, 1, [&](double t) { return time + travel(t) <= t; }));
}

PathMoment SoundPath::at_reception(double time) const
{
  const Vec3 receiver = receiver_at(time);
  const auto travel = [&](double emission) {
    return (receiver - source_at(emission)).norm() / sound_speed_;
  };
  double emission = time;
  double change = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kMaxIterations; ++i) {
    const double next = time - travel(emission);
    const double before = change;
    change = std::abs(next - emission);
    emission = next;
    if (change < kTimeTolerance || source_.track->is_constant()) return moment(emission, time);
    if (i >= kTrials && !(change < before)) break;
  }
  return moment(bisected(time, -1, [&](double t) { return t + travel(t) <= time; }), time);
}

// The source has kTaps samples of silence before its first, and what is delayed as many as the filter needs,
// so that sums need no special case there.
Propagator::Propagator(const SoundPath& path, int sample_rate, double start)
    : path_(path),
      sample_rate_(sample_rate),
      start_(start),
      metres_per_sample_(path.desc().air.sound_speed() / sample_rate),
      delay_control_(kDelayControl *
                     std::max<std::ptrdiff_t>(1, (sample_rate + kControlRate / 2) / kControlRate)),
      closest_(std::numeric_limits<double>::infinity()),
      source_(at(kTaps), 0.0),
      source_begin_(-kTaps)
{
  if (path.desc().absorption) filter_ = std::make_unique<AirFilter>(path.desc().air, sample_rate);
  if (path.is_constant()) find_constant_weights();
  if (!filter_) return;
  taps_.resize(2 * filter_->half_length() + 1);
  tap_slopes_.resize(taps_.size());
  delayed_.assign(filter_->half_length(), 0.0);
  delayed_begin_ = -std::ssize(delayed_);
}

Propagator::~Propagator() = default;
Propagator::Propagator(Propagator&&) noexcept = default;
Propagator& Propagator::operator=(Propagator&&) noexcept = default;

double Propagator::delay_at(std::ptrdiff_t control) const
{
  const double time = start_ + static_cast<double>(control * delay_control_) / sample_rate_;
  const double delay = path_.at_reception(time).distance / metres_per_sample_;
  return delay < kMaxDelay ? delay : kMaxDelay;
}

// Travel times between control points by the cubic of Catmull and Rom.
double Propagator::delay_of_next()
{
  const std::ptrdiff_t sample = delayed_begin_ + std::ssize(delayed_);
  const std::ptrdiff_t segment = sample / delay_control_;
  if (segment != delay_segment_) {
    if (delay_segment_ < 0) {
      for (std::ptrdiff_t k = 0; k < 4; ++k) delays_[at(k)] = delay_at(segment + k - 1);
    } else {
      std::copy(delays_.begin() + 1, delays_.end(), delays_.begin());
      delays_[3] = delay_at(segment + 2);
    }
    delay_segment_ = segment;
    delay_is_constant_ =
        std::all_of(delays_.begin(), delays_.end(), [&](double d) { return d == delays_[0]; });
  }
  if (delay_is_constant_) return delays_[1];
  const double u =
      static_cast<double>(sample - segment * delay_control_) / static_cast<double>(delay_control_);
  const double v = 1 - u;
  const double slope0 = 0.5 * (delays_[2] - delays_[0]);
  const double slope1 = 0.5 * (delays_[3] - delays_[1]);
  return v * v * (1 + 2 * u) * delays_[1] + u * u * (3 - 2 * u) * delays_[2] +
         u * v * (v * slope0 - u * slope1);
}

// Of a path that never changes all is one filter: the weights of the delay, convolved with those of the air.
void Propagator::find_constant_weights()
{
  const double delay = delay_at(0);
  closest_ = delay * metres_per_sample_;
  std::vector<double> weights = delay_weights(delay, gain_at(closest_));
  weights_begin_ = -static_cast<std::ptrdiff_t>(std::ceil(delay)) - kTaps / 2 + 1;
  if (filter_) {
    std::vector<double> taps(2 * filter_->half_length() + 1);
    const std::size_t used = set_taps(closest_, taps);
    const std::span<const double> air = std::span(taps).subspan(filter_->half_length() - used, 2 * used + 1);
    std::vector<double> both(weights.size() + 2 * used, 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k)
      for (std::size_t j = 0; j < air.size(); ++j) both[k + j] += weights[k] * air[j];
    weights.swap(both);
    weights_begin_ -= static_cast<std::ptrdiff_t>(used);
  }
  double all = 0;
  for (const double weight : weights) all += std::abs(weight);
  double left_out = 0;
  const auto is_unheard = [&](double weight) {
    left_out += std::abs(weight);
    return left_out < kUnheardShare * all;
  };
  const auto first = std::find_if_not(weights.begin(), weights.end(), is_unheard);
  left_out = 0;
  const auto last = std::find_if_not(weights.rbegin(), weights.rend(), is_unheard).base();
  weights_begin_ += first - weights.begin();
  weights_.assign(first, last);
  // Silence before the first sample.
  source_.assign(weights_.size(), 0.0);
  source_begin_ = -std::ssize(weights_);
}

void Propagator::filter_constant(std::ptrdiff_t end, const Take& take)
{
  const std::ptrdiff_t length = std::ssize(weights_);
  while (static_cast<std::ptrdiff_t>(pulled_) < end) {
    const auto sample = static_cast<std::ptrdiff_t>(pulled_);
    const std::ptrdiff_t first = sample + weights_begin_;
    std::ptrdiff_t count = std::min(end - sample, kConstantAtOnce);
    const bool is_silent = first >= loud_end_ || first + length <= loud_begin_;
    const bool gets_loud = is_silent && loud_begin_ < loud_end_ && first < loud_begin_;
    if (gets_loud) count = std::min(count, loud_begin_ - (first + length) + 1);
    if (!is_silent) count = std::min(count, loud_end_ - first);
    row_.resize(at(count));
    if (is_silent) {
      std::fill(row_.begin(), row_.end(), 0.0);
    } else {
      filter_row(source_.data() + (first - source_begin_), weights_, row_);
    }
    pulled_ += at(count);
    take(row_);
  }
}

double Propagator::source_value(double position) const
{
  const double whole = std::floor(position);
  const auto first = static_cast<std::ptrdiff_t>(whole) - kTaps / 2 + 1;
  if (first + kTaps <= loud_begin_ || first >= loud_end_ || first < source_begin_) return 0;
  const double phase = (position - whole) * kPhases;
  const auto row = std::min(static_cast<std::ptrdiff_t>(phase), kPhases - 1);
  const double blend = phase - static_cast<double>(row);
  const double* const weights = sinc_table().data() + row * kTaps;
  const auto [at_a, at_b] = weighted_sums(weights, weights + kTaps, source_.data() + (first - source_begin_));
  return at_a + blend * (at_b - at_a);
}

double Propagator::gain_at(double distance) const
{
  return (path_.desc().reflected ? path_.desc().ground.reflection : 1) /
         std::max(distance, path_.desc().min_distance);
}

/// False when it needs samples of the source that are not known yet.
bool Propagator::delay_next_samples()
{
  const std::ptrdiff_t sample = delayed_begin_ + std::ssize(delayed_);
  const double delay = delay_of_next();
  const double distance = delay * metres_per_sample_;
  const double gain = gain_at(distance);
  const std::ptrdiff_t known = source_begin_ + std::ssize(source_);
  if (delay_is_constant_) {
    if (!delay_row(sample, delay, gain)) return false;
  } else {
    const double position = static_cast<double>(sample) - delay;
    if (!finished_ && std::floor(position) + kTaps / 2 >= static_cast<double>(known)) return false;
    delayed_.push_back(gain * source_value(position));
    if (delayed_.back() != 0) delayed_loud_end_ = sample + 1;
  }
  closest_ = std::min(closest_, distance);
  return true;
}

// The samples until the next control point, with weights that they share.
bool Propagator::delay_row(std::ptrdiff_t sample, double delay, double gain)
{
  // Sample s takes the source from s - whole + fraction.
  const double whole = std::ceil(delay);
  const std::ptrdiff_t first = sample - static_cast<std::ptrdiff_t>(whole) - kTaps / 2 + 1;
  std::ptrdiff_t count = delay_control_ - sample % delay_control_;
  const std::ptrdiff_t known = source_begin_ + std::ssize(source_);
  if (!finished_) count = std::min(count, known - (first + kTaps - 1));
  if (count <= 0) return false;
  const std::size_t begin = delayed_.size();
  if (first < source_begin_) {
    // Before the source began, or dropped: whoever outruns the sound would hear it again.
    delayed_.resize(begin + at(std::min(count, source_begin_ - first)), 0.0);
    return true;
  }
  if (first >= loud_end_ || first + kTaps <= loud_begin_) {
    if (first < loud_end_ && loud_begin_ < known) count = std::min(count, loud_begin_ - (first + kTaps) + 1);
    delayed_.resize(begin + at(count), 0.0);
    return true;
  }
  count = std::min(count, loud_end_ - first);
  if (delay != row_delay_ || gain != row_gain_) {
    row_delay_ = delay;
    row_gain_ = gain;
    row_weights_ = delay_weights(delay, gain);
  }
  delayed_.resize(begin + at(count));
  filter_row(source_.data() + (first - source_begin_), row_weights_, std::span(delayed_).subspan(begin));
  delayed_loud_end_ = sample + count;
  return true;
}

// Of both sides of the filter. Returns how many of each are not 0.
std::size_t Propagator::set_taps(double distance, std::vector<double>& taps)
{
  const std::size_t half = filter_->half_length();
  const std::size_t used = filter_->taps(distance, std::span(taps).subspan(half));
  for (std::size_t k = 0; k < half; ++k) taps[k] = taps[2 * half - k];
  return used;
}

void Propagator::update_filter(std::ptrdiff_t segment)
{
  if (segment == filter_segment_) return;
  const auto distance_at = [&](std::ptrdiff_t s) {
    return delay_at(s * kDelaysPerFilter) * metres_per_sample_;
  };
  const double length = static_cast<double>(kDelaysPerFilter * delay_control_);
  if (filter_segment_ < 0) {
    filter_distance_ = distance_at(segment);
    taps_used_ = tap_end_used_ = set_taps(filter_distance_, taps_);
  } else if (filter_changes_) {
    for (std::size_t k = 0; k < taps_.size(); ++k) taps_[k] += length * tap_slopes_[k];
  }
  filter_segment_ = segment;
  filter_changes_ = false;
  taps_used_ = tap_end_used_;
  const double next = distance_at(segment + 1);
  if (std::abs(next - filter_distance_) < kSameDistance) return;
  filter_changes_ = true;
  filter_distance_ = next;
  tap_end_used_ = set_taps(next, tap_slopes_);
  taps_used_ = std::max(taps_used_, tap_end_used_);
  for (std::size_t k = 0; k < taps_.size(); ++k) tap_slopes_[k] = (tap_slopes_[k] - taps_[k]) / length;
}

void Propagator::filter_samples(std::size_t count, std::vector<double>& pressure)
{
  const std::size_t begin = pressure.size();
  pressure.resize(begin + count, 0.0);
  // Where nothing is heard under the whole filter the sum is 0.
  const std::ptrdiff_t half = std::ssize(taps_) / 2;
  if (delayed_loud_end_ + half <= static_cast<std::ptrdiff_t>(pulled_)) return;
  const std::size_t unused = at(half) - taps_used_;
  const double* const first =
      delayed_.data() + (static_cast<std::ptrdiff_t>(pulled_) - delayed_begin_ - half) + unused;
  const std::span<double> out = std::span(pressure).subspan(begin);
  filter_row(first, std::span(taps_).subspan(unused, 2 * taps_used_ + 1), out);
  if (!filter_changes_) return;
  filtered_.resize(count);
  filter_row(first, std::span(tap_slopes_).subspan(unused, 2 * taps_used_ + 1), filtered_);
  const std::size_t into =
      pulled_ - static_cast<std::size_t>(filter_segment_ * kDelaysPerFilter * delay_control_);
  for (std::size_t i = 0; i < count; ++i) out[i] += static_cast<double>(into + i) * filtered_[i];
}

void Propagator::filter_until(std::size_t end, std::vector<double>& pressure)
{
  const auto segment_length = static_cast<std::size_t>(kDelaysPerFilter * delay_control_);
  while (pulled_ < end) {
    std::size_t count = std::min(end - pulled_, static_cast<std::size_t>(kFilteredAtOnce));
    if (filter_) {
      const std::size_t segment = pulled_ / segment_length;
      count = std::min(count, (segment + 1) * segment_length - pulled_);
      update_filter(static_cast<std::ptrdiff_t>(segment));
      filter_samples(count, pressure);
    } else {
      const double* const from = delayed_.data() + (static_cast<std::ptrdiff_t>(pulled_) - delayed_begin_);
      pressure.insert(pressure.end(), from, from + count);
    }
    pulled_ += count;
  }
}

void Propagator::push(std::span<const double> amplitude)
{
  const std::ptrdiff_t begin = source_begin_ + std::ssize(source_);
  const auto is_loud = [](double x) {
    return x != 0;
  };
  const auto first = std::find_if(amplitude.begin(), amplitude.end(), is_loud);
  if (first != amplitude.end()) {
    const auto last = std::find_if(amplitude.rbegin(), amplitude.rend(), is_loud);
    loud_begin_ = std::min(loud_begin_, begin + (first - amplitude.begin()));
    loud_end_ = begin + (amplitude.rend() - last);
  }
  source_.insert(source_.end(), amplitude.begin(), amplitude.end());
}

void Propagator::pull(const Take& take)
{
  if (finished_) return;
  if (path_.is_constant()) {
    const std::ptrdiff_t known = source_begin_ + std::ssize(source_);
    filter_constant(known - weights_begin_ - std::ssize(weights_) + 1, take);
    drop_source_before(static_cast<std::ptrdiff_t>(pulled_) + weights_begin_);
    return;
  }
  // Whoever flies away faster than sound is still heard long after.
  for (const std::size_t limit = delayed_.size() + kPulledAtOnce;
       delayed_.size() < limit && delay_next_samples();) {
  }
  const std::ptrdiff_t ahead = filter_ ? static_cast<std::ptrdiff_t>(filter_->half_length()) : 0;
  const std::ptrdiff_t end = delayed_begin_ + std::ssize(delayed_) - ahead;
  row_.clear();
  if (end > 0) filter_until(static_cast<std::size_t>(end), row_);
  drop_old_samples();
  take(row_);
}

void Propagator::pull(std::vector<double>& pressure)
{
  pull([&](std::span<const double> part) { pressure.insert(pressure.end(), part.begin(), part.end()); });
}

void Propagator::finish(std::vector<double>& pressure, std::size_t frames)
{
  finished_ = true;
  if (path_.is_constant()) {
    source_.insert(source_.end(), weights_.size(), 0.0);
    filter_constant(static_cast<std::ptrdiff_t>(frames), [&](std::span<const double> part) {
      pressure.insert(pressure.end(), part.begin(), part.end());
    });
    return;
  }
  source_.insert(source_.end(), at(kTaps), 0.0);
  const std::size_t ahead = filter_ ? filter_->half_length() : 0;
  while (delayed_begin_ + std::ssize(delayed_) < static_cast<std::ptrdiff_t>(frames + ahead)) {
    delay_next_samples();
  }
  filter_until(frames, pressure);
}

// Keeps what later samples can need: the source from the oldest sample that can still arrive, and the delayed
// samples under the filter. In pieces, because erasing moves the rest.
void Propagator::drop_old_samples()
{
  const std::ptrdiff_t ahead = filter_ ? static_cast<std::ptrdiff_t>(filter_->half_length()) : 0;
  const std::ptrdiff_t delayed_drop = static_cast<std::ptrdiff_t>(pulled_) - ahead - delayed_begin_;
  if (delayed_drop > kDroppedAtOnce) {
    delayed_.erase(delayed_.begin(), delayed_.begin() + delayed_drop);
    delayed_begin_ += delayed_drop;
  }
  // Later samples were emitted later: (1) is monotone below the speed of sound.
  const double position = static_cast<double>(delayed_begin_ + std::ssize(delayed_)) - delays_[1];
  const std::ptrdiff_t needed = static_cast<std::ptrdiff_t>(std::floor(position)) - kTaps - delay_control_;
  drop_source_before(needed);
}

void Propagator::drop_source_before(std::ptrdiff_t needed)
{
  const std::ptrdiff_t drop = std::min(needed - source_begin_, std::ssize(source_));
  if (drop <= kDroppedAtOnce) return;
  source_.erase(source_.begin(), source_.begin() + drop);
  source_begin_ += drop;
}

}  // namespace thrum::sound
