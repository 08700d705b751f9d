// SPDX-License-Identifier: MIT
// Modes of bodies along the axes in cubic elements of a grid.
#include "thrum/elastic/block_modes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/elastic/beam_theory.h"
#include "tests/elastic/fem_fixtures.h"
#include "tests/elastic/turned_mesh.h"
#include "thrum/base/random.h"
#include "thrum/elastic/cut_modes.h"
#include "thrum/elastic/supports.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/furniture.h"
#include "thrum/shapes/shapes.h"

namespace thrum::elastic {
namespace {

using testing::test_steel;

mesh::TriangleMesh small_table()
{
  return shapes::make_table(
      {.top_thickness = 0.04, .leg_thickness = 0.08, .apron_height = 0, .edge_length = 0});
}

// By a Ritz series with Legendre polynomials, exact to 1e-5; E 210 GPa, density 7850.
TEST(BlockModes, ABarIsExactInTorsionToo)
{
  const model::Material steel = {.name = "steel", .density = 7850, .young = 210e9, .poisson = 0.3};
  const model::ModalModel bar =
      analyse_surface_modes(shapes::generate(shapes::BoxDesc{.size = {0.5, 0.012, 0.01}}), {},
                            {.materials = {steel}, .count = 10})
          .model;
  EXPECT_EQ(bar.element, "tet20");
  const std::vector<double> bending = {212.36, 254.67, 583.84, 699.34};
  for (Eigen::Index k = 0; k < 4; ++k)
    EXPECT_NEAR(bar.frequencies[k], bending[static_cast<std::size_t>(k)], 3e-4 * bar.frequencies[k]);
  EXPECT_NEAR(bar.frequencies[9], 2899.3, 0.003 * 2899.3);
  EXPECT_LE(bar.frequencies[9] / 2899.3 - 1, bar.frequency_errors[9]);
  EXPECT_NEAR(bar.mass, 7850 * 0.5 * 0.012 * 0.01, 1e-9);
}

// Kirchhoff: f = lambda^2/(2 pi a^2) sqrt(D/(rho h)), lambda^2 = 3.471, 8.508, 21.29 with one edge clamped
// [Leissa]; h/a = 1/1000. The largest eigenvalue of the elements is 1e14 times the lowest one of the plate,
// so that rounding errors which are the same in all elements would hold it like springs.
TEST(BlockModes, AVeryThinPlateIsNotHeldByRounding)
{
  const double h = 0.001;
  const mesh::TriangleMesh plate = shapes::generate(shapes::BoxDesc{.size = {1, 1, h}});
  const double scale = std::sqrt(test_steel().young * h * h / (12 * (1 - 0.09) * test_steel().density)) /
                       (2 * std::numbers::pi);
  ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 3};
  desc.supports = {{parse_selection("x<-0.5")}};
  for (const Quality quality : {Quality::draft, Quality::normal}) {
    const model::ModalModel model = analyse_surface_modes(plate, {.quality = quality}, desc).model;
    EXPECT_EQ(model.element, "tet20");
    constexpr std::array<double, 3> kHeld = {3.471, 8.508, 21.29};
    for (Eigen::Index k = 0; k < 3; ++k) {
      const double expected = kHeld[static_cast<std::size_t>(k)] * scale;
      EXPECT_NEAR(model.frequencies[k], expected, 0.005 * expected) << "mode " << k;
    }
  }
}

// Held at a plane that is none of its faces: the grid gets it.
TEST(BlockModes, AClampEndsWhereItIsAskedFor)
{
  const Vec3 size(0.5, 0.012, 0.01);
  const mesh::TriangleMesh bar = shapes::generate(shapes::BoxDesc{.size = size});
  for (const char* where : {"x<-0.1037", "box(-0.3,-1,-1, -0.1037,1,1)"}) {
    ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 2};
    desc.supports = {{parse_selection(where)}};
    const model::ModalModel model = analyse_surface_modes(bar, {}, desc).model;
    EXPECT_EQ(model.element, "tet20") << where;
    const double expected = testing::timoshenko_frequency({test_steel(), 0.3537, size.y(), size.z()},
                                                          testing::BeamEnds::cantilever, 0);
    EXPECT_NEAR(model.frequencies[0], expected, 0.005 * expected) << where;
    EXPECT_EQ(model.rigid_mode_count, 0);
  }
}

// A table has notches; the truth is taken from a finer grid.
TEST(BlockModes, ATableStatesItsErrors)
{
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 6};
  const mesh::TriangleMesh table = small_table();
  const model::ModalModel draft = analyse_surface_modes(table, {.quality = Quality::draft}, desc).model;
  const model::ModalModel finer =
      analyse_surface_modes(table, {.max_tetrahedra = 14e3, .quality = Quality::fine}, desc).model;
  ASSERT_EQ(draft.element, "tet20");
  ASSERT_GT(finer.element_count, 2 * draft.element_count);
  for (Eigen::Index k = 0; k < 6; ++k) {
    const double change = draft.frequencies[k] / finer.frequencies[k] - 1;
    EXPECT_GT(change, 0) << k;
    EXPECT_LT(change, draft.frequency_errors[k]) << k;
    EXPECT_LE(finer.frequency_errors[k], 0.01) << k;
  }
  // Shapes are at the vertices that were given.
  for (std::size_t v = 0; v < table.vertices.size(); ++v)
    EXPECT_EQ(finer.surface.vertices[v], table.vertices[v]);
}

// However a body lies it has the same grid, and so the same modes: also one without any symmetry.
TEST(BlockModes, TurnedBodiesHaveTheSameModes)
{
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 4};
  const FillDesc draft = {.quality = Quality::draft};
  const auto box = [](const Vec3& low, const Vec3& high) {
    mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
    for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
    return mesh;
  };
  const mesh::TriangleMesh bodies[] = {
      shapes::generate(shapes::BoxDesc{.size = {0.5, 0.012, 0.01}}),
      shapes::generate(shapes::BoxDesc{.size = {0.3, 0.3, 0.006}}), small_table(),
      shapes::boolean_union(std::vector<mesh::TriangleMesh>{box({0, 0, 0}, {0.2, 0.03, 0.02}),
                                                            box({0, 0, 0}, {0.02, 0.15, 0.03}),
                                                            box({0.1, 0, 0}, {0.13, 0.04, 0.1})})};
  base::Random random(8);
  for (const mesh::TriangleMesh& body : bodies) {
    const model::ModalModel straight = analyse_surface_modes(body, draft, desc).model;
    ASSERT_EQ(straight.element, "tet20");
    const int rotations = straight.element_count < 1000 ? 20 : 3;
    for (int k = 0; k < rotations; ++k) {
      const mesh::TriangleMesh lying = testing::turned_and_shifted(body, random);
      const model::ModalModel model = analyse_surface_modes(lying, draft, desc).model;
      ASSERT_EQ(model.element, "tet20");
      EXPECT_LT((model.frequencies.array() / straight.frequencies.array() - 1).abs().maxCoeff(), 1e-6) << k;
      EXPECT_EQ(model.surface.vertices[3], lying.vertices[3]);
      // Its shapes turn with it: each vertex moves as far, but for the mirrored grid of a symmetric body.
      for (const Eigen::Index v : {0, 3})
        EXPECT_NEAR(model.shapes.col(0).segment<3>(3 * v).norm(),
                    straight.shapes.col(0).segment<3>(3 * v).norm(),
                    2e-3 * model.shapes.col(0).cwiseAbs().maxCoeff());
    }
  }
}

// A turned bar that is held across its own axis: the grid ends there too.
TEST(BlockModes, ATurnedBarIsHeldAcrossItsAxis)
{
  const Vec3 size(0.5, 0.012, 0.01);
  mesh::TriangleMesh bar = shapes::generate(shapes::BoxDesc{.size = size});
  const Mat3 turn = Eigen::AngleAxisd(0.4, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  for (Vec3& v : bar.vertices) v = turn * v;
  ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 2};
  desc.supports = {{parse_selection("x<-0.1037")}};
  desc.supports[0].where.normal = turn.col(0);
  const model::ModalModel model = analyse_surface_modes(bar, {}, desc).model;
  EXPECT_EQ(model.element, "tet20");
  const double expected = testing::timoshenko_frequency({test_steel(), 0.3537, size.y(), size.z()},
                                                        testing::BeamEnds::cantilever, 0);
  EXPECT_NEAR(model.frequencies[0], expected, 0.005 * expected);
  // Boxes of supports lie along the axes of the file, where its grid has no planes.
  desc.supports = {{parse_selection("box(-1,-1,-1, -0.2,1,1)")}};
  EXPECT_FALSE(analyse_blocks(bar, {}, desc).has_value());
}

// Small parts of large bodies, with parts of other sizes each: what a draft states covers its difference to a
// finer grid. Grids of one size had one cell along the handle of the fridge twice in turn, and its draft was
// 30 % too high where 1 % was stated.
class ThinParts : public ::testing::TestWithParam<int> {
 protected:
  static mesh::TriangleMesh box(const Vec3& low, const Vec3& high)
  {
    mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
    for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
    return mesh;
  }
  static mesh::TriangleMesh body(int kind)
  {
    const auto united = [](const std::vector<mesh::TriangleMesh>& parts) {
      return shapes::boolean_union(parts);
    };
    switch (kind) {
      case 0:  // a lip of 5 mm
        return united({box({0, 0, 0}, {0.3, 0.21, 0.09}), box({0.3, 0.03, 0.03}, {0.4, 0.15, 0.035})});
      default:  // a fin of 30 mm
        return united({box({0, 0, 0}, {0.3, 0.3, 0.12}), box({0.09, 0.03, 0.12}, {0.12, 0.24, 0.27})});
    }
  }
};

TEST_P(ThinParts, AreCoveredByTheErrorsOfADraft)
{
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 5};
  const mesh::TriangleMesh surface = body(GetParam());
  const model::ModalModel draft = analyse_surface_modes(surface, {.quality = Quality::draft}, desc).model;
  const model::ModalModel finer =
      analyse_surface_modes(surface, {.max_tetrahedra = 16e3, .quality = Quality::fine}, desc).model;
  ASSERT_EQ(draft.element, "tet20");
  ASSERT_EQ(finer.element, "tet20");
  ASSERT_GT(finer.element_count, 3 * draft.element_count / 2);
  int covered = 0;
  for (Eigen::Index k = 0; k < 5; ++k) {
    covered += draft.frequencies[k] / finer.frequencies[k] - 1 <= draft.frequency_errors[k] ? 1 : 0;
    EXPECT_LT(draft.frequencies[k] / finer.frequencies[k] - 1, 0.05) << k;
  }
  EXPECT_EQ(covered, 5);
}

INSTANTIATE_TEST_SUITE_P(Bodies, ThinParts, ::testing::Range(0, 2));

// The first mode of the fridge is that of its handle, about 645 Hz in any filling that resolves it: 649.6 Hz,
// stated to 2.5 %, in 35,000 tetrahedra that keep the surface, and 652.8 Hz in 6,620 cubic ones.
TEST(BlockModes, ADraftOfAFridgeStatesTheErrorOfItsHandle)
{
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 6};
  const model::ModalModel model =
      analyse_surface_modes(shapes::make_fridge({}), {.quality = Quality::draft}, desc).model;
  const double handle = 645 * std::sqrt(test_steel().young / 200e9 * 8000 / test_steel().density);
  EXPECT_NEAR(model.frequencies[0], handle, 0.05 * handle);
  EXPECT_GE(model.frequency_errors[0], model.frequencies[0] / handle - 1);
}

// The same fridge turned, in a file of few digits, has no grid, and its triangles are too many for a draft in
// tetrahedra: cut cells that are wider than its handle do not show what is missed, and are not taken for
// accurate.
TEST(BlockModes, CutCellsWiderThanAPartAreNotTrusted)
{
  mesh::TriangleMesh fridge = shapes::make_fridge({});
  const Mat3 turn = Eigen::AngleAxisd(0.4, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  for (Vec3& v : fridge.vertices) v = turn * v;
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 6};
  EXPECT_FALSE(analyse_cut_coarsely(fridge, {.quality = Quality::draft}, desc).has_value());
  // Without a handle it is compact, and a coarse lattice suffices.
  const mesh::TriangleMesh block =
      shapes::generate(shapes::BoxDesc{.size = {0.6, 0.6, 1.7}, .edge_length = 0.05});
  EXPECT_TRUE(analyse_cut_coarsely(block, {.quality = Quality::draft}, desc).has_value());
}

// What is not along three axes is not taken for it.
TEST(BlockModes, OnlyBodiesAlongThreeAxes)
{
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 2};
  mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = {0.3, 0.2, 0.1}});
  ModalAnalysisDesc slanted = desc;
  slanted.supports = {{parse_selection("x<0")}};
  slanted.supports[0].where.normal = Vec3(1, 0.2, 0).normalized();
  EXPECT_FALSE(analyse_blocks(box, {}, slanted).has_value());
  EXPECT_TRUE(analyse_blocks(box, {}, desc).has_value());
  const double exact = analyse_blocks(box, {}, desc)->model.frequencies[0];
  const model::ModalModel cut = analyse_surface_modes(box, {.method = FillMethod::cut_cells}, desc).model;
  EXPECT_NEAR(cut.frequencies[0], exact, 0.003 * exact);
  for (Vec3& v : box.vertices) v.x() += 0.01 * v.y();
  EXPECT_FALSE(analyse_blocks(box, {}, desc).has_value());
}

TEST(Bisections, GoWhereTheErrorIs)
{
  std::vector<double> errors(1000, 1e-6);
  for (std::size_t k = 0; k < 20; ++k) errors[k] = 1;
  const std::vector<std::uint8_t> levels = bisections(errors, 1.5);
  double count = 0;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    count += std::exp2(levels[k]);
    if (k < 20) {
      EXPECT_GE(levels[k], 3);
    } else {
      EXPECT_EQ(levels[k], 0);
    }
  }
  EXPECT_LE(count, 1500);
  // Equal errors everywhere: all or none.
  const std::vector<std::uint8_t> all = bisections(std::vector<double>(100, 0.3), 2.5);
  for (const std::uint8_t level : all) EXPECT_EQ(level, 1);
}

}  // namespace
}  // namespace thrum::elastic
