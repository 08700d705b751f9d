// SPDX-License-Identifier: MIT
// Closed thin-walled solids in wedges, against round bodies, sheets and cut cells.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/sheet.h"
#include "thrum/mesh/wall.h"
#include "thrum/shapes/shapes.h"

namespace thrum::elastic {
namespace {

using testing::test_steel;

const model::Material kSteel = {.name = "steel", .density = 7850, .young = 210e9, .poisson = 0.3};

mesh::TriangleMesh lathe(std::vector<Vec2> profile, int segments)
{
  return shapes::generate(shapes::LatheDesc{.profile = std::move(profile), .segments = segments});
}

VecX wall_frequencies(const mesh::TriangleMesh& solid, double longest, Index count)
{
  const auto wall = mesh::find_wall(solid);
  if (!wall) return {};
  const ModalAnalysisDesc desc = {.materials = {kSteel}, .count = count, .estimate_errors = false};
  ElementBody body = wall_body(solid, *wall, longest, desc);
  return analyse_elements(body, desc).model.frequencies;
}

// Each expected one within a share of the closest found.
void expect_found(const VecX& found, const std::vector<double>& expected, double share)
{
  ASSERT_GT(found.size(), 0);
  for (const double f : expected) EXPECT_LT((found.array() / f - 1).abs().minCoeff(), share) << f;
}

// Halving the long narrow triangles of a bent pipe leaves 25 times as many wedges as even ones would be: it
// is filled in another way.
TEST(WallModes, ALongPipeOfNarrowTrianglesDoesNotTakeManyWedges)
{
  const mesh::TriangleMesh pipe =
      shapes::generate(shapes::TubeDesc{.path = {{0, 0, 0}, {0.3, 0, 0}, {0.5, 0.2, 0}},
                                        .radius = 0.01,
                                        .inner_radius = 0.008,
                                        .segments = 24});
  ASSERT_TRUE(mesh::find_wall(pipe).has_value());
  const model::ModalModel model =
      analyse_surface_modes(pipe, {.quality = Quality::draft}, {.materials = {kSteel}, .count = 3}).model;
  EXPECT_LE(model.node_count, 30000);
  EXPECT_EQ(model.frequency_errors.size(), 3);
}

// By Fourier series around the axis, another program; edges of 5 mm.
TEST(WallModes, AThinCylinderAndAHemisphere)
{
  std::vector<Vec2> tube = {{0.0495, 0}, {0.0505, 0}};
  for (int k = 1; k <= 20; ++k) tube.emplace_back(0.0505, 0.005 * k);
  for (int k = 20; k > 0; --k) tube.emplace_back(0.0495, 0.005 * k);
  expect_found(wall_frequencies(lathe(tube, 64), 0.0075, 6), {265.99, 354.76, 752.06}, 0.005);
  std::vector<Vec2> bowl;
  for (const double r : {0.0505, 0.0495})
    for (int k = 0; k <= 16; ++k) {
      const double angle = std::numbers::pi / 2 * (r > 0.05 ? k : 16 - k) / 16;
      bowl.emplace_back(angle == 0 ? 0 : r * std::sin(angle), -r * std::cos(angle));
    }
  expect_found(wall_frequencies(lathe(bowl, 64), 0.0075, 6), {417.22, 1131.57, 2109.1}, 0.015);
}

mesh::TriangleMesh folded_sheet()
{
  mesh::TriangleMesh sheet;
  const Vec2 corners[] = {{0, 0}, {0.06, 0}, {0.1, 0.0693}, {0.09, 0.13}};
  for (const Vec2& c : corners)
    for (const double y : {0.0, 0.05}) sheet.vertices.emplace_back(c.x(), y, c.y());
  for (Index k = 0; k < 3; ++k) {
    sheet.triangles.push_back({2 * k, 2 * k + 2, 2 * k + 1});
    sheet.triangles.push_back({2 * k + 1, 2 * k + 2, 2 * k + 3});
  }
  return sheet;
}

// The solid that was made of a sheet rings as the sheet.
TEST(WallModes, AFoldedSheetGivenAsASolid)
{
  const double thickness = 0.002;
  const mesh::TriangleMesh solid = mesh::solidified(folded_sheet(), thickness);
  const ModalAnalysisDesc desc = {.materials = {kSteel}, .count = 8};
  const ModalAnalysisResult wall = analyse_surface_modes(solid, {}, desc);
  ASSERT_EQ(wall.model.element, "wedge15");
  const model::ModalModel sheet = analyse_surface_modes(folded_sheet(), {.thickness = thickness}, desc).model;
  const model::ModalModel cut =
      analyse_surface_modes(solid, {.spacing = 0.006, .method = FillMethod::cut_cells}, desc).model;
  for (Eigen::Index k = 0; k < 8; ++k) {
    const double f = wall.model.frequencies[k];
    EXPECT_NEAR(f, sheet.frequencies[k],
                f * (wall.model.frequency_errors[k] + sheet.frequency_errors[k] + 1e-4))
        << k;
    EXPECT_NEAR(f, cut.frequencies[k], f * (wall.model.frequency_errors[k] + cut.frequency_errors[k])) << k;
  }
  // Exact mass, and shapes at the vertices that were given.
  EXPECT_NEAR(wall.model.mass, kSteel.density * mesh::signed_volume(solid), 1e-6 * wall.model.mass);
  for (std::size_t v = 0; v < solid.vertices.size(); ++v)
    EXPECT_EQ(wall.model.surface.vertices[v], solid.vertices[v]);
}

// Not round: as in cut cells, within what both state; the wall is thinner at the ends of the short axis.
TEST(WallModes, AnOvalPotAgreesWithCutCells)
{
  std::vector<Vec2> profile = {{0, 0}};
  for (int k = 0; k <= 8; ++k) profile.emplace_back(0.05 + 0.01 * k / 8, 0.08 * k / 8);
  for (int k = 8; k >= 0; --k) profile.emplace_back(0.0465 + 0.01 * k / 8, 0.0035 + (0.08 - 0.0035) * k / 8);
  profile.emplace_back(0, 0.0035);
  mesh::TriangleMesh pot = lathe(profile, 48);
  for (Vec3& v : pot.vertices) v.x() *= 1.3;
  const ModalAnalysisDesc desc = {.materials = {kSteel}, .count = 6};
  const ModalAnalysisResult wall = analyse_surface_modes(pot, {}, desc);
  ASSERT_EQ(wall.model.element, "wedge15");
  const model::ModalModel cut =
      analyse_surface_modes(pot, {.method = FillMethod::cut_cells, .quality = Quality::draft}, desc).model;
  // 22,680 cubic tetrahedra that keep the surface (--fill delaunay --quality fine), 200 GPa, 8000 kg/m^3.
  constexpr double kFitted[] = {804.20, 811.68, 1970.61, 1983.55, 2809.19, 3551.63};
  constexpr double kOfFitted = 1e-3;
  const double scale = std::sqrt(kSteel.young / kSteel.density / (200e9 / 8000));
  for (Eigen::Index k = 0; k < 6; ++k) {
    const double f = wall.model.frequencies[k];
    EXPECT_NEAR(f, cut.frequencies[k], f * (wall.model.frequency_errors[k] + cut.frequency_errors[k])) << k;
    // The bottom is a fan of long triangles, whose own mode, the fifth, is the hardest.
    const double error = std::abs(f / (scale * kFitted[k]) - 1);
    EXPECT_LE(error, wall.model.frequency_errors[k] + kOfFitted) << k;
    EXPECT_LE(wall.model.frequency_errors[k], 5 * (error + kOfFitted)) << k;
  }
  EXPECT_NEAR(wall.model.mass, cut.mass, 1e-3 * cut.mass);
}

// Narrower than 15 thicknesses between its rims: tetrahedra follow the shear there, which wedges do not.
TEST(WallModes, ANarrowStripIsNoWall)
{
  mesh::TriangleMesh strip = shapes::generate(shapes::BoxDesc{.size = {0.3, 0.015, 0.005}});
  for (Vec3& v : strip.vertices)
    if (v.x() > 0) v.x() += 0.13 * v.y();
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 8};
  const model::ModalModel m = analyse_surface_modes(strip, {}, desc).model;
  EXPECT_NE(m.element, "wedge15");
  const model::ModalModel fine =
      analyse_surface_modes(strip, {.method = FillMethod::delaunay, .quality = Quality::fine}, desc).model;
  for (Eigen::Index k = 0; k < 8; ++k)
    EXPECT_NEAR(m.frequencies[k], fine.frequencies[k],
                fine.frequencies[k] * (m.frequency_errors[k] + fine.frequency_errors[k]))
        << k;
}

// What is held is left to cut cells, which end where a clamp does.
TEST(WallModes, OnlyFreeOnes)
{
  const mesh::TriangleMesh solid = mesh::solidified(folded_sheet(), 0.003);
  ModalAnalysisDesc desc = {.materials = {kSteel}, .count = 2};
  desc.supports = {{parse_selection("z<0.01")}};
  EXPECT_NE(analyse_surface_modes(solid, {.quality = Quality::draft}, desc).model.element, "wedge15");
}

// A quarter of a cylinder of radius R has one curvature; flat surfaces have none, and folds do not count.
TEST(WallModes, TheLockingRatioIsThatOfTheRadius)
{
  mesh::TriangleMesh arch;
  const double radius = 0.05;
  for (int k = 0; k <= 20; ++k)
    for (const double y : {0.0, 0.03})
      arch.vertices.emplace_back(radius * std::cos(k * std::numbers::pi / 40), y,
                                 radius * std::sin(k * std::numbers::pi / 40));
  for (Index k = 0; k < 20; ++k) {
    arch.triangles.push_back({2 * k, 2 * k + 2, 2 * k + 1});
    arch.triangles.push_back({2 * k + 1, 2 * k + 2, 2 * k + 3});
  }
  const double e = 0.006;
  const double t = 0.001;
  EXPECT_NEAR(largest_locking_ratio(arch, t, e), e * e / (radius * t), 0.6 * e * e / (radius * t));
  EXPECT_LT(largest_locking_ratio(folded_sheet(), t, e), 1e-6);
}

}  // namespace
}  // namespace thrum::elastic
