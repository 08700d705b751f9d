// SPDX-License-Identifier: MIT
#include "thrum/vibration/impact_loss.h"

#include <gtest/gtest.h>

#include <vector>

namespace thrum::vibration {
namespace {

constexpr double kSpeed = 3.38;  // [m/s]
constexpr double kMass = 7;      // of the ball [kg]
constexpr double kTable = 33;    // [kg]
constexpr double kStep = 0.01;   // [s]
constexpr double kGravity = 9.81;

// A ball that a solver has stopped on a table, whose feet have passed the impact on to the floor: the table
// has not moved. `share`: of the impact that falls into this step. The impulse holds the weight of the step
// too.
SurfaceContact stopped_ball(double share, double table_inverse_mass)
{
  std::vector<RigidBodyData> bodies(2);
  bodies[0].inverse_mass = table_inverse_mass;
  bodies[1].inverse_mass = 1 / kMass;
  bodies[1].acceleration = {0, 0, -kGravity};
  bodies[1].velocity_before = {0, 0, -kSpeed};
  bodies[1].velocity = {0, 0, -(1 - share) * kSpeed};
  bodies[1].displacement = kStep * (bodies[1].velocity_before + bodies[1].velocity) / 2;
  std::vector<SurfaceContact> contacts(1);
  contacts[0].body = 1;
  contacts[0].struck = true;
  contacts[0].approach_speed = kSpeed;
  contacts[0].impulse = kMass * share * kSpeed + kMass * kGravity * kStep;
  compute_impact_losses(bodies, kStep, contacts);
  return contacts[0];
}

// Without the impact's impulse the ball moves as it came, whether the table is fixed or stands.
TEST(ImpactLoss, TheStrikerComesBackToItsSpeedOnATableThatStands)
{
  for (const double share : {0.2, 0.6, 1.0}) {
    for (const double inverse_mass : {0.0, 1 / kTable}) {
      const double after = -(1 - share) * kSpeed;
      // The impulse does the work of the mean speed, so its part of the weight is 3 % of the impact.
      EXPECT_NEAR(after - stopped_ball(share, inverse_mass).impulse / kMass, -kSpeed, 0.03 * kSpeed)
          << share << " " << inverse_mass;
    }
  }
}

}  // namespace
}  // namespace thrum::vibration
