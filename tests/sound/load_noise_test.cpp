// SPDX-License-Identifier: MIT
// Loads that change and surfaces that slide or roll, as the bar of closed form hears them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "thrum/sound/audio.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/roughness.h"
#include "thrum/sound/synthesis.h"

namespace thrum::sound {
namespace {

using test::Bar;
constexpr double kPi = std::numbers::pi;
constexpr double kInterval = static_cast<double>(ModalBank::kInterval) / 48000;

// A body without modes that does not move, and the bar on it.
std::vector<SynthesisBody> bar_on_ground(const Bar& bar, const SynthesisSettings& settings)
{
  const auto ground =
      std::make_shared<const SoundModel>(nullptr, mesh::TriangleMesh{}, bar.material, settings);
  return {{"ground", ground, 0, true}, {"bar", test::bar_sound(bar, settings), bar.mass(), true}};
}

ContactSample under_the_bar(const Bar& bar, double x, double impulse)
{
  ContactSample contact;
  contact.a = 0;
  contact.b = 1;
  contact.position = Vec3(x, 0, -bar.thickness / 2);
  contact.normal_impulse = impulse;
  contact.friction = 0.5;
  contact.inverse_mass = 1 / bar.mass();
  return contact;
}

// A load during one step is a triangle of twice its length, which a mode sees as a blow of the same impulse,
// less by the spectrum of the triangle.
TEST(Loads, APushIsABlowOfItsImpulseAndOfTheSpectrumOfItsShape)
{
  const Bar bar;
  const SynthesisSettings settings = {.contact_damping_scale = 0, .acceleration_noise = false};
  const double h = 2 * kInterval;  // the middles of steps are ends of intervals
  const auto state_after = [&](bool push, const Vec3& impulse) {
    Synthesis synthesis(bar_on_ground(bar, settings), settings);
    if (!push) synthesis.strike(1, 3.5 * h, 0, Vec3(0.1, 0, -bar.thickness / 2), impulse, Vec3::UnitZ());
    for (int i = 0; i < 14; ++i) {
      ExcitationStep step;
      step.time = i * h;
      step.duration = h;
      if (push && i == 3) {
        step.contacts = {under_the_bar(bar, 0.1, impulse.z())};
        step.contacts[0].friction_impulse = Vec3(impulse.x(), 0, 0);
      }
      step.poses = {{0, Pose{}}, {1, Pose{}}};
      synthesis.add_step(step, Vec3::UnitZ());
    }
    std::vector<std::vector<double>> out;
    while (synthesis.voice(1)->time() < 8 * h) synthesis.render(1, out);
    std::array<ModalBank::Complex, 4> states;
    for (std::size_t m = 0; m < 4; ++m) states[m] = synthesis.voice(1)->bank().state(m);
    return states;
  };
  const Vec3 impulse(0.01, 0, 0.03);
  const auto pushed = state_after(true, impulse);
  const auto struck = state_after(false, impulse);
  for (std::size_t m = 0; m < 4; ++m) {
    const double x = kPi * bar.frequency(m) * h;
    const double expected = std::pow(std::sin(x) / x, 2);
    EXPECT_LT(std::abs(pushed[m] / struck[m] - expected), 0.02 * expected + 1e-4) << "mode " << m;
  }
}

struct Slide {
  double slip = 0;       ///< [m/s]
  double wandering = 0;  ///< of the contact over both bodies [m/s]
  double load = 1;       ///< in weights
  double h = 1.0 / 240;
  double roughness = 0.02;
  bool carried = false;  ///< by the ground, over which the contact then does not wander
};

// Of 0.3 s in which the contact goes on; it begins before.
std::vector<double> noise(const Slide& slide)
{
  const Bar bar;
  const SynthesisSettings settings = {.contact_damping_scale = 0, .roughness = slide.roughness};
  // Strong damping of its own: the noise is that of the moment.
  Bar damped = bar;
  damped.material.damping = {.alpha = 400, .beta = 0};
  Synthesis synthesis(bar_on_ground(damped, settings), settings);
  std::vector<double> sound;
  std::vector<std::vector<double>> out;
  for (double time = 0; sound.size() < 24000;) {
    while (synthesis.ready_until() < static_cast<double>(sound.size() + 2048) / 48000) {
      ExcitationStep step;
      step.time = time;
      step.duration = slide.h;
      step.contacts = {
          under_the_bar(bar, -0.1 + slide.wandering * time, slide.load * bar.mass() * 9.81 * slide.h)};
      step.contacts[0].slip = Vec3(slide.slip, 0, 0);
      step.poses = {{0, Pose{}}, {1, Pose{}}};
      if (slide.carried) step.poses[0].X_ws.position.x() = slide.wandering * time;
      synthesis.add_step(step, Vec3::UnitZ());
      time += slide.h;
    }
    synthesis.render(2048 / ModalBank::kInterval, out);
    if (out[1].empty()) out[1].assign(2048, 0.0);
    sound.insert(sound.end(), out[1].begin(), out[1].end());
  }
  return {sound.begin() + 9600, sound.begin() + 24000};
}

double level(const std::vector<double>& sound)
{
  return rms({48000, {sound}}, 0, 0.3);
}

TEST(Roughness, NoiseIsProportionalToTheLoad)
{
  const double one = level(noise({.slip = 0.3}));
  EXPECT_GT(one, 0);
  EXPECT_NEAR(level(noise({.slip = 0.3, .load = 2})) / one, 2, 0.02);
}

TEST(Roughness, SlidingDoesNotDependOnTheStep)
{
  const std::vector<double> coarse = noise({.slip = 0.3});
  const std::vector<double> fine = noise({.slip = 0.3, .h = 1.0 / 960});
  std::vector<double> difference = coarse;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= fine[i];
  EXPECT_LT(level(difference), 0.01 * level(coarse));
}

// A load that wanders is heard too; the noise is what roughness adds.
double added_noise(const Slide& slide)
{
  Slide smooth = slide;
  smooth.roughness = 0;
  std::vector<double> difference = noise(slide);
  const std::vector<double> without = noise(smooth);
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= without[i];
  return level(difference);
}

TEST(Roughness, RollingIsQuieterThanSlidingByTheSetting)
{
  const double share = added_noise({.wandering = 0.301}) / added_noise({.slip = 0.301, .wandering = 0.3});
  EXPECT_NEAR(share / SynthesisSettings{}.rolling, 1, 0.1);
}

// A contact that slides stays in place on one of the bodies: it does not roll, however its slip is rounded.
TEST(Roughness, AContactThatWandersOverOneBodyOnlySlides)
{
  const double sliding = added_noise({.slip = 0.301, .wandering = 0.3, .carried = true});
  EXPECT_NEAR(added_noise({.slip = 0.299, .wandering = 0.3, .carried = true}) / sliding, 1, 0.1);
}

// Noise swells from nothing over the first step of a slide and fades over the step after the last.
TEST(Roughness, NoiseBeginsAndEndsSoftly)
{
  Bar bar;
  bar.material.damping = {.alpha = 8000, .beta = 0};  // forgets within a fraction of a millisecond
  const double h = 0.06;
  const SynthesisSettings settings = {.contact_damping_scale = 0};
  BodyVoice voice(test::bar_sound(bar, settings), bar.mass(), settings);
  for (int i = 0; i < 8; ++i) {
    BodyContact contact;
    contact.position = Vec3(0.1, 0, -bar.thickness / 2);
    contact.distance = 0.3 * h * i;
    contact.speed = 0.3;
    contact.noise_force = 1;
    const bool slides = i == 1 || i == 2;
    voice.add_step(i * h, h, slides ? std::span(&contact, 1) : std::span<BodyContact>(), Vec3::UnitZ());
  }
  voice.finish();
  std::vector<double> sound(20000, 0.0);
  for (std::size_t i = 0; i + ModalBank::kInterval <= sound.size(); i += ModalBank::kInterval)
    (void)voice.render(std::span(sound).subspan(i, ModalBank::kInterval));
  const AudioBuffer heard{48000, {sound}};
  const double full = rms(heard, 2 * h, 3 * h);
  EXPECT_GT(full, 0);
  EXPECT_EQ(rms(heard, 0, 0.99 * h), 0);
  // The ramp over its first and last quarter has the level 1 / sqrt(48) = 0.14 and sqrt(37 / 48) = 0.88, less
  // what the profile happens to be there.
  EXPECT_LT(rms(heard, h, 1.25 * h), 0.3 * full);
  EXPECT_GT(rms(heard, 1.75 * h, 2 * h), 0.5 * full);
  EXPECT_LT(rms(heard, 3.75 * h, 4 * h), 0.3 * full);
  EXPECT_LT(rms(heard, 4.05 * h, 5 * h), 1e-3 * full);
}

// The force of a contact that has gone fades over a step instead of letting go at once, which would ring.
TEST(Roughness, AContactThatHasGoneDoesNotLetGoAtOnce)
{
  Bar bar;
  bar.material.damping = {};
  const double h = 0.06;
  const SynthesisSettings settings = {.contact_damping_scale = 0};
  BodyVoice voice(test::bar_sound(bar, settings), 0, settings);
  BodyContact contact;
  contact.position = Vec3(0.1, 0, -bar.thickness / 2);
  contact.distance = 0.0123;  // at rest on one place of the profile
  contact.noise_force = 1;
  for (int i = 0; i < 8; ++i)
    voice.add_step(i * h, h, i < 3 ? std::span(&contact, 1) : std::span<BodyContact>(), Vec3::UnitZ());
  voice.finish();
  const double force = roughness_profile(contact.seed, kUnitOctaves, contact.distance, 0, 16e3);
  EXPECT_GT(std::abs(force), 0.1);
  std::array<double, ModalBank::kInterval> out;
  while (voice.time() < 4.1 * h) (void)voice.render(out);
  for (std::size_t m = 0; m < 4; ++m) {
    // A ramp has a corner at each end, each of which leaves f / (w^2 h), and the first step another two.
    const double omega = 2 * kPi * bar.frequency(m);
    const double let_go = std::abs(force * bar.shape(m, 0.1)[0]) / omega;
    EXPECT_LT(std::abs(voice.bank().state(m)), 4.2 / (omega * h) * let_go) << "mode " << m;
    EXPECT_LT(4.2 / (omega * h), 0.1);
  }
}

// A weak blow is heard as a strong one, only weaker, down to far below what the ear notices (20 uPa).
TEST(Loads, AWeakBlowSoundsLikeAStrongOne)
{
  const Bar bar;
  const auto struck = [&](double impulse) {
    BodyVoice voice(test::bar_sound(bar), bar.mass(), {});
    voice.strike(0, 1e-4, Vec3(0.1, 0, bar.thickness / 2), Vec3(0, 0, -impulse), Vec3::UnitZ());
    voice.finish();
    std::vector<double> sound(100 * ModalBank::kInterval, 0.0);
    for (std::size_t i = 0; i < 100; ++i)
      (void)voice.render(std::span(sound).subspan(i * ModalBank::kInterval, ModalBank::kInterval));
    return sound;
  };
  const std::vector<double> strong = struck(1e-2);
  const std::vector<double> weak = struck(1e-8);
  const double end = std::abs(*std::max_element(weak.end() - 2000, weak.end()));
  EXPECT_LT(end, 20e-6);
  for (std::size_t i = 0; i < strong.size(); i += 97)
    EXPECT_NEAR(weak[i], 1e-6 * strong[i], 1e-9 * level(strong)) << i;
}

}  // namespace
}  // namespace thrum::sound
