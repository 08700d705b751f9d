// SPDX-License-Identifier: MIT
// Sheets in wedges of 15 nodes, against closed forms and against solids.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <numbers>

#include "tests/elastic/beam_theory.h"
#include "tests/elastic/fem_fixtures.h"
#include "thrum/elastic/assembly.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/elastic/wedge_element.h"
#include "thrum/shapes/shapes.h"

namespace thrum::elastic {
namespace {

using testing::message;
using testing::test_steel;

// A rectangle in the plane z = 0 about the origin, of two triangles.
mesh::TriangleMesh rectangle(double x, double y)
{
  mesh::TriangleMesh mesh;
  mesh.vertices = {{-x / 2, -y / 2, 0}, {x / 2, -y / 2, 0}, {x / 2, y / 2, 0}, {-x / 2, y / 2, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 2, 3}};
  return mesh;
}

ModalAnalysisDesc steel(Index count)
{
  return {.name = "sheet", .materials = {test_steel()}, .count = count};
}

int zero_modes(const MatX& stiffness)
{
  const VecX values = Eigen::SelfAdjointEigenSolver<MatX>(stiffness, Eigen::EigenvaluesOnly).eigenvalues();
  return static_cast<int>((values.array() < 1e-9 * values.maxCoeff()).count());
}

TEST(WedgeElement, MotionsWithoutEnergy)
{
  const std::array<Vec3, 6> corners = {Vec3(0, 0, 0),     Vec3(1, 0.1, 0),   Vec3(0.2, 0.9, 0.1),
                                       Vec3(0, 0.1, 0.3), Vec3(1, 0.1, 0.4), Vec3(0.3, 0.9, 0.5)};
  const WedgeElement wedge(corners);
  ASSERT_TRUE(wedge.is_positive());
  // 45 unknowns, six points of six strains: 36 are controlled, so 6 rigid motions and 3 others are left.
  EXPECT_EQ(zero_modes(wedge.stiffness_matrix(lame_constants(test_steel()))), 9);
  // Strains that are constant are exact: a linear motion has the energy of its volume.
  Mat3 gradient;
  gradient << 0.3, -0.2, 0.1, 0.5, 0.4, -0.7, 0.2, 0.6, -0.1;
  VecX motion(45);
  const auto node = [&](int k) -> Vec3 {
    constexpr std::array<std::array<std::size_t, 2>, 9> kEdges = {
        {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}};
    if (k < 6) return corners[static_cast<std::size_t>(k)];
    const auto& e = kEdges[static_cast<std::size_t>(k - 6)];
    return 0.5 * (corners[e[0]] + corners[e[1]]);
  };
  for (int k = 0; k < 15; ++k) motion.segment<3>(3 * k) = gradient * node(k);
  const LameConstants lame = lame_constants(test_steel());
  const Mat3 strain = 0.5 * (gradient + gradient.transpose());
  const double density = lame.lambda * strain.trace() * strain.trace() + 2 * lame.mu * strain.squaredNorm();
  const double energy = motion.dot(wedge.stiffness_matrix(lame) * motion);
  // The volume at the six points differs from the exact one as the element is not straight across.
  EXPECT_NEAR(energy, density * wedge.volume(), 0.01 * energy);
  EXPECT_NEAR(VecX::Ones(45).dot(wedge.mass_matrix(2.0) * VecX::Ones(45)), 3 * 2.0 * wedge.volume(),
              1e-12 * wedge.volume());
}

TEST(WedgeElement, PatchesHaveOnlyRigidMotions)
{
  const auto count = [](double x, double y, double longest) {
    const ElementBody body = sheet_body(rectangle(x, y), 0.1, longest, steel(1));
    const AssembledSystem system = assemble(body.elements, std::vector{test_steel()});
    return std::pair(body.elements.element_count(), zero_modes(testing::dense(system.stiffness)));
  };
  // Two wedges have one motion more; a square of more, and a strip one wedge wide, have none.
  EXPECT_EQ(count(1, 1, 2), std::pair(std::size_t{2}, 7));
  EXPECT_EQ(count(1, 1, 1.2).second, 6);
  EXPECT_EQ(count(1, 1, 0.6).second, 6);
  const auto [wedges, motions] = count(8, 1, 1.5);
  EXPECT_GT(wedges, 8u);
  EXPECT_EQ(motions, 6);
}

TEST(SheetModes, AFreeSquarePlateIsThatOfTheSeries)
{
  // The body of NAFEMS FV12, 10 x 10 x 0.05 m, by the Ritz series of [Leissa]; FV12's own 4.233 and 7.416 Hz
  // are above it by 1 and 0.8 %.
  const model::ModalModel m = analyse_surface_modes(rectangle(10, 10), {.thickness = 0.05}, steel(6)).model;
  const double unit = 0.05 / 100 * std::sqrt(test_steel().young / (12 * (1 - 0.09) * test_steel().density)) /
                      (2 * std::numbers::pi);
  constexpr std::array<double, 6> kSeries = {13.468, 19.596, 24.270, 34.801, 34.801, 61.093};
  for (std::size_t k = 0; k < 6; ++k)
    EXPECT_NEAR(m.frequencies[static_cast<Eigen::Index>(k)], kSeries[k] * unit, 0.004 * kSeries[k] * unit)
        << k;
  EXPECT_NEAR(m.mass, 8000 * 5, 1e-6 * m.mass);
  EXPECT_EQ(m.element, "wedge15");
  EXPECT_LT(m.frequency_errors.maxCoeff(), 0.01);
}

TEST(SheetModes, VeryThinPlatesDoNotLock)
{
  // Kirchhoff: f = lambda^2/(2 pi a^2) sqrt(D/(rho h)), lambda^2 = 13.47, 19.60, 24.27 for a free plate
  // with nu = 0.3, and 3.471, 8.508, 21.29 when one edge is clamped [Leissa]; h/a = 1/1000.
  const double h = 0.001;
  const double scale = std::sqrt(test_steel().young * h * h / (12 * (1 - 0.09) * test_steel().density)) /
                       (2 * std::numbers::pi);
  const model::ModalModel free = analyse_surface_modes(rectangle(1, 1), {.thickness = h}, steel(3)).model;
  ModalAnalysisDesc clamped = steel(3);
  clamped.supports = {{parse_selection("x<-0.5")}};
  const model::ModalModel held = analyse_surface_modes(rectangle(1, 1), {.thickness = h}, clamped).model;
  constexpr std::array<double, 3> kFree = {13.47, 19.60, 24.27};
  constexpr std::array<double, 3> kHeld = {3.471, 8.508, 21.29};
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(free.frequencies[static_cast<Eigen::Index>(k)], kFree[k] * scale, 0.01 * kFree[k] * scale);
    EXPECT_NEAR(held.frequencies[static_cast<Eigen::Index>(k)], kHeld[k] * scale, 0.01 * kHeld[k] * scale);
  }
}

TEST(SheetModes, AFoldedStripIsTheClosedSolid)
{
  // An angle of two strips of 0.2 x 0.05 m and 4 mm: as a sheet, and as a solid in cut cells.
  mesh::TriangleMesh sheet;
  sheet.vertices = {{0, 0.05, 0}, {0.2, 0.05, 0}, {0, 0, 0}, {0.2, 0, 0}, {0, 0, 0.05}, {0.2, 0, 0.05}};
  sheet.triangles = {{0, 2, 3}, {0, 3, 1}, {2, 4, 5}, {2, 5, 3}};
  const double t = 0.004;
  const double a = t / 2;
  shapes::ExtrusionDesc profile;
  profile.outline = {{-a, -a}, {0.05, -a}, {0.05, a}, {a, a}, {a, 0.05}, {-a, 0.05}};
  profile.height = 0.2;
  const mesh::TriangleMesh solid = shapes::generate(profile);
  const model::ModalModel wedges = analyse_surface_modes(sheet, {.thickness = t}, steel(5)).model;
  const model::ModalModel cut = analyse_surface_modes(solid, {.spacing = 0.007}, steel(5)).model;
  EXPECT_NEAR(wedges.mass, cut.mass, 1e-3 * cut.mass);
  for (Eigen::Index k = 0; k < 5; ++k)
    EXPECT_NEAR(wedges.frequencies[k], cut.frequencies[k], 0.015 * cut.frequencies[k]) << k;
}

TEST(SheetModes, AThinCylinderIsThatOfTheory)
{
  // Free ends, no stretching: both Rayleigh's and Love's modes of a thin tube, n = 2:
  // w^2 = n^2 (n^2 - 1)^2/(n^2 + 1) D/(rho h R^4) (Rayleigh); Love's have the factor
  // (1 + 24 (1 - nu) R^2/(n^2 l^2))/(1 + 12 R^2/(n^2 (n^2 + 1) l^2)) [Leissa 1973, section 2.5].
  const double R = 0.05;
  const double length = 0.1;
  const double h = 0.001;
  mesh::TriangleMesh tube;
  constexpr int kAround = 36;
  constexpr int kAlong = 10;
  for (int j = 0; j <= kAlong; ++j)
    for (int i = 0; i < kAround; ++i) {
      const double angle = 2 * std::numbers::pi * i / kAround;
      tube.vertices.emplace_back(R * std::cos(angle), R * std::sin(angle), length * j / kAlong);
    }
  for (int j = 0; j < kAlong; ++j)
    for (int i = 0; i < kAround; ++i) {
      const Index a = j * kAround + i;
      const Index b = j * kAround + (i + 1) % kAround;
      tube.triangles.push_back({a, b, b + kAround});
      tube.triangles.push_back({a, b + kAround, a + kAround});
    }
  const model::ModalModel m = analyse_surface_modes(tube, {.spacing = 0.1, .thickness = h}, steel(4)).model;
  const double nu = test_steel().poisson;
  const double rayleigh = 6 / std::sqrt(5.0) * h / (R * R) *
                          std::sqrt(test_steel().young / (12 * (1 - nu * nu) * test_steel().density)) /
                          (2 * std::numbers::pi);
  const double ratio = R * R / (length * length);
  const double love = rayleigh * std::sqrt((1 + 24 * (1 - nu) * ratio / 4) / (1 + 12 * ratio / 20));
  for (const int k : {0, 1}) {
    EXPECT_NEAR(m.frequencies[k], rayleigh, 0.015 * rayleigh);
    EXPECT_NEAR(m.frequencies[2 + k], love, 0.015 * love);
  }
  EXPECT_GT(m.frequency_errors.size(), 0);
}

TEST(SheetModes, WhatCannotBeASheetIsRejectedWithThePlace)
{
  const auto rejected = [](const mesh::TriangleMesh& mesh, double thickness) {
    return message([&] {
      static_cast<void>(analyse_surface_modes(mesh, {.spacing = 1, .thickness = thickness}, steel(1)));
    });
  };
  mesh::TriangleMesh branch = rectangle(1, 1);
  branch.vertices.emplace_back(0, 0, 1);
  branch.triangles.push_back({2, 0, 4});
  EXPECT_NE(rejected(branch, 0.01).find("branches at (0, 0, 0) m, where 3 triangles"), std::string::npos)
      << rejected(branch, 0.01);
  mesh::TriangleMesh turned = rectangle(1, 1);
  turned.triangles[1] = {0, 3, 2};
  EXPECT_NE(rejected(turned, 0.01).find("face different ways at (0, 0, 0)"), std::string::npos);
  mesh::TriangleMesh folded = rectangle(1, 1);
  folded.vertices[3] = Vec3(0.45, -0.45, 0.01);
  EXPECT_NE(rejected(folded, 0.01).find("folded too sharply at"), std::string::npos)
      << rejected(folded, 0.01);
  // A ball of radius 0.5 cannot be a shell of 2 m.
  const mesh::TriangleMesh ball = shapes::generate(shapes::SphereDesc{.radius = 0.5, .edge_length = 0.3});
  EXPECT_NE(rejected(ball, 2).find("bent more narrowly"), std::string::npos) << rejected(ball, 2);
  mesh::TriangleMesh apart = rectangle(1, 1);
  for (const Vec3& p : rectangle(1, 1).vertices) apart.vertices.push_back(p + Vec3(3, 0, 0));
  apart.triangles.push_back({4, 5, 6});
  EXPECT_NE(rejected(apart, 0.01).find("several parts"), std::string::npos);
}

// Ritz series, good to 0.03 %. For few modes the first pair of sheets suffices and must tell its error.
TEST(SheetModes, TheFirstPairOfSheetsStatesTheErrorOfAThinSquare)
{
  constexpr double kOfSeries = 3e-4;
  // For 210 GPa and 7850 kg/m^3.
  const double expected[] = {18.633, 27.119, 33.587};
  const double scale = std::sqrt(test_steel().young / test_steel().density / (210e9 / 7850));
  for (const Quality quality : {Quality::draft, Quality::normal}) {
    const model::ModalModel m =
        analyse_surface_modes(rectangle(0.3, 0.3), {.thickness = 0.0005, .quality = quality}, steel(3)).model;
    for (const int k : {0, 1, 2}) {
      const double error = std::abs(m.frequencies[k] / (scale * expected[k]) - 1);
      EXPECT_LE(error, m.frequency_errors[k] + kOfSeries) << k;
      EXPECT_LE(m.frequency_errors[k], 5 * (error + kOfSeries)) << k;
    }
  }
}

// Saint-Venant's constant of a strip of width w is J = w t^3/3 (1 - 0.63 t/w + 0.052 (t/w)^5) [Timoshenko and
// Goodier, section 109], that of its warping w^3 t^3/144 [Vlasov]: the lowest mode of a strip of length L has
// f = 1/(2 L) sqrt((G J + E w^3 t^3/144 (pi/L)^2)/(rho I_p)). Sheets leave out the part of the rims.
TEST(SheetModes, TwistOfNarrowStripsIsWithinWhatIsStated)
{
  constexpr double kOfTheory = 1e-3;
  const model::Material material = test_steel();
  const double shear = material.young / (2 * (1 + material.poisson));
  const double length = 0.3;
  const double t = 0.005;
  for (const double w : {0.015, 0.02, 0.03, 0.05}) {
    const double torsion = w * t * t * t / 3 * (1 - 0.63 * t / w + 0.052 * std::pow(t / w, 5));
    const double polar = w * t * (w * w + t * t) / 12;
    const double warping = material.young * std::pow(w * t, 3) / 144 * std::pow(std::numbers::pi / length, 2);
    const double expected =
        std::sqrt((shear * torsion + warping) / (material.density * polar)) / (2 * length);
    const model::ModalModel m = analyse_surface_modes(rectangle(length, w), {.thickness = t}, steel(8)).model;
    ASSERT_EQ(m.frequency_errors.size(), 8);
    Eigen::Index k = 0;
    (void)(m.frequencies.array() / expected - 1).abs().minCoeff(&k);
    EXPECT_LE(std::abs(m.frequencies[k] / expected - 1), m.frequency_errors[k] + kOfTheory) << w;
    EXPECT_LE(m.frequency_errors[k], 0.03) << w;
  }
}

// A roll of two turns whose layers are `pitch` apart: it rings while they are farther apart than it is thick.
TEST(SheetModes, LayersThatWouldOverlapAreRejectedWithThePlace)
{
  constexpr double kPitch = 0.003;
  mesh::TriangleMesh roll;
  constexpr int kSteps = 60;
  for (int i = 0; i <= kSteps; ++i) {
    const double turns = 2.0 * i / kSteps;
    const double angle = 2 * std::numbers::pi * turns;
    const double radius = 0.03 + kPitch * turns;
    for (const double z : {0.0, 0.02})
      roll.vertices.emplace_back(radius * std::cos(angle), radius * std::sin(angle), z);
  }
  for (Index i = 0; i < 2 * kSteps; i += 2) {
    roll.triangles.push_back({i, i + 2, i + 3});
    roll.triangles.push_back({i, i + 3, i + 1});
  }
  const auto analyse = [&](double thickness) {
    return analyse_surface_modes(roll, {.spacing = 0.02, .thickness = thickness}, steel(1));
  };
  EXPECT_TRUE(analyse(0.8 * kPitch).ok());
  for (const double thickness : {1.1 * kPitch, 1.5 * kPitch}) {
    const std::string sentence = message([&] { static_cast<void>(analyse(thickness)); });
    EXPECT_NE(sentence.find("Two layers of the sheet are closer"), std::string::npos) << sentence;
  }
}

// No turning of triangles makes a twisted closed strip two-sided, so repairing must not be advised.
TEST(SheetModes, AStripWithOneSideIsToldFromTurnedTriangles)
{
  mesh::TriangleMesh strip;
  constexpr Index kSteps = 24;
  for (Index i = 0; i < kSteps; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSteps;
    for (const double w : {-0.02, 0.02}) {
      const double r = 0.1 + w * std::cos(angle / 2);
      strip.vertices.emplace_back(r * std::cos(angle), r * std::sin(angle), w * std::sin(angle / 2));
    }
  }
  for (Index i = 0; i < kSteps; ++i) {
    const bool last = i + 1 == kSteps;
    const Index c = last ? 1 : 2 * i + 2;
    const Index d = last ? 0 : 2 * i + 3;
    strip.triangles.push_back({2 * i, c, d});
    strip.triangles.push_back({2 * i, d, 2 * i + 1});
  }
  const std::string sentence =
      message([&] { static_cast<void>(analyse_surface_modes(strip, {.thickness = 0.001}, steel(1))); });
  EXPECT_NE(sentence.find("only one side"), std::string::npos) << sentence;
  EXPECT_EQ(sentence.find("mesh repair"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace thrum::elastic
