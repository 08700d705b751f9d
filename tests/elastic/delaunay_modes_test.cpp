// SPDX-License-Identifier: MIT
// Modes in tetrahedra that keep the surface, against closed forms and against other fillings.
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/elastic/beam_theory.h"
#include "tests/elastic/fem_fixtures.h"
#include "tests/elastic/turned_mesh.h"
#include "thrum/base/random.h"
#include "thrum/elastic/delaunay_modes.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/shapes/boolean.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::elastic {
namespace {

using testing::Beam;
using testing::BeamEnds;
using testing::message;
using testing::test_steel;
using testing::timoshenko_frequency;

mesh::TriangleMesh turned(mesh::TriangleMesh mesh, std::uint64_t seed)
{
  base::Random random(seed);
  return testing::turned(std::move(mesh), random);
}

constexpr FillDesc kKeep = {.method = FillMethod::delaunay};

// In any position: twenty rotations, a spread of the first mode below 0.1 %.
TEST(DelaunayModes, ATurnedBarIsThatOfTimoshenko)
{
  const Vec3 size(0.5, 0.012, 0.01);
  const Beam flat = {test_steel(), size.x(), size.y(), size.z()};
  const Beam upright = {test_steel(), size.x(), size.z(), size.y()};
  const mesh::TriangleMesh bar = shapes::generate(shapes::BoxDesc{.size = size});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const ModalAnalysisResult result = analyse_surface_modes(
        turned(bar, seed), kKeep, {.name = "bar", .materials = {test_steel()}, .count = seed == 1 ? 6 : 2});
    EXPECT_NEAR(result.model.mass, test_steel().density * size.prod(), 1e-7 * result.model.mass) << seed;
    for (int k = 0; k < (seed == 1 ? 3 : 1); ++k) {
      const double low = timoshenko_frequency(flat, BeamEnds::free_free, k);
      const double high = timoshenko_frequency(upright, BeamEnds::free_free, k);
      EXPECT_NEAR(result.model.frequencies[2 * k], low, 0.001 * low) << seed << ", " << k;
      EXPECT_NEAR(result.model.frequencies[2 * k + 1], high, 0.001 * high) << seed << ", " << k;
    }
  }
}

// Held up to a plane that no vertex of its surface lies on.
TEST(DelaunayModes, ABarHeldUpToAPlaneIsACantileverOfItsFreePart)
{
  for (const double length : {0.3, 0.337, 0.4}) {
    const Vec3 size(0.5, 0.02, 0.015);
    const mesh::TriangleMesh bar = shapes::generate(shapes::BoxDesc{.size = size});
    const ModalAnalysisResult result =
        analyse_surface_modes(bar, kKeep,
                              {.name = "bar",
                               .materials = {test_steel()},
                               .supports = {{parse_selection("x<" + std::to_string(0.25 - length))}},
                               .count = 2});
    const Beam flat = {test_steel(), length, size.y(), size.z()};
    const Beam upright = {test_steel(), length, size.z(), size.y()};
    const double low = timoshenko_frequency(flat, BeamEnds::cantilever, 0);
    const double high = timoshenko_frequency(upright, BeamEnds::cantilever, 0);
    EXPECT_NEAR(result.model.frequencies[0], low, 0.005 * low) << length;
    EXPECT_NEAR(result.model.frequencies[1], high, 0.005 * high) << length;
  }
}

// A body of revolution is solved in its profile by another method; its facets are those of the surface.
TEST(DelaunayModes, AreThoseOfTheProfileOfARoundBody)
{
  const mesh::TriangleMesh ring =
      shapes::generate(shapes::TorusDesc{.major_radius = 0.1, .minor_radius = 0.02, .edge_length = 0.008});
  const ModalAnalysisDesc desc = {.name = "ring", .materials = {test_steel()}, .count = 8};
  const ModalAnalysisResult round = analyse_surface_modes(ring, {.quality = Quality::fine}, desc);
  const ModalAnalysisResult kept = analyse_surface_modes(ring, kKeep, desc);
  ASSERT_EQ(round.model.frequencies.size(), kept.model.frequencies.size());
  // The polygon of the tube is thinner than its circle, by its facets.
  const double facets = 1 - kept.model.mass / round.model.mass;
  for (int k = 0; k < 8; ++k)
    EXPECT_NEAR(kept.model.frequencies[k] / round.model.frequencies[k], 1, facets + 0.005) << k;
}

// The true error is at most the stated one, which is not far above it; here the finest mesh is the truth.
TEST(DelaunayModes, StateTheirErrors)
{
  const mesh::TriangleMesh mug = shapes::generate(shapes::MugDesc{});
  const ModalAnalysisDesc desc = {.name = "mug", .materials = {test_steel()}, .count = 8};
  const ModalAnalysisResult draft =
      analyse_surface_modes(mug, {.method = FillMethod::delaunay, .quality = Quality::draft}, desc);
  const ModalAnalysisResult normal = analyse_surface_modes(mug, kKeep, desc);
  int close = 0;
  for (int k = 0; k < 8; ++k) {
    const double error = draft.model.frequencies[k] / normal.model.frequencies[k] - 1;
    EXPECT_GE(error, -1e-4) << k;  // elements that fit are too stiff
    EXPECT_LE(error + 0.3 * normal.model.frequency_errors[k], draft.model.frequency_errors[k]) << k;
    if (draft.model.frequency_errors[k] <= 5 * (error + 0.3 * normal.model.frequency_errors[k])) ++close;
  }
  EXPECT_GE(close, 6);
}

mesh::TriangleMesh block(const Vec3& low, const Vec3& high)
{
  mesh::TriangleMesh mesh = shapes::generate(shapes::BoxDesc{.size = high - low});
  for (Vec3& v : mesh.vertices) v += 0.5 * (low + high);
  return mesh;
}

// A handle of 40 mm on the side of a block, turned against it by some degrees.
mesh::TriangleMesh block_with_handle(double degrees)
{
  Mat3 turn;
  turn = Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Vec3::UnitX());
  std::vector<mesh::TriangleMesh> parts = {block({-0.01, -0.02, -0.1}, {0.1, 0.02, -0.06}),
                                           block({-0.01, -0.02, 0.06}, {0.1, 0.02, 0.1}),
                                           block({0.06, -0.02, -0.1}, {0.1, 0.02, 0.1})};
  for (mesh::TriangleMesh& part : parts)
    for (Vec3& v : part.vertices) v = turn * v + Vec3(0.5, 0.25, 0.55);
  parts.push_back(block({0, 0, 0}, {0.5, 0.5, 1}));
  return shapes::boolean_union(parts);
}

// Where a small part stands on a large body, elements of the size of that body are too stiff, alike in every
// degree. Along three axes the same body has a graded
// grid, another method; how the handle is turned changes its modes by less than 0.5 %.
TEST(DelaunayModes, StateTheErrorsOfASmallPart)
{
  const ModalAnalysisDesc desc = {.name = "block", .materials = {test_steel()}, .count = 8};
  const model::ModalModel grid =
      analyse_surface_modes(block_with_handle(0), {.max_tetrahedra = 16e3, .quality = Quality::fine}, desc)
          .model;
  const model::ModalModel kept =
      analyse_surface_modes(block_with_handle(25), {.quality = Quality::draft}, desc).model;
  ASSERT_EQ(grid.element, "tet20");
  for (Eigen::Index k = 0; k < 8; ++k)
    EXPECT_LE(kept.frequencies[k] / grid.frequencies[k] - 1, kept.frequency_errors[k] + 0.005) << k;
}

TEST(DelaunayModes, KeepShapesAtTheVerticesOfTheSurface)
{
  const mesh::TriangleMesh mug = turned(shapes::generate(shapes::MugDesc{}), 4);
  const ModalAnalysisResult result =
      analyse_surface_modes(mug, {.method = FillMethod::delaunay, .quality = Quality::draft},
                            {.name = "mug", .materials = {test_steel()}, .count = 3});
  ASSERT_GE(result.model.surface.vertices.size(), mug.vertices.size());
  for (std::size_t v = 0; v < mug.vertices.size(); ++v)
    ASSERT_EQ(result.model.surface.vertices[v], mug.vertices[v]) << v;
  EXPECT_NEAR(mesh::area(result.model.surface), mesh::area(mug), 1e-6 * mesh::area(mug));
}

// With the many triangles of a scan: a ring, solved in its profile by another method, and a bent pipe against
// its own few triangles. Shapes are those of the given vertices.
TEST(DelaunayModes, OfARemeshedRingAreThoseOfItsProfile)
{
  const mesh::TriangleMesh ring =
      shapes::generate(shapes::TorusDesc{.major_radius = 0.1, .minor_radius = 0.012, .edge_length = 0.0016});
  ASSERT_GT(ring.triangles.size(), 25000U);
  const ModalAnalysisDesc desc = {.name = "ring", .materials = {test_steel()}, .count = 8};
  const ModalAnalysisResult round = analyse_surface_modes(ring, {.quality = Quality::fine}, desc);
  const auto even = analyse_remeshed(ring, {}, desc);
  ASSERT_TRUE(even.has_value());
  EXPECT_NEAR(even->model.mass, round.model.mass, 0.003 * round.model.mass);
  ASSERT_GE(even->model.surface.vertices.size(), ring.vertices.size());
  EXPECT_EQ(even->model.surface.vertices.front(), ring.vertices.front());
  for (int k = 0; k < 8; ++k) {
    const double error = std::abs(even->model.frequencies[k] / round.model.frequencies[k] - 1);
    EXPECT_LE(error, even->model.frequency_errors[k] + round.model.frequency_errors[k]) << k;
    EXPECT_LE(even->model.frequency_errors[k], 0.01) << k;
  }
}

TEST(DelaunayModes, OfARemeshedBodyThatIsHeldAreThoseOfItsGivenTriangles)
{
  const mesh::TriangleMesh pipe =
      shapes::generate(shapes::TubeDesc{.path = {{0, 0, 0}, {0.2, 0, 0}, {0.3, 0.1, 0}},
                                        .radius = 0.02,
                                        .inner_radius = 0.015,
                                        .segments = 24});
  const ModalAnalysisDesc desc = {
      .name = "pipe", .materials = {test_steel()}, .supports = {{parse_selection("x<0.05")}}, .count = 5};
  const ModalAnalysisResult kept = analyse_surface_modes(pipe, kKeep, desc);
  const auto even = analyse_remeshed(pipe, {}, desc);
  ASSERT_TRUE(even.has_value());
  for (int k = 0; k < 5; ++k)
    EXPECT_NEAR(even->model.frequencies[k] / kept.model.frequencies[k], 1,
                even->model.frequency_errors[k] + kept.model.frequency_errors[k])
        << k;
}

// Remeshed, its rod of twelve facets has eight or so, and its second moments change by several percent, which
// neither its inertia nor the area of its sections shows: one mode was 2.4 % too low, stated to 1.1 %. The
// same body with its surface kept is the truth: halfway down its own stated error.
TEST(DelaunayModes, OfARemeshedSmallPartStateWhatItsSectionsChange)
{
  const mesh::TriangleMesh rod = shapes::generate(
      shapes::TubeDesc{.path = {{0.49, 0.25, 0.4}, {0.58, 0.25, 0.4}, {0.58, 0.25, 0.65}, {0.49, 0.25, 0.65}},
                       .radius = 0.02,
                       .segments = 12});
  const mesh::TriangleMesh body =
      shapes::boolean_union(std::vector<mesh::TriangleMesh>{block({0, 0, 0}, {0.5, 0.5, 1}), rod});
  const ModalAnalysisDesc desc = {.name = "block", .materials = {test_steel()}, .count = 8};
  const model::ModalModel kept = analyse_surface_modes(body, kKeep, desc).model;
  const auto even = analyse_remeshed(body, {}, desc);
  ASSERT_TRUE(even.has_value());
  for (Eigen::Index k = 0; k < 8; ++k) {
    const double half = 0.5 * kept.frequency_errors[k];
    EXPECT_NEAR(even->model.frequencies[k] / (kept.frequencies[k] * (1 - half)), 1,
                even->model.frequency_errors[k] + half)
        << k;
    EXPECT_LE(even->model.frequency_errors[k], 0.035) << k;
  }
}

// Held at one end, so that it is no free body of revolution: a rod of some facets, which are long and narrow,
// bends, remeshed, as its polygon does.
TEST(DelaunayModes, OfARemeshedRodOfNarrowFacetsAreThoseOfItsPolygon)
{
  for (const auto& [segments, ratio] : {std::pair(6, 15.0), std::pair(8, 20.0), std::pair(12, 25.0)}) {
    const double radius = 0.01, length = ratio * 2 * radius;
    const mesh::TriangleMesh rod = shapes::generate(
        shapes::TubeDesc{.path = {{-0.1, 0, 0}, {length, 0, 0}}, .radius = radius, .segments = segments});
    const double angle = 2 * std::numbers::pi / segments;
    const double area = 0.5 * segments * radius * radius * std::sin(angle);
    const double moment = segments * std::pow(radius, 4) / 24 * std::sin(angle) * (2 + std::cos(angle));
    EXPECT_NEAR(mesh::solid_mass_properties(rod).volume, area * (length + 0.1), 1e-9);
    // Of the rectangle with the same area and second moment.
    const double thickness = std::sqrt(12 * moment / area);
    const Beam beam = {test_steel(), length, area / thickness, thickness};
    const double expected = timoshenko_frequency(beam, BeamEnds::cantilever, 0);
    const ModalAnalysisDesc desc = {
        .name = "rod", .materials = {test_steel()}, .supports = {{parse_selection("x<0")}}, .count = 2};
    const auto even = analyse_remeshed(rod, {}, desc);
    ASSERT_TRUE(even.has_value()) << segments;
    for (Eigen::Index k = 0; k < 2; ++k) {
      EXPECT_NEAR(even->model.frequencies[k], expected, (0.003 + even->model.frequency_errors[k]) * expected)
          << segments << ", " << k;
    }
  }
}

model::ModalModel flat_model(const MatX& shapes, const VecX& frequencies)
{
  model::ModalModel model;
  model.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  model.surface.triangles = {{0, 1, 2}, {1, 3, 2}};
  model.shapes = shapes;
  model.frequencies = frequencies;
  return model;
}

TEST(FillQuality, MatchesModesThatHaveChangedPlaces)
{
  base::Random random(7);
  const MatX shapes = MatX::NullaryExpr(12, 3, [&] { return random.uniform() - 0.5; });
  MatX swapped(12, 3);
  swapped << shapes.col(1), -shapes.col(0), shapes.col(2);
  const VecX matched =
      matched_frequencies(flat_model(shapes, Vec3(100, 110, 130)), flat_model(swapped, Vec3(95, 99, 129)));
  EXPECT_NEAR(matched[0], 110, 1e-9);
  EXPECT_NEAR(matched[1], 100, 1e-9);
  EXPECT_NEAR(matched[2], 130, 1e-9);
  // Two of the same frequency may be turned against each other.
  const double c = std::cos(0.7), s = std::sin(0.7);
  MatX turned(12, 3);
  turned << c * shapes.col(0) - s * shapes.col(1), s * shapes.col(0) + c * shapes.col(1), shapes.col(2);
  const VecX pair =
      matched_frequencies(flat_model(shapes, Vec3(100, 100, 130)), flat_model(turned, Vec3(98, 98, 129)));
  EXPECT_NEAR(pair[0], 100, 1e-9);
  EXPECT_NEAR(pair[1], 100, 1e-9);
  // A mode that the coarser filling has only above those that were found.
  const MatX two = shapes.leftCols(2);
  const VecX missing =
      matched_frequencies(flat_model(two, Vec2(100, 110)), flat_model(shapes.col(2), VecX::Constant(1, 90)));
  EXPECT_GE(missing[0], 110 - 1e-9);
}

TEST(FillQuality, CoversModesThatMayChangePlaces)
{
  model::ModalModel model;
  model.frequencies = Vec3(100, 101, 200);
  model.frequency_errors = Vec3(0.001, 0.06, 0.01);
  cover_changed_order(model);
  EXPECT_NEAR(model.frequency_errors[0], 1 - 0.94 * 1.01, 1e-12);  // the second may be the first
  EXPECT_NEAR(model.frequency_errors[1], 0.06, 1e-12);
  EXPECT_NEAR(model.frequency_errors[2], 0.01, 1e-12);
}

TEST(DelaunayModes, RejectWhatTheyCannotKeepWithWhatToDo)
{
  const mesh::TriangleMesh ball = shapes::generate(shapes::SphereDesc{.radius = 0.1, .edge_length = 0.001});
  EXPECT_NE(message([&] {
              (void)analyse_surface_modes(ball, kKeep, {.name = "ball", .materials = {test_steel()}});
            }).find("--fill cut"),
            std::string::npos);
}

}  // namespace
}  // namespace thrum::elastic
