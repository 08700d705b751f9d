// SPDX-License-Identifier: MIT
#include "thrum/sound/driven_modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thrum::sound {

namespace {

constexpr double kMaxDecay = 0.9;      ///< of a mode, as a share of omega, as in ModalBank
constexpr double kTurnStep = 1e-12;    ///< distances nearer than this are one [s]
constexpr std::size_t kMaxTurns = 64;  ///< distances whose turns are kept
/// A body whose modes all move less than this is silent [kg^1/2 m/s].
constexpr double kSilent = 1e-15;
/// Angle of a mode over a substep above which the forces do not say how it rings, as in the contact groups of
/// the flexible stepper [rad].
constexpr double kMaxHeldAngle = 0.5 * std::numbers::pi;

}  // namespace

DrivenModes::DrivenModes(const elastic::ModeList& modes, int sample_rate) : step_(1.0 / sample_rate)
{
  for (Eigen::Index m = 0; m < modes.omegas.size(); ++m) {
    const double omega = modes.omegas[m];
    const double decay = std::min(modes.decays[m], kMaxDecay * omega);
    poles_.emplace_back(-decay, std::sqrt(omega * omega - decay * decay));
    by_force_.push_back(1.0 / poles_.back());
    HighPass& filter = filters_.emplace_back();
    if (!(omega * step_ < std::numbers::pi)) continue;
    const double k = std::tan(0.5 * omega * step_);
    filter.gain = 1 / (1 + k + k * k);
    filter.a1 = 2 * (k * k - 1) * filter.gain;
    filter.a2 = (1 - k + k * k) * filter.gain;
  }
  z_.assign(size(), 0);
  forces_.assign(size(), 0);
}

void DrivenModes::set_forces(double time, double held, std::span<const double> forces)
{
  const auto count = std::min(forces.size(), size());
  std::vector<double> now(size(), 0.0);
  std::copy_n(forces.begin(), count, now.begin());
  const std::vector<double>& last = changes_.empty() ? forces_ : changes_.back().forces;
  if (now != last) changes_.push_back({time, std::min(held, last_held_), std::move(now)});
  last_held_ = held;
}

void DrivenModes::apply(const Change& change)
{
  for (std::size_t m = 0; m < size(); ++m) {
    const double step = change.forces[m] - forces_[m];
    if (step != 0 && std::abs(poles_[m]) * change.held <= kMaxHeldAngle) z_[m] += step * by_force_[m];
  }
  forces_ = change.forces;
  moves_ = true;
}

void DrivenModes::move(double duration)
{
  if (!(duration > 0)) return;
  time_ += duration;
  const auto key = static_cast<std::int64_t>(std::llround(duration / kTurnStep));
  auto found = turns_.find(key);
  if (found == turns_.end()) {
    if (turns_.size() >= kMaxTurns) turns_.clear();
    std::vector<Complex> turns(size());
    for (std::size_t m = 0; m < size(); ++m) turns[m] = std::exp(poles_[m] * duration);
    found = turns_.emplace(key, std::move(turns)).first;
  }
  const std::vector<Complex>& turns = found->second;
  for (std::size_t m = 0; m < size(); ++m) {
    const double re = turns[m].real() * z_[m].real() - turns[m].imag() * z_[m].imag();
    z_[m] = {re, turns[m].real() * z_[m].imag() + turns[m].imag() * z_[m].real()};
  }
}

bool DrivenModes::render(double begin, std::span<const Complex> before, std::span<const Complex> weights,
                         std::span<double> out)
{
  const double end = begin + static_cast<double>(out.size()) * step_;
  if (!moves_ && (changes_.empty() || changes_.front().time >= end)) {
    time_ = end;
    return false;
  }
  if (!moves_) time_ = begin;
  for (std::size_t n = 0; n < out.size(); ++n) {
    const double now = begin + static_cast<double>(n) * step_;
    for (; !changes_.empty() && changes_.front().time <= now; changes_.pop_front()) {
      move(changes_.front().time - time_);
      apply(changes_.front());
    }
    move(now - time_);
    const double share = static_cast<double>(n) / static_cast<double>(out.size());
    double sum = 0;
    for (std::size_t m = 0; m < size(); ++m) {
      const Complex weight = before[m] + share * (weights[m] - before[m]);
      const double in = weight.real() * z_[m].real() - weight.imag() * z_[m].imag();
      HighPass& filter = filters_[m];
      const double heard = filter.gain * in + filter.s1;
      filter.s1 = -2 * filter.gain * in - filter.a1 * heard + filter.s2;
      filter.s2 = filter.gain * in - filter.a2 * heard;
      sum += heard;
    }
    out[n] += sum;
  }
  moves_ = std::any_of(z_.begin(), z_.end(), [](const Complex& z) { return std::abs(z) > kSilent; });
  if (!moves_) {
    std::fill(z_.begin(), z_.end(), 0);
    for (HighPass& filter : filters_) filter.s1 = filter.s2 = 0;
  }
  return true;
}

}  // namespace thrum::sound
