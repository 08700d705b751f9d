// SPDX-License-Identifier: MIT
// Bodies that nothing touches turn by their speed, whatever turns them and however far in a step.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

// The rotation of a box about a principal axis is known: by the speed times the time. It was 2 atan(h w / 2)
// a slice, 7 % less for a kinematic bar at 60 rad/s and 21 % at 120 with the impulse stepper at 1/60 s, and a
// bar of 8 rad a step came to the same place again in every step, past all that it should have struck.
TEST(FreeSpin, TurnsByTheSpeedWithEveryStepper)
{
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    for (const model::Motion motion : {model::Motion::dynamic, model::Motion::kinematic}) {
      for (const double speed : {6.0, 60.0, 240.0, 480.0, 1100.0}) {
        for (const double rate : {37.0, 60.0, 1000.0}) {
          SCOPED_TRACE(fmt::format("stepper {}, {}, {} rad/s, 1/{} s", static_cast<int>(stepper),
                                   motion == model::Motion::dynamic ? "dynamic" : "kinematic", speed, rate));
          WorldDesc desc = desc_without_sleep();
          desc.stepper = stepper;
          World world(desc);
          BodyDesc box;
          box.shape = world.add_shape({model::Box{{0.1, 0.2, 0.3}}});
          box.motion = motion;
          box.gravity_scale = 0;
          const model::BodyId body = world.add_body(box);
          const Vec3 w(0, 0, speed);
          world.set_velocity(body, Vec3::Zero(), w);
          for (int i = 0; i < 6; ++i) world.step(1 / rate);
          const Quat expected(Eigen::AngleAxisd(6 / rate * speed, Vec3::UnitZ()));
          EXPECT_LT(world.body(body).X_wb.rotation.angularDistance(expected), 1e-9);
          EXPECT_LT((world.body(body).angular_velocity - w).norm(), 1e-9 * speed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
