// SPDX-License-Identifier: MIT
// The sound of a bar that slides on the ground, for the roughness of both, against the closed form
//
//     S_p(f) = A^2 |H(f)|^2 (U N / d)^2 S_h(f / v) / v
//
// of the pressure by its lowest mode: A r p / q', H = i w / (w_0^2 - w^2 + 2 i d_0 w), U its displacement
// where it is touched, N the load, S_h the spectrum of the heights and v the speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "tests/sound/roughness_spectrum.h"
#include "thrum/sound/synthesis.h"

namespace thrum::sound {
namespace {

using test::Bar;
constexpr double kPlace = -0.1;  ///< of the contact along the bar [m]

struct Slide {
  model::Roughness ground = {};
  model::Roughness bar = {};
  double speed = 0.3;
  std::vector<RoughnessPair> pairs = {};
  std::optional<double> scene = {};  ///< of sound.roughness
  double seconds = 6;
  bool swapped = false;  ///< the bar is the first body
};

Bar damped_bar()
{
  Bar bar;
  bar.material.damping = {.alpha = 1500, .beta = 0};
  return bar;
}

SynthesisSettings settings_of(const Slide& slide)
{
  return {.modes = 1, .contact_damping_scale = 0, .roughness = slide.scene, .acceleration_noise = false};
}

// Of the bar, without its beginning.
std::vector<double> sound_of(const Slide& slide)
{
  const Bar bar = damped_bar();
  const SynthesisSettings settings = settings_of(slide);
  const auto ground =
      std::make_shared<const SoundModel>(nullptr, mesh::TriangleMesh{}, bar.material, settings);
  SynthesisBody below = {.name = "ground", .model = ground, .material = "wood", .roughness = slide.ground};
  SynthesisBody above = {.name = "bar",
                         .model = test::bar_sound(bar, settings),
                         .mass = bar.mass(),
                         .material = "steel",
                         .roughness = slide.bar};
  const std::uint32_t number = slide.swapped ? 0 : 1;
  std::vector<SynthesisBody> bodies = {below, above};
  if (slide.swapped) std::swap(bodies[0], bodies[1]);
  Synthesis synthesis(bodies, settings, slide.pairs);
  constexpr double kStep = 1.0 / 240;
  ContactSample contact;
  contact.a = 1 - number;
  contact.b = number;
  if (slide.swapped) std::swap(contact.a, contact.b);
  contact.position = Vec3(kPlace, 0, -bar.thickness / 2);
  contact.normal = slide.swapped ? Vec3(0, 0, -1) : Vec3(0, 0, 1);
  contact.normal_impulse = bar.mass() * 9.81 * kStep;
  contact.slip = Vec3(slide.speed, 0, 0);
  contact.inverse_mass = 1 / bar.mass();
  std::vector<double> sound;
  std::vector<std::vector<double>> out;
  constexpr std::size_t kSkipped = 9600;
  int steps = 0;
  while (static_cast<double>(sound.size()) < 48000 * slide.seconds + kSkipped) {
    while (synthesis.ready_until() < static_cast<double>(sound.size() + 2048) / 48000) {
      ExcitationStep step;
      step.time = kStep * steps++;
      step.duration = kStep;
      step.contacts = {contact};
      step.poses = {{0, Pose{}}, {1, Pose{}}};
      synthesis.add_step(step, Vec3::UnitZ());
    }
    synthesis.render(2048 / Synthesis::kInterval, out);
    if (out[number].empty()) out[number].assign(2048, 0.0);
    sound.insert(sound.end(), out[number].begin(), out[number].end());
  }
  return {sound.begin() + kSkipped, sound.end()};
}

// Mean square of the pressure in a band by the closed form.
double expected_power(const Slide& slide, const RoughnessOctaves& heights, double low, double high)
{
  const Bar bar = damped_bar();
  const auto model = test::bar_sound(bar, settings_of(slide));
  const double omega_0 = 2 * std::numbers::pi * bar.frequency(0);
  const double force = bar.mass() * 9.81 / kContactDepth * bar.shape(0, kPlace)[0];
  const int count = 200;
  double power = 0;
  for (int i = 0; i < count; ++i) {
    const double f = low + (high - low) * (i + 0.5) / count;
    const double omega = 2 * std::numbers::pi * f;
    const std::complex<double> below(omega_0 * omega_0 - omega * omega, 2 * bar.decay(0) * omega);
    power += (high - low) / count * std::pow(model->amplitudes()[0] * force * omega, 2) / std::norm(below) *
             test::surface_spectrum(heights, f / slide.speed) / slide.speed;
  }
  return power;
}

double decibels(double power)
{
  return 10 * std::log10(power);
}

RoughnessOctaves sum_of(const Slide& slide)
{
  return combined(roughness_octaves(slide.ground), roughness_octaves(slide.bar));
}

void expect_spectrum(const Slide& slide, const RoughnessOctaves& heights, const char* what)
{
  const std::vector<double> sound = sound_of(slide);
  // Up to the wavelength of the lattice of the finest octave; what is shorter is faint.
  const double shortest = kLongestRoughness / (1 << kRoughnessOctaves);
  for (double f = 100; 2 * f <= std::min(6000.0, slide.speed / shortest); f *= 2) {
    const double power = test::band_power(sound, 48000, f, 2 * f);
    EXPECT_NEAR(decibels(power / expected_power(slide, heights, f, 2 * f)), 0, 1)
        << what << ", " << slide.speed << " m/s, from " << f << " Hz";
  }
}

TEST(RoughnessPair, SoundHasTheSpectrumAndTheLevelOfBothSurfacesAtEverySpeed)
{
  for (const double speed : {0.1, 0.3, 0.9}) {
    const Slide slide = {.ground = {.height = 5e-6, .exponent = 0.2},
                         .bar = {.height = 3e-6, .exponent = 0.9},
                         .speed = speed};
    expect_spectrum(slide, sum_of(slide), "both");
  }
}

TEST(RoughnessPair, IsTheSameInEitherOrder)
{
  const Slide slide = {.ground = {5e-6, 0.2}, .bar = {1e-6, 0.9}, .seconds = 0.5};
  Slide other = slide;
  std::swap(other.ground, other.bar);
  const std::vector<double> sound = sound_of(slide);
  EXPECT_GT(*std::max_element(sound.begin(), sound.end()), 0);
  EXPECT_EQ(sound, sound_of(other));
  // Nor does it matter which body has the lower number.
  other = slide;
  other.swapped = true;
  EXPECT_EQ(sound, sound_of(other));
}

TEST(RoughnessPair, TwoRoughSurfacesGiveTheSumOfBoth)
{
  const Slide both = {.ground = {4e-6, 0.3}, .bar = {3e-6, 0.7}};
  Slide one = both;
  one.bar.height = 0;
  Slide other = both;
  other.ground.height = 0;
  const auto power = [](const Slide& slide) {
    return test::band_power(sound_of(slide), 48000, 50, 5000);
  };
  EXPECT_NEAR(decibels(power(both) / (power(one) + power(other))), 0, 0.5);
  Slide none = one;
  none.ground.height = 0;
  EXPECT_LT(power(none), 1e-12 * power(both));
}

TEST(RoughnessPair, APairOfTheSceneHasAValueOfItsOwn)
{
  Slide slide = {.ground = {5e-6, 0.2}, .bar = {1e-6, 0.9}};
  slide.pairs = {{"glass", "steel", 9e-6}, {"steel", "wood", 2e-6, 0.7}};
  expect_spectrum(slide, roughness_octaves({2e-6, 0.7}), "height and exponent");
  slide.pairs = {{"wood", "steel", 2e-6}};
  expect_spectrum(slide, scaled_to(sum_of(slide), 2e-6), "height");
  slide.pairs = {{"wood", "steel", {}, 0.7}};
  expect_spectrum(slide, roughness_octaves({rms_height(sum_of(slide)), 0.7}), "exponent");
  slide.pairs = {{"wood", "wood", 2e-6}, {"steel", "steel", 3e-6}};
  expect_spectrum(slide, sum_of(slide), "others");
  // Smooth surfaces too.
  slide.ground.height = slide.bar.height = 0;
  slide.pairs = {{"wood", "steel", 2e-6}};
  expect_spectrum(slide, roughness_octaves({2e-6, 0.5}), "smooth");
}

// The setting of scenes of before: a share of the force, for all materials.
TEST(RoughnessPair, TheSettingOfASceneIsThatOfAllMaterials)
{
  Slide slide = {.ground = {5e-6, 0.2}, .bar = {1e-6, 0.9}};
  slide.scene = 0.02;
  expect_spectrum(slide, roughness_octaves({0.02 * kContactDepth, 0.5}), "setting");
  slide.pairs = {{"wood", "steel", 2e-6}};
  expect_spectrum(slide, roughness_octaves({0.02 * kContactDepth, 0.5}), "setting and pair");
}

}  // namespace
}  // namespace thrum::sound
