// SPDX-License-Identifier: MIT
// Bodies of revolution: what is recognised, the triangles of profiles, and modes against closed forms, series
// solutions and cut cells.
#include "thrum/elastic/revolved_modes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "tests/elastic/beam_theory.h"
#include "tests/elastic/fem_fixtures.h"
#include "thrum/base/random.h"
#include "thrum/elastic/harmonic_system.h"
#include "thrum/elastic/profile_mesh.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/numerics/generalised_eigen.h"
#include "thrum/shapes/shapes.h"
#include "thrum/shapes/tableware.h"

namespace thrum::elastic {
namespace {

using testing::test_steel;
constexpr double kPi = std::numbers::pi;

mesh::TriangleMesh moved(mesh::TriangleMesh mesh, std::uint64_t seed)
{
  base::Random random(seed);
  Vec4 q;
  for (int k = 0; k < 4; ++k) q[k] = random.normal();
  const Mat3 rotation = Eigen::Quaterniond(q.normalized()).toRotationMatrix();
  for (Vec3& v : mesh.vertices) v = rotation * v + Vec3(0.3, -0.2, 0.5);
  return mesh;
}

mesh::TriangleMesh lathe(const std::vector<Vec2>& profile, int segments)
{
  return shapes::generate(shapes::LatheDesc{.profile = profile, .segments = segments});
}

// The bowl of half a sphere with wall t about a middle radius R, open above.
std::vector<Vec2> hemisphere(double R, double t, int count)
{
  std::vector<Vec2> profile;
  for (int k = 0; k <= count; ++k) {
    const double angle = kPi / 2 * k / count;
    profile.emplace_back((R + t / 2) * std::sin(angle), -(R + t / 2) * std::cos(angle));
  }
  for (int k = count; k >= 0; --k) {
    const double angle = kPi / 2 * k / count;
    profile.emplace_back((R - t / 2) * std::sin(angle), -(R - t / 2) * std::cos(angle));
  }
  profile.front().x() = 0;
  profile.back().x() = 0;
  return profile;
}

model::Material steel_of_210()
{
  return {.name = "steel", .density = 7850, .young = 210e9, .poisson = 0.3};
}

TEST(RevolvedProfile, RecognisesWhatWasTurnedInAnyPlace)
{
  const std::vector<Vec2> cup = {{0, 0}, {0.04, 0}, {0.05, 0.1}, {0.047, 0.1}, {0.037, 0.004}, {0, 0.004}};
  for (const std::uint64_t seed : {0, 1, 2}) {
    mesh::TriangleMesh mesh = lathe(cup, 40);
    if (seed > 0) mesh = moved(std::move(mesh), seed);
    const auto profile = revolved_profile(mesh);
    ASSERT_TRUE(profile) << seed;
    EXPECT_EQ(profile->outline.size(), cup.size());
    EXPECT_NEAR(profile->volume, mesh::signed_volume(mesh), 1e-12);
    // A polygon of n sides has n/(2 pi) sin(2 pi/n) of the area of its circle.
    EXPECT_NEAR(profile->facet_deficit, 1 - 40 / (2 * kPi) * std::sin(2 * kPi / 40), 1e-6);
  }
  EXPECT_TRUE(revolved_profile(shapes::generate(shapes::TorusDesc{})));
  EXPECT_TRUE(revolved_profile(shapes::generate(shapes::CylinderDesc{})));
  EXPECT_TRUE(revolved_profile(shapes::generate(shapes::BottleDesc{})));
}

TEST(RevolvedProfile, LeavesOtherBodiesAlone)
{
  EXPECT_FALSE(revolved_profile(shapes::generate(shapes::BoxDesc{})));
  EXPECT_FALSE(revolved_profile(shapes::generate(shapes::MugDesc{})));
  // Vertices out of their places, and an oval.
  mesh::TriangleMesh dented = lathe({{0, 0}, {0.05, 0}, {0.05, 0.1}, {0, 0.1}}, 48);
  mesh::TriangleMesh oval = dented;
  std::size_t v = 0;
  while (dented.vertices[v].head<2>().norm() < 0.04) ++v;
  // Two opposite vertices turned about the axis leave heights, radii and centres as they are.
  mesh::TriangleMesh turned = dented;
  for (Vec3& p : turned.vertices)
    if ((p - dented.vertices[v]).norm() < 1e-9 ||
        (p - dented.vertices[v].cwiseProduct(Vec3(-1, -1, 1))).norm() < 1e-9)
      p = Eigen::AngleAxisd(0.02, Vec3::UnitZ()) * p;
  EXPECT_FALSE(revolved_profile(turned));
  dented.vertices[v] *= 0.98;
  EXPECT_FALSE(revolved_profile(dented));
  mesh::scale(oval, Vec3(1, 1.002, 1));
  EXPECT_FALSE(revolved_profile(oval));
}

TEST(ProfileMesh, FillsAnyOutline)
{
  base::Random random(7);
  for (int repeat = 0; repeat < 30; ++repeat) {
    // A star with random radii, sometimes with very short sides and spikes.
    std::vector<Vec2> outline;
    const int count = 5 + repeat;
    for (int k = 0; k < count; ++k) {
      const double angle = 2 * kPi * k / count;
      outline.emplace_back(3 + random.uniform(0.2, 2) * std::cos(angle),
                           random.uniform(0.2, 2) * std::sin(angle));
    }
    for (int k = 0; k < count; ++k) {
      const Vec2 along = outline[static_cast<std::size_t>(k)] - Vec2(3, 0);
      const double angle = 2 * kPi * k / count;
      outline[static_cast<std::size_t>(k)] =
          Vec2(3, 0) + along.norm() * Vec2(std::cos(angle), std::sin(angle));
    }
    double expected = 0;
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const Vec2& p = outline[k];
      const Vec2& q = outline[(k + 1) % outline.size()];
      expected += 0.5 * (p.x() * q.y() - p.y() * q.x());
    }
    const auto mesh = profile_mesh(outline, 0.3);
    ASSERT_TRUE(mesh) << repeat;
    double area = 0;
    std::map<std::pair<Index, Index>, int> uses;
    for (const auto& t : mesh->triangles) {
      const Vec2 a = mesh->nodes[static_cast<std::size_t>(t[0])];
      const Vec2 b = mesh->nodes[static_cast<std::size_t>(t[1])];
      const Vec2 c = mesh->nodes[static_cast<std::size_t>(t[2])];
      const double twice = (b - a).x() * (c - a).y() - (b - a).y() * (c - a).x();
      EXPECT_GT(twice, 0);
      area += 0.5 * twice;
      for (std::size_t k = 0; k < 3; ++k) {
        ++uses[std::minmax(t[k], t[(k + 1) % 3])];
        EXPECT_LE((mesh->nodes[static_cast<std::size_t>(t[k])] -
                   mesh->nodes[static_cast<std::size_t>(t[(k + 1) % 3])])
                      .norm(),
                  0.3 + 1e-12);
      }
    }
    EXPECT_NEAR(area, expected, 1e-9 * expected);
    std::size_t once = 0;
    for (const auto& [edge, n] : uses) once += n == 1 ? 1 : 0;
    EXPECT_EQ(once, mesh->boundary.size());
  }
}

TEST(RevolvedModes, ABallHasLambsModesWithTheirMultiplicities)
{
  std::vector<Vec2> profile;
  for (int k = 0; k <= 60; ++k)
    profile.emplace_back(k == 0 || k == 60 ? 0 : 0.1 * std::sin(kPi * k / 60), -0.1 * std::cos(kPi * k / 60));
  const model::Material material = test_steel();
  const double shear_speed = std::sqrt(material.young / (2 * (1 + material.poisson)) / material.density);
  const std::array<std::pair<double, int>, 5> families = {
      {{2.50113, 5}, {2.6462, 5}, {3.5300, 3}, {3.86470, 7}, {3.9374, 7}}};
  const ModalAnalysisResult r =
      analyse_surface_modes(lathe(profile, 96), {}, {.materials = {material}, .count = 27});
  ASSERT_EQ(r.model.element, "tri6 revolved");
  ASSERT_EQ(r.model.mode_count(), 27);
  Index at = 0;
  for (const auto& [eta, multiplicity] : families) {
    const double expected = eta * shear_speed / (2 * kPi * 0.1);
    for (int m = 0; m < multiplicity; ++m, ++at)
      EXPECT_NEAR(r.model.frequencies[at], expected, 0.002 * expected) << eta << " copy " << m;
  }
}

TEST(RevolvedModes, ARodIsTwistedStretchedAndBentAsTheoriesSay)
{
  const model::Material material = test_steel();
  const double length = 0.5;
  const mesh::TriangleMesh rod = lathe({{0, 0}, {0.01, 0}, {0.01, length}, {0, length}}, 96);
  const ModalAnalysisResult r =
      analyse_surface_modes(moved(rod, 3), {}, {.materials = {material}, .count = 12});
  ASSERT_EQ(r.model.element, "tri6 revolved");
  const double shear_speed = std::sqrt(material.young / (2 * (1 + material.poisson)) / material.density);
  const double speed = std::sqrt(material.young / material.density);
  // A twisted round rod is exact; a stretched one loses (nu pi r/L)^2/4 by the inertia across.
  const double twist = shear_speed / (2 * length);
  const double stretch = speed / (2 * length) * (1 - std::pow(material.poisson * kPi * 0.01 / length, 2) / 4);
  const auto nearest = [&](double f) {
    double best = 0;
    for (Index k = 0; k < r.model.mode_count(); ++k)
      if (std::abs(r.model.frequencies[k] - f) < std::abs(best - f)) best = r.model.frequencies[k];
    return best;
  };
  EXPECT_NEAR(nearest(twist), twist, 0.0002 * twist);
  EXPECT_NEAR(nearest(stretch), stretch, 0.0002 * stretch);
  // A rectangle with the same I/A bends as a round rod does; its shear differs a little.
  const testing::Beam beam = {material, length, 0.01, 0.01 * std::sqrt(3.0)};
  for (int k = 0; k < 3; ++k) {
    const double bend = timoshenko_frequency(beam, testing::BeamEnds::free_free, k);
    EXPECT_NEAR(r.model.frequencies[2 * k], bend, 0.002 * bend) << k;
    EXPECT_NEAR(r.model.frequencies[2 * k + 1], bend, 0.002 * bend) << k;
  }
}

// How far a ring of r 0.004 m is from the round one is how far the polygon is that it was given as: I/A of a
// polygon with m corners on a circle of radius r is r^2 (2 + cos(2 pi/m))/12, and frequencies go with its
// root. With 24 corners that is -0.57 %, with 8 -5 %.
TEST(RevolvedModes, ARingIsAsRoundAsItsSectionIsGiven)
{
  const auto first_modes = [](int corners, const FillDesc& fill) {
    const mesh::TriangleMesh ring = shapes::generate(shapes::TorusDesc{
        .major_radius = 0.1, .minor_radius = 0.004, .major_segments = 96, .minor_segments = corners});
    return analyse_surface_modes(ring, fill, {.materials = {test_steel()}, .count = 4}).model.frequencies;
  };
  const double love = 6 / std::sqrt(5.0) * 0.5 * 0.004 / (0.1 * 0.1) *
                      std::sqrt(test_steel().young / test_steel().density) / (2 * kPi);
  for (const int corners : {8, 16, 24, 48}) {
    const double rounder = std::sqrt((2 + std::cos(2 * kPi / corners)) / 3);
    const VecX f = first_modes(corners, {});
    EXPECT_NEAR(f[3], love * rounder, 0.003 * love) << corners;
  }
  const double rounder = std::sqrt((2 + std::cos(2 * kPi / 24)) / 3);
  EXPECT_NEAR(first_modes(24, {.spacing = 0.008, .method = FillMethod::cut_cells})[3], love * rounder,
              0.003 * love);
}

// Reference: a Fourier series around the axis with fine quadratic elements by an independent program.
TEST(RevolvedModes, ThinShellsAreThoseOfSeries)
{
  const ModalAnalysisDesc desc = {.materials = {steel_of_210()}, .count = 12};
  const auto expect_pairs = [](const ModalAnalysisResult& r, std::array<double, 3> expected, double within) {
    ASSERT_EQ(r.model.element, "tri6 revolved");
    for (const double f : expected) {
      int found = 0;
      for (Index k = 0; k < r.model.mode_count(); ++k)
        found += std::abs(r.model.frequencies[k] - f) < within * f ? 1 : 0;
      EXPECT_GE(found, 2) << f;
    }
  };
  expect_pairs(analyse_surface_modes(lathe(hemisphere(0.05, 0.001, 40), 96), {}, desc),
               {417.22, 1131.57, 2109.1}, 0.005);
  const std::vector<Vec2> tube = {{0.0495, 0}, {0.0505, 0}, {0.0505, 0.1}, {0.0495, 0.1}};
  expect_pairs(analyse_surface_modes(lathe(tube, 96), {}, desc), {265.99, 354.76, 752.06}, 0.005);
}

// NAFEMS FV41: a free cylinder of 10 m, mean radius 2 m and wall 0.4 m, in motions without waves around it.
// Torsion, which the benchmark leaves out, is at multiples of c/(2 L).
TEST(RevolvedModes, AFreeCylinderIsThatOfNafems)
{
  const auto mesh = profile_mesh({{1.8, 0}, {2.2, 0}, {2.2, 10}, {1.8, 10}}, 0.3);
  ASSERT_TRUE(mesh);
  const HarmonicSystem system = harmonic_system(*mesh, test_steel(), 0);
  const numerics::GeneralisedEigenResult found = numerics::solve_generalised_eigen(
      system.stiffness, system.mass,
      {.count = 12, .shift = -0.1 * system.lowest_estimate, .null_space = system.rigid});
  ASSERT_TRUE(found.ok());
  const double torsion = std::sqrt(test_steel().young / (2 * 1.3) / test_steel().density) / 20;
  std::vector<double> others;
  for (Eigen::Index k = 0; k < found.values.size(); ++k) {
    const double f = std::sqrt(found.values[k]) / (2 * kPi);
    if (std::abs(f / torsion - std::round(f / torsion)) > 0.002) others.push_back(f);
  }
  const std::array<double, 5> published = {243.53, 377.41, 394.11, 397.72, 405.28};
  ASSERT_GE(others.size(), published.size());
  for (std::size_t k = 0; k < published.size(); ++k)
    EXPECT_NEAR(others[k], published[k], 0.01 * published[k]) << k;
}

TEST(RevolvedModes, ShapesAreThoseOfCutCells)
{
  const mesh::TriangleMesh cup =
      lathe({{0, 0}, {0.04, 0}, {0.05, 0.06}, {0.042, 0.06}, {0.033, 0.008}, {0, 0.008}}, 64);
  const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 6};
  const model::ModalModel round = analyse_surface_modes(cup, {}, desc).model;
  const model::ModalModel cut =
      analyse_surface_modes(cup, {.spacing = 0.008, .method = FillMethod::cut_cells}, desc).model;
  ASSERT_EQ(round.element, "tri6 revolved");
  ASSERT_EQ(cut.element, "tet10");
  // The pairs may be turned about the axis; the sum of their squares does not change.
  for (const Index pair : {0, 2}) {
    EXPECT_NEAR(round.frequencies[pair], cut.frequencies[pair],
                (cut.frequency_errors[pair] + round.frequency_errors[pair]) * cut.frequencies[pair]);
    double largest = 0;
    double difference = 0;
    for (Index v = 0; v < static_cast<Index>(cup.vertices.size()); ++v) {
      const double a = round.shapes.block(3 * v, pair, 3, 2).squaredNorm();
      const double b = cut.shapes.block(3 * v, pair, 3, 2).squaredNorm();
      largest = std::max(largest, b);
      difference = std::max(difference, std::abs(a - b));
    }
    EXPECT_LT(difference, 0.05 * largest) << pair;
  }
  // The vertices of the surface come first.
  for (std::size_t v = 0; v < cup.vertices.size(); ++v) EXPECT_EQ(round.surface.vertices[v], cup.vertices[v]);
  EXPECT_NEAR(round.mass, cut.mass, 1e-6 * cut.mass);
  EXPECT_LT((round.inertia - cut.inertia).norm(), 1e-6 * cut.inertia.norm());
}

// The round body is nearly exact, so the true errors of cut cells are known.
TEST(RevolvedModes, CutCellsStateTheirErrors)
{
  int within = 0;
  int count = 0;
  for (const std::vector<Vec2>& profile :
       {hemisphere(0.05, 0.006, 20), std::vector<Vec2>{{0.04, 0}, {0.05, 0}, {0.05, 0.1}, {0.04, 0.1}}}) {
    const mesh::TriangleMesh body = lathe(profile, 96);
    const ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 10};
    const model::ModalModel exact = analyse_surface_modes(body, {}, desc).model;
    const model::ModalModel cut =
        analyse_surface_modes(body, {.method = FillMethod::cut_cells, .quality = Quality::draft}, desc).model;
    for (Index k = 0; k < 10; ++k, ++count) {
      const double error = cut.frequencies[k] / exact.frequencies[k] - 1;
      within += error <= cut.frequency_errors[k] ? 1 : 0;
      EXPECT_LE(cut.frequency_errors[k], 5 * error + 0.001) << k;
    }
  }
  EXPECT_GE(within, count * 9 / 10);
}

TEST(RevolvedModes, OnlyFreeBodiesWithEnoughSidesAreTakenAsRound)
{
  const std::vector<Vec2> tube = {{0.04, 0}, {0.05, 0}, {0.05, 0.1}, {0.04, 0.1}};
  ModalAnalysisDesc desc = {.materials = {test_steel()}, .count = 2};
  const FillDesc draft = {.quality = Quality::draft};
  EXPECT_NE(analyse_surface_modes(lathe(tube, 12), draft, desc).model.element, "tri6 revolved");
  EXPECT_EQ(analyse_surface_modes(lathe(tube, 48), draft, desc).model.element, "tri6 revolved");
  desc.supports = {{parse_selection("z<0.01")}};
  EXPECT_NE(analyse_surface_modes(lathe(tube, 48), draft, desc).model.element, "tri6 revolved");
}

}  // namespace
}  // namespace thrum::elastic
