// SPDX-License-Identifier: MIT
// The profile of a rough surface against its closed forms.
#include "thrum/sound/roughness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/sound/roughness_spectrum.h"

namespace thrum::sound {
namespace {

TEST(Roughness, HasItsHeightAndStandsStillWithTheContact)
{
  const RoughnessOctaves octaves = roughness_octaves({.height = 3e-6, .exponent = 0.5});
  double sum = 0;
  const int count = 400000;
  for (int i = 0; i < count; ++i) {
    const double y = roughness_profile(3, octaves, 0.7e-4 * i, 0, 16000);
    sum += y * y;
  }
  EXPECT_NEAR(std::sqrt(sum / count) / 3e-6, 1, 0.05);
  EXPECT_EQ(roughness_profile(3, octaves, 0.123, 0, 16000), roughness_profile(3, octaves, 0.123, 0, 16000));
  EXPECT_NE(roughness_profile(3, octaves, 0.123, 0, 16000), roughness_profile(4, octaves, 0.123, 0, 16000));
}

// A self-affine profile of exponent H changes by d^H over a distance d, between shortest and longest wave.
TEST(Roughness, ChangesWithTheDistanceToThePowerOfItsExponent)
{
  for (const double exponent : {0.3, 0.5, 0.7}) {
    const RoughnessOctaves octaves = roughness_octaves({.height = 1, .exponent = exponent});
    const auto change = [&](double distance) {
      double sum = 0;
      for (int i = 0; i < 40000; ++i) {
        const double x = 1.37e-4 * i;
        sum += std::pow(roughness_profile(5, octaves, x + distance, 0, 16000) -
                            roughness_profile(5, octaves, x, 0, 16000),
                        2);
      }
      return std::sqrt(sum);
    };
    EXPECT_NEAR(std::log2(change(0.5e-3) / change(0.25e-3)), exponent, 0.12) << exponent;
    EXPECT_NEAR(std::log2(change(1e-3) / change(0.5e-3)), exponent, 0.12) << exponent;
  }
}

// From octave to octave of wave numbers the power falls by 2^(2 H): k^-(2 H + 1) times a band twice as wide.
TEST(Roughness, HasTheSpectrumOfItsExponent)
{
  for (const double exponent : {0.2, 0.5, 0.8}) {
    const RoughnessOctaves octaves = roughness_octaves({.height = 1, .exponent = exponent});
    const double step = 2e-5;
    std::vector<double> heights;
    for (int i = 0; i < 400000; ++i) heights.push_back(roughness_profile(11, octaves, step * i, 0, 16000));
    std::vector<double> levels;
    for (double k = 125; k < 4000; k *= 2) {
      const double power = test::band_power(heights, 1 / step, k, 2 * k);
      double expected = 0;
      for (int i = 0; i < 100; ++i)
        expected += k / 100 * test::surface_spectrum(octaves, k * (1 + (i + 0.5) / 100));
      EXPECT_NEAR(10 * std::log10(power / expected), 0, 0.6) << "exponent " << exponent << ", " << k << "/m";
      levels.push_back(10 * std::log10(power));
    }
    const double fall = (levels.front() - levels.back()) / static_cast<double>(levels.size() - 1);
    EXPECT_NEAR(fall, 20 * std::log10(2.0) * exponent, 0.5) << exponent;
  }
}

TEST(Roughness, VariancesOfTwoSurfacesAdd)
{
  const RoughnessOctaves a = roughness_octaves({.height = 3e-6, .exponent = 0.2});
  const RoughnessOctaves b = roughness_octaves({.height = 4e-6, .exponent = 0.9});
  EXPECT_NEAR(rms_height(combined(a, b)), 5e-6, 1e-12);
  EXPECT_EQ(combined(a, b), combined(b, a));
  for (const double k : {200.0, 1000.0, 3000.0}) {
    const double sum = test::surface_spectrum(a, k) + test::surface_spectrum(b, k);
    EXPECT_NEAR(test::surface_spectrum(combined(a, b), k) / sum, 1, 1e-12);
  }
}

TEST(Roughness, FineOctavesFadeBeforeTheyPassTooFast)
{
  // At 200 m/s even the longest wave passes 25,000 times a second.
  EXPECT_EQ(roughness_profile(3, kUnitOctaves, 0.0123, 200, 16000), 0);
}

}  // namespace
}  // namespace thrum::sound
