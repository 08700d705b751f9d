// SPDX-License-Identifier: MIT
// Thin walls found in closed solids, and axes that turn with a body.
#include "thrum/mesh/wall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/random.h"
#include "thrum/mesh/body_axes.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/sheet.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::mesh {
namespace {

Mat3 random_rotation(base::Random& random)
{
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.normal();
  return Eigen::Quaterniond(q.normalized()).toRotationMatrix();
}

TriangleMesh turned(TriangleMesh mesh, const Mat3& rotation)
{
  for (Vec3& v : mesh.vertices) v = rotation * v + Vec3(0.3, -1.2, 0.7);
  return mesh;
}

// Three flaps, bent by 60 degrees and by 40 degrees.
TriangleMesh folded_strip(double thickness)
{
  TriangleMesh sheet;
  const Vec2 corners[] = {{0, 0}, {0.06, 0}, {0.1, 0.0693}, {0.09, 0.13}};
  for (const Vec2& c : corners)
    for (const double y : {0.0, 0.05}) sheet.vertices.emplace_back(c.x(), y, c.y());
  for (Index k = 0; k < 3; ++k) {
    sheet.triangles.push_back({2 * k, 2 * k + 2, 2 * k + 1});
    sheet.triangles.push_back({2 * k + 1, 2 * k + 2, 2 * k + 3});
  }
  return solidified(sheet, thickness);
}

// A round pot with walls of 3 mm, squeezed: its wall is 3 to 4.5 mm thick.
TriangleMesh oval_pot(int segments)
{
  TriangleMesh pot = shapes::generate(shapes::LatheDesc{
      .profile = {{0, 0}, {0.05, 0}, {0.06, 0.08}, {0.057, 0.08}, {0.0474, 0.003}, {0, 0.003}},
      .segments = segments});
  for (Vec3& v : pot.vertices) v.x() *= 1.5;
  return pot;
}

TEST(Wall, FoldedSheetsAreFoundInAnyPosition)
{
  base::Random random(3);
  const double thickness = 0.001;
  for (int k = 0; k < 20; ++k) {
    const TriangleMesh solid = turned(folded_strip(thickness), random_rotation(random));
    const auto wall = find_wall(solid);
    ASSERT_TRUE(wall) << k;
    EXPECT_NEAR(wall->thickness, thickness, 1e-3 * thickness);
    // At folds the corners of the two sides belong to each other.
    EXPECT_LT(std::abs(wall->volume_error), 1e-9);
    EXPECT_NEAR(signed_volume(solid_between(wall->side, wall->across)), signed_volume(solid),
                1e-9 * signed_volume(solid));
  }
}

TEST(Wall, PotsThatAreNotRoundAndHollowBodiesAreFound)
{
  const TriangleMesh pot = oval_pot(48);
  const auto wall = find_wall(pot);
  ASSERT_TRUE(wall);
  EXPECT_LT(std::abs(wall->volume_error), 1e-3);
  EXPECT_GT(wall->thickness, 0.0029);
  EXPECT_LT(wall->thickness, 0.0046);
  // Two closed surfaces, one in the other, without a rim.
  TriangleMesh hollow = shapes::generate(shapes::SphereDesc{.radius = 0.05, .edge_length = 0.01});
  const std::size_t count = hollow.vertices.size();
  const std::vector<Triangle> outer = hollow.triangles;
  for (std::size_t v = 0; v < count; ++v) hollow.vertices.emplace_back(0.98 * hollow.vertices[v]);
  for (const Triangle& t : outer) {
    const auto n = static_cast<Index>(count);
    hollow.triangles.push_back({t[0] + n, t[2] + n, t[1] + n});
  }
  EXPECT_TRUE(find_wall(hollow));
}

// Sides with other triangles: the difference of two solids that do not share a vertex.
TEST(Wall, SidesNeedNotMatch)
{
  const Vec3 size(0.12, 0.08, 0.05);
  TriangleMesh inner = shapes::generate(shapes::BoxDesc{.size = size, .edge_length = 0.017});
  for (Vec3& v : inner.vertices) v += Vec3(0, 0, 0.002);
  const TriangleMesh tray = shapes::boolean_difference(
      shapes::generate(shapes::BoxDesc{.size = size + Vec3(0.004, 0.004, 0), .edge_length = 0.011}), inner);
  const auto wall = find_wall(tray);
  ASSERT_TRUE(wall);
  EXPECT_NEAR(wall->thickness, 0.002, 1e-6);
  EXPECT_LT(std::abs(wall->volume_error), 1e-6);
}

TEST(Wall, OtherSolidsAreNotTakenForOne)
{
  EXPECT_FALSE(find_wall(shapes::generate(shapes::BoxDesc{.size = {0.2, 0.1, 0.05}})));
  EXPECT_FALSE(find_wall(shapes::generate(shapes::SphereDesc{.radius = 0.1, .edge_length = 0.03})));
  EXPECT_FALSE(find_wall(shapes::generate(shapes::MugDesc{})));
  EXPECT_FALSE(find_wall(shapes::make_table({})));
  // A wall with a rib: three sheets meet.
  const auto box = [](const Vec3& low, const Vec3& high) {
    TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
    for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
    return mesh;
  };
  EXPECT_FALSE(find_wall(
      shapes::boolean_union(box({0, 0, 0}, {0.2, 0.2, 0.002}), box({0.1, 0, 0}, {0.102, 0.2, 0.1}))));
  // A pot with a bead along its rim: two sides that see each other, but not all of the solid is between them.
  TriangleMesh beaded = shapes::generate(shapes::LatheDesc{.profile = {{0, 0},
                                                                       {0.05, 0},
                                                                       {0.05, 0.075},
                                                                       {0.053, 0.0775},
                                                                       {0.053, 0.0825},
                                                                       {0.05, 0.085},
                                                                       {0.047, 0.085},
                                                                       {0.044, 0.0825},
                                                                       {0.044, 0.0775},
                                                                       {0.047, 0.075},
                                                                       {0.047, 0.003},
                                                                       {0, 0.003}},
                                                           .segments = 48});
  EXPECT_FALSE(find_wall(beaded));
  // One half is twice as thick as the other.
  EXPECT_FALSE(
      find_wall(shapes::boolean_union(box({0, 0, 0}, {0.2, 0.2, 0.002}), box({0, 0, 0}, {0.1, 0.2, 0.004}))));
}

// A body that is turned has axes that are turned with it, whatever its symmetry.
TEST(BodyAxes, TurnWithTheBody)
{
  base::Random random(5);
  const TriangleMesh bodies[] = {shapes::generate(shapes::MugDesc{}), folded_strip(0.002),
                                 shapes::generate(shapes::BoxDesc{.size = {0.3, 0.2, 0.2}}), oval_pot(24)};
  for (std::size_t b = 0; b < std::size(bodies); ++b) {
    const Mat3 axes = body_axes(bodies[b]);
    EXPECT_NEAR(axes.determinant(), 1, 1e-12);
    for (int k = 0; k < 20; ++k) {
      const Mat3 rotation = random_rotation(random);
      const Mat3 found = body_axes(turned(bodies[b], rotation));
      // In its axes the body is the same: its vertices have the same sums of powers, by axis.
      const auto sums = [](const TriangleMesh& mesh, const Mat3& of) {
        Vec3 centre = Vec3::Zero();
        for (const Vec3& v : mesh.vertices) centre += v / static_cast<double>(mesh.vertices.size());
        Mat3 powers = Mat3::Zero();
        for (const Vec3& v : mesh.vertices) {
          const Vec3 x = of.transpose() * (v - centre);
          for (int p = 0; p < 3; ++p) powers.col(p).array() += x.array().pow(p + 2);
        }
        return powers;
      };
      const Mat3 expected = sums(bodies[b], axes);
      for (int p = 0; p < 3; ++p)
        EXPECT_LT((sums(turned(bodies[b], rotation), found).col(p) - expected.col(p)).norm(),
                  1e-6 * expected.col(p).norm() + 1e-12)
            << b << " power " << p + 2;
    }
  }
}

}  // namespace
}  // namespace thrum::mesh
