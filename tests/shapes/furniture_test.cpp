// SPDX-License-Identifier: MIT
#include "thrum/shapes/furniture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/mesh_checks.h"
#include "thrum/base/error.h"
#include "thrum/mesh/bvh.h"
#include "thrum/shapes/tableware.h"

namespace thrum::shapes {
namespace {

using support::component_count;
using support::edge_lengths;
using support::euler_number;
using support::is_closed_manifold;

double table_volume(const TableDesc& d)
{
  const double under = d.height - d.top_thickness;
  const double along = d.length - 2 * d.overhang - 2 * d.leg_thickness;
  const double across = d.width - 2 * d.overhang - 2 * d.leg_thickness;
  return d.length * d.width * d.top_thickness + 4 * d.leg_thickness * d.leg_thickness * under +
         2 * (along + across) * d.apron_height * d.apron_thickness;
}

TEST(Table, IsOneClosedBodyWithTheVolumeOfItsParts)
{
  for (const double edge : {0.0, 0.04, 0.08}) {
    TableDesc desc;
    desc.edge_length = edge;
    const mesh::TriangleMesh mesh = make_table(desc);
    EXPECT_TRUE(is_closed_manifold(mesh));
    EXPECT_EQ(component_count(mesh), 1);
    EXPECT_EQ(euler_number(mesh), 2);
    EXPECT_NEAR(mesh::signed_volume(mesh), table_volume(desc), 1e-7 * table_volume(desc));
    if (edge == 0) continue;
    EXPECT_LE(edge_lengths(mesh).max, 4.0 / 3 * edge + 1e-9);
    EXPECT_NEAR(edge_lengths(mesh).mean, edge, 0.3 * edge);
  }
}

TEST(Table, WithoutApronIsATopOnFourLegs)
{
  TableDesc desc;
  desc.apron_height = 0;
  desc.edge_length = 0.06;
  const mesh::TriangleMesh mesh = make_table(desc);
  EXPECT_TRUE(is_closed_manifold(mesh));
  EXPECT_EQ(component_count(mesh), 1);
  EXPECT_NEAR(mesh::signed_volume(mesh), table_volume(desc), 1e-7 * table_volume(desc));
}

TEST(Fridge, IsOneClosedBodyWithTheVolumeOfItsParts)
{
  const FridgeDesc d;
  const mesh::TriangleMesh mesh = make_fridge(d);
  EXPECT_TRUE(is_closed_manifold(mesh));
  EXPECT_EQ(component_count(mesh), 1);
  EXPECT_EQ(euler_number(mesh), 0);  // one hole, behind the handle
  const double bar = d.door_thickness / 2;
  const double body = d.width * (d.depth - d.door_thickness - d.groove) * (d.height - d.plinth_height);
  const double door = d.width * d.door_thickness * (d.height - d.plinth_height);
  const double seam = (d.width - 2 * d.groove) * d.groove * (d.height - d.plinth_height - 2 * d.groove);
  const double plinth =
      (d.width - 2 * d.plinth_height) * (d.depth - d.door_thickness - d.plinth_height) * d.plinth_height;
  const double handle = bar * bar * d.handle_length + 2 * bar * bar * bar;
  const double volume = body + door + seam + plinth + handle;
  EXPECT_NEAR(mesh::signed_volume(mesh), volume, 1e-7 * volume);
  EXPECT_LE(edge_lengths(mesh).max, 4.0 / 3 * d.edge_length + 1e-9);
}

TEST(Scaffold, IsOneClosedBodyOfPipesAndPlanks)
{
  ScaffoldDesc desc;
  desc.bays = 1;
  desc.planks = 2;
  desc.edge_length = 0;
  const mesh::TriangleMesh coarse = make_scaffold(desc);
  EXPECT_TRUE(is_closed_manifold(coarse));
  EXPECT_EQ(component_count(coarse), 1);
  // Parts as a graph: 4 uprights, 2 crossbars, 4 rails and 2 planks, connected at 4 + 8 + 4 places: 16 - 12 +
  // 1 loops.
  EXPECT_EQ(euler_number(coarse), 2 - 2 * (4 + 8 + 4 - 12 + 1));
  // Less than the sum of the parts, more than that without the crossings.
  const double section = 6 * std::sin(std::numbers::pi / 6) * desc.pipe_radius * desc.pipe_radius;
  const double r = desc.pipe_radius;
  const double pipes = 4 * desc.height + 2 * (desc.width + 4 * r) + 4 * (desc.bay_length + 4 * r);
  const double inside = desc.width - 2 * r - 3 * desc.plank_gap;
  const double planks = inside * (desc.bay_length + 4 * r) * desc.plank_thickness;
  EXPECT_LT(mesh::signed_volume(coarse), section * pipes + planks);
  EXPECT_GT(mesh::signed_volume(coarse), section * (pipes - 16 * 2 * r) + planks - section * 2 * inside);

  desc.edge_length = 0.06;
  const mesh::TriangleMesh even = make_scaffold(desc);
  EXPECT_TRUE(is_closed_manifold(even));
  EXPECT_EQ(component_count(even), 1);
  EXPECT_EQ(euler_number(even), euler_number(coarse));
  EXPECT_NEAR(mesh::signed_volume(even), mesh::signed_volume(coarse), 0.02 * mesh::signed_volume(coarse));
  EXPECT_LE(edge_lengths(even).max, 4.0 / 3 * desc.edge_length + 1e-9);
}

TEST(Scaffold, HasALowerDeckWhenRequested)
{
  ScaffoldDesc desc;
  desc.bays = 1;
  desc.planks = 2;
  desc.edge_length = 0;
  const mesh::TriangleMesh one = make_scaffold(desc);
  desc.lower_deck_height = 0.7;
  const mesh::TriangleMesh two = make_scaffold(desc);
  EXPECT_TRUE(is_closed_manifold(two));
  EXPECT_EQ(component_count(two), 1);
  // 2 more crossbars and 2 more planks, connected at 4 + 4 more places.
  EXPECT_EQ(euler_number(two), euler_number(one) - 2 * (4 + 4 - 4));
  // It adds the volume of a separate deck: the planks and the bars, minus where bars overlap planks and
  // uprights.
  const double r = desc.pipe_radius;
  const double section = 6 * std::sin(std::numbers::pi / 6) * r * r;
  const double inside = desc.width - 2 * r - 3 * desc.plank_gap;
  const double planks = inside * (desc.bay_length + 4 * r) * desc.plank_thickness;
  const double bars = 2 * section * (desc.width + 4 * r);
  EXPECT_LT(mesh::signed_volume(two) - mesh::signed_volume(one), planks + bars);
  EXPECT_GT(mesh::signed_volume(two) - mesh::signed_volume(one),
            planks + bars - section * (2 * inside + 4 * 2 * r));
  // Its planks can carry loads: there are upward faces at their height.
  const double top = desc.lower_deck_height + desc.plank_thickness;
  constexpr double kGrid = 1e-5;  // tolerance, above the rounding of booleans [m]
  double area = 0;
  for (std::size_t t = 0; t < two.triangles.size(); ++t) {
    const Vec3 n = (two.corner(t, 1) - two.corner(t, 0)).cross(two.corner(t, 2) - two.corner(t, 0)) / 2;
    const Vec3 middle = (two.corner(t, 0) + two.corner(t, 1) + two.corner(t, 2)) / 3;
    if (std::abs(middle.z() - top) < kGrid && n.z() > 0) area += n.z();
  }
  EXPECT_NEAR(area, inside * (desc.bay_length + 4 * r), kGrid);
  desc.lower_deck_height = desc.deck_height - desc.plank_thickness;
  EXPECT_THROW(static_cast<void>(make_scaffold(desc)), Error);
}

// Volume of a body of revolution by Pappus: pi times the integral of r^2 dz around the outline.
double revolved_volume(const std::vector<Vec2>& outline)
{
  double sum = 0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2& a = outline[i];
    const Vec2& b = outline[(i + 1) % outline.size()];
    sum += (b.y() - a.y()) * (a.x() * a.x() + a.x() * b.x() + b.x() * b.x()) / 3;
  }
  return std::numbers::pi * sum;
}

template <typename Desc>
void check_revolved(const Desc& desc, const char* name)
{
  SCOPED_TRACE(name);
  const mesh::TriangleMesh mesh = generate(desc);
  EXPECT_TRUE(is_closed_manifold(mesh));
  EXPECT_EQ(component_count(mesh), 1);
  EXPECT_EQ(euler_number(mesh), 2);
  const double volume = revolved_volume(profile_of(desc));
  EXPECT_NEAR(mesh::signed_volume(mesh), volume, 0.05 * volume);
  EXPECT_NEAR(mesh::bounding_box(mesh).min().z(), 0, 1e-12);
  EXPECT_NEAR(mesh::bounding_box(mesh).max().z(), desc.height, 1e-12);
  Desc fine = desc;
  fine.edge_length = desc.edge_length / 2;
  EXPECT_NEAR(mesh::signed_volume(generate(fine)), volume, 0.02 * volume);
}

TEST(Tableware, IsClosedAndHasTheVolumeOfItsProfile)
{
  check_revolved(PlateDesc{}, "plate");
  check_revolved(BowlDesc{}, "bowl");
  check_revolved(CupDesc{}, "cup");
  check_revolved(PotDesc{}, "pot");
  check_revolved(BottleDesc{}, "bottle");
  check_revolved(CandlestickDesc{}, "candlestick");
}

TEST(Tableware, MugHasAHandleAndAnInside)
{
  const MugDesc desc;
  const mesh::TriangleMesh mug = generate(desc);
  EXPECT_TRUE(is_closed_manifold(mug));
  EXPECT_EQ(component_count(mug), 1);
  EXPECT_EQ(euler_number(mug), 0);
  EXPECT_GT(mesh::signed_volume(mug), mesh::signed_volume(generate(desc.cup)));
  // The inside is empty and the handle does not extend into it.
  for (const double z : {0.02, 0.05, 0.075}) {
    EXPECT_NEAR(support::winding_number(mug, Vec3(0.02, 0, z)), 0, 1e-9);
    EXPECT_NEAR(support::winding_number(mug, Vec3(0.026, 0, z)), 0, 1e-9);
  }
  EXPECT_GT(mesh::bounding_box(mug).max().x(), desc.cup.radius + desc.handle_reach);
}

TEST(Tableware, TheMugsHandleLeavesNoCreviceAtTheWall)
{
  for (const double foot : {0.033, 0.039, 0.025}) {
    MugDesc desc;
    desc.cup.foot_radius = foot;
    desc.cup.edge_length = 0;
    const mesh::Bvh bvh(generate(desc));
    // The height of the gap below the upper end of the handle, next to the wall and farther out: the slope of
    // the handle is small there.
    const double wall = foot + 0.8 * (desc.cup.radius - foot);
    const auto gap = [&](double from_wall) {
      return bvh.first_hit({Vec3(wall + from_wall, 0, 0.5 * desc.cup.height), Vec3::UnitZ()}).t;
    };
    EXPECT_NEAR(gap(0.0004), gap(0.0024), 0.5 * 0.002) << "foot " << foot;
  }
}

TEST(Furniture, RejectsImpossibleDimensions)
{
  EXPECT_THROW(static_cast<void>(make_table(TableDesc{0.1, 0.1})), Error);
  ScaffoldDesc scaffold;
  scaffold.planks = 50;
  EXPECT_THROW(static_cast<void>(make_scaffold(scaffold)), Error);
  EXPECT_THROW(static_cast<void>(generate(PlateDesc{0.1, 0.01, 0.01})), Error);
}

}  // namespace
}  // namespace thrum::shapes
