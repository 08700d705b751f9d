// SPDX-License-Identifier: MIT
#include "thrum/vibration/attenuation_fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/elastic/modal_rescale.h"
#include "thrum/vibration/attenuation.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

// Samples on a given curve, each off by a random factor exp(noise * normal).
std::vector<AttenuationSample> on_curve(const AttenuationSettings& settings, double nearest, double farthest,
                                        double noise = 0, int count = 200)
{
  base::Random random(7);
  std::vector<AttenuationSample> samples;
  for (int i = 0; i < count; ++i) {
    const double r = nearest * std::pow(farthest / nearest, (i + 0.5) / count);
    samples.push_back({.distance = r, .ratio = attenuation(settings, r) * std::exp(noise * random.normal())});
  }
  return samples;
}

RC_GTEST_PROP(FitAttenuation, RecoversEquation14, ())
{
  AttenuationSettings made;
  made.full = true;
  made.alpha = *rc::gen::inRange(0, 200) / 100.0;
  made.beta = 0.1 + *rc::gen::inRange(0, 200) / 100.0;
  made.r0 = std::exp(-4.0 + *rc::gen::inRange(0, 400) / 100.0);
  made.min_distance = made.r0;
  // Some samples may lie within r0, where nothing is lost.
  const double nearest = made.r0 * *rc::gen::element(0.5, 1.0, 3.0);
  const AttenuationFit fit = fit_attenuation(on_curve(made, nearest, 200 * made.r0));
  RC_ASSERT(std::abs(fit.full.settings.r0 / made.r0 - 1) < 1e-5);
  RC_ASSERT(std::abs(fit.full.settings.alpha - made.alpha) < 1e-5 * (made.alpha + made.beta / made.r0));
  RC_ASSERT(std::abs(fit.full.settings.beta - made.beta) < 1e-5);
  RC_ASSERT(fit.full.spread < 1 + 1e-5);
}

RC_GTEST_PROP(FitAttenuation, RecoversTheSimpleForm, ())
{
  AttenuationSettings made;
  made.C = 0.05 + *rc::gen::inRange(0, 200) / 100.0;
  made.beta = *rc::gen::inRange(0, 200) / 100.0;
  made.min_distance = 0.01;
  const AttenuationFit fit = fit_attenuation(on_curve(made, 3.0, 50.0));
  RC_ASSERT(std::abs(fit.simple.settings.C / made.C - 1) < 1e-9);
  RC_ASSERT(std::abs(fit.simple.settings.beta - made.beta) < 1e-9);
}

TEST(FitAttenuation, ReportsTheSpread)
{
  const AttenuationSettings made{
      .full = true, .alpha = 0.048, .beta = 0.8, .r0 = 0.033, .min_distance = 0.033};
  const double noise = 0.4;
  const AttenuationFit fit = fit_attenuation(on_curve(made, 0.1, 5.0, noise, 4000));
  // The deviation of 4,000 normal numbers is known to 1.1 %, of three parameters hardly changed.
  EXPECT_NEAR(std::log(fit.full.spread), noise, 0.05 * noise);
  EXPECT_NEAR(fit.full.settings.beta, made.beta, 0.1);
  for (const double r : {0.1, 0.5, 1.0, 5.0})
    EXPECT_NEAR(std::log(attenuation(fit.full.settings, r) / attenuation(made, r)), 0, 0.1) << r;
  EXPECT_EQ(fit.count, 4000U);
}

// In other units of length alpha and r0 change with them, C as their power, beta not at all.
TEST(FitAttenuation, DoesNotDependOnTheUnitOfLength)
{
  const AttenuationSettings made{.full = true, .alpha = 0.3, .beta = 0.7, .r0 = 0.05, .min_distance = 0.05};
  const double g = 1000;
  std::vector<AttenuationSample> samples = on_curve(made, 0.1, 5.0, 0.5);
  const AttenuationFit metres = fit_attenuation(samples);
  for (AttenuationSample& sample : samples) sample.distance *= g;
  const AttenuationFit millimetres = fit_attenuation(samples);
  EXPECT_NEAR(millimetres.full.settings.alpha * g, metres.full.settings.alpha, 1e-6);
  EXPECT_NEAR(millimetres.full.settings.beta, metres.full.settings.beta, 1e-6);
  EXPECT_NEAR(millimetres.full.settings.r0 / g, metres.full.settings.r0, 1e-6 * metres.full.settings.r0);
  EXPECT_NEAR(millimetres.simple.settings.beta, metres.simple.settings.beta, 1e-9);
  EXPECT_NEAR(millimetres.simple.settings.C / std::pow(g, metres.simple.settings.beta),
              metres.simple.settings.C, 1e-9);
}

// Whatever the samples: no curve grows with distance, and none exceeds 1 unless it does so everywhere (the
// farthest is at 11 m).
RC_GTEST_PROP(FitAttenuation, NeverGrows, ())
{
  const auto numbers = *rc::gen::container<std::vector<int>>(40, rc::gen::inRange(1, 1000));
  std::vector<AttenuationSample> samples;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
    samples.push_back({.distance = numbers[i] / 100.0, .ratio = numbers[i + 1] / 500.0});
  samples.push_back({.distance = 11, .ratio = 0.5});
  samples.push_back({.distance = 0.005, .ratio = 0.5});
  const AttenuationFit fit = fit_attenuation(samples);
  for (const AttenuationSettings& settings : {fit.full.settings, fit.simple.settings}) {
    double before = attenuation(settings, 1e-6);
    if (settings.full || attenuation(settings, 11) < 1) RC_ASSERT(before <= 1 + 1e-9);
    for (double r = 1e-6; r < 100; r *= 1.5) {
      RC_ASSERT(attenuation(settings, r) <= before * (1 + 1e-12));
      before = attenuation(settings, r);
    }
  }
}

TEST(FitAttenuation, RejectsSamplesWithoutACurve)
{
  const AttenuationSettings made;
  EXPECT_THROW(static_cast<void>(fit_attenuation(on_curve(made, 0.1, 1, 0, 7))), Error);
  std::vector<AttenuationSample> equal(20, AttenuationSample{.distance = 1, .ratio = 0.5});
  EXPECT_THROW(static_cast<void>(fit_attenuation(equal)), Error);
}

// One mode without damping: every place swings with the shape, so the ratio is that of the shapes.
TEST(SampleAttenuation, IsTheRatioOfShapesForOneMode)
{
  PlateSize size{.modes = 1, .cells = 48, .alpha = 0, .beta = 0};
  const auto model = plate_model(size);
  const double period = 1 / model->frequencies[0];
  for (const AttenuationMeasure measure : {AttenuationMeasure::speed, AttenuationMeasure::displacement}) {
    const AttenuationSamples result = sample_attenuation(
        *model, {.window = 2 * period, .measure = measure, .distance = WaveDistance::euclidean});
    ASSERT_GT(result.samples.size(), 500U);
    const auto shape = [&](const Vec3& p) {
      return std::sin(std::numbers::pi * p.x() / size.a) * std::sin(std::numbers::pi * p.y() / size.b);
    };
    for (const AttenuationSample& sample : result.samples) {
      EXPECT_NEAR(sample.distance, (sample.struck - sample.receiver).norm(), 1e-12);
      const double expected = shape(sample.receiver) / shape(sample.struck);
      // Shapes are straight within a triangle: wrong by (pi / 48)^2 / 8 of the largest.
      EXPECT_NEAR(sample.ratio, expected, 2e-3 * (1 + expected) / shape(sample.struck));
    }
  }
}

// The mean over the struck places keeps how much each place answers.
TEST(SampleAttenuation, DividesByTheMeanWhenRequested)
{
  const auto model = plate_model();
  const AttenuationSamples own = sample_attenuation(*model, {});
  const AttenuationSamples mean = sample_attenuation(*model, {.average = true});
  ASSERT_EQ(own.samples.size(), mean.samples.size());
  // For one blow the two differ by a factor that all its samples share.
  double factor = 0;
  for (std::size_t i = 0; i < own.samples.size(); ++i) {
    const double here = mean.samples[i].ratio / own.samples[i].ratio;
    if (i > 0 && own.samples[i].struck == own.samples[i - 1].struck) {
      EXPECT_NEAR(here, factor, 1e-9 * factor);
    }
    factor = here;
  }
}

// A body g times as large rings g times as slowly and is otherwise the same.
TEST(SampleAttenuation, ScalesWithTheBody)
{
  const auto model = plate_model({.alpha = 0, .beta = 0});
  const double g = 3;
  const model::ModalModel large = elastic::rescaled(*model, {.size = g});
  const AttenuationSamples a = sample_attenuation(*model, {.window = 0.02});
  const AttenuationSamples b = sample_attenuation(large, {.window = 0.02 * g});
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (std::size_t i = 0; i < a.samples.size(); ++i) {
    EXPECT_NEAR(b.samples[i].distance, g * a.samples[i].distance, 1e-6);
    EXPECT_NEAR(b.samples[i].ratio, a.samples[i].ratio, 1e-6);
  }
}

// The fitted curve predicts what the modal response does elsewhere on the same body, within the spread that
// it states.
TEST(SampleAttenuation, FitsItsOwnBody)
{
  const auto model = plate_model({.modes = 120, .cells = 48});
  const AttenuationFit fit = fit_attenuation(sample_attenuation(*model, {.seed = 1}).samples);
  const AttenuationSamples fresh = sample_attenuation(*model, {.seed = 2});
  int within = 0;
  for (const AttenuationSample& sample : fresh.samples) {
    const double off = std::abs(std::log(sample.ratio / attenuation(fit.full.settings, sample.distance)));
    if (off < std::log(fit.full.spread)) ++within;
  }
  const double share = within / static_cast<double>(fresh.samples.size());
  EXPECT_GT(share, 0.55);
  EXPECT_LE(fit.full.spread, fit.simple.spread * 1.001);
  // More and more is lost on the way, but not as much as in a volume.
  EXPECT_GT(fit.simple.settings.beta, 0.05);
  EXPECT_LT(fit.simple.settings.beta, 1);
}

// A response with fitted values gives kicks as strong, in the middle, as the modal one that they were fitted
// to.
TEST(SampleAttenuation, FittedWavesAgreeWithTheModes)
{
  const auto model = plate_model({.modes = 60, .cells = 48});
  ResponseSettings settings;
  settings.rule = KickRule::peak_velocity;
  settings.limit_energy = false;
  settings.contact_radius = 1e9;  // blows without duration, as the waves take them
  for (const bool full : {false, true}) {
    AttenuationSettings attenuation{.full = full};
    const AttenuationFit fit =
        fit_attenuation(sample_attenuation(*model, sample_desc(settings, attenuation, 0.01)).samples);
    attenuation = with_fit(attenuation, fit);
    AttenuatedResponse waves(model, settings, attenuation);
    ModalResponse modes(model, settings);
    double sum = 0;
    int count = 0;
    for (const Vec3& struck : {Vec3(0.3, 0.45, 0), Vec3(0.9, 0.3, 0), Vec3(1.2, 0.6, 0)}) {
      for (const Vec3& felt :
           {Vec3(0.6, 0.2, 0), Vec3(0.75, 0.7, 0), Vec3(1.35, 0.25, 0), Vec3(0.2, 0.7, 0)}) {
        ContactScene scene;
        scene.strike(struck, 1.0, 2.0);
        scene.rest(felt, 0.1);
        ModeState state = modes.at_rest();
        const ResponseResult a = waves.respond(scene.input());
        const ResponseResult b = modes.respond(scene.input(), state);
        ASSERT_EQ(a.kicks.size(), 1U);
        ASSERT_EQ(b.kicks.size(), 1U);
        sum += std::log(a.kicks[0].speed / b.kicks[0].speed);
        ++count;
      }
    }
    EXPECT_NEAR(sum / count, 0, std::log(1.5)) << full;
  }
}

TEST(SampleAttenuation, SamplesOnlyTheRequestedSide)
{
  const auto model = plate_model();
  EXPECT_NO_THROW(static_cast<void>(sample_attenuation(*model, {.facing = Vec3(0, 0, 2)})));
  EXPECT_THROW(static_cast<void>(sample_attenuation(*model, {.facing = Vec3(0, 0, -1)})), Error);
  EXPECT_THROW(static_cast<void>(sample_attenuation({})), Error);
  // The same places whenever the seed is the same.
  const auto a = sample_attenuation(*model), b = sample_attenuation(*model);
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (std::size_t i = 0; i < a.samples.size(); ++i) EXPECT_EQ(a.samples[i].ratio, b.samples[i].ratio);
}

}  // namespace
}  // namespace thrum::vibration
