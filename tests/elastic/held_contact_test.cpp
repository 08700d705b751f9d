// SPDX-License-Identifier: MIT
#include "thrum/elastic/held_contact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "thrum/elastic/hertz_contact.h"

namespace thrum::elastic {
namespace {

constexpr double kMass = 0.3;      // [kg]
constexpr double kModulus = 5e10;  // [Pa]
constexpr double kRadius = 0.01;   // [m]

struct Bounce {
  double speed = 0;     ///< after, over before
  double duration = 0;  ///< with a force [s]
  double max_energy = 0;
};

// A mass that arrives at a wall with `speed`, in steps of h that begin at a gap of `phase` steps.
Bounce bounce(const HeldContact& contact, double speed, double h, double phase)
{
  double d = -phase * speed * h;
  double v = speed;
  Bounce result;
  const double compliance = h * h / (2 * kMass);
  double force = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double d_free = d + h * v;
    force = solve_held_force(contact, d, d_free, compliance, contact.damper(d) / h, force);
    d = d_free - compliance * force;
    v -= h * force / kMass;
    if (force > 0) result.duration += h;
    result.max_energy = std::max(result.max_energy, 0.5 * kMass * v * v + contact.potential(d));
    if (v < 0 && d <= 0) break;
  }
  result.speed = -v / speed;
  return result;
}

TEST(HeldContact, ABounceKeepsItsEnergyAtAnyStep)
{
  const HeldContact contact{hertz_stiffness(kModulus, kRadius), 0};
  for (const double speed : {1e-3, 0.1, 10.0}) {
    const double duration = hertz_duration(kMass, kModulus, kRadius, speed);
    for (const double share : {2.0, 1.0, 0.5, 0.2, 0.05, 0.003}) {
      for (const double phase : {0.0, 0.3, 0.77}) {
        const Bounce result = bounce(contact, speed, share * duration, phase);
        EXPECT_NEAR(result.speed, 1, 1e-12) << speed << " " << share << " " << phase;
        EXPECT_LT(result.max_energy, (1 + 1e-11) * 0.5 * kMass * speed * speed);
      }
    }
  }
}

TEST(HeldContact, LastsAsLongAsHertzSays)
{
  const HeldContact contact{hertz_stiffness(kModulus, kRadius), 0};
  for (const double speed : {0.01, 2.0}) {
    const double duration = hertz_duration(kMass, kModulus, kRadius, speed);
    EXPECT_NEAR(bounce(contact, speed, 1e-3 * duration, 0).duration / duration, 1, 3e-3);
  }
}

TEST(HeldContact, HasTheWantedRestitutionAtAnySpeed)
{
  const double k = hertz_stiffness(kModulus, kRadius);
  for (const double e : {0.1, 0.3, 0.5, 0.8, 0.95}) {
    const HeldContact contact{k, hertz_damping(e, kMass, k)};
    for (const double speed : {1e-3, 0.3, 30.0}) {
      const double duration = hertz_duration(kMass, kModulus, kRadius, speed);
      EXPECT_NEAR(bounce(contact, speed, 1e-3 * duration, 0).speed, e, 0.004) << e << " " << speed;
      // Coarse steps lose no more than the damper would take from all of the motion, and never gain.
      const Bounce coarse = bounce(contact, speed, 0.3 * duration, 0.4);
      EXPECT_LT(coarse.max_energy, (1 + 1e-11) * 0.5 * kMass * speed * speed);
    }
  }
}

// A contact of the damping ratio z bounces at any speed as a linear spring and dashpot of that ratio do: with
// exp(-pi z / sqrt(1 - z^2)) if these could pull at the end; since they cannot, with
// exp(-z / sqrt(1 - z^2) (pi - atan(2 z sqrt(1 - z^2) / (1 - 2 z^2)))), the same while z is small.
TEST(HeldContact, ADashpotBouncesByItsDampingRatio)
{
  const double k = hertz_stiffness(kModulus, kRadius);
  for (const double z : {0.005, 0.02, 0.1, 0.3, 0.6}) {
    const double root = std::sqrt(1 - z * z);
    const double pulls = std::exp(-std::numbers::pi * z / root);
    const double expected =
        std::exp(-z / root * (std::numbers::pi - std::atan2(2 * z * root, 1 - 2 * z * z)));
    const HeldContact contact{k, z * std::sqrt(5 * kMass * k)};
    for (const double speed : {0.01, 3.0}) {
      const double duration = hertz_duration(kMass, kModulus, kRadius, speed);
      const double found = bounce(contact, speed, 1e-3 * duration, 0).speed;
      EXPECT_NEAR(found, expected, 1e-3) << z << " " << speed;
      if (z < 0.05) {
        EXPECT_NEAR(found, pulls, 2e-3) << z << " " << speed;
      }
    }
    EXPECT_NEAR(hertz_damping(expected, kMass, k), contact.damping, 1e-4 * contact.damping) << z;
  }
}

TEST(HeldContact, SlopeIsTheDerivativeAndTheForceGrows)
{
  const HeldContact contact{2e9, 3e3};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> depth(-1e-5, 3e-5);
  for (int i = 0; i < 2000; ++i) {
    const double d0 = depth(random);
    const double d1 = depth(random);
    const double damper = contact.damper(d0) / 1e-4;
    const double step = 1e-11;
    const HeldForce low = held_force(contact, d0, d1 - step, damper);
    const HeldForce high = held_force(contact, d0, d1 + step, damper);
    EXPECT_GE(high.force, low.force);
    if (low.force > 0 && std::abs(d1) > 2 * step) {
      const double slope = held_force(contact, d0, d1, damper).slope;
      EXPECT_NEAR((high.force - low.force) / (2 * step), slope, 1e-3 * slope) << d0 << " " << d1;
    }
  }
}

TEST(HeldContact, ForceDoesTheWorkOfThePotential)
{
  const HeldContact contact{2e9, 0};
  std::mt19937 random(8);
  std::uniform_real_distribution<double> depth(-1e-5, 3e-5);
  for (int i = 0; i < 2000; ++i) {
    const double d0 = depth(random);
    const double d1 = i % 10 == 0 ? d0 * (1 + 1e-12) : depth(random);
    const double work = held_force(contact, d0, d1, 0).force * (d1 - d0);
    EXPECT_NEAR(work, contact.potential(d1) - contact.potential(d0), 1e-13 * contact.potential(3e-5));
  }
  EXPECT_NEAR(contact.static_force(contact.indentation(123.0)), 123.0, 1e-10);
}

TEST(HeldContact, SolutionFitsTheComplianceOfTheBodies)
{
  const HeldContact contact{2e9, 3e3};
  std::mt19937 random(9);
  std::uniform_real_distribution<double> depth(-1e-5, 3e-4);
  std::uniform_real_distribution<double> exponent(-14, -3);
  for (int i = 0; i < 5000; ++i) {
    const double d0 = depth(random);
    const double d_free = depth(random);
    const double compliance = std::pow(10, exponent(random));
    const double damper = contact.damper(d0) / 1e-5;
    const double force = solve_held_force(contact, d0, d_free, compliance, damper, depth(random) * 1e6);
    const double expected = held_force(contact, d0, d_free - compliance * force, damper).force;
    const double scale = held_force(contact, d0, d_free, damper).force;
    EXPECT_NEAR(force, expected, 1e-9 * std::max(force, 1e-3 * scale) + 1e-12) << d0 << " " << d_free;
    EXPECT_GE(force, 0);
  }
}

}  // namespace
}  // namespace thrum::elastic
