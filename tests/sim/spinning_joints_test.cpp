// SPDX-License-Identifier: MIT
// Spin and joints together: tops, whose motion has a formula.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double g = 9.81;
constexpr double kSteps[] = {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333};

// A disc on a rod without mass that turns about the origin in a ball joint, its axis at `tilt` from the
// vertical. With the axis going round at the rate W and spinning at s about itself, steady precession needs
//
//     (I_axis s - (I_across - I_axis) W cos(tilt)) W = m g l,      I_across about the joint,
//
// s being the rate against the frame that goes round.
struct Top {
  double tilt = 0;        ///< [rad]
  double precession = 0;  ///< W [rad/s]
};

constexpr double kRadius = 0.1;
constexpr double kHalfThickness = 0.01;
constexpr double kRod = 0.1;  // from the joint to the centre of the disc [m]

struct Precession {
  double rate = 0;      ///< mean [rad/s]
  double nutation = 0;  ///< the largest change of the tilt [rad]
  double energy = 0;    ///< the largest change, as a share of the kinetic energy at the start
  double stretch = 0;   ///< the largest distance of the rod's end from the joint [m]
};

Precession spin_top(const Top& top, StepperKind stepper, double h, double seconds)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  const Quat tilt(Eigen::AngleAxisd(top.tilt, Vec3::UnitY()));
  const Vec3 axis = tilt * Vec3::UnitZ();
  const model::BodyId disc = add(world, {model::Cylinder{kRadius, kHalfThickness}}, kRod * axis, 1, tilt);
  model::JointDesc joint;
  joint.kind = model::JointKind::ball;
  joint.a = disc;
  joint.X_aj.position = Vec3(0, 0, -kRod);
  world.add_joint(joint);
  const double I_axis = 0.5 * kRadius * kRadius;
  const double I_centre = 0.25 * kRadius * kRadius + kHalfThickness * kHalfThickness / 3;
  const double I_across = I_centre + kRod * kRod;
  const double W = top.precession;
  const double s = (g * kRod / W + (I_across - I_axis) * W * std::cos(top.tilt)) / I_axis;
  const Vec3 w = W * Vec3::UnitZ() + s * axis;
  world.set_velocity(disc, w.cross(kRod * axis), w);
  Precession result;
  const double start = world.kinetic_energy() + world.potential_energy();
  const double scale = world.kinetic_energy();
  double angle = 0;
  Vec3 last = axis;
  const int steps = static_cast<int>(std::lround(seconds / h));
  for (int i = 0; i < steps; ++i) {
    world.step(h);
    const Pose& X = world.body(disc).X_wb;
    const Vec3 now = X.direction(Vec3::UnitZ());
    angle += std::atan2(last.x() * now.y() - last.y() * now.x(), last.x() * now.x() + last.y() * now.y());
    last = now;
    result.nutation =
        std::max(result.nutation, std::abs(std::acos(std::clamp(now.z(), -1.0, 1.0)) - top.tilt));
    const double energy = world.kinetic_energy() + world.potential_energy();
    result.energy = std::max(result.energy, std::abs(energy - start) / scale);
    result.stretch = std::max(result.stretch, X.point(Vec3(0, 0, -kRod)).norm());
  }
  result.rate = angle / (steps * h);
  return result;
}

void expect_steady_precession(StepperKind stepper)
{
  const double degree = std::numbers::pi / 180;
  for (const Top& top :
       {Top{90 * degree, 2.44}, Top{60 * degree, 2.44}, Top{30 * degree, 4}, Top{120 * degree, 3}}) {
    for (const double h : kSteps) {
      SCOPED_TRACE(::testing::Message() << "tilt " << top.tilt / degree << " degrees, precession "
                                        << top.precession << " rad/s, 1/" << 1 / h << " s");
      const Precession result = spin_top(top, stepper, h, 5);
      EXPECT_NEAR(result.rate, top.precession, 0.02 * top.precession);
      EXPECT_LT(result.nutation, 0.02);
      EXPECT_LT(result.energy, 0.01);
      EXPECT_LT(result.stretch, 1e-3);
    }
  }
}

TEST(SpinningJoints, ATopInABallJointPrecessesSteadily)
{
  expect_steady_precession(StepperKind::constraint);
}

TEST(SpinningJoints, ATopInABallJointPrecessesSteadilyWithImpulses)
{
  expect_steady_precession(StepperKind::impulse);
}

// A box held at a corner without gravity, tumbling fast: nothing but the joint acts on it, so that energy and
// angular momentum about the joint are kept.
TEST(SpinningJoints, ATumblingBoxKeepsEnergyAndAngularMomentum)
{
  const Vec3 half(0.1, 0.05, 0.02);
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double speed : {10.0, 50.0, 200.0}) {
      for (const double h : kSteps) {
        SCOPED_TRACE(::testing::Message() << "stepper " << static_cast<int>(stepper) << ", " << speed
                                          << " rad/s, 1/" << 1 / h << " s");
        WorldDesc desc = desc_without_sleep();
        desc.gravity = Vec3::Zero();
        desc.stepper = stepper;
        World world(desc);
        const model::BodyId box = add_box(world, half, half);
        model::JointDesc joint;
        joint.kind = model::JointKind::ball;
        joint.a = box;
        joint.X_aj.position = -half;
        world.add_joint(joint);
        const Vec3 w = speed * Vec3(1, 2, 2) / 3;
        world.set_velocity(box, w.cross(half), w);
        const auto angular_momentum = [&] {
          const model::BodyState& b = world.body(box);
          const Mat3 R = b.X_wb.rotation.toRotationMatrix();
          return Vec3(b.X_wb.position.cross(b.velocity) +
                      R * world.model().bodies[0].inertia * R.transpose() * b.angular_velocity);
        };
        const double energy = world.kinetic_energy();
        const Vec3 L = angular_momentum();
        double max_energy = 0;
        double max_L = 0;
        double stretch = 0;
        for (int i = 0; i < 2 / h; ++i) {
          world.step(h);
          max_energy = std::max(max_energy, std::abs(world.kinetic_energy() / energy - 1));
          max_L = std::max(max_L, (angular_momentum() - L).norm() / L.norm());
          stretch = std::max(stretch, world.body(box).X_wb.point(-half).norm());
        }
        // Beyond what a step may be cut into, the impulse stepper turns a body by up to 1 rad at once.
        const bool is_cut = h * speed <= desc.max_slices * desc.max_turn;
        const double tolerance = stepper == StepperKind::impulse && !is_cut ? 0.3 : 0.02;
        EXPECT_LT(max_energy, tolerance);
        EXPECT_LT(max_L, tolerance);
        EXPECT_LT(stretch, is_cut ? 1e-3 : 5e-3);
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
