// SPDX-License-Identifier: MIT
#include "thrum/sound/strike.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "thrum/base/error.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/elastic/material_library.h"

namespace thrum::sound {
namespace {

using test::Bar;

// Magnitude of the spectrum at a frequency, with a Hann window over [from, to) [s].
double spectrum(const AudioBuffer& sound, double frequency, double from, double to)
{
  const auto begin = static_cast<std::size_t>(from * sound.sample_rate);
  const auto end = static_cast<std::size_t>(to * sound.sample_rate);
  std::complex<double> sum = 0;
  const std::complex<double> turn = std::polar(1.0, -2 * std::numbers::pi * frequency / sound.sample_rate);
  std::complex<double> phase = 1;
  for (std::size_t i = begin; i < end; ++i) {
    const double x = static_cast<double>(i - begin) / static_cast<double>(end - begin);
    sum += sound.channels[0][i] * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * x)) * phase;
    phase *= turn;
  }
  return std::abs(sum);
}

TEST(Strike, PeaksOfTheSpectrumAreTheModesWithinOnePercent)
{
  const Bar bar;
  const AudioBuffer hit =
      strike_body(test::bar_sound(bar), {{.position = Vec3(0.13, 0, 0.0025)}}, {.duration = 1});
  for (std::size_t m = 0; m < 4; ++m) {
    const double mode = bar.frequency(m);
    double best = 0;
    double best_frequency = 0;
    for (double f = 0.9 * mode; f < 1.1 * mode; f *= 1.001) {
      const double size = spectrum(hit, f, 0.05, 0.45);
      if (size > best) {
        best = size;
        best_frequency = f;
      }
    }
    EXPECT_NEAR(best_frequency / mode, 1, 0.01) << m;
    // Between modes there is little.
    EXPECT_GT(best, 30 * spectrum(hit, 1.25 * mode, 0.05, 0.45)) << m;
  }
}

TEST(Strike, ModesAboveHalfTheSampleRateDoNotFoldBack)
{
  const Bar bar;
  for (const int rate : {2500, 4000, 5000}) {
    const SynthesisSettings settings{.sample_rate = rate};
    const AudioBuffer hit = strike_body(test::bar_sound(bar, settings), {{.position = Vec3(0.13, 0, 0.0025)}},
                                        {.settings = settings, .duration = 1});
    const double loudest = spectrum(hit, bar.frequency(0), 0.05, 0.45);
    ASSERT_GT(loudest, 0);
    for (std::size_t m = 0; m < 4; ++m) {
      const double f = bar.frequency(m);
      if (f < rate / 2.0 || f > rate) continue;
      EXPECT_LT(spectrum(hit, rate - f, 0.05, 0.45), 1e-3 * loudest) << "mode of " << f << " Hz at " << rate;
    }
  }
}

// The edge of the upper face and the end face: a ball flies at it at 45 degrees to both. Taken for a blow on
// the end face, which hardly bends the bar, it was 20 times weaker.
TEST(Strike, AnEdgeIsStruckBetweenItsFaces)
{
  const Bar bar;
  const auto model = test::bar_sound(bar);
  const Vec3 end(0.15, 0, 0.0025);
  const auto level = [&](const Strike& strike, double frequency) {
    return spectrum(strike_body(model, {strike}, {.duration = 0.5}), frequency, 0.01, 0.4);
  };
  for (std::size_t m = 0; m < 2; ++m) {
    const double f = bar.frequency(m);
    const double edge = level({.position = end}, f);
    EXPECT_NEAR(edge / level({.position = end, .direction = Vec3(-1, 0, -1)}, f), 1, 1e-9) << m;
    // A point that is beside the edge by rounding is on it.
    for (const Vec3& off : {Vec3(1e-12, 0, 0), Vec3(-1e-12, 0, 1e-12), Vec3(0, 0, -1e-12)})
      EXPECT_NEAR(level({.position = end + off}, f) / edge, 1, 1e-6) << off.transpose();
    const double down = level({.position = end, .direction = Vec3(0, 0, -1)}, f);
    EXPECT_GT(edge, 0.5 * down) << m;
    EXPECT_LT(edge, down) << m;
    EXPECT_LT(level({.position = end, .direction = Vec3(-1, 0, 0)}, f), 0.1 * down) << m;
  }
}

TEST(Strike, TappedAlongItsLengthEachModeFollowsItsShape)
{
  const Bar bar;
  const auto model = test::bar_sound(bar);
  for (std::size_t m = 0; m < 2; ++m) {
    std::vector<double> heard;
    std::vector<double> shape;
    for (const double x : {-0.14, -0.1, -0.03, 0.0, 0.06, 0.12}) {
      const AudioBuffer hit = strike_body(model, {{.position = Vec3(x, 0, 0.0025)}}, {.duration = 0.5});
      heard.push_back(spectrum(hit, bar.frequency(m), 0.02, 0.3));
      // The impulse depends on how the bar gives way there.
      const double inertia = bar.mass() / 12 * (bar.length * bar.length + bar.thickness * bar.thickness);
      double inverse = 1 / 0.005 + 1 / bar.mass() + x * x / inertia;
      const double duration = elastic::hertz_duration(
          1 / inverse, elastic::contact_modulus(model->modulus(), model->modulus()), 0.01, 1);
      for (std::size_t k = 0; k < 4; ++k) {
        inverse += std::pow(
            bar.shape(k, x)[0] * half_sine_spectrum(2 * std::numbers::pi * bar.frequency(k), duration), 2);
      }
      shape.push_back(std::abs(bar.shape(m, x)[0]) / inverse);
    }
    const double scale = heard[0] / shape[0];
    for (std::size_t k = 0; k < heard.size(); ++k) EXPECT_NEAR(heard[k], scale * shape[k], 0.03 * heard[0]);
  }
}

TEST(Strike, NeverGivesMoreEnergyThanTheStrikerBrought)
{
  // A striker that is far heavier than what gives way; elastic.
  const Bar bar;
  const auto model = test::bar_sound(bar);
  for (const double mass : {0.001, 0.1, 10.0}) {
    for (const double duration : {1e-6, 1e-4, 1e-3}) {
      const double inverse = 1 / mass + 4 / bar.mass();
      const double modal = modal_inverse_mass(*model, Vec3(0.15, 0, 0.0025), Vec3::UnitZ(), duration);
      const double impulse = 2 * 1.0 / (inverse + modal);
      EXPECT_LE(impulse * impulse * modal / 2, mass / 2);
    }
  }
  EXPECT_NEAR(half_sine_spectrum(std::numbers::pi / 1e-3, 1e-3), std::numbers::pi / 4, 1e-6);
  EXPECT_NEAR(half_sine_spectrum(1.0001 * std::numbers::pi / 1e-3, 1e-3), std::numbers::pi / 4, 1e-3);
  EXPECT_EQ(half_sine_spectrum(0, 1e-3), 1);
}

TEST(Strike, MaterialsAreToldApartByPitchAndDecay)
{
  // By theory the pitch goes with sqrt(E / density), 1826 to 3830 m/s and 4883 to 5235 m/s, and low modes
  // decay by alpha first of all.
  const auto measured = [](const char* name) {
    Bar bar;
    bar.material = elastic::MaterialLibrary::builtin().get(name);
    const AudioBuffer hit = strike_body(test::bar_sound(bar, {.acceleration_noise = false}),
                                        {{.position = Vec3(0.13, 0, 0.0025)}},
                                        {.settings = {.acceleration_noise = false}, .duration = 0.4});
    double power = 0;
    double moment = 0;
    for (double f = 50; f < 6000; f += 10) {
      const double size = std::pow(spectrum(hit, f, 0, 0.1), 2);
      power += size;
      moment += f * size;
    }
    const double early = spectrum(hit, bar.frequency(0), 0.02, 0.12);
    const double late = spectrum(hit, bar.frequency(0), 0.12, 0.22);
    return std::pair(moment / power, std::log(early / late) / 0.1);
  };
  for (const char* soft : {"polystyrene", "mdf", "wood"}) {
    for (const char* hard : {"glass", "steel", "ceramic"})
      EXPECT_LT(measured(soft).first, measured(hard).first) << soft << " and " << hard;
  }
  const char* by_decay[] = {"glass", "steel", "ceramic", "polystyrene", "mdf", "wood"};
  for (std::size_t i = 0; i + 1 < std::size(by_decay); ++i)
    EXPECT_LT(measured(by_decay[i]).second, measured(by_decay[i + 1]).second) << by_decay[i];
}

TEST(Strike, AHardSmallBallClicksAndASoftLargeOneThuds)
{
  const auto model = test::bar_sound(Bar{});
  const auto brightness = [&](double young, double radius, double mass) {
    StrikeDesc desc{.duration = 0.3};
    desc.striker.young = young;
    desc.striker_radius = radius;
    desc.striker_mass = mass;
    const AudioBuffer hit = strike_body(model, {{.position = Vec3(0.13, 0, 0.0025)}}, desc);
    return spectrum(hit, Bar{}.frequency(3), 0, 0.2) / spectrum(hit, Bar{}.frequency(0), 0, 0.2);
  };
  EXPECT_GT(brightness(2e11, 0.003, 0.001), 10 * brightness(5e6, 0.03, 0.1));
}

TEST(Strike, PressureFallsWithTheInverseOfTheDistance)
{
  const auto model = test::bar_sound(Bar{});
  const std::vector<Strike> strikes = {{.position = Vec3(0.1, 0, 0.0025)}};
  const double near = peak(strike_body(model, strikes, {.distance = 1, .duration = 0.1}));
  EXPECT_NEAR(peak(strike_body(model, strikes, {.distance = 4, .duration = 0.1})), near / 4, 1e-12);
}

// As on every other way of sound: at 0.1 m from the centre it is as loud as it gets.
TEST(Strike, PressureDoesNotGrowCloserThanTenCentimetres)
{
  const auto model = test::bar_sound(Bar{});
  const std::vector<Strike> strikes = {{.position = Vec3(0.1, 0, 0.0025)}};
  const double at_limit = peak(strike_body(model, strikes, {.distance = 0.1, .duration = 0.1}));
  EXPECT_EQ(peak(strike_body(model, strikes, {.distance = 0.01, .duration = 0.1})), at_limit);
  EXPECT_LT(peak(strike_body(model, strikes, {.distance = 0.11, .duration = 0.1})), at_limit);
}

// By half a cosine over the last 5 ms.
TEST(Strike, FadesOutWhereItIsCut)
{
  const auto model = test::bar_sound(Bar{});
  const std::vector<Strike> strikes = {{.position = Vec3(0.1, 0, 0.0025)}};
  const AudioBuffer whole = strike_body(model, strikes, {.duration = 0.3});
  const AudioBuffer cut = strike_body(model, strikes, {.duration = 0.1});
  const std::size_t frames = cut.frame_count();
  for (std::size_t i = 0; i < frames; ++i) {
    const double left = static_cast<double>(frames - 1 - i) / 240;
    const double weight = left < 1 ? 0.5 - 0.5 * std::cos(std::numbers::pi * left) : 1;
    ASSERT_NEAR(cut.channels[0][i], weight * whole.channels[0][i], 1e-12 * peak(whole)) << i;
  }
}

TEST(Strike, RejectsWhatCannotBeStruck)
{
  const auto model = test::bar_sound(Bar{});
  EXPECT_THROW((void)strike_body(nullptr, {}, {}), Error);
  EXPECT_THROW((void)strike_body(model, {}, {.striker_mass = 0}), Error);
  EXPECT_THROW((void)strike_body(model, {{.speed = 0}}, {}), Error);
}

}  // namespace
}  // namespace thrum::sound
