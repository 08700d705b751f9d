// SPDX-License-Identifier: MIT
// Modes that were simulated, heard again: against integration in small steps, closed forms and the radiation
// of a dipole.
#include "thrum/sound/driven_modes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "thrum/base/random.h"
#include "thrum/sound/modal_bank.h"

namespace thrum::sound {
namespace {

using std::numbers::pi;
constexpr std::size_t kInterval = ModalBank::kInterval;

elastic::ModeList one_mode(double frequency, double decay)
{
  elastic::ModeList list;
  list.omegas = VecX::Constant(1, 2 * pi * frequency);
  list.decays = VecX::Constant(1, decay);
  return list;
}

// Weights with which Re(w z) is the velocity q'.
std::vector<DrivenModes::Complex> velocity_weights(const elastic::ModeList& list, int rate)
{
  const ModalBank bank(list, rate);
  std::vector<DrivenModes::Complex> weights;
  for (std::size_t m = 0; m < list.size(); ++m) weights.push_back(bank.velocity_weight(m));
  return weights;
}

/// Length of a substep in which every mode here is followed [s].
constexpr double kHeld = 1e-5;

// Of q'' + 2 d q' + w^2 q = f by the classical method of Runge and Kutta, with steps far below the period.
struct Oscillator {
  double w, d, q = 0, v = 0;
  void move(double f, double time)
  {
    const int steps = 1 + static_cast<int>(time * w * 40);
    const double h = time / steps;
    const auto slope = [&](double x, double u) {
      return f - 2 * d * u - w * w * x;
    };
    for (int i = 0; i < steps; ++i) {
      const double k1 = v, l1 = slope(q, v);
      const double k2 = v + h / 2 * l1, l2 = slope(q + h / 2 * k1, k2);
      const double k3 = v + h / 2 * l2, l3 = slope(q + h / 2 * k2, k3);
      const double k4 = v + h * l3, l4 = slope(q + h * k3, k4);
      q += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
  }
};

// The state after substeps of random lengths and forces is that of the simulation, at any sample rate.
TEST(DrivenModes, MoveAsTheForcesOfTheSimulationMoveThem)
{
  base::Random random(31);
  for (const int rate : {44100, 48000, 96000}) {
    for (const double frequency : {5.0, 300.0, 4000.0, 15000.0}) {
      const double decay = 0.01 * 2 * pi * frequency;
      const elastic::ModeList list = one_mode(frequency, decay);
      const std::vector<DrivenModes::Complex> weights = velocity_weights(list, rate);
      DrivenModes modes(list, rate);
      Oscillator expected{2 * pi * frequency, decay};
      const std::size_t intervals = 4;
      const double last = (intervals * kInterval - 1.0) / rate;
      double time = 0;
      while (time < last) {
        // Less than a quarter of a period.
        const double longest = std::min(1e-3, 0.24 / frequency);
        const double length =
            std::min(std::ldexp(longest, -static_cast<int>(random.uniform(0, 7))), last - time);
        const double force = random.uniform(-1, 1);
        modes.set_forces(time, length, std::vector{force});
        expected.move(force, length);
        time += length;
      }
      std::vector<double> out(intervals * kInterval, 0.0);
      for (std::size_t k = 0; k < intervals; ++k)
        modes.render(static_cast<double>(k * kInterval) / rate, weights, weights,
                     std::span(out).subspan(k * kInterval, kInterval));
      // The states are those of the last sample.
      const double velocity = (weights[0] * modes.states()[0]).real();
      EXPECT_NEAR(velocity, expected.v, 1e-6 / expected.w) << frequency << " Hz at " << rate;
    }
  }
}

// A force that swings at 50 Hz, known at 8 kHz: the steps between its values would ring a mode of 4 kHz, of
// which they are half a period. One of 500 Hz moves as they say.
TEST(DrivenModes, StepsOfAForceThatIsKnownTooSeldomDoNotRing)
{
  const double substep = 1.0 / 8000;
  const auto rings = [&](double frequency) {
    const elastic::ModeList list = one_mode(frequency, 10);
    const std::vector<DrivenModes::Complex> weights = velocity_weights(list, 48000);
    DrivenModes modes(list, 48000);
    for (int k = 0; k < 800; ++k)
      modes.set_forces(k * substep, substep, std::vector{std::sin(2 * pi * 50 * k * substep)});
    std::vector<double> out(kInterval);
    for (std::size_t k = 0; k < 4800 / kInterval; ++k)
      modes.render(static_cast<double>(k * kInterval) / 48000, weights, weights, out);
    return std::abs(modes.states()[0]) * 2 * pi * frequency;
  };
  EXPECT_EQ(rings(4000), 0);
  EXPECT_GT(rings(500), 1e-3);
}

// Peak of what is heard of a mode under a force of the frequency W, after it has settled.
double heard_peak(double frequency, double W, double force, int rate)
{
  const elastic::ModeList list = one_mode(frequency, 0.2 * 2 * pi * frequency);
  const std::vector<DrivenModes::Complex> weights = velocity_weights(list, rate);
  DrivenModes modes(list, rate);
  const double substep = 1e-5;  // far below the period of the mode, which steps of the force would ring
  const double settle = 20 / std::min(W, frequency);
  const double end = settle + 3 / W;
  for (double t = 0; t < end; t += substep)
    modes.set_forces(t, substep, std::vector{force * std::sin(2 * pi * W * (t + substep / 2))});
  double peak = 0;
  std::vector<double> out(kInterval);
  for (double t = 0; t + static_cast<double>(kInterval) / rate < end;
       t += static_cast<double>(kInterval) / rate) {
    std::fill(out.begin(), out.end(), 0.0);
    modes.render(t, weights, weights, out);
    if (t < settle) continue;
    for (const double x : out) peak = std::max(peak, std::abs(x));
  }
  return peak;
}

// Below its own frequency a mode is heard as a small dipole is: by (W / w)^2 of its velocity.
TEST(DrivenModes, ASlowMotionRadiatesAsADipole)
{
  const double f = 1000;
  for (const double W : {80.0, 160.0}) {
    const double w = 2 * pi * f;
    const double velocity = 2 * pi * W / (w * w);  // of a unit force, far below resonance
    const double expected = velocity * (W / f) * (W / f);
    EXPECT_NEAR(heard_peak(f, W, 1, 48000) / expected, 1, 0.06) << W;
  }
  // At its own frequency it is heard as it moves: F / 2 d.
  EXPECT_NEAR(heard_peak(f, f, 1, 48000) * 2 * 0.2 * 2 * pi * f, 1, 0.03);
}

// A second push after silence is heard as the first was, though a weak one stops while its filter moves.
TEST(DrivenModes, SilenceForgetsWhatWasBefore)
{
  const elastic::ModeList list = one_mode(400, 0.9 * 2 * pi * 400);
  const std::vector<DrivenModes::Complex> weights = velocity_weights(list, 48000);
  constexpr double kForce = 1e-6;
  constexpr int kIntervals = 100;
  DrivenModes modes(list, 48000);
  std::array<std::vector<double>, 2> heard;
  for (int k = 0; k < 2 * kIntervals; ++k) {
    const double time = k * static_cast<double>(kInterval) / 48000;
    if (k % kIntervals == 0) modes.set_forces(time, kHeld, std::vector{k == 0 ? kForce : 2 * kForce});
    std::vector<double> out(kInterval);
    const bool is_heard = modes.render(time, weights, weights, out);
    EXPECT_FALSE(is_heard && k % kIntervals == kIntervals - 1);
    std::vector<double>& all = heard[static_cast<std::size_t>(k / kIntervals)];
    all.insert(all.end(), out.begin(), out.end());
  }
  double peak = 0;
  for (const double x : heard[0]) peak = std::max(peak, std::abs(x));
  for (std::size_t i = 0; i < heard[0].size(); ++i) EXPECT_NEAR(heard[1][i], heard[0][i], 1e-6 * peak) << i;
}

TEST(DrivenModes, ASteadyForceIsSilentInTheEnd)
{
  const elastic::ModeList list = one_mode(400, 200);
  const std::vector<DrivenModes::Complex> weights = velocity_weights(list, 48000);
  DrivenModes modes(list, 48000);
  modes.set_forces(0, kHeld, std::vector{100.0});
  std::vector<double> out(kInterval);
  double first = 0;
  bool is_heard = true;
  for (int k = 0; k < 2 * 48000 / static_cast<int>(kInterval); ++k) {
    std::fill(out.begin(), out.end(), 0.0);
    is_heard = modes.render(k * static_cast<double>(kInterval) / 48000, weights, weights, out);
    if (k == 0) first = out[kInterval / 2];
    modes.set_forces((k + 1) * static_cast<double>(kInterval) / 48000, kHeld, std::vector{100.0});
  }
  EXPECT_GT(std::abs(first), 1e-3);
  EXPECT_FALSE(is_heard);
}

}  // namespace
}  // namespace thrum::sound
