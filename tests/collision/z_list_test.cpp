// SPDX-License-Identifier: MIT
// The z-list buffer against the exact test of all pairs of triangles.
#include "thrum/collision/z_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "tests/support/ground_mesh.h"
#include "tests/support/random_motion.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::collision {
namespace {

using support::Random;

std::array<Vec3, 3> corners(const mesh::TriangleMesh& mesh, Index face, const Pose& X)
{
  return {X.point(mesh.corner(at(face), 0)), X.point(mesh.corner(at(face), 1)),
          X.point(mesh.corner(at(face), 2))};
}

double distance(const ZListBody& a, Index face_a, const ZListBody& b, Index face_b)
{
  return std::sqrt(
      mesh::squared_distance_of_triangles(corners(*a.mesh, face_a, a.X_w), corners(*b.mesh, face_b, b.X_w)));
}

// Every pair, without any structure but a box test.
std::vector<mesh::TrianglePair> brute_force(const ZListBody& a, const ZListBody& b, double margin)
{
  std::vector<mesh::TrianglePair> pairs;
  for (Index i = 0; i < count_of(a.mesh->triangles); ++i) {
    const auto tri = corners(*a.mesh, i, a.X_w);
    const Vec3 low = tri[0].cwiseMin(tri[1]).cwiseMin(tri[2]).array() - margin - 1e-9;
    const Vec3 high = tri[0].cwiseMax(tri[1]).cwiseMax(tri[2]).array() + margin + 1e-9;
    for (Index j = 0; j < count_of(b.mesh->triangles); ++j) {
      const auto other = corners(*b.mesh, j, b.X_w);
      const Vec3 other_low = other[0].cwiseMin(other[1]).cwiseMin(other[2]);
      const Vec3 other_high = other[0].cwiseMax(other[1]).cwiseMax(other[2]);
      if ((low.array() > other_high.array()).any() || (high.array() < other_low.array()).any()) continue;
      if (distance(a, i, b, j) <= margin) pairs.push_back({i, j});
    }
  }
  return pairs;
}

std::vector<mesh::TriangleMesh> bodies()
{
  return {support::box_mesh({-0.4, -0.3, -0.5}, {0.4, 0.3, 0.5}), support::sphere_mesh(0.5, 2),
          support::torus_mesh(0.4, 0.15, 12, 8), support::box_mesh({-1, -0.01, -0.6}, {1, 0.01, 0.6})};
}

mesh::TriangleMesh ground(int n, double half, double bump)
{
  return support::bumpy_ground(n, half, bump, 5, 4);
}

TEST(ZList, FindsEveryPairThatTheExactTestFinds)
{
  Random random(1);
  const std::vector<mesh::TriangleMesh> meshes = bodies();
  ZListBuffer buffer;
  std::size_t exact_pairs = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const ZListBody a{.mesh = &meshes[at(trial % 4)], .X_w = {random.in_cube(0.5), random.rotation()}};
    const ZListBody b{.mesh = &meshes[at(trial / 4 % 4)], .X_w = {random.in_cube(0.5), random.rotation()}};
    const double margin = trial % 3 == 0 ? random.in(0, 0.1) : 0;
    const std::vector<mesh::TrianglePair> exact = brute_force(a, b, margin);
    exact_pairs += exact.size();
    for (const double pixel : {0.0, 1.0, 0.1, 0.013}) {
      ZListDesc desc{.pixel = pixel, .margin = margin, .list_inside = trial % 4 < 2};
      if (trial % 2 == 1) desc.direction = random.direction();
      const ZListResult& found = buffer.find(a, b, desc);
      EXPECT_TRUE(std::includes(found.pairs.begin(), found.pairs.end(), exact.begin(), exact.end()))
          << "trial " << trial << ", pixel " << pixel;
    }
  }
  EXPECT_GT(exact_pairs, 1000U);
}

// Faces that just touch, along pixel borders: cubes beside and on each other, on a grid of round numbers.
TEST(ZList, FindsFacesThatJustTouch)
{
  const mesh::TriangleMesh cube = support::box_mesh({0, 0, 0}, {1, 1, 1});
  ZListBuffer buffer;
  for (const Vec3& place : {Vec3(1, 0, 0), Vec3(0, 0, 1), Vec3(1, 1, 0), Vec3(1, 1, 1), Vec3(0.5, 0, -1)}) {
    const Vec3 offset(0.1, 0.7, 0.3);
    const ZListBody a{.mesh = &cube, .X_w = {offset, Quat::Identity()}};
    const ZListBody b{.mesh = &cube, .X_w = {offset + place, Quat::Identity()}};
    const std::vector<mesh::TrianglePair> exact = brute_force(a, b, 0);
    ASSERT_FALSE(exact.empty());
    for (const double pixel : {0.0, 0.25, 0.1}) {
      for (const bool inside : {false, true}) {
        const ZListResult& found = buffer.find(a, b, {.pixel = pixel, .list_inside = inside});
        EXPECT_TRUE(std::includes(found.pairs.begin(), found.pairs.end(), exact.begin(), exact.end()))
            << pixel << ", " << inside;
      }
    }
  }
}

// Two points of one pixel differ by at most sqrt(2) p across, and the depths of a face with slopes of at most
// 1 along both axes by at most 2 p from those listed, for either face: no more than sqrt(2 + 16) p in all.
TEST(ZList, FindsNoPairThatIsFurtherApartThanAFewPixels)
{
  const mesh::TriangleMesh low = ground(24, 0.5, 0.1);
  const mesh::TriangleMesh high = ground(17, 0.5, 0.05);
  ZListBuffer buffer;
  for (const double pixel : {0.05, 0.02, 0.01}) {
    const ZListBody a{.mesh = &low};
    const ZListBody b{.mesh = &high, .X_w = {{0.013, 0.021, 0.01}, Quat::Identity()}};
    const ZListResult& found =
        buffer.find(a, b, {.pixel = pixel, .direction = Vec3(0, 0, 1), .list_inside = false});
    EXPECT_FALSE(found.pairs.empty());
    for (const mesh::TrianglePair& pair : found.pairs)
      EXPECT_LE(distance(a, pair.a, b, pair.b), std::sqrt(18.0) * pixel);
  }
}

TEST(ZList, ListsFacesInsideTheOtherBody)
{
  const mesh::TriangleMesh ball = support::sphere_mesh(0.5, 3);
  const mesh::TriangleMesh flat = ground(16, 1.0, 0);
  const ZListBody b{.mesh = &flat};
  ZListBuffer buffer;
  for (const double height : {0.2, -0.3}) {
    for (const double down : {1.0, -1.0}) {
      const ZListBody a{.mesh = &ball, .X_w = {{0.1, -0.05, height}, Quat::Identity()}};
      for (const ZListSampling sampling : {ZListSampling::conservative, ZListSampling::centre}) {
        const ZListResult& found =
            buffer.find(a, b, {.pixel = 0.01, .direction = Vec3(0, 0, down), .sampling = sampling});
        for (Index f = 0; f < count_of(ball.triangles); ++f) {
          const auto c = corners(ball, f, a.X_w);
          const double top = std::max({c[0].z(), c[1].z(), c[2].z()});
          const double bottom = std::min({c[0].z(), c[1].z(), c[2].z()});
          const bool listed = std::binary_search(found.faces_a.begin(), found.faces_a.end(), f);
          EXPECT_TRUE(listed || top >= 0) << "face " << f << " is below the ground";
          EXPECT_FALSE(listed && bottom > 0.02) << "face " << f << " is above the ground";
        }
        // The circle that the ball cuts out of the ground.
        const double radius = std::sqrt(0.5 * 0.5 - height * height);
        for (Index f = 0; f < count_of(flat.triangles); ++f) {
          const auto c = corners(flat, f, Pose{});
          const Vec3 middle = (c[0] + c[1] + c[2]) / 3 - Vec3(0.1, -0.05, 0);
          EXPECT_TRUE(middle.norm() >= radius - 0.03 ||
                      std::binary_search(found.faces_b.begin(), found.faces_b.end(), f));
        }
      }
    }
  }
}

// Sampled at pixel centres, as in the paper, narrow overlaps slip through; ever fewer with smaller pixels.
TEST(ZList, CentresMissFewerPairsWithSmallerPixels)
{
  const mesh::TriangleMesh ball = support::sphere_mesh(0.5, 3);
  const mesh::TriangleMesh bumps = ground(20, 1.0, 0.1);
  Random random(3);
  ZListBuffer buffer;
  std::vector<double> missed(3, 0);
  double total = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const ZListBody a{.mesh = &ball,
                      .X_w = {{random.in(-0.3, 0.3), random.in(-0.3, 0.3), 0.4}, random.rotation()}};
    const ZListBody b{.mesh = &bumps};
    const std::vector<mesh::TrianglePair> exact = brute_force(a, b, 0);
    total += static_cast<double>(exact.size());
    std::size_t k = 0;
    for (const double pixel : {0.1, 0.025, 0.002}) {
      const ZListResult& found =
          buffer.find(a, b, {.pixel = pixel, .direction = Vec3(0, 0, 1), .sampling = ZListSampling::centre});
      for (const mesh::TrianglePair& pair : exact) {
        const bool both = std::binary_search(found.faces_a.begin(), found.faces_a.end(), pair.a) &&
                          std::binary_search(found.faces_b.begin(), found.faces_b.end(), pair.b);
        missed[k] += both ? 0 : 1;
      }
      ++k;
    }
  }
  ASSERT_GT(total, 100);
  EXPECT_GT(missed[0], missed[1]);
  EXPECT_GT(missed[1], missed[2]);
  EXPECT_LT(missed[2], 0.05 * total);
}

// What a body sweeps covers it at all times, so pairs that touch at any time are found.
TEST(ZList, SweptFacesCoverTheWholeMotion)
{
  Random random(5);
  const std::vector<mesh::TriangleMesh> meshes = bodies();
  ZListBuffer buffer;
  std::size_t exact_pairs = 0;
  for (int trial = 0; trial < 16; ++trial) {
    const Pose from{random.in_cube(1), random.rotation()};
    const Pose to{random.in_cube(0.6),
                  Quat(Eigen::AngleAxisd(random.in(0, 3), random.direction())) * from.rotation};
    const SplitMotion motion = split_motion(from, to, random.in_cube(0.2));
    const ZListBody swept{.mesh = &meshes[at(trial % 4)], .motion = &motion};
    const ZListBody b{.mesh = &meshes[at(trial / 4 % 4)], .X_w = {random.in_cube(0.3), random.rotation()}};
    const std::vector<mesh::TrianglePair> found = buffer.find(swept, b, {.pixel = 0.03}).pairs;
    for (int k = 0; k <= 8; ++k) {
      const Pose X = k < 4 ? motion.translated(k / 4.0) : motion.rotated((k - 4) / 4.0);
      const std::vector<mesh::TrianglePair> exact = brute_force({.mesh = swept.mesh, .X_w = X}, b, 0);
      exact_pairs += exact.size();
      EXPECT_TRUE(std::includes(found.begin(), found.end(), exact.begin(), exact.end()))
          << trial << ", " << k;
    }
  }
  EXPECT_GT(exact_pairs, 500U);
}

TEST(ZList, StopsAtTheBoxesWhenTheyAreApart)
{
  const mesh::TriangleMesh ball = support::sphere_mesh(0.5, 2);
  ZListBuffer buffer;
  const ZListBody a{.mesh = &ball};
  const ZListBody b{.mesh = &ball, .X_w = {{0, 0, 1.001}, Quat::Identity()}};
  const ZListResult& found = buffer.find(a, b);
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.drawn, 0U);
  EXPECT_GT(buffer.find(a, b, {.margin = 0.002}).pairs.size(), 0U);
}

TEST(ZList, DrawsOnlyTheFacesThatItIsGiven)
{
  const mesh::TriangleMesh ball = support::sphere_mesh(0.5, 3);
  const mesh::TriangleMesh bumps = ground(20, 1.0, 0.1);
  const ZListBody a{.mesh = &ball, .X_w = {{0, 0, 0.4}, Quat::Identity()}};
  ZListBuffer buffer;
  const ZListResult all = buffer.find(a, {.mesh = &bumps});
  std::vector<Index> near;
  const mesh::Bvh bvh(bumps);
  bvh.triangles_in_box(Box3(Vec3(-0.5, -0.5, -0.1), Vec3(0.5, 0.5, 0.9)), near);
  const ZListResult clipped = buffer.find(a, {.mesh = &bumps, .faces = near});
  EXPECT_EQ(all.pairs, clipped.pairs);
  EXPECT_EQ(all.faces_a, clipped.faces_a);
}

TEST(ZList, RejectsWhatCannotBeDrawn)
{
  const mesh::TriangleMesh ball = support::sphere_mesh(0.5, 1);
  const ZListBody a{.mesh = &ball};
  ZListBuffer buffer;
  EXPECT_THROW(buffer.find(a, {}), Error);
  EXPECT_THROW(buffer.find(a, a, {.pixel = -1}), Error);
  EXPECT_THROW(buffer.find(a, a, {.max_resolution = 0}), Error);
  EXPECT_THROW(buffer.find(a, a, {.direction = Vec3(0, 0, 0)}), Error);
  EXPECT_THROW(buffer.find(a, a, {.margin = std::nan("")}), Error);
}

}  // namespace
}  // namespace thrum::collision
