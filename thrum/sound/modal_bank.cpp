// SPDX-License-Identifier: MIT
#include "thrum/sound/modal_bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "thrum/base/error.h"
#include "thrum/base/simd.h"

namespace thrum::sound {

namespace {

// Modes are advanced in groups of this many.
constexpr std::size_t kLanes = 8;
constexpr double kMaxDampingRatio = 0.9;  ///< of a mode's own damping

/// Recurrences y[n+1] = a y[n] - b y[n-1] of all modes, by their first two values.
struct Recurrences {
  const double* start0;
  const double* start1;
  const double* a;
  const double* b;
  std::size_t count;  ///< a multiple of kLanes
};

// As many of them as a vector has numbers.
template <class Vector>
struct VectorOfModes {
  static constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  Vector y0, y1, a, b;

  [[gnu::always_inline]] VectorOfModes(const Recurrences& all, std::size_t at)
  {
    std::memcpy(&y0, all.start0 + at, sizeof(Vector));
    std::memcpy(&y1, all.start1 + at, sizeof(Vector));
    std::memcpy(&a, all.a + at, sizeof(Vector));
    std::memcpy(&b, all.b + at, sizeof(Vector));
  }

  [[gnu::always_inline]] void add_and_step(Vector& sum)
  {
    sum += y0;
    const Vector next = a * y1 - b * y0;
    y0 = y1;
    y1 = next;
  }
};

// Adds kInterval values of all recurrences to `lanes`. With loops over arrays of vectors g++ 12 keeps half of
// the values in memory: 2.9 x real time for 10,000 modes, 7.5 x with named vectors.
void run_recurrences(const Recurrences& all, double* __restrict lanes)
{
  using base::simd::Double2;
  using Modes = VectorOfModes<Double2>;
  static_assert(kLanes == 4 * Modes::kSize);
  const auto add = [](Modes& modes, double* row) {
    Double2 sum;
    std::memcpy(&sum, row, sizeof(sum));
    modes.add_and_step(sum);
    std::memcpy(row, &sum, sizeof(sum));
  };
  for (std::size_t g = 0; g < all.count; g += kLanes) {
    Modes p(all, g), q(all, g + 2), r(all, g + 4), s(all, g + 6);
    for (std::size_t n = 0; n < ModalBank::kInterval; ++n) {
      double* row = lanes + n * kLanes;
      add(p, row);
      add(q, row + 2);
      add(r, row + 4);
      add(s, row + 6);
    }
  }
}

#if defined(__x86_64__)
#define THRUM_WIDE_MODES 1
using Double4 [[gnu::vector_size(32)]] = double;

// The same with the vectors of newer processors, two groups at once: each lane adds the same numbers in the
// same order, and without fused products, so that the result has the same bits.
[[gnu::target("avx2")]] void run_recurrences_wide(const Recurrences& all, double* __restrict lanes)
{
  using Modes = VectorOfModes<Double4>;
  std::size_t g = 0;
  for (; g + 2 * kLanes <= all.count; g += 2 * kLanes) {
    Modes p(all, g), q(all, g + 4), r(all, g + 8), s(all, g + 12);
    for (std::size_t n = 0; n < ModalBank::kInterval; ++n) {
      Double4 low, high;
      double* row = lanes + n * kLanes;
      std::memcpy(&low, row, sizeof(low));
      std::memcpy(&high, row + 4, sizeof(high));
      p.add_and_step(low);
      q.add_and_step(high);
      r.add_and_step(low);
      s.add_and_step(high);
      std::memcpy(row, &low, sizeof(low));
      std::memcpy(row + 4, &high, sizeof(high));
    }
  }
  const Recurrences rest{all.start0 + g, all.start1 + g, all.a + g, all.b + g, all.count - g};
  run_recurrences(rest, lanes);
}
#endif

void run_recurrences_here(const Recurrences& all, double* __restrict lanes)
{
#if THRUM_WIDE_MODES
  static const bool has_wide = __builtin_cpu_supports("avx2") != 0;
  if (has_wide) return run_recurrences_wide(all, lanes);
#endif
  run_recurrences(all, lanes);
}

// In pairs: a sum one after the other waits for each addition.
double sum_of_lanes(const double* lanes)
{
  static_assert(kLanes == 8);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

}  // namespace

ModalBank::ModalBank(const elastic::ModeList& modes, int sample_rate)
    : count_(modes.size()),
      padded_((modes.size() + kLanes - 1) / kLanes * kLanes),
      step_(1.0 / sample_rate),
      decay_(padded_, 0.0),
      omega_d_(padded_, 0.0),
      extra_(padded_, 0.0),
      re_(padded_, 0.0),
      im_(padded_, 0.0),
      free_re_(padded_, 0.0),
      free_im_(padded_, 0.0),
      free_jump_re_(padded_, 0.0),
      free_jump_im_(padded_, 0.0),
      weight_re_(padded_, 0.0),
      weight_im_(padded_, 0.0),
      old_re_(padded_, 0.0),
      old_im_(padded_, 0.0),
      load_rates_(padded_, 0.0),
      shift_re_(padded_, 0.0),
      shift_im_(padded_, 0.0),
      square_re_(padded_, 0.0),
      square_im_(padded_, 0.0),
      factor_(padded_, 1.0),
      start0_(padded_, 0.0),
      start1_(padded_, 0.0),
      twice_re_(padded_, 0.0),
      pole_norm_(padded_, 0.0),
      force_(kInterval * padded_, 0.0),
      in_re_(kInterval * padded_, 0.0),
      in_im_(kInterval * padded_, 0.0),
      lanes_(kInterval * kLanes, 0.0),
      ramp_lanes_(kInterval * kLanes, 0.0)
{
  if (sample_rate <= 0)
    throw Error(fmt::format("The sample rate is {} Hz; it must be positive.", sample_rate));
  for (std::size_t m = 0; m < count_; ++m) {
    const double omega = modes.omegas[static_cast<Eigen::Index>(m)];
    const double decay = modes.decays[static_cast<Eigen::Index>(m)];
    if (!(omega > 0) || !std::isfinite(omega) || !(decay >= 0) || !std::isfinite(decay)) {
      throw Error(
          fmt::format("Mode {} has the angular frequency {} rad/s and the decay {} 1/s; a mode that "
                      "sounds has a positive frequency and no negative decay.",
                      m, omega, decay));
    }
    decay_[m] = std::min(decay, kMaxDampingRatio * omega);
    omega_d_[m] = std::sqrt((omega - decay_[m]) * (omega + decay_[m]));
    const Complex s = pole(m);
    const Complex one = std::exp(s * step_);
    const Complex all = std::exp(s * (step_ * static_cast<double>(kInterval)));
    free_re_[m] = one.real();
    free_im_[m] = one.imag();
    free_jump_re_[m] = all.real();
    free_jump_im_[m] = all.imag();
    weight_re_[m] = old_re_[m] = 1;
    weight_im_[m] = old_im_[m] = velocity_weight(m).imag();
  }
  pole_re_ = free_re_;
  pole_im_ = free_im_;
  jump_re_ = free_jump_re_;
  jump_im_ = free_jump_im_;
  update_recurrences();
}

void ModalBank::set_extra_decays(std::span<const double> decays)
{
  if (decays.empty()) {
    if (!has_extra_) return;
    std::fill(extra_.begin(), extra_.end(), 0.0);
  } else {
    if (std::equal(decays.begin(), decays.end(), extra_.begin())) return;
    for (std::size_t m = 0; m < count_; ++m) extra_[m] = std::max(0.0, decays[m]);
  }
  update_poles();
}

// exp(-x) of small x by its series, in a loop without branches; what is left out is below 2e-13.
void ModalBank::update_poles()
{
  constexpr double kSmall = 0.01;
  const double largest = *std::max_element(extra_.begin(), extra_.end());
  has_extra_ = largest > 0;
  squares_known_ = false;
  std::vector<double>& factor = factor_;
  if (largest * step_ < kSmall) {
    for (std::size_t m = 0; m < padded_; ++m) {
      const double x = extra_[m] * step_;
      factor[m] =
          1 - x * (1 - x * (1.0 / 2) * (1 - x * (1.0 / 3) * (1 - x * (1.0 / 4) * (1 - x * (1.0 / 5)))));
    }
  } else {
    for (std::size_t m = 0; m < padded_; ++m) factor[m] = std::exp(-extra_[m] * step_);
  }
  for (std::size_t m = 0; m < padded_; ++m) {
    const double one = factor[m];
    double all = one;
    for (std::size_t k = 1; k < kInterval; k *= 2) all *= all;
    pole_re_[m] = one * free_re_[m];
    pole_im_[m] = one * free_im_[m];
    jump_re_[m] = all * free_jump_re_[m];
    jump_im_[m] = all * free_jump_im_[m];
  }
  update_recurrences();
}

void ModalBank::update_recurrences()
{
  for (std::size_t m = 0; m < padded_; ++m) {
    twice_re_[m] = 2 * pole_re_[m];
    pole_norm_[m] = pole_re_[m] * pole_re_[m] + pole_im_[m] * pole_im_[m];
  }
}

void ModalBank::set_output(std::span<const Complex> weights)
{
  for (std::size_t m = 0; m < count_; ++m) {
    weights_changed_ |= weights[m].real() != weight_re_[m] || weights[m].imag() != weight_im_[m];
    weight_re_[m] = weights[m].real();
    weight_im_[m] = weights[m].imag();
  }
  // Nothing was heard before the first interval.
  if (interval_ == 0) {
    old_re_ = weight_re_;
    old_im_ = weight_im_;
    weights_changed_ = false;
  }
}

// Re((1 + i g) z) = Re z - g Im z, with g = d / w_d of (1).
ModalBank::Complex ModalBank::velocity_weight(std::size_t mode) const
{
  return {1, decay_[mode] / omega_d_[mode]};
}

void ModalBank::strike(double time, double duration, std::span<const double> gains)
{
  if (!std::isfinite(time) || !(duration >= 0) || !std::isfinite(duration))
    throw Error(fmt::format("A pulse at {} s of length {} s cannot strike a body.", time, duration));
  pulses_.push_back({time, duration, {gains.begin(), gains.end()}});
}

void ModalBank::set_load_rates(std::span<const double> rates)
{
  has_load_ = std::any_of(rates.begin(), rates.end(), [](double rate) { return rate != 0; });
  if (has_load_) std::copy(rates.begin(), rates.end(), load_rates_.begin());
}

void ModalBank::add_force(std::span<const double> force, std::span<const double> gains)
{
  if (!has_force_) std::fill(force_.begin(), force_.end(), 0.0);
  has_force_ = true;
  for (std::size_t n = 0; n < kInterval; ++n) {
    double* row = force_.data() + n * padded_;
    for (std::size_t m = 0; m < count_; ++m) row[m] += force[n] * gains[m];
  }
}

double ModalBank::time() const
{
  return static_cast<double>(interval_ * kInterval) * step_;
}

double ModalBank::interval() const
{
  return static_cast<double>(kInterval) * step_;
}

ModalBank::Complex ModalBank::state(std::size_t mode) const
{
  return {re_[mode], im_[mode]};
}

double ModalBank::energy() const
{
  double sum = 0;
  for (std::size_t m = 0; m < count_; ++m) sum += re_[m] * re_[m] + im_[m] * im_[m];
  return sum / 2;
}

void ModalBank::skip()
{
  std::fill(re_.begin(), re_.end(), 0.0);
  std::fill(im_.begin(), im_.end(), 0.0);
  ++interval_;
}

bool ModalBank::is_quiet(double amplitude) const
{
  for (std::size_t m = 0; m < count_; ++m) {
    if (re_[m] * re_[m] + im_[m] * im_[m] > amplitude * amplitude) return false;
  }
  return true;
}

void ModalBank::render(std::span<double> out)
{
  gather_inputs();
  if (has_input_) {
    render_driven(out);
  } else {
    render_free(out);
  }
  if (weights_changed_) {
    old_re_ = weight_re_;
    old_im_ = weight_im_;
    weights_changed_ = false;
  }
  has_load_ = false;
  has_force_ = false;
  ++interval_;
}

// y[n] = Re(w z p^n) satisfies y[n+1] = 2 Re(p) y[n] - |p|^2 y[n-1]. While the weights change from w to v,
// Re((v - w) z p^n) n / kInterval comes on top. While a load changes at the rate r, z + r / s^2 is what runs
// free.
void ModalBank::render_free(std::span<double> out)
{
  const auto [offset, ramp_offset] = has_load_ ? shift_by_load() : std::pair(0.0, 0.0);
  std::fill(lanes_.begin(), lanes_.end(), 0.0);
  if (weights_changed_) std::fill(ramp_lanes_.begin(), ramp_lanes_.end(), 0.0);
  const auto run = [&](const auto& weights_of, double* lanes) {
    for (std::size_t m = 0; m < padded_; ++m) {
      const auto [weight_re, weight_im] = weights_of(m);
      start0_[m] = weight_re * re_[m] - weight_im * im_[m];
      start1_[m] = (weight_re * pole_re_[m] - weight_im * pole_im_[m]) * re_[m] -
                   (weight_re * pole_im_[m] + weight_im * pole_re_[m]) * im_[m];
    }
    run_recurrences_here({start0_.data(), start1_.data(), twice_re_.data(), pole_norm_.data(), padded_},
                         lanes);
  };
  run([&](std::size_t m) { return std::pair(old_re_[m], old_im_[m]); }, lanes_.data());
  if (weights_changed_) {
    run([&](std::size_t m) { return std::pair(weight_re_[m] - old_re_[m], weight_im_[m] - old_im_[m]); },
        ramp_lanes_.data());
  }
  for (std::size_t m = 0; m < padded_; ++m) {
    const double re = jump_re_[m] * re_[m] - jump_im_[m] * im_[m];
    im_[m] = jump_re_[m] * im_[m] + jump_im_[m] * re_[m];
    re_[m] = re;
  }
  if (has_load_) {
    for (std::size_t m = 0; m < padded_; ++m) {
      re_[m] -= shift_re_[m];
      im_[m] -= shift_im_[m];
    }
  }
  for (std::size_t n = 0; n < kInterval; ++n) out[n] += sum_of_lanes(lanes_.data() + n * kLanes) - offset;
  if (!weights_changed_) return;
  for (std::size_t n = 0; n < kInterval; ++n) {
    const double ramp = sum_of_lanes(ramp_lanes_.data() + n * kLanes) - ramp_offset;
    out[n] += ramp * (static_cast<double>(n) / static_cast<double>(kInterval));
  }
}

// 1 / s^2 of each mode, which changes with its damping alone.
void ModalBank::update_squares()
{
  for (std::size_t m = 0; m < count_; ++m) {
    const double d = decay_[m] + extra_[m];
    const double square_re = d * d - omega_d_[m] * omega_d_[m];
    const double square_im = -2 * d * omega_d_[m];
    const double scale = 1 / (square_re * square_re + square_im * square_im);
    square_re_[m] = scale * square_re;
    square_im_[m] = -scale * square_im;
  }
  squares_known_ = true;
}

// Moves z to z + r / s^2; returns what the shift adds to the output, by the old weights and by their change.
std::pair<double, double> ModalBank::shift_by_load()
{
  if (!squares_known_) update_squares();
  double offsets[kLanes] = {};
  double ramps[kLanes] = {};
  for (std::size_t g = 0; g < padded_; g += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t m = g + l;
      shift_re_[m] = load_rates_[m] * square_re_[m];
      shift_im_[m] = load_rates_[m] * square_im_[m];
      re_[m] += shift_re_[m];
      im_[m] += shift_im_[m];
      offsets[l] += old_re_[m] * shift_re_[m] - old_im_[m] * shift_im_[m];
    }
    if (!weights_changed_) continue;
    for (std::size_t l = 0; l < kLanes; ++l) {
      const std::size_t m = g + l;
      ramps[l] += (weight_re_[m] - old_re_[m]) * shift_re_[m] - (weight_im_[m] - old_im_[m]) * shift_im_[m];
    }
  }
  return {sum_of_lanes(offsets), sum_of_lanes(ramps)};
}

// One complex multiplication a mode and sample, with what forces add.
void ModalBank::render_driven(std::span<double> out)
{
  for (std::size_t n = 0; n < kInterval; ++n) {
    const double ramp = static_cast<double>(n) / static_cast<double>(kInterval);
    const double* in_re = in_re_.data() + n * padded_;
    const double* in_im = in_im_.data() + n * padded_;
    double sums[kLanes] = {};
    for (std::size_t g = 0; g < padded_; g += kLanes) {
      for (std::size_t l = 0; l < kLanes; ++l) {
        const std::size_t m = g + l;
        const double weight_re = old_re_[m] + ramp * (weight_re_[m] - old_re_[m]);
        const double weight_im = old_im_[m] + ramp * (weight_im_[m] - old_im_[m]);
        sums[l] += weight_re * re_[m] - weight_im * im_[m];
        const double re = pole_re_[m] * re_[m] - pole_im_[m] * im_[m] + in_re[m];
        im_[m] = pole_re_[m] * im_[m] + pole_im_[m] * re_[m] + in_im[m];
        re_[m] = re;
      }
    }
    double sum = 0;
    for (const double x : sums) sum += x;
    out[n] += sum;
  }
}

}  // namespace thrum::sound
