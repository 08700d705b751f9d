// SPDX-License-Identifier: MIT
#include "thrum/mesh/bvh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"

namespace thrum::mesh {
namespace {

using support::box_mesh;
using support::random_point;
using support::random_triangles;
using support::sphere_mesh;
using support::torus_mesh;

constexpr double kRounding = 1e-13;

// Triangles as close as the closest, within the tie rule: the first is the expected result.
struct LinearSearch {
  double distance = std::numeric_limits<double>::infinity();
  std::vector<Index> ties;
};

LinearSearch linear_search(const TriangleMesh& mesh, const Vec3& p)
{
  std::vector<double> distances;
  LinearSearch result;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    distances.push_back(
        std::sqrt(closest_point_on_triangle(p, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2))
                      .squared_distance));
    result.distance = std::min(result.distance, distances.back());
  }
  for (std::size_t t = 0; t < distances.size(); ++t) {
    if (distances[t] <= result.distance + kRounding) result.ties.push_back(static_cast<Index>(t));
  }
  return result;
}

void expect_consistent(const Bvh& bvh, const Vec3& p, const ClosestPoint& s)
{
  const TriangleMesh& mesh = bvh.mesh();
  ASSERT_TRUE(s.found());
  const auto t = static_cast<std::size_t>(s.triangle);
  const Vec3 from_weights = s.barycentric[0] * mesh.corner(t, 0) + s.barycentric[1] * mesh.corner(t, 1) +
                            s.barycentric[2] * mesh.corner(t, 2);
  EXPECT_NEAR(s.barycentric.sum(), 1, kRounding);
  EXPECT_GE(s.barycentric.minCoeff(), 0);
  EXPECT_LT((from_weights - s.point).norm(), kRounding);
  EXPECT_NEAR((s.point - p).norm(), s.distance, kRounding);
  const auto zeros = (s.barycentric.array() == 0).count();
  switch (s.feature) {
    case Feature::vertex:
      EXPECT_EQ(zeros, 2);
      EXPECT_EQ(mesh.vertices[static_cast<std::size_t>(s.feature_id)], s.point);
      break;
    case Feature::edge: {
      EXPECT_EQ(s.feature_id / 3, s.triangle);
      EXPECT_EQ(s.barycentric[(s.feature_id % 3 + 2) % 3], 0);
      break;
    }
    case Feature::face:
      EXPECT_EQ(s.feature_id, s.triangle);
      break;
  }
}

RC_GTEST_PROP(Bvh, ClosestPointEqualsLinearSearch, (unsigned seed))
{
  std::mt19937 generator(seed);
  const int count = *rc::gen::inRange(1, 300);
  const Bvh bvh(random_triangles(generator, count, *rc::gen::element(0.02, 0.3, 2.0)));
  Index hint = -1;
  for (int i = 0; i < 20; ++i) {
    // Near, far, and exactly on corners and edges, where several triangles tie.
    Vec3 p = random_point(generator, i % 4 == 0 ? 50.0 : 1.5);
    const auto t = static_cast<std::size_t>(generator() % bvh.mesh().triangles.size());
    if (i % 4 == 1) p = bvh.mesh().corner(t, 0);
    if (i % 4 == 2) p = 0.5 * (bvh.mesh().corner(t, 1) + bvh.mesh().corner(t, 2));
    const LinearSearch expected = linear_search(bvh.mesh(), p);
    const ClosestPoint s = bvh.closest_point(p);
    expect_consistent(bvh, p, s);
    RC_ASSERT(std::abs(s.distance - expected.distance) < kRounding);
    RC_ASSERT(std::count(expected.ties.begin(), expected.ties.end(), s.triangle) == 1);
    // A hint changes nothing; a limit only whether a point is found.
    const ClosestPoint hinted = bvh.closest_point(p, 2 * s.distance, hint);
    RC_ASSERT(hinted.triangle == s.triangle && hinted.point == s.point);
    if (s.distance > kRounding) RC_ASSERT(!bvh.closest_point(p, 0.99 * s.distance, hint).found());
    hint = static_cast<Index>(t);
  }
}

TEST(Bvh, TiesGoToTheLowestTriangleAroundAVertexAndAnEdge)
{
  const Bvh bvh(sphere_mesh(1, 3));
  const TriangleMesh& mesh = bvh.mesh();
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    Index lowest = -1;
    for (std::size_t t = mesh.triangles.size(); t-- > 0;) {
      if (std::count(mesh.triangles[t].begin(), mesh.triangles[t].end(), static_cast<Index>(v)) > 0) {
        lowest = static_cast<Index>(t);
      }
    }
    for (const double factor : {1.0, 1.001, 3.0}) {
      const ClosestPoint s =
          bvh.closest_point(factor * mesh.vertices[v], 10, static_cast<Index>(3 * v % 512));
      EXPECT_EQ(s.feature, Feature::vertex);
      EXPECT_EQ(s.feature_id, static_cast<Index>(v));
      EXPECT_EQ(s.triangle, lowest);
    }
  }
}

TEST(Bvh, SmallFarAndFlatMeshesKeepTheirDigits)
{
  for (const double size : {1e-6, 1.0, 1e7}) {
    TriangleMesh mesh = torus_mesh(size, 0.3 * size, 24, 12);
    const Vec3 offset = Vec3(1e4, -2e4, 3e3) * size;
    for (Vec3& v : mesh.vertices) v += offset;
    const Bvh bvh(mesh);
    std::mt19937 generator(7);
    for (int i = 0; i < 50; ++i) {
      const Vec3 p = offset + random_point(generator, 1.5 * size);
      const LinearSearch expected = linear_search(mesh, p);
      EXPECT_NEAR(bvh.closest_point(p).distance, expected.distance, 1e-11 * size);
    }
  }
}

// The edges bound the distance to a needle from both sides: it is at most theirs, and less by its height at
// most.
RC_GTEST_PROP(Bvh, NeedlesOfEveryThinnessAreFound, (unsigned seed))
{
  std::mt19937 generator(seed);
  constexpr double rounding = 1e-12;
  const std::vector<support::Needle> needles = support::needles(generator, 54);
  for (const support::Needle& needle : needles) {
    const auto& c = needle.corners;
    const Bvh bvh(support::mesh_of({needle}));
    for (int i = 0; i < 12; ++i) {
      // On an edge or beyond its end, and from there up to a length away.
      const double along = std::array{0.5, -0.05, 0.2}[static_cast<std::size_t>(i) % 3];
      const double off = i < 3 ? 0.0 : std::pow(10.0, -i);
      const Vec3 p = c[0] + along * (c[1] - c[0]) + random_point(generator, off);
      double on_edges = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < 3; ++k) {
        const SegmentPair pair = closest_points_of_segments(p, p, c[k], c[(k + 1) % 3]);
        on_edges = std::min(on_edges, std::sqrt(pair.squared_distance));
      }
      const ClosestPoint s = bvh.closest_point(p);
      RC_ASSERT(s.found());
      RC_ASSERT(s.distance <= on_edges + rounding);
      RC_ASSERT(s.distance >= on_edges - needle.height - rounding);
      std::vector<Index> found;
      bvh.triangles_in_sphere(p, on_edges + rounding, found);
      RC_ASSERT(found.size() == 1U);
    }
  }
}

RC_GTEST_PROP(Bvh, FirstHitEqualsTestingEveryTriangle, (unsigned seed))
{
  std::mt19937 generator(seed);
  const Bvh bvh(random_triangles(generator, *rc::gen::inRange(1, 200), *rc::gen::element(0.1, 0.5)));
  const TriangleMesh& mesh = bvh.mesh();
  for (int i = 0; i < 30; ++i) {
    Ray ray{random_point(generator, i % 3 == 0 ? 1000.0 : 2.0), Vec3::Zero()};
    ray.direction = random_point(generator, 1) - ray.origin;
    if (i % 5 == 0) ray.direction = Vec3::Unit(static_cast<int>(generator() % 3));
    const RayHit hit = bvh.first_hit(ray);
    RC_ASSERT(bvh.any_hit(ray) == hit.found());
    double first = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      // Moeller and Trumbore's test, an independent formula.
      const Vec3 ab = mesh.corner(t, 1) - mesh.corner(t, 0), ac = mesh.corner(t, 2) - mesh.corner(t, 0);
      const Vec3 pv = ray.direction.cross(ac), tv = ray.origin - mesh.corner(t, 0), qv = tv.cross(ab);
      const double det = ab.dot(pv);
      if (std::abs(det) < kRounding) continue;
      const double u = tv.dot(pv) / det, v = ray.direction.dot(qv) / det, along = ac.dot(qv) / det;
      if (u >= 0 && v >= 0 && u + v <= 1 && along >= 0) first = std::min(first, along);
    }
    const double scale = 1 + ray.origin.norm() / ray.direction.norm();
    RC_ASSERT(hit.found() == std::isfinite(first));
    if (!hit.found()) continue;
    RC_ASSERT(std::abs(hit.t - first) < 1e-9 * scale);
    const auto t = static_cast<std::size_t>(hit.triangle);
    const Vec3 x = hit.barycentric[0] * mesh.corner(t, 0) + hit.barycentric[1] * mesh.corner(t, 1) +
                   hit.barycentric[2] * mesh.corner(t, 2);
    RC_ASSERT((x - (ray.origin + hit.t * ray.direction)).norm() < 1e-9 * (1 + ray.origin.norm()));
    ray.max_t = 0.999 * hit.t;
    RC_ASSERT(!bvh.first_hit(ray).found());
  }
}

TEST(Bvh, NoRayPassesThroughAnEdgeOrAVertex)
{
  const Bvh bvh(sphere_mesh(1, 3));
  const TriangleMesh& mesh = bvh.mesh();
  std::mt19937 generator(3);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const double s = std::generate_canonical<double, 53>(generator);
      const Vec3 on_edge = mesh.corner(t, k) + s * (mesh.corner(t, (k + 1) % 3) - mesh.corner(t, k));
      const Vec3 inside = random_point(generator, 0.4);
      EXPECT_TRUE(bvh.first_hit({inside, on_edge - inside}).found());
      EXPECT_TRUE(bvh.any_hit({inside, mesh.corner(t, k) - inside}));
    }
  }
}

RC_GTEST_PROP(Bvh, BoxAndSphereQueriesFindExactlyTheTrianglesInside, (unsigned seed))
{
  std::mt19937 generator(seed);
  const Bvh bvh(random_triangles(generator, *rc::gen::inRange(1, 300), 0.2));
  const TriangleMesh& mesh = bvh.mesh();
  std::vector<Index> found;
  for (int i = 0; i < 10; ++i) {
    const Vec3 centre = random_point(generator, 1.2);
    const double radius = 0.01 + 0.1 * i;
    const Box3 box(centre - Vec3(radius, 0.1, radius), centre + Vec3(0.1, radius, radius));
    std::vector<Index> in_box, in_sphere;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      Box3 own;
      for (int k = 0; k < 3; ++k) own.extend(mesh.corner(t, k));
      if (own.intersects(box)) in_box.push_back(static_cast<Index>(t));
      const TrianglePoint foot =
          closest_point_on_triangle(centre, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2));
      if (foot.squared_distance <= radius * radius) in_sphere.push_back(static_cast<Index>(t));
    }
    bvh.triangles_in_box(box, found);
    RC_ASSERT(found == in_box);
    bvh.triangles_in_sphere(centre, radius, found);
    RC_ASSERT(found == in_sphere);
  }
}

RC_GTEST_PROP(Bvh, PairsEqualTestingEveryPair, (unsigned seed))
{
  std::mt19937 generator(seed);
  const Bvh a(random_triangles(generator, *rc::gen::inRange(1, 60), 0.3));
  const Bvh b(random_triangles(generator, *rc::gen::inRange(1, 60), 0.3));
  const auto pose = [&] {
    const Vec3 axis = random_point(generator, 1).normalized();
    return Pose{random_point(generator, 0.7), Quat(Eigen::AngleAxisd(axis.x() * 3, axis))};
  };
  const Pose X_wa = pose();
  const Pose X_wb = pose();
  const double margin = *rc::gen::element(0.0, 0.01, 0.2);
  std::vector<TrianglePair> found, expected;
  const Pose X_ab = X_wa.inverse() * X_wb;
  for (std::size_t i = 0; i < a.mesh().triangles.size(); ++i) {
    for (std::size_t j = 0; j < b.mesh().triangles.size(); ++j) {
      std::array<Vec3, 3> ta, tb;
      for (int k = 0; k < 3; ++k) {
        ta[static_cast<std::size_t>(k)] = a.mesh().corner(i, k);
        tb[static_cast<std::size_t>(k)] = X_ab.point(b.mesh().corner(j, k));
      }
      if (squared_distance_of_triangles(ta, tb) <= margin * margin) {
        expected.push_back({static_cast<Index>(i), static_cast<Index>(j)});
      }
    }
  }
  Bvh::overlapping_pairs(a, X_wa, b, X_wb, margin, found);
  RC_ASSERT(found == expected);
  int calls = 0;
  const bool completed =
      Bvh::for_each_near_pair(a, X_wa, b, X_wb, margin, [&](Index, Index) { return ++calls < 2; });
  RC_ASSERT(calls <= 2);
  RC_ASSERT(completed == (calls < 2));
}

TEST(TriangleQueries, DistanceOfTrianglesByClosedForms)
{
  const std::array<Vec3, 3> flat = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0)};
  const auto lifted = [&](const Vec3& by) {
    return std::array<Vec3, 3>{flat[0] + by, flat[1] + by, flat[2] + by};
  };
  EXPECT_DOUBLE_EQ(squared_distance_of_triangles(flat, lifted({0, 0, 2})), 4);
  EXPECT_DOUBLE_EQ(squared_distance_of_triangles(flat, lifted({3, 0, 0})), 4);
  EXPECT_DOUBLE_EQ(squared_distance_of_triangles(flat, lifted({0.25, 0.25, 0})), 0);
  // Piercing through the inside, touching no edge.
  EXPECT_EQ(squared_distance_of_triangles(flat, {Vec3(0.3, 0.3, -1), Vec3(0.3, 0.3, 1), Vec3(9, 9, 0)}), 0);
  // Two edges crossing at a height of 0.5.
  EXPECT_NEAR(squared_distance_of_triangles(flat, {Vec3(0.5, -1, 0.5), Vec3(0.5, 1, 0.5), Vec3(0.5, 0, 5)}),
              0.25, 1e-15);
}

TEST(Bvh, RefitGivesTheResultsOfANewHierarchy)
{
  std::mt19937 generator(5);
  TriangleMesh mesh = torus_mesh(1, 0.4, 30, 16);
  Bvh refitted(mesh);
  for (int step = 0; step < 3; ++step) {
    for (Vec3& v : mesh.vertices)
      v = 1.7 * Vec3(v.x() + 0.3 * v.y(), v.y(), v.z() + 0.2 * std::sin(5 * v.x()));
    refitted.refit(mesh.vertices);
    const Bvh fresh(mesh);
    for (int i = 0; i < 100; ++i) {
      const Vec3 p = random_point(generator, 4);
      const ClosestPoint x = refitted.closest_point(p), y = fresh.closest_point(p);
      EXPECT_EQ(x.triangle, y.triangle);
      EXPECT_EQ(x.point, y.point);
      const Ray ray{p, -p};
      EXPECT_EQ(refitted.first_hit(ray).triangle, fresh.first_hit(ray).triangle);
    }
  }
  EXPECT_THROW(refitted.refit(std::vector<Vec3>(3, Vec3::Zero())), Error);
}

TEST(Bvh, DegenerateMeshesWorkOrThrow)
{
  EXPECT_THROW(Bvh(TriangleMesh{}), Error);
  EXPECT_THROW(Bvh(TriangleMesh{{Vec3::Zero()}, {{0, 0, 1}}}), Error);

  const TriangleMesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  const ClosestPoint s = Bvh(one).closest_point({0.25, 0.25, -2});
  EXPECT_EQ(s.feature, Feature::face);
  EXPECT_DOUBLE_EQ(s.distance, 2);

  // All triangles the same: no plane separates them, and the first is returned.
  TriangleMesh many = one;
  many.triangles.resize(1000, many.triangles.front());
  EXPECT_EQ(Bvh(many).closest_point({5, 5, 5}).triangle, 0);

  // A single point, far from the origin.
  const Bvh point(TriangleMesh{{Vec3(7, 8, 9)}, {{0, 0, 0}}});
  EXPECT_DOUBLE_EQ(point.closest_point({7, 8, 0}).distance, 9);
  EXPECT_EQ(point.closest_point({7, 8, 0}).feature, Feature::vertex);
  EXPECT_FALSE(point.first_hit({Vec3(7, 8, 0), Vec3(0, 0, 1)}).found());
}

}  // namespace
}  // namespace thrum::mesh
