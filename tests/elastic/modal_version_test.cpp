// SPDX-License-Identifier: MIT
// Modes are cached on disk under keys that hold the versions of the code that computes them
// (modal_version.h). Here each part of that code computes something small, and the result is compared with
// what was recorded for its version.
//
// These numbers are no prediction of what is right, which other tests make: they only show that a result has
// changed. They are compared within 1e-6 (stated errors: 1e-3) and not by a hash, since compilers and
// machines differ in the last digits and a number near a limit of rounding would change a hash. Nor is it the
// source that is hashed: a comment changes no result.
//
// When a test fails after a change that was meant: raise the version and add a row; do not edit a row.
#include "thrum/elastic/modal_version.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "tests/elastic/fem_fixtures.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/sheet.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"
#include "thrum/tets/cut_cells.h"

namespace thrum::elastic {
namespace {

using Numbers = std::vector<double>;

const std::map<int, Numbers> kFillResults = {
    {1,
     {1016, 298, 13.8853334, 0.135940903, 1.4733, 15952, 3756, 1504.10889, 775.88381, 526.910326, 19494, 5081,
      2.63447944, 0.0178420637, 15.8224379}},
    {2, {1016,  298,  13.8853334, 0.135940903,  1.4733,     15952, 3756, 1504.10889, 775.88381,   526.910326,
         19494, 5081, 2.63447944, 0.0178420637, 15.8224379, 182,   377,  14.56,      0.149968001, 0.52480625,
         2695,  4704, 1527.35065, 789.514186,   197.804635}},
    {3,
     {1016,  298,  13.8853334, 0.135940903,  1.4733,     15952, 3756, 1504.10889, 775.88381,    526.910326,
      19494, 5081, 2.63447944, 0.0178420637, 15.8224379, 182,   377,  14.56,      0.149968001,  0.52480625,
      2695,  4704, 1527.35065, 789.514186,   197.804635, 722,   1581, 2.2554926,  0.0129803027, 174.461755}},
    {4, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,      3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944, 0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625, 1513,
         2758,         1527.35065, 789.514186,  165.101053,    722,         1581,       2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,   33.5473,
         887,          5378,       0.841122818, 0.00342939927, 7.30169215}},
    {5, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
         2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
         808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
         1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
         7.37406552}},
    {6, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
         2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
         808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
         1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
         7.37406552}},
    {7, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
         2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
         808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
         1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
         7.37406552}},
    {8, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
         2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
         808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
         1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
         7.37406552}},
    {9, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
         1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
         15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
         2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
         0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
         808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
         1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
         7.37406552}},
    {10, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
          1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
          15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
          2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
          0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
          808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
          1527.35065,   789.514185, 414.098315,  8323,          14922,       0.841122816, 0.00342939926,
          7.6073001}},
    {11, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
          1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
          15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
          2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
          0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
          808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
          1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
          7.37406552}},
    {12, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
          1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
          15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
          2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
          0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
          808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
          1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
          7.37406552}},
    {13, {1016,         298,        13.8853334,  0.135940903,   1.4733,      15952,       3756,
          1504.10889,   775.88381,  526.910326,  19494,         5081,        2.63447944,  0.0178420637,
          15.8224379,   182,        377,         14.56,         0.149968001, 0.52480625,  1442,
          2629,         1527.35065, 789.514186,  165.101053,    722,         1581,        2.2554926,
          0.0129803027, 174.461755, 420,         2524,          14.56,       0.149968,    33.5473,
          808,          4906,       0.841122819, 0.00342939927, 7.30169215,  6369,        11433,
          1527.35065,   789.514185, 414.098315,  4994,          9905,        0.841122816, 0.00342939926,
          7.37406552}},
};
const std::map<int, Numbers> kAssemblyResults = {
    {1,
     {5.01775886e+11, 34.8189739, 5.23555076e+11, 42.2114852, 5.23715934e+11, 42.4819168, 5.23640944e+11,
      42.4628428, 5.23636228e+11, 42.4451904, 5.23671165e+11, 42.4645599, 5.23638588e+11, 42.4620699,
      5.3575676e+09, 0.839412878}},
    {2,
     {5.01775886e+11, 34.8189739, 5.23555076e+11, 42.2114852, 5.23715934e+11, 42.4819168, 5.23640944e+11,
      42.4628428, 5.23636228e+11, 42.4451904, 5.23671165e+11, 42.4645599, 5.23638588e+11, 42.4620699,
      5.3575676e+09, 0.839412878}},
};
const std::map<int, Numbers> kSolveResults = {
    {1, {4183.3227,  37.543988,  1.80953724, 4409.43511, 41.3791766, 1.69016354, 5765.15531, 68.6072394,
         1.64989592, 8172.26425, 134.830088, 1.23408095, 8365.16528, 141.127068, 1.95934278, 0.0775050199,
         858.559513, 4.45502532, 1.31588461, 1285.85257, 6.26371401, 1.29854382, 2213.85084, 12.6744538,
         1.61400498, 3933.46172, 33.5407429, 1.37759757, 4227.81727, 38.2827281, 1.1442572,  0.0593326715}},
};

const std::map<int, Numbers> kSheetResults = {
    {10, {636,  3035,  0.185871691, 0.00138614764, 4.53151199,
          636,  3035,  0.185871691, 0.00138614764, 11.1798677,
          3200, 14843, 0.185871691, 0.00138614764, 19.5658855,
          94,   501,   0.929358453, 0.00695476193, 0.852900517}},
    {11, {636,  3035,  0.185871691, 0.00138614764, 4.53151199,
          636,  3035,  0.185871691, 0.00138614764, 11.1798677,
          3200, 14843, 0.185871691, 0.00138614764, 19.5658855,
          94,   501,   0.929358453, 0.00695476193, 0.852900517}},
    {12, {636,  3035,  0.185871691, 0.00138614764, 4.53151199,
          636,  3035,  0.185871691, 0.00138614764, 11.1798677,
          3200, 14843, 0.185871691, 0.00138614764, 19.5658855,
          94,   501,   0.929358453, 0.00695476193, 0.852900517}},
    {13, {636,  3035,  0.185871691, 0.00138614764, 4.53151199,
          636,  3035,  0.185871691, 0.00138614764, 11.1798677,
          3200, 14843, 0.185871691, 0.00138614764, 19.5658855,
          94,   501,   0.929358453, 0.00695476193, 0.852900517}},
};
const std::map<int, Numbers> kErrorResults = {
    {13, {0.00870778731, 0.00649872725, 0.0238694896, 0.00745781969, 0.022960692}},
    {14, {0.00870778731, 0.00649872725, 0.0238694896, 0.00745781969, 0.022960692}},
    {15, {0.00870778731, 0.00649872725, 0.0238694896, 0.00745781969, 0.022960692}},
    // The sheet is stated with what it misses at its rims.
    {16, {0.00870778731, 0.00649872725, 0.0238694896, 0.00745781969, 0.02733542}},
};

void expect_recorded(const std::map<int, Numbers>& recorded, int version, const Numbers& found,
                     const char* name, double tolerance = 1e-6)
{
  std::string row;
  for (const double x : found) row += fmt::format("{}{:.9g}", row.empty() ? "" : ", ", x);
  SCOPED_TRACE(
      fmt::format("{} is {}. Found {{{}, {{{}}}}}. See the top of this file.", name, version, version, row));
  ASSERT_TRUE(recorded.contains(version)) << "no row for this version";
  EXPECT_EQ(recorded.rbegin()->first, version) << "the last row is of another version";
  const Numbers& expected = recorded.at(version);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], tolerance * std::abs(expected[i])) << "number " << i;
}

// Tetrahedra as they come out: how many, and where, by sums that no order of vertices changes.
void append_filling(Numbers& numbers, const ModalAnalysisResult& result)
{
  numbers.push_back(static_cast<double>(result.model.element_count));
  numbers.push_back(static_cast<double>(result.model.node_count));
  numbers.push_back(result.model.mass);
  numbers.push_back(result.model.inertia.trace());
  double squares = 0;
  for (const Vec3& v : result.model.surface.vertices) squares += v.squaredNorm();
  numbers.push_back(squares);
}

TEST(ModalVersion, OfTheFilling)
{
  Numbers found;
  const ModalAnalysisDesc one_mode = {
      .materials = {testing::test_steel()}, .count = 1, .element = ElementKind::tet4};
  // A solid with flat faces, a curved one with the default spacing, and one with a thin wall.
  append_filling(found, analyse_surface_modes(shapes::generate(shapes::BoxDesc{.size = {0.2, 0.13, 0.07}}),
                                              {.spacing = 0.03}, one_mode));
  append_filling(found, analyse_surface_modes(
                            shapes::generate(shapes::TorusDesc{.major_segments = 12, .minor_segments = 8}),
                            {.max_tetrahedra = 3000}, one_mode));
  append_filling(found, analyse_surface_modes(
                            shapes::generate(shapes::BowlDesc{.thickness = 0.01, .edge_length = 0.015}),
                            {.max_tetrahedra = 6000}, one_mode));
  // Cut cells with a spacing that is given and with one that is chosen.
  const ModalAnalysisDesc quadratic = {.materials = {testing::test_steel()}, .count = 1};
  append_filling(found, analyse_surface_modes(shapes::generate(shapes::BoxDesc{.size = {0.2, 0.13, 0.07}}),
                                              {.spacing = 0.07}, quadratic));
  append_filling(found, analyse_surface_modes(
                            shapes::generate(shapes::TorusDesc{.major_segments = 12, .minor_segments = 8}),
                            {.method = FillMethod::cut_cells, .quality = Quality::draft}, quadratic));
  // A body of revolution.
  append_filling(found, analyse_surface_modes(
                            shapes::generate(shapes::LatheDesc{
                                .profile = {{0.04, 0}, {0.05, 0}, {0.05, 0.1}, {0.04, 0.1}}, .segments = 48}),
                            {.quality = Quality::draft}, quadratic));
  // A body along the axes, and cubic cut cells that are bisected.
  append_filling(found, analyse_surface_modes(shapes::generate(shapes::BoxDesc{.size = {0.2, 0.13, 0.07}}),
                                              {}, quadratic));
  append_filling(found,
                 analyse_surface_modes(shapes::generate(shapes::MugDesc{}),
                                       {.max_tetrahedra = 4200, .method = FillMethod::cut_cells}, quadratic));
  // Tetrahedra that keep the surface.
  append_filling(found, analyse_surface_modes(
                            shapes::generate(shapes::TorusDesc{.major_segments = 12, .minor_segments = 8}),
                            {.method = FillMethod::delaunay, .quality = Quality::draft}, quadratic));
  append_filling(
      found, analyse_surface_modes(shapes::generate(shapes::MugDesc{}),
                                   {.method = FillMethod::delaunay, .quality = Quality::draft}, quadratic));
  expect_recorded(kFillResults, kModalVersions.fill, found, "ModalVersions::fill");
}

// The energies of a smooth motion of the nodes, the same for any numbering of them.
void append_energies(Numbers& numbers, const ElementMesh& elements)
{
  const AssembledSystem system = assemble(elements, std::vector{testing::test_steel()});
  VecX x(system.unknowns.count);
  for (std::size_t n = 0; n < elements.nodes.size(); ++n) {
    const Vec3& p = elements.nodes[n];
    for (int k = 0; k < 3; ++k) x[3 * static_cast<Index>(n) + k] = std::sin(9 * p[k] + 5 * p[(k + 1) % 3]);
  }
  numbers.push_back(x.dot(system.stiffness.selfadjointView<Eigen::Lower>() * x));
  numbers.push_back(x.dot(system.mass.selfadjointView<Eigen::Lower>() * x));
}

TEST(ModalVersion, OfTheAssembly)
{
  Numbers found;
  const Vec3 size(0.3, 0.2, 0.1);
  const mesh::TetrahedralMesh mesh = testing::perturbed_box(size, {3, 2, 2}, 5);
  for (const ElementKind kind :
       {ElementKind::tet4, ElementKind::tet10, ElementKind::tet20, ElementKind::tet35})
    append_energies(found, build_element_mesh(mesh, kind));
  const distance::MeshDistance box(shapes::generate(shapes::BoxDesc{.size = size}));
  for (const int degree : {2, 3, 4})
    append_energies(found, build_element_mesh(tets::CutCells(box, {.spacing = 0.09, .degree = degree})));
  // Wedges.
  mesh::TriangleMesh sheet;
  sheet.vertices = {{0, 0, 0}, {0.2, 0, 0}, {0, 0.1, 0.02}, {0.2, 0.1, 0.02}};
  sheet.triangles = {{0, 1, 3}, {0, 3, 2}};
  const ModalAnalysisDesc steel = {.materials = {testing::test_steel()}, .count = 1};
  append_energies(found, sheet_body(sheet, 0.004, 0.05, steel).elements);
  expect_recorded(kAssemblyResults, kModalVersions.assembly, found, "ModalVersions::assembly");
}

TEST(ModalVersion, OfTheSolution)
{
  Numbers found;
  model::Material material = testing::test_steel();
  material.damping = {.kind = model::DampingKind::rayleigh, .alpha = 6, .beta = 1e-7};
  const mesh::TetrahedralMesh mesh = testing::perturbed_box({0.3, 0.17, 0.1}, {4, 3, 2}, 5);
  for (const char* support : {"", "x<-0.149"}) {
    ModalAnalysisDesc desc = {.materials = {material}, .count = 5};
    if (*support != 0) desc.supports = {{parse_selection(support)}};
    const model::ModalModel model = analyse_modes(mesh, desc).model;
    for (Eigen::Index k = 0; k < model.frequencies.size(); ++k) {
      found.push_back(model.frequencies[k]);
      found.push_back(model.decays[k]);
      found.push_back(model.shapes.col(k).norm());
    }
    found.push_back(model.frequency_errors.sum());
  }
  expect_recorded(kSolveResults, kModalVersions.solve, found, "ModalVersions::solve");
}

// With edges of different lengths, so that a limit of theirs changes what is halved.
mesh::TriangleMesh folded_sheet()
{
  mesh::TriangleMesh folded;
  const Vec2 corners[] = {{0, 0}, {0.021, 0}, {0.06, 0}, {0.1, 0.0693}, {0.09, 0.13}, {0.083, 0.16}};
  for (const Vec2& c : corners)
    for (const double y : {0.0, 0.05}) folded.vertices.emplace_back(c.x(), y, c.y());
  for (Index k = 0; k < 10; k += 2) {
    folded.triangles.push_back({k, k + 2, k + 1});
    folded.triangles.push_back({k + 1, k + 2, k + 3});
  }
  return folded;
}

// A sheet and a closed solid that is a thin wall, refined until their errors are small enough.
TEST(ModalVersion, OfTheSheets)
{
  const mesh::TriangleMesh folded = folded_sheet();
  const double thickness = 0.002;
  const ModalAnalysisDesc desc = {.materials = {testing::test_steel()}, .count = 2};
  Numbers found;
  append_filling(found, analyse_surface_modes(folded, {.thickness = thickness}, desc));
  append_filling(found, analyse_surface_modes(mesh::solidified(folded, thickness), {}, desc));
  append_filling(found,
                 analyse_surface_modes(folded, {.thickness = thickness, .quality = Quality::fine}, desc));
  // So thick that its edges are as short as they are allowed to be.
  append_filling(found, analyse_surface_modes(folded, {.thickness = 0.01, .quality = Quality::fine}, desc));
  expect_recorded(kSheetResults, kModalVersions.fill, found, "ModalVersions::fill");
}

// The errors that are stated, of each way to fill a surface. They are differences of frequencies and known to
// fewer digits than these.
TEST(ModalVersion, OfTheStatedErrors)
{
  constexpr double kDigits = 1e-3;
  Numbers found;
  const ModalAnalysisDesc desc = {.materials = {testing::test_steel()}, .count = 3};
  const auto append_errors = [&](const ModalAnalysisResult& result) {
    found.push_back(result.model.frequency_errors.sum());
  };
  const mesh::TriangleMesh box = shapes::generate(shapes::BoxDesc{.size = {0.2, 0.13, 0.07}});
  const mesh::TriangleMesh torus =
      shapes::generate(shapes::TorusDesc{.major_segments = 12, .minor_segments = 8});
  const mesh::TriangleMesh pipe = shapes::generate(
      shapes::LatheDesc{.profile = {{0.04, 0}, {0.05, 0}, {0.05, 0.1}, {0.04, 0.1}}, .segments = 48});
  append_errors(analyse_surface_modes(box, {.quality = Quality::draft}, desc));
  append_errors(analyse_surface_modes(pipe, {.quality = Quality::draft}, desc));
  for (const FillMethod method : {FillMethod::cut_cells, FillMethod::delaunay})
    append_errors(analyse_surface_modes(torus, {.method = method, .quality = Quality::draft}, desc));
  append_errors(analyse_surface_modes(folded_sheet(), {.thickness = 0.002, .quality = Quality::draft}, desc));
  // All three versions go into these: raising any of them raises the sum.
  expect_recorded(kErrorResults, kModalVersions.fill + kModalVersions.assembly + kModalVersions.solve, found,
                  "the sum of ModalVersions", kDigits);
}

TEST(ModalVersion, IsPartOfTheKeys)
{
  const ModalAnalysisDesc desc = {.materials = {testing::test_steel()}};
  const mesh::TetrahedralMesh mesh = testing::perturbed_box({0.3, 0.2, 0.1}, {1, 1, 1}, 5);
  const mesh::TriangleMesh surface = shapes::generate(shapes::BoxDesc{});
  for (int part = 0; part < 3; ++part) {
    ModalVersions raised = kModalVersions;
    ++(part == 0 ? raised.fill : part == 1 ? raised.assembly : raised.solve);
    EXPECT_NE(surface_modal_key(surface, {}, desc, raised), surface_modal_key(surface, {}, desc)) << part;
    // Where there is nothing to fill, the filling does not matter.
    EXPECT_EQ(modal_key(mesh, desc, raised) == modal_key(mesh, desc), part == 0) << part;
  }
}

}  // namespace
}  // namespace thrum::elastic
