// SPDX-License-Identifier: MIT
// A bar that turns fast about its middle, driven from outside, meets a ball at rest.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/parameter_names.h"
#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kRestitution = 0.6;

struct SweptBall {
  double place_speed = 0;  ///< of the bar where the ball was [m/s]
  double speed = 0;        ///< of the ball afterwards [m/s]
};

// The bar is at the angle 0 and the ball at `phi`; both are thin against their distance from the axis.
SweptBall sweep(base::Random& random, StepperKind stepper, TimeOfImpactMethod method)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  desc.time_of_impact = method;
  desc.gravity.setZero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {kRestitution, 0, 0, 0});
  SweptBall swept;
  const double length = spread(random, 0.1, 0.3);
  const double width = length * random.uniform(0.01, 0.02);
  const double radius = length * random.uniform(0.01, 0.03);
  const double phi = random.uniform(0.5, 2.5);
  const double turn = random.uniform(0.4, 1.8);
  const double at = length * random.uniform(0.6, 0.8);
  swept.place_speed = at * turn / kStep;
  BodyDesc bar;
  bar.shape = world.add_shape({model::Box{{length, width, width}}});
  bar.motion = model::Motion::kinematic;
  bar.angular_velocity = {0, 0, turn / kStep};
  world.add_body(bar);
  const model::BodyId ball = add(world, {model::Sphere{radius}}, {at * std::cos(phi), at * std::sin(phi), 0});
  for (double turned = 0; turned < std::numbers::pi; turned += turn) world.step(kStep);
  swept.speed = world.body(ball).velocity.norm();
  return swept;
}

class Swept : public ::testing::TestWithParam<TimeOfImpactMethod> {};

INSTANTIATE_TEST_SUITE_P(Methods, Swept,
                         ::testing::Values(TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                           TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp),
                         [](const auto& method) { return method_name(method.param); });

// The bar strikes it with the speed u = w r of its place, and the ball flies on with (1 + e) u. Before, some
// were stopped by the bar and went round with it for ever, without a velocity; later, with the flexible
// stepper and timewarp, 6 of 20 were carried along for slices and left the bar with 1.4 to 2.4 u.
TEST_P(Swept, BallsAreStruckByTheBar)
{
  const std::uint64_t seed = number_in("THRUM_SWEPT_SEED", 61);
  const std::uint64_t cases = number_in("THRUM_SWEPT_CASES", 20);
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::flexible}) {
    for (std::uint64_t i = 0; i < cases; ++i) {
      base::Random random(seed, i);
      const SweptBall swept = sweep(random, stepper, GetParam());
      // The bar and the ball are thick by a few hundredths of the radius.
      EXPECT_NEAR(swept.speed / swept.place_speed, 1 + kRestitution, 0.06)
          << i << ", stepper " << static_cast<int>(stepper);
    }
  }
}

}  // namespace
}  // namespace thrum::sim
