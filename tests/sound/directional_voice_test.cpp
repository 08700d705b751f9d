// SPDX-License-Identifier: MIT
// A body with a RadiationMap, from the strike to the amplitude in a direction.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "tests/base/scratch_folder.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/scalar_radiation.h"
#include "thrum/sound/spherical_waves.h"

namespace thrum::sound {
namespace {

constexpr double kRadius = 0.05;

/// A sphere with one mode, in which it moves along z as a whole: a dipole.
std::shared_ptr<const model::ModalModel> oscillating_sphere(double ka, double decay = 0)
{
  auto model = std::make_shared<model::ModalModel>();
  model->surface = shapes::generate(shapes::SphereDesc{.radius = kRadius, .edge_length = kRadius / 6});
  model->frequencies = VecX::Constant(1, ka * kSoundSpeed / (2 * std::numbers::pi * kRadius));
  model->decays = VecX::Constant(1, decay);
  model->shapes = MatX::Zero(3 * Eigen::Index{model->vertex_count()}, 1);
  for (Eigen::Index i = 2; i < model->shapes.rows(); i += 3) model->shapes(i, 0) = 1;
  return model;
}

/// Largest amplitude [Pa m] in a direction after an impulse of 1 N s at t = 0.
double heard(const SoundModel& model, const SynthesisSettings& settings, const Vec3& direction)
{
  BodyVoice voice(std::shared_ptr<const SoundModel>(std::shared_ptr<void>(), &model), 0, settings);
  voice.strike(0, 0, Vec3(0, 0, kRadius), Vec3::UnitZ(), direction);
  voice.finish();
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) {
    std::vector<double> block(ModalBank::kInterval, 0.0);
    voice.render(block);
    samples.insert(samples.end(), block.begin(), block.end());
  }
  double largest = 0;
  for (std::size_t i = 640; i < samples.size(); ++i) largest = std::max(largest, std::abs(samples[i]));
  return largest;
}

// What a dipole radiates is a third of what it would with its amplitude along the axis in all directions. A
// decay that is too small for the closed form limits it: then all that the mode loses is radiated.
TEST(DirectionalVoice, RadiatesAllThatALittleDampedModeLosesAndNoMore)
{
  const base::ScratchFolder folder;
  ::setenv("THRUM_CACHE_DIR", folder.path().c_str(), 1);
  for (const SoundRadiation radiation : {SoundRadiation::multipole, SoundRadiation::equivalent_sources}) {
    const SynthesisSettings settings{.radiation = radiation, .acceleration_noise = false};
    constexpr double kDecay = 0.2;  // 0.42 would be needed [1/s]
    const auto modes = oscillating_sphere(1, kDecay);
    const auto model = std::make_shared<const SoundModel>(modes, modes->surface, model::Material{}, settings);
    BodyVoice voice(model, 0, settings);
    voice.strike(0, 0, Vec3(0, 0, kRadius), Vec3::UnitZ(), Vec3::UnitZ());
    voice.finish();
    double sum = 0;  // [Pa^2 m^2 s]
    constexpr int kIntervals = 2000;
    for (int i = 0; i < kIntervals; ++i) {
      std::array<double, ModalBank::kInterval> block{};
      voice.render(block);
      for (const double x : block) sum += x * x / settings.sample_rate;
    }
    const double radiated = sum / 3 * 4 * std::numbers::pi / (kAirDensity * kSoundSpeed);
    const double lost = 0.5 * (1 - std::exp(-2 * kDecay * voice.time()));  // of 1 m/s and a unit mass [J]
    EXPECT_NEAR(radiated, lost, 0.01 * lost);
  }
}

// q' = 1 m/s after the impulse; the far field of the dipole is rho c a / (k a h_1'(k a)) cos(theta).
TEST(DirectionalVoice, OscillatingSphereIsHeardAlongItsAxis)
{
  const base::ScratchFolder folder;
  ::setenv("THRUM_CACHE_DIR", folder.path().c_str(), 1);
  for (const double ka : {0.3, 1.0, 2.0}) {
    const auto modes = oscillating_sphere(ka);
    const model::Material material;
    for (const SoundRadiation radiation : {SoundRadiation::multipole, SoundRadiation::equivalent_sources}) {
      const SynthesisSettings settings{
          .sample_rate = 96000, .radiation = radiation, .acceleration_noise = false};
      const SoundModel model(modes, modes->surface, material, settings);
      ASSERT_TRUE(model.radiation());
      std::array<Complex, 2> h;
      std::array<Complex, 2> slopes;
      outgoing_waves(1, ka, h, slopes);
      const double expected = kAirDensity * kSoundSpeed * kRadius / ka / std::abs(slopes[1]);
      const double along = heard(model, settings, Vec3::UnitZ());
      EXPECT_NEAR(20 * std::log10(along / expected), 0, 0.5) << "ka " << ka;
      const Vec3 oblique(std::sin(1.0), 0, std::cos(1.0));
      EXPECT_NEAR(20 * std::log10(heard(model, settings, oblique) / (expected * std::cos(1.0))), 0, 0.5);
      EXPECT_LE(heard(model, settings, Vec3::UnitX()), 0.03 * along);
    }
    const SynthesisSettings plain{.sample_rate = 96000, .acceleration_noise = false};
    const SoundModel scalar(modes, modes->surface, material, plain);
    EXPECT_FALSE(scalar.radiation());
    EXPECT_NEAR(heard(scalar, plain, Vec3::UnitX()), heard(scalar, plain, Vec3::UnitZ()), 1e-12);
  }
  ::unsetenv("THRUM_CACHE_DIR");
}

}  // namespace
}  // namespace thrum::sound
