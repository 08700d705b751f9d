// SPDX-License-Identifier: MIT
#include "thrum/mesh/remesh.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/drawing.h"
#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/editable_mesh.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/section_change.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"

namespace thrum::mesh {
namespace {

using shapes::boolean_union;
using shapes::BoxDesc;
using shapes::CylinderDesc;
using shapes::generate;
using shapes::SphereDesc;
using shapes::TorusDesc;
using support::edge_lengths;
using support::euler_number;
using support::is_closed_manifold;
using support::min_angle;
using support::real;
using support::whole;

constexpr double kDegree = std::numbers::pi / 180;

TriangleMesh remeshed(const TriangleMesh& mesh, double edge_length)
{
  RemeshDesc desc;
  desc.edge_length = edge_length;
  return remesh(mesh, desc);
}

RC_GTEST_PROP(Remesh, OfABoxKeepsItsVolumeToTheLastDigits, ())
{
  // Flat faces and straight edges are kept exactly, whatever the edge length.
  const Vec3 size(real(0.3, 1), real(0.3, 1), real(0.3, 1));
  const double edge = real(0.08, 0.2);
  const TriangleMesh mesh = remeshed(generate(BoxDesc{size}), edge);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(euler_number(mesh) == 2);
  RC_ASSERT(std::abs(signed_volume(mesh) - size.prod()) < 1e-12);
  RC_ASSERT(std::abs(area(mesh) - 2 * (size.x() * size.y() + size.y() * size.z() + size.z() * size.x())) <
            1e-11);
  RC_ASSERT(edge_lengths(mesh).max < 4.0 / 3 * edge + 1e-12);
  RC_ASSERT(edge_lengths(mesh).min > 0.35 * edge);
  RC_ASSERT(std::abs(edge_lengths(mesh).mean / edge - 1) < 0.2);
  RC_ASSERT(min_angle(mesh) > 15 * kDegree);
}

TEST(Remesh, OfRoundShapesStaysOnTheSurface)
{
  const double edge = 0.08;
  const TriangleMesh fine = generate(SphereDesc{0.5, 0.02});
  const TriangleMesh sphere = remeshed(fine, edge);
  EXPECT_TRUE(is_closed_manifold(sphere));
  EXPECT_EQ(euler_number(sphere), 2);
  EXPECT_GT(min_angle(sphere), 30 * kDegree);
  EXPECT_NEAR(edge_lengths(sphere).mean, edge, 0.15 * edge);
  for (const Vec3& v : sphere.vertices) EXPECT_NEAR(v.norm(), 0.5, 0.002);

  const TriangleMesh torus = remeshed(generate(TorusDesc{0.5, 0.2, 0.02}), edge);
  EXPECT_TRUE(is_closed_manifold(torus));
  EXPECT_EQ(euler_number(torus), 0);
  EXPECT_GT(min_angle(torus), 25 * kDegree);
}

TEST(Remesh, KeepsTheRimOfACylinder)
{
  const double radius = 0.5;
  const TriangleMesh mesh = remeshed(generate(CylinderDesc{radius, 0.6, 0, 64}), 0.08);
  EXPECT_TRUE(is_closed_manifold(mesh));
  // The caps stay flat at the full height, and no vertex leaves the cylinder.
  int on_rim = 0;
  for (const Vec3& v : mesh.vertices) {
    EXPECT_LE(std::abs(v.z()), 0.3 + 1e-12);
    EXPECT_LE(v.head<2>().norm(), radius + 1e-12);
    on_rim += std::abs(v.z()) == 0.3 && v.head<2>().norm() > radius * 0.995 ? 1 : 0;
  }
  EXPECT_NEAR(on_rim, 2 * 2 * std::numbers::pi * radius / 0.08, 12);
}

TEST(Remesh, CleansTheSliversOfAUnion)
{
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    const TriangleMesh a = generate(BoxDesc{Vec3(1, 0.6, 0.4)});
    TriangleMesh b =
        i % 2 == 0 ? generate(BoxDesc{Vec3(0.4, 0.4, 1.2)}) : generate(CylinderDesc{0.2, 1.2, 0, 24});
    transform(b, {Vec3(0.05 * i - 0.2, 0.01 * i - 0.05, 0.02 * i),
                  Quat(Eigen::AngleAxisd(0.13 * i - 0.5, Vec3::UnitZ()))});
    const TriangleMesh joined = boolean_union(a, b);
    const TriangleMesh mesh = remeshed(joined, 0.08);
    EXPECT_TRUE(is_closed_manifold(mesh));
    EXPECT_EQ(euler_number(mesh), euler_number(joined));
    EXPECT_NEAR(signed_volume(mesh) / signed_volume(joined), 1, 0.01);
    EXPECT_LT(edge_lengths(mesh).max, 4.0 / 3 * 0.08 + 1e-12);
    // Two sharp edges may come close to each other; only there may thin triangles remain.
    int thin = 0;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const TriangleMesh one{{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)}, {{0, 1, 2}}};
      thin += min_angle(one) < 10 * kDegree ? 1 : 0;
    }
    EXPECT_LT(thin, 0.02 * static_cast<double>(mesh.triangles.size()));
  }
}

// Unions of round and flat parts in any position, with edges as long as some of their details.
RC_GTEST_PROP(Remesh, OfUnionsStaysClosedAndWithinTheDeviation, ())
{
  const TriangleMesh ring = generate(TorusDesc{real(0.5, 1), real(0.1, 0.4), 0.3});
  TriangleMesh part = whole(0, 2) == 0 ? generate(BoxDesc{Vec3(real(0.2, 2), real(0.2, 2), real(0.2, 2))})
                                       : generate(CylinderDesc{real(0.1, 1), real(0.2, 2), 0, whole(3, 30)});
  const Eigen::AngleAxisd turn(real(0, 6), Vec3(real(-1, 1), real(-1, 1), 1).normalized());
  const Vec3 offset(real(-1, 1), real(-1, 1), real(-1, 1));
  for (Vec3& v : part.vertices) v = turn * v + offset;
  const TriangleMesh joined = boolean_union(ring, part);

  const double edge = real(0.1, 0.3);
  const TriangleMesh mesh = remeshed(joined, edge);
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(edge_lengths(mesh).max < 4.0 / 3 * edge + 1e-12);
  const Bvh surface(joined);
  for (const Vec3& v : mesh.vertices) RC_ASSERT(surface.closest_point(v).distance <= edge / 20 * (1 + 1e-9));
}

TEST(Remesh, IsTheSameOnEveryRun)
{
  const TriangleMesh torus = generate(TorusDesc{0.5, 0.2, 0.05});
  const TriangleMesh first = remeshed(torus, 0.08);
  const TriangleMesh second = remeshed(torus, 0.08);
  EXPECT_EQ(first.triangles, second.triangles);
  EXPECT_EQ(first.vertices, second.vertices);
}

RC_GTEST_PROP(EditableMesh, StaysClosedUnderAnyChanges, ())
{
  EditableMesh mesh(generate(SphereDesc{1, 0.6}));
  for (int i = 0; i < 60; ++i) {
    const auto edges = mesh.edges();
    const auto [a, b] = edges[static_cast<std::size_t>(whole(0, static_cast<int>(edges.size())))];
    switch (whole(0, 3)) {
      case 0:
        mesh.split(a, b, (mesh.position(a) + mesh.position(b)) / 2);
        break;
      case 1:
        if (mesh.can_collapse(a, b)) mesh.collapse(a, b, mesh.position(b));
        break;
      default:
        if (mesh.can_flip(a, b)) mesh.flip(a, b);
        break;
    }
  }
  RC_ASSERT(is_closed_manifold(mesh.to_mesh()));
  RC_ASSERT(euler_number(mesh.to_mesh()) == 2);
}

// Fewer triangles, with the volume and the inertia of the surface, and no crossings.
TEST(Remesh, ForElementsKeepsTheVolumeOfCurvedBodies)
{
  const TriangleMesh bowl = generate(shapes::LatheDesc{
      .profile =
          {{0, 0}, {0.05, 0.001}, {0.08, 0.02}, {0.1, 0.06}, {0.095, 0.06}, {0.075, 0.0235}, {0, 0.005}},
      .edge_length = 0.001,
      .segments = 200});
  const std::pair<TriangleMesh, double> bodies[] = {
      {generate(SphereDesc{0.5, 0.02}), 0.3},
      {generate(TorusDesc{0.5, 0.1, 0.015}), 0.3},
      {generate(CylinderDesc{0.1, 1, 0.02, 60}), 0.2},
      {bowl, 0.02},
      {generate(shapes::TubeDesc{.path = {{0, 0, 0}, {1, 0, 0}, {1.5, 0.5, 0.2}},
                                 .radius = 0.05,
                                 .inner_radius = 0.04,
                                 .segments = 32}),
       0.1}};
  for (const auto& [body, edge] : bodies) {
    const TriangleMesh mesh = remesh(body, {.edge_length = edge, .curved_length = 0.6});
    SCOPED_TRACE(body.triangles.size());
    EXPECT_TRUE(is_closed_manifold(mesh));
    EXPECT_EQ(euler_number(mesh), euler_number(body));
    EXPECT_TRUE(self_intersections(mesh, 1).empty());
    EXPECT_GT(min_angle(mesh), 5 * kDegree);
    if (body.triangles.size() > 2000) {
      EXPECT_LT(mesh.triangles.size(), body.triangles.size() / 2);
    }
    const MassProperties before = solid_mass_properties(body);
    const MassProperties after = solid_mass_properties(mesh);
    EXPECT_NEAR(after.volume, before.volume, 1e-6 * before.volume);
    EXPECT_LT((after.inertia - before.inertia).norm(), 1e-3 * before.inertia.norm());
  }
}

// Facets stay within a tenth of a thin wall, and are as long as that allows.
TEST(Remesh, ForElementsHasEdgesThatFollowTheCurvatureOfAWall)
{
  const double radius = 0.5, wall = 0.02;
  TriangleMesh shell = generate(SphereDesc{radius, 0.015});
  TriangleMesh inner = generate(SphereDesc{radius - wall, 0.015});
  for (Triangle& t : inner.triangles) std::swap(t[1], t[2]);
  append(shell, inner);
  const TriangleMesh mesh = remesh(shell, {.edge_length = 0.5, .curved_length = 0.6, .max_triangles = 1e5});
  EXPECT_TRUE(self_intersections(mesh, 1).empty());
  EXPECT_NEAR(edge_lengths(mesh).mean, 0.6 * std::sqrt(radius * wall), 0.15 * 0.6 * std::sqrt(radius * wall));
  for (const Triangle& t : mesh.triangles) {
    const Vec3 middle = (mesh.vertices[at(t[0])] + mesh.vertices[at(t[1])] + mesh.vertices[at(t[2])]) / 3;
    const double depth =
        middle.norm() > radius - wall / 2 ? radius - middle.norm() : radius - wall - middle.norm();
    EXPECT_LT(std::abs(depth), 0.1 * wall);
  }
}

// Second moments of an ellipse of half axes r (1 + s + e) and r (1 + s - e) are those of the circle times
// 1 + 4 s + 2 e and 1 + 4 s - 2 e; frequencies go with their root. A rod that is moved is the same rod.
RC_GTEST_PROP(SectionChange, OfARodIsThatOfItsSecondMoment, ())
{
  const double radius = real(0.01, 0.04), scale = real(-0.01, 0.01), oval = real(-0.02, 0.02);
  const double phase = real(0, 6);
  const TriangleMesh rod = generate(CylinderDesc{radius, 0.3, 0.01, 36});
  const Vec3 along(std::cos(phase), std::sin(phase), 0), across(-along.y(), along.x(), 0);
  TriangleMesh changed = rod, moved = rod;
  for (Vec3& v : changed.vertices)
    v += (scale + oval) * along.dot(v) * along + (scale - oval) * across.dot(v) * across;
  for (Vec3& v : moved.vertices) v += 0.01 * radius * along;
  const double expected = 2 * std::abs(scale) + std::abs(oval);
  RC_ASSERT(std::abs(largest_section_change(rod, changed) - expected) < 0.15 * expected + 2e-4);
  RC_ASSERT(largest_section_change(rod, moved) < 0.2 * 0.01);
  RC_ASSERT(largest_section_change(rod, rod) < 1e-9);
}

// Of a plate on a large body: second moments go with the cube of its thickness, and 4/3 of that is found.
TEST(SectionChange, OfAPlateOnABlockIsThatOfItsThickness)
{
  for (const double change : {-0.03, -0.01, 0.01, 0.03}) {
    const auto body = [](double thickness) {
      TriangleMesh plate = generate(BoxDesc{Vec3(0.4, 0.4, thickness)});
      for (Vec3& v : plate.vertices) v.x() += 0.6;
      return remesh(boolean_union(generate(BoxDesc{Vec3(1, 1, 1)}), plate), {.edge_length = 0.06});
    };
    const double found = largest_section_change(body(0.04), body(0.04 * (1 + change)));
    EXPECT_GE(found, 1.0 * std::abs(change)) << change;
    EXPECT_LE(found, 2.4 * std::abs(change)) << change;
  }
}

RC_GTEST_PROP(Remesh, ForElementsKeepsABoxToTheLastDigits, ())
{
  const Vec3 size(real(0.3, 1), real(0.3, 1), real(0.3, 1));
  const TriangleMesh mesh = remesh(generate(BoxDesc{size}), {.edge_length = 0.15, .curved_length = 0.75});
  RC_ASSERT(is_closed_manifold(mesh));
  RC_ASSERT(std::abs(signed_volume(mesh) - size.prod()) < 1e-12);
  RC_ASSERT(std::abs(area(mesh) - 2 * (size.x() * size.y() + size.y() * size.z() + size.z() * size.x())) <
            1e-11);
}

TEST(Remesh, RejectsAnOpenMesh)
{
  TriangleMesh open = generate(BoxDesc{});
  open.triangles.pop_back();
  EXPECT_THROW(static_cast<void>(remeshed(open, 0.1)), Error);
  EXPECT_THROW(static_cast<void>(remeshed(generate(BoxDesc{}), 0)), Error);
}

}  // namespace
}  // namespace thrum::mesh
