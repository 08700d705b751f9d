// SPDX-License-Identifier: MIT
#include "thrum/distance/local_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/support/test_meshes.h"

namespace thrum::distance {
namespace {

using support::random_point;
using support::random_triangles;

// Of the distances compared in float: a few rounding errors of 2^-24, of lengths up to the triangles' size
// and the reach.
constexpr double kFloatError = 1e-6;

double distance_to(const mesh::Bvh& bvh, const Vec3& p, Index triangle)
{
  return bvh.closest_point_on(p, triangle).distance;
}

// Points of a ball in groups of `group_size`, each with the ball around it.
struct Cluster {
  std::vector<Vec3> points;
  std::vector<LocalDistance::Group> groups;
};
Cluster random_cluster(std::mt19937& generator, const Vec3& centre, double radius, std::size_t group_size)
{
  Cluster cluster;
  while (cluster.points.size() < 40) {
    const Vec3 offset = random_point(generator, radius);
    if (offset.norm() <= radius) cluster.points.push_back(centre + offset);
  }
  for (std::size_t first = 0; first < cluster.points.size(); first += group_size) {
    const std::size_t last = std::min(first + group_size, cluster.points.size());
    Box3 box;
    for (std::size_t i = first; i < last; ++i) box.extend(cluster.points[i]);
    cluster.groups.push_back({first, last, box.center(), 0.5 * box.diagonal().norm()});
  }
  return cluster;
}

void expect_closest(const mesh::Bvh& bvh, std::mt19937& generator, const Vec3& centre, double radius,
                    std::size_t group_size, double triangle_size)
{
  LocalDistance local(bvh);
  const Cluster cluster = random_cluster(generator, centre, radius, group_size);
  const double distance = bvh.closest_point(centre).distance;
  ASSERT_TRUE(local.gather(centre, radius, distance));
  std::vector<Index> closest(cluster.points.size());
  local.closest_triangles(cluster.points, cluster.groups, closest);
  const double error = kFloatError * (distance + 2 * radius + triangle_size);
  for (std::size_t i = 0; i < closest.size(); ++i) {
    const Vec3& p = cluster.points[i];
    ASSERT_LE(distance_to(bvh, p, closest[i]), bvh.closest_point(p).distance + error);
  }
}

RC_GTEST_PROP(LocalDistance, FindsTheSameTrianglesAsTheBvh, (unsigned seed))
{
  std::mt19937 generator(seed);
  const double size = *rc::gen::element(0.02, 0.3, 2.0);
  const mesh::Bvh bvh(random_triangles(generator, *rc::gen::inRange(1, 400), size));
  // Chained neighbours of random_triangles extend across the cube.
  const double largest = 2 * std::sqrt(3.0) * (1 + size);
  for (int i = 0; i < 8; ++i) {
    expect_closest(bvh, generator, random_point(generator, i % 2 == 0 ? 0.5 : 3.0), 0.01 * std::pow(3, i % 4),
                   *rc::gen::element<std::size_t>(1, 8, 27), largest);
  }
}

// Triangles that are nearly segments, where the inner sides of the edges cannot be distinguished in float.
RC_GTEST_PROP(LocalDistance, FindsNeedlesOfEveryThinness, (unsigned seed))
{
  std::mt19937 generator(seed);
  const mesh::TriangleMesh mesh = support::mesh_of(support::needles(generator, 60));
  const mesh::Bvh bvh(mesh);
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 5) {
    // At the ends of a needle and beyond, and beside it.
    const Vec3 tip = mesh.corner(t, 0), back = mesh.corner(t, 1) - tip;
    expect_closest(bvh, generator, tip - 0.05 * back, 0.02, 8, 1);
    expect_closest(bvh, generator, tip + 0.5 * back, 0.02, 8, 1);
  }
}

TEST(LocalDistance, FailsWhenThereAreTooManyCandidates)
{
  // From its centre all triangles of a sphere are as close.
  const mesh::Bvh bvh(support::sphere_mesh(1, 5));
  ASSERT_GT(bvh.mesh().triangles.size(), LocalDistance::kMaxCandidates);
  LocalDistance local(bvh);
  EXPECT_FALSE(local.gather(Vec3::Zero(), 0.1, 1));
  EXPECT_TRUE(local.gather(Vec3(0.9, 0, 0), 0.02, 0.1));
}

}  // namespace
}  // namespace thrum::distance
