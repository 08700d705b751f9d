// SPDX-License-Identifier: MIT
#include "thrum/distance/intrinsic_triangulation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/surface_samples.h"
#include "thrum/base/error.h"
#include "thrum/distance/surface_laplacian.h"
#include "thrum/distance/surface_refinement.h"

namespace thrum::distance {
namespace {

double area(const IntrinsicTriangulation& m)
{
  return surface_laplacian(m).mass.sum();
}

void expect_consistent(const IntrinsicTriangulation& m)
{
  for (std::size_t h = 0; h < m.corners.size(); ++h) {
    const Index g = m.twins[h];
    if (g < 0) continue;
    ASSERT_EQ(m.twins[static_cast<std::size_t>(g)], static_cast<Index>(h));
    EXPECT_EQ(m.lengths[h], m.lengths[static_cast<std::size_t>(g)]);
    // The twin runs the other way.
    const auto next = [](std::size_t e) {
      return e % 3 == 2 ? e - 2 : e + 1;
    };
    EXPECT_EQ(m.corners[h], m.corners[next(static_cast<std::size_t>(g))]);
    EXPECT_EQ(m.corners[next(h)], m.corners[static_cast<std::size_t>(g)]);
  }
}

void expect_delaunay(const IntrinsicTriangulation& m)
{
  for (std::size_t h = 0; h < m.corners.size(); ++h)
    if (m.twins[h] >= 0) {
      EXPECT_GE(m.cotangents[h] + m.cotangents[static_cast<std::size_t>(m.twins[h])], -1e-8);
    }
}

// A grid in the plane sheared along x: the triangles are needles, but the points have a well-shaped
// triangulation.
mesh::TriangleMesh sheared(int n, double shear)
{
  mesh::TriangleMesh mesh = support::plane(n, n, 1, 1);
  for (Vec3& p : mesh.vertices) p.x() += shear * p.y();
  return mesh;
}

TEST(IntrinsicTriangulation, FlippingKeepsTheSurfaceAndEndsDelaunay)
{
  for (const mesh::TriangleMesh& mesh :
       {sheared(12, 7.0), support::torus(40, 7, 1.0, 0.3), support::cylinder_side(64, 3, 1, 9)}) {
    IntrinsicTriangulation m = intrinsic_triangulation(mesh);
    EXPECT_EQ(m.added_length, 0);
    const double before = area(m);
    EXPECT_NEAR(before, area(mesh), 1e-12 * before);
    const DelaunayResult result = flip_to_delaunay(m);
    EXPECT_TRUE(result.finished);
    EXPECT_NEAR(area(m), before, 1e-9 * before);
    expect_consistent(m);
    expect_delaunay(m);
  }
}

RC_GTEST_PROP(IntrinsicTriangulation, LinearFunctionsStayHarmonicAfterFlips, ())
{
  // A flat mesh with its inner vertices moved at random; cotangent weights reproduce x and y exactly on any
  // of its triangulations, so L x = 0 at inner vertices also after flips.
  const int n = 6;
  mesh::TriangleMesh mesh = support::plane(n, n, 1, 1);
  const double shear = *rc::gen::inRange(-30, 30) / 10.0;
  std::mt19937 random(*rc::gen::arbitrary<unsigned>());
  for (int j = 1; j < n; ++j)
    for (int i = 1; i < n; ++i)
      mesh.vertices[static_cast<std::size_t>(j * (n + 1) + i)] +=
          0.4 / n *
          Vec3(static_cast<double>(random() % 100) / 100, static_cast<double>(random() % 100) / 100, 0);
  for (Vec3& p : mesh.vertices) p.x() += shear * p.y();
  IntrinsicTriangulation m = intrinsic_triangulation(mesh);
  flip_to_delaunay(m);
  const SurfaceLaplacian laplacian = surface_laplacian(m);
  VecX x(m.vertex_count);
  for (Index v = 0; v < m.vertex_count; ++v) x[v] = mesh.vertices[static_cast<std::size_t>(v)].x();
  const VecX Lx = laplacian.stiffness.selfadjointView<Eigen::Lower>() * x;
  for (Index v = 0; v < m.vertex_count; ++v)
    if (!m.vertex_is_open[static_cast<std::size_t>(v)]) RC_ASSERT(std::abs(Lx[v]) < 1e-9);
  const VecX rows = laplacian.stiffness.selfadjointView<Eigen::Lower>() * VecX::Ones(m.vertex_count);
  RC_ASSERT(rows.norm() < 1e-9);
}

TEST(IntrinsicTriangulation, ShearedGridIsFlippedBackToSquares)
{
  // A shear by whole columns maps the grid to itself: all inner edges become those of squares or their
  // diagonals.
  IntrinsicTriangulation m = intrinsic_triangulation(sheared(10, 3.0));
  EXPECT_GT(flip_to_delaunay(m).flips, 0);
  for (std::size_t h = 0; h < m.corners.size(); ++h)
    if (m.twins[h] >= 0) {
      EXPECT_LT(m.lengths[h], 0.34);
    }
}

TEST(IntrinsicTriangulation, OrientationDoesNotMatter)
{
  mesh::TriangleMesh mesh = support::torus(20, 6, 1, 0.3);
  IntrinsicTriangulation straight = intrinsic_triangulation(mesh);
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 3)
    std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
  IntrinsicTriangulation mixed = intrinsic_triangulation(mesh);
  expect_consistent(mixed);
  for (const Index twin : mixed.twins) EXPECT_GE(twin, 0);
  flip_to_delaunay(straight);
  flip_to_delaunay(mixed);
  EXPECT_NEAR(area(mixed), area(straight), 1e-12);
  expect_delaunay(mixed);
}

TEST(IntrinsicTriangulation, AOneSidedSurfaceIsCutSomewhere)
{
  // A Moebius strip of 12 quadrilaterals.
  mesh::TriangleMesh mesh;
  for (int i = 0; i < 12; ++i) {
    const double a = 2 * std::numbers::pi * i / 12;
    for (const double s : {-0.3, 0.3}) {
      const double r = 1 + s * std::cos(a / 2);
      mesh.vertices.emplace_back(r * std::cos(a), r * std::sin(a), s * std::sin(a / 2));
    }
    const auto id = [i](int next, int side) {
      return (2 * (i + next) + ((i + next == 12) ? 1 - side : side)) % 24;
    };
    const Index a0 = id(0, 0), a1 = id(0, 1);
    const Index b0 = i == 11 ? 1 : id(1, 0), b1 = i == 11 ? 0 : id(1, 1);
    mesh.triangles.push_back({a0, b0, b1});
    mesh.triangles.push_back({a0, b1, a1});
  }
  IntrinsicTriangulation m = intrinsic_triangulation(mesh);
  expect_consistent(m);
  flip_to_delaunay(m);
  expect_consistent(m);
  EXPECT_EQ(m.shared_edges, 0);
}

TEST(IntrinsicTriangulation, DegenerateTrianglesGetAnArea)
{
  // A square of two triangles with a third, flat one on its diagonal: 0-2 and 0-4-2 lie on one line.
  mesh::TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 4}, {0, 4, 3}, {4, 2, 3}};
  IntrinsicTriangulation m = intrinsic_triangulation(mesh);
  EXPECT_GT(m.added_length, 0);
  EXPECT_LT(m.added_length, 1e-5);
  flip_to_delaunay(m);
  EXPECT_NEAR(area(m), 1.0, 1e-2);
  for (const double cot : m.cotangents) EXPECT_TRUE(std::isfinite(cot));
}

TEST(IntrinsicTriangulation, CountsComponentsAndSharedEdges)
{
  mesh::TriangleMesh mesh = support::sphere(1);
  mesh::append(mesh, support::plane(2, 2, 1, 1));
  mesh.vertices.emplace_back(5, 5, 5);
  const IntrinsicTriangulation m = intrinsic_triangulation(mesh);
  const std::vector<Index> component = vertex_components(m);
  EXPECT_EQ(component.front(), 0);
  EXPECT_EQ(component[18], 1);
  EXPECT_EQ(component.back(), -1);

  // Three pages on one spine.
  mesh::TriangleMesh book;
  book.vertices = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {-1, 0.5, 0}, {-1, -0.5, 0}};
  book.triangles = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};
  EXPECT_EQ(intrinsic_triangulation(book).shared_edges, 1);
  EXPECT_EQ(vertex_components(intrinsic_triangulation(book)), std::vector<Index>(5, 0));
}

TEST(SurfaceRefinement, KeepsTheSurfaceAndFindsPointsAgain)
{
  const mesh::TriangleMesh mesh = support::box({1, 0.4, 0.05});
  const RefinedSurface refined = split_long_edges(mesh, 0.13);
  EXPECT_NEAR(area(refined.mesh), 2 * (1 * 0.4 + 0.4 * 0.05 + 0.05 * 1), 1e-12);
  EXPECT_NEAR(mesh::signed_volume(refined.mesh), 1 * 0.4 * 0.05, 1e-12);
  for (const Triangle& t : refined.mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_LE((refined.mesh.vertices[static_cast<std::size_t>(t[k])] -
                 refined.mesh.vertices[static_cast<std::size_t>(t[(k + 1) % 3])])
                    .norm(),
                0.13);
  // No hanging vertices: a closed mesh stays closed.
  const IntrinsicTriangulation m = intrinsic_triangulation(refined.mesh);
  for (const Index twin : m.twins) EXPECT_GE(twin, 0);
  for (Index t = 0; t < 12; ++t) {
    for (const Vec3& b : {Vec3(0.2, 0.5, 0.3), Vec3(1, 0, 0), Vec3(0, 0.5, 0.5), Vec3(0.98, 0.01, 0.01)}) {
      const mesh::SurfacePoint p{t, b};
      EXPECT_LE((mesh::position(refined.mesh, refined.locate(p)) - mesh::position(mesh, p)).norm(), 1e-12);
    }
  }
  EXPECT_THROW(static_cast<void>(split_long_edges(mesh, 0)), Error);
  EXPECT_THROW(static_cast<void>(split_long_edges(mesh, 1e-3, 1000)), Error);
}

}  // namespace
}  // namespace thrum::distance
