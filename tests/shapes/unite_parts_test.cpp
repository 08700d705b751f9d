// SPDX-License-Identifier: MIT
#include "thrum/shapes/unite_parts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/mesh/sheet.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {
namespace {

constexpr double kRounding = 1e-8;  // of the grid, relative

mesh::TriangleMesh box_at(const Vec3& centre, double side)
{
  mesh::TriangleMesh mesh = generate(BoxDesc{Vec3::Constant(side)});
  for (Vec3& v : mesh.vertices) v += centre;
  return mesh;
}

mesh::TriangleMesh inwards(mesh::TriangleMesh mesh)
{
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

mesh::TriangleMesh together(const std::vector<mesh::TriangleMesh>& parts)
{
  mesh::TriangleMesh mesh;
  for (const mesh::TriangleMesh& part : parts) append(mesh, part);
  return mesh;
}

// Boxes along a diagonal: each next one shares a cube of (1 - d)^3 with the one before.
TEST(UniteParts, BoxesInARowHaveTheVolumeThatTheyCover)
{
  for (const double d : {0.25, 0.6, 0.9}) {
    const UnitedParts united = unite_parts(
        together({box_at(Vec3::Zero(), 1), box_at(Vec3::Constant(d), 1), box_at(Vec3::Constant(2 * d), 1)}));
    EXPECT_EQ(united.parts, 3U);
    const double common = std::pow(1 - d, 3);
    // The first and the third meet below 1/2, where the second holds what they share.
    EXPECT_NEAR(signed_volume(united.mesh), 3 - 2 * common, kRounding) << d;
    EXPECT_TRUE(support::is_closed_manifold(united.mesh));
    EXPECT_TRUE(mesh::self_intersections(united.mesh).empty());
  }
}

// A hollow stays where nothing reaches into it, and what lies in it is not taken for another hollow's.
TEST(UniteParts, HollowsBelongToThePartAroundThem)
{
  const mesh::TriangleMesh shell = together({box_at(Vec3::Zero(), 1), inwards(box_at(Vec3::Zero(), 0.6))});
  const double volume = 1 - std::pow(0.6, 3);
  // Reaches through the wall by 0.1 into the hollow and by 0.1 outwards.
  const UnitedParts pierced = unite_parts(together({shell, box_at(Vec3(0.4, 0, 0), 0.4)}));
  EXPECT_EQ(pierced.parts, 2U);
  EXPECT_NEAR(signed_volume(pierced.mesh), volume + 2 * 0.1 * 0.4 * 0.4, kRounding);
  const UnitedParts beside = unite_parts(together({shell, box_at(Vec3(2, 0, 0), 0.4)}));
  EXPECT_NEAR(signed_volume(beside.mesh), volume + std::pow(0.4, 3), kRounding);
}

// Two open tubes made solid: their walls cross, and the united solid has no more crossings.
TEST(UniteParts, WallsThatCrossBecomeOne)
{
  const auto tube = [](double radius) {
    mesh::TriangleMesh mesh = generate(CylinderDesc{.radius = radius, .height = 0.2, .segments = 24});
    // Without its ends.
    std::erase_if(mesh.triangles, [&](const Triangle& t) {
      const auto z = [&](std::size_t k) {
        return mesh.vertices[at(t[k])].z();
      };
      return z(0) == z(1) && z(0) == z(2);
    });
    return mesh;
  };
  const mesh::TriangleMesh body = tube(0.05);
  mesh::TriangleMesh spout = tube(0.02);
  for (Vec3& v : spout.vertices) v = Vec3(v.z() + 0.1, v.x() + 0.003, v.y() + 0.001);
  const mesh::TriangleMesh solid = mesh::solidified(together({body, spout}), 0.004);
  EXPECT_FALSE(mesh::self_intersections(solid).empty());
  const UnitedParts united = unite_parts(solid);
  EXPECT_EQ(united.parts, 2U);
  EXPECT_EQ(support::component_count(united.mesh), 1);
  EXPECT_TRUE(support::is_closed_manifold(united.mesh));
  EXPECT_TRUE(mesh::self_intersections(united.mesh).empty());
  EXPECT_LT(signed_volume(united.mesh), signed_volume(solid));
  EXPECT_GT(signed_volume(united.mesh), 0.95 * signed_volume(solid));
}

TEST(UniteParts, OnePartIsKeptAndOpenOnesAreRejected)
{
  const mesh::TriangleMesh box = box_at(Vec3::Zero(), 1);
  EXPECT_EQ(unite_parts(box).parts, 1U);
  EXPECT_EQ(unite_parts(box).mesh.vertices, box.vertices);
  mesh::TriangleMesh open = together({box, box_at(Vec3::Constant(0.5), 1)});
  open.triangles.pop_back();
  EXPECT_THROW(static_cast<void>(unite_parts(open)), Error);
}

}  // namespace
}  // namespace thrum::shapes
