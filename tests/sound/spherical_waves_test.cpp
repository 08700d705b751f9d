// SPDX-License-Identifier: MIT
#include "thrum/sound/spherical_waves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/base/random.h"

namespace thrum::sound {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(SphericalWaves, HarmonicsAreOrthonormal)
{
  const int order = 12;
  const SphereRule rule = sphere_rule(order);
  MatX gram = MatX::Zero(harmonic_count(order), harmonic_count(order));
  VecX Y(harmonic_count(order));
  double total = 0;
  for (std::size_t i = 0; i < rule.directions.size(); ++i) {
    harmonics(order, rule.directions[i], {Y.data(), at(Y.size())});
    gram += rule.weights[i] * Y * Y.transpose();
    total += rule.weights[i];
  }
  EXPECT_NEAR(total, 4 * kPi, 1e-12);
  EXPECT_LE((gram - MatX::Identity(gram.rows(), gram.cols())).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SphericalWaves, LowHarmonicsAreTheirClosedForms)
{
  const Vec3 d = Vec3(0.3, -0.7, 0.5).normalized();
  std::vector<double> Y(9);
  harmonics(2, d, Y);
  EXPECT_NEAR(Y[0], std::sqrt(1 / (4 * kPi)), 1e-14);
  EXPECT_NEAR(Y[1], std::sqrt(3 / (4 * kPi)) * d.y(), 1e-14);
  EXPECT_NEAR(Y[2], std::sqrt(3 / (4 * kPi)) * d.z(), 1e-14);
  EXPECT_NEAR(Y[3], std::sqrt(3 / (4 * kPi)) * d.x(), 1e-14);
  EXPECT_NEAR(Y[6], std::sqrt(5 / (16 * kPi)) * (3 * d.z() * d.z() - 1), 1e-14);
  EXPECT_NEAR(Y[8], std::sqrt(15 / (16 * kPi)) * (d.x() * d.x() - d.y() * d.y()), 1e-14);
}

TEST(SphericalWaves, GradientsAreDifferencesAlongTheSphere)
{
  const int order = 9;
  base::Random random(3);
  std::vector<double> Y(at(harmonic_count(order)));
  std::vector<double> ahead(Y.size());
  std::vector<double> behind(Y.size());
  std::vector<Vec3> gradients(Y.size());
  for (int trial = 0; trial < 10; ++trial) {
    const Vec3 d = Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)).normalized();
    const Vec3 along = d.cross(Vec3(random.uniform(-1, 1), 1, 0.3)).normalized();
    const double step = 1e-5;
    harmonics(order, d, Y, gradients);
    harmonics(order, std::cos(step) * d + std::sin(step) * along, ahead);
    harmonics(order, std::cos(step) * d - std::sin(step) * along, behind);
    for (std::size_t i = 0; i < Y.size(); ++i) {
      EXPECT_NEAR(gradients[i].dot(along), (ahead[i] - behind[i]) / (2 * step), 1e-7);
      EXPECT_NEAR(gradients[i].dot(d), 0, 1e-10);
    }
  }
}

// h_0 = i exp(-i x)/x, h_1 = (i/x - 1) exp(-i x)/x and the Wronskian j y' - j' y = 1/x^2.
TEST(SphericalWaves, OutgoingWavesAreTheirClosedFormsAndKeepTheWronskian)
{
  std::vector<Complex> h(16);
  std::vector<Complex> slopes(16);
  for (const double x : {0.03, 0.5, 2.0, 11.0}) {
    outgoing_waves(15, x, h, slopes);
    const Complex wave = std::polar(1.0, -x) / x;
    EXPECT_LE(std::abs(h[0] - Complex(0, 1) * wave), 1e-13 * std::abs(h[0]));
    EXPECT_LE(std::abs(h[1] - Complex(-1, 1 / x) * wave), 1e-12 * std::abs(h[1]));
    for (std::size_t n = 0; n < 4; ++n) {
      const double wronskian = h[n].real() * -slopes[n].imag() - slopes[n].real() * -h[n].imag();
      EXPECT_NEAR(wronskian * x * x, 1, x < 0.1 ? 0.1 : 1e-6) << n << " at " << x;
    }
    EXPECT_GT(std::abs(h[15]), 0);
  }
}

}  // namespace
}  // namespace thrum::sound
