// SPDX-License-Identifier: MIT
#include "thrum/tets/small_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"
#include "thrum/tets/delaunay_fill.h"

namespace thrum::tets {
namespace {

mesh::TriangleMesh box(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
  for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
  return mesh;
}

mesh::TetrahedralMesh filled(const mesh::TriangleMesh& surface, double spacing)
{
  return fill_by_delaunay(distance::MeshDistance(surface), {.spacing = spacing}).mesh;
}

// A peg of 20 mm on a block of 0.3 m.
mesh::TriangleMesh block_with_peg()
{
  return shapes::boolean_union(box({0, 0, 0}, {0.3, 0.3, 0.3}), box({0.1, 0.1, 0.29}, {0.12, 0.12, 0.4}));
}

TEST(SmallParts, StandWhereTheirSidesMeetTheLargePart)
{
  const mesh::TetrahedralMesh mesh = filled(block_with_peg(), 0.1);
  const std::vector<Root> roots = find_roots(mesh);
  ASSERT_GE(roots.size(), 4U);
  for (const Root& root : roots) {
    const Vec3& p = mesh.vertices[at(root.vertex)];
    EXPECT_NEAR(p.z(), 0.3, 1e-6);
    const Vec2 from_middle = (p.head<2>() - Vec2(0.11, 0.11)).cwiseAbs();
    EXPECT_NEAR(from_middle.maxCoeff(), 0.01, 1e-6);
    EXPECT_NEAR(root.thickness, 0.02, 1e-5);
  }
}

// The rim of a plate is as wide as the plate, and an angle has a notch; nothing small stands on either.
TEST(SmallParts, AreNoneOfPlatesAndAngles)
{
  EXPECT_TRUE(find_roots(filled(box({0, 0, 0}, {0.2, 0.2, 0.01}), 0.05)).empty());
  const mesh::TriangleMesh angle =
      shapes::boolean_union(box({0, 0, 0}, {0.2, 0.06, 0.01}), box({0, 0, 0}, {0.01, 0.06, 0.15}));
  EXPECT_TRUE(find_roots(filled(angle, 0.05)).empty());
}

// From the face of a step, and from the end of a rib, a line through the body runs along it.
TEST(SmallParts, AreNoneOfStepsAndRibs)
{
  const mesh::TriangleMesh step =
      shapes::boolean_union(box({0, 0, 0}, {0.4, 0.2, 0.02}), box({0.2, 0, 0}, {0.4, 0.2, 0.03}));
  EXPECT_TRUE(find_roots(filled(step, 0.05)).empty());
  const mesh::TriangleMesh rib =
      shapes::boolean_union(box({0, 0, 0}, {0.4, 0.2, 0.02}), box({0.05, 0.09, 0.01}, {0.35, 0.11, 0.05}));
  EXPECT_TRUE(find_roots(filled(rib, 0.05)).empty());
}

TEST(SmallParts, HaveSmallTetrahedraAroundTheirRoots)
{
  mesh::TetrahedralMesh mesh = filled(block_with_peg(), 0.1);
  const mesh::TetrahedralMesh before = mesh;
  const double volume = mesh::volume(mesh);
  for (const double share : {1.0, 0.5}) {
    refine_at_roots(mesh, share);
    EXPECT_NEAR(mesh::volume(mesh), volume, 1e-12 * volume);
    for (const Tetrahedron& t : mesh.tetrahedra) {
      double longest = 0;
      double height = 0;  // the largest distance of a corner from the square of the root
      for (const Index v : t) {
        const Vec3& p = mesh.vertices[at(v)];
        const Vec3 off((p.x() - 0.11), (p.y() - 0.11), p.z() - 0.3);
        height = std::max(height, off.norm());
        for (const Index w : t) longest = std::max(longest, (mesh.vertices[at(w)] - p).norm());
      }
      EXPECT_LE(longest, 1.2 * (share * 0.02 + kRootGrowth * height));
    }
  }
  EXPECT_GT(mesh.tetrahedra.size(), before.tetrahedra.size());
  for (std::size_t v = 0; v < before.vertices.size(); ++v) ASSERT_EQ(mesh.vertices[v], before.vertices[v]);
}

}  // namespace
}  // namespace thrum::tets
