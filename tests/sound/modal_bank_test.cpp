// SPDX-License-Identifier: MIT
#include "thrum/sound/modal_bank.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/elastic/damped_oscillation.h"

namespace thrum::sound {
namespace {

constexpr double kPi = std::numbers::pi;
using Complex = std::complex<double>;

elastic::ModeList modes_of(std::initializer_list<double> frequencies, double decay)
{
  elastic::ModeList list;
  list.omegas = VecX(static_cast<Eigen::Index>(frequencies.size()));
  list.decays = VecX::Constant(list.omegas.size(), decay);
  Eigen::Index k = 0;
  for (const double f : frequencies) list.omegas[k++] = 2 * kPi * f;
  return list;
}

std::vector<double> run(ModalBank& bank, double seconds)
{
  std::vector<double> out;
  while (bank.time() < seconds) {
    const std::size_t before = out.size();
    out.resize(before + ModalBank::kInterval, 0.0);
    bank.render(std::span(out).subspan(before));
  }
  return out;
}

// q' at t of a mode struck by half a sine of unit impulse, by many small impulses.
double brute_force(double omega, double decay, double t, double t0, double duration)
{
  const int pieces = 2000;
  const double length = std::clamp(t - t0, 0.0, duration);
  double sum = 0;
  for (int i = 0; i < pieces; ++i) {
    const double x = (i + 0.5) / pieces * length;
    const auto o = elastic::damped_oscillation(omega, decay, t - t0 - x);
    const double force = kPi / (2 * duration) * std::sin(kPi * x / duration);
    sum += force * (length / pieces) * (o.cosine - decay * o.sine);
  }
  return sum;
}

TEST(ModalBank, FollowsTheClosedFormAfterAnImpulseAtEverySampleRate)
{
  for (const int rate : {44100, 48000, 96000, 192000}) {
    const double t0 = 0.00137;
    for (const double frequency : {40.0, 440.0, 5000.0, 19000.0}) {
      const double decay = 0.01 * frequency;
      ModalBank bank(modes_of({frequency}, decay), rate);
      bank.strike(t0, 0, std::vector<double>{2.5});
      const std::vector<double> out = run(bank, 0.1);
      for (std::size_t n = 0; n < out.size(); ++n) {
        const double t = static_cast<double>(n) / rate - t0;
        const auto o = elastic::damped_oscillation(2 * kPi * frequency, decay, t);
        const double expected = t < 0 ? 0 : 2.5 * (o.cosine - decay * o.sine);
        ASSERT_NEAR(out[n], expected, 1e-9) << rate << " Hz, mode " << frequency << " Hz, sample " << n;
      }
    }
  }
}

TEST(ModalBank, IntegratesPulsesExactlyWhateverTheSampleRate)
{
  // Shorter than a sample, over parts of samples, over several intervals, and in resonance with the mode.
  const double t0 = 0.0010307;
  for (const double duration : {3e-6, 35e-6, 0.3e-3, 1.0 / 880, 4e-3}) {
    for (const int rate : {44100, 48000, 192000}) {
      ModalBank bank(modes_of({440, 3000}, 20), rate);
      bank.strike(t0, duration, std::vector<double>{1, 0.5});
      const std::vector<double> out = run(bank, 0.01);
      for (std::size_t n = 0; n < out.size(); n += 7) {
        const double t = static_cast<double>(n) / rate;
        const double expected = brute_force(2 * kPi * 440, 20, t, t0, duration) +
                                0.5 * brute_force(2 * kPi * 3000, 20, t, t0, duration);
        ASSERT_NEAR(out[n], expected, 1e-5) << rate << " Hz, " << duration << " s, sample " << n;
      }
    }
  }
}

TEST(ModalBank, PulsesTooShortToBeTimedActAtOnce)
{
  const auto struck = [](double duration) {
    ModalBank bank(modes_of({440, 3000}, 20), 48000);
    bank.strike(0.0010307, duration, std::vector<double>{1, 0.5});
    return run(bank, 0.01);
  };
  const std::vector<double> at_once = struck(0);
  for (const double duration : {1e-10, 1e-12, 1e-15, 1e-18, 1e-30, 1e-300}) {
    const std::vector<double> out = struck(duration);
    for (std::size_t n = 0; n < out.size(); ++n) ASSERT_NEAR(out[n], at_once[n], 1e-6) << duration << " s";
  }
}

TEST(ModalBank, ResonantPulseWithoutDampingHasItsLimit)
{
  // f = (w/2) sin(w t) over half a period leaves |z| = w D / 4 = pi / 4.
  const double frequency = 500;
  const double duration = 0.5 / frequency;
  ModalBank bank(modes_of({frequency}, 0), 48000);
  bank.strike(0, duration, std::vector<double>{1});
  const std::vector<double> out = run(bank, 0.01);
  const std::size_t period = 96;
  EXPECT_NEAR(out[48 + period], 0, 1e-12);
  const Complex z = bank.state(0);
  EXPECT_NEAR(std::abs(z), kPi / 4, 1e-12);
}

TEST(ModalBank, DecaysByTheIntegralOfItsDampingAtEverySampleRate)
{
  for (const int rate : {44100, 96000, 192000}) {
    ModalBank bank(modes_of({1000}, 3), rate);
    bank.strike(0, 0, std::vector<double>{1});
    // The mean of the extra decay 200 sin^2(3 t) over each interval.
    const auto integral = [](double t) {
      return 200 * (t / 2 - std::sin(6 * t) / 12);
    };
    std::vector<double> scratch(ModalBank::kInterval);
    while (bank.time() < 0.5) {
      const double t = bank.time();
      const double mean = (integral(t + bank.interval()) - integral(t)) / bank.interval();
      bank.set_extra_decays(std::vector<double>{mean});
      bank.render(scratch);
    }
    const double t = bank.time();
    EXPECT_NEAR(std::log(std::abs(bank.state(0))), -3 * t - integral(t), 1e-9);
  }
}

RC_GTEST_PROP(ModalBank, NeverGainsEnergyWhileItsDampingChanges, ())
{
  base::Random random(*rc::gen::arbitrary<std::uint32_t>());
  elastic::ModeList list = modes_of({30, 200, 1500, 8000, 19900}, 0);
  for (Eigen::Index m = 0; m < 5; ++m) list.decays[m] = random.uniform(0, 50);
  ModalBank bank(list, 48000);
  bank.strike(0, 0, std::vector<double>(5, 1.0));
  std::vector<double> out(ModalBank::kInterval);
  bank.render(out);
  double energy = bank.energy();
  for (int i = 0; i < 200; ++i) {
    std::vector<double> extra(5);
    for (std::size_t m = 0; m < 5; ++m)
      extra[m] = random.uniform(0, 1) < 0.3 ? 0 : random.uniform(0, list.omegas[Eigen::Index(m)] / 4);
    bank.set_extra_decays(extra);
    std::fill(out.begin(), out.end(), 0.0);
    bank.render(out);
    RC_ASSERT(bank.energy() <= energy * (1 + 1e-14));
    energy = bank.energy();
  }
}

TEST(ModalBank, DrivenAndFreeIntervalsGiveTheSame)
{
  // A pulse of no impulse sends every interval through the driven path.
  ModalBank free(modes_of({60, 700, 9000}, 5), 48000);
  ModalBank driven(modes_of({60, 700, 9000}, 5), 48000);
  for (ModalBank* bank : {&free, &driven}) bank->strike(1e-4, 5e-5, std::vector<double>{1, 2, 3});
  driven.strike(0, 10, std::vector<double>{0, 0, 0});
  for (int i = 0; i < 300; ++i) {
    std::vector<double> a(ModalBank::kInterval), b(ModalBank::kInterval);
    if (i % 10 == 0) {
      const std::vector<Complex> weights = {{1.0 * i, 1}, {2, 0.1 * i}, {3, 0}};
      free.set_output(weights);
      driven.set_output(weights);
    }
    free.render(a);
    driven.render(b);
    for (std::size_t n = 0; n < a.size(); ++n) ASSERT_NEAR(a[n], b[n], 1e-9 * (1 + i));
  }
}

TEST(ModalBank, ASteadyLoadIsSilentAndAStepInItsRateRingsAboutTheNewPosition)
{
  ModalBank bank(modes_of({100}, 0), 48000);
  // A load that grows from 0 to 1 during one interval T leaves the mode swinging about 1 / w^2 as
  // u = (1 - exp(s T)) / (s^2 T) for an undamped mode: |u| = |sin(w T / 2)| / (w^2 T / 2).
  const double w = 2 * kPi * 100;
  const double T = bank.interval();
  std::vector<double> out(ModalBank::kInterval);
  bank.set_load_rates(std::vector<double>{1 / T});
  bank.render(out);
  EXPECT_NEAR(std::abs(bank.state(0)), std::sin(w * T / 2) / (w * w * T / 2), 1e-12);
  // With damping u' = s u + 1 / (s T) gives u = (exp(s T) - 1) / (s^2 T).
  ModalBank damped(modes_of({100}, 200), 48000);
  damped.set_load_rates(std::vector<double>{1 / T});
  damped.render(out);
  const Complex pole(-200, std::sqrt(w * w - 200.0 * 200.0));
  const Complex expected = (std::exp(pole * T) - 1.0) / (pole * pole * T);
  EXPECT_LT(std::abs(damped.state(0) - expected), 1e-12);
  ModalBank quiet(modes_of({100}, 0), 48000);
  quiet.set_load_rates(std::vector<double>{0});
  quiet.render(out);
  EXPECT_EQ(quiet.energy(), 0);
}

TEST(ModalBank, AHeldForceHasTheStaticAnswer)
{
  ModalBank bank(modes_of({200}, 100), 48000);
  const std::vector<double> force(ModalBank::kInterval, 1.0);
  std::vector<double> out(ModalBank::kInterval);
  for (int i = 0; i < 400; ++i) {
    bank.add_force(force, std::vector<double>{3});
    bank.render(out);
  }
  // q = f / w^2 = Im z / w_d, q' = 0.
  const double w = 2 * kPi * 200;
  EXPECT_NEAR(bank.state(0).imag() / std::sqrt(w * w - 1e4), 3 / (w * w), 1e-12);
}

// Far below what is heard, and far above the smallest numbers, which are slow.
TEST(ModalBank, ComesToRestAtLast)
{
  elastic::ModeList list;
  list.omegas = VecX::Constant(1, 2 * std::numbers::pi * 15000);
  list.decays = VecX::Constant(1, 2000);
  ModalBank bank(list, 48000);
  bank.set_output(std::vector<ModalBank::Complex>{1.0});
  bank.strike(0, 0, std::vector<double>{1.0});
  std::vector<double> out(ModalBank::kInterval);
  while (bank.time() < 0.5) {
    const double left = std::abs(bank.state(0));
    EXPECT_TRUE(left == 0 || left > 1e-220) << bank.time();
    if (bank.time() > 0.001 && bank.time() < 0.17) {  // e^-340 = 1e-148
      EXPECT_NEAR(std::log(left), -2000 * bank.time(), 1e-6 * 340) << bank.time();
    }
    bank.render(out);
  }
  EXPECT_EQ(bank.state(0), ModalBank::Complex(0));
}

TEST(ModalBank, RejectsModesThatCannotSound)
{
  EXPECT_THROW(ModalBank(modes_of({0}, 1), 48000), Error);
  EXPECT_THROW(ModalBank(modes_of({100}, -1), 48000), Error);
  EXPECT_THROW(ModalBank(modes_of({100}, 1), 0), Error);
  ModalBank bank(modes_of({100}, 1), 48000);
  EXPECT_THROW(bank.strike(std::nan(""), 0, std::vector<double>{1}), Error);
}

}  // namespace
}  // namespace thrum::sound
