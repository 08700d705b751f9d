// SPDX-License-Identifier: MIT
// The free bar of closed form, lying on contacts, struck, damped, silent.
#include "thrum/sound/synthesis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "thrum/base/error.h"
#include "thrum/base/parallel.h"
#include "thrum/base/random.h"
#include "thrum/sound/audio.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/contact_damping.h"
#include "thrum/sound/scalar_radiation.h"

namespace thrum::sound {
namespace {

using test::Bar;
constexpr double kGravity = 9.81;

// A step in which the bar, body 1, lies on body 0 with its lower face, with these shares of its weight.
ExcitationStep lying_step(const Bar& bar, double time, double h, const std::vector<double>& places,
                          const std::vector<double>& shares, double friction = 0.3)
{
  ExcitationStep step;
  step.time = time;
  step.duration = h;
  for (std::size_t k = 0; k < places.size(); ++k) {
    ContactSample& contact = step.contacts.emplace_back();
    contact.a = 0;
    contact.b = 1;
    contact.key = k;
    contact.position = Vec3(places[k], 0, -bar.thickness / 2);
    contact.normal_impulse = shares[k] * bar.mass() * kGravity * h;
    contact.friction = friction;
    contact.inverse_mass = 1 / bar.mass();
  }
  step.poses = {{0, Pose{}}, {1, Pose{}}};
  return step;
}

std::vector<SynthesisBody> bar_on_ground(const Bar& bar, const SynthesisSettings& settings)
{
  const auto ground =
      std::make_shared<const SoundModel>(nullptr, mesh::TriangleMesh{}, bar.material, settings);
  return {{"ground", ground, 0, true}, {"bar", test::bar_sound(bar, settings), bar.mass(), true}};
}

// Decay of each mode while the bar lies, from the bank itself.
std::array<double, 4> measured_decays(const Bar& bar, const std::vector<double>& places,
                                      const std::vector<double>& shares, const SynthesisSettings& settings,
                                      double h = 1.0 / 240)
{
  Synthesis synthesis(bar_on_ground(bar, settings), settings);
  synthesis.strike(1, 0.2, 1e-5, Vec3(0.11, 0, bar.thickness / 2), Vec3(0, 0, -1e-3), Vec3::UnitZ());
  std::vector<std::vector<double>> out;
  std::array<double, 4> early{};
  std::array<double, 4> late{};
  double time = 0;
  double early_time = 0;
  double late_time = 0;
  while (late_time < 0.5) {
    while (synthesis.ready_until() < late_time + 0.01) {
      synthesis.add_step(lying_step(bar, time, h, places, shares), Vec3::UnitZ());
      time += h;
    }
    synthesis.render(1, out);
    const ModalBank& bank = synthesis.voice(1)->bank();
    late_time = bank.time();
    for (std::size_t m = 0; m < 4; ++m) {
      late[m] = std::abs(bank.state(m));
      if (late_time < 0.25) early[m] = late[m];
    }
    if (late_time < 0.25) early_time = late_time;
  }
  std::array<double, 4> decays{};
  for (std::size_t m = 0; m < 4; ++m) decays[m] = std::log(early[m] / late[m]) / (late_time - early_time);
  return decays;
}

TEST(ContactDamping, BarHasTheDecaysOfTheClosedForm)
{
  const Bar bar;
  const double end = bar.length / 2;
  const double node = bar.length * (0.5 - 0.224158);
  struct Case {
    std::vector<double> places;
    std::vector<double> shares;
    std::array<double, 4> decays;  // computed apart from this program [1/s]
  };
  const std::vector<Case> cases = {
      {{-node, node}, {0.5, 0.5}, {2.551, 4.352, 6.503, 7.706}},
      {{-end, end}, {0.5, 0.5}, {8.438, 8.767, 9.838, 12.337}},
      {{0}, {1}, {4.724, 2.877, 6.914, 6.439}},
  };
  for (const Case& c : cases) {
    const std::array<double, 4> decays = measured_decays(bar, c.places, c.shares, {});
    for (std::size_t m = 0; m < 4; ++m) {
      double expected = bar.decay(m);
      for (std::size_t k = 0; k < c.places.size(); ++k) {
        const auto [u, slope] = bar.shape(m, c.places[k]);
        const double across = bar.thickness / 2 * slope;
        expected += 0.5 * bar.material.contact_damping * c.shares[k] * bar.mass() * kGravity *
                    (u * u + 0.3 * across * across);
      }
      EXPECT_NEAR(expected / c.decays[m], 1, 2e-3) << "closed form of mode " << m;
      EXPECT_NEAR(decays[m] / expected, 1, 0.01) << "mode " << m << " on " << c.places.size() << " contacts";
    }
  }
}

TEST(ContactDamping, ActsByTheRedistributedForces)
{
  // On three contacts the shortest forces are thirds of the weight, however the solver spread it.
  const Bar bar;
  const std::vector<double> places = {-bar.length / 2, 0, bar.length / 2};
  const std::array<double, 4> decays = measured_decays(bar, places, {0.25, 0.5, 0.25}, {});
  for (std::size_t m = 0; m < 4; ++m) {
    double expected = bar.decay(m);
    for (const double x : places) {
      const auto [u, slope] = bar.shape(m, x);
      const double across = bar.thickness / 2 * slope;
      expected +=
          0.5 * bar.material.contact_damping * bar.mass() * kGravity / 3 * (u * u + 0.3 * across * across);
    }
    EXPECT_NEAR(decays[m] / expected, 1, 0.01) << "mode " << m;
  }
}

// Under its own weight a free bar is damped by C = 4 gamma g on its ends and gamma g on an even line,
// whatever its mass and the mode, and across the normal by mu times what moves along; the decay is half of
// it.
TEST(ContactDamping, OfItsOwnWeightDoesNotDependOnTheMassNorOnTheMode)
{
  for (const double scale : {0.5, 1.0, 2.0}) {
    Bar bar;
    bar.width *= scale;
    bar.length *= std::sqrt(scale);
    const double gamma_g = bar.material.contact_damping * kGravity;
    EXPECT_NEAR(gamma_g, 2.943, 1e-9);
    std::vector<double> line, even;
    constexpr int kLine = 61;
    for (int i = 0; i < kLine; ++i) {
      line.push_back(bar.length * ((i + 0.5) / kLine - 0.5));
      even.push_back(1.0 / kLine);
    }
    const std::vector<double> ends = {-bar.length / 2, bar.length / 2};
    struct Case {
      std::vector<double> places, shares;
      double expected;  // C of the motion along the normal [1/s]
    };
    for (const Case& c : {Case{ends, {0.5, 0.5}, 11.772}, Case{line, even, 2.943}}) {
      const std::array<double, 4> decays = measured_decays(bar, c.places, c.shares, {});
      for (std::size_t m = 0; m < 4; ++m) {
        double across = 0;
        for (std::size_t k = 0; k < c.places.size(); ++k)
          across += gamma_g * 0.3 * c.shares[k] * bar.mass() *
                    std::pow(bar.thickness / 2 * bar.shape(m, c.places[k])[1], 2);
        EXPECT_NEAR(2 * (decays[m] - bar.decay(m)) - across, c.expected, 0.01 * c.expected)
            << scale << " mode " << m << " on " << c.places.size();
      }
    }
    // On its nodes the first mode is damped as if it were free, but for what moves along.
    const double node = bar.length * (0.5 - 0.224158);
    const double on_nodes = measured_decays(bar, {-node, node}, {0.5, 0.5}, {})[0];
    EXPECT_NEAR(on_nodes, bar.decay(0), 0.002 * bar.decay(0)) << scale;
  }
}

TEST(ContactDamping, DoesNotDependOnTheStepNorOnTheSampleRate)
{
  const Bar bar;
  const std::vector<double> ends = {-bar.length / 2, bar.length / 2};
  const auto reference = measured_decays(bar, ends, {0.5, 0.5}, {});
  for (const int rate : {44100, 96000, 192000}) {
    for (const double h : {1.0 / 60, 1.0 / 1000}) {
      const auto decays = measured_decays(bar, ends, {0.5, 0.5}, {.sample_rate = rate}, h);
      for (std::size_t m = 0; m < 4; ++m) EXPECT_NEAR(decays[m] / reference[m], 1, 1e-3);
    }
  }
}

TEST(ContactDamping, IsLimitedAndItsCurveNeverUndershoots)
{
  EXPECT_EQ(contact_decay(1e9, 1000), 250);
  EXPECT_EQ(contact_decay(100, 1000), 50);
  base::Random random(3);
  for (int i = 0; i < 1000; ++i) {
    std::array<double, 4> y{};
    for (double& v : y) v = random.uniform(0, 1) < 0.4 ? 0 : random.uniform(0, 10);
    const double s0 = monotone_slope(y[1] - y[0], y[2] - y[1], 1, 1);
    const double s1 = monotone_slope(y[2] - y[1], y[3] - y[2], 1, 1);
    const auto [low, high] = std::minmax(y[1], y[2]);
    for (double x = 0; x <= 1; x += 0.05) {
      EXPECT_GE(cubic(y[1], y[2], s0, s1, 1, x), low - 1e-12);
      EXPECT_LE(cubic(y[1], y[2], s0, s1, 1, x), high + 1e-12);
    }
  }
}

// Sound of the bar: it lands on its ends at 0.1 s and lies. `spread` of the forces in each step.
std::vector<double> landing(const SynthesisSettings& settings, std::size_t intervals, double spread)
{
  const Bar bar;
  Synthesis synthesis(bar_on_ground(bar, settings), settings);
  base::Random random(11);
  std::vector<double> sound;
  std::vector<std::vector<double>> out;
  const double h = 1.0 / 240;
  int steps = 0;
  while (static_cast<double>(sound.size()) < 2.5 * settings.sample_rate) {
    const double end =
        static_cast<double>(sound.size() + intervals * ModalBank::kInterval) / settings.sample_rate;
    while (synthesis.ready_until() < end) {
      const double time = steps * h;
      const double x = spread * random.uniform(-1, 1);
      // Four redundant contacts: a change (x, -x, -x, x) is in the null space.
      ExcitationStep step =
          lying_step(bar, time, h, {-0.15, -0.05, 0.05, 0.15}, {0.25 + x, 0.25 - x, 0.25 - x, 0.25 + x});
      if (steps < 24) step.contacts.clear();
      if (steps == 24) {
        for (ContactSample& contact : step.contacts) {
          contact.is_new = true;
          contact.approach_speed = 0.5;
          contact.normal_impulse = 0.25 * bar.mass() * 0.5 * 1.3;
          contact.inverse_mass = 4 / bar.mass();
        }
      }
      synthesis.add_step(step, Vec3(0, 0, 1));
      ++steps;
    }
    synthesis.render(intervals, out);
    if (out[1].empty()) out[1].assign(intervals * ModalBank::kInterval, 0.0);
    sound.insert(sound.end(), out[1].begin(), out[1].end());
  }
  sound.resize(static_cast<std::size_t>(2.5 * settings.sample_rate));
  return sound;
}

double level(const std::vector<double>& sound, double from, double to, int rate)
{
  return rms({rate, {sound}}, from, to);
}

TEST(Synthesis, ARestingBodyIsSilentThoughTheSolverSpreadsItsForcesAnew)
{
  // Damped strongly, so that what is left of the impact does not hide what resting makes.
  const SynthesisSettings settings = {.contact_damping_scale = 20};
  for (const double spread : {0.0, 0.2}) {
    const std::vector<double> sound = landing(settings, 16, spread);
    const double impact = level(sound, 0.1, 0.15, 48000);
    const double resting = level(sound, 1.5, 2.5, 48000);
    ASSERT_GT(impact, 0);
    EXPECT_LT(20 * std::log10((resting + 1e-30) / impact), -80) << spread;
  }
}

TEST(Synthesis, GivesTheSameBitsForEveryBlockAndThreadCount)
{
  const std::vector<double> reference = landing({}, 1, 0.1);
  EXPECT_EQ(landing({}, 7, 0.1), reference);
  EXPECT_EQ(landing({}, 64, 0.1), reference);
  const int threads = base::thread_count();
  base::set_thread_count(1);
  EXPECT_EQ(landing({}, 64, 0.1), reference);
  base::set_thread_count(threads);
}

TEST(Synthesis, SlidingIsHeardAndSpeedRaisesItsPitch)
{
  // Zero crossings a second of the noise of the bar that slides at a speed.
  const Bar bar;
  const auto slide = [&](double speed) {
    SynthesisSettings settings;
    Synthesis synthesis(bar_on_ground(bar, settings), settings);
    std::vector<std::vector<double>> out;
    std::vector<double> sound;
    double time = 0;
    while (sound.size() < 24000) {
      while (synthesis.ready_until() < static_cast<double>(sound.size() + 2048) / 48000) {
        ExcitationStep step = lying_step(bar, time, 0.005, {-0.15, 0.15}, {0.5, 0.5});
        for (ContactSample& contact : step.contacts) contact.slip = Vec3(speed, 0, 0);
        synthesis.add_step(step, Vec3(0, 0, 1));
        time += 0.005;
      }
      synthesis.render(2048 / ModalBank::kInterval, out);
      if (out[1].empty()) out[1].assign(2048, 0.0);
      sound.insert(sound.end(), out[1].begin(), out[1].end());
    }
    // Centroid by differences: rms of the slope over rms of the sound.
    double energy = 0;
    double slope = 0;
    for (std::size_t i = 4801; i < sound.size(); ++i) {
      energy += sound[i] * sound[i];
      slope += (sound[i] - sound[i - 1]) * (sound[i] - sound[i - 1]);
    }
    return std::pair(std::sqrt(energy), std::sqrt(slope / energy));
  };
  EXPECT_EQ(slide(0).first, 0);
  const auto [slow_level, slow_pitch] = slide(0.1);
  const auto [fast_level, fast_pitch] = slide(1.5);
  EXPECT_GT(slow_level, 0);
  EXPECT_GT(fast_pitch, 1.3 * slow_pitch);
}

TEST(Synthesis, ZeroLengthImpulsesAndBodiesWithoutModesAreHarmless)
{
  const Bar bar;
  Synthesis synthesis(bar_on_ground(bar, {}), {});
  EXPECT_EQ(synthesis.voice(0), nullptr);  // no modes, does not move
  synthesis.strike(0, 0, 0, Vec3::Zero(), Vec3::UnitZ(), Vec3::UnitZ());
  synthesis.strike(1, 0.001, 0, Vec3(0.1, 0, 0.0025), Vec3::Zero(), Vec3::UnitZ());
  ExcitationStep step = lying_step(bar, 0, 0, {0}, {1});
  synthesis.add_step(step, Vec3::UnitZ());
  step.contacts[0].a = 9;
  EXPECT_THROW(synthesis.add_step(step, Vec3::UnitZ()), Error);
  synthesis.finish();
  std::vector<std::vector<double>> out;
  synthesis.render(10, out);
  for (const double x : out[1]) EXPECT_EQ(x, 0);
}

// Bars of one pitch, from steel down to foam: the lighter, the better they radiate, until they radiate all
// that they lose. Energy of the modes by the strike itself, radiated energy by the samples.
TEST(Synthesis, RadiatesAtMostTheEnergyThatAStrikeBrought)
{
  constexpr double kImpulse = 1e-3;  // [N s]
  double share_before = 0;
  for (const double density : {7850.0, 1000.0, 100.0, 20.0}) {
    Bar bar;
    bar.material.young *= density / bar.material.density;
    bar.material.density = density;
    SynthesisSettings settings;
    settings.acceleration_noise = false;
    const Vec3 place(0.11, 0, bar.thickness / 2);
    const auto model = test::bar_sound(bar, settings);
    const double brought =
        0.5 * kImpulse * kImpulse * modal_inverse_mass(*model, place, Vec3::UnitZ(), 0);  // [J]
    Synthesis synthesis({{"bar", model, bar.mass(), true}}, settings);
    synthesis.strike(0, 0, 0, place, Vec3(0, 0, -kImpulse), Vec3::UnitZ());
    synthesis.finish();
    std::vector<std::vector<double>> out;
    synthesis.render(3000, out);
    double sum = 0;
    for (const double x : out[0]) sum += x * x / settings.sample_rate;
    const double share = sum * 4 * std::numbers::pi / (kAirDensity * kSoundSpeed) / brought;
    EXPECT_LT(share, 1.03) << density;  // modes of different pitch disturb each other in the first moments
    EXPECT_GT(share, 0.99 * share_before) << density;
    share_before = share;
  }
  EXPECT_GT(share_before, 0.5);
}

}  // namespace
}  // namespace thrum::sound
