// SPDX-License-Identifier: MIT
// From a contact of a step to the impulse, the time and the modes that it rings, against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/scalar_radiation.h"
#include "thrum/sound/synthesis.h"

namespace thrum::sound {
namespace {

using test::Bar;
constexpr double kPi = std::numbers::pi;
constexpr double kStep = 1.0 / 240;

std::shared_ptr<const SoundModel> sphere(double radius, const model::Material& material)
{
  const mesh::TriangleMesh surface =
      shapes::generate(shapes::SphereDesc{.radius = radius, .edge_length = radius / 8});
  return std::make_shared<const SoundModel>(nullptr, surface, material);
}

// Half a sine of unit area, seen by a mode, by quadrature.
double pulse_spectrum(double omega, double duration)
{
  constexpr int kParts = 20000;
  double sum = 0;
  for (int i = 0; i < kParts; ++i) {
    const double t = (i + 0.5) / kParts * duration;
    sum += kPi / (2 * duration) * std::sin(kPi * t / duration) * std::cos(omega * (t - duration / 2));
  }
  return sum * duration / kParts;
}

// Body 0 strikes the upper face of body 1, a bar.
ContactSample strike_from_above(const Bar& bar, double x, double speed, double impulse)
{
  ContactSample contact;
  contact.a = 0;
  contact.b = 1;
  contact.position = Vec3(x, 0, bar.thickness / 2);
  contact.normal = -Vec3::UnitZ();
  contact.normal_impulse = impulse;
  contact.approach_speed = speed;
  contact.inverse_mass = 20;
  contact.friction = 0.5;
  contact.is_new = true;
  return contact;
}

ExcitationStep step_at(int number, std::vector<ContactSample> contacts)
{
  ExcitationStep step;
  step.time = number * kStep;
  step.duration = kStep;
  step.contacts = std::move(contacts);
  step.poses = {{0, Pose{}}, {1, Pose{}}};
  return step;
}

// The contact in step 2, then nothing; renders to the end of step 6.
void run(Synthesis& synthesis, const ContactSample& contact)
{
  std::vector<std::vector<double>> out;
  for (int i = 0; i < 12; ++i)
    synthesis.add_step(step_at(i, i == 2 ? std::vector{contact} : std::vector<ContactSample>{}),
                       Vec3::UnitZ());
  while (synthesis.voice(1)->time() < 7 * kStep) synthesis.render(1, out);
}

double hertz(double mass, double modulus, double radius, double speed)
{
  return 2.868 * std::pow(mass * mass / (modulus * modulus * radius * speed), 0.2);
}

double modulus_of_pair(const model::Material& material)
{
  return material.young / (1 - material.poisson * material.poisson) / 2;
}

TEST(Impact, LastsAsHertzSaysForTheMassSpeedAndCurvatureOfBothBodies)
{
  const Bar bar;
  for (const auto& [first, second] : {std::pair(0.01, 0.01), std::pair(0.01, 0.04), std::pair(0.04, 0.01)}) {
    for (const double speed : {0.1, 2.0}) {
      Synthesis synthesis(
          {{"a", sphere(first, bar.material), 0.1, true}, {"b", sphere(second, bar.material), 0.1, true}},
          {});
      ContactSample contact = strike_from_above(bar, 0, speed, 1);
      contact.position = Vec3(0, 0, second);
      ExcitationStep step = step_at(0, {contact});
      step.poses[0].X_ws.position = Vec3(0, 0, first + second);
      synthesis.add_step(step, Vec3::UnitZ());
      const std::vector<SoundEvent> events = synthesis.take_events();
      ASSERT_EQ(events.size(), 1U);
      const double radius = first * second / (first + second);
      const double expected = hertz(1 / contact.inverse_mass, modulus_of_pair(bar.material), radius, speed);
      EXPECT_NEAR(events[0].duration / expected, 1, 0.04) << first << " m on " << second << " m";
    }
  }
}

// A solver that moves bodies first finds the contact late, one that looks ahead early: by a step at most.
TEST(Impact, IsHeardWhenTheSurfacesMeetAStepBeforeOrAfterAtMost)
{
  const Bar bar;
  const SynthesisSettings settings{.acceleration_noise = false};
  for (const double steps : {-3.0, -1.0, -0.4, 0.0, 0.6, 1.0, 3.0}) {
    Synthesis synthesis({{"ball", sphere(0.01, bar.material), 0.05, true},
                         {"bar", test::bar_sound(bar, settings), bar.mass(), true}},
                        settings);
    ContactSample contact = strike_from_above(bar, 0.11, 1, 0.05);
    contact.impact_delay = steps * kStep;
    for (int i = 0; i < 12; ++i)
      synthesis.add_step(step_at(i, i == 2 ? std::vector{contact} : std::vector<ContactSample>{}),
                         Vec3::UnitZ());
    const std::vector<SoundEvent> events = synthesis.take_events();
    ASSERT_EQ(events.size(), 1U);
    const double expected = (2 + std::clamp(steps, -1.0, 1.0)) * kStep;
    EXPECT_NEAR(events[0].time, expected, 1e-12) << steps;
    std::vector<std::vector<double>> out;
    synthesis.render(16, out);
    std::size_t first = 0;
    while (first < out[1].size() && out[1][first] == 0) ++first;
    EXPECT_NEAR(static_cast<double>(first) / settings.sample_rate, expected, 2.0 / settings.sample_rate)
        << steps;
  }
}

TEST(Impact, AnEdgeStrikesAsABallOfTwoMillimetres)
{
  const Bar bar;
  const auto box = std::make_shared<const SoundModel>(
      nullptr, shapes::generate(shapes::BoxDesc{.size = {0.1, 0.1, 0.1}, .edge_length = 0.02}), bar.material);
  const auto duration_at = [&](const Vec3& position) {
    return impact_duration(*box, position, *box, Vec3(0.01, 0.02, 0.05), 20, 1);
  };
  const double modulus = modulus_of_pair(bar.material);
  EXPECT_NEAR(duration_at({0.05, 0.05, 0.01}) / hertz(0.05, modulus, 0.002, 1), 1, 0.01);
  // Face on face counts as a ball of a metre.
  EXPECT_NEAR(duration_at({0.01, 0.02, 0.05}) / hertz(0.05, modulus, 1, 1), 1, 0.01);
}

TEST(Impact, GivesTheContactsImpulseButNoMoreThanAnElasticOne)
{
  const Bar bar;
  for (const double impulse : {0.01, 0.04, 0.2}) {
    Synthesis synthesis(
        {{"a", sphere(0.01, bar.material), 0.1, true}, {"b", sphere(0.01, bar.material), 0.1, true}}, {});
    ContactSample contact = strike_from_above(bar, 0, 0.5, impulse);
    contact.position = Vec3(0, 0, 0.01);
    synthesis.add_step(step_at(0, {contact}), Vec3::UnitZ());
    const std::vector<SoundEvent> events = synthesis.take_events();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_NEAR(events[0].impulse, std::min(impulse, 2 * 0.5 / contact.inverse_mass), 1e-12);
  }
}

TEST(Impact, EachModeGetsItsShareAtItsTimeAndRingsByItsOwnDamping)
{
  const Bar bar;
  ContactSample contact = strike_from_above(bar, 0.1, 0.5, 0.03);
  contact.friction_impulse = Vec3(0.012, 0, 0);
  contact.impact_delay = 0.0031;
  Synthesis synthesis(
      {{"ball", sphere(0.01, bar.material), 0.05, true}, {"bar", test::bar_sound(bar), bar.mass(), true}},
      {});
  run(synthesis, contact);
  const std::vector<SoundEvent> events = synthesis.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NEAR(events[0].time, 2 * kStep + 0.0031, 1e-12);
  const double duration = events[0].duration;
  double modal = 0;  // what the bar gives way
  for (std::size_t m = 0; m < 4; ++m) {
    const double reached = bar.shape(m, 0.1)[0] * pulse_spectrum(2 * kPi * bar.frequency(m), duration);
    modal += reached * reached;
  }
  const double yielding = contact.inverse_mass / (contact.inverse_mass + modal);
  EXPECT_LT(yielding, 0.9);
  EXPECT_NEAR(events[0].impulse, yielding * std::hypot(0.03, 0.012), 1e-4 * 0.03);
  const ModalBank& bank = synthesis.voice(1)->bank();
  const double since = bank.time() - events[0].time - duration / 2;
  for (std::size_t m = 0; m < 4; ++m) {
    const auto [u, slope] = bar.shape(m, 0.1);
    const double gain = yielding * (-0.03 * u - 0.012 * bar.thickness / 2 * slope);
    const double omega = 2 * kPi * bar.frequency(m);
    const double expected =
        std::abs(gain) * pulse_spectrum(omega, duration) * std::exp(-bar.decay(m) * since);
    EXPECT_NEAR(std::abs(bank.state(m)) / expected, 1, 2e-3) << "mode " << m;
  }
}

TEST(Impact, BothBodiesGetOppositeImpulses)
{
  const Bar bar;
  const auto model = test::bar_sound(bar);
  Synthesis synthesis({{"a", model, bar.mass(), true}, {"b", model, bar.mass(), true}}, {});
  ContactSample contact = strike_from_above(bar, 0.1, 0.5, 0.03);
  contact.friction_impulse = Vec3(0.012, 0, 0);
  run(synthesis, contact);
  for (std::size_t m = 0; m < 4; ++m) {
    const ModalBank::Complex a = synthesis.voice(0)->bank().state(m);
    const ModalBank::Complex b = synthesis.voice(1)->bank().state(m);
    EXPECT_GT(std::abs(a), 0);
    EXPECT_LT(std::abs(a + b), 1e-9 * std::abs(a)) << "mode " << m;
  }
}

TEST(Impact, ARestingContactThatTheSolverClosesAgainDoesNotStrike)
{
  const Bar bar;
  Synthesis synthesis(
      {{"a", sphere(0.01, bar.material), 0.1, true}, {"b", test::bar_sound(bar), bar.mass(), true}}, {});
  ContactSample contact = strike_from_above(bar, 0.1, 1.5 * 9.81 * kStep, 0.03);
  contact.is_new = false;
  synthesis.add_step(step_at(0, {contact}), Vec3::UnitZ());
  EXPECT_TRUE(synthesis.take_events().empty());
  contact.approach_speed = 3 * 9.81 * kStep;
  synthesis.add_step(step_at(1, {contact}), Vec3::UnitZ());
  EXPECT_EQ(synthesis.take_events().size(), 1U);
  contact.approach_speed = 1.5 * 9.81 * kStep;
  contact.bounced = true;
  synthesis.add_step(step_at(2, {contact}), Vec3::UnitZ());
  EXPECT_EQ(synthesis.take_events().size(), 1U);
}

// A sphere much smaller than the waves that its pulse makes is a dipole,
// r p = rho a^3 / (2 c) jerk cos(theta).
TEST(Click, OfASmallSphereIsTheDipoleOfItsJerk)
{
  const Bar bar;
  const auto ball = sphere(0.01, bar.material);
  const double mass = 0.2;
  const double impulse = 0.3;
  const double duration = 6e-3;
  for (const double cosine : {1.0, -0.5}) {
    BodyVoice voice(ball, mass, {});
    voice.strike(0, duration, Vec3(0, 0, 0.01), Vec3(0, 0, impulse),
                 Vec3(std::sqrt(1 - cosine * cosine), 0, cosine));
    voice.finish();
    std::vector<double> sound;
    while (voice.time() < duration) {
      sound.resize(sound.size() + ModalBank::kInterval, 0.0);
      (void)voice.render(std::span(sound).last(ModalBank::kInterval));
    }
    const double a = 0.01;
    const double jerk = impulse / mass * kPi * kPi / (2 * duration * duration) * std::sqrt(0.5);
    const double expected = kAirDensity * a * a * a / (2 * kSoundSpeed) * jerk * cosine;
    // A quarter before and after the middle, so that the travel over the sphere cancels.
    const double heard = (sound[72] - sound[216]) / 2;
    EXPECT_NEAR(heard / expected, 1, 0.03) << cosine;
  }
}

}  // namespace
}  // namespace thrum::sound
