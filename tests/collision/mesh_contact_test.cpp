// SPDX-License-Identifier: MIT
// Contacts of meshes against closed forms, against the convex functions, and under exchange of the two
// bodies.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "tests/sim/linked_circles.h"
#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/pair_table.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/collision/triangle_surface.h"
#include "thrum/shapes/shapes.h"

namespace thrum::collision {
namespace {

using model::ContactPatch;
using model::ContactPoint;

constexpr double kPi = std::numbers::pi;

struct Prepared {
  std::unique_ptr<model::Shape> shape;
  PreparedShape prepared;
};

Prepared make(model::Shape shape)
{
  Prepared p;
  p.shape = std::make_unique<model::Shape>(std::move(shape));
  p.prepared = prepare(*p.shape);
  return p;
}

Prepared make_mesh(const mesh::TriangleMesh& mesh)
{
  return make({model::Mesh{std::make_shared<mesh::TriangleMesh>(mesh), nullptr}});
}

Prepared make_hull(const mesh::TriangleMesh& mesh)
{
  return make({model::ConvexHull{make_polyhedron(mesh)}});
}

mesh::TriangleMesh box_mesh(const Vec3& size)
{
  shapes::BoxDesc desc;
  desc.size = size;
  return shapes::generate(desc);
}

mesh::TriangleMesh torus_mesh(int around, int tube)
{
  shapes::TorusDesc desc;
  desc.major_segments = around;
  desc.minor_segments = tube;
  return shapes::generate(desc);
}

Pose at(double x, double y, double z, const Quat& rotation = Quat::Identity())
{
  return {Vec3(x, y, z), rotation};
}

Quat turn(double angle, const Vec3& axis)
{
  return Quat(Eigen::AngleAxisd(angle, axis.normalized()));
}

std::vector<ContactPatch> collide(const Prepared& a, const Pose& X_wa, const Prepared& b, const Pose& X_wb,
                                  double margin)
{
  std::vector<ContactPatch> patches;
  PairInput pair;
  pair.a = &a.prepared;
  pair.b = &b.prepared;
  pair.X_wa = X_wa;
  pair.X_wb = X_wb;
  pair.margin = margin;
  pair.table = &default_pair_table();
  default_pair_table().collide(pair, patches);
  return patches;
}

struct Deepest {
  double depth = -1e9;
  Vec3 normal = Vec3::Zero();
  Vec3 position = Vec3::Zero();
};

Deepest deepest_of(const std::vector<ContactPatch>& patches)
{
  Deepest d;
  for (const ContactPatch& patch : patches) {
    for (const ContactPoint& point : patch.active()) {
      if (point.depth > d.depth) d = {point.depth, patch.normal, point.position};
    }
  }
  return d;
}

// --- Rings
// ----------------------------------------------------------------------------------------------------------

TEST(MeshContact, CoaxialRingsTouchAlongACircle)
{
  const Prepared ring = make_mesh(torus_mesh(64, 32));
  const double depth = 0.01;
  const auto patches = collide(ring, at(0, 0, 0), ring, at(0, 0, 0.3 - depth), 0.002);
  ASSERT_FALSE(patches.empty());
  const ContactPatch& patch = patches[0];
  EXPECT_EQ(patch.count, 4);
  EXPECT_GT(patch.normal.z(), 0.98);
  Vec3 centre = Vec3::Zero();
  for (const ContactPoint& point : patch.active()) {
    EXPECT_NEAR(point.depth, depth, 0.003);
    EXPECT_NEAR(std::hypot(point.position.x(), point.position.y()), 0.5, 0.03);
    EXPECT_NEAR(point.position.z(), 0.15 - 0.5 * depth, 0.003);
    centre += 0.25 * point.position;
  }
  // The four hold the ring on all sides.
  EXPECT_LT(std::hypot(centre.x(), centre.y()), 0.2);
}

TEST(MeshContact, LinkedRingsTouchWhereTheirTubesCross)
{
  const Prepared ring = make_mesh(torus_mesh(64, 32));
  const Pose X_wb = at(0.75, 0, 0, turn(kPi / 2, Vec3::UnitX()));
  const auto patches = collide(ring, Pose{}, ring, X_wb, 0.002);
  const Deepest d = deepest_of(patches);
  EXPECT_NEAR(d.depth, 0.05, 0.004);
  EXPECT_LT(d.normal.x(), -0.98);
  EXPECT_NEAR((d.position - Vec3(0.375, 0, 0)).norm(), 0, 0.02);
}

TEST(MeshContact, LinkedRingsPulledTightTouchAtOnePlaceOnly)
{
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  const Pose X_wb = at(0.70, 0, 0, turn(kPi / 2, Vec3::UnitX()));
  for (const ContactPatch& patch : collide(ring, Pose{}, ring, X_wb, 0.02)) {
    for (const ContactPoint& point : patch.active())
      EXPECT_LT((point.position - Vec3(0.35, 0, 0)).norm(), 0.2);
  }
}

TEST(MeshContact, RingsAgreeWithTheirMiddleCircles)
{
  // Two tori overlap by 2 r less the distance of their middle circles, along the line between the nearest
  // points of those. The bent facets of this coarse mesh follow the torus to within 2 mm.
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  int compared = 0;
  for (int i = 0; i < 4000; ++i) {
    const Quat rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
    const Pose X_wb{1.2 * Vec3(uniform(random), uniform(random), uniform(random)), rotation};
    const double distance = test::distance_of_circles(Pose{}, X_wb, 0.5);
    const auto patches = collide(ring, Pose{}, ring, X_wb, 0.01);
    if (distance > 0.3 + 0.01 + 0.002) {
      EXPECT_TRUE(patches.empty()) << i;
    }
    if (distance < 0.25 || distance > 0.3 + 0.01 - 0.002) continue;
    ASSERT_FALSE(patches.empty()) << i;
    EXPECT_NEAR(deepest_of(patches).depth, 0.3 - distance, 0.002) << i;
    ++compared;
    // Moved along the normal, they part by as much, unless there is a second place.
    if (patches.size() > 1) continue;
    Pose apart = X_wb;
    const Deepest d = deepest_of(patches);
    apart.position += 0.01 * d.normal;
    EXPECT_NEAR(test::distance_of_circles(Pose{}, apart, 0.5), distance + 0.01, 0.001) << i;
  }
  EXPECT_GT(compared, 150);
}

// How far apart two meshes are known to be without a contact within 10 mm; negative when there is one [m].
double clearance_of(const Prepared& a, const Prepared& b, const Pose& X_wb)
{
  PairScratch scratch;
  PairInput pair;
  pair.a = &a.prepared;
  pair.b = &b.prepared;
  pair.X_wb = X_wb;
  pair.margin = 0.01;
  pair.table = &default_pair_table();
  pair.scratch = &scratch;
  std::vector<ContactPatch> patches;
  default_pair_table().collide(pair, patches);
  return patches.empty() ? scratch.clearance : -1;
}

// What is known is never more than the distance, and on average nearly half of it.
TEST(MeshContact, MeshesAreAsFarApartAsTheyAreKnownToBe)
{
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  const Prepared bar = make_mesh(box_mesh({0.3, 0.4, 1.2}));
  const Prepared hull = make_hull(box_mesh({0.3, 0.4, 1.2}));
  std::mt19937 random(17);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  double known_share = 0;
  int compared = 0;
  const auto compare = [&](double clearance, double distance, double accuracy) {
    if (clearance < 0) return;
    EXPECT_LE(clearance, distance + accuracy) << compared;
    known_share += clearance / distance;
    ++compared;
  };
  for (int i = 0; i < 1000; ++i) {
    const Quat rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
    const Pose X_wb{1.3 * Vec3(uniform(random), uniform(random), uniform(random)), rotation};
    compare(clearance_of(ring, ring, X_wb), test::distance_of_circles(Pose{}, X_wb, 0.5) - 0.3, 0.002);
    const Deepest d = deepest_of(collide(hull, Pose{}, hull, X_wb, 10));
    compare(clearance_of(bar, bar, X_wb), -d.depth, 1e-6);
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(known_share / compared, 0.4);
}

TEST(MeshContact, TwoRegionsAtOnce)
{
  // A ring standing across two others that lie apart: one contact with each end of a bar through its hole.
  const Prepared ring = make_mesh(torus_mesh(48, 24));
  const Prepared bar = make_mesh(box_mesh({0.74, 0.1, 0.1}));
  const auto patches = collide(ring, Pose{}, bar, Pose{}, 0.002);
  bool left = false;
  bool right = false;
  for (const ContactPatch& patch : patches) {
    left = left || patch.normal.x() > 0.9;
    right = right || patch.normal.x() < -0.9;
  }
  EXPECT_TRUE(left && right);
}

TEST(MeshContact, RingLiesOnAPlane)
{
  const Prepared ring = make_mesh(torus_mesh(24, 12));
  const Prepared plane = make({model::Plane{}});
  const auto patches = collide(ring, at(0, 0, 0.145), plane, Pose{}, 0.001);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].count, 4);
  EXPECT_LT((patches[0].normal + Vec3::UnitZ()).norm(), 1e-12);
  for (const ContactPoint& point : patches[0].active()) EXPECT_NEAR(point.depth, 0.005, 1e-9);
}

// --- Edges
// ----------------------------------------------------------------------------------------------------------

TEST(MeshContact, CrossedBarsTouchThoughAllCornersLieOutside)
{
  const Prepared bar = make_mesh(box_mesh({2, 0.2, 0.2}));
  const double depth = 0.01;
  const auto patches = collide(bar, Pose{}, bar, at(0, 0, 0.2 - depth, turn(kPi / 2, Vec3::UnitZ())), 0.001);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_GT(patches[0].normal.z(), 0.9999);
  ASSERT_EQ(patches[0].count, 4);
  for (const ContactPoint& point : patches[0].active()) {
    EXPECT_NEAR(point.depth, depth, 1e-6);
    EXPECT_NEAR(std::abs(point.position.x()), 0.1, 0.011);
    EXPECT_NEAR(std::abs(point.position.y()), 0.1, 0.011);
  }
}

TEST(MeshContact, CrossedRidgesPushAlongTheirCommonNormal)
{
  const Prepared bar = make_mesh(box_mesh({2, 0.2, 0.2}));
  const double reach = 0.1 * std::sqrt(2.0);
  const Quat on_edge = turn(kPi / 4, Vec3::UnitX());
  for (const double depth : {-0.004, 0.005, 0.02}) {
    for (const double angle : {0.5 * kPi, 0.3 * kPi}) {
      const auto patches = collide(bar, at(0, 0, 0, on_edge), bar,
                                   at(0, 0, 2 * reach - depth, turn(angle, Vec3::UnitZ()) * on_edge), 0.01);
      const Deepest d = deepest_of(patches);
      EXPECT_NEAR(d.depth, depth, 1e-4) << angle;
      EXPECT_GT(d.normal.z(), 0.9999) << depth << " " << angle;
    }
  }
}

TEST(MeshContact, KnifeEdgeOnABox)
{
  mesh::TriangleMesh knife;
  // A wedge with its edge along x at z = 0, sticking out over the box on both sides.
  knife.vertices = {{-1, 0, 0}, {1, 0, 0}, {-1, -0.2, 0.6}, {1, -0.2, 0.6}, {-1, 0.2, 0.6}, {1, 0.2, 0.6}};
  knife.triangles = {{0, 2, 3}, {0, 3, 1}, {0, 1, 5}, {0, 5, 4}, {2, 4, 5}, {2, 5, 3}, {0, 4, 2}, {1, 3, 5}};
  if (mesh::signed_volume(knife) < 0) {
    for (Triangle& t : knife.triangles) std::swap(t[1], t[2]);
  }
  const Prepared a = make_mesh(box_mesh({1, 1, 1}));
  const Prepared b = make_mesh(knife);
  const double depth = 0.01;
  const auto patches = collide(a, Pose{}, b, at(0, 0.1, 0.5 - depth), 0.002);
  const Deepest d = deepest_of(patches);
  EXPECT_NEAR(d.depth, depth, 1e-6);
  EXPECT_GT(d.normal.z(), 0.9999);
  // Both ends of the stretch that rests on the box are held.
  double least = 1;
  double most = -1;
  for (const ContactPatch& patch : patches) {
    if (patch.normal.z() < 0.99) continue;
    for (const ContactPoint& point : patch.active()) {
      least = std::min(least, point.position.x());
      most = std::max(most, point.position.x());
    }
  }
  EXPECT_LT(least, -0.4);
  EXPECT_GT(most, 0.4);
}

// --- The same as convex shapes
// --------------------------------------------------------------------------------------

// A floor with a wall beside it, one closed mesh: z = 0 up to x = 0, from there up to `height`.
mesh::TriangleMesh floor_and_wall(double height)
{
  const std::vector<Vec3> outline = {{-1, 0, 0},       {0, 0, 0},      {0, 0, height},
                                     {0.1, 0, height}, {0.1, 0, -0.5}, {-1, 0, -0.5}};
  mesh::TriangleMesh mesh;
  for (const double y : {-1.0, 1.0}) {
    for (const Vec3& p : outline) mesh.vertices.emplace_back(p.x(), y, p.z());
  }
  for (const Triangle& t : {Triangle{0, 5, 4}, {0, 4, 1}, {1, 4, 3}, {1, 3, 2}}) {
    mesh.triangles.push_back({t[0], t[1], t[2]});
    mesh.triangles.push_back({t[0] + 6, t[2] + 6, t[1] + 6});
  }
  for (Index i = 0; i < 6; ++i) {
    const Index j = (i + 1) % 6;
    mesh.triangles.push_back({i, j, j + 6});
    mesh.triangles.push_back({i, j + 6, i + 6});
  }
  return mesh;
}

// A corner of a tetrahedron where a floor and one or two walls of a mesh meet has a contact with each,
// whichever is nearest, and whether it overlaps them or is before them. Beside a step that is lower than the
// corner is lifted to see a wall there is none: the nearest of its points are those of an edge.
TEST(MeshContact, ACornerInANotchTouchesBothFaces)
{
  constexpr double kMargin = 0.02;
  const Prepared tall = make_mesh(floor_and_wall(0.5));
  mesh::TriangleMesh tetrahedron;
  tetrahedron.vertices = {{0, 0, 0}, {-0.3, 0.15, 0}, {-0.3, -0.15, 0}, {-0.2, 0, 0.25}};
  tetrahedron.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  const Prepared hull = make_hull(tetrahedron);
  const Prepared as_mesh = make_mesh(tetrahedron);
  for (const Prepared* body : {&hull, &as_mesh}) {
    for (const double below : {-0.01, -0.001, 0.0005, 0.003}) {
      for (const double beyond : {-0.012, -0.002, 0.001, 0.01}) {
        const auto patches = collide(*body, at(beyond, 0.013, -below), tall, Pose{}, kMargin);
        double floor = -1;
        double wall = -1;
        for (const ContactPatch& patch : patches) {
          for (const ContactPoint& point : patch.active()) {
            if (patch.normal.z() < -0.99) floor = std::max(floor, point.depth);
            if (patch.normal.x() > 0.99) wall = std::max(wall, point.depth);
          }
        }
        EXPECT_NEAR(floor, below, 1e-9) << below << ", " << beyond;
        EXPECT_NEAR(wall, beyond, 1e-9) << below << ", " << beyond;
      }
    }
  }
  // Between a floor and two walls.
  mesh::TriangleMesh room = box_mesh({2, 2, 2});
  for (auto& t : room.triangles) std::swap(t[0], t[1]);
  const mesh::TriangleMesh outside = box_mesh({2.2, 2.2, 2.2});
  for (const Triangle& t : outside.triangles) room.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
  ASSERT_EQ(room.vertices.size(), 8U);
  room.vertices.insert(room.vertices.end(), outside.vertices.begin(), outside.vertices.end());
  const Prepared three = make_mesh(room);
  const Quat towards_corner = turn(kPi / 4, Vec3::UnitZ());
  for (const Vec3& beyond : {Vec3(-0.001, -0.002, -0.003), Vec3(-0.005, -0.001, 0.002),
                             Vec3(0.003, -0.004, 0.001), Vec3(0.002, 0.004, -0.01)}) {
    const Pose X{{1 + beyond.x(), 1 + beyond.y(), -1 - beyond.z()}, towards_corner};
    Vec3 depth = Vec3::Constant(-1);
    for (const ContactPatch& patch : collide(hull, X, three, Pose{}, kMargin)) {
      for (const ContactPoint& point : patch.active()) {
        for (int k = 0; k < 3; ++k) {
          if (std::abs(patch.normal[k]) > 0.99) depth[k] = std::max(depth[k], point.depth);
        }
      }
    }
    EXPECT_NEAR((depth - beyond).norm(), 0, 1e-9) << depth.transpose() << " for " << beyond.transpose();
  }
  const Prepared low = make_mesh(floor_and_wall(0.005));
  for (const ContactPatch& patch : collide(hull, at(-0.015, 0, 0.001), low, Pose{}, kMargin)) {
    for (const ContactPoint& point : patch.active()) {
      // Of corners and edges of the tetrahedron, not of the edge of the step.
      if (point.feature_a == kWholeSurface) continue;
      EXPECT_LT(patch.normal.z(), -0.99) << patch.normal.transpose();
    }
  }
}

TEST(MeshContact, BoxMeshOnBoxMeshIsBoxOnBox)
{
  const Vec3 size(1, 0.8, 0.6);
  const Prepared mesh = make_mesh(box_mesh(size));
  const Prepared box = make({model::Box{0.5 * size}});
  for (const Vec3& offset : {Vec3(0, 0, 0), Vec3(0.2, 0.1, 0), Vec3(0.3, 0, 0)}) {
    for (const double depth : {0.004, -0.001}) {
      const Pose X_wb = at(offset.x(), offset.y(), size.z() - depth);
      const auto expected = collide(box, Pose{}, box, X_wb, 0.002);
      ASSERT_EQ(expected.size(), 1u);
      for (int kinds = 0; kinds < 3; ++kinds) {
        const auto patches = collide(kinds == 1 ? box : mesh, Pose{}, kinds == 2 ? box : mesh, X_wb, 0.002);
        ASSERT_EQ(patches.size(), 1u) << offset.transpose() << " depth " << depth << " kinds " << kinds;
        EXPECT_EQ(patches[0].count, 4);
        EXPECT_LT((patches[0].normal - expected[0].normal).norm(), 1e-6);
        for (const ContactPoint& point : patches[0].active()) {
          EXPECT_NEAR(point.depth, depth, 1e-4);
          double nearest = 1e9;
          for (const ContactPoint& other : expected[0].active())
            nearest = std::min(nearest, (other.position - point.position).norm());
          EXPECT_LT(nearest, 0.03) << offset.transpose() << " depth " << depth << " kinds " << kinds;
        }
      }
    }
  }
}

mesh::TriangleMesh random_hull(std::mt19937& random)
{
  std::uniform_real_distribution<double> uniform(-1, 1);
  shapes::ConvexHullDesc desc;
  while (desc.points.size() < 14) {
    const Vec3 p(uniform(random), uniform(random), uniform(random));
    if (p.norm() < 1 && p.norm() > 0.7) desc.points.push_back(0.5 * p);
  }
  return shapes::generate(desc);
}

// How far b must move along n to leave a: from the farthest corners of both.
double overlap_along(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b, const Pose& X_wb,
                     const Vec3& n)
{
  double most_a = -1e9;
  double least_b = 1e9;
  for (const Vec3& p : a.vertices) most_a = std::max(most_a, n.dot(p));
  for (const Vec3& p : b.vertices) least_b = std::min(least_b, n.dot(X_wb.point(p)));
  return most_a - least_b;
}

TEST(MeshContact, ConvexMeshesAgreeWithTheConvexFunctions)
{
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int count = 0;
  int agree = 0;
  for (int shape = 0; shape < 8; ++shape) {
    const mesh::TriangleMesh mesh_a = random_hull(random);
    const mesh::TriangleMesh mesh_b = random_hull(random);
    const Prepared a = make_mesh(mesh_a);
    const Prepared b = make_mesh(mesh_b);
    const Prepared hull_a = make_hull(mesh_a);
    const Prepared hull_b = make_hull(mesh_b);
    for (int pose = 0; pose < 12; ++pose) {
      const Quat rotation = Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
      const Vec3 towards = Vec3(normal(random), normal(random), normal(random)).normalized();
      // Slide b in until the convex answer is a small overlap.
      Pose X_wb{1.2 * towards, rotation};
      Deepest expected;
      for (int i = 0; i < 40; ++i) {
        expected = deepest_of(collide(hull_a, Pose{}, hull_b, X_wb, 2.0));
        if (std::abs(expected.depth - 0.008) < 1e-9) break;
        X_wb.position += (expected.depth - 0.008) * expected.normal;
      }
      ASSERT_NEAR(expected.depth, 0.008, 1e-6);
      const Deepest found = deepest_of(collide(a, Pose{}, b, X_wb, 0.002));
      // Where several features overlap at once, another one than that of the least way out may speak; but no
      // contact is deeper than the way out along its own normal, nor much shallower than the least one.
      EXPECT_LT(found.depth, overlap_along(mesh_a, mesh_b, X_wb, found.normal) + 2e-4)
          << shape << " " << pose;
      EXPECT_GT(found.depth, 0.7 * expected.depth) << shape << " " << pose;
      ++count;
      if (std::abs(found.depth - expected.depth) < 1e-3 && found.normal.dot(expected.normal) > 0.98) ++agree;
    }
  }
  EXPECT_GE(agree, 0.75 * count);
}

TEST(MeshContact, CylinderAndHullAgainstMeshes)
{
  const Prepared floor = make_mesh(box_mesh({4, 4, 1}));
  const Prepared cylinder = make({model::Cylinder{0.3, 0.4}});
  const Deepest standing = deepest_of(collide(floor, at(0, 0, -0.5), cylinder, at(0, 0, 0.395), 0.001));
  EXPECT_NEAR(standing.depth, 0.005, 1e-9);
  EXPECT_GT(standing.normal.z(), 0.9999);
  const Deepest lying = deepest_of(
      collide(floor, at(0, 0, -0.5), cylinder, at(0, 0, 0.295, turn(kPi / 2, Vec3::UnitX())), 0.001));
  EXPECT_NEAR(lying.depth, 0.005, 0.002);
  EXPECT_GT(lying.normal.z(), 0.9999);
  const Prepared hull = make_hull(box_mesh({0.5, 0.5, 0.5}));
  const auto patches = collide(floor, at(0, 0, -0.5), hull, at(0.1, 0.2, 0.245), 0.001);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].count, 4);
  EXPECT_NEAR(deepest_of(patches).depth, 0.005, 1e-9);
}

TEST(MeshContact, MeshOnAHeightFieldAndOnAnOpenMesh)
{
  model::HeightField field;
  field.columns = field.rows = 9;
  field.spacing = 0.5;
  field.heights = std::make_shared<std::vector<double>>(81, 0.25);
  const Prepared ground = make({field});
  const Prepared open = make_mesh(triangulate(field));
  const Prepared box = make_mesh(box_mesh({0.6, 0.6, 0.6}));
  for (const Prepared* below : {&ground, &open}) {
    const auto patches = collide(box, at(2.1, 1.9, 0.54), *below, Pose{}, 0.002);
    ASSERT_EQ(patches.size(), 1u);
    EXPECT_LT(patches[0].normal.z(), -0.9999);
    EXPECT_EQ(patches[0].count, 4);
    for (const ContactPoint& point : patches[0].active()) EXPECT_NEAR(point.depth, 0.01, 1e-9);
  }
}

// --- Properties
// -----------------------------------------------------------------------------------------------------

TEST(MeshContact, SwappingTheBodiesFlipsTheContacts)
{
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  const Prepared bar = make_mesh(box_mesh({2, 0.2, 0.2}));
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    // One after the other: the order in which a compiler works out arguments is its own.
    std::array<double, 7> x;
    for (double& value : x) value = normal(random);
    const Pose X_wb{0.3 * Vec3(x[0], x[1], x[2]), Quat(x[3], x[4], x[5], x[6]).normalized()};
    const Prepared& other = i % 2 == 0 ? ring : bar;
    const auto forth = collide(ring, Pose{}, other, X_wb, 0.01);
    const auto back = collide(other, X_wb, ring, Pose{}, 0.01);
    const Deepest d = deepest_of(forth);
    const Deepest e = deepest_of(back);
    ASSERT_EQ(forth.empty(), back.empty());
    // Deep overlaps have several ways out that are equally good.
    if (forth.empty() || std::max(d.depth, e.depth) > 0.05) continue;
    EXPECT_NEAR(d.depth, e.depth, 1e-4) << i;
    EXPECT_LT(d.normal.dot(e.normal), -0.99) << i;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(MeshContact, NothingBeyondTheMargin)
{
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  const Prepared bar = make_mesh(box_mesh({2, 0.2, 0.2}));
  const double margin = 0.01;
  EXPECT_TRUE(collide(ring, Pose{}, ring, at(0, 0, 0.3 + margin + 0.003), margin).empty());
  EXPECT_TRUE(
      collide(bar, Pose{}, bar, at(0, 0, 0.2 + margin + 1e-6, turn(1, Vec3::UnitZ())), margin).empty());
  EXPECT_TRUE(collide(bar, Pose{}, ring, at(0, 0, 0.25 + margin + 0.003), margin).empty());
  // A bar through the hole of a ring touches nothing.
  EXPECT_TRUE(collide(bar, Pose{}, ring, at(0, 0, 0, turn(kPi / 2, Vec3::UnitY())), margin).empty());
}

TEST(MeshContact, IsBitwiseRepeatable)
{
  const Prepared ring = make_mesh(torus_mesh(25, 10));
  const Pose X_wb = at(0.6, 0.1, 0.05, turn(1.2, Vec3(1, 2, 3)));
  const auto first = collide(ring, Pose{}, ring, X_wb, 0.02);
  const auto again = collide(make_mesh(torus_mesh(25, 10)), Pose{}, ring, X_wb, 0.02);
  ASSERT_EQ(first.size(), again.size());
  ASSERT_FALSE(first.empty());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].count, again[i].count);
    EXPECT_EQ(first[i].normal, again[i].normal);
    for (std::size_t k = 0; k < first[i].count; ++k) {
      EXPECT_EQ(first[i].points[k].depth, again[i].points[k].depth);
      EXPECT_EQ(first[i].points[k].feature_a, again[i].points[k].feature_a);
    }
  }
}

TEST(MeshContact, FeaturesStayTheSameThroughASmallMove)
{
  const Prepared bar = make_mesh(box_mesh({2, 0.2, 0.2}));
  const auto names = [&](double dx) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
    const Quat crossed = turn(kPi / 2, Vec3::UnitZ());
    for (const ContactPatch& patch : collide(bar, Pose{}, bar, at(dx, 0, 0.19, crossed), 0.001)) {
      for (const ContactPoint& point : patch.active()) result.emplace_back(point.feature_a, point.feature_b);
    }
    std::sort(result.begin(), result.end());
    return result;
  };
  const auto before = names(0);
  EXPECT_EQ(before.size(), 4u);
  EXPECT_EQ(before, names(1e-3));
}

double max_depth_of(const std::vector<ContactPatch>& patches)
{
  double deepest = -1;
  for (const ContactPatch& patch : patches) {
    for (const ContactPoint& point : patch.active()) deepest = std::max(deepest, point.depth);
  }
  return deepest;
}

// Bit for bit.
bool is_same(const std::vector<ContactPatch>& p, const std::vector<ContactPatch>& q)
{
  return std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const ContactPatch& x, const ContactPatch& y) {
    return x.normal == y.normal &&
           std::equal(x.active().begin(), x.active().end(), y.active().begin(), y.active().end(),
                      [](const ContactPoint& u, const ContactPoint& v) {
                        return u.position == v.position && u.depth == v.depth && u.feature_a == v.feature_a &&
                               u.feature_b == v.feature_b;
                      });
  });
}

// The contacts do not depend on how the faces that may touch were found.
TEST(MeshContact, ZListFindsTheSameContacts)
{
  std::mt19937 engine(9);
  const auto in = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine);
  };
  std::vector<double> heights;
  for (int i = 0; i < 400; ++i) heights.push_back(0.05 * std::sin(0.7 * (i % 20)) * std::cos(0.6 * (i / 20)));
  model::HeightField field;
  field.columns = field.rows = 20;
  field.spacing = 0.1;
  field.heights = std::make_shared<std::vector<double>>(heights);
  shapes::CylinderDesc cylinder;
  cylinder.radius = 0.4;
  cylinder.height = 0.5;
  std::vector<Prepared> bodies;
  bodies.push_back(make_mesh(box_mesh({0.6, 0.4, 0.5})));
  bodies.push_back(make_mesh(shapes::generate(cylinder)));
  bodies.push_back(make_mesh(torus_mesh(24, 12)));
  bodies.push_back(make({field}));
  const PairTable& by_list = pair_table_with(Interference::zlist);
  int touching = 0;
  int same = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Prepared& a = bodies[static_cast<std::size_t>(trial % 3)];
    const Prepared& b = bodies[static_cast<std::size_t>(trial / 3 % 4)];
    PairInput pair;
    pair.a = &a.prepared;
    pair.b = &b.prepared;
    pair.X_wa = {Vec3(in(0.6, 1.3), in(0.6, 1.3), in(-0.2, 0.6)),
                 Quat(Eigen::AngleAxisd(in(0, 3), Vec3(in(-1, 1), in(-1, 1), in(-1, 1)).normalized()))};
    if (trial / 3 % 4 != 3) pair.X_wb.position = Vec3(1, 1, 0);
    pair.margin = in(0.001, 0.05);
    std::vector<ContactPatch> expected;
    std::vector<ContactPatch> found;
    default_pair_table().collide(pair, expected);
    by_list.collide(pair, found);
    const double deepest = max_depth_of(expected);
    if (expected.empty() && found.empty()) continue;
    // Behind an open mesh the z-list looks further than the hierarchy, and in deep overlaps neither sees all.
    if (std::max(deepest, max_depth_of(found)) > 0.1) continue;
    ++touching;
    same += is_same(found, expected) ? 1 : 0;
  }
  EXPECT_EQ(same, touching);
  EXPECT_GT(touching, 60);
}

}  // namespace
}  // namespace thrum::collision
