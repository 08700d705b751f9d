// SPDX-License-Identifier: MIT
// Nothing passes through anything: random shapes, sizes from 1 mm to 1 m, speeds from 1 to 1000 m/s, steps
// from 1/1000 to 1/30 s and phases, head-on and grazing, with both steppers. What is predicted is a sign: a
// body that starts in front of a wall that it cannot get around stays there.
//
// Each of the methods for the time of impact is tried. THRUM_PASSING_CASES=10000 sets the number of cases of
// each test, THRUM_PASSING_SEED=1 other cases.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using testing::desc_without_sleep;
using testing::method_name;

class Passing : public ::testing::TestWithParam<TimeOfImpactMethod> {};

INSTANTIATE_TEST_SUITE_P(Methods, Passing,
                         ::testing::Values(TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                           TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp),
                         [](const auto& method) { return method_name(method.param); });

/// The default method gets `usual` cases, the others a tenth.
int case_count(TimeOfImpactMethod method, int usual)
{
  if (method != TimeOfImpactMethod::continuous) usual /= 10;
  const char* const text = std::getenv("THRUM_PASSING_CASES");
  return text != nullptr ? std::atoi(text) : usual;
}

std::uint64_t seed_of_cases(std::uint64_t usual)
{
  const char* const text = std::getenv("THRUM_PASSING_SEED");
  return text != nullptr ? usual + std::strtoull(text, nullptr, 10) : usual;
}

double log_uniform(base::Random& random, double low, double high)
{
  return low * std::pow(high / low, random.uniform());
}

Quat random_rotation(base::Random& random)
{
  return Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
}

Vec3 random_direction(base::Random& random)
{
  return Vec3(random.normal(), random.normal(), random.normal()).normalized();
}

std::shared_ptr<const mesh::TriangleMesh> share(mesh::TriangleMesh mesh)
{
  return std::make_shared<const mesh::TriangleMesh>(std::move(mesh));
}

/// A closed mesh with its distance field, which is made once for each name.
model::Shape known_mesh(const std::string& name, const std::function<mesh::TriangleMesh()>& make)
{
  static std::map<std::string, model::Shape> known;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto triangles = share(make());
  const distance::MeshDistance exact(*triangles, distance::SignMethod::pseudonormal);
  const auto field =
      std::make_shared<distance::SignedDistanceField>(exact, distance::DistanceFieldDesc{.resolution = 64});
  return known[name] = {model::Mesh{triangles, field}};
}

/// Of size 1, 0.1, 0.01 or 0.001 m.
model::Shape torus_of_size(int decade)
{
  return known_mesh("torus " + std::to_string(decade), [&] {
    const double size = std::pow(10.0, -decade);
    return shapes::generate(shapes::TorusDesc{
        .major_radius = 0.35 * size, .minor_radius = 0.15 * size, .major_segments = 12, .minor_segments = 8});
  });
}

model::Shape hull_of(double size)
{
  mesh::TriangleMesh octahedron;
  for (int k = 0; k < 3; ++k) {
    octahedron.vertices.push_back(0.5 * size * Vec3::Unit(k));
    octahedron.vertices.push_back(-0.5 * size * Vec3::Unit(k));
  }
  octahedron.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                          {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  return {model::ConvexHull{collision::make_polyhedron(octahedron)}};
}

enum class Mover { sphere, box, capsule, cylinder, hull, compound, rod, mesh };
constexpr int kMovers = 8;
const char* const kMoverNames[] = {"sphere", "box", "capsule", "cylinder", "hull", "compound", "rod", "mesh"};

/// A body whose largest extent is `size`; `size` is rounded for meshes.
model::Shape mover_shape(Mover kind, double& size)
{
  switch (kind) {
    case Mover::sphere:
      return {model::Sphere{0.5 * size}};
    case Mover::box:
      return {model::Box{size * Vec3(0.5, 0.3, 0.2)}};
    case Mover::capsule:
      return {model::Capsule{0.15 * size, 0.35 * size}};
    case Mover::cylinder:
      return {model::Cylinder{0.2 * size, 0.5 * size}};
    case Mover::hull:
      return hull_of(size);
    case Mover::compound: {
      const auto ball = std::make_shared<model::Shape>(model::Shape{model::Sphere{0.15 * size}});
      const auto bar = std::make_shared<model::Shape>(model::Shape{model::Box{size * Vec3(0.3, 0.05, 0.05)}});
      model::Compound dumbbell;
      dumbbell.parts.push_back({{{-0.35 * size, 0, 0}, Quat::Identity()}, ball});
      dumbbell.parts.push_back({{{0.35 * size, 0, 0}, Quat::Identity()}, ball});
      dumbbell.parts.push_back({Pose{}, bar});
      return {dumbbell};
    }
    case Mover::rod:
      return {model::Box{size * Vec3(0.5, 0.02, 0.02)}};
    case Mover::mesh: {
      const int decade = static_cast<int>(std::lround(-std::log10(size)));
      size = std::pow(10.0, -decade);
      return torus_of_size(decade);
    }
  }
  return {};
}

enum class Wall { box, compound, mesh, open_mesh, height_field, plane, dynamic, kinematic };
constexpr int kWalls = 8;
const char* const kWallNames[] = {"box",          "compound", "mesh",    "open mesh",
                                  "height field", "plane",    "dynamic", "kinematic"};

/// A wall across z, its middle (or its surface, if it has no back side) at z = 0.
model::Shape wall_shape(Wall kind, double width, double thickness)
{
  const Vec3 half(width, width, 0.5 * thickness);
  switch (kind) {
    case Wall::compound: {
      const auto tile = std::make_shared<model::Shape>(
          model::Shape{model::Box{{0.5 * width, 0.5 * width, 0.5 * thickness}}});
      model::Compound tiles;
      for (const double x : {-0.5, 0.5}) {
        for (const double y : {-0.5, 0.5})
          tiles.parts.push_back({{{x * width, y * width, 0}, Quat::Identity()}, tile});
      }
      return {tiles};
    }
    case Wall::mesh:
      return known_mesh("plate " + std::to_string(width) + " " + std::to_string(thickness),
                        [&] { return shapes::generate(shapes::BoxDesc{.size = 2 * half}); });
    case Wall::open_mesh: {
      mesh::TriangleMesh sheet;
      sheet.vertices = {{-width, -width, 0}, {width, -width, 0}, {width, width, 0}, {-width, width, 0}};
      sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
      return {model::Mesh{share(sheet), nullptr}};
    }
    case Wall::height_field: {
      model::HeightField field;
      field.columns = field.rows = 5;
      field.spacing = width / 2;
      field.heights = std::make_shared<std::vector<double>>(25, 0.0);
      return {field};
    }
    case Wall::plane:
      return {model::Plane{}};
    default:
      return {model::Box{half}};
  }
}

struct Case {
  Mover mover = Mover::sphere;
  Wall wall = Wall::box;
  StepperKind stepper = StepperKind::constraint;
  double size = 0.1;       ///< of the mover [m]
  double thickness = 0.1;  ///< of the wall [m]
  double speed = 1;        ///< of the mover against the wall [m/s]
  double spin = 0;         ///< speed of its tips [m/s]
  double angle = 0;        ///< against the normal of the wall [rad]
  double h = 1.0 / 60;     ///< [s]
  double phase = 0;        ///< of the first step, at which it would touch
  double restitution = 0;

  [[nodiscard]] std::string describe() const
  {
    return std::string(kMoverNames[static_cast<int>(mover)]) + " against " +
           kWallNames[static_cast<int>(wall)] +
           (stepper == StepperKind::constraint ? ", constraint"
            : stepper == StepperKind::impulse  ? ", impulse"
            : stepper == StepperKind::penalty  ? ", penalty"
                                               : ", flexible") +
           ", size " + std::to_string(size) + ", thickness " + std::to_string(thickness) + ", speed " +
           std::to_string(speed) + ", spin " + std::to_string(spin) + ", angle " + std::to_string(angle) +
           ", h " + std::to_string(h) + ", phase " + std::to_string(phase) + ", restitution " +
           std::to_string(restitution);
  }
};

Case random_case(base::Random& random)
{
  Case c;
  c.mover = static_cast<Mover>(random.bits() % kMovers);
  c.wall = static_cast<Wall>(random.bits() % kWalls);
  c.stepper = random.chance(0.5) ? StepperKind::constraint : StepperKind::impulse;
  c.size = log_uniform(random, 0.001, 1);
  c.thickness = log_uniform(random, 0.001, 1);
  c.speed = log_uniform(random, 1, 1000);
  c.spin = c.mover == Mover::rod || random.chance(0.3) ? log_uniform(random, 1, 1000) : 0;
  c.angle = random.chance(0.5) ? 0 : random.uniform(0, 1.5);
  c.h = 1 / log_uniform(random, 30, 1000);
  c.phase = random.uniform();
  c.restitution = random.chance(0.5) ? 0 : random.uniform();
  return c;
}

constexpr int kSteps = 4;
/// What springs may add to the energy, as a share of the kinetic energy at the start.
constexpr double kMaxGain = 1e-9;

// Runs a case and returns what was wrong after one of its steps, such as that the mover was not in front of
// the wall any more; nothing: "".
std::string fault_of(TimeOfImpactMethod method, const Case& given, base::Random& random, ImpactCounts& counts)
{
  Case c = given;
  const model::Shape shape = mover_shape(c.mover, c.size);
  const double way = c.speed * c.h * kSteps;
  // As wide as the mover goes; a mesh is kept to a shape that its distance field resolves.
  double width = 2 * way + 4 * c.size;
  if (c.wall == Wall::mesh) {
    c.angle = 0;
    const double decade = std::round(std::log10(c.size));
    c.thickness = std::pow(10.0, decade + static_cast<double>(random.bits() % 2) - 0.5);
    width = 10 * std::pow(10.0, decade);
  }
  WorldDesc desc = desc_without_sleep();
  desc.stepper = c.stepper;
  desc.time_of_impact = method;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {c.restitution, random.uniform(), 0, 0});
  const Pose X_wall{Vec3::Zero(), random_rotation(random)};
  BodyDesc wall;
  wall.shape = world.add_shape(wall_shape(c.wall, width, c.thickness));
  wall.X_ws = X_wall;
  if (c.wall == Wall::height_field) wall.X_ws.position = X_wall.point({-width, -width, 0});
  wall.motion = c.wall == Wall::dynamic     ? model::Motion::dynamic
                : c.wall == Wall::kinematic ? model::Motion::kinematic
                                            : model::Motion::fixed;
  wall.mass = 1e3;
  // A wall that moves takes its share of the speed.
  const double share = c.wall == Wall::dynamic || c.wall == Wall::kinematic ? random.uniform() : 0.0;
  wall.velocity = X_wall.direction({0, 0, share * c.speed * std::cos(c.angle)});
  if (wall.motion == model::Motion::fixed) wall.velocity.setZero();
  const model::BodyId wall_id = world.add_body(wall);

  const double turned = random.uniform(0, 2 * std::numbers::pi);
  const Vec3 along = std::sin(c.angle) * Vec3(std::cos(turned), std::sin(turned), 0);
  const Vec3 velocity = c.speed * (along - (1 - share) * std::cos(c.angle) * Vec3::UnitZ());
  const bool has_back = c.wall != Wall::open_mesh && c.wall != Wall::height_field && c.wall != Wall::plane;
  const double surface = has_back ? 0.5 * c.thickness : 0;
  BodyDesc body;
  body.shape = world.add_shape(shape);
  body.mass = c.wall == Wall::dynamic ? random.uniform(0.1, 10) : 1;
  // The sphere about the mover, at most 0.6 of its size, touches the wall at `phase` of the first step.
  const double gap = 0.001 * c.size + c.phase * c.h * c.speed * std::cos(c.angle);
  body.X_ws = {X_wall.point({0, 0, surface + 0.62 * c.size + gap}), random_rotation(random)};
  body.velocity = X_wall.direction(velocity);
  body.angular_velocity = 2 * c.spin / c.size * random_direction(random);
  const model::BodyId id = world.add_body(body);

  const auto energy = [&] {
    return world.kinetic_energy() + world.potential_energy() + world.contact_energy();
  };
  const double start = energy();
  const double scale = world.kinetic_energy();
  std::string fault;
  for (int i = 0; i < kSteps; ++i) {
    world.step(c.h);
    // The springs of the penalty stepper give back no more than they took. (A body that is stopped has got
    // the speed of the fall that it did not make.)
    if (c.stepper == StepperKind::penalty && c.wall != Wall::kinematic &&
        world.impact_counts().stopped_bodies == 0 && energy() > start + kMaxGain * scale)
      fault = "gained " + std::to_string(1e6 * (energy() - start) / scale) + " millionths of its energy";
    const Vec3 place = (c.wall == Wall::height_field ? X_wall : world.shape_pose(wall_id))
                           .point_to_local(world.body(id).X_wb.position);
    if (!place.allFinite()) return "is not finite";
    // What has slid off the wall may fall past it.
    if (place.head<2>().cwiseAbs().maxCoeff() + c.size > width) break;
    if (place.z() < 0) return "passed";
  }
  counts.stopped_bodies += world.impact_counts().stopped_bodies;
  return fault;
}

TEST_P(Passing, NothingPassesThroughAWall)
{
  base::Random random(seed_of_cases(2013));
  ImpactCounts counts;
  int passed = 0;
  const int cases = case_count(GetParam(), 1000);
  for (int i = 0; i < cases; ++i) {
    const Case c = random_case(random);
    base::Random own = random.split();
    const std::string fault = fault_of(GetParam(), c, own, counts);
    if (fault.empty()) continue;
    if (++passed <= 5) ADD_FAILURE() << "case " << i << " " << fault << ": " << c.describe();
  }
  EXPECT_EQ(passed, 0) << "of " << cases;
}

// The default stiffness of springs grows with the speed: none lets a body through, and none adds energy. (A
// stiffness that a scene sets is used as it is.)
TEST(PassingByPenalty, NothingPassesThroughAWall)
{
  base::Random random(seed_of_cases(13));
  ImpactCounts counts;
  int passed = 0;
  const int cases = case_count(TimeOfImpactMethod::continuous, 300);
  for (int i = 0; i < cases; ++i) {
    Case c = random_case(random);
    c.stepper = StepperKind::penalty;
    base::Random own = random.split();
    const std::string fault = fault_of(TimeOfImpactMethod::continuous, c, own, counts);
    if (fault.empty()) continue;
    if (++passed <= 5) ADD_FAILURE() << "case " << i << " " << fault << ": " << c.describe();
  }
  EXPECT_EQ(passed, 0) << "of " << cases;
}

// Contacts of the flexible stepper yield as their material does, which at hundreds of metres a second is more
// than the bodies are thick: what would be pressed in deeper than a quarter of that is held there until it
// comes back.
TEST(PassingByFlexible, NothingPassesThroughAWall)
{
  base::Random random(seed_of_cases(19));
  ImpactCounts counts;
  int passed = 0;
  const int cases = case_count(TimeOfImpactMethod::continuous, 300);
  for (int i = 0; i < cases; ++i) {
    Case c = random_case(random);
    c.stepper = StepperKind::flexible;
    base::Random own = random.split();
    const std::string fault = fault_of(TimeOfImpactMethod::continuous, c, own, counts);
    if (fault.empty()) continue;
    if (++passed <= 5) ADD_FAILURE() << "case " << i << " " << fault << ": " << c.describe();
  }
  EXPECT_EQ(passed, 0) << "of " << cases;
}

// Two balls on straight ways collide if these come nearer than the sum of the radii: their velocities change.
// (Contacts look ahead by up to half a width, so that what passes at less than that may be deflected too.)
TEST_P(Passing, TwoFastBallsCollideWhenTheirWaysCross)
{
  base::Random random(seed_of_cases(1991));
  int collided = 0;
  for (int i = 0; i < case_count(GetParam(), 10000); ++i) {
    WorldDesc desc = desc_without_sleep();
    desc.gravity.setZero();
    desc.time_of_impact = GetParam();
    desc.stepper = random.chance(0.5) ? StepperKind::constraint : StepperKind::impulse;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {random.uniform(), random.uniform(), 0, 0});
    const double h = 1 / log_uniform(random, 30, 1000);
    const double ra = log_uniform(random, 0.0005, 0.5);
    const double rb = log_uniform(random, 0.0005, 0.5);
    const Vec3 va = log_uniform(random, 1, 1000) * random_direction(random);
    const Vec3 vb = log_uniform(random, 1, 1000) * random_direction(random);
    // They are nearest to each other, at `miss`, at a random time within the first two steps.
    const Vec3 relative = vb - va;
    const double miss = (ra + rb) * random.uniform(0, 1.5);
    const Vec3 across = relative.cross(random_direction(random)).normalized();
    const double when = random.uniform(0, 2 * h);
    const Vec3 apart = miss * across - when * relative;
    if (apart.norm() < 1.01 * (ra + rb) || std::abs(miss / (ra + rb) - 1) < 0.02) continue;
    const model::BodyId a = testing::add(world, {model::Sphere{ra}}, Vec3::Zero(), random.uniform(0.1, 10));
    const model::BodyId b = testing::add(world, {model::Sphere{rb}}, apart, random.uniform(0.1, 10));
    world.set_velocity(a, va, Vec3::Zero());
    world.set_velocity(b, vb, Vec3::Zero());
    for (int k = 0; k < 3; ++k) world.step(h);
    const bool changed = (world.body(a).velocity - va).norm() > 1e-9 * va.norm();
    if (miss > ra + rb) continue;
    EXPECT_TRUE(changed) << "case " << i << ", radii " << ra << " and " << rb << ", h " << h << ", miss "
                         << miss << ", relative speed " << relative.norm();
    collided += changed ? 1 : 0;
  }
  EXPECT_GT(collided, case_count(GetParam(), 10000) / 10);
}

// A rod on a hinge at its middle never gets past a fixed pin: in axes of the rod the pin stays on its side.
TEST_P(Passing, ASpinningRodDoesNotPassAPin)
{
  base::Random random(seed_of_cases(7));
  for (int i = 0; i < case_count(GetParam(), 300); ++i) {
    WorldDesc desc = desc_without_sleep();
    desc.gravity.setZero();
    desc.time_of_impact = GetParam();
    desc.stepper = random.chance(0.5) ? StepperKind::constraint : StepperKind::impulse;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {random.uniform(), 0, 0, 0});
    const double h = 1 / log_uniform(random, 30, 1000);
    const double length = log_uniform(random, 0.01, 1);
    const double pin = length * random.uniform(0.02, 0.1);
    const double distance = length * random.uniform(0.2, 0.4);
    const double angle = random.uniform(0.6, 2.5);
    const model::BodyId rod = testing::add(world, {model::Box{length * Vec3(0.5, 0.02, 0.02)}}, Vec3::Zero(),
                                           1, Quat(Eigen::AngleAxisd(angle, -Vec3::UnitZ())));
    BodyDesc fixed;
    fixed.shape = world.add_shape({model::Cylinder{pin, length}});
    fixed.X_ws.position = {distance, 0, 0};
    fixed.motion = model::Motion::fixed;
    const model::BodyId pin_id = world.add_body(fixed);
    model::JointDesc hinge;
    hinge.kind = model::JointKind::hinge;
    hinge.a = rod;
    world.add_joint(hinge);
    // Towards the pin, at 1 to 1000 m/s at its ends, by at most 2 rad in a step: more is a limit of joints.
    const double speed = std::min(log_uniform(random, 1, 1000), length / h);
    world.set_velocity(rod, Vec3::Zero(), {0, 0, 2 * speed / length});
    for (int k = 0; k < 4; ++k) {
      world.step(h);
      const Vec3 place = world.shape_pose(rod).point_to_local(world.shape_pose(pin_id).position);
      ASSERT_GT(place.y(), 0) << "case " << i << ", length " << length << ", pin " << pin << ", distance "
                              << distance << ", angle " << angle << ", speed " << speed << ", h " << h
                              << ", step " << k << (desc.stepper == StepperKind::impulse ? ", impulse" : "");
    }
  }
}

// Turning by more than 2 rad in a step is beyond what joints can hold, but every number stays finite: boxes,
// and meshes with faces from the hierarchy and from the buffer of pixels.
TEST(SpinningRods, StayFiniteAtAnySpeed)
{
  base::Random random(11);
  const auto mesh_of = [](const shapes::BoxDesc& box) {
    return model::Shape{model::Mesh{share(shapes::generate(box)), nullptr}};
  };
  for (int i = 0; i < 60; ++i) {
    WorldDesc desc = desc_without_sleep();
    desc.stepper = i % 3 == 0   ? StepperKind::constraint
                   : i % 3 == 1 ? StepperKind::impulse
                                : StepperKind::penalty;
    desc.interference = i % 2 == 0 ? collision::Interference::zlist : collision::Interference::hierarchy;
    World world(desc);
    world.set_surface(model::kDefaultSurface, {random.uniform(), 0.5, 0, 0});
    const bool is_mesh = i % 4 < 2;
    const Vec3 size(1, 0.04, 0.04);
    BodyDesc body;
    body.shape = world.add_shape(is_mesh ? mesh_of({.size = size}) : model::Shape{model::Box{0.5 * size}});
    body.mass = 1;
    body.X_ws.rotation = Quat(Eigen::AngleAxisd(random.uniform(0.6, 2.5), -Vec3::UnitZ()));
    body.angular_velocity = {0, 0, log_uniform(random, 120, 6000)};
    const model::BodyId rod = world.add_body(body);
    BodyDesc pin;
    pin.shape =
        world.add_shape(is_mesh ? mesh_of({.size = {0.1, 0.1, 1}}) : model::Shape{model::Cylinder{0.05, 1}});
    pin.X_ws.position = {random.uniform(0.2, 0.4), 0, 0};
    pin.motion = model::Motion::fixed;
    world.add_body(pin);
    model::JointDesc hinge;
    hinge.kind = model::JointKind::hinge;
    hinge.a = rod;
    world.add_joint(hinge);
    for (int k = 0; k < 20; ++k) {
      world.step(1.0 / 60);
      const model::BodyState& state = world.body(rod);
      ASSERT_TRUE(state.X_wb.position.allFinite() && state.X_wb.rotation.coeffs().allFinite() &&
                  state.velocity.allFinite() && state.angular_velocity.allFinite())
          << "case " << i << ", step " << k;
    }
  }
}

}  // namespace
}  // namespace thrum::sim
