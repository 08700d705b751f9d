// SPDX-License-Identifier: MIT
#include "thrum/sound/modal_bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/sound/modal_kernel.h"
#include "thrum/sound/mode_loops.h"

namespace thrum::sound {

namespace {

constexpr std::size_t kLanes = kModesAtOnce;
constexpr double kMaxDampingRatio = 0.9;  ///< of a mode's own damping
constexpr double kFaint = 1e-150;         ///< amplitude that counts as 0 [kg^1/2 m/s]
constexpr double kMinPulse = 1e-6;        ///< shorter ones act at once, in samples

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
      square_re_(padded_, 0.0),
      square_im_(padded_, 0.0),
      factor_(padded_, 1.0),
      change_re_(padded_, 0.0),
      change_im_(padded_, 0.0),
      force_(kInterval * padded_, 0.0),
      in_re_(kInterval * padded_, 0.0),
      in_im_(kInterval * padded_, 0.0),
      lanes_(kInterval * kSumLanes, 0.0),
      ramp_lanes_(kInterval * kSumLanes, 0.0)
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

void ModalBank::update_poles()
{
  const double largest = *std::max_element(extra_.begin(), extra_.end());
  has_extra_ = largest > 0;
  squares_known_ = false;
  if (largest * step_ < kMaxSmallDecay) {
    small_decay_factors(extra_.data(), step_, factor_.data(), padded_);
  } else {
    for (std::size_t m = 0; m < padded_; ++m) factor_[m] = std::exp(-extra_[m] * step_);
  }
  multiply(factor_.data(), {free_re_.data(), free_im_.data()}, {pole_re_.data(), pole_im_.data()}, padded_);
  multiply_by_power(factor_.data(), {free_jump_re_.data(), free_jump_im_.data()},
                    {jump_re_.data(), jump_im_.data()}, padded_);
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
  // The end of a shorter one could not be told from its beginning.
  if (duration < kMinPulse * step_) duration = 0;
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

// Numbers that small make processors slow long before they come to 0: 900 modes of wood up to 20 kHz took
// more time after their end than while they rang.
void ModalBank::end_faint_modes()
{
  for (std::size_t m = 0; m < padded_; ++m) {
    const bool is_faint = std::abs(re_[m]) + std::abs(im_[m]) < kFaint;
    re_[m] = is_faint ? 0 : re_[m];
    im_[m] = is_faint ? 0 : im_[m];
  }
}

void ModalBank::render(std::span<double> out)
{
  end_faint_modes();
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

// While the weights change from w to v, Re((v - w) z p^n) n / kInterval comes on top.
void ModalBank::render_free(std::span<double> out)
{
  if (has_load_ && !squares_known_) update_squares();
  FreeModes modes{re_.data(),
                  im_.data(),
                  pole_re_.data(),
                  pole_im_.data(),
                  jump_re_.data(),
                  jump_im_.data(),
                  old_re_.data(),
                  old_im_.data(),
                  has_load_ ? load_rates_.data() : nullptr,
                  square_re_.data(),
                  square_im_.data(),
                  padded_,
                  kInterval,
                  true};
  double ramp_offset = 0;
  if (weights_changed_) {
    for (std::size_t m = 0; m < padded_; ++m) {
      change_re_[m] = weight_re_[m] - old_re_[m];
      change_im_[m] = weight_im_[m] - old_im_[m];
    }
    FreeModes change = modes;
    change.weight_re = change_re_.data();
    change.weight_im = change_im_.data();
    change.moves = false;
    ramp_offset = ring_freely(change, ramp_lanes_.data());
  }
  const double offset = ring_freely(modes, lanes_.data());
  add_sums_of_lanes(lanes_.data(), offset, out.first(kInterval));
  if (!weights_changed_) return;
  for (std::size_t n = 0; n < kInterval; ++n) {
    const double ramp = sum_of_lanes(ramp_lanes_.data() + n * kSumLanes) - ramp_offset;
    out[n] += ramp * (static_cast<double>(n) / static_cast<double>(kInterval));
  }
}

// 1 / s^2 of each mode, which changes with its damping alone.
void ModalBank::update_squares()
{
  inverse_squares(decay_.data(), extra_.data(), omega_d_.data(), {square_re_.data(), square_im_.data()},
                  count_);
  squares_known_ = true;
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
