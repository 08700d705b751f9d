// SPDX-License-Identifier: MIT
// The figures of [Guendelman03] with the impulse stepper, each by its outcome at several steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "tests/sim/linked_circles.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sim/world.h"

namespace thrum::sim {
namespace {

constexpr double kGravity = 9.81;  ///< [m/s^2]
constexpr double kMajor = 0.5;     ///< of the rings [m]

class ImpulseFigures : public ::testing::TestWithParam<int> {
 protected:
  [[nodiscard]] static double step() { return 1.0 / GetParam(); }

  static World make(double friction = 0.6, double restitution = 0, double rolling = 0)
  {
    WorldDesc desc;
    desc.stepper = StepperKind::impulse;
    desc.sleep.enabled = false;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {restitution, friction, rolling, rolling});
    return world;
  }
  static model::BodyId add(World& world, const model::Shape& shape, const Pose& X_ws, double mass = 0)
  {
    BodyDesc body;
    body.shape = world.add_shape(shape);
    body.X_ws = X_ws;
    if (mass > 0) {
      body.mass = mass;
    } else {
      body.motion = model::Motion::fixed;
    }
    return world.add_body(body);
  }
  static void add_ground(World& world, const Quat& turned = Quat::Identity())
  {
    add(world, {model::Plane{}}, {Vec3::Zero(), turned});
  }
  static void add_walls(World& world)
  {
    for (int k = 0; k < 4; ++k) {
      const Quat turned(Eigen::AngleAxisd(k * std::numbers::pi / 2, Vec3::UnitZ()));
      add(world, {model::Box{{0.5, 4, 10}}}, {turned * Vec3(2.8, 0, 10), turned});
    }
  }
  static void run(World& world, double seconds)
  {
    for (int i = 0; i < std::lround(seconds / step()); ++i) world.step(step());
  }
  // The largest motion of a body in `seconds` [m].
  static double drift(World& world, double seconds)
  {
    const std::vector<model::BodyState> start = world.state().bodies;
    run(world, seconds);
    double most = 0;
    for (std::size_t i = 0; i < start.size(); ++i)
      most = std::max(most, (world.state().bodies[i].X_wb.position - start[i].X_wb.position).norm());
    return most;
  }
  static model::Shape ring()
  {
    shapes::TorusDesc desc;
    desc.major_segments = 25;
    desc.minor_segments = 10;
    return {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(desc)), nullptr}};
  }
  // Rings let fall in layers of nine: they overlap little, are not linked and come to rest.
  static void expect_a_heap(World& world, int count, double bottom, double max_energy)
  {
    const model::Shape shape = ring();
    std::vector<model::BodyId> rings;
    for (int i = 0; i < count; ++i) {
      const Vec3 axis(1 + i % 3, 2 - i % 5, 1 - i % 2);
      rings.push_back(add(world, shape,
                          {{1.38 * (i % 3 - 1), 1.38 * (i / 3 % 3 - 1), bottom + 1.38 * (i / 9)},
                           Quat(Eigen::AngleAxisd(0.7 * i, axis.normalized()))},
                          50));
    }
    double worst = 0;
    for (int i = 0; i < std::lround(5 / step()); ++i) {
      world.step(step());
      for (const model::ContactPatch& patch : world.state().patches)
        for (const model::ContactPoint& point : patch.active()) worst = std::max(worst, point.depth);
    }
    EXPECT_LT(worst, 0.03);
    EXPECT_LT(world.kinetic_energy(), max_energy);
    for (std::size_t i = 0; i < rings.size(); ++i) {
      for (std::size_t j = i + 1; j < rings.size(); ++j)
        EXPECT_FALSE(test::are_linked(world.shape_pose(rings[i]), world.shape_pose(rings[j]), kMajor));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Steps, ImpulseFigures, ::testing::Values(25, 30, 60, 144, 333),
                         [](const auto& rate) { return "At" + std::to_string(rate.param); });

TEST_P(ImpulseFigures, ATowerOfThirtyStands)
{
  World world = make();
  add_ground(world);
  for (int i = 0; i < 30; ++i)
    add(world, {model::Box{Vec3::Constant(0.5)}}, {{0, 0, 0.5 + i}, Quat::Identity()}, 1000);
  EXPECT_LT(drift(world, 3), 0.002);
}

TEST_P(ImpulseFigures, AThousandAndFiveThousandKilogramsStandOnOne)
{
  for (const double load : {1000.0, 5000.0}) {
    for (const int below : {1, 10}) {
      World world = make();
      add_ground(world);
      for (int i = 0; i <= below; ++i)
        add(world, {model::Box{Vec3::Constant(0.5)}}, {{0, 0, 0.5 + i}, Quat::Identity()},
            i == below ? load : 1.0);
      EXPECT_LT(drift(world, 3), 0.002) << load << " kg on " << below;
    }
  }
}

TEST_P(ImpulseFigures, APyramidStands)
{
  World world = make();
  add_ground(world);
  for (int row = 0; row < 8; ++row) {
    for (int i = 0; i < 8 - row; ++i)
      add(world, {model::Box{Vec3::Constant(0.5)}}, {{1.1 * (i + 0.5 * row), 0, 0.5 + row}, Quat::Identity()},
          1000);
  }
  EXPECT_LT(drift(world, 2), 0.005);
}

// Two cards that lean against each other at 25 degrees from the vertical and carry a third. A card of length
// l holds itself when mu > tan(25) / 2 = 0.23, and with load at its top when mu > tan(25) = 0.47.
TEST_P(ImpulseFigures, LeaningCardsStand)
{
  World world = make(0.7);
  add_ground(world);
  constexpr double kTilt = 25 * std::numbers::pi / 180;
  constexpr double kThin = 0.01;
  const Vec3 half(kThin / 2, 0.3, 0.5);
  const double height = half.z() * std::cos(kTilt) + half.x() * std::sin(kTilt);
  const double aside = half.z() * std::sin(kTilt) + half.x() * std::cos(kTilt);
  for (const double side : {-1.0, 1.0})
    add(world, {model::Box{half}},
        {{side * aside, 0, height}, Quat(Eigen::AngleAxisd(-side * kTilt, Vec3::UnitY()))}, 0.01);
  add(world, {model::Box{{0.4, 0.3, kThin / 2}}}, {{0, 0, 2 * height + kThin / 2}, Quat::Identity()}, 0.01);
  EXPECT_LT(drift(world, 3), 0.005);
}

// With restitution 1 it rests with friction 1, and with 0.5 slides g (sin a - mu cos a) t^2 / 2 on the slope.
TEST_P(ImpulseFigures, ABoxOnAnInclineRestsOrSlidesWithoutBouncing)
{
  for (const double friction : {1.0, 0.5}) {
    World world = make(friction, 1);
    const Quat slope(Eigen::AngleAxisd(std::numbers::pi / 6, Vec3::UnitY()));
    add_ground(world, slope);
    const Vec3 start = slope * Vec3(0, 0, 0.5);
    const model::BodyId box = add(world, {model::Box{Vec3::Constant(0.5)}}, {start, slope}, 1);
    run(world, 2);
    const Vec3 moved = slope.conjugate() * (world.body(box).X_wb.position - start);
    const double expected = std::max(0.0, 0.5 * kGravity * (0.5 - friction * std::sqrt(0.75)) * 4);
    EXPECT_NEAR(moved.x(), expected, 1e-4 + 0.01 * expected) << "friction " << friction;
    EXPECT_NEAR(moved.z(), 0, 1e-3) << "friction " << friction;
  }
}

// All fall, each after the one before, and the row stays on its line.
TEST_P(ImpulseFigures, DominoesFallInOrder)
{
  constexpr std::size_t kCount = 8;
  World world = make(0.4, 0.1);
  add_ground(world);
  for (std::size_t i = 0; i < kCount; ++i)
    add(world, {model::Box{{0.0375, 0.12, 0.24}}},
        {{0.25 * static_cast<double>(i), 0, 0.24}, Quat::Identity()}, 1);
  world.set_velocity(world.id_of(1), {0.3, 0, 0}, {0, 1.5, 0});
  std::vector<double> fell(kCount, 0);
  for (int i = 0; i < std::lround(2.5 / step()); ++i) {
    world.step(step());
    for (std::size_t k = 0; k < kCount; ++k) {
      const Vec3 up = world.state().bodies[1 + k].X_wb.rotation * Vec3::UnitZ();
      if (fell[k] == 0 && up.z() < std::cos(0.5)) fell[k] = (i + 1) * step();
    }
  }
  for (std::size_t k = 0; k < kCount; ++k) {
    EXPECT_GT(fell[k], 0) << k;
    if (k > 0) {
      EXPECT_GE(fell[k], fell[k - 1]) << k;
    }
    EXPECT_LT(std::abs(world.state().bodies[1 + k].X_wb.position.y()), 0.01) << k;
  }
}

TEST_P(ImpulseFigures, RingsInABoxFormAHeap)
{
  World world = make(0.5, 0, 0.005);
  add_ground(world);
  add_walls(world);
  expect_a_heap(world, 18, 0.75, 0.05);
}

TEST_P(ImpulseFigures, RingsOnPolesFormAHeap)
{
  World world = make(0.5, 0, 0.005);
  add_ground(world);
  for (int i = 0; i < 9; ++i)
    add(world, {model::Cylinder{0.1, 1}}, {{1.38 * (i % 3 - 1), 1.38 * (i / 3 - 1), 1}, Quat::Identity()});
  add_walls(world);
  // A ring that circles a pole or rolls on its edge does so for longer: 2 % of what they had when they were
  // let go.
  expect_a_heap(world, 18, 2.8, 0.02 * 18 * 50 * kGravity * 2.8);
}

}  // namespace
}  // namespace thrum::sim
