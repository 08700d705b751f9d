// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/elastic/surface_response.h"

namespace thrum::vibration {
namespace {

using elastic::MappedPoint;
using elastic::SurfaceMap;

TEST(SurfaceMap, GivesTheRowOfTheClosestPoint)
{
  const auto plate = plate_model();
  SurfaceMap map(plate);
  const MappedPoint& mapped = map.find({0.53, 0.31, 0.004});
  EXPECT_NEAR(mapped.distance, 0.004, 1e-3 * map.size());
  EXPECT_NEAR((mesh::position(plate->surface, mapped.point) - Vec3(0.53, 0.31, 0)).norm(), 0,
              2e-4 * map.size());
  const VecX row = elastic::surface_row(*plate, {mapped.point, Vec3::UnitZ()});
  EXPECT_TRUE(row.isApprox(mapped.shapes.row(2).transpose(), 1e-12));
}

TEST(SurfaceMap, AJitteringContactIsNotSearchedAgain)
{
  SurfaceMap map(plate_model());
  const Vec3 first = map.find({0.53, 0.31, 0}).point.barycentric;
  for (int i = 0; i < 100; ++i) {
    map.evict_unused();
    EXPECT_EQ(map.find({0.53 + 1e-6 * i, 0.31, 1e-7 * i}).point.barycentric, first);
  }
  EXPECT_LE(map.searches(), 2U);
}

TEST(SurfaceMap, ResultDoesNotDependOnEarlierQueries)
{
  const auto plate = plate_model();
  SurfaceMap asked(plate);
  for (int i = 0; i < 50; ++i) (void)asked.find({0.5301 + 1e-5 * i, 0.31, 0});
  SurfaceMap fresh(plate);
  EXPECT_EQ(asked.find({0.5304, 0.31, 0}).shapes, fresh.find({0.5304, 0.31, 0}).shapes);
}

// Places with a hint are those without one, also where the contact has moved, and when what the hint names
// was let go in the meantime.
TEST(SurfaceMap, AHintChangesNothing)
{
  const auto plate = plate_model();
  SurfaceMap map(plate), fresh(plate);
  SurfaceMap::Hint hint;
  const Vec3 place(0.53, 0.31, 0);
  const auto expect_same = [&](const Vec3& at) {
    EXPECT_EQ(map.find(at, hint).shapes, fresh.find(at).shapes);
    EXPECT_EQ(map.find(at, hint).distance, fresh.find(at).distance);
  };
  expect_same(place);
  EXPECT_EQ(map.searches(), 1U);
  expect_same({0.71, 0.31, 0});
  expect_same(place);
  EXPECT_EQ(map.searches(), 2U);
  for (std::size_t i = 0; i <= SurfaceMap::kMaxPoints; ++i) {
    map.evict_unused();
    (void)map.find(
        {0.1 + 1e-3 * static_cast<double>(i % 128), 0.1 + 1e-3 * static_cast<double>(i / 128), 0.3});
  }
  map.evict_unused();
  const std::uint64_t searches = map.searches();
  expect_same(place);
  EXPECT_EQ(map.searches(), searches + 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)map.find({nan, 0, 0}, hint), Error);
}

TEST(SurfaceMap, RejectsShapesOfAnotherMesh)
{
  auto broken = std::make_shared<model::ModalModel>(*plate_model());
  broken->shapes.conservativeResize(broken->shapes.rows() - 3, Eigen::NoChange);
  EXPECT_THROW((void)SurfaceMap(broken), Error);
  auto bare = std::make_shared<model::ModalModel>(*plate_model());
  bare->surface.triangles.clear();
  EXPECT_THROW((void)SurfaceMap(bare), Error);
}

}  // namespace
}  // namespace thrum::vibration
