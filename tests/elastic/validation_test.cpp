// SPDX-License-Identifier: MIT
// Modes compared with closed forms and published results.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/elastic/beam_theory.h"
#include "tests/elastic/fem_fixtures.h"
#include "thrum/elastic/modal_analysis.h"
#include "thrum/elastic/supports.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::elastic {
namespace {

using testing::Beam;
using testing::BeamEnds;
using testing::test_steel;

ModalAnalysisDesc with(const model::Material& material, Index count, ElementKind kind = ElementKind::tet10)
{
  return {.materials = {material}, .count = count, .element = kind};
}

TEST(ModalValidation, FreeBeamAgainstTimoshenko)
{
  // 0.5 x 0.03 x 0.02 m, 20 x 1 x 1 cells: one element through the thickness.
  const Beam flat{test_steel(), 0.5, 0.03, 0.02};
  const Beam upright{test_steel(), 0.5, 0.02, 0.03};
  const auto mesh = tets::tetrahedralise_box(Vec3(0.5, 0.03, 0.02), {20, 1, 1});
  const ModalAnalysisResult r = analyse_modes(mesh, with(test_steel(), 4));
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.model.rigid_mode_count, 6);
  const double expected[] = {timoshenko_frequency(flat, BeamEnds::free_free, 0),
                             timoshenko_frequency(upright, BeamEnds::free_free, 0),
                             timoshenko_frequency(flat, BeamEnds::free_free, 1),
                             timoshenko_frequency(upright, BeamEnds::free_free, 1)};
  for (int k = 0; k < 4; ++k)
    EXPECT_NEAR(r.model.frequencies[k], expected[k], 0.01 * expected[k]) << "mode " << k;

  // The same mesh with linear elements, for comparison: more than twice too high.
  const ModalAnalysisResult linear = analyse_modes(mesh, with(test_steel(), 1, ElementKind::tet4));
  EXPECT_GT(linear.model.frequencies[0], 1.8 * expected[0]);
  EXPECT_FALSE(linear.model.warnings.empty());
}

TEST(ModalValidation, CantileverAgainstTimoshenko)
{
  // Thickness 1/12 of the length, where Euler's formula is 2 % too high in the second mode. 24 x 2 x 2 cells.
  model::Material material = test_steel();
  material.poisson = 0;  // so that the clamp does not hinder the cross-section, as beam theory assumes
  const Beam beam{material, 0.24, 0.02, 0.02};
  const auto mesh = tets::tetrahedralise_box(Vec3(0.24, 0.02, 0.02), {24, 2, 2});
  ModalAnalysisDesc desc = with(material, 4);
  desc.supports = {{parse_selection("x<-0.1199")}};
  const ModalAnalysisResult r = analyse_modes(mesh, desc);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r.model.rigid_mode_count, 0);
  // A square cross-section bends equally in both directions, so each mode occurs twice.
  for (int k = 0; k < 4; ++k) {
    const double expected = timoshenko_frequency(beam, BeamEnds::cantilever, k / 2);
    EXPECT_NEAR(r.model.frequencies[k], expected, 0.01 * expected) << "mode " << k;
  }
  EXPECT_GT(euler_frequency(beam, BeamEnds::cantilever, 1),
            1.015 * timoshenko_frequency(beam, BeamEnds::cantilever, 1));
}

TEST(ModalValidation, LambsSphereWithItsMultiplicities)
{
  // A ball of 4 cells from the middle to the surface, scaled to the volume of the true ball.
  const double radius = 0.1;
  mesh::TetrahedralMesh mesh = tets::tetrahedralise_ball(radius, 4);
  const double correction = std::cbrt(4.0 / 3 * std::numbers::pi * std::pow(radius, 3) / mesh::volume(mesh));
  for (Vec3& v : mesh.vertices) v *= correction;
  const model::Material material = test_steel();
  const double shear_speed = std::sqrt(material.young / (2 * (1 + material.poisson)) / material.density);

  struct Family {
    const char* name;
    double eta;
    int multiplicity;
  };
  const Family families[] = {
      {"T21", 2.50113, 5}, {"S21", 2.6462, 5}, {"S11", 3.5300, 3}, {"T31", 3.86470, 7}, {"S31", 3.9374, 7}};
  const ModalAnalysisResult r = analyse_modes(mesh, with(material, 27));
  ASSERT_TRUE(r.ok());
  ASSERT_EQ(r.model.mode_count(), 27);
  Index at = 0;
  for (const Family& family : families) {
    const double expected = family.eta * shear_speed / (2 * std::numbers::pi * radius);
    for (int m = 0; m < family.multiplicity; ++m, ++at)
      EXPECT_NEAR(r.model.frequencies[at], expected, 0.01 * expected) << family.name << " copy " << m;
  }
}

TEST(ModalValidation, FreeSquarePlateNafemsFv12)
{
  // 10 x 10 x 0.05 m, 16 x 16 squares with alternating diagonals, one element through a thickness of 1/200 of
  // the side. (With parallel diagonals the fourth and fifth mode differ, and the fifth needs 28 squares.)
  const model::Material material = test_steel();
  const auto mesh = testing::square_plate(10, 0.05, 16);
  const ModalAnalysisResult r = analyse_modes(mesh, with(material, 6));
  ASSERT_TRUE(r.ok());
  const double published[] = {1.622, 2.360, 2.922, 4.233, 4.233, 7.416};
  for (int k = 0; k < 6; ++k)
    EXPECT_NEAR(r.model.frequencies[k], published[k], 0.01 * published[k]) << "mode " << k;
  // The same from the table of lambda^2 for thin plates, f = lambda^2 / (2 pi a^2) sqrt(D / (rho h)).
  const double stiffness = material.young * std::pow(0.05, 3) / (12 * (1 - 0.09));
  const double unit = std::sqrt(stiffness / (material.density * 0.05)) / (2 * std::numbers::pi * 100);
  const double lambda2[] = {13.49, 19.79, 24.43, 35.02, 35.02};
  for (int k = 0; k < 5; ++k)
    EXPECT_NEAR(r.model.frequencies[k], lambda2[k] * unit, 0.01 * lambda2[k] * unit);
}

// Only motion along x is allowed, and Poisson's ratio is zero: then u_x = cos(k pi x/a) cos(m pi y/b) cos(n
// pi z/c) are the exact modes of a box, with rho w^2 = pi^2 (E k^2/a^2 + G m^2/b^2 + G n^2/c^2), and one
// rigid motion is left.
struct GuidedBox {
  Vec3 size = Vec3(1, 0.72, 0.62);
  model::Material material{.name = "cork", .density = 1000, .young = 1e9, .poisson = 0};

  [[nodiscard]] ModalAnalysisResult solve(int cells, ElementKind kind, Index count) const
  {
    ModalAnalysisDesc desc = with(material, count, kind);
    desc.supports = {{model::Selection{}, {false, true, true}}};
    return analyse_modes(testing::perturbed_box(size, {cells, cells, cells}, 11), desc);
  }
  [[nodiscard]] std::vector<double> exact() const
  {
    std::vector<double> all;
    for (int k = 0; k < 4; ++k)
      for (int m = 0; m < 4; ++m)
        for (int n = 0; n < 4; ++n) {
          const double sum =
              std::pow(k / size.x(), 2) + 0.5 * (std::pow(m / size.y(), 2) + std::pow(n / size.z(), 2));
          if (sum > 0) all.push_back(0.5 * std::sqrt(material.young / material.density * sum));
        }
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST(ModalValidation, GuidedBoxConvergesWithTheOrderOfTheElement)
{
  const GuidedBox box;
  const std::vector<double> exact = box.exact();
  const auto worst = [&](int cells, ElementKind kind) {
    const ModalAnalysisResult r = box.solve(cells, kind, 5);
    EXPECT_EQ(r.model.rigid_mode_count, 1);
    double error = 0;
    for (Index k = 0; k < 5; ++k) {
      const double relative = r.model.frequencies[k] / exact[static_cast<std::size_t>(k)] - 1;
      EXPECT_GT(relative, -1e-10) << "elements are never too soft";
      error = std::max(error, relative);
    }
    return error;
  };
  // Quadratic elements: the frequency error falls with the fourth power of the size; linear ones with the
  // second.
  const double coarse = worst(3, ElementKind::tet10);
  const double fine = worst(6, ElementKind::tet10);
  EXPECT_GT(std::log2(coarse / fine), 3.5);
  EXPECT_LT(fine, 1e-3);
  const double linear_coarse = worst(4, ElementKind::tet4);
  const double linear_fine = worst(8, ElementKind::tet4);
  EXPECT_GT(std::log2(linear_coarse / linear_fine), 1.7);
  EXPECT_LT(std::log2(linear_coarse / linear_fine), 2.3);
}

TEST(ModalValidation, TheErrorEstimateIsOfTheRightMagnitude)
{
  const GuidedBox box;
  const std::vector<double> exact = box.exact();
  for (const auto& [cells, kind] : {std::pair{4, ElementKind::tet4},
                                    {8, ElementKind::tet4},
                                    {3, ElementKind::tet10},
                                    {5, ElementKind::tet10}}) {
    const ModalAnalysisResult r = box.solve(cells, kind, 5);
    for (Index k = 0; k < 5; ++k) {
      const double true_error = r.model.frequencies[k] / exact[static_cast<std::size_t>(k)] - 1;
      const double ratio = r.model.frequency_errors[k] / true_error;
      EXPECT_GT(ratio, 0.25) << name_of(kind) << " " << cells << " mode " << k;
      EXPECT_LT(ratio, 4.0) << name_of(kind) << " " << cells << " mode " << k;
    }
  }
}

}  // namespace
}  // namespace thrum::elastic
