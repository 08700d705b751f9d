// SPDX-License-Identifier: MIT
#include "thrum/distance/mesh_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"

namespace thrum::distance {
namespace {

using support::box_mesh;
using support::flipped;
using support::random_point;
using support::sphere_mesh;
using support::torus_mesh;

// Signed distance to a box by its closed form.
double box_distance(const Vec3& p, const Vec3& half)
{
  const Vec3 q = p.cwiseAbs() - half;
  return q.cwiseMax(0.0).norm() + std::min(q.maxCoeff(), 0.0);
}

TEST(Pseudonormals, OfACubePointAlongTheDiagonals)
{
  const mesh::TriangleMesh mesh = box_mesh({-1, -1, -1}, {1, 1, 1});
  const Pseudonormals normals = pseudonormals(mesh);
  EXPECT_TRUE(normals.closed);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    // With weights by angle, the triangulation of the faces does not matter.
    EXPECT_LT((normals.vertex[v] - mesh.vertices[v].normalized()).norm(), 1e-14);
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k) {
      const Vec3 middle = 0.5 * (mesh.corner(t, k) + mesh.corner(t, (k + 1) % 3));
      const Vec3& n = normals.edge[3 * t + static_cast<std::size_t>(k)];
      EXPECT_LT((n - middle.normalized()).norm(), 1e-14);
    }
  }
  mesh::TriangleMesh open = mesh;
  open.triangles.pop_back();
  EXPECT_FALSE(pseudonormals(open).closed);
  mesh::TriangleMesh twisted = mesh;
  std::swap(twisted.triangles[3][0], twisted.triangles[3][1]);
  EXPECT_FALSE(pseudonormals(twisted).closed);
}

RC_GTEST_PROP(MeshDistance, EqualsTheClosedFormOfABoxForBothSigns, (unsigned seed))
{
  std::mt19937 generator(seed);
  const Vec3 half = random_point(generator, 1).cwiseAbs() + Vec3::Constant(0.01);
  const MeshDistance by_normals(box_mesh(-half, half));
  const MeshDistance by_winding(box_mesh(-half, half), SignMethod::winding_number);
  RC_ASSERT(by_normals.sign_method() == SignMethod::pseudonormal);
  RC_ASSERT(by_winding.sign_method() == SignMethod::winding_number);
  for (int i = 0; i < 50; ++i) {
    // Every third point straight out from an edge or a vertex, where a face normal alone would be wrong.
    Vec3 p = random_point(generator, 1.5);
    if (i % 3 == 0) p = half.cwiseProduct(Vec3(1, i % 2 == 0 ? 1 : -1, 1)) * (1 + 0.4 * p.x());
    const double expected = box_distance(p, half);
    RC_ASSERT(std::abs(by_normals.signed_distance(p).distance - expected) < 1e-13);
    RC_ASSERT(std::abs(by_winding.signed_distance(p).distance - expected) < 1e-13);
  }
}

TEST(WindingNumber, IsOneInsideAndZeroOutsideAndCloseToTheExactSum)
{
  const mesh::Bvh bvh(torus_mesh(1, 0.4, 60, 30));
  const mesh::WindingNumber winding(bvh);
  std::mt19937 generator(2);
  for (int i = 0; i < 300; ++i) {
    const Vec3 p = random_point(generator, 1.6);
    const double ring = std::hypot(std::hypot(p.x(), p.y()) - 1, p.z());
    const double exact = mesh::exact_winding_number(bvh.mesh(), p);
    if (std::abs(ring - 0.4) > 0.01) {
      EXPECT_NEAR(exact, ring < 0.4 ? 1 : 0, 1e-12);
    }
    EXPECT_NEAR(winding.at(p), exact, 0.03);
    EXPECT_NEAR(winding.at(p, 8), exact, 1e-3);
  }
}

TEST(WindingNumber, OfAnOpenMeshIsTheSolidAngleOfItsHole)
{
  // A box without its top, seen from the middle of the hole: half of all directions are covered.
  mesh::TriangleMesh open = box_mesh({-1, -1, -1}, {1, 1, 1});
  open.triangles.erase(open.triangles.begin() + 2, open.triangles.begin() + 4);
  EXPECT_NEAR(mesh::exact_winding_number(open, {0, 0, 1}), 0.5, 1e-14);
  // From the centre a sixth is missing.
  EXPECT_NEAR(mesh::exact_winding_number(open, {0, 0, 0}), 5.0 / 6, 1e-14);
}

TEST(MeshDistance, SignOfOpenNestedThinAndOverlappingMeshes)
{
  // Open: a bowl-like box without its top is filled up to about its rim.
  mesh::TriangleMesh open = box_mesh({-1, -1, -1}, {1, 1, 1});
  open.triangles.erase(open.triangles.begin() + 2, open.triangles.begin() + 4);
  const MeshDistance bowl(open);
  EXPECT_EQ(bowl.sign_method(), SignMethod::winding_number);
  EXPECT_LT(bowl.signed_distance({0, 0, 0}).distance, 0);
  EXPECT_LT(bowl.signed_distance({0.9, 0.9, 0.5}).distance, 0);
  EXPECT_GT(bowl.signed_distance({0, 0, 1.5}).distance, 0);
  EXPECT_GT(bowl.signed_distance({1.1, 0, 0}).distance, 0);

  // Nested: the cavity is outside, by either sign.
  mesh::TriangleMesh hollow = sphere_mesh(1, 3);
  mesh::append(hollow, flipped(sphere_mesh(0.5, 3)));
  for (const SignMethod sign : {SignMethod::automatic, SignMethod::winding_number}) {
    const MeshDistance shell(hollow, sign);
    EXPECT_GT(shell.signed_distance({0, 0, 0}).distance, 0.4);
    EXPECT_LT(shell.signed_distance({0, 0, 0.75}).distance, -0.2);
    EXPECT_GT(shell.signed_distance({0, 0, 1.2}).distance, 0.19);
  }

  // A plate of 0.1 mm, and its two sides.
  const MeshDistance plate(box_mesh({-1, -1, 0}, {1, 1, 1e-4}));
  EXPECT_NEAR(plate.signed_distance({0.3, 0.2, 0.4e-4}).distance, -0.4e-4, 1e-15);
  EXPECT_NEAR(plate.signed_distance({0.3, 0.2, -1e-4}).distance, 1e-4, 1e-15);
  EXPECT_NEAR(plate.signed_distance({0.3, 0.2, 2e-4}).distance, 1e-4, 1e-15);
  EXPECT_NEAR(plate.signed_distance({1.1, 0.2, 0.5e-4}).distance, 0.1, 1e-15);

  // Overlapping closed parts: the winding number takes their union.
  mesh::TriangleMesh two = box_mesh({-1, -1, -1}, {0.5, 1, 1});
  mesh::append(two, box_mesh({-0.5, -1, -1}, {1, 1, 1}));
  EXPECT_LT(MeshDistance(two, SignMethod::winding_number).signed_distance({0.51, 0, 0}).distance, 0);
}

TEST(MeshDistance, SurfaceNormalIsTrueAtSharpEdges)
{
  const Vec3 half(1, 1, 1);
  const MeshDistance cube(box_mesh(-half, half));
  const auto normal = [&](const Vec3& p) {
    return cube.surface_normal(p, cube.signed_distance(p));
  };
  EXPECT_LT((normal({0.99, 0.2, 0.98}) - Vec3(1, 0, 0)).norm(), 1e-14);
  EXPECT_LT((normal({0.2, 0.3, 1.5}) - Vec3(0, 0, 1)).norm(), 1e-14);
  EXPECT_LT((normal({1.3, 0, 1.4}) - Vec3(0.6, 0, 0.8)).norm(), 1e-14);
  EXPECT_LT((normal({1, 0, 1}) - Vec3(1, 0, 1).normalized()).norm(), 1e-14);
  EXPECT_LT((normal({1, 1, 1}) - Vec3(1, 1, 1).normalized()).norm(), 1e-14);
}

}  // namespace
}  // namespace thrum::distance
