// SPDX-License-Identifier: MIT
// The flexible scenes at the size of Table 2 of [Zheng11], each by its outcome over a short time: nothing is
// lost, all substeps are solved, and all that bodies, modes and contacts have, less the work of what is
// driven, only gets less.
#include <gtest/gtest.h>

#include <cmath>

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

// A marble rolls down the first trough as in a groove, falls onto the second and goes back along it.
TEST(FullScenes, MarblesFollowTheFirstTwoTroughs)
{
  Played scene("marble_track_full.json", {});
  const sim::World& world = scene.built.world;
  const std::size_t marble = scene.find("marble_0");
  scene.play(1.2);
  const double slope = 6 * std::acos(-1.0) / 180;
  const double expected = 0.5 * g * std::sin(slope) / 1.8 * scene.time * scene.time;
  EXPECT_NEAR(std::hypot(scene.moved(marble).x(), scene.moved(marble).z()), expected, 0.03 * expected);
  double most = 0;
  double before = total_energy(world);
  std::size_t bodies = world.state().bodies.size();
  while (scene.time < 3) {
    scene.play(scene.step);
    most = std::max(most, scene.moved(marble).x());
    // A marble that appears brings its height.
    if (world.state().bodies.size() == bodies) {
      ASSERT_LT(total_energy(world), before + 1e-6) << scene.time;
    }
    bodies = world.state().bodies.size();
    before = total_energy(world);
  }
  EXPECT_GT(most, 0.6);                       // the end of the first trough
  EXPECT_LT(scene.moved(marble).x(), 0.55);   // on its way back
  EXPECT_LT(scene.moved(marble).z(), -0.13);  // on the second, or below
  EXPECT_EQ(world.flexible_report().groups.unsolved, 0U);
  for (const model::BodyState& body : world.state().bodies) {
    EXPECT_GT(body.X_wb.position.z(), -0.01);
    EXPECT_LT(std::abs(body.X_wb.position.y()), 0.02);
    EXPECT_LT(std::abs(body.X_wb.position.x() - 0.08), 0.5);
  }
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
