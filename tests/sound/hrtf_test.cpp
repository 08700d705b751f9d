// SPDX-License-Identifier: MIT
#include "thrum/sound/hrtf.h"

#include <gtest/gtest.h>
#include <mysofa.h>

#include <cmath>
#include <fstream>
#include <memory>
#include <numbers>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/random.h"
#include "thrum/sound/transform.h"

namespace thrum::sound {
namespace {

constexpr int kNativeRate = 44100;  ///< of the default set

/// The default set as libmysofa gives it, at its own rate.
struct RawSet {
  RawSet()
  {
    int code = 0;
    set.reset(mysofa_load(default_hrtf_file().c_str(), &code));
    if (set) mysofa_tocartesian(set.get());
  }
  [[nodiscard]] Vec3 direction(std::size_t i) const
  {
    const float* p = set->SourcePosition.values + 3 * i;
    return Vec3(p[0], p[1], p[2]).normalized();
  }
  [[nodiscard]] std::vector<double> response(std::size_t i, std::size_t ear) const
  {
    const float* p = set->DataIR.values + (2 * i + ear) * set->N;
    return {p, p + set->N};
  }
  /// The measured direction nearest to one given in degrees, azimuth to the left.
  [[nodiscard]] std::size_t nearest(double azimuth, double elevation) const
  {
    const double a = azimuth * std::numbers::pi / 180;
    const double e = elevation * std::numbers::pi / 180;
    const Vec3 wanted(std::cos(a) * std::cos(e), std::sin(a) * std::cos(e), std::sin(e));
    std::size_t best = 0;
    for (std::size_t i = 1; i < set->M; ++i) {
      if (direction(i).dot(wanted) > direction(best).dot(wanted)) best = i;
    }
    return best;
  }
  struct Free {
    void operator()(MYSOFA_HRTF* s) const { mysofa_free(s); }
  };
  std::unique_ptr<MYSOFA_HRTF, Free> set;
};

double energy(std::span<const double> samples)
{
  double sum = 0;
  for (const double s : samples) sum += s * s;
  return sum;
}

/// By how many samples b is later than a: the maximum of the cross-correlation, by a parabola.
double lag(std::span<const double> a, std::span<const double> b)
{
  const auto correlation = [&](std::ptrdiff_t shift) {
    double sum = 0;
    for (std::ptrdiff_t i = 0; i < std::ssize(a); ++i) {
      if (i + shift >= 0 && i + shift < std::ssize(b)) sum += a[at(i)] * b[at(i + shift)];
    }
    return sum;
  };
  std::ptrdiff_t best = -160;
  double largest = correlation(best);
  for (std::ptrdiff_t s = -159; s <= 160; ++s) {
    const double value = correlation(s);
    if (value > largest) best = s;
    largest = std::max(largest, value);
  }
  const double l = correlation(best - 1);
  const double m = correlation(best);
  const double r = correlation(best + 1);
  return static_cast<double>(best) + 0.5 * (l - r) / (l - 2 * m + r);
}

std::vector<double> ear_response(const Hrtf& hrtf, const Vec3& direction, std::size_t ear)
{
  return FourierTransform(hrtf.transform_size()).samples(hrtf.spectra(direction)[ear]);
}

TEST(Transform, IsTheSumOfItsDefinition)
{
  const std::vector<double> samples{1, -2, 3.5, 0.25, -4};
  const std::size_t size = 12;
  FourierTransform transform(size);
  const auto spectrum = transform.spectrum(samples);
  ASSERT_EQ(spectrum.size(), size / 2 + 1);
  for (std::size_t k = 0; k < spectrum.size(); ++k) {
    std::complex<double> sum = 0;
    for (std::size_t n = 0; n < samples.size(); ++n) {
      sum += samples[n] *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * n) / static_cast<double>(size));
    }
    EXPECT_LE(std::abs(spectrum[k] - sum), 1e-12);
  }
  const auto back = transform.samples(spectrum);
  for (std::size_t n = 0; n < size; ++n) EXPECT_NEAR(back[n], n < samples.size() ? samples[n] : 0, 1e-12);
}

TEST(Hrtf, MeasuredDirectionsGiveTheSetItself)
{
  const RawSet raw;
  ASSERT_TRUE(raw.set);
  ASSERT_EQ(raw.set->DataSamplingRate.values[0], static_cast<float>(kNativeRate));
  const Hrtf hrtf({}, kNativeRate);
  ASSERT_EQ(hrtf.directions().size(), raw.set->M);
  for (std::size_t i = 0; i < raw.set->M; i += 37) {
    for (std::size_t ear = 0; ear < 2; ++ear) {
      const auto expected = raw.response(i, ear);
      const auto response = ear_response(hrtf, raw.direction(i), ear);
      double worst = 0;
      for (std::size_t n = 0; n < response.size(); ++n) {
        worst =
            std::max(worst, std::abs(response[n] - (n < expected.size() ? hrtf.gain() * expected[n] : 0)));
      }
      EXPECT_LE(worst, 1e-9 * std::sqrt(energy(expected)) * hrtf.gain())
          << "direction " << i << ", ear " << ear;
    }
  }
}

TEST(Hrtf, LowFrequenciesReachTheEarsAtTheirOwnLevel)
{
  const Hrtf hrtf({}, 48000);
  double power = 0;
  int count = 0;
  for (const Vec3& direction : hrtf.directions()) {
    for (const auto& spectrum : hrtf.spectra(direction)) {
      const auto bin = [&](double f) {
        return static_cast<std::size_t>(std::ceil(f * static_cast<double>(hrtf.transform_size()) / 48000));
      };
      for (std::size_t k = bin(200); k < bin(800); ++k, ++count) power += std::norm(spectrum[k]);
    }
  }
  EXPECT_NEAR(10 * std::log10(power / count), 0, 0.01);
}

TEST(Hrtf, DelayAndLevelBetweenTheEarsAreThoseOfTheSetAtEveryRate)
{
  const RawSet raw;
  for (const int rate : {44100, 48000, 96000}) {
    const Hrtf hrtf({}, rate);
    for (const double azimuth : {90.0, 45.0, 0.0, -30.0, -90.0, 180.0}) {
      const std::size_t i = raw.nearest(azimuth, 0);
      const auto left = ear_response(hrtf, raw.direction(i), 0);
      const auto right = ear_response(hrtf, raw.direction(i), 1);
      const double expected_lag = lag(raw.response(i, 0), raw.response(i, 1)) / kNativeRate;
      EXPECT_NEAR(lag(left, right) / rate, expected_lag, 0.1 / kNativeRate) << rate << " Hz, " << azimuth;
      const double expected_ratio = energy(raw.response(i, 0)) / energy(raw.response(i, 1));
      EXPECT_NEAR(10 * std::log10(energy(left) / energy(right) / expected_ratio), 0, 0.3) << azimuth;
    }
  }
  // The set itself: from the left the right ear is later and quieter.
  const std::size_t left_side = raw.nearest(90, 0);
  EXPECT_GT(lag(raw.response(left_side, 0), raw.response(left_side, 1)), 20);
  EXPECT_GT(energy(raw.response(left_side, 0)), 4 * energy(raw.response(left_side, 1)));
}

TEST(Hrtf, DirectionsBetweenMeasuredOnesLieBetweenThem)
{
  const RawSet raw;
  const Hrtf hrtf({}, kNativeRate);
  for (const double azimuth : {20.0, 60.0, 120.0, -45.0}) {
    const std::size_t a = raw.nearest(azimuth, 0);
    const std::size_t b = raw.nearest(azimuth + 5, 0);
    ASSERT_NE(a, b);
    const Vec3 between = (raw.direction(a) + raw.direction(b)).normalized();
    const auto left = ear_response(hrtf, between, 0);
    const auto right = ear_response(hrtf, between, 1);
    const double lag_a = lag(raw.response(a, 0), raw.response(a, 1));
    const double lag_b = lag(raw.response(b, 0), raw.response(b, 1));
    EXPECT_GE(lag(left, right), std::min(lag_a, lag_b) - 1.0);
    EXPECT_LE(lag(left, right), std::max(lag_a, lag_b) + 1.0);
    for (std::size_t ear = 0; ear < 2; ++ear) {
      const double level = 10 * std::log10(energy(ear == 0 ? left : right) / std::pow(hrtf.gain(), 2));
      const double at_a = 10 * std::log10(energy(raw.response(a, ear)));
      const double at_b = 10 * std::log10(energy(raw.response(b, ear)));
      EXPECT_GE(level, std::min(at_a, at_b) - 1.0) << azimuth;
      EXPECT_LE(level, std::max(at_a, at_b) + 0.5) << azimuth;
    }
  }
}

// A head that turns a little hears a little change: near a measured direction the delays are those of it.
TEST(Hrtf, ResponsesAreContinuousAtMeasuredDirections)
{
  const RawSet raw;
  const Hrtf hrtf({}, kNativeRate);
  for (const double azimuth : {20.0, 60.0, 120.0, -45.0}) {
    const Vec3 measured = raw.direction(raw.nearest(azimuth, 0));
    for (const Vec3& aside : {Vec3(0, 0, 1e-3), Vec3(1e-3, 1e-3, 0), Vec3(0, -1e-3, -1e-3)}) {
      for (std::size_t ear = 0; ear < 2; ++ear) {
        const auto there = ear_response(hrtf, measured, ear);
        auto difference = ear_response(hrtf, (measured + aside).normalized(), ear);
        for (std::size_t n = 0; n < difference.size(); ++n) difference[n] -= there[n];
        EXPECT_LT(energy(difference), 1e-3 * energy(there)) << azimuth << " degrees, ear " << ear;
      }
    }
  }
}

Vec3 towards(double azimuth, double elevation)  // [degrees], azimuth to the left
{
  const double a = azimuth * std::numbers::pi / 180;
  const double e = elevation * std::numbers::pi / 180;
  return {std::cos(a) * std::cos(e), std::sin(a) * std::cos(e), std::sin(e)};
}

// The set ends at -40 degrees. Straight below lies in the plane of symmetry, as do in front and behind.
TEST(Hrtf, StraightBelowBothEarsHearTheSame)
{
  const Hrtf hrtf({}, kNativeRate);
  const auto level_difference = [&](const Vec3& direction) {
    return 10 *
           std::log10(energy(ear_response(hrtf, direction, 0)) / energy(ear_response(hrtf, direction, 1)));
  };
  const double of_the_set =
      std::max(std::abs(level_difference(towards(0, -40))), std::abs(level_difference(towards(180, -40))));
  ASSERT_LT(of_the_set, 1);
  const Vec3 below = -Vec3::UnitZ();
  EXPECT_LE(std::abs(level_difference(below)), of_the_set + 0.1);
  EXPECT_LE(std::abs(lag(ear_response(hrtf, below, 0), ear_response(hrtf, below, 1))), 0.5);
  // Left and right of it are mirror images.
  for (const double azimuth : {30.0, 90.0, 140.0}) {
    for (const double elevation : {-45.0, -60.0, -80.0}) {
      const Vec3 left = towards(azimuth, elevation);
      const Vec3 right = towards(-azimuth, elevation);
      EXPECT_NEAR(level_difference(left), -level_difference(right), 2 * of_the_set + 0.1) << azimuth;
      EXPECT_NEAR(lag(ear_response(hrtf, left, 0), ear_response(hrtf, left, 1)),
                  -lag(ear_response(hrtf, right, 0), ear_response(hrtf, right, 1)), 1.0)
          << azimuth;
    }
  }
}

// The delay between the ears goes as the sine of the lateral angle below the set, and no step of a tenth of a
// degree changes the response by more than a step inside the set does.
TEST(Hrtf, BelowTheSetResponsesAreContinuousAndDelaysFollowTheLateralAngle)
{
  const Hrtf hrtf({}, kNativeRate);
  const auto lag_at = [&](double azimuth, double elevation) {
    const Vec3 direction = towards(azimuth, elevation);
    return lag(ear_response(hrtf, direction, 0), ear_response(hrtf, direction, 1));
  };
  for (const double azimuth : {45.0, 90.0, -120.0}) {
    for (const double elevation : {-50.0, -65.0, -80.0}) {
      const double expected = lag_at(azimuth, -40) * std::cos(elevation * std::numbers::pi / 180) /
                              std::cos(40 * std::numbers::pi / 180);
      EXPECT_NEAR(lag_at(azimuth, elevation), expected, 1.5) << azimuth << ", " << elevation;
    }
  }
  const auto change = [&](const Vec3& a, const Vec3& b, std::size_t ear) {
    const auto there = ear_response(hrtf, a, ear);
    auto difference = ear_response(hrtf, b, ear);
    for (std::size_t n = 0; n < difference.size(); ++n) difference[n] -= there[n];
    return energy(difference) / energy(there);
  };
  double inside = 0;
  double below = 0;
  for (std::size_t ear = 0; ear < 2; ++ear) {
    for (double e = -20; e < 0; e += 1.3)
      inside = std::max(inside, change(towards(75, e), towards(75, e + 0.1), ear));
    for (const double azimuth : {0.0, 75.0, 200.0}) {
      for (double e = -90; e < -39; e += 0.93)
        below = std::max(below, change(towards(azimuth, e), towards(azimuth, e + 0.1), ear));
    }
    for (double azimuth = 0; azimuth < 360; azimuth += 17) {  // round the pole
      below = std::max(below, change(towards(azimuth, -89.95), towards(azimuth + 180, -89.95), ear));
      below = std::max(below, change(towards(azimuth, -70), towards(azimuth + 0.2, -70), ear));
    }
  }
  EXPECT_LT(below, 2 * inside);
  EXPECT_GT(below, 0);
}

TEST(Hrtf, DamagedFilesAreErrors)
{
  const base::ScratchFolder folder;
  const std::string whole = base::read_text_file(default_hrtf_file());
  const auto message = [&](std::string_view bytes) -> std::string {
    std::ofstream(folder / "a.sofa", std::ios::binary) << bytes;
    try {
      const Hrtf hrtf(folder / "a.sofa", 48000);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const double part : {0.0, 0.001, 0.01, 0.1, 0.5, 0.9}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    EXPECT_NE(message(std::string_view(whole).substr(0, size)).find("a.sofa"), std::string::npos) << part;
  }
  EXPECT_NE(message("This is no SOFA file.").find("a.sofa"), std::string::npos);
  std::string damaged = whole;
  for (std::size_t i = 0; i < 2000; ++i) damaged[i] = static_cast<char>(i * 37);
  EXPECT_NE(message(damaged).find("damaged"), std::string::npos);
  EXPECT_THROW(Hrtf(folder / "missing.sofa", 48000), Error);
}

TEST(BinauralStream, OneDirectionIsAPlainConvolution)
{
  const Hrtf hrtf({}, kNativeRate);
  const Vec3 direction = Vec3(0.3, 0.8, -0.2).normalized();
  const auto response = ear_response(hrtf, direction, 1);
  base::Random random(7);
  std::vector<double> input(4000);
  for (double& s : input) s = random.uniform(-1, 1);

  BinauralStream stream(hrtf);
  std::vector<double> left(input.size());
  std::vector<double> right(input.size());
  for (std::size_t i = 0; i < input.size(); i += 100) {
    stream.push(std::span(input).subspan(i, 100));
    while (stream.has_piece()) stream.add_piece(direction, left, right);
  }
  while (stream.next_piece() * stream.hop() < input.size() + stream.hop())
    stream.add_piece(direction, left, right);
  for (std::size_t n = 0; n < input.size(); n += 13) {
    double sum = 0;
    for (std::size_t k = 0; k <= n && k < hrtf.length(); ++k) sum += response[k] * input[n - k];
    EXPECT_NEAR(right[n], sum, 2e-3) << n;
  }
}

}  // namespace
}  // namespace thrum::sound
