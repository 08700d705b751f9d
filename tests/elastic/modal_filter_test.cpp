// SPDX-License-Identifier: MIT
#include "thrum/elastic/modal_filter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/error.h"

namespace thrum::elastic {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kAudioStep = 1 / 44100.0;

ModeList one_mode(double hertz, double decay)
{
  return {VecX::Constant(1, 2 * kPi * hertz), VecX::Constant(1, decay)};
}

// q(t) of a unit-mass mode after an impulse, eq. (1), under-damped.
double impulse_response(double omega, double decay, double t)
{
  const double omega_d = std::sqrt(omega * omega - decay * decay);
  return std::exp(-decay * t) * std::sin(omega_d * t) / omega_d;
}

TEST(ModalFilterBank, FollowsTheClosedFormAfterAnImpulse)
{
  const ModeList modes = {(VecX(4) << 50, 440, 5000, 18000).finished() * 2 * kPi,
                          (VecX(4) << 30, 6, 20, 300).finished()};
  ModalFilterBank bank(modes, kAudioStep);
  bank.drive(VecX::Ones(4));
  const auto samples = static_cast<std::size_t>(0.1 / kAudioStep);
  const MatX q = bank.run(samples);
  for (Eigen::Index m = 0; m < 4; ++m) {
    for (Eigen::Index k = 0; k < q.cols(); ++k) {
      const double exact =
          impulse_response(modes.omegas[m], modes.decays[m], kAudioStep * static_cast<double>(k + 1));
      ASSERT_NEAR(q(m, k) * modes.omegas[m], exact * modes.omegas[m], 1e-12)
          << "mode " << m << " sample " << k;
    }
  }
}

TEST(ModalFilterBank, ConvergesToTheStaticSolutionUnderAConstantForce)
{
  const ModeList modes = one_mode(800, 400);
  ModalFilterBank bank(modes, kAudioStep, FilterInput::force);
  for (int k = 0; k < 20000; ++k) {
    bank.drive(VecX::Constant(1, 3.0));
    bank.advance();
  }
  EXPECT_NEAR(bank.amplitudes()[0] * modes.omegas[0] * modes.omegas[0], 3.0, 1e-10);
}

TEST(ModalFilterBank, FollowsTheClosedFormUnderAHeldForce)
{
  // A force held for three samples is a step up and a step down; the response to a step at t = 0 is (1 -
  // e^(-d t) (cos w_d t + d / w_d sin w_d t)) / w^2.
  const ModeList modes = one_mode(3000, 90);
  const double w = modes.omegas[0];
  const double d = modes.decays[0];
  const double w_d = std::sqrt(w * w - d * d);
  const auto step_answer = [&](double t) {
    if (t <= 0) return 0.0;
    return (1 - std::exp(-d * t) * (std::cos(w_d * t) + d / w_d * std::sin(w_d * t))) / (w * w);
  };
  ModalFilterBank bank(modes, kAudioStep, FilterInput::force);
  for (int k = 0; k < 1000; ++k) {
    if (k < 3) bank.drive(VecX::Ones(1));
    bank.advance();
    const double t = kAudioStep * (k + 1);
    ASSERT_NEAR(bank.amplitudes()[0] * w * w, (step_answer(t) - step_answer(t - 3 * kAudioStep)) * w * w,
                1e-11);
  }
}

TEST(ModalFilterBank, DyrtCoefficientIsWrongByTheKnownRatio)
{
  // With four samples per period the published coefficient drives the mode at 0.42 of its exact response.
  const double omega = 2 * kPi * 1000;
  const double step = kPi / (2 * omega);
  const double exact = filter_coefficients(omega, 0, step, FilterInput::impulse).b1;
  const double printed = filter_coefficients(omega, 0, step, FilterInput::dyrt).b1 / step;
  EXPECT_NEAR(printed / exact, 2 / (1.5 * kPi), 1e-12);  // 2 [0 + 1] / (3 w^2) * 2 w / pi over 1 / w
  EXPECT_NEAR(printed / exact, 0.42, 0.005);
}

TEST(ModalFilterBank, RejectsInvalidModes)
{
  EXPECT_THROW(ModalFilterBank(one_mode(100, 1), 0), Error);
  EXPECT_THROW(ModalFilterBank(one_mode(-100, 1), kAudioStep), Error);
  EXPECT_THROW(ModalFilterBank(one_mode(100, NAN), kAudioStep), Error);
  EXPECT_THROW(ModalFilterBank(one_mode(10, 100), kAudioStep, FilterInput::dyrt), Error);
}

RC_GTEST_PROP(ModalFilterBank, AgreesWithTheStateBankAtAnyDamping, ())
{
  const double hertz = *rc::gen::inRange(20, 20000);
  const double ratio = *rc::gen::inRange(0, 300) / 100.0;  // damping ratio 0 to 3: over-damped modes too
  const ModeList modes = one_mode(hertz, ratio * 2 * kPi * hertz);
  ModalFilterBank bank(modes, kAudioStep);
  ModeStateBank state(modes, kAudioStep);
  bank.drive(VecX::Ones(1));
  state.apply_impulse(VecX::Ones(1));
  for (int k = 0; k < 200; ++k) {
    bank.advance();
    state.advance();
    const double scale = 1 / modes.omegas[0];
    RC_ASSERT(std::abs(bank.amplitudes()[0] - state.amplitudes()[0]) < 1e-10 * scale);
  }
}

RC_GTEST_PROP(ModeStateBank, NeverGainsEnergyHoweverTheDampingChanges, ())
{
  const double omega = 2 * kPi * *rc::gen::inRange(20, 20000);
  ModeStateBank bank({VecX::Constant(1, omega), VecX::Zero(1)}, kAudioStep);
  bank.apply_impulse(VecX::Ones(1));
  double before = bank.energy();
  for (int k = 0; k < 300; ++k) {
    bank.set_decays(VecX::Constant(1, omega * *rc::gen::inRange(0, 200) / 100.0));
    bank.advance();
    RC_ASSERT(bank.energy() <= before * (1 + 1e-12));
    before = bank.energy();
  }
}

TEST(ModeStateBank, KeepsTheEnergyOfAnUndampedMode)
{
  ModeStateBank bank(one_mode(1234, 0), kAudioStep);
  bank.apply_impulse(VecX::Constant(1, 2.0));
  for (int k = 0; k < 44100; ++k) bank.advance();
  EXPECT_NEAR(bank.energy(), 2.0, 1e-9);
}

TEST(ModeStateBank, IsExactAtCriticalAndOverDamping)
{
  // Over-damped with roots -1000 and -3000: q(t) = (e^(-1000 t) - e^(-3000 t)) / 2000.
  const double omega = std::sqrt(3e6);
  ModeStateBank over({VecX::Constant(1, omega), VecX::Constant(1, 2000.0)}, 1e-4);
  // Critical: q(t) = t e^(-w t).
  ModeStateBank critical({VecX::Constant(1, 500.0), VecX::Constant(1, 500.0)}, 1e-4);
  over.apply_impulse(VecX::Ones(1));
  critical.apply_impulse(VecX::Ones(1));
  for (int k = 1; k <= 100; ++k) {
    over.advance();
    critical.advance();
    const double t = 1e-4 * k;
    ASSERT_NEAR(over.amplitudes()[0] * omega, (std::exp(-1000 * t) - std::exp(-3000 * t)) / 2000 * omega,
                1e-13);
    ASSERT_NEAR(critical.amplitudes()[0] * 500, t * std::exp(-500 * t) * 500, 1e-13);
  }
}

}  // namespace
}  // namespace thrum::elastic
