// SPDX-License-Identifier: MIT
// From a contact of a step to the impulse, the time and the modes that it rings, against closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/sound/bar_model.h"
#include "thrum/base/random.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sound/body_voice.h"
#include "thrum/sound/scalar_radiation.h"
#include "thrum/sound/struck_pairs.h"
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
    // Pressed down, and pulled along the upper side, which slopes.
    const auto [u, slope] = bar.shape(m, 0.1);
    const double impulse = 0.03 * u + 0.012 * bar.thickness / 2 * slope;
    const double reached = impulse * pulse_spectrum(2 * kPi * bar.frequency(m), duration);
    modal += reached * reached;
  }
  const double rigid = std::max(0.03 * 0.03 * contact.inverse_mass, 0.03 * 0.5);
  const double yielding = rigid / (rigid + modal);
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

// A block that falls flat on a bar which is held, with rigid bodies: of all impulses that change its speed by
// (1 + e) v, those of the least norm. Returns the energy of the bar's modes over that of the fall.
double modal_share_of_a_flat_fall(const Bar& bar, const std::vector<double>& places, double mass, double e,
                                  double friction)
{
  constexpr double kSpeed = 0.8;
  constexpr double kHalfLength = 0.14;
  Synthesis synthesis({{"block", nullptr, mass, true}, {"bar", test::bar_sound(bar), 0, true}}, {});
  std::vector<ContactSample> contacts;
  for (const double x : places) {
    const double impulse = (1 + e) * kSpeed * mass / static_cast<double>(places.size());
    ContactSample contact = strike_from_above(bar, x, kSpeed, impulse);
    contact.key = contacts.size();
    contact.inverse_mass = (1 + 3 * x * x / (kHalfLength * kHalfLength)) / mass;
    contact.friction_impulse = Vec3(friction * impulse, 0, 0);
    contacts.push_back(contact);
  }
  synthesis.add_step(step_at(0, contacts), Vec3::UnitZ());
  synthesis.add_step(step_at(1, {}), Vec3::UnitZ());
  synthesis.finish();
  std::vector<std::vector<double>> out;
  synthesis.render(1, out);
  return synthesis.voice(1)->bank().energy() / (0.5 * mass * kSpeed * kSpeed);
}

TEST(Impact, AtSeveralPointsAtOnceBringsNoMoreEnergyThanTheFallHad)
{
  const Bar bar;
  base::Random random(7);
  double most = 0;
  for (const std::size_t count : {1U, 2U, 4U, 12U}) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> places;
      while (places.size() + 1 < count) {  // in pairs, so that the fall stays flat
        const double x = random.uniform(0, 0.14);
        places.insert(places.end(), {x, -x});
      }
      if (places.empty()) places.push_back(0);
      const double mass = bar.mass() * std::pow(10, random.uniform(-2, 2));
      const double e = random.uniform(0, 1);
      const double share = modal_share_of_a_flat_fall(bar, places, mass, e, random.uniform(0, 0.8));
      // X / 8 with X <= 2 J . v, by the energy of the fall.
      EXPECT_LT(share, 0.5 * (1 + e)) << count << " contacts, " << mass << " kg, e = " << e;
      most = std::max(most, share);
    }
  }
  EXPECT_GT(most, 0.5);
}

TEST(Impact, HowManyPointsStandForOneContactIsNotHeard)
{
  const Bar bar;
  for (const double mass : {0.01, 0.3, 10.0}) {
    const double one = modal_share_of_a_flat_fall(bar, {0}, mass, 0, 0.3);
    EXPECT_GT(one, 1e-3);
    for (const std::size_t count : {2U, 5U, 40U}) {
      const double many = modal_share_of_a_flat_fall(bar, std::vector<double>(count, 0), mass, 0, 0.3);
      EXPECT_NEAR(many / one, 1, 1e-9) << count << " contacts, " << mass << " kg";
    }
  }
}

// Balls that strike a bar in the same step at places of their own, after each other or at once. Returns the
// energy of its modes over that of the balls.
double modal_share_of_balls(const Bar& bar, const std::vector<double>& places, double mass, double e,
                            const std::vector<double>& delays)
{
  constexpr double kSpeed = 0.8;
  std::vector<SynthesisBody> bodies = {{"bar", test::bar_sound(bar), 0, true}};
  std::vector<ContactSample> contacts;
  for (std::size_t i = 0; i < places.size(); ++i) {
    bodies.push_back({"ball", nullptr, mass, true});
    ContactSample contact = strike_from_above(bar, places[i], kSpeed, (1 + e) * kSpeed * mass);
    contact.a = static_cast<std::uint32_t>(i + 1);
    contact.b = 0;
    contact.inverse_mass = 1 / mass;
    contact.impact_delay = delays[i];
    contacts.push_back(contact);
  }
  Synthesis synthesis(bodies, {});
  ExcitationStep step = step_at(0, contacts);
  step.poses.clear();
  for (std::size_t b = 0; b < bodies.size(); ++b)
    step.poses.push_back({static_cast<std::uint32_t>(b), Pose{}});
  synthesis.add_step(step, Vec3::UnitZ());
  synthesis.add_step(step_at(1, {}), Vec3::UnitZ());
  synthesis.finish();
  std::vector<std::vector<double>> out;
  synthesis.render(8, out);
  return synthesis.voice(0)->bank().energy() /
         (0.5 * mass * kSpeed * kSpeed * static_cast<double>(places.size()));
}

TEST(Impact, OfSeveralBodiesAtOnceBringsNoMoreEnergyThanTheyHad)
{
  Bar bar;
  bar.material.damping = {};
  base::Random random(11);
  double most = 0;
  for (const std::size_t count : {1U, 2U, 5U, 20U, 100U}) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> places, delays;
      for (std::size_t i = 0; i < count; ++i) {
        places.push_back(random.uniform(-0.14, 0.14));
        delays.push_back(trial % 2 == 0 ? 0 : random.uniform(0, 0.9 * kStep));
      }
      const double mass = bar.mass() * std::pow(10, random.uniform(-3, 1));
      const double e = random.uniform(0, 1);
      const double share = modal_share_of_balls(bar, places, mass, e, delays);
      EXPECT_LT(share, 0.5 * (1 + e)) << count << " balls of " << mass << " kg, e = " << e;
      most = std::max(most, share);
    }
  }
  EXPECT_GT(most, 0.3);
}

// Where n balls strike one point at once it is one ball of n times the mass that strikes it, as soft as that.
TEST(Impact, BallsAtOnePointAreOneHeavierBall)
{
  Bar bar;
  bar.material.damping = {};
  for (const double mass : {0.001, 0.01, 0.1}) {
    for (const std::size_t count : {2U, 7U}) {
      const auto n = static_cast<double>(count);
      const double many = modal_share_of_balls(bar, std::vector<double>(count, 0.05), mass, 0.4,
                                               std::vector<double>(count, 0.0));
      const double one = modal_share_of_balls(bar, {0.05}, n * mass, 0.4, {0.0});
      EXPECT_NEAR(many / one, 1, 1e-6) << count << " balls of " << mass << " kg";
    }
  }
}

// In the nodes of the middle of a bar odd modes and even ones have nothing in common: two balls that reach
// different modes only are as soft as each would be alone. With all modes they are not.
TEST(Impact, PairsWithoutAModeInCommonAreSoftenedEachForItself)
{
  std::vector<StruckPair> pairs(3);
  pairs[0] = {.a = 0, .b = 1, .along_diagonal = 2, .modes_b = {{1, 0}, {0, 0}, {0, 0.5}}};
  pairs[1] = {.a = 2, .b = 1, .along_approach = 3, .modes_b = {{0, 0}, {0, 2}, {0, 0}}};
  pairs[2] = {.a = 1, .b = 3, .along_approach = 1, .modes_a = {{0, 0}, {1, 0}, {0, 0}}};
  const std::vector<double> apart = yielding_factors(pairs);
  EXPECT_NEAR(apart[0], 2 / 3.25, 1e-9);
  EXPECT_NEAR(apart[1], 3.0 / 7, 1e-9);  // a quarter of a period from the third
  EXPECT_NEAR(apart[2], 1.0 / 2, 1e-9);
  pairs[2].modes_a[1] = {0, 1};
  const std::vector<double> together = yielding_factors(pairs);
  EXPECT_NEAR(together[0], 2 / 3.25, 1e-9);
  // 7 s + 2 t = 3, 2 s + 2 t = 1.
  EXPECT_NEAR(together[1], 0.4, 1e-9);
  EXPECT_NEAR(together[2], 0.1, 1e-9);
}

// With J' = J s, s = X / (X + Y), the modes have the energy s^2 Y / 2 = X s (1 - s) / 2: s by the events, the
// energy by the bank, also when the second point is struck while the bar swings back.
TEST(Impact, AtSeveralTimesIsSoftenedByWhatTheModesHaveInTheEnd)
{
  Bar bar;
  bar.material.damping = {};
  std::vector<double> shares;
  for (const double periods : {0.0, 0.25, 0.5, 1.0}) {
    Synthesis synthesis({{"ball", nullptr, 0.3, true}, {"bar", test::bar_sound(bar), 0, true}}, {});
    std::vector<ContactSample> contacts;
    for (const double x : {0.1, -0.1}) contacts.push_back(strike_from_above(bar, x, 0.5, 0.03));
    contacts[1].key = 1;
    contacts[1].impact_delay = periods / bar.frequency(0);
    ASSERT_LT(contacts[1].impact_delay, kStep);
    synthesis.add_step(step_at(0, contacts), Vec3::UnitZ());
    synthesis.add_step(step_at(1, {}), Vec3::UnitZ());
    synthesis.finish();
    std::vector<std::vector<double>> out;
    synthesis.render(4, out);  // 5.3 ms
    const double s = synthesis.take_events()[0].impulse / 0.03;
    const double rigid = 2 * std::max(0.03 * 0.03 * contacts[0].inverse_mass, 0.03 * 0.5);
    EXPECT_NEAR(synthesis.voice(1)->bank().energy() / (0.5 * rigid * s * (1 - s)), 1, 1e-6) << periods;
    shares.push_back(s);
  }
  EXPECT_GT(std::abs(shares[2] - shares[0]), 0.05);  // else the times would not be seen
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
