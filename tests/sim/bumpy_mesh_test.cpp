// SPDX-License-Identifier: MIT
// Bodies are thrown at vertices and edges of an open mesh with bumps, fixed or driven towards them: balls,
// boxes, capsules, cylinders, hulls, compounds, discs, rods and meshes of 5 mm to 0.5 m, at 1 to 1000 m/s,
// steps of 1/1000 to 1/30 s. What is predicted is a sign: where they are over the mesh they are in front.
//
// THRUM_BUMPS_CASES=2000 sets the number of cases of each test, THRUM_BUMPS_SEED=1 other cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using testing::any_direction;
using testing::number_in;
using testing::spread;
using testing::Way;
using testing::way_name;

Quat any_rotation(base::Random& random)
{
  return Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
}

const std::array<const char*, 9> kNames = {"ball", "box",      "capsule", "cylinder", "hull",
                                           "disc", "dumbbell", "rod",     "block"};

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

model::Shape dumbbell_of(double size)
{
  const auto ball = std::make_shared<model::Shape>(model::Shape{model::Sphere{0.15 * size}});
  const auto bar = std::make_shared<model::Shape>(model::Shape{model::Box{size * Vec3(0.3, 0.05, 0.05)}});
  model::Compound dumbbell;
  dumbbell.parts.push_back({{{-0.35 * size, 0, 0}, Quat::Identity()}, ball});
  dumbbell.parts.push_back({{{0.35 * size, 0, 0}, Quat::Identity()}, ball});
  dumbbell.parts.push_back({Pose{}, bar});
  return {dumbbell};
}

model::Shape block_of(double size)
{
  const auto block = std::make_shared<const mesh::TriangleMesh>(
      shapes::generate(shapes::BoxDesc{.size = size * Vec3(0.7, 0.5, 0.3)}));
  const distance::MeshDistance exact(*block, distance::SignMethod::pseudonormal);
  return {model::Mesh{block, std::make_shared<distance::SignedDistanceField>(
                                 exact, distance::DistanceFieldDesc{.resolution = 24})}};
}

/// Within a sphere of 0.62 of the size.
model::Shape shape_of(std::size_t kind, double size)
{
  switch (kind) {
    case 0:
      return {model::Sphere{0.5 * size}};
    case 1:
      return {model::Box{size * Vec3(0.5, 0.3, 0.2)}};
    case 2:
      return {model::Capsule{0.15 * size, 0.35 * size}};
    case 3:
      return {model::Cylinder{0.2 * size, 0.5 * size}};
    case 4:
      return hull_of(size);
    case 5:
      return {model::Cylinder{0.5 * size, 0.03 * size}};
    case 6:
      return dumbbell_of(size);
    case 7:
      return {model::Box{size * Vec3(0.5, 0.02, 0.02)}};
    default:
      return block_of(size);
  }
}

/// Across z, of n x n cells about the origin, its front towards +z.
mesh::TriangleMesh bumps(int n, double cell, double height, base::Random& random)
{
  mesh::TriangleMesh mesh;
  for (int y = 0; y <= n; ++y) {
    for (int x = 0; x <= n; ++x)
      mesh.vertices.push_back({(x - n / 2) * cell + 0.2 * cell * random.uniform(-1, 1),
                               (y - n / 2) * cell + 0.2 * cell * random.uniform(-1, 1),
                               height * random.uniform(-0.5, 0.5)});
  }
  for (int y = 0; y < n; ++y) {
    for (int x = 0; x < n; ++x) {
      const int a = y * (n + 1) + x;
      const int b = a + 1;
      const int c = a + n + 1;
      const int d = c + 1;
      if (random.chance(0.5)) {
        mesh.triangles.push_back({a, b, d});
        mesh.triangles.push_back({a, d, c});
      } else {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({b, d, c});
      }
    }
  }
  return mesh;
}

struct Thrown {
  std::unique_ptr<World> world;
  std::shared_ptr<const mesh::TriangleMesh> surface;
  model::BodyId wall = {};
  model::BodyId body = {};
  double h = 0;
  double size = 0;   ///< of the body [m]
  double width = 0;  ///< of the mesh that counts [m]
  double height = 0;
  std::ostringstream text;
};

Thrown throw_at_bumps(const Way& way, bool driven, bool by_z_list, base::Random& random)
{
  Thrown thrown;
  WorldDesc desc = testing::desc_without_sleep();
  std::tie(desc.stepper, desc.time_of_impact) = way;
  if (by_z_list) desc.interference = collision::Interference::zlist;
  desc.gravity.setZero();
  thrown.world = std::make_unique<World>(desc);
  World& world = *thrown.world;
  const double restitution = random.chance(0.5) ? 0 : random.uniform();
  world.set_surface(model::kDefaultSurface, {restitution, random.chance(0.3) ? 0 : random.uniform(), 0, 0});
  thrown.h = 1 / spread(random, 30, 1000);
  const double size = thrown.size = spread(random, 0.005, 0.5);
  const double speed = spread(random, 1, 1000);
  const std::size_t kind = random.index(kNames.size());
  const double cell = size * spread(random, 0.2, 5);
  const double height = thrown.height = cell * spread(random, 0.1, 1.5);
  const int n = 2 * static_cast<int>(std::clamp((8 * speed * thrown.h + 4 * size) / cell, 3.0, 20.0));
  thrown.width = (n / 2 - 1) * cell;
  thrown.surface = std::make_shared<const mesh::TriangleMesh>(bumps(n, cell, height, random));
  const Pose X_wall{Vec3::Zero(), any_rotation(random)};
  const double angle = random.chance(0.5) ? 0 : random.uniform(0, 1.2);
  const double turned = random.uniform(0, 6.28);
  const double share = driven ? random.uniform() : 0.0;
  BodyDesc wall;
  wall.shape = world.add_shape({model::Mesh{thrown.surface, nullptr}});
  wall.X_ws = X_wall;
  wall.motion = driven ? model::Motion::kinematic : model::Motion::fixed;
  wall.velocity = X_wall.direction({0, 0, share * speed * std::cos(angle)});
  if (driven && random.chance(0.3))
    wall.angular_velocity = random.uniform(0, 0.3) / (n * thrown.h) * any_direction(random);
  thrown.wall = world.add_body(wall);

  // At the vertex in the middle, or at the middle of an edge there.
  const auto middle = static_cast<std::size_t>((n / 2) * (n + 1) + n / 2);
  const std::vector<Vec3>& vertices = thrown.surface->vertices;
  const Vec3 aim =
      random.chance(0.5) ? vertices[middle] : Vec3(0.5 * (vertices[middle] + vertices[middle + 1]));
  const Vec3 along = std::sin(angle) * Vec3(std::cos(turned), std::sin(turned), 0);
  const Vec3 way_in = along - std::cos(angle) * Vec3::UnitZ();
  const double distance = (0.62 * size + height) / std::cos(angle) + random.uniform() * thrown.h * speed;
  BodyDesc body;
  body.shape = world.add_shape(shape_of(kind, size));
  body.mass = 1;
  body.X_ws = {X_wall.point(aim - distance * way_in), any_rotation(random)};
  body.velocity = X_wall.direction(speed * (along - (1 - share) * std::cos(angle) * Vec3::UnitZ()));
  const double tip = random.chance(0.5) ? 0 : spread(random, 1, 1000);
  body.angular_velocity = 2 * tip / size * any_direction(random);
  thrown.body = world.add_body(body);
  thrown.text << kNames[kind] << " of " << size << " m at " << speed << " m/s, tips " << tip << ", h 1/"
              << 1 / thrown.h << ", restitution " << restitution << ", cells " << cell << ", height "
              << height << ", angle " << angle;
  return thrown;
}

/// How far the centre of the body is behind the mesh; negative: in front of it, or beside it [m].
double behind(const Thrown& thrown, const mesh::Bvh& surface)
{
  const Vec3 p =
      thrown.world->shape_pose(thrown.wall).point_to_local(thrown.world->shape_pose(thrown.body).position);
  if (!p.allFinite()) return std::numeric_limits<double>::infinity();
  if (p.head<2>().cwiseAbs().maxCoeff() + thrown.size > thrown.width) return -1;
  const double above = 1 + 10 * thrown.height;
  const mesh::RayHit hit =
      surface.first_hit({{p.x(), p.y(), above}, -Vec3::UnitZ(), std::numeric_limits<double>::infinity()});
  return hit.found() ? above - hit.t - p.z() : -1;
}

class BumpyMesh : public ::testing::TestWithParam<Way> {
 protected:
  // Of the cases from `first` on.
  static void expect_in_front(std::uint64_t seed, std::uint64_t first, std::uint64_t cases, bool driven,
                              bool by_z_list)
  {
    constexpr int kSteps = 6;
    for (std::uint64_t i = first; i < first + cases; ++i) {
      base::Random random(seed, i);
      Thrown thrown = throw_at_bumps(GetParam(), driven, by_z_list, random);
      const mesh::Bvh surface(*thrown.surface);
      double farthest = -1;
      for (int k = 0; k < kSteps && farthest <= 0; ++k) {
        thrown.world->step(thrown.h);
        farthest = std::max(farthest, behind(thrown, surface));
      }
      EXPECT_LE(farthest, 0) << "case " << i << ": " << thrown.text.str();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(
    Ways, BumpyMesh,
    ::testing::Combine(::testing::Values(StepperKind::constraint, StepperKind::impulse, StepperKind::penalty,
                                         StepperKind::flexible),
                       ::testing::Values(TimeOfImpactMethod::continuous, TimeOfImpactMethod::bisection,
                                         TimeOfImpactMethod::conservative, TimeOfImpactMethod::timewarp)),
    way_name);

TEST_P(BumpyMesh, IsNotPassed)
{
  expect_in_front(number_in("THRUM_BUMPS_SEED", 16), 0, number_in("THRUM_BUMPS_CASES", 12), false, false);
}

// With bisection 8 of 1,200 such cases passed with the penalty stepper and 4 with the flexible one, all of
// them discs: a vertex that had come within 0.1 um of the flat side near its rim was no contact.
TEST_P(BumpyMesh, IsNotPassedByDiscsThatPassedOnce)
{
  for (const std::uint64_t number : {89, 172, 215, 594, 1017, 1101, 1116, 1146, 1163})
    expect_in_front(77001, number, 1, false, false);
}

TEST_P(BumpyMesh, IsNotPassedWhereItIsDriven)
{
  expect_in_front(number_in("THRUM_BUMPS_SEED", 16), 0, number_in("THRUM_BUMPS_CASES", 6), true, true);
}

}  // namespace
}  // namespace thrum::sim
