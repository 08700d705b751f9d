// SPDX-License-Identifier: MIT
#include "thrum/vibration/pulse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/vibration/energy_budget.h"

namespace thrum::vibration {
namespace {

TEST(Pulse, SteelBallOnSteelTakesHertzTime)
{
  const double steel = 2e11 / (1 - 0.29 * 0.29);
  const double mass = 7850 * 4.0 / 3 * std::numbers::pi * std::pow(0.005, 3);
  EXPECT_NEAR(hertz_duration(mass, contact_modulus(steel, steel), 0.005, 1.0), 35.3e-6, 0.4e-6);
}

TEST(Pulse, StiffnessForADurationIsTheInverseOfHertz)
{
  const double duration = hertz_duration(0.3, 2e9, 0.01, 1.7);
  const double k = 4.0 / 3 * 2e9 * 0.1;
  EXPECT_NEAR(stiffness_for_duration(0.3, duration, 1.7), k, 1e-12 * k);
}

TEST(Pulse, WeightIsTheFourierTransformOfAHalfSine)
{
  const double tau = 1e-3;
  for (const double f : {1.0, 150.0, 499.0, 500.0, 900.0, 1400.0}) {
    const double w = 2 * std::numbers::pi * f;
    double sum = 0;
    constexpr int kSteps = 20000;
    for (int k = 0; k < kSteps; ++k) {
      const double t = (k + 0.5) * tau / kSteps;
      sum += std::numbers::pi / (2 * tau) * std::sin(std::numbers::pi * t / tau) *
             std::cos(w * (t - tau / 2)) * tau / kSteps;
    }
    EXPECT_NEAR(pulse_weight(w, tau), sum, 1e-6) << f;
  }
  EXPECT_EQ(pulse_weight(1e6, tau), 0);
  EXPECT_EQ(pulse_weight(1e6, 0), 1);
}

TEST(Pulse, ManyModesHaveTheWeightsOfEach)
{
  elastic::ModeList modes{VecX::LinSpaced(21, 10, 20000), VecX::Zero(21)};
  for (const double tau : {0.0, 1e-4, 1e-3}) {
    const VecX weights = pulse_weights(modes, tau);
    for (Eigen::Index m = 0; m < 21; ++m)
      EXPECT_NEAR(weights[m], pulse_weight(modes.omegas[m], tau), 1e-12) << m;
  }
}

RC_GTEST_PROP(EnergyBudget, ShareIsTheLargestThatIsAffordable, ())
{
  const auto number = [] {
    return *rc::gen::inRange(-1000, 1000) / 100.0;
  };
  const double along = number();
  const double square = std::abs(number());
  const double budget = std::abs(number());
  const double share = max_scale_within_budget(along, square, budget);
  const auto cost = [&](double a) {
    return a * along + a * a * square / 2;
  };
  RC_ASSERT(share >= 0 && share <= 1);
  RC_ASSERT(cost(share) <= budget + 1e-9);
  if (share < 1) RC_ASSERT(cost(share + 1e-6) > budget - 1e-12);
}

TEST(EnergyBudget, WithoutLossNothingIsGiven)
{
  EXPECT_EQ(max_scale_within_budget(0, 2, 0), 0);
  EXPECT_EQ(max_scale_within_budget(0, 2, 1), 1);
  EXPECT_NEAR(max_scale_within_budget(0, 8, 1), 0.5, 1e-15);
}

}  // namespace
}  // namespace thrum::vibration
