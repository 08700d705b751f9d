// SPDX-License-Identifier: MIT
// A mesh is what its facets are: a wheel of N vertices rolls as a polygon, which loses speed at every vertex.
// Facets in one plane are that plane.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "tests/sim/world_fixture.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kMajor = 0.4;
constexpr double kMinor = 0.1;
constexpr double kSlope = 10 * std::numbers::pi / 180;
constexpr double kTime = 3;
constexpr double kSquareGyration =
    kMajor * kMajor + 0.75 * kMinor * kMinor;  ///< of a torus about its axis [m^2]

// About the vertex that it stands on, a polygon tips over with w' = g R sin(angle) / (i^2 + R^2). When the
// next vertex lands, without slip and restitution, angular momentum about it is kept: w falls by the factor
// (i^2 + R^2 cos(2 pi / N)) / (i^2 + R^2).
double way_of_polygon(int vertices)
{
  const double radius = kMajor + kMinor;
  const double turn = 2 * std::numbers::pi / vertices;
  const double square = kSquareGyration + radius * radius;
  constexpr double dt = 1e-5;
  double angle = 0;
  double w = 0;
  double way = 0;
  for (double t = 0; t < kTime; t += dt) {
    w += dt * 9.81 * radius * std::sin(angle + kSlope) / square;
    angle += dt * w;
    if (angle < turn / 2) continue;
    angle -= turn;
    w *= (kSquareGyration + radius * radius * std::cos(turn)) / square;
    way += 2 * radius * std::sin(turn / 2);
  }
  return way + radius * std::sin(angle);
}

double way_of_mesh(int vertices, StepperKind stepper, double h)
{
  shapes::TorusDesc torus;
  torus.major_radius = kMajor;
  torus.minor_radius = kMinor;
  torus.major_segments = vertices;
  torus.minor_segments = 24;
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.8, 0, 0});
  const Quat slope(Eigen::AngleAxisd(kSlope, Vec3::UnitY()));
  add_plane(world, slope);
  const Vec3 start = slope * Vec3(0, 0, kMajor + kMinor);
  const auto wheel =
      add(world, {model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}}, start,
          1, slope * Quat(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX())));
  run(world, kTime, h);
  return (world.body(wheel).X_wb.position - start).dot(slope * Vec3::UnitX());
}

TEST(RollingMesh, ATorusMeshRollsAsAPolygon)
{
  // A smooth torus would come 4.59 m far, the polygon of 48 vertices 4.15 m.
  const double smooth =
      0.5 * 9.81 * std::sin(kSlope) / (1 + kSquareGyration / std::pow(kMajor + kMinor, 2)) * kTime * kTime;
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333}) {
      SCOPED_TRACE(::testing::Message() << (stepper == StepperKind::constraint ? "constraint" : "impulse")
                                        << ", 1/" << std::lround(1 / h) << " s");
      // A step in which half a facet passes by sees only some of the vertices: 3.3 cm at 2.8 m/s.
      const double expected = way_of_polygon(48);
      EXPECT_NEAR(way_of_mesh(48, stepper, h), expected, (0.01 + 1.5 * h) * expected);
    }
    EXPECT_NEAR(way_of_mesh(192, stepper, 1.0 / 333), way_of_polygon(192), 0.01 * smooth);
  }
  EXPECT_NEAR(way_of_polygon(3000), smooth, 0.005 * smooth);
}

// A floor of 20 x 20 m whose top is cut into squares of 0.38 m and those into triangles.
mesh::TriangleMesh cut_floor(bool closed)
{
  constexpr Index kCells = 53;
  constexpr double kSize = 20;
  mesh::TriangleMesh mesh;
  const auto add_layer = [&](double z) {
    for (Index j = 0; j <= kCells; ++j) {
      for (Index i = 0; i <= kCells; ++i)
        mesh.vertices.push_back({kSize * (i / double{kCells} - 0.5), kSize * (j / double{kCells} - 0.5), z});
    }
  };
  const auto number = [&](Index i, Index j) {
    return j * (kCells + 1) + i;
  };
  const auto add_quad = [&](Index a, Index b, Index c, Index d) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
  };
  add_layer(0);
  for (Index j = 0; j < kCells; ++j) {
    for (Index i = 0; i < kCells; ++i)
      add_quad(number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1));
  }
  if (!closed) return mesh;
  const Index below = number(0, kCells + 1);
  add_layer(-1);
  for (Index j = 0; j < kCells; ++j) {
    for (Index i = 0; i < kCells; ++i)
      add_quad(below + number(i, j), below + number(i, j + 1), below + number(i + 1, j + 1),
               below + number(i + 1, j));
    add_quad(number(j, 0), below + number(j, 0), below + number(j + 1, 0), number(j + 1, 0));
    add_quad(number(j + 1, kCells), below + number(j + 1, kCells), below + number(j, kCells),
             number(j, kCells));
    add_quad(number(kCells, j), below + number(kCells, j), below + number(kCells, j + 1),
             number(kCells, j + 1));
    add_quad(number(0, j + 1), below + number(0, j + 1), below + number(0, j), number(0, j));
  }
  return mesh;
}

struct Thrown {
  const char* name;
  model::Shape shape;
  bool rolls;
  Vec3 way = Vec3::Zero();  ///< along the direction of the throw, aside and up [m]
  double hop = 0;           ///< largest change of height [m]
};

std::vector<Thrown> bodies_to_throw()
{
  const auto box = std::make_shared<mesh::TriangleMesh>(shapes::generate(shapes::BoxDesc{{0.6, 0.4, 0.5}}));
  return {{"sphere", {model::Sphere{0.25}}, true},
          {"capsule", {model::Capsule{0.25, 0.4}}, true},
          {"cylinder", {model::Cylinder{0.25, 0.4}}, true},
          {"box", {model::Box{{0.3, 0.2, 0.25}}}, false},
          {"mesh of a box", {model::Mesh{box, nullptr}}, false}};
}

// All of them side by side over a floor at 3 m/s for 1 s, in a direction that meets edges and corners at all
// angles.
std::vector<Thrown> throw_over(const model::Shape& ground, StepperKind stepper, double h)
{
  constexpr double kRadius = 0.25;
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
  BodyDesc floor;
  floor.shape = world.add_shape(ground);
  floor.motion = model::Motion::fixed;
  world.add_body(floor);
  const Quat turn(Eigen::AngleAxisd(0.3, Vec3::UnitZ()));
  const Quat lying(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
  const Vec3 velocity = turn * Vec3(3, 0, 0);
  std::vector<Thrown> bodies = bodies_to_throw();
  std::vector<Vec3> start;
  for (const Thrown& body : bodies) {
    start.push_back({-4.013, -5.027 + 2 * static_cast<double>(start.size()), kRadius});
    const auto id = add(world, body.shape, start.back(), 1, body.rolls ? turn * lying : turn);
    world.set_velocity(id, velocity,
                       body.rolls ? Vec3(Vec3::UnitZ().cross(velocity) / kRadius) : Vec3(Vec3::Zero()));
  }
  for (int i = 0; i < std::lround(1 / h); ++i) {
    world.step(h);
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const Vec3 moved = world.state().bodies[1 + k].X_wb.position - start[k];
      bodies[k].hop = std::max(bodies[k].hop, std::abs(moved.z()));
      bodies[k].way = turn.conjugate() * moved;
    }
  }
  return bodies;
}

TEST(RollingMesh, NothingTripsOverEdgesBetweenTrianglesOfOnePlane)
{
  const auto open = std::make_shared<mesh::TriangleMesh>(cut_floor(false));
  const auto closed = std::make_shared<mesh::TriangleMesh>(cut_floor(true));
  const auto field = std::make_shared<distance::SignedDistanceField>(
      distance::MeshDistance(*closed), distance::DistanceFieldDesc{.resolution = 100});
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333}) {
      const std::vector<Thrown> on_plane = throw_over({model::Plane{}}, stepper, h);
      for (const bool is_closed : {false, true}) {
        const std::vector<Thrown> on_mesh =
            throw_over({is_closed ? model::Mesh{closed, field} : model::Mesh{open, nullptr}}, stepper, h);
        for (std::size_t k = 0; k < on_mesh.size(); ++k) {
          const Thrown& body = on_mesh[k];
          SCOPED_TRACE(::testing::Message()
                       << body.name << (is_closed ? " on a closed mesh, " : " on an open mesh, ")
                       << (stepper == StepperKind::constraint ? "constraint" : "impulse") << ", 1/"
                       << std::lround(1 / h) << " s");
          // What rolls keeps its 3 m/s; what slides is stopped by friction as on a plane.
          const double expected = body.rolls ? 3.0 : on_plane[k].way.x();
          EXPECT_NEAR(body.way.x(), expected, (body.rolls ? 5e-4 : 0.02) * expected);
          EXPECT_NEAR(body.way.y(), 0, 0.003);
          EXPECT_LT(body.hop, body.rolls ? 1e-5 : 5e-4);
        }
      }
    }
  }
}

// A dome of facets that bend by a degree from one to the next: a ball that rolls up with just enough speed to
// reach 0.3 m keeps the energy that it has, m g z + 7/10 m v^2.
TEST(RollingMesh, ABallKeepsItsEnergyOnASmoothHill)
{
  constexpr Index kCells = 120;
  constexpr double kSize = 12;
  mesh::TriangleMesh hill;
  for (Index j = 0; j <= kCells; ++j) {
    for (Index i = 0; i <= kCells; ++i) {
      const double x = kSize * (i / double{kCells} - 0.5);
      const double y = kSize * (j / double{kCells} - 0.5);
      hill.vertices.push_back({x, y, 0.4 * std::exp(-0.5 * (x * x + y * y))});
      if (i == kCells || j == kCells) continue;
      const Index a = j * (kCells + 1) + i;
      hill.triangles.push_back({a, a + 1, a + kCells + 2});
      hill.triangles.push_back({a, a + kCells + 2, a + kCells + 1});
    }
  }
  for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
    for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333}) {
      WorldDesc desc = desc_without_sleep();
      desc.stepper = stepper;
      World world(desc);
      world.set_surface(model::kDefaultSurface, {0, 1, 0, 0});
      BodyDesc ground;
      ground.shape = world.add_shape({model::Mesh{std::make_shared<mesh::TriangleMesh>(hill), nullptr}});
      ground.motion = model::Motion::fixed;
      world.add_body(ground);
      const auto ball = add(world, {model::Sphere{0.25}}, {-4.013, 0.31, 0.25}, 1);
      world.set_velocity(ball, {3, 0, 0}, {0, 3 / 0.25, 0});
      const double first = world.kinetic_energy() + world.potential_energy();
      run(world, 2.6, h);
      SCOPED_TRACE(::testing::Message() << (stepper == StepperKind::constraint ? "constraint" : "impulse")
                                        << ", 1/" << std::lround(1 / h) << " s");
      // It has passed the top, 0.4 m high, and is on the plain again.
      EXPECT_GT(world.body(ball).X_wb.position.x(), 2);
      // Each facet that bends in takes a little, and a step of 12 cm sees only some of them.
      EXPECT_NEAR((world.kinetic_energy() + world.potential_energy()) / first, 1, 0.01 + 0.5 * h);
    }
  }
}

}  // namespace
}  // namespace thrum::sim
