// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/damped_oscillation.h"

namespace thrum::elastic {

namespace {

// 1 - a1 + a2 of the recurrence (2) below, without the cancellation that would leave only five digits for a
// low mode.
double stiffness_coefficient(double omega, double decay, double time)
{
  const double square = (omega - decay) * (omega + decay);
  const double angle = std::sqrt(std::abs(square)) * time;
  if (square < 0) return std::expm1(angle - decay * time) * std::expm1(-angle - decay * time);
  const double decay_loss = std::expm1(-decay * time);
  const double half_chord = std::sin(angle / 2);
  return decay_loss * decay_loss + 4 * std::exp(-decay * time) * half_chord * half_chord;
}

// James and Pai 2002, as [Coevoet20, eq. 10] uses it: with e = exp(-xi w T), th = w_d T, g = asin(xi),
//
//     a_r = 2 [e cos(th + g) - e^2 cos(2 th + g)] / (3 w w_d).
//
// It is kept to reproduce the paper. Compared with the exact response to an impulse it is wrong by a factor
// that depends on the mode: 0.42 at th = pi/2, 18.9 for a 50 Hz mode of wood at 44.1 kHz.
double dyrt_coefficient(double omega, double decay, double step)
{
  if (decay >= omega) {
    throw Error(
        fmt::format("A mode of {:.4g} rad/s with decay {:.4g} 1/s is over-damped, and the 'dyrt' "
                    "coefficients are for under-damped modes only; use the exact ones.",
                    omega, decay));
  }
  const double omega_d = std::sqrt((omega - decay) * (omega + decay));
  const double e = std::exp(-decay * step);
  const double th = omega_d * step;
  const double g = std::asin(decay / omega);
  return 2 * (e * std::cos(th + g) - e * e * std::cos(2 * th + g)) / (3 * omega * omega_d);
}

void check_modes(const ModeList& modes, double step)
{
  if (!(std::isfinite(step) && step > 0)) {
    throw Error(fmt::format("The filter step is {} s; it must be finite and positive.", step));
  }
  if (modes.omegas.size() != modes.decays.size()) {
    throw Error(fmt::format("There are {} frequencies but {} decays; the numbers must be equal.",
                            modes.omegas.size(), modes.decays.size()));
  }
  for (Eigen::Index m = 0; m < modes.omegas.size(); ++m) {
    const double omega = modes.omegas[m];
    const double decay = modes.decays[m];
    if (!(std::isfinite(omega) && omega > 0 && std::isfinite(decay) && decay >= 0)) {
      throw Error(
          fmt::format("Mode {} has frequency {} rad/s and decay {} 1/s; both must be finite, the frequency "
                      "positive and the decay not negative.",
                      m + 1, omega, decay));
    }
  }
}

}  // namespace

ModeList mode_list(const model::ModalModel& model)
{
  return {2 * std::numbers::pi * model.frequencies, model.decays};
}

// With unit mass, an impulse j at t = 0 gives, with the damped_oscillation of above at time t,
//
//     q(t) = j sine(t).                                                                 (1)
//
// Sampled at t = k T it satisfies, for k >= 1,
//
//     q[k+1] = a1 q[k] - a2 q[k-1],    a1 = 2 cosine(T), a2 = e^2, e = exp(-d T),       (2)
//
// since the roots of z^2 - a1 z + a2 are exp((-d +- i w_d) T). Starting it takes q[1] = b1 j,
//
//     b1 = sine(T).                                                                     (3)
//
// In a low mode q[k+1] is the small difference of two large terms, and 0.1 s of (2) at audio rate leaves ten
// digits. Written with the difference r[k] = q[k] - q[k-1] instead (Reinsch's form), at the same cost,
//
//     r[k+1] = a2 r[k] - c q[k],    q[k+1] = q[k] + r[k+1],    c = 1 - a1 + a2,         (2')
//
// it keeps twelve.
//
// A force Q held over a sample is the integral of (1) over it, which converges to the static response Q / w^2
// when it continues:
//
//     b1 = [1 - cosine - d sine] / w^2,    b2 = [e^2 - cosine + d sine] / w^2.          (4)
//
// Limits: T -> 0 gives b1 -> T in (3) and b1, b2 -> T^2/2 in (4); d -> 0 leaves an undamped oscillation.
//
// [Coevoet20, eq. 10] takes the coefficient of James and Pai instead, see dyrt_coefficient(). Contacts here
// give impulses, so the default is (3).
FilterCoefficients filter_coefficients(double omega, double decay, double step, FilterInput input)
{
  const DampedOscillation s = damped_oscillation(omega, decay, step);
  const double e = std::exp(-decay * step);
  FilterCoefficients c;
  c.a1 = 2 * s.cosine;
  c.a2 = e * e;
  c.c = stiffness_coefficient(omega, decay, step);
  switch (input) {
    case FilterInput::impulse:
      c.b1 = s.sine;
      break;
    case FilterInput::force:
      c.b1 = (1 - s.cosine - decay * s.sine) / (omega * omega);
      c.b2 = (e * e - s.cosine + decay * s.sine) / (omega * omega);
      break;
    case FilterInput::dyrt:
      c.b1 = dyrt_coefficient(omega, decay, step);
      break;
  }
  return c;
}

double coevoet_step(const ModeList& modes)
{
  if (modes.size() == 0) throw Error("There are no modes, so there is no shortest period to resolve.");
  return std::numbers::pi / (2 * modes.omegas.maxCoeff());
}

ModalFilterBank::ModalFilterBank(const ModeList& modes, double step, FilterInput input)
    : count_(modes.size()),
      step_(step),
      a2_(count_),
      c_(count_),
      b1_(count_),
      b2_(count_),
      q_(count_),
      r_(count_),
      x1_(count_),
      x2_(count_)
{
  check_modes(modes, step);
  for (std::size_t m = 0; m < count_; ++m) {
    const auto i = static_cast<Eigen::Index>(m);
    const FilterCoefficients c = filter_coefficients(modes.omegas[i], modes.decays[i], step, input);
    a2_[m] = c.a2;
    c_[m] = c.c;
    b1_[m] = c.b1;
    b2_[m] = c.b2;
  }
}

void ModalFilterBank::drive(const VecX& input)
{
  THRUM_ASSERT(at(input.size()) == count_);
  for (std::size_t m = 0; m < count_; ++m) x1_[m] += input[static_cast<Eigen::Index>(m)];
}

void ModalFilterBank::advance()
{
  for (std::size_t m = 0; m < count_; ++m) {
    r_[m] = a2_[m] * r_[m] - c_[m] * q_[m] + b1_[m] * x1_[m] + b2_[m] * x2_[m];
    q_[m] += r_[m];
    x2_[m] = x1_[m];
    x1_[m] = 0;
  }
}

MatX ModalFilterBank::run(std::size_t samples)
{
  MatX result(static_cast<Eigen::Index>(count_), static_cast<Eigen::Index>(samples));
  for (Eigen::Index k = 0; k < result.cols(); ++k) {
    advance();
    std::copy(q_.begin(), q_.end(), result.col(k).data());
  }
  return result;
}

// A few modes at a time, so that their state stays in registers for all samples.
void ModalFilterBank::run_into(float* rows, std::size_t row_stride, std::size_t samples)
{
  THRUM_ASSERT(row_stride >= samples);
  // Only the first two samples can have an input; the rest is the bare recurrence.
  const std::size_t driven = std::min<std::size_t>(samples, 2);
  for (std::size_t k = 0; k < driven; ++k) {
    advance();
    for (std::size_t m = 0; m < count_; ++m) rows[m * row_stride + k] = static_cast<float>(q_[m]);
  }
  constexpr std::size_t kLanes = 4;
  for (std::size_t first = 0; first < count_; first += kLanes) {
    const std::size_t here = std::min(kLanes, count_ - first);
    std::array<double, kLanes> a2{};
    std::array<double, kLanes> c{};
    std::array<double, kLanes> q{};
    std::array<double, kLanes> r{};
    std::copy_n(a2_.data() + first, here, a2.data());
    std::copy_n(c_.data() + first, here, c.data());
    std::copy_n(q_.data() + first, here, q.data());
    std::copy_n(r_.data() + first, here, r.data());
    float* out = rows + first * row_stride;
    for (std::size_t k = driven; k < samples; ++k) {
      for (std::size_t m = 0; m < kLanes; ++m) {
        r[m] = a2[m] * r[m] - c[m] * q[m];
        q[m] += r[m];
      }
      if (here == kLanes) {
        for (std::size_t m = 0; m < kLanes; ++m) out[m * row_stride + k] = static_cast<float>(q[m]);
      } else {
        for (std::size_t m = 0; m < here; ++m) out[m * row_stride + k] = static_cast<float>(q[m]);
      }
    }
    std::copy_n(q.data(), here, q_.data() + first);
    std::copy_n(r.data(), here, r_.data() + first);
  }
}

void ModalFilterBank::reset()
{
  for (auto* state : {&q_, &r_, &x1_, &x2_}) std::fill(state->begin(), state->end(), 0.0);
}

VecX ModalFilterBank::amplitudes() const
{
  return Eigen::Map<const VecX>(q_.data(), static_cast<Eigen::Index>(count_));
}

// A free mode is one complex pole, z' = (-d + i w_d) z with z = (q' + d q) + i w_d q: a rotation with decay.
// Written in (q, q') the same map is
//
//     | q  |        | cosine + d sine     sine             | | q  |
//     | q' |   <-   | -w^2 sine           cosine - d sine  | | q' |,                              (5)
//
// which is continuous when d changes and holds for over-damped modes, where z does not exist. It is the exact
// motion over the sample, so the energy can only fall, whatever d does from sample to sample. The two-term
// recurrence (2) has no such state: changing its coefficients between samples reads q[k-1] as if it had been
// reached with the new damping, which can add energy.
ModeStateBank::ModeStateBank(const ModeList& modes, double step)
    : omegas_(modes.omegas),
      step_(step),
      q_(VecX::Zero(modes.omegas.size())),
      v_(VecX::Zero(modes.omegas.size())),
      propagator_(modes.omegas.size(), 4)
{
  check_modes(modes, step);
  set_decays(modes.decays);
}

void ModeStateBank::set_decays(const VecX& decays)
{
  check_modes({omegas_, decays}, step_);
  for (Eigen::Index m = 0; m < omegas_.size(); ++m) {
    const DampedOscillation s = damped_oscillation(omegas_[m], decays[m], step_);
    propagator_(m, 0) = s.cosine + decays[m] * s.sine;
    propagator_(m, 1) = s.sine;
    propagator_(m, 2) = -omegas_[m] * omegas_[m] * s.sine;
    propagator_(m, 3) = s.cosine - decays[m] * s.sine;
  }
}

void ModeStateBank::apply_impulse(const VecX& impulse)
{
  THRUM_ASSERT(impulse.size() == v_.size());
  v_ += impulse;
}

void ModeStateBank::advance()
{
  for (Eigen::Index m = 0; m < q_.size(); ++m) {
    const double q = propagator_(m, 0) * q_[m] + propagator_(m, 1) * v_[m];
    v_[m] = propagator_(m, 2) * q_[m] + propagator_(m, 3) * v_[m];
    q_[m] = q;
  }
}

void ModeStateBank::reset()
{
  q_.setZero();
  v_.setZero();
}

double ModeStateBank::energy() const
{
  return (v_.squaredNorm() + omegas_.cwiseProduct(q_).squaredNorm()) / 2;
}

}  // namespace thrum::elastic
