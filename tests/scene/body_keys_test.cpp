// SPDX-License-Identifier: MIT
// What each key of a body does to its motion, with both steppers and several steps, against closed forms.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/scene_mistakes.h"
#include "thrum/scene/build_world.h"

namespace thrum::scene {
namespace {

using support::mistakes_of;

constexpr double kGravity = 9.81;  // [m/s^2]

struct Case {
  const char* stepper;
  int rate;  // steps in a second
};

class BodyKeys : public testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] double h() const { return 1.0 / GetParam().rate; }

  [[nodiscard]] BuiltScene build(const std::string& bodies, const std::string& more = "") const
  {
    return build_world(
        parse_scene(fmt::format(R"({{"stepper": {{"kind": "{}"}}, "step": {}, {} "bodies": [{}]}})",
                                GetParam().stepper, h(), more, bodies),
                    "s.json"));
  }

  void run(BuiltScene& built, double duration) const
  {
    const int steps = static_cast<int>(std::lround(duration * GetParam().rate));
    for (int i = 0; i < steps; ++i) built.world.step(h());
  }

  struct TimedEvent {
    model::ContactEventKind kind;
    double time;
  };
  // The events of all steps of a run.
  [[nodiscard]] std::vector<TimedEvent> events_of(BuiltScene& built, double duration) const
  {
    std::vector<TimedEvent> events;
    const int steps = static_cast<int>(std::lround(duration * GetParam().rate));
    for (int i = 0; i < steps; ++i) {
      built.world.step(h());
      for (const model::ContactEvent& event : built.world.events())
        events.push_back({event.kind, event.time});
    }
    return events;
  }
};

INSTANTIATE_TEST_SUITE_P(SteppersAndSteps, BodyKeys,
                         testing::Values(Case{"constraint", 30}, Case{"constraint", 60},
                                         Case{"constraint", 200}, Case{"impulse", 30}, Case{"impulse", 60},
                                         Case{"impulse", 200}),
                         [](const auto& param_info) {
                           return fmt::format("{}_{}", param_info.param.stepper, param_info.param.rate);
                         });

const std::string kBall = R"("shape": {"kind": "sphere", "radius": 0.1})";
const std::string kBox = R"("shape": {"kind": "box", "size": [0.4, 0.4, 0.4]})";
const std::string kGround = R"({"name": "ground", "shape": {"kind": "plane"}, "motion": "fixed"})";

// z = z0 - s g t^2 / 2: half the gravity, half as far; none, not at all; -1, upwards.
TEST_P(BodyKeys, GravityScaleScalesTheFall)
{
  std::string bodies;
  const std::vector<double> scales = {1, 0.5, 0, -1, 3};
  for (std::size_t i = 0; i < scales.size(); ++i) {
    bodies += fmt::format(R"({}{{{}, "position": [{}, 0, 100], "gravity_scale": {}}})", i == 0 ? "" : ", ",
                          kBall, 3 * i, scales[i]);
  }
  BuiltScene built = build(bodies);
  run(built, 1);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const double fall = 100 - built.world.state().bodies[i].X_wb.position.z();
    EXPECT_NEAR(fall, scales[i] * kGravity / 2, 1e-9) << scales[i];
  }
}

// What falls three times as fast is still caught by the ground.
TEST_P(BodyKeys, GravityScaleIsSeenByTheSearchForContacts)
{
  BuiltScene built =
      build(kGround + fmt::format(R"(, {{{}, "position": [0, 0, 2], "gravity_scale": 3}})", kBall));
  run(built, 3);
  EXPECT_NEAR(built.world.state().bodies[1].X_wb.position.z(), 0.1, 0.002);
}

// v = v0 e^(-c t) exactly at each step; x follows to first order: the sum takes the velocities of the ends of
// the steps.
TEST_P(BodyKeys, LinearDampingDecaysExponentially)
{
  const double c = 1.5;
  BuiltScene built = build(
      fmt::format(R"({{{}, "velocity": [2, 0, 0], "angular_velocity": [0, 0, 3], "linear_damping": {}}})",
                  kBall, c),
      R"("gravity": [0, 0, 0],)");
  run(built, 1);
  const model::BodyState& body = built.world.state().bodies[0];
  const double decay = std::exp(-c);
  EXPECT_NEAR(body.velocity.x(), 2 * decay, 1e-12);
  EXPECT_NEAR(body.X_wb.position.x(), 2 * (1 - decay) / c, 0.51 * h() * 2 * (1 - decay));
  EXPECT_LT(body.X_wb.position.x(), 2 * (1 - decay) / c);
  EXPECT_NEAR(body.angular_velocity.z(), 3, 1e-12);
}

// With gravity the speed ends at g / c, to first order in c h.
TEST_P(BodyKeys, LinearDampingLimitsTheSpeedOfAFall)
{
  const double c = 4;
  BuiltScene built = build(fmt::format(R"({{{}, "position": [0, 0, 100], "linear_damping": {}}})", kBall, c));
  run(built, 6);
  const double speed = -built.world.state().bodies[0].velocity.z();
  EXPECT_NEAR(speed, kGravity / c, 0.51 * c * h() * kGravity / c);
}

TEST_P(BodyKeys, AngularDampingDecaysExponentially)
{
  const double c = 0.7;
  BuiltScene built = build(fmt::format(R"({{{}, "velocity": [2, 0, 0], "angular_velocity": [1, -2, 3],
                                             "angular_damping": {}}})",
                                       kBall, c),
                           R"("gravity": [0, 0, 0],)");
  run(built, 2);
  const model::BodyState& body = built.world.state().bodies[0];
  EXPECT_LT((body.angular_velocity - std::exp(-2 * c) * Vec3(1, -2, 3)).norm(), 1e-9);
  EXPECT_NEAR(body.velocity.x(), 2, 1e-12);
}

// Balls that meet head-on at 1 m/s each: those of excluded groups are 2 m farther after 2 s, the others are
// stopped.
TEST_P(BodyKeys, GroupsDecideWhoTouchesWhom)
{
  const auto pair = [](double y, const std::string& left, const std::string& right) {
    return fmt::format(R"({{{}, "position": [-1, {}, 0], "velocity": [1, 0, 0]{}}},
                          {{{}, "position": [1, {}, 0], "velocity": [-1, 0, 0]{}}})",
                       kBall, y, left, kBall, y, right);
  };
  const std::string ghost = R"(, "group": "ghosts", "collides_with": ["walls", "default"])";
  const std::string robot = R"(, "group": "robots", "collides_with": ["walls", "robots"])";
  const std::string wall = R"(, "group": "walls")";
  BuiltScene built =
      build(pair(0, ghost, robot) + ", " + pair(5, ghost, wall) + ", " + pair(10, robot, robot) + ", " +
                pair(15, ghost, "") + ", " + pair(20, ghost, ghost) + ", " + pair(25, robot, "") + ", " +
                pair(30, R"(, "group": ["ghosts", "walls"])", robot),
            R"("gravity": [0, 0, 0],)");
  run(built, 2);
  const std::vector<bool> touch = {false, true, true, true, false, false, true};
  for (std::size_t i = 0; i < touch.size(); ++i) {
    const double left = built.world.state().bodies[2 * i].X_wb.position.x();
    const double right = built.world.state().bodies[2 * i + 1].X_wb.position.x();
    if (touch[i]) {
      EXPECT_LT(left, -0.09) << i;
      EXPECT_GT(right, 0.09) << i;
    } else {
      EXPECT_NEAR(left, 1, 1e-9) << i;
      EXPECT_NEAR(right, -1, 1e-9) << i;
    }
  }
}

const std::string kGate =
    R"({"name": "gate", "shape": {"kind": "box", "size": [1, 1, 0.2]}, "position": [0, 0, 1], "motion": "fixed",
        "sensor": true})";

// A ball falls from 2 m through a box from 0.9 to 1.1 m. It overlaps from z = 1.2 to z = 0.8 m, and
// t = sqrt(2 (2 - z) / g).
TEST_P(BodyKeys, SensorsReportWhatFallsThroughThem)
{
  BuiltScene built = build(kGate + fmt::format(R"(, {{{}, "position": [0, 0, 2]}})", kBall));
  BuiltScene alone = build(fmt::format(R"({{{}, "position": [0, 0, 2]}})", kBall));
  std::size_t inside = 0;
  std::vector<TimedEvent> events;
  for (int i = 0; i < GetParam().rate; ++i) {
    built.world.step(h());
    alone.world.step(h());
    for (const model::ContactEvent& event : built.world.events()) events.push_back({event.kind, event.time});
    for (const model::Contact& contact : built.world.contacts()) {
      EXPECT_EQ(contact.normal_impulse, 0);
      if (contact.depth > 0) ++inside;
    }
    EXPECT_TRUE(built.world.impulses().empty());
    // Bit for bit as without the sensor.
    EXPECT_EQ(built.world.state().bodies[1].X_wb.position, alone.world.state().bodies[0].X_wb.position);
    EXPECT_EQ(built.world.state().bodies[1].velocity, alone.world.state().bodies[0].velocity);
  }
  EXPECT_GT(inside, 0u);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, model::ContactEventKind::begin);
  EXPECT_EQ(events[1].kind, model::ContactEventKind::end);
  const double begin = std::sqrt(2 * 0.8 / kGravity);
  const double end = std::sqrt(2 * 1.2 / kGravity);
  EXPECT_GE(events[0].time, begin - 1e-9);
  EXPECT_LE(events[0].time, begin + h() + 1e-9);
  EXPECT_GE(events[1].time, end - 1e-9);
  EXPECT_LE(events[1].time, end + h() + 1e-9);
}

// A saved state knows what overlaps, so that nothing begins twice.
TEST_P(BodyKeys, SensorsRememberOverlapInASavedState)
{
  const std::string bodies =
      kGate + fmt::format(R"(, {{{}, "position": [0, 0, 1], "gravity_scale": 0}})", kBall);
  BuiltScene first = build(bodies);
  EXPECT_EQ(events_of(first, 0.2).size(), 1u);
  BuiltScene second = build(bodies);
  second.world.restore(first.world.save());
  EXPECT_EQ(second.world.hash(), first.world.hash());
  EXPECT_TRUE(events_of(second, 0.2).empty());
}

// A box sleeps inside a sensor, and goes on sleeping, and being inside, while a second sensor is driven
// through it.
TEST_P(BodyKeys, SensorsNeitherKeepAwakeNorWake)
{
  BuiltScene built =
      build(kGround +
            fmt::format(R"(, {{{}, "position": [0, 0, 0.2]}}, {{"shape": {{"kind": "box", "size": [2, 2, 2]}},
              "motion": "fixed", "sensor": true}},
              {{{}, "position": [-6, 0, 0.2], "velocity": [2, 0, 0], "motion": "kinematic", "sensor": true}})",
                        kBox, kBox));
  int begins = 0;
  int ends = 0;
  int awake_later = 0;
  for (int i = 0; i < 6 * GetParam().rate; ++i) {
    built.world.step(h());
    for (const model::ContactEvent& event : built.world.events()) {
      if (event.a.slot == 0 || event.b.slot == 0) continue;
      begins += event.kind == model::ContactEventKind::begin ? 1 : 0;
      ends += event.kind == model::ContactEventKind::end ? 1 : 0;
    }
    if (i > 2 * GetParam().rate && !built.world.state().bodies[1].asleep) ++awake_later;
  }
  EXPECT_EQ(awake_later, 0);
  EXPECT_EQ(begins, 2);  // in the resting sensor, and in the one that passes
  EXPECT_EQ(ends, 1);    // of the one that passes
}

// A sensor of its own weight falls through the floor, and carries nothing with it.
TEST_P(BodyKeys, SensorsStandOnNothingAndCarryNothing)
{
  BuiltScene built = build(kGround + fmt::format(R"(, {{{0}, "position": [0, 0, 0.2], "sensor": true}},
                                                     {{{0}, "position": [0, 0, 0.61]}})",
                                                 kBox));
  run(built, 1);
  EXPECT_NEAR(built.world.state().bodies[1].X_wb.position.z(), 0.2 - kGravity / 2, 1e-9);
  EXPECT_NEAR(built.world.state().bodies[2].X_wb.position.z(), 0.2, 0.01);
}

TEST_P(BodyKeys, MaySleepFalseStaysAwakeWhileItsTwinSleeps)
{
  BuiltScene built = build(kGround + fmt::format(R"(, {{{0}, "position": [0, 0, 0.2]}},
                                                     {{{0}, "position": [3, 0, 0.2], "may_sleep": false}})",
                                                 kBox));
  run(built, 3);
  EXPECT_TRUE(built.world.state().bodies[1].asleep);
  EXPECT_FALSE(built.world.state().bodies[2].asleep);
}

TEST(BodyKeyValues, ReachTheModel)
{
  const BuiltScene built = build_world(parse_scene(
      R"({"groups": ["spare"], "bodies": [
        {"shape": {"kind": "sphere"}, "user_data": 9007199254740991, "group": "debris", "collides_with": "default"},
        {"shape": {"kind": "sphere"}, "collides_with": []}]})",
      "s.json"));
  const std::vector<model::BodyProperties>& bodies = built.world.model().bodies;
  EXPECT_EQ(bodies[0].user_data, 9007199254740991u);
  // "default" is bit 0, "spare" bit 1, "debris" bit 2.
  EXPECT_EQ(bodies[0].collision_group, 4u);
  EXPECT_EQ(bodies[0].collides_with, 1u);
  EXPECT_EQ(bodies[1].collision_group, 1u);
  EXPECT_EQ(bodies[1].collides_with, 0u);
}

TEST(BodyKeyValues, WrongOnesAreErrors)
{
  const auto body = [](const std::string& more) {
    return mistakes_of("{\"bodies\": [\n{\"name\": \"mug\", \"shape\": {\"kind\": \"sphere\"},\n" + more +
                       "}]}");
  };
  EXPECT_EQ(
      body(R"("mass": -0.5)"),
      "s.json:3:9: body \"mug\": mass is -0.5; it must be a number above 0 [kg]. Leave it out to use the "
      "density.");
  EXPECT_EQ(body(R"("linear_damping": -1)"),
            "s.json:3:19: body \"mug\": linear_damping is -1; it must be a number of at least 0 [1/s].");
  EXPECT_EQ(body(R"("angular_damping": true)"),
            "s.json:3:20: body \"mug\": angular_damping is true; it must be a number of at least 0 [1/s].");
  EXPECT_EQ(body(R"("gravity_scale": "moon")"),
            "s.json:3:18: body \"mug\": gravity_scale is \"moon\"; it must be a number.");
  EXPECT_EQ(body(R"("sensor": 1)"), "s.json:3:11: body \"mug\": sensor is 1; it must be true or false.");
  EXPECT_EQ(body(R"("may_sleep": "no")"),
            "s.json:3:14: body \"mug\": may_sleep is \"no\"; it must be true or false.");
  EXPECT_EQ(body(R"("user_data": 1.5)"),
            "s.json:3:14: body \"mug\": user_data is 1.5; it must be a whole number of at least 0.");
  EXPECT_EQ(body(R"("group": 3)"),
            "s.json:3:10: body \"mug\": group is 3; it must be a name in quotes, or a list of names.");
  EXPECT_EQ(body(R"("group": "cups", "collides_with": ["cup"])"),
            "s.json:3:36: body \"mug\": collides_with[0] is \"cup\", a group that no body is in. Give a body "
            "\"group\": \"cup\", or list the name under \"groups\" of the scene. Did you mean \"cups\"?");
}

// One bit is that of bodies without a group.
TEST(BodyKeyValues, ThereAreAtMost32Groups)
{
  const auto scene = [](int count) {
    std::string names;
    for (int i = 0; i < count; ++i) names += fmt::format("{}\"g{}\"", i == 0 ? "" : ", ", i);
    return R"({"bodies": [{"name": "a", "shape": {"kind": "sphere"}, "group": [)" + names + "]}]}";
  };
  EXPECT_EQ(mistakes_of(scene(31)), "none");
  EXPECT_NE(
      mistakes_of(scene(32)).find("body \"a\": group[31] is \"g31\", one group too many: the scene has 33, "
                                  "\"default\" included, and at most 32 are allowed."),
      std::string::npos)
      << mistakes_of(scene(32));
}

}  // namespace
}  // namespace thrum::scene
