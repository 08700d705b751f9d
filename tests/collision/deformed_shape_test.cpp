// SPDX-License-Identifier: MIT
// Contacts of surfaces that bend: against closed forms, and against surfaces that were made bent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <tuple>

#include "tests/flexible/beam_model.h"
#include "thrum/collision/boyse.h"
#include "thrum/collision/deformed_shape.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/collision/triangle_surface.h"

namespace thrum::collision {
namespace {

const Vec3 kSize(0.3, 0.03, 0.002);
constexpr int kCells = 60;

/// The straight bar along x and its shape.
struct Bar {
  mesh::TriangleMesh straight = flexible::bar_surface(kSize, kCells);
  model::Shape box{model::Box{0.5 * kSize}};
  PreparedShape prepared = prepare(box);
};

/// Its middle line as a circle of radius R about (0, 0, R): the middle stays, both ends rise.
Vec3 onto_circle(const Vec3& p, double R)
{
  const double angle = p.x() / R;
  return {(R - p.z()) * std::sin(angle), p.y(), R - (R - p.z()) * std::cos(angle)};
}

std::vector<Vec3> bent(const mesh::TriangleMesh& straight, double R)
{
  std::vector<Vec3> vertices;
  for (const Vec3& p : straight.vertices) vertices.push_back(onto_circle(p, R));
  return vertices;
}

std::vector<model::ContactPatch> collide(const PreparedShape& a, const Pose& X_wa, const PreparedShape& b,
                                         const Pose& X_wb, double margin)
{
  std::vector<model::ContactPatch> patches;
  const PairInput pair{
      .a = &a, .b = &b, .X_wa = X_wa, .X_wb = X_wb, .margin = margin, .table = &default_pair_table()};
  default_pair_table().collide(pair, patches);
  return patches;
}

std::vector<model::ContactPoint> points_of(const std::vector<model::ContactPatch>& patches)
{
  std::vector<model::ContactPoint> points;
  for (const model::ContactPatch& patch : patches)
    points.insert(points.end(), patch.active().begin(), patch.active().end());
  return points;
}

double deepest(const std::vector<model::ContactPatch>& patches)
{
  double depth = -1;
  for (const model::ContactPoint& point : points_of(patches)) depth = std::max(depth, point.depth);
  return depth;
}

// The far face of a thin bar is within the margin as well, but what faces away does not touch.
TEST(DeformedShape, TheFarFaceOfAThinBarHasNoContacts)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape plane{model::Plane{}};
  const PreparedShape ground = prepare(plane);
  const model::Shape block{model::Box{{0.5, 0.5, 0.1}}};
  const PreparedShape table = prepare(block);
  for (const double gap : {-1e-4, 1e-4}) {
    for (const PreparedShape* other : {&ground, &table}) {
      Pose X;
      X.position.z() = 0.5 * kSize.z() + gap;
      Pose X_other;
      X_other.position.z() = other == &table ? -0.1 : 0;
      const auto points = points_of(collide(*other, X_other, shape.prepared(), X, 2 * kSize.z()));
      // Both long sides and both ends: two rows of corners.
      EXPECT_GE(points.size(), 2 * kCells) << gap;
      for (const model::ContactPoint& point : points) EXPECT_NEAR(point.depth, -gap, 1e-9) << gap;
    }
  }
}

// A bar that is bent up at both ends touches the ground in its middle, one that is bent down at its ends.
TEST(DeformedShape, ABentBarTouchesThePlaneWhereItIsLowest)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape plane{model::Plane{}};
  const PreparedShape ground = prepare(plane);
  for (const double R : {0.2, 0.5, 2.0, -0.2, -0.5, -2.0}) {
    shape.deform(bent(bar.straight, R));
    const double low = R > 0 ? -kSize.z() / 2 : onto_circle({kSize.x() / 2, 0, -kSize.z() / 2}, R).z();
    Pose X;
    const double depth = 2e-4;
    X.position.z() = -low - depth;
    const auto patches = collide(shape.prepared(), X, ground, Pose{}, 1e-4);
    ASSERT_FALSE(patches.empty()) << R;
    EXPECT_NEAR(deepest(patches), depth, 1e-12) << R;
    const double half_way = kSize.x() / 4;
    for (const model::ContactPoint& point : points_of(patches)) {
      const bool in_middle = std::abs(point.position.x()) < half_way;
      EXPECT_EQ(in_middle, R > 0) << R << " " << point.position.x();
      EXPECT_LT(point.position.z(), 1e-4);
    }
  }
}

// A ball on the bent bar: the distance to a circle, within the sagitta of a facet l^2 / 8 R.
TEST(DeformedShape, ABallMeetsTheBentBarAtTheDistanceOfACircle)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape sphere{model::Sphere{0.01}};
  const PreparedShape ball = prepare(sphere);
  const double R = 0.15;
  shape.deform(bent(bar.straight, R));
  const double facet = kSize.x() / kCells;
  const double sagitta = facet * facet / (8 * R);
  for (const double angle : {-0.8, -0.31, 0.0, 0.13, 0.77}) {
    for (const double gap : {-3e-4, 4e-4}) {
      // Inside the circle, above the bar.
      const double radius = R - kSize.z() / 2 - 0.01 - gap;
      Pose X;
      X.position = {radius * std::sin(angle), 0.003, R - radius * std::cos(angle)};
      const auto patches = collide(shape.prepared(), Pose{}, ball, X, 1e-3);
      ASSERT_FALSE(patches.empty()) << angle;
      EXPECT_NEAR(-deepest(patches), gap, sagitta) << angle;
    }
  }
}

// Bending a surface again and again ends where making it bent begins: same points, same depths.
TEST(DeformedShape, ABentSurfaceIsTheSameAsOneMadeBent)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape box{model::Box{{0.05, 0.04, 0.03}}};
  const PreparedShape block = prepare(box);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  int touching = 0;
  for (int i = 0; i < 200; ++i) {
    const double R = 0.12 / unit(random);
    const std::vector<Vec3> vertices = bent(bar.straight, R);
    mesh::TriangleMesh made = bar.straight;
    made.vertices = vertices;
    shape.deform(vertices);
    const DeformedShape fresh(made, bar.prepared);
    // A block near a random place of the bar.
    Pose X;
    X.rotation = Quat(Eigen::AngleAxisd(unit(random) * std::numbers::pi, Vec3::UnitY())) *
                 Quat(Eigen::AngleAxisd(unit(random) * std::numbers::pi, Vec3::UnitX()));
    X.position =
        onto_circle({0.15 * unit(random), 0, 0}, R) + 0.04 * Vec3(unit(random), unit(random), unit(random));
    const auto key = [](const model::ContactPoint& a, const model::ContactPoint& b) {
      return std::tie(a.position.x(), a.position.y(), a.depth) <
             std::tie(b.position.x(), b.position.y(), b.depth);
    };
    auto found = points_of(collide(shape.prepared(), Pose{}, block, X, 1e-3));
    auto expected = points_of(collide(fresh.prepared(), Pose{}, block, X, 1e-3));
    ASSERT_EQ(found.size(), expected.size()) << i;
    std::sort(found.begin(), found.end(), key);
    std::sort(expected.begin(), expected.end(), key);
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_LT((found[k].position - expected[k].position).norm(), 1e-12);
      EXPECT_NEAR(found[k].depth, expected[k].depth, 1e-12);
    }
    touching += found.empty() ? 0 : 1;
  }
  EXPECT_GT(touching, 100);
}

// When a falling bar meets one that bends more and more: each time as if it had been made bent.
TEST(DeformedShape, ImpactsByZListAreThoseOfTheBentSurface)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  model::Shape other{model::Mesh{std::make_shared<const mesh::TriangleMesh>(bar.straight), nullptr}};
  const PreparedShape falling = prepare(other);
  for (const double R : {2.0, 0.5, 0.2, -0.3, 1.0}) {
    mesh::TriangleMesh made = bar.straight;
    made.vertices = bent(bar.straight, R);
    shape.deform(made.vertices);
    const DeformedShape fresh(made, bar.prepared);
    // Above the middle, turned across: it meets the upper face there.
    ShapeMotion motion;
    motion.X_ws.position = {0, 0, 0.1};
    motion.X_ws.rotation = Quat(Eigen::AngleAxisd(1.1, Vec3::UnitZ()));
    motion.centre = motion.X_ws.position;
    motion.move = {0, 0, -0.2};
    const auto when = [&](const PreparedShape& bends) {
      return time_of_impact(bends, {}, falling, motion, {.touch_gap = 1e-6},
                            pair_table_with(Interference::zlist));
    };
    const TimeOfImpact impact = when(shape.prepared());
    const TimeOfImpact expected = when(fresh.prepared());
    ASSERT_TRUE(impact.found()) << R;
    EXPECT_NEAR(impact.fraction, expected.fraction, 1e-12) << R;
    const auto now = static_cast<const TriangleSurface&>(*shape.prepared().accelerator).boyse();
    for (std::size_t v = 0; v < made.vertices.size(); ++v)
      ASSERT_EQ(now->mesh().vertices[v], made.vertices[v]) << R;
  }
}

// A flat bar between two blocks is held all along, not at the outermost points alone.
TEST(DeformedShape, AFlatBarTouchesAllAlong)
{
  const Bar bar;
  const DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape box{model::Box{{0.1, 0.1, 0.02}}};
  const PreparedShape block = prepare(box);
  Pose X;
  X.position = {0, 0, -0.02 - kSize.z() / 2};
  const auto points = points_of(collide(shape.prepared(), Pose{}, block, X, 1e-5));
  // No gap between neighbours along x is longer than a cell.
  std::vector<double> places;
  for (const model::ContactPoint& point : points) places.push_back(point.position.x());
  std::sort(places.begin(), places.end());
  ASSERT_GT(places.size(), 40U);
  EXPECT_NEAR(places.front(), -0.1, 0.0051);
  EXPECT_NEAR(places.back(), 0.1, 0.0051);
  for (std::size_t i = 1; i < places.size(); ++i)
    EXPECT_LE(places[i] - places[i - 1], kSize.x() / kCells + 1e-9);
}

// A bar that bends down beyond the edge of a table, or lies just above it, is held across its surface: no
// normal leans over by more than the bar does, wherever between its corners the edge is.
TEST(DeformedShape, NormalsAtTheEdgeOfATableAreThoseOfTheBar)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  const model::Shape table{model::Box{Vec3(0.1, 0.1, 0.02)}};
  const PreparedShape prepared = prepare(table);
  constexpr double kLean = 0.025;  // of the bar over 2 cm, with that of its triangles
  int contacts = 0;
  for (const double R : {1.0, -1.0}) {
    shape.deform(bent(bar.straight, R));
    for (double edge = -0.02; edge < 0.02; edge += 0.0007) {
      for (const double gap : {-5e-6, 2e-5, 6e-5}) {
        const double z = R - (R + 0.5 * kSize.z()) * std::cos(edge / R) - gap - 0.02;
        const Pose X_table{Vec3(edge - 0.1, 0, z), Quat::Identity()};
        for (const auto& patch :
             collide(prepared, X_table, shape.prepared(), Pose{Vec3::Zero(), Quat::Identity()}, 2e-4)) {
          for (const model::ContactPoint& point : patch.active()) {
            if (point.position.x() < edge - 0.001) continue;
            ++contacts;
            EXPECT_LT(std::abs(patch.normal.x()), kLean) << R << " " << edge << " " << gap;
            EXPECT_LT(std::abs(patch.normal.y()), kLean) << R << " " << edge << " " << gap;
          }
        }
      }
    }
  }
  EXPECT_GT(contacts, 100);
}

TEST(DeformedShape, PointsAreFoundOnTheSurfaceAtRest)
{
  const Bar bar;
  DeformedShape shape(bar.straight, bar.prepared);
  shape.deform(bent(bar.straight, 0.1));
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 100; ++i) {
    const Vec3 rest(0.149 * unit(random), 0.014 * unit(random), kSize.z() / 2);
    EXPECT_LT((shape.at_rest(onto_circle(rest, 0.1)) - rest).norm(), 2e-4);
  }
}

}  // namespace
}  // namespace thrum::collision
