// SPDX-License-Identifier: MIT
// centre_of_mass, inertia and motor_target by what they do, against closed forms, at several step sizes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "tests/support/scene_mistakes.h"
#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

using support::paths_of_mistakes;

constexpr double kGravity = 9.81;  // [m/s^2]
constexpr double kPi = std::numbers::pi;

BuiltScene build(const std::string& text)
{
  return build_world(parse_scene(text, "s.json"));
}

// Mean time between rising zeros of `value` [s], each found by a straight line between two steps.
double period_of(BuiltScene& built, double step, double duration, const std::function<double()>& value)
{
  std::vector<double> zeros;
  double before = value();
  for (int i = 0; i * step < duration; ++i) {
    built.step(i * step, step);
    const double now = value();
    if (before < 0 && now >= 0) zeros.push_back((i + before / (before - now)) * step);
    before = now;
  }
  return zeros.size() < 2 ? 0 : (zeros.back() - zeros.front()) / static_cast<double>(zeros.size() - 1);
}

// A compound pendulum: T = 2 pi sqrt((I + m d^2) / (m g d)), with an inertia and a centre of mass that the
// shape does not have.
TEST(MassKeys, ACompoundPendulumHasItsPeriod)
{
  constexpr double kMass = 2, kInertia = 0.3, kArm = 0.4;
  const double expected = 2 * kPi * std::sqrt((kInertia + kMass * kArm * kArm) / (kMass * kGravity * kArm));
  for (const double step : {1.0 / 120, 1.0 / 240, 1.0 / 1000}) {
    BuiltScene built = build(fmt::format(R"({{"step": {}, "sleep": {{"enabled": false}},
      "bodies": [{{"name": "bar", "shape": {{"kind": "box", "size": [0.1, 0.1, 0.1]}}, "mass": {},
                   "centre_of_mass": [0, 0, {}], "inertia": [0.3, {}, 0.02],
                   "angular_velocity": [0, 0.1, 0]}}],
      "joints": [{{"kind": "hinge", "a": "bar", "axis": [0, 1, 0]}}]}})",
                                         step, kMass, -kArm, kInertia));
    // The given velocity is that of the centre of mass.
    built.world.set_velocity(built.ids[0], Vec3(-0.1 * kArm, 0, 0), Vec3(0, 0.1, 0));
    const double found = period_of(built, step, 10 * expected,
                                   [&] { return -built.world.shape_pose(built.ids[0]).rotation.y(); });
    EXPECT_NEAR(found, expected, 2e-3 * expected) << "step " << step;
  }
}

// A free symmetric top: its axis turns about the angular momentum L at the rate L / I [rad/s].
TEST(MassKeys, AFreeBodyPrecessesByItsInertia)
{
  constexpr double kSide = 0.5, kAlong = 0.8;  // [kg m^2]
  const Vec3 spin(1, 0, 4);                    // [rad/s]
  const Vec3 L(kSide * spin.x(), 0, kAlong * spin.z());
  const double rate = L.norm() / kSide;
  double previous = std::numeric_limits<double>::infinity();
  for (const double step : {1.0 / 60, 1.0 / 240, 1.0 / 1000}) {
    BuiltScene built = build(fmt::format(R"({{"step": {}, "gravity": [0, 0, 0], "sleep": {{"enabled": false}},
      "bodies": [{{"shape": {{"kind": "sphere"}}, "mass": 3, "inertia": [{}, {}, {}],
                   "angular_velocity": [1, 0, 4]}}]}})",
                                         step, kSide, kSide, kAlong));
    // Half a turn about L.
    const auto steps = static_cast<int>(std::lround(kPi / rate / step));
    for (int i = 0; i < steps; ++i) built.step(i * step, step);
    const Vec3 axis = built.world.body(built.ids[0]).X_wb.direction(Vec3::UnitZ());
    const Vec3 expected = Eigen::AngleAxisd(rate * steps * step, L.normalized()) * Vec3::UnitZ();
    const double error = (axis - expected).norm();
    EXPECT_LT(error, 0.5 * step * 60 * 0.2) << "step " << step;
    EXPECT_LT(error, previous);
    previous = error;
  }
}

// Off-diagonal elements: the same body described in axes that are turned moves in the same way.
TEST(MassKeys, AnInertiaWithProductsIsTheSameBodyInOtherAxes)
{
  const Mat3 R = Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  const Mat3 I = R.transpose() * Vec3(0.5, 0.6, 0.8).asDiagonal() * R;
  const Quat q(R);
  BuiltScene built = build(fmt::format(
      R"({{"gravity": [0, 0, 0], "sleep": {{"enabled": false}}, "bodies": [
       {{"shape": {{"kind": "sphere"}}, "mass": 1, "inertia": [0.5, 0.6, 0.8],
         "angular_velocity": [1, 2, 3]}},
       {{"shape": {{"kind": "sphere"}}, "mass": 1, "inertia": [{}, {}, {}, {}, {}, {}],
         "angular_velocity": [1, 2, 3],
         "position": [9, 0, 0], "rotation": [{}, {}, {}, {}]}}]}})",
      I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2), q.w(), q.x(), q.y(), q.z()));
  for (int i = 0; i < 200; ++i) built.step(i / 60.0, 1 / 60.0);
  EXPECT_LT(
      (built.world.body(built.ids[0]).angular_velocity - built.world.body(built.ids[1]).angular_velocity)
          .norm(),
      1e-6);
}

// A ball whose centre of mass is d below its centre rocks without sliding at w^2 = m g d / (I + m (R - d)^2).
TEST(MassKeys, AnOffCentreBallRocks)
{
  constexpr double kMass = 1.5, kRadius = 0.1, kDepth = 0.04;
  const double inertia = 0.4 * kMass * kRadius * kRadius;  // that of the shape, about its own centre
  const double w =
      std::sqrt(kMass * kGravity * kDepth / (inertia + kMass * (kRadius - kDepth) * (kRadius - kDepth)));
  for (const double step : {1.0 / 240, 1.0 / 500, 1.0 / 1000}) {
    BuiltScene built = build(fmt::format(R"({{"step": {0}, "length_scale": 0.1, "sleep": {{"enabled": false}},
      "materials": [{{"name": "grip", "friction": 5, "restitution": 0}}],
      "bodies": [{{"shape": {{"kind": "plane"}}, "motion": "fixed", "material": "grip"}},
                 {{"shape": {{"kind": "sphere", "radius": {1}}}, "mass": {2}, "centre_of_mass": [0, 0, {3}],
                   "position": [0, 0, {1}], "rotation": {{"axis": [0, 1, 0], "degrees": 4}},
                   "material": "grip"}}]}})",
                                         step, kRadius, kMass, -kDepth));
    const double found = period_of(built, step, 6 * 2 * kPi / w,
                                   [&] { return built.world.shape_pose(built.ids[1]).rotation.y(); });
    EXPECT_NEAR(found, 2 * kPi / w, 0.02 * 2 * kPi / w) << "step " << step;
  }
}

// A motor drives at its speed to the target, against gravity, and holds it there.
TEST(MassKeys, AMotorReachesItsTargetAndHoldsIt)
{
  for (const double step : {1.0 / 60, 1.0 / 120, 1.0 / 500}) {
    BuiltScene built = build(fmt::format(R"({{"step": {}, "sleep": {{"enabled": false}},
      "bodies": [{{"name": "arm", "shape": {{"kind": "box", "size": [0.6, 0.1, 0.1]}}, "mass": 2,
                   "position": [0.3, 0, 1]}},
                 {{"name": "lift", "shape": {{"kind": "box", "size": [0.2, 0.2, 0.2]}}, "mass": 2,
                   "position": [3, 0, 1]}}],
      "joints": [{{"kind": "hinge", "a": "arm", "position": [0, 0, 1], "axis": [0, 1, 0], "motor_speed": 0.5,
                   "motor_target": 45, "max_motor_force": 50}},
                 {{"kind": "slider", "a": "lift", "position": [3, 0, 1], "axis": [0, 0, 1],
                   "motor_speed": 0.25, "motor_target": -0.5,
                   "max_motor_force": 100}}]}})",
                                         step));
    const std::vector<model::JointId>& joints = built.world.state().joint_ids;
    const double turn_time = kPi / 4 / 0.5;
    for (int i = 0; i * step < 4; ++i) {
      built.step(i * step, step);
      const double time = (i + 1) * step;
      const double angle = std::min(0.5 * time, kPi / 4);
      const double way = -std::min(0.25 * time, 0.5);
      EXPECT_NEAR(built.world.joint_value(joints[0]), angle, time < turn_time + 0.1 ? 0.02 : 2e-3) << time;
      EXPECT_NEAR(built.world.joint_value(joints[1]), way, time < 2.1 ? 0.01 : 1e-3) << time;
    }
    // 45 degrees and half a metre in the world: one way or the other.
    EXPECT_NEAR(std::abs(built.world.shape_pose(built.ids[0]).direction(Vec3::UnitX()).z()), std::sqrt(0.5),
                2e-3);
    EXPECT_NEAR(std::abs(built.world.shape_pose(built.ids[1]).position.z() - 1), 0.5, 1e-3);
  }
}

// With a weak motor as with a strong one: it brakes in time, whatever it has to drive, and does not swing
// about the target.
TEST(MassKeys, AWeakMotorBrakesBeforeItsTarget)
{
  for (const double step : {1.0 / 30, 1.0 / 60, 1.0 / 144, 1.0 / 500}) {
    for (const double force : {5.0, 50.0, 2000.0}) {
      BuiltScene built = build(fmt::format(R"({{"step": {0}, "gravity": [0, 0, 0],
        "sleep": {{"enabled": false}},
        "bodies": [{{"name": "arm", "shape": {{"kind": "box", "size": [0.6, 0.1, 0.1]}}, "mass": 6,
                     "position": [0.5, 0, 1]}},
                   {{"name": "sled", "shape": {{"kind": "box", "size": [0.2, 0.2, 0.2]}}, "mass": 8,
                     "position": [3, 0, 1]}}],
        "joints": [{{"kind": "hinge", "a": "arm", "position": [0, 0, 1], "axis": [0, 1, 0],
                     "motor_speed": 2, "motor_target": 45, "max_motor_force": {1}}},
                   {{"kind": "slider", "a": "sled", "position": [3, 0, 1], "axis": [1, 0, 0],
                     "motor_speed": 1, "motor_target": 0.3, "max_motor_force": {1}}}]}})",
                                           step, force));
      const std::vector<model::JointId>& joints = built.world.state().joint_ids;
      // Half the force brakes: from rest to rest over s with F and -F / 2 it takes sqrt(3 s m / F) and more.
      const double I = 6 * (0.36 + 0.01) / 12 + 6 * 0.25;
      const double end = 1 + 3 * std::sqrt(3 * std::max(kPi / 4 * I, 0.3 * 8) / force);
      for (int i = 0; i * step < end; ++i) {
        built.step(i * step, step);
        EXPECT_LT(built.world.joint_value(joints[0]), kPi / 4 * 1.005) << step << " " << force;
        EXPECT_LT(built.world.joint_value(joints[1]), 0.3 * 1.005) << step << " " << force;
      }
      EXPECT_NEAR(built.world.joint_value(joints[0]), kPi / 4, 2e-3) << step << " " << force;
      EXPECT_NEAR(built.world.joint_value(joints[1]), 0.3, 1e-3) << step << " " << force;
    }
  }
}

TEST(MassKeys, MistakesAreNamed)
{
  using Paths = std::vector<std::string>;
  const auto ball = [](const std::string& keys) {
    return fmt::format(R"({{"bodies": [{{"shape": {{"kind": "sphere"}}, {}}}]}})", keys);
  };
  EXPECT_EQ(paths_of_mistakes(ball(R"("mass": 1, "inertia": [1, 1, 2])")), Paths{}) << "a disc has equality";
  EXPECT_EQ(paths_of_mistakes(ball(R"("inertia": [1, 1, 1])")), Paths{"bodies[0].inertia"});
  EXPECT_EQ(paths_of_mistakes(ball(R"("mass": 1, "inertia": [1, 1, 2.1])")), Paths{"bodies[0].inertia"});
  EXPECT_EQ(paths_of_mistakes(ball(R"("mass": 1, "inertia": [1, 1, -1])")), Paths{"bodies[0].inertia"});
  EXPECT_EQ(paths_of_mistakes(ball(R"("mass": 1, "inertia": [1, 1, 1, 2, 0, 0])")),
            Paths{"bodies[0].inertia"});
  EXPECT_EQ(paths_of_mistakes(ball(R"("mass": 1, "inertia": [1, 1])")), Paths{"bodies[0].inertia"});
  EXPECT_EQ(paths_of_mistakes(ball(R"("centre_of_mass": [1, 2])")), Paths{"bodies[0].centre_of_mass"});
  const auto joint = [](const std::string& kind, const std::string& keys) {
    return fmt::format(R"({{"bodies": [{{"name": "a", "shape": {{"kind": "sphere"}}}}],
                           "joints": [{{"kind": "{}", "a": "a", "motor_target": 1{}}}]}})",
                       kind, keys);
  };
  EXPECT_EQ(paths_of_mistakes(joint("hinge", R"(, "motor_speed": 1, "max_motor_force": 5)")), Paths{});
  EXPECT_EQ(paths_of_mistakes(joint("hinge", "")), Paths{"joints[0].motor_target"});
  EXPECT_EQ(paths_of_mistakes(joint("ball", R"(, "motor_speed": 1, "max_motor_force": 5)")),
            Paths{"joints[0].motor_target"});
}

}  // namespace
}  // namespace thrum::scene
