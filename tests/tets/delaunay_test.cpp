// SPDX-License-Identifier: MIT
// Exact predicates, Delaunay meshes and tetrahedra that keep a surface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "tests/support/tet_checks.h"
#include "thrum/base/random.h"
#include "thrum/mesh/big_integer.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/delaunay_mesh.h"
#include "thrum/tets/edge_bisection.h"
#include "thrum/tets/grid_predicates.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::tets {
namespace {

Vec3 random_grid_point(base::Random& random, double reach)
{
  Vec3 p;
  for (int k = 0; k < 3; ++k) p[k] = std::floor(reach * random.uniform());
  return p;
}

using Matrix = std::vector<std::vector<mesh::BigInteger>>;

// In integers of any size, by Laplace's expansion along the first column.
mesh::BigInteger determinant(const Matrix& rows)
{
  if (rows.size() == 1) return rows[0][0];
  mesh::BigInteger sum(std::int64_t{0});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Matrix others;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (k != i) others.emplace_back(rows[k].begin() + 1, rows[k].end());
    const mesh::BigInteger term = rows[i][0] * determinant(others);
    sum = i % 2 == 0 ? sum + term : sum - term;
  }
  return sum;
}

// Rows p - q, and with `lifted` their squares at the end.
Matrix differences(std::span<const Vec3> points, const Vec3& q, bool lifted)
{
  Matrix rows;
  for (const Vec3& p : points) {
    rows.emplace_back();
    mesh::BigInteger square(std::int64_t{0});
    for (int k = 0; k < 3; ++k) {
      rows.back().emplace_back(static_cast<std::int64_t>(p[k] - q[k]));
      square = square + rows.back().back() * rows.back().back();
    }
    if (lifted) rows.back().push_back(square);
  }
  return rows;
}

TEST(GridPredicates, AgreeWithOtherExactArithmetic)
{
  base::Random random(1);
  for (int i = 0; i < 20000; ++i) {
    // Small grids are full of ties, large ones of near ties.
    const double reach = i % 3 == 0 ? 4 : (i % 3 == 1 ? 1000 : std::exp2(kDelaunayBits));
    std::array<Vec3, 5> p;
    for (Vec3& q : p) q = random_grid_point(random, reach);
    if (i % 5 == 0) p[3] = p[0] + p[1] - p[2];  // in one plane
    for (int k = 0; k < 3; ++k) p[3][k] = std::clamp(p[3][k], 0.0, std::exp2(kDelaunayBits));
    const int side = grid_orientation(p[0], p[1], p[2], p[3]);
    ASSERT_EQ(side, determinant(differences(std::span(p).subspan(1, 3), p[0], false)).sign()) << i;
    if (side == 0) continue;
    if (side < 0) std::swap(p[2], p[3]);
    ASSERT_EQ(grid_in_sphere(p[0], p[1], p[2], p[3], p[4]),
              -determinant(differences(std::span(p).first(4), p[4], true)).sign())
        << i;
  }
}

TEST(GridPredicates, DecideByOneCellOfTheGridOnALargeSphere)
{
  // (+-a, +-b, +-c) in any order are on one sphere.
  const double a = 3'141'592'653.0, b = 2'718'281'828.0, c = 1'414'213'562.0;
  const Vec3 middle = Vec3::Constant(std::exp2(kDelaunayBits - 1));
  const Vec3 p0 = middle + Vec3(a, b, c), p1 = middle + Vec3(-b, a, c), p2 = middle + Vec3(c, -a, b),
             p3 = middle + Vec3(-a, -b, -c);
  const bool positive = grid_orientation(p0, p1, p2, p3) > 0;
  const auto side = [&](const Vec3& e) {
    return positive ? grid_in_sphere(p0, p1, p2, p3, e) : grid_in_sphere(p0, p1, p3, p2, e);
  };
  for (const Vec3& on : {Vec3(c, b, a), Vec3(-c, b, -a), Vec3(b, -c, a)}) {
    EXPECT_EQ(side(middle + on), 0);
    EXPECT_EQ(side(middle + on + Vec3(on.x() > 0 ? 1 : -1, 0, 0)), -1);
    EXPECT_EQ(side(middle + on - Vec3(on.x() > 0 ? 1 : -1, 0, 0)), 1);
  }
}

// No vertex lies inside the sphere of any cell, cells match, and their volumes add up to that of the outer
// tetrahedron.
void expect_delaunay(const DelaunayMesh& mesh)
{
  double volume = 0;
  for (Index c = 0; c < count_of(mesh.cells()); ++c) {
    if (!mesh.is_used(c)) continue;
    const auto& cell = mesh.cells()[at(c)];
    ASSERT_GT(mesh.orientation(cell.v[0], cell.v[1], cell.v[2], cell.v[3]), 0);
    std::array<Vec3, 4> p;
    for (std::size_t k = 0; k < 4; ++k) p[k] = mesh.point(cell.v[k]);
    volume += (p[1] - p[0]).cross(p[2] - p[0]).dot(p[3] - p[0]);
    for (Index v = 0; v < mesh.vertex_count(); ++v)
      ASSERT_LE(grid_in_sphere(p[0], p[1], p[2], p[3], mesh.point(v)), 0)
          << "vertex " << v << " in cell " << c;
    for (const Index next : cell.n) {
      if (next < 0) continue;
      ASSERT_TRUE(mesh.is_used(next));
      const auto& back = mesh.cells()[at(next)].n;
      ASSERT_NE(std::find(back.begin(), back.end(), c), back.end());
    }
  }
  EXPECT_NEAR(volume, 2 * std::exp2(3 * kDelaunayBits), 1e-9 * volume);
}

TEST(DelaunayMesh, HasEmptySpheresAlsoForGrids)
{
  const Vec3 middle = Vec3::Constant(std::exp2(kDelaunayBits - 1));
  for (const int seed : {1, 2, 3}) {
    DelaunayMesh random_mesh;
    DelaunayMesh grid;
    DelaunayMesh circle;
    base::Random random(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 300; ++i) (void)random_mesh.insert(middle + random_grid_point(random, 1e9));
    for (int i = 0; i < 216; ++i) (void)grid.insert(middle + 1e8 * seed * Vec3(i % 6, (i / 6) % 6, i / 36));
    for (int i = 0; i < 200; ++i) {  // many points in one plane and on one line
      const Vec3 p = i % 2 == 0 ? Vec3(i, 0, 0) : Vec3(i % 20, i / 20, 0);
      (void)circle.insert(middle + 1e7 * seed * p);
    }
    expect_delaunay(random_mesh);
    expect_delaunay(grid);
    expect_delaunay(circle);
    EXPECT_EQ(grid.insert(middle), DelaunayMesh::kOuterVertices);  // a point that is there already
  }
}

// The determinant of five points changes its sign when two are exchanged; so must what decides ties, or faces
// that are filled in another order do not match.
TEST(DelaunayMesh, DecidesTiesTheSameWayInEveryOrder)
{
  const Vec3 middle = Vec3::Constant(std::exp2(kDelaunayBits - 1));
  DelaunayMesh mesh;
  for (int i = 0; i < 8; ++i) (void)mesh.insert(middle + 1e9 * Vec3(i % 2, (i / 2) % 2, i / 4));
  int compared = 0;
  for (const int left_out : {0, 1, 2, 3, 4, 5, 6, 7}) {
    for (const int also : {0, 3, 5, 6}) {
      std::vector<Index> corners;
      for (Index v = 0; v < 8; ++v)
        if (v != left_out && v != also) corners.push_back(DelaunayMesh::kOuterVertices + v);
      corners.resize(5);
      // The sign of the determinant of the points in this order; 0 where the first four are in a plane.
      const auto sign = [&](const std::vector<Index>& v) {
        const int side = mesh.orientation(v[0], v[1], v[2], v[3]);
        if (side == 0) return 0;
        const bool inside = side > 0 ? mesh.is_in_sphere(v[0], v[1], v[2], v[3], v[4])
                                     : mesh.is_in_sphere(v[0], v[1], v[3], v[2], v[4]);
        return inside ? side : -side;
      };
      std::vector<Index> order = corners;
      do {
        for (std::size_t k = 0; k + 1 < order.size(); ++k) {
          std::vector<Index> exchanged = order;
          std::swap(exchanged[k], exchanged[k + 1]);
          if (sign(order) == 0 || sign(exchanged) == 0) continue;
          ASSERT_EQ(sign(order), -sign(exchanged));
          ++compared;
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
  EXPECT_GT(compared, 1000);
}

mesh::TriangleMesh turned(mesh::TriangleMesh mesh, std::uint64_t seed)
{
  base::Random random(seed);
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.normal();
  const Mat3 rotation = Eigen::Quaterniond(q.normalized()).toRotationMatrix();
  for (Vec3& v : mesh.vertices) v = rotation * v + Vec3(0.1, 0.2, -0.3);
  return mesh;
}

struct Body {
  std::string name;
  mesh::TriangleMesh surface;
  double spacing;
};

std::vector<Body> bodies()
{
  return {{"bar", shapes::generate(shapes::BoxDesc{.size = Vec3(0.5, 0.012, 0.01)}), 0.006},
          {"cylinder", shapes::generate(shapes::CylinderDesc{}), 0.2},
          {"torus", shapes::generate(shapes::TorusDesc{}), 0.3},
          {"mug", shapes::generate(shapes::MugDesc{}), 0.008},
          {"plate", shapes::generate(shapes::PlateDesc{}), 0.02},
          {"table", shapes::make_table({}), 0.1}};
}

// The surface is kept: volume, area, every vertex and the number of holes, in any position.
TEST(DelaunayFill, KeepsTheSurface)
{
  for (const Body& body : bodies()) {
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      const mesh::TriangleMesh surface = seed == 0 ? body.surface : turned(body.surface, seed);
      const DelaunayFillResult result =
          fill_by_delaunay(distance::MeshDistance(surface), {.spacing = body.spacing});
      SCOPED_TRACE(body.name + ", rotation " + std::to_string(seed));
      support::expect_valid(result.mesh);
      const double volume = mesh::signed_volume(surface);
      EXPECT_NEAR(mesh::volume(result.mesh), volume, 2e-7 * volume);
      const mesh::TriangleMesh boundary = mesh::boundary_surface(result.mesh).surface;
      EXPECT_NEAR(mesh::area(boundary), mesh::area(surface), 1e-6 * mesh::area(surface));
      EXPECT_EQ(support::euler_characteristic(boundary), support::euler_characteristic(surface));
      for (std::size_t v = 0; v < surface.vertices.size(); ++v)
        ASSERT_EQ(result.mesh.vertices[v], surface.vertices[v]) << v;
      EXPECT_EQ(measure_quality(result.mesh).bad, 0U);
      EXPECT_GT(measure_quality(result.mesh).min_radius_ratio, 1e-4);
      // No edge of the surface is longer than the spacing.
      for (const Triangle& t : boundary.triangles)
        for (std::size_t k = 0; k < 3; ++k)
          ASSERT_LE((boundary.vertices[at(t[k])] - boundary.vertices[at(t[(k + 1) % 3])]).norm(),
                    1.001 * body.spacing);
    }
  }
}

TEST(DelaunayFill, KeepsWallsFarThinnerThanItsEdges)
{
  for (const double wall : {1e-3, 3e-4, 1e-4}) {
    const mesh::TriangleMesh plate =
        turned(shapes::generate(shapes::BoxDesc{.size = Vec3(0.3, 0.3, wall)}), 5);
    const DelaunayFillResult result = fill_by_delaunay(distance::MeshDistance(plate), {.spacing = 0.05});
    support::expect_valid(result.mesh);
    EXPECT_NEAR(mesh::volume(result.mesh), 0.09 * wall, 1e-6 * 0.09 * wall) << wall;
    EXPECT_LT(result.mesh.vertices.size(), 3000U) << wall;
  }
}

TEST(DelaunayFill, LeavesHollowsEmpty)
{
  mesh::TriangleMesh ball = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  const mesh::TriangleMesh hollow = shapes::generate(shapes::BoxDesc{.size = Vec3(0.5, 0.6, 0.7)});
  const auto first = count_of(ball.vertices);
  ball.vertices.insert(ball.vertices.end(), hollow.vertices.begin(), hollow.vertices.end());
  for (const Triangle& t : hollow.triangles)
    ball.triangles.push_back({first + t[0], first + t[2], first + t[1]});
  const DelaunayFillResult result = fill_by_delaunay(distance::MeshDistance(ball), {.spacing = 0.25});
  EXPECT_NEAR(mesh::volume(result.mesh), 1 - 0.5 * 0.6 * 0.7, 1e-12);
}

TEST(DelaunayFill, EndsEdgesAtPlanes)
{
  const mesh::TriangleMesh bar = turned(shapes::generate(shapes::BoxDesc{.size = Vec3(0.5, 0.05, 0.05)}), 9);
  const CuttingPlane plane{Vec3(1, 2, 3), Vec3(1, 2, 3).dot(Vec3(0.1, 0.2, -0.3))};
  const DelaunayFillResult result =
      fill_by_delaunay(distance::MeshDistance(bar), {.spacing = 0.03, .planes = {plane}});
  const mesh::TriangleMesh boundary = mesh::boundary_surface(result.mesh).surface;
  int on_plane = 0;
  for (const Triangle& t : boundary.triangles) {
    double low = 0, high = 0;
    for (const Index v : t) {
      const double height = plane.normal.dot(boundary.vertices[at(v)]) - plane.offset;
      low = std::min(low, height);
      high = std::max(high, height);
      on_plane += std::abs(height) < 1e-9 ? 1 : 0;
    }
    EXPECT_TRUE(low > -1e-8 || high < 1e-8);
  }
  EXPECT_GT(on_plane, 10);
  EXPECT_NEAR(mesh::volume(result.mesh), 0.5 * 0.05 * 0.05, 1e-9);
}

mesh::TriangleMesh block_with_round_handle(int segments)
{
  mesh::TriangleMesh block = shapes::generate(shapes::BoxDesc{.size = Vec3(0.5, 0.5, 1)});
  for (Vec3& v : block.vertices) v += Vec3(0.25, 0.25, 0.5);
  const mesh::TriangleMesh rod = shapes::generate(
      shapes::TubeDesc{.path = {{0.49, 0.25, 0.4}, {0.58, 0.25, 0.4}, {0.58, 0.25, 0.65}, {0.49, 0.25, 0.65}},
                       .radius = 0.02,
                       .segments = segments});
  return shapes::boolean_union(std::vector<mesh::TriangleMesh>{block, rod});
}

// Edges between them were halved in turn for ever, each the side of a narrower triangle, and the surface was
// said to cross itself.
TEST(DelaunayFill, KeepsTheNarrowTrianglesOfARodOnABlock)
{
  const std::pair<int, double> cases[] = {{8, 0.06},  {10, 0.06}, {12, 0.083},
                                          {12, 0.06}, {12, 0.05}, {20, 0.083}};
  for (const auto& [segments, spacing] : cases) {
    SCOPED_TRACE(std::to_string(segments) + ", " + std::to_string(spacing));
    const mesh::TriangleMesh surface = block_with_round_handle(segments);
    const DelaunayFillResult result =
        fill_by_delaunay(distance::MeshDistance(surface), {.spacing = spacing, .max_points = 18750});
    support::expect_valid(result.mesh);
    const double volume = mesh::signed_volume(surface);
    EXPECT_NEAR(mesh::volume(result.mesh), volume, 1e-8 * volume);
    const mesh::TriangleMesh boundary = mesh::boundary_surface(result.mesh).surface;
    EXPECT_NEAR(mesh::area(boundary), mesh::area(surface), 1e-6 * mesh::area(surface));
  }
}

std::string why_not_kept(const mesh::TriangleMesh& surface, const DelaunayFillDesc& desc)
{
  try {
    (void)fill_by_delaunay(distance::MeshDistance(surface), desc);
  } catch (const SurfaceNotKept& e) {
    return e.what();
  }
  return "kept";
}

TEST(DelaunayFill, SaysWhetherASurfaceThatIsNotKeptCrossesItself)
{
  const std::string narrow =
      why_not_kept(block_with_round_handle(12), {.spacing = 0.083, .max_points = 1900});
  EXPECT_NE(narrow.find("does not cross itself"), std::string::npos) << narrow;
  mesh::TriangleMesh crossing = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  const mesh::TriangleMesh box = crossing;
  for (const Vec3& v : box.vertices) crossing.vertices.push_back(v + Vec3(0.4, 0.3, 0.2));
  for (const Triangle& t : box.triangles)
    crossing.triangles.push_back(
        {t[0] + count_of(box.vertices), t[1] + count_of(box.vertices), t[2] + count_of(box.vertices)});
  const std::string message = why_not_kept(crossing, {.spacing = 0.3});
  EXPECT_NE(message.find("crosses or touches itself, at"), std::string::npos) << message;
}

TEST(DelaunayFill, RejectsSurfacesThatCannotBeKept)
{
  const mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  mesh::TriangleMesh open = box;
  open.triangles.pop_back();
  EXPECT_THROW((void)fill_by_delaunay(distance::MeshDistance(open), {.spacing = 0.3}), SurfaceNotKept);
  mesh::TriangleMesh crossing = box;
  for (const Vec3& v : box.vertices) crossing.vertices.push_back(v + Vec3(0.4, 0.3, 0.2));
  for (const Triangle& t : box.triangles)
    crossing.triangles.push_back(
        {t[0] + count_of(box.vertices), t[1] + count_of(box.vertices), t[2] + count_of(box.vertices)});
  EXPECT_THROW((void)fill_by_delaunay(distance::MeshDistance(crossing), {.spacing = 0.3}), SurfaceNotKept);
}

// The narrow facets of a slender rod took a minute before it was found that they are too many.
TEST(DelaunayFill, RejectsManyNarrowTrianglesAtOnce)
{
  const mesh::TriangleMesh rod = shapes::generate(shapes::TubeDesc{
      .path = {{0, 0, 0}, {0.3, 0, 0}, {0.5, 0.2, 0.1}, {0.9, 0.4, 0.3}}, .radius = 0.003, .segments = 24});
  EXPECT_THROW((void)fill_by_delaunay(distance::MeshDistance(rod), {.spacing = 0.0058, .max_points = 18000}),
               SurfaceNotKept);
}

// Blocks of the lattice that are skipped, since all of them is outside, hold no point that is inside.
TEST(DelaunayFill, HasAllPointsOfTheLatticeInside)
{
  const mesh::TriangleMesh ring =
      shapes::generate(shapes::TorusDesc{.major_radius = 0.5, .minor_radius = 0.2, .edge_length = 0.06});
  constexpr double kSpacing = 0.05;
  const distance::MeshDistance distance(ring);
  const Box3 box = mesh::bounding_box(ring);
  std::size_t inside = 0;
  const Vec3 from = box.min() - Vec3::Constant(0.31 * kSpacing);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 40; ++j)
      for (int k = 0; k < 40; ++k)
        for (const double half : {0.0, 0.5}) {
          const Vec3 p = from + kSpacing * (Vec3(i, j, k) + Vec3::Constant(half));
          if (box.contains(p) && distance.signed_distance(p).distance <= -0.55 * kSpacing) ++inside;
        }
  EXPECT_EQ(fill_by_delaunay(distance, {.spacing = kSpacing}).inner_points, inside);
}

TEST(BisectTetrahedra, KeepsTheBodyAndHalvesWhatIsAskedFor)
{
  const mesh::TriangleMesh mug = shapes::generate(shapes::MugDesc{});
  mesh::TetrahedralMesh mesh = fill_by_delaunay(distance::MeshDistance(mug), {.spacing = 0.02}).mesh;
  const double volume = mesh::volume(mesh);
  const double area = mesh::area(mesh::boundary_surface(mesh).surface);
  const std::size_t before = mesh.tetrahedra.size();
  const double worst = measure_quality(mesh).min_radius_ratio;
  const auto near_rim = [&](std::size_t t) {
    Vec3 middle = Vec3::Zero();
    for (const Index v : mesh.tetrahedra[t]) middle += mesh.vertices[at(v)] / 4;
    return middle.z() > 0.07;
  };
  const auto max_volume = [&] {
    double largest = 0;
    for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t)
      if (near_rim(t)) largest = std::max(largest, mesh::six_times_volume(mesh, t));
    return largest;
  };
  const double largest = max_volume();
  std::vector<std::uint8_t> levels(mesh.tetrahedra.size());
  for (std::size_t t = 0; t < levels.size(); ++t) levels[t] = near_rim(t) ? 3 : 0;
  bisect_tetrahedra(mesh, levels);
  support::expect_valid(mesh);
  EXPECT_NEAR(mesh::volume(mesh), volume, 1e-12 * volume);
  EXPECT_NEAR(mesh::area(mesh::boundary_surface(mesh).surface), area, 1e-12 * area);
  EXPECT_GT(mesh.tetrahedra.size(), before);
  EXPECT_LT(max_volume(), largest / 4);
  EXPECT_GT(measure_quality(mesh).min_radius_ratio, worst / 10);
}

}  // namespace
}  // namespace thrum::tets
