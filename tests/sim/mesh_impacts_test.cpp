// SPDX-License-Identifier: MIT
// Impacts of meshes in a world with `interference: zlist`: found by the z-list of what the faces sweep and
// Boyse's tests, resolved with Boyse's normals. Nothing passes, and what closed forms say comes out.
// THRUM_PASSING_CASES and THRUM_PASSING_SEED set the number of random cases and their seed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/index.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using testing::desc_without_sleep;
using testing::method_name;

model::Shape shape_of(mesh::TriangleMesh mesh)
{
  return {model::Mesh{std::make_shared<const mesh::TriangleMesh>(std::move(mesh)), nullptr}};
}

mesh::TriangleMesh scaled(mesh::TriangleMesh mesh, double size)
{
  for (Vec3& p : mesh.vertices) p *= size;
  return mesh;
}

/// Of size 1.
mesh::TriangleMesh mover_mesh(std::uint64_t kind)
{
  switch (kind % 4) {
    case 0:
      return support::box_mesh({-0.5, -0.3, -0.2}, {0.5, 0.3, 0.2});
    case 1:
      return support::torus_mesh(0.35, 0.15, 10, 6);
    case 2: {
      mesh::TriangleMesh tip;
      tip.vertices = {{0.5, 0, -0.2}, {-0.3, 0.4, -0.2}, {-0.3, -0.4, -0.2}, {0, 0, 0.5}};
      tip.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
      return tip;
    }
    default:
      return support::box_mesh({-0.5, -0.04, -0.3}, {0.5, 0.04, 0.3});
  }
}

double log_uniform(base::Random& random, double low, double high)
{
  return low * std::pow(high / low, random.uniform());
}

Quat random_rotation(base::Random& random)
{
  return Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
}

enum class Wall { plate, moving_plate, height_field };
const char* const kWallNames[] = {"plate", "moving plate", "height field"};

struct Case {
  std::uint64_t mover = 0;
  Wall wall = Wall::plate;
  StepperKind stepper = StepperKind::constraint;
  double size = 1;       ///< of the mover [m]
  double thickness = 1;  ///< of a plate [m]
  double speed = 1;      ///< [m/s]
  double spin = 0;       ///< of its tips [m/s]
  double angle = 0;      ///< against the normal [rad]
  double h = 1.0 / 60;
  double phase = 0;  ///< of a step, at which it would touch

  [[nodiscard]] std::string describe() const
  {
    return "mover " + std::to_string(mover) + " against " + kWallNames[static_cast<int>(wall)] +
           (stepper == StepperKind::constraint ? ", constraint" : ", impulse") + ", size " +
           std::to_string(size) + ", thickness " + std::to_string(thickness) + ", speed " +
           std::to_string(speed) + ", spin " + std::to_string(spin) + ", angle " + std::to_string(angle) +
           ", h " + std::to_string(h) + ", phase " + std::to_string(phase);
  }
};

Case random_case(base::Random& random)
{
  Case c;
  c.mover = random.bits() % 4;
  c.wall = static_cast<Wall>(random.bits() % 3);
  c.stepper = random.chance(0.5) ? StepperKind::constraint : StepperKind::impulse;
  c.size = log_uniform(random, 0.001, 1);
  c.thickness = c.size * log_uniform(random, 0.1, 1);
  c.speed = log_uniform(random, 1, 1000);
  c.spin = random.chance(0.5) ? log_uniform(random, 0.1, 100) : 0;
  c.angle = random.chance(0.5) ? 0 : random.uniform(0, 1.2);
  c.h = 1 / log_uniform(random, 30, 1000);
  c.phase = random.uniform();
  return c;
}

struct Outcome {
  bool passed = false;
  double first_impact = -1;  ///< in steps, from the way that the mover made; -1: none
};

// A mover on its way to a wall across z that is too wide to get around.
Outcome run(const Case& c, TimeOfImpactMethod method, collision::Interference interference,
            base::Random random)
{
  constexpr int kSteps = 4;
  const double width = std::min(2 * c.speed * c.h * kSteps + 4 * c.size, 40 * c.size);
  WorldDesc desc = desc_without_sleep();
  desc.gravity.setZero();
  desc.stepper = c.stepper;
  desc.time_of_impact = method;
  desc.interference = interference;
  World world(desc);
  world.set_surface(model::kDefaultSurface,
                    {random.chance(0.5) ? 0.0 : random.uniform(), random.uniform(), 0, 0});
  const Pose X_wall{Vec3::Zero(), random_rotation(random)};
  BodyDesc wall;
  wall.X_ws = X_wall;
  wall.motion = model::Motion::fixed;
  wall.mass = 1e3;
  double surface = 0.5 * c.thickness;
  double share = 0;
  if (c.wall == Wall::height_field) {
    model::HeightField field;
    field.columns = field.rows = 9;
    field.spacing = width / 4;
    field.heights = std::make_shared<std::vector<double>>(81, 0.0);
    wall.shape = world.add_shape({field});
    wall.X_ws.position = X_wall.point({-width, -width, 0});
    surface = 0;
  } else {
    wall.shape = world.add_shape(
        shape_of(support::box_mesh({-width, -width, -0.5 * c.thickness}, {width, width, 0.5 * c.thickness})));
    if (c.wall == Wall::moving_plate) {
      wall.motion = model::Motion::dynamic;
      share = random.uniform();
      wall.velocity = X_wall.direction({0, 0, share * c.speed * std::cos(c.angle)});
    }
  }
  const model::BodyId wall_id = world.add_body(wall);
  const double turned = random.uniform(0, 2 * std::numbers::pi);
  const Vec3 along = std::sin(c.angle) * Vec3(std::cos(turned), std::sin(turned), 0);
  BodyDesc body;
  body.shape = world.add_shape(shape_of(scaled(mover_mesh(c.mover), c.size)));
  body.mass = 1;
  const double gap = 0.001 * c.size + c.phase * c.h * c.speed * std::cos(c.angle);
  body.X_ws = {X_wall.point({0, 0, surface + 0.65 * c.size + gap}), random_rotation(random)};
  body.velocity = X_wall.direction(c.speed * (along - (1 - share) * std::cos(c.angle) * Vec3::UnitZ()));
  body.angular_velocity =
      2 * c.spin / c.size * Vec3(random.normal(), random.normal(), random.normal()).normalized();
  const model::BodyId id = world.add_body(body);
  Outcome outcome;
  for (int i = 0; i < kSteps; ++i) {
    world.step(c.h);
    if (outcome.first_impact < 0 && !world.impulses().empty()) outcome.first_impact = i;
    const Pose X_now = c.wall == Wall::moving_plate ? world.shape_pose(wall_id) : X_wall;
    const Vec3 place = X_now.point_to_local(world.body(id).X_wb.position);
    if (!place.allFinite()) outcome.passed = true;
    if (place.head<2>().cwiseAbs().maxCoeff() + c.size > width) break;
    if (place.z() < 0) outcome.passed = true;
    if (outcome.passed) break;
  }
  return outcome;
}

int case_count(int usual)
{
  const char* const text = std::getenv("THRUM_PASSING_CASES");
  return text != nullptr ? std::atoi(text) : usual;
}

class MeshImpacts : public ::testing::TestWithParam<TimeOfImpactMethod> {};

INSTANTIATE_TEST_SUITE_P(Methods, MeshImpacts,
                         ::testing::Values(TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                           TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp),
                         [](const auto& method) { return method_name(method.param); });

TEST_P(MeshImpacts, NothingPassesWithTheZList)
{
  const char* const seed = std::getenv("THRUM_PASSING_SEED");
  base::Random random(1979 + (seed != nullptr ? std::strtoull(seed, nullptr, 10) : 0));
  int passed = 0;
  int other_step = 0;
  const int cases = case_count(GetParam() == TimeOfImpactMethod::continuous ? 24 : 10);
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(random);
    const base::Random own = random.split();
    const Outcome by_list = run(c, GetParam(), collision::Interference::zlist, own);
    const Outcome by_tree = run(c, GetParam(), collision::Interference::hierarchy, own);
    // The first push is in the same step, but for impacts within the tolerance of its end.
    other_step += by_list.first_impact != by_tree.first_impact ? 1 : 0;
    passed += by_list.passed ? 1 : 0;
    EXPECT_FALSE(by_list.passed) << "case " << i << ": " << c.describe()
                                 << (by_tree.passed ? " (as with the hierarchy)" : "");
  }
  EXPECT_EQ(passed, 0) << "of " << cases;
  EXPECT_LE(other_step, 1 + cases / 50);
}

// Without gravity and friction, with restitution 1.
World elastic_world(StepperKind stepper, TimeOfImpactMethod time_of_impact)
{
  WorldDesc desc = desc_without_sleep();
  desc.gravity.setZero();
  desc.stepper = stepper;
  desc.time_of_impact = time_of_impact;
  desc.interference = collision::Interference::zlist;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  return world;
}

// Two bars with square sections, turned so that an edge of each meets one of the other at a right angle. The
// normal is the product of the edges, whatever the faces: without friction the bars exchange their speeds.
TEST_P(MeshImpacts, CrossedEdgesPushAlongTheirProduct)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    World world = elastic_world(stepper, GetParam());
    const model::Shape bar = shape_of(support::box_mesh({-0.5, -0.05, -0.05}, {0.5, 0.05, 0.05}));
    const Quat on_edge(Eigen::AngleAxisd(0.25 * std::numbers::pi, Vec3::UnitX()));
    const Quat across(Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitZ()));
    const model::BodyId a = testing::add(world, bar, {0, 0, 0}, 1, on_edge);
    const model::BodyId b = testing::add(world, bar, {0, 0, 1.03}, 1, across * on_edge);
    world.set_velocity(b, {0, 0, -40}, Vec3::Zero());
    for (int i = 0; i < 4; ++i) world.step(1.0 / 60);
    EXPECT_LT((world.body(a).velocity - Vec3(0, 0, -40)).norm(), 0.4);
    EXPECT_LT(world.body(b).velocity.norm(), 0.4);
    EXPECT_LT(world.body(a).angular_velocity.norm(), 0.5);
  }
}

// The tip of a pyramid meets an edge that sticks up, at right angles to nothing: the rule of boyse.h for a
// vertex and an edge gives the vertical, and the pyramid goes back as it came.
TEST_P(MeshImpacts, ATipOnAnEdgeGoesBackAsItCame)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    World world = elastic_world(stepper, GetParam());
    mesh::TriangleMesh pyramid;
    pyramid.vertices = {{0, 0, 0}, {0.2, 0.2, 0.5}, {-0.2, 0.2, 0.5}, {-0.2, -0.2, 0.5}, {0.2, -0.2, 0.5}};
    pyramid.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 4, 3}, {0, 1, 4}, {1, 2, 3}, {1, 3, 4}};
    const model::BodyId tip = testing::add(world, shape_of(pyramid), {0.1, 0, 0.73}, 1);
    world.set_velocity(tip, {0, 0, -60}, Vec3::Zero());
    // Faces at 30 and 60 degrees.
    const double roll = std::numbers::pi / 6;
    BodyDesc bar;
    bar.shape = world.add_shape(shape_of(support::box_mesh({-0.5, -0.05, -0.05}, {0.5, 0.05, 0.05})));
    bar.motion = model::Motion::fixed;
    bar.X_ws = {{0, -0.05 * (std::cos(roll) - std::sin(roll)), -0.05 * (std::cos(roll) + std::sin(roll))},
                Quat(Eigen::AngleAxisd(roll, Vec3::UnitX()))};
    world.add_body(bar);
    for (int i = 0; i < 2; ++i) world.step(1.0 / 60);
    EXPECT_LT((world.body(tip).velocity - Vec3(0, 0, 60)).norm(), 0.1);
    EXPECT_LT(world.body(tip).angular_velocity.norm(), 0.5);
  }
}

// A state taken between two impacts is all that a world needs: others made from the same scene go on with the
// same bits.
TEST_P(MeshImpacts, RestoredStatesGoOnWithTheSameBits)
{
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    const auto make = [&] {
      WorldDesc desc;
      desc.stepper = stepper;
      desc.time_of_impact = GetParam();
      desc.interference = collision::Interference::zlist;
      auto world = std::make_unique<World>(desc);
      world->set_surface(model::kDefaultSurface, {0.5, 0.3, 0, 0});
      model::HeightField field;
      field.columns = field.rows = 9;
      field.spacing = 0.25;
      auto heights = std::make_shared<std::vector<double>>();
      for (int k = 0; k < 81; ++k) heights->push_back(0.05 * std::sin(k % 9) * std::cos(1.3 * (k / 9)));
      field.heights = heights;
      BodyDesc ground;
      ground.shape = world->add_shape({field});
      ground.motion = model::Motion::fixed;
      ground.X_ws.position = {-1, -1, 0};
      world->add_body(ground);
      for (std::uint64_t k = 0; k < 4; ++k) {
        const double x = -0.3 + 0.2 * static_cast<double>(k);
        const model::BodyId id =
            testing::add(*world, shape_of(scaled(mover_mesh(k), 0.2)), {x, 0.1 * x, 0.4 + x * x}, 1,
                         Quat(1, 0.3, x, 0.1).normalized());
        world->set_velocity(id, {0, 0, -20}, {3, 2, 1});
      }
      return world;
    };
    const auto first = make();
    const auto second = make();
    for (int i = 0; i < 3; ++i) first->step(1.0 / 60);
    second->restore(first->state());
    for (int i = 0; i < 12; ++i) {
      first->step(1.0 / 60);
      second->step(1.0 / 60);
      ASSERT_EQ(first->hash(), second->hash()) << "step " << i;
    }
  }
}

}  // namespace
}  // namespace thrum::sim
