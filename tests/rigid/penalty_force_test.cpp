// SPDX-License-Identifier: MIT
#include "thrum/rigid/penalty_force.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/random.h"

namespace thrum::rigid {
namespace {

double log_uniform(base::Random& random, double low, double high)
{
  return low * std::pow(high / low, random.uniform());
}

// One substep of a mass on a spring, from any depth and speed, with any step: the depth solves (1) and (2) of
// penalty_force.h, and energy does not grow; without damping it stays.
TEST(PenaltyForce, NeverAddsEnergyAndKeepsItWithoutDamping)
{
  base::Random random(5);
  for (int i = 0; i < 100000; ++i) {
    const double m = log_uniform(random, 1e-3, 1e3);
    const double omega = log_uniform(random, 1, 1e4);
    const double h = log_uniform(random, 1e-3, 100) / omega;
    const bool damped = random.chance(0.5);
    const ContactSpring spring{m * omega * omega, damped ? m * omega * log_uniform(random, 1e-3, 100) : 0};
    const double scale = log_uniform(random, 1e-6, 1);
    const double d0 = scale * random.uniform(-1, 1);
    const double u0 = omega * scale * random.uniform(-1, 1);
    const double free_depth = d0 - h * u0;
    const double d1 = depth_after(spring, d0, free_depth, 1 / m, h);
    const double f = contact_force(spring, d0, d1, h);
    const double size = std::abs(d0) + h * std::abs(u0);
    ASSERT_GE(f, 0);
    ASSERT_NEAR(d1, free_depth - 0.5 * h * h * f / m, 1e-12 * (size + 0.5 * h * h * f / m)) << i;
    const double u1 = u0 + h * f / m;
    const auto energy = [&](double d, double u) {
      return 0.5 * m * u * u + 0.5 * spring.stiffness * std::pow(std::max(d, 0.0), 2);
    };
    const double change = energy(d1, u1) - energy(d0, u0);
    const double rounding = 1e-11 * (energy(d0, u0) + spring.stiffness * size * size + m * u1 * u1);
    ASSERT_LE(change, rounding) << i;
    if (!damped) {
      ASSERT_GE(change, -rounding) << i;
    }
  }
}

// Integrated with short steps, a bounce leaves with the restitution of (3).
TEST(PenaltyForce, RestitutionFollowsFromTheDampingRatio)
{
  for (const double ratio : {0.0, 0.05, 0.2, 0.5, 0.9, 1.0, 2.0, 5.0}) {
    const ContactSpring spring{1, 2 * ratio};
    constexpr double h = 1e-4;
    double d = 0;
    double u = -1;
    for (int i = 0; i < 1000000 && (i == 0 || d > 0); ++i) {
      const double next = depth_after(spring, d, d - h * u, 1, h);
      u += h * contact_force(spring, d, next, h);
      d = next;
    }
    EXPECT_NEAR(u, restitution_of(ratio), 1e-3) << ratio;
    if (ratio > 0) {
      EXPECT_NEAR(damping_ratio_for(restitution_of(ratio), 5), ratio, 1e-6 * ratio);
    }
  }
  EXPECT_EQ(damping_ratio_for(0, 5), 5);
  EXPECT_LT(damping_ratio_for(1, 5), 1e-12);
}

// At any time of an impact, integrated with short steps by the rule of Runge and Kutta, its force and speed
// give the same frequency, whatever mass, depth and damping.
TEST(PenaltyForce, AnImpactIsKnownFromItsForceAndSpeed)
{
  base::Random random(12);
  for (int i = 0; i < 300; ++i) {
    const double s = i % 10 == 0 ? 1.0 : i % 10 == 1 ? 0.0 : log_uniform(random, 1e-3, 5);
    const double omega = log_uniform(random, 10, 1e5);
    const double depth = log_uniform(random, 1e-5, 1);
    double d = 0;
    double v = omega * depth;
    const double h = 1e-3 / omega;
    const auto push = [&](double x, double u) {
      return -omega * (omega * x + 2 * s * u);
    };
    EXPECT_NEAR(impact_frequency(s, depth, v, 0) / omega, 1, 1e-12);
    for (int step = 1; step < 20000; ++step) {
      const double v1 = v, a1 = push(d, v);
      const double v2 = v + 0.5 * h * a1, a2 = push(d + 0.5 * h * v1, v2);
      const double v3 = v + 0.5 * h * a2, a3 = push(d + 0.5 * h * v2, v3);
      const double v4 = v + h * a3, a4 = push(d + h * v3, v4);
      d += h / 6 * (v1 + 2 * v2 + 2 * v3 + v4);
      v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
      if (push(d, v) > 0) break;  // it would pull
      if (step % 97 != 1) continue;
      ASSERT_NEAR(impact_frequency(s, depth, v, omega * d) / omega, 1, 1e-6)
          << "ratio " << s << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace thrum::rigid
