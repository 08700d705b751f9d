// SPDX-License-Identifier: MIT
// The flexible scenes at the size of Table 2 of [Zheng11], each by its outcome over a short time: nothing is
// lost, all substeps are solved, and all that bodies, modes and contacts have, less the work of what is
// driven, only gets less.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/scene/played.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/model/modal_model.h"

namespace thrum::scene {
namespace {

constexpr double g = 9.81;

double total_energy(const sim::World& world)
{
  return world.kinetic_energy() + world.potential_energy() + world.contact_energy() +
         world.vibration_energy();
}

// The feeder, faster here than in the scene, pushes eight pipes until the first falls over the edge.
TEST(FullScenes, TheFeederPushesTheFirstPipeOverTheEdge)
{
  Played scene("pipes_full.json", {"bodies.feeder.velocity=[0, 0.4, 0]", "step=0.004"});
  const sim::World& world = scene.built.world;
  const double speed = 0.4;
  const double weight = 0.4 * g;  // friction coefficient times g: the most that a kilogram resists
  double mass = 0;
  for (const model::BodyProperties& body : world.model().bodies) {
    if (body.motion == model::Motion::dynamic) mass += body.mass;
  }
  const double start = total_energy(world);
  while (scene.time < 0.25) {
    scene.play(scene.step);
    // The feeder works against friction at most, and brings the pipes to twice its speed.
    const double worked = weight * mass * speed * scene.time + 2 * mass * speed * speed;
    ASSERT_LT(total_energy(world), start + worked) << scene.time;
  }
  double last = 1e9;
  for (const char* name :
       {"pipe_78", "pipe_72", "pipe_66", "pipe_60", "pipe_55", "pipe_50", "pipe_46", "pipe_42"}) {
    const std::size_t i = scene.find(name);
    ASSERT_LT(i, scene.start.size()) << name;
    const Vec3 moved = scene.moved(i);
    const double y = scene.start[i].position.y() + moved.y();
    EXPECT_LT(y, last) << name;  // none has overtaken another
    last = y;
    EXPECT_NEAR(moved.y(), speed * scene.time, 0.6 * speed * scene.time) << name;
    EXPECT_NEAR(moved.x(), 0, 0.01) << name;
    EXPECT_LT(moved.z(), 0.01) << name;
    EXPECT_GT(world.state().bodies[i].X_wb.position.z(), 0.0155) << name;
  }
  // The first is over the edge, at y = 0.07, and falls.
  EXPECT_LT(scene.moved(scene.find("pipe_78")).z(), -0.005);
  EXPECT_EQ(world.flexible_report().groups.unsolved, 0U);
}

/// Where a marble is on the helix of marble_track_full.
struct OnHelix {
  double angle = 0;      ///< from where the helix begins, over all turns [rad]
  double from_axis = 0;  ///< [m]
  double off = 0;        ///< of its centre from the middle of the gutter, in the upright section [m]
  double side = 0;       ///< in which direction: 0 is down, 90 degrees outwards [rad]

  /// A marble of 8 mm in a groove of 14 mm is at most 6 mm off where a wall is, from -60 to 120 degrees;
  /// one that hops stays within the groove.
  [[nodiscard]] double max_off() const
  {
    const double degree = std::numbers::pi / 180;
    return side > -60 * degree && side < 120 * degree ? 0.0065 : 0.014;
  }
};

constexpr double kPi = std::numbers::pi;
constexpr double kHelixRadius = 0.2;
constexpr double kHelixFall = 0.06;    // in a turn [m]
constexpr double kHelixHeight = 0.57;  // where it begins [m]
constexpr double kHelixTurns = 7;

/// `before`: its angle a short time ago.
OnHelix on_helix(const Vec3& position, double before)
{
  OnHelix place;
  const double angle = std::atan2(position.y(), position.x());
  place.angle = angle + 2 * kPi * std::round((before - angle) / (2 * kPi));
  place.from_axis = position.head<2>().norm();
  const double height = kHelixHeight - kHelixFall * place.angle / (2 * kPi);
  place.off = std::hypot(place.from_axis - kHelixRadius, position.z() - height);
  place.side = std::atan2(place.from_axis - kHelixRadius, height - position.z());
  return place;
}

// A marble that rolls on one point gains 5/7 g sin a. It stays in its gutter over all joints, runs on the
// outer wall where it is fast, has 0.8 of the speed of one that only rolls after five turns, and ends in the
// tray; the energy of all never grows.
TEST(FullScenes, MarblesRollDownTheHelixIntoTheTray)
{
  Played scene("marble_track_full.json", {});
  const sim::World& world = scene.built.world;
  double modes = 0;
  for (const model::BodyId id : world.bodies()) {
    const auto of_body = world.modes_of(id);
    if (!of_body) continue;
    for (const double f : of_body->frequencies) modes += f <= world.desc().flexible.max_frequency ? 1 : 0;
  }
  EXPECT_NEAR(modes + 22 * 6, 426, 43);  // the coordinates of the paper
  const std::size_t marble = scene.find("marble_0");
  const double slope = std::atan(kHelixFall / (2 * kPi * kHelixRadius));
  OnHelix place = on_helix(scene.start[marble].position, 0);
  const double first = place.angle;
  double energy = total_energy(world);
  std::size_t bodies = world.state().bodies.size();
  double highest = 0;
  double left = 0;   // when it has left the track [s]
  double share = 0;  // of the speed, after five turns
  while (scene.time < 10.4) {
    scene.play(scene.step);
    // A marble that appears brings its height.
    if (world.state().bodies.size() == bodies) {
      ASSERT_LT(total_energy(world), energy + 1e-6) << scene.time;
    }
    bodies = world.state().bodies.size();
    energy = total_energy(world);
    if (left > 0) continue;
    place = on_helix(world.state().bodies[marble].X_wb.position, place.angle);
    if (place.angle > 2 * kPi * kHelixTurns) {
      left = scene.time;
      continue;
    }
    ASSERT_LT(place.off, place.max_off()) << scene.time << " " << place.side;
    highest = std::max(highest, place.from_axis - kHelixRadius);
    if (share == 0 && place.angle > 2 * kPi * 5) {
      const double fallen = -scene.moved(marble).z();
      share = world.state().bodies[marble].velocity.norm() / std::sqrt(10.0 / 7 * g * fallen);
    }
    const double gone = kHelixRadius / std::cos(slope) * (place.angle - first);
    const double expected = 0.5 * 5 / 7 * g * std::sin(slope) * scene.time * scene.time;
    if (scene.time > 0.3 && scene.time < 1.5) {
      ASSERT_NEAR(gone, expected, 0.03 * expected) << scene.time;
    }
  }
  EXPECT_GT(left, 0);
  EXPECT_GT(share, 0.8);
  EXPECT_LT(share, 1);
  EXPECT_GT(highest, 0.003);  // half way up the outer wall
  // Every marble is in its gutter or in the tray.
  int in_tray = 0;
  for (std::size_t i = 0; i < world.state().bodies.size(); ++i) {
    if (scene.built.visuals[i].name.rfind("marble", 0) != 0) continue;
    const Vec3 at = world.state().bodies[i].X_wb.position;
    if (at.z() < 0.1) {
      EXPECT_NEAR(at.x(), 0.2, 0.15) << scene.built.visuals[i].name;
      EXPECT_NEAR(at.y(), 0.36, 0.25) << scene.built.visuals[i].name;
      ++in_tray;
      continue;
    }
    // The turn is that on whose height it is.
    const double turn = (kHelixHeight - at.z()) / kHelixFall;
    const OnHelix other = on_helix(at, 2 * kPi * turn);
    EXPECT_LT(other.off, other.max_off()) << scene.built.visuals[i].name;
  }
  EXPECT_GT(in_tray, 0);
  EXPECT_EQ(world.flexible_report().groups.unsolved, 0U);
}

// The full cart rolls over its bumps and off the curb, upright and with its load, and gains no energy.
TEST(FullScenes, TheFullCartRollsOverTheBumpsAndOffTheCurb)
{
  Played scene("cart_full.json", {});
  const sim::World& world = scene.built.world;
  const std::size_t bed = scene.find("bed");
  const auto modes = world.modes_of(world.state().body_ids[bed]);
  std::size_t coordinates = 8 * 6;  // bed, wheels and load
  for (const double f : modes->frequencies) coordinates += f <= world.desc().flexible.max_frequency ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(coordinates), 186, 10);  // those of the paper
  const double start = total_energy(world);
  double highest = -1;
  while (scene.time < 1.6) {
    scene.play(scene.step);
    highest = std::max(highest, scene.moved(bed).z());
    ASSERT_LT(total_energy(world), start) << scene.time;
  }
  const Vec3 moved = scene.moved(bed);
  EXPECT_GT(highest, 0.001);  // on the bumps
  EXPECT_GT(moved.x(), 1.3);
  EXPECT_NEAR(moved.z(), -0.05, 0.01);  // the height of the curb
  const auto& bodies = world.state().bodies;
  EXPECT_GT((bodies[bed].X_wb.rotation * (scene.start[bed].rotation.conjugate() * Vec3::UnitZ())).z(), 0.98);
  for (const char* load : {"pot", "cup", "bowl"}) {
    const Vec3 away = scene.moved(scene.find(load)) - moved;
    EXPECT_LT(std::abs(away.x()), 0.3) << load;
    EXPECT_LT(std::abs(away.y()), 0.18) << load;
    EXPECT_GT(away.z(), -0.01) << load;
  }
  EXPECT_EQ(world.flexible_report().groups.unsolved, 0U);
}

}  // namespace
}  // namespace thrum::scene
