// SPDX-License-Identifier: MIT
// Boyse's tests against closed forms, against fine sampling of the motion, and seen from the other body.
#include "thrum/collision/boyse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "tests/support/random_motion.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/index.h"
#include "thrum/collision/z_list.h"
#include "thrum/mesh/triangle_queries.h"

namespace thrum::collision {
namespace {

constexpr double kPi = std::numbers::pi;

using support::Random;

std::vector<mesh::TrianglePair> all_pairs(const BoyseSurface& a, const BoyseSurface& b)
{
  std::vector<mesh::TrianglePair> pairs;
  for (Index i = 0; i < count_of(a.mesh().triangles); ++i) {
    for (Index j = 0; j < count_of(b.mesh().triangles); ++j) pairs.push_back({i, j});
  }
  return pairs;
}

BoyseImpact first_impact(const BoyseSurface& a, const BoyseSurface& b, const SplitMotion& motion)
{
  return find_first_impact(a, b, motion, all_pairs(a, b));
}

Quat turned(double angle, const Vec3& axis)
{
  return Quat(Eigen::AngleAxisd(angle, axis));
}

SplitMotion moved(const Vec3& from, const Vec3& by, const Quat& rotation = Quat::Identity())
{
  return split_motion({from, rotation}, {from + by, rotation}, Vec3::Zero());
}

// A tent of length 2 `half` along x with its ridge at z = 0, all of it below.
mesh::TriangleMesh tent(double half)
{
  mesh::TriangleMesh mesh;
  for (const double x : {-half, half}) {
    mesh.vertices.emplace_back(x, 0, 0);
    mesh.vertices.emplace_back(x, -0.5, -0.5);
    mesh.vertices.emplace_back(x, 0.5, -0.5);
  }
  mesh.triangles = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3}, {0, 3, 5}, {0, 5, 2}, {1, 2, 5}, {1, 5, 4}};
  return mesh;
}

mesh::TriangleMesh octahedron()
{
  return support::sphere_mesh(0.5, 0);
}

TEST(SplitMotion, EndsAtTheSecondPoseAndTurnsAboutTheCentre)
{
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Pose from{random.in_cube(1), random.rotation()};
    const Pose to{random.in_cube(1), random.rotation()};
    const Vec3 centre = random.in_cube(1);
    const SplitMotion motion = split_motion(from, to, centre);
    const Vec3 p = random.in_cube(1);
    EXPECT_LT((motion.end().point(p) - to.point(p)).norm(), 1e-12);
    EXPECT_LT((motion.rotated(0.3).point(centre) - to.point(centre)).norm(), 1e-12);
    EXPECT_LE(motion.angle, kPi + 1e-12);
    // Seen from the body that moves, the other makes the inverse motion at every time.
    const SplitMotion seen = seen_from_mover(motion);
    for (const double s : {0.0, 0.4, 1.0}) {
      EXPECT_LT((seen.translated(s).point(motion.translated(s).point(p)) - p).norm(), 1e-12);
      EXPECT_LT((seen.rotated(s).point(motion.rotated(s).point(p)) - p).norm(), 1e-12);
    }
  }
}

// A screw has its translation along its axis; about any axis, a rotation alone has none.
TEST(SplitMotion, OfAScrewTranslatesAlongTheAxisOnly)
{
  Random random(8);
  for (int i = 0; i < 50; ++i) {
    const Pose from{random.in_cube(1), random.rotation()};
    const Vec3 axis = random.direction();
    const Vec3 point = random.in_cube(2);
    const double pitch = i % 2 == 0 ? 0.0 : 0.3;
    const Quat turn = turned(random.in(0.01, 3), axis);
    const Pose to{point + turn * (from.position - point) + pitch * axis, turn * from.rotation};
    const SplitMotion motion = screw_motion(from, to);
    EXPECT_LT((motion.translation - pitch * axis).norm(), 1e-10);
    EXPECT_LT(axis.cross(motion.centre - point).norm(), 1e-10) << "the centre is on the axis";
    EXPECT_LT((motion.end().position - to.position).norm(), 1e-10);
    EXPECT_LT(motion.end().rotation.angularDistance(to.rotation), 1e-7);
  }
}

// A vertex at distance r from the axis z meets the plane x = c at cos(angle) = c / r.
TEST(Boyse, ARotatingVertexMeetsAFaceWhereTheCircleMeetsThePlane)
{
  const std::array<Vec3, 3> face{Vec3(0.3, -5, -5), Vec3(0.3, -5, 5), Vec3(0.3, 5, 0)};  // front towards -x
  const std::array<Vec3, 3> back{face[0], face[2], face[1]};
  const BoyseRotation turn{Vec3::Zero(), Vec3::UnitZ(), 3.0};
  const double angle = std::acos(0.3 / 0.5);
  const BoyseRoots from_behind = rotate_vertex({0.5, 0, 0.1}, turn, back, 1e-9);
  ASSERT_EQ(from_behind.count, 1);
  EXPECT_NEAR(from_behind.share[0] * 3.0, angle, 1e-12);
  EXPECT_EQ(rotate_vertex({0.5, 0, 0.1}, turn, face, 1e-9).count, 0) << "it comes from the back";
  EXPECT_EQ(rotate_vertex({0.2, 0, 0.1}, turn, back, 1e-9).count, 0) << "the circle is too small";
}

// The first crossing from front to back in small steps.
double sampled_crossing(const Vec3& p, const BoyseRotation& turn, const std::array<Vec3, 3>& face,
                        double& clearance)
{
  const Vec3 n = (face[1] - face[0]).cross(face[2] - face[0]).normalized();
  const int steps = 4000;
  const auto place = [&](double s) {
    return Vec3(turn.centre + Eigen::AngleAxisd(s * turn.angle, turn.axis) * Vec3(p - turn.centre));
  };
  clearance = 1e9;
  double before = n.dot(p - face[0]);
  for (int i = 1; i <= steps; ++i) {
    const double s = static_cast<double>(i) / steps;
    const Vec3 x = place(s);
    const double after = n.dot(x - face[0]);
    if (before > 0 && after <= 0) {
      double inside = 1e9;
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3 side = face[(k + 1) % 3] - face[k];
        inside = std::min(inside, n.cross(side).dot(x - face[k]) / side.norm());
      }
      clearance = std::min(clearance, std::abs(inside));
      if (inside > 0) return s;
    }
    before = after;
  }
  return -1;
}

TEST(Boyse, ARotatingVertexMeetsAFaceWhereFineStepsDo)
{
  Random random(2);
  int hits = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::array<Vec3, 3> face{random.in_cube(1), random.in_cube(1), random.in_cube(1)};
    const BoyseRotation turn{random.in_cube(0.5), random.direction(), random.in(0.1, 3)};
    const Vec3 p = random.in_cube(1);
    double clearance = 0;
    const double sampled = sampled_crossing(p, turn, face, clearance);
    if (clearance < 0.01) continue;  // too near the border for the steps
    const BoyseRoots roots = rotate_vertex(p, turn, face, 1e-9);
    ASSERT_EQ(sampled >= 0, roots.count > 0) << i;
    if (roots.count == 0) continue;
    ++hits;
    EXPECT_NEAR(roots.share[0], sampled, 1.01 / 4000);
  }
  EXPECT_GT(hits, 20);
}

TEST(Boyse, ATranslatedVertexMeetsAFaceWhereTheRayDoes)
{
  Random random(3);
  int hits = 0;
  for (int i = 0; i < 400; ++i) {
    const std::array<Vec3, 3> face{random.in_cube(1), random.in_cube(1), random.in_cube(1)};
    const Vec3 inside = 0.2 * face[0] + 0.5 * face[1] + 0.3 * face[2];
    const Vec3 d = random.in_cube(2);
    const double share = random.in(-0.5, 1.5);
    const Vec3 n = (face[1] - face[0]).cross(face[2] - face[0]);
    const BoyseRoots roots = translate_vertex(inside - share * d, d, face, 1e-9);
    const bool expected = share >= 0 && share <= 1 && n.dot(d) < 0;
    ASSERT_EQ(roots.count, expected ? 1 : 0);
    if (!expected) continue;
    ++hits;
    EXPECT_NEAR(roots.share[0], share, 1e-9);
    // Beside the face nothing is met.
    const Vec3 outside = 1.1 * face[0] - 0.6 * face[1] + 0.5 * face[2];
    EXPECT_EQ(translate_vertex(outside - share * d, d, face, 1e-9).count, 0);
  }
  EXPECT_GT(hits, 50);
}

// A turning line about the axis z sweeps the surface x^2 + y^2 = rho(z)^2, a hyperboloid of one sheet. Along
// the other line that is a quadratic equation; the angle follows from the two points of one height.
std::vector<double> hyperboloid_angles(const std::array<Vec3, 2>& edge, const std::array<Vec3, 2>& other,
                                       double max)
{
  const Vec3 e = edge[1] - edge[0];
  const Vec3 f = other[1] - other[0];
  // u(w) = u0 + u1 w puts both at one height.
  const double u0 = (other[0].z() - edge[0].z()) / e.z();
  const double u1 = f.z() / e.z();
  const Vec3 m0 = edge[0] + u0 * e;
  const Vec3 m1 = u1 * e;
  const auto dot2 = [](const Vec3& p, const Vec3& q) {
    return p.x() * q.x() + p.y() * q.y();
  };
  const double a = dot2(f, f) - dot2(m1, m1);
  const double b = 2 * (dot2(other[0], f) - dot2(m0, m1));
  const double c = dot2(other[0], other[0]) - dot2(m0, m0);
  std::vector<double> angles;
  if (b * b < 4 * a * c) return angles;
  for (const double sign : {1.0, -1.0}) {
    const double w = (-b + sign * std::sqrt(b * b - 4 * a * c)) / (2 * a);
    const double u = u0 + u1 * w;
    if (w < 0 || w > 1 || u < 0 || u > 1) continue;
    const Vec3 from = edge[0] + u * e;
    const Vec3 to = other[0] + w * f;
    double angle = std::atan2(to.y(), to.x()) - std::atan2(from.y(), from.x());
    if (angle < 0) angle += 2 * kPi;
    if (angle <= max) angles.push_back(angle);
  }
  std::sort(angles.begin(), angles.end());
  return angles;
}

TEST(Boyse, ARotatingEdgeMeetsAnEdgeWhereTheHyperboloidDoes)
{
  Random random(4);
  int hits = 0;
  int twice = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::array<Vec3, 2> edge{random.in_cube(1), random.in_cube(1)};
    const std::array<Vec3, 2> other{random.in_cube(1), random.in_cube(1)};
    const double angle = random.in(0.5, 3.1);
    const std::vector<double> expected = hyperboloid_angles(edge, other, angle);
    // The same in axes turned and moved at will.
    const Pose X{random.in_cube(1), random.rotation()};
    const BoyseRotation turn{X.position, X.direction(Vec3::UnitZ()), angle};
    const BoyseRoots roots =
        rotate_edge({X.point(edge[0]), X.point(edge[1])}, turn, {X.point(other[0]), X.point(other[1])}, 1e-9);
    ASSERT_EQ(roots.count, static_cast<int>(expected.size())) << i;
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(roots.share[k] * angle, expected[k], 1e-6);
    hits += roots.count > 0 ? 1 : 0;
    twice += roots.count == 2 ? 1 : 0;
  }
  EXPECT_GT(hits, 200);
  EXPECT_GT(twice, 5);
}

TEST(Boyse, ATranslatedEdgeMeetsAnEdge)
{
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Vec3 meeting = random.in_cube(1);
    const Vec3 e = random.direction();
    const Vec3 f = random.direction();
    const Vec3 d = random.in_cube(1);
    if (std::abs(e.cross(f).dot(d)) < 0.01) continue;
    const double share = random.in(0.05, 0.95);
    const Vec3 start = meeting - share * d;
    const BoyseRoots roots =
        translate_edge({start - 0.3 * e, start + 0.6 * e}, d, {meeting - 0.2 * f, meeting + 0.1 * f}, 1e-9);
    ASSERT_EQ(roots.count, 1);
    EXPECT_NEAR(roots.share[0], share, 1e-9);
    EXPECT_EQ(
        translate_edge({start + 0.1 * e, start + 0.6 * e}, d, {meeting - 0.2 * f, meeting + 0.1 * f}, 1e-9)
            .count,
        0);
  }
}

TEST(Boyse, ABoxFallsFlatOntoABox)
{
  const BoyseSurface cube(support::box_mesh({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}));
  const BoyseSurface table(support::box_mesh({-2, -2, -1}, {2, 2, 0}));
  const BoyseImpact impact = first_impact(cube, table, moved({0.1, 0.2, 1.5}, {0, 0, -4}));
  ASSERT_TRUE(impact.found);
  EXPECT_FALSE(impact.in_rotation);
  EXPECT_NEAR(impact.share, 0.25, 1e-12);
  ASSERT_EQ(impact.contacts.size(), 4U);  // its lower corners
  for (const BoyseContact& c : impact.contacts) {
    EXPECT_EQ(c.kind, BoyseKind::vertex_face);
    EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-12);
    EXPECT_NEAR(c.point.z(), 0, 1e-9);
  }
}

TEST(Boyse, CrossedRidgesPushAlongTheProductOfTheirDirections)
{
  const BoyseSurface ridge(tent(1));
  const Quat upside_down = turned(kPi / 2 + 0.2, Vec3::UnitZ()) * turned(kPi, Vec3::UnitX());
  const BoyseImpact impact = first_impact(ridge, ridge, moved({0.2, 0.1, 0.75}, {0, 0, -1}, upside_down));
  ASSERT_TRUE(impact.found);
  EXPECT_NEAR(impact.share, 0.75, 1e-12);
  ASSERT_EQ(impact.contacts.size(), 1U);
  EXPECT_EQ(impact.contacts[0].kind, BoyseKind::edge_edge);
  EXPECT_LT((impact.contacts[0].normal - Vec3::UnitZ()).norm(), 1e-12);
}

// A bar that turns about its end meets a wall at a known angle.
TEST(Boyse, ATurningBarMeetsAWall)
{
  const BoyseSurface bar(support::box_mesh({0, -0.05, -0.05}, {1, 0.05, 0.05}));
  const BoyseSurface wall(support::box_mesh({-2, 0.5, -2}, {2, 1, 2}));
  const SplitMotion motion = split_motion({}, {Vec3::Zero(), turned(2.0, Vec3::UnitZ())}, Vec3::Zero());
  const BoyseImpact impact = first_impact(bar, wall, motion);
  ASSERT_TRUE(impact.found);
  EXPECT_TRUE(impact.in_rotation);
  // Its corner (1, 0.05) reaches y = 0.5.
  const double radius = std::hypot(1, 0.05);
  EXPECT_NEAR(impact.share * 2.0, std::asin(0.5 / radius) - std::atan2(0.05, 1), 1e-9);
  EXPECT_EQ(impact.contacts.size(), 2U);
  EXPECT_LT((impact.contacts[0].normal - Vec3(0, -1, 0)).norm(), 1e-12);
}

TEST(Boyse, DegenerateContactsFollowTheirRules)
{
  const BoyseSurface tip(octahedron());
  // Vertex on vertex.
  BoyseImpact impact = first_impact(tip, tip, moved({0, 0, 1.5}, {0, 0, -1}));
  ASSERT_TRUE(impact.found);
  EXPECT_NEAR(impact.share, 0.5, 1e-9);
  ASSERT_EQ(impact.contacts.size(), 1U);
  EXPECT_EQ(impact.contacts[0].kind, BoyseKind::vertex_vertex);
  EXPECT_LT((impact.contacts[0].normal - Vec3::UnitZ()).norm(), 1e-9);
  // Vertex on edge.
  const BoyseSurface ridge(tent(1));
  impact = first_impact(tip, ridge, moved({0.1, 0, 1}, {0, 0, -1}));
  ASSERT_TRUE(impact.found);
  EXPECT_NEAR(impact.share, 0.5, 1e-9);
  ASSERT_EQ(impact.contacts.size(), 1U);
  EXPECT_EQ(impact.contacts[0].kind, BoyseKind::vertex_edge);
  EXPECT_LT((impact.contacts[0].normal - Vec3::UnitZ()).norm(), 1e-9);
  // The same with the roles exchanged.
  impact = first_impact(ridge, tip, moved({0.1, 0, -1}, {0, 0, 1}));
  ASSERT_TRUE(impact.found);
  ASSERT_EQ(impact.contacts.size(), 1U);
  EXPECT_LT((impact.contacts[0].normal + Vec3::UnitZ()).norm(), 1e-9);
  // Parallel edges: the ends of the part in common.
  const BoyseSurface short_ridge(tent(0.4));
  impact = first_impact(short_ridge, ridge, moved({0.3, 0, 1}, {0, 0, -2}, turned(kPi, Vec3::UnitX())));
  ASSERT_TRUE(impact.found);
  EXPECT_NEAR(impact.share, 0.5, 1e-9);
  ASSERT_EQ(impact.contacts.size(), 2U);
  for (const BoyseContact& c : impact.contacts) {
    EXPECT_EQ(c.kind, BoyseKind::parallel_edges);
    EXPECT_LT((c.normal - Vec3::UnitZ()).norm(), 1e-9);
    EXPECT_NEAR(std::abs(c.point.x() - 0.3), 0.4, 1e-9);
  }
}

// What rests on something may leave it or slide over it; only what approaches is an impact.
TEST(Boyse, ContactsAtTheBeginningCountWhenTheyApproach)
{
  const BoyseSurface cube(support::box_mesh({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}));
  const Vec3 on_top(0, 0, 1);
  EXPECT_FALSE(first_impact(cube, cube, moved(on_top, {0, 0, 0.3})).found);
  EXPECT_FALSE(first_impact(cube, cube, moved(on_top, {0.3, 0.2, 0})).found) << "flush, sliding";
  const BoyseImpact impact = first_impact(cube, cube, moved(on_top, {0.1, 0, -0.3}));
  ASSERT_TRUE(impact.found);
  EXPECT_EQ(impact.share, 0);
  // Flush sides, moving in: the cube passes over the other one.
  EXPECT_FALSE(first_impact(cube, cube, moved({0.4, 0, 1}, {-0.4, 0, 0})).found);
}

double min_distance(const BoyseSurface& a, const BoyseSurface& b, const mesh::Bvh& bvh_a,
                    const mesh::Bvh& bvh_b, const Pose& X)
{
  double least = 1e9;
  mesh::Bvh::for_each_near_pair(bvh_a, X, bvh_b, Pose{}, 0.01, [&](Index i, Index j) {
    std::array<Vec3, 3> moved_face = a.corners(i);
    for (Vec3& v : moved_face) v = X.point(v);
    least = std::min(least, mesh::squared_distance_of_triangles(moved_face, b.corners(j)));
    return true;
  });
  return std::sqrt(least);
}

std::vector<BoyseSurface> surfaces()
{
  std::vector<BoyseSurface> result;
  result.emplace_back(support::box_mesh({-0.4, -0.3, -0.5}, {0.4, 0.3, 0.5}));
  result.emplace_back(octahedron());
  result.emplace_back(support::torus_mesh(0.4, 0.15, 9, 6));
  result.emplace_back(support::box_mesh({-0.9, -0.02, -0.5}, {0.9, 0.02, 0.5}));
  result.emplace_back(support::sphere_mesh(0.5, 1));
  return result;
}

// Random motions: before the impact nothing overlaps in fine steps, right after it something does. Where no
// impact is found nothing ever overlaps.
TEST(Boyse, FindsTheFirstTouchOfRandomMotions)
{
  Random random(6);
  const std::vector<BoyseSurface> bodies = surfaces();
  std::vector<mesh::Bvh> trees;
  trees.reserve(bodies.size());
  for (const BoyseSurface& body : bodies) trees.emplace_back(body.mesh());
  ZListBuffer buffer;
  int found = 0;
  int turned_into = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t ia = at(trial % 5);
    const std::size_t ib = at(trial / 5 % 5);
    const BoyseSurface& a = bodies[ia];
    const BoyseSurface& b = bodies[ib];
    const Pose from{1.3 * random.direction(), random.rotation()};
    if (min_distance(a, b, trees[ia], trees[ib], from) < 0.001) continue;
    const Pose to{trial % 3 == 0 ? Vec3(from.position + random.in_cube(0.3)) : random.in_cube(0.8),
                  turned(random.in(0, 3), random.direction()) * from.rotation};
    const SplitMotion motion = split_motion(from, to, random.in_cube(0.1));
    const BoyseImpact impact = first_impact(a, b, motion);

    // The pairs of the z-list are enough.
    const std::vector<mesh::TrianglePair> near =
        buffer.find({.mesh = &a.mesh(), .motion = &motion}, {.mesh = &b.mesh()}, {.list_inside = false})
            .pairs;
    const BoyseImpact by_list = find_first_impact(a, b, motion, near);
    ASSERT_EQ(by_list.found, impact.found);
    EXPECT_EQ(by_list.share, impact.share);
    EXPECT_EQ(by_list.contacts.size(), impact.contacts.size());

    const double end =
        !impact.found ? 2 : (impact.in_rotation ? 1 : 0) + impact.share;  // 0 to 1, then 1 to 2
    const auto pose_at = [&](double x) {
      return x <= 1 ? motion.translated(x) : motion.rotated(x - 1);
    };
    for (int k = 0; k < 60; ++k) {
      const double x = end * (k / 60.0);
      if (end - x < 1e-6) continue;
      ASSERT_GT(min_distance(a, b, trees[ia], trees[ib], pose_at(x)), 0) << "trial " << trial << " at " << x;
    }
    if (!impact.found) continue;
    ++found;
    turned_into += impact.in_rotation ? 1 : 0;
    EXPECT_LT(min_distance(a, b, trees[ia], trees[ib], impact.X_ba), 1e-6);
    // A grazing touch leaves again at once; nearly all others overlap a little later.
    const double speed = approach_speed(motion, impact.in_rotation, impact.contacts.front());
    if (speed > -0.05 || impact.share > 0.99) continue;
    EXPECT_EQ(min_distance(a, b, trees[ia], trees[ib], pose_at(end + 1e-4)), 0) << trial;
  }
  EXPECT_GT(found, 120);
  EXPECT_GT(turned_into, 15);
}

// Either body may be taken as the one that moves.
TEST(Boyse, IsTheSameSeenFromTheOtherBody)
{
  Random random(7);
  const std::vector<BoyseSurface> bodies = surfaces();
  int found = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const BoyseSurface& a = bodies[at(trial % 5)];
    const BoyseSurface& b = bodies[at(trial / 5 % 5)];
    const Pose from{1.5 * random.direction(), random.rotation()};
    const Pose to{random.in_cube(0.8), turned(random.in(0, 3), random.direction()) * from.rotation};
    const SplitMotion motion = split_motion(from, to, random.in_cube(0.1));
    const BoyseImpact one = first_impact(a, b, motion);
    const BoyseImpact other = first_impact(b, a, seen_from_mover(motion));
    ASSERT_EQ(one.found, other.found);
    if (!one.found) continue;
    ++found;
    EXPECT_EQ(one.in_rotation, other.in_rotation);
    EXPECT_NEAR(one.share, other.share, 1e-9);
    ASSERT_EQ(one.contacts.size(), other.contacts.size());
    const BoyseContact& p = one.contacts.front();
    const BoyseContact& q = other.contacts.front();
    if (one.contacts.size() > 1) continue;
    EXPECT_LT((p.point - one.X_ba.point(q.point)).norm(), 1e-6);
    EXPECT_LT((p.normal + one.X_ba.direction(q.normal)).norm(), 1e-6);
    EXPECT_EQ(p.kind, q.kind);
  }
  EXPECT_GT(found, 30);
}

}  // namespace
}  // namespace thrum::collision
