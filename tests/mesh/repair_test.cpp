// SPDX-License-Identifier: MIT
#include "thrum/mesh/repair.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/mesh/exact_predicates.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/self_intersections.h"

namespace thrum::mesh {
namespace {

// A box from low to high, closed and facing outwards.
TriangleMesh box_mesh(const Vec3& low, const Vec3& high)
{
  TriangleMesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back((i & 1) ? high.x() : low.x(), (i & 2) ? high.y() : low.y(),
                               (i & 4) ? high.z() : low.z());
  }
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  return mesh;
}

TriangleMesh cube(double centre, double half)
{
  return box_mesh(Vec3::Constant(centre - half), Vec3::Constant(centre + half));
}

void reverse_orientation(TriangleMesh& mesh)
{
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
}

TriangleMesh soup_of(const TriangleMesh& mesh)
{
  TriangleMesh soup;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto first = static_cast<Index>(soup.vertices.size());
    for (int k = 0; k < 3; ++k) soup.vertices.push_back(mesh.corner(t, k));
    soup.triangles.push_back({first, first + 1, first + 2});
  }
  return soup;
}

TEST(Repair, LeavesAValidMeshUnchangedAndReportsNothing)
{
  const TriangleMesh mesh = cube(0, 1);
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.mesh.vertices, mesh.vertices);
  EXPECT_EQ(result.mesh.triangles, mesh.triangles);
  EXPECT_FALSE(result.report.changed());
  EXPECT_TRUE(result.report.lines.empty());
}

// Any damage that repair undoes: a soup with noise below the tolerance, shuffled, faces flipped at random,
// duplicate faces, faces with a repeated corner, unused vertices. The result encloses the cube's volume.
RC_GTEST_PROP(Repair, RepairsEveryKnownDamage, ())
{
  const TriangleMesh sound = cube(0.3, 1.5);
  TriangleMesh mesh = soup_of(sound);
  for (Vec3& v : mesh.vertices)
    v += Vec3(*rc::gen::inRange(-9, 10), *rc::gen::inRange(-9, 10), *rc::gen::inRange(-9, 10)) * 1e-8;
  for (Triangle& t : mesh.triangles) {
    if (*rc::gen::arbitrary<bool>()) std::swap(t[1], t[2]);
  }
  const auto doubled = static_cast<std::size_t>(*rc::gen::inRange(0, 5));
  for (std::size_t i = 0; i < doubled; ++i) mesh.triangles.push_back(mesh.triangles[i]);
  mesh.triangles.push_back({0, 0, 5});
  mesh.vertices.emplace_back(0.3, 0.3, 0.3);
  const RepairResult result = repair_mesh(mesh);
  RC_ASSERT(result.mesh.vertices.size() == 8u);
  RC_ASSERT(result.mesh.triangles.size() == 12u);
  RC_ASSERT(result.report.welded_vertices == 28u);
  RC_ASSERT(result.report.duplicate_triangles == doubled);
  RC_ASSERT(result.report.degenerate_triangles == 1u);
  RC_ASSERT(result.report.unused_vertices == 1u);
  RC_ASSERT(std::abs(signed_volume(result.mesh) - 27) < 1e-5);
  RC_ASSERT(report_mesh(result.mesh).watertight);
  for (const Index t : result.source_triangles) RC_ASSERT(t >= 0 && t < 12);
}

// Sum over the triangles of their directed edges: what is left is the boundary of the surface.
std::map<std::pair<Index, Index>, int> boundary_of(const TriangleMesh& mesh)
{
  std::map<std::pair<Index, Index>, int> sum;
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      sum[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  }
  std::erase_if(sum, [](const auto& edge) { return edge.second == 0; });
  return sum;
}

// Pairs that face opposite ways are added to triangles of a closed mesh that shares its vertices with them:
// as lids on faces of it, as fins, or loose. All of them go, and nothing else does.
RC_GTEST_PROP(Repair, OpposedDuplicatesLeaveTheBoundaryUnchanged, ())
{
  const TriangleMesh sound = cube(0, 1);
  TriangleMesh mesh = sound;
  const int pairs = *rc::gen::inRange(1, 12);
  const auto corner = rc::gen::inRange<Index>(0, 8);
  std::size_t added = 0;
  for (int i = 0; i < pairs; ++i) {
    const Triangle t{*corner, *corner, *corner};
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    mesh.triangles.push_back(t);
    mesh.triangles.push_back({t[1], t[0], t[2]});
    ++added;
  }
  const RepairResult result =
      repair_mesh(mesh, {.weld = false, .drop_degenerate = false, .drop_unused_vertices = false});
  RC_ASSERT(boundary_of(result.mesh) == boundary_of(mesh));
  RC_ASSERT(std::abs(signed_volume(result.mesh) - 8) < 1e-12);
  RC_ASSERT(report_mesh(result.mesh).watertight);
  // A pair on a face of the cube makes three triangles with these corners, of which one stays.
  RC_ASSERT(2 * result.report.opposed_pairs + result.report.duplicate_triangles == 2 * added);
}

TEST(Repair, OneOfTwoOpposedTrianglesStaysWhereTheMeshNeedsIt)
{
  // A face of the cube that was doubled and one of the two turned over.
  TriangleMesh mesh = cube(0, 1);
  mesh.triangles.push_back({2, 0, 1});
  mesh.triangles[0] = {0, 2, 1};
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.report.opposed_pairs, 0u);
  EXPECT_EQ(result.report.duplicate_triangles, 1u);
  EXPECT_TRUE(report_mesh(result.mesh).watertight);
  EXPECT_NEAR(signed_volume(result.mesh), 8, 1e-12);
  // A sheet with two sides keeps one of them.
  const TriangleMesh sheet{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
                           {{0, 1, 2}, {0, 2, 3}, {0, 2, 1}, {0, 3, 2}}};
  EXPECT_EQ(repair_mesh(sheet).mesh.triangles.size(), 2u);
}

TEST(Repair, TwoBoxesThatShareAnEdgeBecomeTwoClosedBodies)
{
  for (int damage = 0; damage < 4; ++damage) {
    TriangleMesh mesh = box_mesh({0, 0, 0}, {1, 1, 1});
    if (damage & 1) reverse_orientation(mesh);
    TriangleMesh other = box_mesh({1, 1, 0}, {2, 3, 1});
    if (damage & 2) reverse_orientation(other);
    append(mesh, other);
    const RepairResult result = repair_mesh(mesh);
    EXPECT_EQ(result.report.split_edges, 1u) << damage;
    EXPECT_EQ(result.mesh.vertices.size(), 16u);
    EXPECT_EQ(result.mesh.triangles.size(), 24u);
    const MeshReport report = report_mesh(result.mesh, {.self_intersections = false});
    EXPECT_TRUE(report.watertight) << damage;
    EXPECT_EQ(report.components, 2u);
    EXPECT_EQ(report.euler_characteristic, 4);
    EXPECT_NEAR(signed_volume(result.mesh), 1 + 2, 1e-12) << damage;
  }
}

// A triangle that stands on an edge of a closed mesh has nothing behind it: the edge cannot be split.
TEST(Repair, AnEdgeWithAFinIsKept)
{
  TriangleMesh mesh = cube(0, 1);
  mesh.vertices.emplace_back(-3, -3, -3);
  mesh.triangles.push_back({0, 1, 8});
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.report.split_edges, 0u);
  EXPECT_EQ(result.report.kept_edges, 1u);
  EXPECT_EQ(result.mesh.vertices.size(), 9u);
}

// Cubes of a grid, each a closed box. Faces between two of them are opposed duplicates, and cubes that are
// neighbours across an edge only touch along it. What is left encloses the cubes.
RC_GTEST_PROP(Repair, RandomVoxelsBecomeTheSurfaceOfTheirUnion, ())
{
  TriangleMesh mesh;
  int cubes = 0;
  for (int i = 0; i < 27; ++i) {
    if (*rc::gen::inRange(0, 3) > 0) continue;
    const Vec3 low(i % 3, i / 3 % 3, i / 9);
    append(mesh, box_mesh(low, low + Vec3::Ones()));
    ++cubes;
  }
  RC_PRE(cubes > 0);
  const RepairResult result = repair_mesh(mesh);
  RC_ASSERT(boundary_of(result.mesh).empty());
  RC_ASSERT(std::abs(signed_volume(result.mesh) - cubes) < 1e-9);
  const MeshReport report = report_mesh(result.mesh, {.self_intersections = false});
  RC_ASSERT(report.closed);
  RC_ASSERT(!report.open_edges.found() && !report.inconsistent_edges.found());
  RC_ASSERT(report.non_manifold_edges.count == result.report.kept_edges);
  RC_ASSERT(report.watertight == (result.report.kept_edges == 0));
}

// A ball in a hollow ball: shell outwards, its inner wall into the void, the core outwards again.
TEST(Repair, OrientsNestedComponentsByTheirDepth)
{
  for (int damage = 0; damage < 8; ++damage) {
    TriangleMesh mesh;
    const double halves[3] = {3, 2, 1};
    for (int i = 0; i < 3; ++i) {
      TriangleMesh part = cube(0, halves[i]);
      if (damage >> i & 1) reverse_orientation(part);
      append(mesh, part);
    }
    const RepairResult result = repair_mesh(mesh);
    EXPECT_NEAR(signed_volume(result.mesh), 216 - 64 + 8, 1e-9) << damage;
    EXPECT_EQ(result.report.cavities, 1u);
    EXPECT_FALSE(report_mesh(result.mesh).inverted_components.found());
    const MeshReport before = report_mesh(mesh);
    // Bit 1 set means that the inner wall already faces into its void.
    const std::size_t wrong =
        static_cast<std::size_t>((damage & 1) + ((damage >> 1 & 1) ^ 1) + (damage >> 2 & 1));
    EXPECT_EQ(before.inverted_components.count, wrong) << damage;
  }
}

// A leg that overlaps a table top is not a cavity.
TEST(Repair, OverlappingPartsAreNotCavities)
{
  TriangleMesh mesh = box_mesh({0, 0, 0.7}, {1, 1, 0.8});
  append(mesh, box_mesh({0.1, 0.1, 0}, {0.2, 0.2, 0.75}));
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.report.cavities, 0u);
  EXPECT_FALSE(result.report.changed());
  EXPECT_GT(report_mesh(mesh).self_intersections.count, 0u);
}

// A vertex in the middle of an edge on one side only: closed by a triangle without height, which cannot
// simply be dropped.
TEST(Repair, FlipsFlatTrianglesWithoutOpeningTheMesh)
{
  TriangleMesh mesh = cube(0, 1);
  // Edge 0-1 belongs to {0,2,1} and {0,1,4}. Split it in the second only and close the gap with the flat
  // {0,1,8}.
  mesh.vertices.push_back((mesh.vertices[0] + mesh.vertices[1]) / 2);
  mesh.triangles.erase(std::find(mesh.triangles.begin(), mesh.triangles.end(), Triangle{0, 1, 4}));
  mesh.triangles.push_back({0, 8, 4});
  mesh.triangles.push_back({8, 1, 4});
  mesh.triangles.push_back({0, 1, 8});
  const MeshReport before = report_mesh(mesh);
  ASSERT_TRUE(before.watertight);
  ASSERT_EQ(before.flat_triangles.count, 1u);
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.report.flipped_slivers, 1u);
  EXPECT_EQ(result.report.lines.size(), 1u);
  const MeshReport after = report_mesh(result.mesh);
  EXPECT_TRUE(after.watertight);
  EXPECT_FALSE(after.flat_triangles.found());
  EXPECT_NEAR(signed_volume(result.mesh), 8, 1e-12);
}

TEST(Repair, ReportsAOneSidedSurface)
{
  // A Moebius strip of 12 quads.
  TriangleMesh mesh;
  constexpr int kQuads = 12;
  for (int i = 0; i < kQuads; ++i) {
    const double a = 2 * 3.14159265358979 * i / kQuads;
    const Vec3 along(std::cos(a), std::sin(a), 0);
    const Vec3 across = 0.3 * (std::cos(a / 2) * along + std::sin(a / 2) * Vec3::UnitZ());
    mesh.vertices.push_back(along - across);
    mesh.vertices.push_back(along + across);
  }
  for (int i = 0; i < kQuads; ++i) {
    const Index a = 2 * i, b = 2 * i + 1;
    const bool last = i == kQuads - 1;
    const Index c = last ? 1 : a + 2, d = last ? 0 : b + 2;
    mesh.triangles.push_back({a, c, d});
    mesh.triangles.push_back({a, d, b});
  }
  const RepairResult result = repair_mesh(mesh);
  EXPECT_EQ(result.report.unorientable_components, 1u);
  EXPECT_EQ(result.mesh.triangles, mesh.triangles);
  EXPECT_EQ(report_mesh(mesh).boundary_loops, 1u);
}

TEST(Repair, RejectsBadIndices)
{
  TriangleMesh mesh = cube(0, 1);
  mesh.triangles[0][0] = 99;
  EXPECT_THROW(static_cast<void>(repair_mesh(mesh)), Error);
  EXPECT_THROW(static_cast<void>(report_mesh(mesh)), Error);
}

TEST(MeshReport, CountsHolesHandlesAndPinches)
{
  TriangleMesh mesh = cube(0, 1);
  MeshReport report = report_mesh(mesh);
  EXPECT_TRUE(report.watertight);
  EXPECT_EQ(report.genus, 0);
  EXPECT_EQ(report.euler_characteristic, 2);
  EXPECT_TRUE(report.usable_for_tetrahedra);
  EXPECT_NE(to_text(report).find("no faults"), std::string::npos);

  mesh.triangles.erase(mesh.triangles.begin());
  mesh.triangles.pop_back();
  report = report_mesh(mesh);
  EXPECT_EQ(report.open_edges.count, 6u);
  EXPECT_EQ(report.boundary_loops, 2u);
  EXPECT_FALSE(report.usable_for_mass);
  EXPECT_NE(to_text(report).find("6 open edges, at ("), std::string::npos) << to_text(report);
  const TriangleMesh one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  EXPECT_EQ(to_text(report_mesh(one)).substr(0, 35), "3 vertices, 1 triangle, 1 component");

  // Two cubes that share one corner, then one edge.
  TriangleMesh pinched = cube(0, 1);
  append(pinched, cube(2, 1));
  report = report_mesh(repair_mesh(pinched).mesh);
  EXPECT_EQ(report.non_manifold_vertices.count, 1u);
  EXPECT_EQ(report.non_manifold_vertices.places.at(0), Vec3(1, 1, 1));
  TriangleMesh edge = box_mesh({0, 0, 0}, {1, 1, 1});
  append(edge, box_mesh({1, 1, 0}, {2, 2, 1}));
  report = report_mesh(repair_mesh(edge, {.split_edges = false}).mesh);
  EXPECT_TRUE(report.closed);
  EXPECT_FALSE(report.watertight);
  EXPECT_NE(to_text(report).find("closed, but parts of it touch along edges"), std::string::npos);
  EXPECT_EQ(report.non_manifold_edges.count, 1u);
  EXPECT_EQ(report.non_manifold_edges.places.at(0), Vec3(1, 1, 0.5));
}

TEST(MeshReport, WarnsAboutACupOfAHundredMetres)
{
  EXPECT_TRUE(report_mesh(cube(0, 0.06)).scale_warning.empty());
  EXPECT_NE(report_mesh(cube(0, 60)).scale_warning.find("millimetres"), std::string::npos);
  EXPECT_NE(report_mesh(cube(0, 6e-5)).scale_warning.find("scale it by 1000"), std::string::npos);
}

__extension__ using Wide = __int128;

// Exact signs compared with integer arithmetic: coordinates small enough for 64-bit products.
RC_GTEST_PROP(ExactPredicates, AgreeWithIntegersEvenWhenNearlyCoplanar, ())
{
  const auto whole = rc::gen::inRange<std::int64_t>(-500000, 500000);
  std::array<std::array<std::int64_t, 3>, 4> p{};
  for (auto& q : p) {
    for (auto& v : q) v = *whole;
  }
  // Half of the cases: the fourth point on the line of two others, moved by at most one.
  if (*rc::gen::arbitrary<bool>()) {
    for (std::size_t k = 0; k < 3; ++k) p[3][k] = 2 * p[0][k] - p[1][k];
    p[3][0] += *rc::gen::inRange<std::int64_t>(-1, 2);
  }
  const auto d = [&](std::size_t i, std::size_t k) {
    return static_cast<Wide>(p[i][k] - p[0][k]);
  };
  const Wide det = d(1, 0) * (d(2, 1) * d(3, 2) - d(2, 2) * d(3, 1)) -
                   d(1, 1) * (d(2, 0) * d(3, 2) - d(2, 2) * d(3, 0)) +
                   d(1, 2) * (d(2, 0) * d(3, 1) - d(2, 1) * d(3, 0));
  // Scaled by a power of two and far from integers: the signs do not change.
  const auto point = [&](std::size_t i) -> Vec3 {
    return Vec3(static_cast<double>(p[i][0]), static_cast<double>(p[i][1]), static_cast<double>(p[i][2])) *
           0x1p-20;
  };
  RC_ASSERT(orientation_3d(point(0), point(1), point(2), point(3)) == (det > 0) - (det < 0));
}

// The hierarchy finds exactly the pairs that testing every pair finds.
RC_GTEST_PROP(SelfIntersections, AgreeWithTestingEveryPair, ())
{
  TriangleMesh mesh;
  const auto coordinate = rc::gen::inRange(-4, 5);
  const int count = *rc::gen::inRange(2, 24);
  for (int t = 0; t < count; ++t) {
    for (int k = 0; k < 3; ++k) mesh.vertices.emplace_back(*coordinate, *coordinate, *coordinate);
    mesh.triangles.push_back({3 * t, 3 * t + 1, 3 * t + 2});
  }
  const auto corners = [&](std::size_t t) {
    return std::array<Vec3, 3>{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
  };
  std::vector<TrianglePair> expected;
  for (std::size_t a = 0; a < mesh.triangles.size(); ++a) {
    for (std::size_t b = a + 1; b < mesh.triangles.size(); ++b) {
      const bool touch = triangles_touch(corners(a), corners(b));
      // Triangles without area are reported as such, not as crossings.
      if (area_vector(mesh, a).norm() == 0 || area_vector(mesh, b).norm() == 0) continue;
      // Integer coordinates: triangles that do not touch are clearly apart, those that do are at distance
      // zero.
      RC_ASSERT(touch == (squared_distance_of_triangles(corners(a), corners(b)) < 1e-12));
      if (touch) expected.push_back({static_cast<Index>(a), static_cast<Index>(b)});
    }
  }
  RC_ASSERT(self_intersections(mesh) == expected);
}

TEST(SelfIntersections, FindsFoldsAndIntersectionsBetweenNeighbours)
{
  TriangleMesh mesh;
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3, 0.3, 0}, {0.5, 0.2, 1}, {0.5, 0.2, -1}, {0, -1, 0}};
  mesh.triangles = {{0, 1, 2}, {1, 0, 3}};
  EXPECT_EQ(self_intersections(mesh).size(), 1u);  // folded onto its neighbour
  mesh.triangles = {{0, 1, 2}, {1, 0, 6}};
  EXPECT_TRUE(self_intersections(mesh).empty());  // the same, laid flat
  mesh.triangles = {{0, 1, 2}, {0, 4, 5}};
  EXPECT_EQ(self_intersections(mesh).size(), 1u);  // shares a corner, its opposite edge intersects
  EXPECT_EQ(report_mesh(mesh).self_intersections.count, 1u);
}

TEST(RequireClosed, ReportsWhyAMeshCannotBeFilled)
{
  const auto why = [](const TriangleMesh& mesh) -> std::string {
    try {
      require_closed(mesh, "pot.obj", "be filled");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  TriangleMesh mesh = cube(0, 1);
  EXPECT_EQ(why(mesh), "");
  EXPECT_NEAR(require_closed(mesh, "pot.obj", "be filled").volume, 2 * 2 * 2, 1e-12);
  for (Triangle& t : mesh.triangles) std::swap(t[0], t[1]);
  EXPECT_EQ(
      why(mesh).find("The surface of 'pot.obj' is inside out, so it has no interior that could be filled."),
      0u)
      << why(mesh);
  mesh = cube(0, 1);
  mesh.triangles.pop_back();
  EXPECT_NE(why(mesh).find("not closed (3 open edges)"), std::string::npos) << why(mesh);
  mesh = cube(0, 1);
  std::swap(mesh.triangles[0][0], mesh.triangles[0][1]);
  EXPECT_NE(why(mesh).find("(3 edges where neighbours face different ways)"), std::string::npos) << why(mesh);
  EXPECT_NE(why({}).find("no triangles"), std::string::npos) << why({});
  // Closed, but not manifold: the message says so.
  mesh = box_mesh({0, 0, 0}, {1, 1, 1});
  append(mesh, box_mesh({1, 1, 0}, {2, 2, 1}));
  EXPECT_NE(why(repair_mesh(mesh, {.split_edges = false}).mesh)
                .find("is closed, but parts of it touch along 1 edge of four triangles or more"),
            std::string::npos);
  EXPECT_EQ(why(repair_mesh(mesh).mesh), "");
}

}  // namespace
}  // namespace thrum::mesh
