// SPDX-License-Identifier: MIT
#include "thrum/collision/shape_cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "thrum/base/error.h"
#include "thrum/collision/queries.h"
#include "thrum/shapes/convex_hull.h"
#include "thrum/shapes/shapes.h"

namespace thrum::collision {
namespace {

struct Made {
  std::shared_ptr<const model::Shape> shape;
  PreparedShape prepared;
};

Made make(const model::Shape& shape)
{
  auto kept = std::make_shared<const model::Shape>(shape);
  PreparedShape prepared = prepare(*kept);
  return {kept, prepared};
}

Pose at(const Vec3& position, const Quat& rotation = Quat::Identity())
{
  return {position, rotation};
}

Made height_field()
{
  model::HeightField field;
  field.columns = field.rows = 5;
  field.spacing = 0.5;
  auto heights = std::make_shared<std::vector<double>>();
  for (int i = 0; i < 25; ++i) heights->push_back(0.3 * std::sin(1.7 * i));
  field.heights = heights;
  return make({field});
}

std::vector<Made> convex_shapes()
{
  const std::vector<Vec3> corners{{0.5, 0, -0.2}, {-0.4, 0.4, -0.2}, {-0.4, -0.5, -0.1},
                                  {0, 0, 0.6},    {0.3, 0.4, 0.1},   {-0.1, 0.2, -0.5}};
  std::vector<Made> made{make({model::Sphere{0.4}}), make({model::Box{{0.3, 0.5, 0.2}}}),
                         make({model::Capsule{0.2, 0.4}}), make({model::Cylinder{0.3, 0.4}}),
                         make({model::ConvexHull{make_polyhedron(shapes::convex_hull(corners))}})};
  model::Compound compound;
  compound.parts.push_back(
      {at({0.4, 0, 0}), std::make_shared<model::Shape>(model::Shape{model::Sphere{0.2}})});
  compound.parts.push_back(
      {at({-0.3, 0.1, 0}), std::make_shared<model::Shape>(model::Shape{model::Box{{0.2, 0.1, 0.3}}})});
  made.push_back(make({compound}));
  return made;
}

std::vector<Made> all_shapes()
{
  std::vector<Made> made = convex_shapes();
  shapes::TorusDesc torus;
  torus.major_segments = 25;
  torus.minor_segments = 10;
  made.push_back(make({model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}}));
  made.push_back(height_field());
  made.push_back(make({model::Plane{}}));
  return made;
}

double tolerance(const Made& a, const Made& b)
{
  return shape_cast_tolerance(a.prepared, b.prepared);
}

TEST(ShapeCast, SphereAgainstSphereFollowsTheQuadratic)
{
  const Made a = make({model::Sphere{0.3}});
  const Made b = make({model::Sphere{0.7}});
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-3, 3);
  int hits = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vec3 from(uniform(random), uniform(random), uniform(random));
    const Vec3 motion = 0.6 * Vec3(uniform(random), uniform(random), uniform(random)) - 1.5 * from;
    if (from.norm() < 1.001) continue;
    // |from + t motion| = 1
    const double p = from.dot(motion) / motion.squaredNorm();
    const double square = p * p - (from.squaredNorm() - 1) / motion.squaredNorm();
    const double t = square >= 0 ? -p - std::sqrt(square) : -1;
    const auto hit = cast_shape(a.prepared, at(from), motion, b.prepared, at(Vec3::Zero()));
    if (std::abs(square) * motion.squaredNorm() < 1e-6 || std::abs(t - 1) < 1e-6) continue;  // grazes
    ASSERT_EQ(hit.has_value(), square >= 0 && t >= 0 && t <= 1) << i;
    if (!hit) continue;
    ++hits;
    const Vec3 centre = from + t * motion;
    const double closing = -centre.normalized().dot(motion);
    EXPECT_NEAR(hit->fraction, t, 2 * tolerance(a, b) / closing + 1e-12);
    EXPECT_NEAR((hit->normal - centre.normalized()).norm(), 0, 1e-2);
    EXPECT_NEAR(hit->position.norm(), 0.7, 1e-6);
  }
  EXPECT_GT(hits, 800);
}

TEST(ShapeCast, SphereAgainstTiltedPlane)
{
  const Made ball = make({model::Sphere{0.25}});
  const Made plane = make({model::Plane{}});
  const Quat tilt(Eigen::AngleAxisd(0.5, Vec3::UnitY()));
  const Vec3 n = tilt * Vec3::UnitZ();
  const Vec3 from(1, 2, 5);
  const Vec3 motion(0.5, -1, -8);
  const auto hit = cast_shape(ball.prepared, at(from), motion, plane.prepared, at({0, 0, 0.5}, tilt));
  ASSERT_TRUE(hit);
  const double t = (n.dot(from - Vec3(0, 0, 0.5)) - 0.25) / -n.dot(motion);
  EXPECT_NEAR(hit->fraction, t, 1e-12);
  EXPECT_NEAR((hit->position - (from + t * motion - 0.25 * n)).norm(), 0, 1e-12);
  EXPECT_NEAR((hit->normal - n).norm(), 0, 1e-12);
}

TEST(ShapeCast, BoxAgainstFaceEdgeAndCornerOfABox)
{
  const Made a = make({model::Box{{0.5, 0.5, 0.5}}});
  const Made b = make({model::Box{{1, 1, 1}}});
  const auto face = cast_shape(a.prepared, at({-4, 0.3, -0.2}), {5, 0.1, 0.1}, b.prepared, at({0, 0, 0}));
  ASSERT_TRUE(face);
  EXPECT_NEAR(face->fraction, 2.5 / 5, 2 * tolerance(a, b) / 5);
  EXPECT_NEAR((face->normal + Vec3::UnitX()).norm(), 0, 1e-6);
  EXPECT_NEAR(face->position.x(), -1, 1e-6);
  // Turned by 45 degrees about z its edge comes first: sqrt(1/2) from its centre.
  const Quat turned(Eigen::AngleAxisd(std::numbers::pi / 4, Vec3::UnitZ()));
  const auto edge = cast_shape(a.prepared, at({-4, 0, 0}, turned), {8, 0, 0}, b.prepared, at({0, 0, 0}));
  ASSERT_TRUE(edge);
  EXPECT_NEAR(edge->fraction, (4 - 1 - std::sqrt(0.5)) / 8, 2 * tolerance(a, b) / 8);
  // On its corner: sqrt(3/4).
  const Quat on_corner = Quat::FromTwoVectors(Vec3(1, 1, 1), Vec3::UnitX());
  const auto corner = cast_shape(a.prepared, at({-4, 0, 0}, on_corner), {8, 0, 0}, b.prepared, at({0, 0, 0}));
  ASSERT_TRUE(corner);
  EXPECT_NEAR(corner->fraction, (4 - 1 - std::sqrt(0.75)) / 8, 2 * tolerance(a, b) / 8);
  EXPECT_FALSE(cast_shape(a.prepared, at({-4, 1.51, 0}), {8, 0, 0}, b.prepared, at({0, 0, 0})));
  EXPECT_TRUE(cast_shape(a.prepared, at({-4, 1.49, 0}), {8, 0, 0}, b.prepared, at({0, 0, 0})));
}

TEST(ShapeCast, WhatTouchesAtTheStartMaySlideAndLiftOff)
{
  for (const Made& a : {make({model::Box{{0.5, 0.5, 0.5}}}), make({model::Cylinder{0.4, 0.5}})})
    for (const Made& floor : {make({model::Plane{}}), make({model::Box{{5, 5, 1}}})}) {
      const Pose X_floor = at({0, 0, floor.prepared.unbounded ? 0.0 : -1.0});
      const auto cast = [&](double height, const Vec3& motion) {
        return cast_shape(a.prepared, at({0, 0, 0.5 + height}), motion, floor.prepared, X_floor);
      };
      EXPECT_FALSE(cast(0, Vec3(2, 1, 0)));
      EXPECT_FALSE(cast(0, Vec3(0, 0, 1)));
      EXPECT_FALSE(cast(0, Vec3(0, 0, 0)));
      const auto pressed = cast(0, Vec3(1, 0, -0.1));
      ASSERT_TRUE(pressed);
      EXPECT_NEAR(pressed->fraction, 0, 1e-5);
      const auto inside = cast(-0.1, Vec3(0, 0, 1));
      ASSERT_TRUE(inside);
      EXPECT_EQ(inside->fraction, 0);
      EXPECT_NEAR((inside->normal - Vec3::UnitZ()).norm(), 0, 1e-6);
    }
}

TEST(ShapeCast, StartsInsideAClosedMesh)
{
  const Made small = make({model::Sphere{0.02}});
  const std::vector<Made> made = all_shapes();
  const Made& torus = made[made.size() - 3];
  ASSERT_EQ(torus.prepared.kind, model::ShapeKind::mesh);
  const auto hit = cast_shape(small.prepared, at({0.5, 0, 0.01}), {0, 0, 5}, torus.prepared, at({0, 0, 0}));
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->fraction, 0);
  EXPECT_GT(hit->normal.z(), 0.5);  // the way out
  // Through its hole it passes.
  EXPECT_FALSE(cast_shape(small.prepared, at({0, 0, -2}), {0, 0, 5}, torus.prepared, at({0, 0, 0})));
}

// Two predictions for every pair of kinds: where it stops it is about to overlap, and before that it never
// overlapped.
TEST(ShapeCast, StopsWhereItTouchesAndNotLater)
{
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&] {
    return Vec3(uniform(random), uniform(random), uniform(random));
  };
  const auto rotation = [&] {
    return Quat(Eigen::AngleAxisd(3 * uniform(random), vector().normalized()));
  };
  const std::vector<Made> movers = convex_shapes();
  const std::vector<Made> others = all_shapes();
  int hits = 0;
  int misses = 0;
  for (int i = 0; i < 6000; ++i) {
    const Made& a = movers[static_cast<std::size_t>(i) % movers.size()];
    const Made& b = others[static_cast<std::size_t>(i / 7) % others.size()];
    const Pose X_a = at(3 * vector(), rotation());
    const Pose X_b = at(vector(), rotation());
    const Vec3 motion = (i % 2 == 0 ? 5 : 2) * vector() - (i % 2 == 0 ? 0 : 1) * X_a.position;
    const auto hit = cast_shape(a.prepared, X_a, motion, b.prepared, X_b);
    const double until = hit ? hit->fraction : 1.0;
    const auto overlaps_at = [&](double t) {
      return overlap(a.prepared, at(X_a.position + t * motion, X_a.rotation), b.prepared, X_b);
    };
    if (hit && hit->fraction == 0) {
      EXPECT_TRUE(overlaps_at(0)) << i;
      continue;
    }
    for (int k = 0; k < 40; ++k) ASSERT_FALSE(overlaps_at(until * k / 40 * (1 - 1e-9))) << i << " at " << k;
    if (!hit) {
      ++misses;
      continue;
    }
    ++hits;
    EXPECT_NEAR(hit->normal.norm(), 1, 1e-9);
    EXPECT_LT(hit->normal.dot(motion), 1e-6);
    // Pushed on against the normal by 10 tolerances it overlaps.
    const Vec3 further = X_a.position + until * motion - 10 * tolerance(a, b) * hit->normal;
    EXPECT_TRUE(overlap(a.prepared, at(further, X_a.rotation), b.prepared, X_b)) << i;
    // And the point of touch is on the other shape.
    const double off = closest_point(b.prepared, X_b, hit->position).distance;
    EXPECT_NEAR(off, 0, 2 * tolerance(a, b)) << i;
  }
  EXPECT_GT(hits, 600);
  EXPECT_GT(misses, 500);
}

// Both move in the frame of the other: casting a against b by m is casting b against a by -m.
TEST(ShapeCast, IsTheSameWithTheRolesSwapped)
{
  std::mt19937 random(12);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&] {
    return Vec3(uniform(random), uniform(random), uniform(random));
  };
  const auto rotation = [&] {
    return Quat(Eigen::AngleAxisd(3 * uniform(random), vector().normalized()));
  };
  const std::vector<Made> made = convex_shapes();
  int hits = 0;
  for (int i = 0; i < 2000; ++i) {
    const Made& a = made[static_cast<std::size_t>(i) % made.size()];
    const Made& b = made[static_cast<std::size_t>(i / 7) % made.size()];
    const Pose X_a = at(3 * vector(), rotation());
    const Pose X_b = at(vector(), rotation());
    const Vec3 motion = 2 * vector() - 1.5 * X_a.position;
    const auto forth = cast_shape(a.prepared, X_a, motion, b.prepared, X_b);
    const auto back = cast_shape(b.prepared, X_b, -motion, a.prepared, X_a);
    if (!forth || !back) continue;
    if (forth->fraction == 0 && back->fraction == 0) continue;
    ++hits;
    // The gap closes at this rate, and either may stop anywhere within the tolerance.
    const double closing = -forth->normal.dot(motion);
    EXPECT_NEAR(closing * forth->fraction, closing * back->fraction, 4 * tolerance(a, b)) << i;
  }
  EXPECT_GT(hits, 500);
}

TEST(ShapeCast, HandlesTinyAgainstHuge)
{
  const Made tiny = make({model::Box{{1e-3, 1e-3, 1e-3}}});
  const Made huge = make({model::Box{{1e3, 1e3, 1e3}}});
  const auto hit =
      cast_shape(tiny.prepared, at({10, -20, 1e3 + 0.501}), {0.1, 0.1, -1}, huge.prepared, at({0, 0, 0}));
  ASSERT_TRUE(hit);
  EXPECT_NEAR(hit->fraction, 0.5, 2 * tolerance(tiny, huge));
}

TEST(ShapeCast, RejectsMovingMeshesWithASentence)
{
  const std::vector<Made> made = all_shapes();
  for (std::size_t i = made.size() - 3; i < made.size(); ++i) {
    EXPECT_THROW(static_cast<void>(
                     cast_shape(made[i].prepared, at({0, 0, 0}), {1, 0, 0}, made[0].prepared, at({5, 0, 0}))),
                 Error);
  }
}

}  // namespace
}  // namespace thrum::collision
