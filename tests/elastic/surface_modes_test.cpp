// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "tests/base/scratch_folder.h"
#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/error.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::elastic {
namespace {

using testing::message;
using testing::test_steel;

const Vec3 kBlock(0.2, 0.12, 0.06);

ModalAnalysisDesc steel_block()
{
  return {.name = "block", .materials = {test_steel()}, .count = 4};
}

// Two ways to the modes of a block: a regular grid of cells, and its surface filled by stuffing, which cuts
// off its edges. What it cuts off is a prism along each edge, of second order in the spacing.
TEST(SurfaceModes, ApproachThoseOfAGridAsTheLatticeGetsFiner)
{
  const mesh::TriangleMesh surface = shapes::generate(shapes::BoxDesc{.size = kBlock});
  const ModalAnalysisResult grid = analyse_modes(tets::tetrahedralise_box(kBlock, {10, 6, 3}), steel_block());
  ASSERT_EQ(grid.model.frequencies.size(), 4);
  const auto errors = [&](double spacing) {
    const ModalAnalysisResult filled =
        analyse_surface_modes(surface, {.spacing = spacing, .method = FillMethod::stuffing}, steel_block());
    EXPECT_TRUE(filled.hints.empty());
    const double mass = std::abs(filled.model.mass / (test_steel().density * kBlock.prod()) - 1);
    return std::pair(
        mass, (filled.model.frequencies.array() / grid.model.frequencies.array() - 1).abs().maxCoeff());
  };
  const auto [coarse_mass, coarse_frequency] = errors(0.03);
  const auto [fine_mass, fine_frequency] = errors(0.02);
  constexpr double kSecondOrder = 2.0 * 2 / (3 * 3);
  EXPECT_LT(fine_mass, 1.2 * kSecondOrder * coarse_mass);
  EXPECT_LT(fine_frequency, 1.3 * kSecondOrder * coarse_frequency);
  EXPECT_LT(fine_frequency, 0.03);
}

TEST(SurfaceModes, ComeFromTheCacheWithoutMeshingAgain)
{
  const base::ScratchFolder folder;
  const base::Cache cache({.folder = folder.path()});
  const mesh::TriangleMesh surface = shapes::generate(shapes::BoxDesc{.size = kBlock});
  const FillDesc fill = {.spacing = 0.03};
  const ModalAnalysisResult first = analyse_surface_modes_cached(surface, fill, steel_block(), cache);
  const ModalAnalysisResult second = analyse_surface_modes_cached(surface, fill, steel_block(), cache);
  EXPECT_FALSE(first.from_cache);
  ASSERT_TRUE(second.from_cache);
  EXPECT_TRUE((first.model.shapes.array() == second.model.shapes.array()).all());
  EXPECT_EQ(second.model.warnings, first.model.warnings);

  // The lattice is a part of the key, and so is the surface.
  const base::Hash128 key = surface_modal_key(surface, fill, steel_block());
  EXPECT_NE(surface_modal_key(surface, {.spacing = 0.031}, steel_block()), key);
  EXPECT_NE(surface_modal_key(shapes::generate(shapes::BoxDesc{.size = 1.01 * kBlock}), fill, steel_block()),
            key);
}

TEST(SurfaceModes, ThinWallsRefineTheLatticeUpToTheLimit)
{
  // A wall of 8 mm needs 4 mm; the coarse lattice of 200 mm / 24 = 8.3 mm may lose it.
  const mesh::TriangleMesh plate = shapes::generate(shapes::BoxDesc{.size = Vec3(0.2, 0.12, 0.008)});
  ModalAnalysisDesc desc = steel_block();
  desc.element = ElementKind::tet4;
  desc.estimate_errors = false;
  const ModalAnalysisResult fine = analyse_surface_modes(plate, {}, desc);
  // A build without CHOLMOD has another hint as well.
  const bool quick = numerics::has_backend(numerics::FactorisationBackend::cholmod_supernodal);
  ASSERT_EQ(fine.hints.size(), quick ? 1u : 2u);
  EXPECT_NE(fine.hints.back().find("thinner than a lattice of 0.00833 m"), std::string::npos)
      << fine.hints.back();
  if (!quick) {
    EXPECT_NE(fine.hints[0].find("install libsuitesparse-dev"), std::string::npos) << fine.hints[0];
  }
  EXPECT_NEAR(fine.model.mass, test_steel().density * 0.2 * 0.12 * 0.008, 0.01 * fine.model.mass);

  const ModalAnalysisResult limited = analyse_surface_modes(plate, {.max_tetrahedra = 5000}, desc);
  EXPECT_LT(limited.model.element_count, 2 * 5000);
  EXPECT_LT(limited.model.element_count, fine.model.element_count);
}

TEST(SurfaceModes, SolidBodiesGetACoarserLattice)
{
  // A 24th of its edge would fill a cube with 12 x 24^3 = 166,000 tetrahedra; 20,000 quadratic ones are
  // enough.
  const mesh::TriangleMesh cube = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 1, 1)});
  EXPECT_NEAR(default_spacing(cube, 1, ElementKind::tet10), std::cbrt(12 / 20e3), 1e-12);
  EXPECT_NEAR(default_spacing(cube, 1, ElementKind::tet4), std::cbrt(12 / 100e3), 1e-12);
  const mesh::TriangleMesh rod = shapes::generate(shapes::BoxDesc{.size = Vec3(1, 0.1, 0.1)});
  EXPECT_NEAR(default_spacing(rod, 0.01, ElementKind::tet10), 1.0 / 24, 1e-12);
}

TEST(SurfaceModes, RejectSurfacesWithoutVolume)
{
  mesh::TriangleMesh open = shapes::generate(shapes::BoxDesc{.size = kBlock});
  open.triangles.pop_back();
  const std::string sentence =
      message([&] { static_cast<void>(analyse_surface_modes(open, {.spacing = 0.03}, steel_block())); });
  EXPECT_NE(sentence.find("'block' is not closed (3 open edges)"), std::string::npos) << sentence;

  const mesh::TriangleMesh foil = shapes::generate(shapes::BoxDesc{.size = Vec3(0.2, 0.12, 1e-4)});
  const std::string thin = message([&] {
    static_cast<void>(
        analyse_surface_modes(foil, {.spacing = 0.05, .method = FillMethod::stuffing}, steel_block()));
  });
  EXPECT_NE(thin.find("thick enough for a spacing of 0.05 m"), std::string::npos) << thin;
}

// In elements of many times its size a bar of 1286 Hz had its first mode at 325 Hz.
TEST(SurfaceModes, RejectASpacingLargerThanTheBody)
{
  const mesh::TriangleMesh block = shapes::generate(shapes::BoxDesc{.size = kBlock});
  for (const double factor : {1.01, 5.0, 100.0}) {
    const double spacing = factor * kBlock.maxCoeff();
    const std::string sentence = message(
        [&] { static_cast<void>(analyse_surface_modes(block, {.spacing = spacing}, steel_block())); });
    EXPECT_NE(sentence.find("'block' is only"), std::string::npos) << sentence;
  }
}

TEST(SurfaceModes, AnErrorNamesTheSpacingThatKeepsTheBodyConnected)
{
  // Two blocks connected by a bar of 4 mm, which a lattice of 20 mm loses.
  const auto block = [](const Vec3& size, double x) {
    mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = size});
    for (Vec3& v : mesh.vertices) v.x() += x;
    return mesh;
  };
  const Vec3 cube(0.1, 0.1, 0.1);
  const std::vector<mesh::TriangleMesh> parts = {block(cube, -0.2), block(cube, 0.2),
                                                 block(Vec3(0.32, 0.004, 0.004), 0.003)};
  const mesh::TriangleMesh dumbbell = shapes::boolean_union(parts);
  const std::string sentence = message([&] {
    static_cast<void>(
        analyse_surface_modes(dumbbell, {.spacing = 0.02, .method = FillMethod::stuffing}, steel_block()));
  });
  EXPECT_NE(sentence.find("2 parts"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("A spacing of 0.002 m resolves"), std::string::npos) << sentence;
}

TEST(SurfaceModes, PartsThatCrossAreFilledByStuffingWithAWarning)
{
  mesh::TriangleMesh two = shapes::generate(shapes::BoxDesc{.size = kBlock});
  const mesh::TriangleMesh second = two;
  const auto count = static_cast<Index>(two.vertices.size());
  for (const Vec3& v : second.vertices) two.vertices.push_back(v + Vec3(0.1, 0.03, 0.02));
  for (Triangle t : second.triangles) {
    for (Index& v : t) v += count;
    two.triangles.push_back(t);
  }
  const ModalAnalysisResult result = analyse_surface_modes(two, {.spacing = 0.03}, steel_block());
  ASSERT_FALSE(result.model.warnings.empty());
  EXPECT_NE(result.model.warnings.back().find("crosses itself"), std::string::npos);
}

}  // namespace
}  // namespace thrum::elastic
