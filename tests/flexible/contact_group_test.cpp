// SPDX-License-Identifier: MIT
#include "thrum/flexible/contact_group.h"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <numbers>

#include "tests/flexible/random_group.h"

namespace thrum::flexible {
namespace {

TEST(ContactGroup, FreeMotionIsExact)
{
  elastic::ModeList modes;
  modes.omegas = (VecX(3) << 100, 1000, 2e4).finished();
  modes.decays = (VecX(3) << 3, 2000, 50).finished();
  const std::vector<double> q{1e-3, 2e-3, -1e-4};
  const std::vector<double> u{0.1, 0, 2};
  for (const double h : {1e-7, 1e-4, 3e-2}) {
    FlexibleSettings settings;
    settings.adapt_modes = false;
    ContactGroup one;
    const auto body = one.add_body({.modes = &modes, .q = q, .u = u});
    one.advance(h, settings);
    for (int m = 0; m < 3; ++m) {
      const double w = modes.omegas[m];
      const std::complex<double> root =
          std::sqrt(std::complex<double>(modes.decays[m] * modes.decays[m] - w * w));
      const std::complex<double> s1 = -modes.decays[m] + root;
      const std::complex<double> s2 = -modes.decays[m] - root;
      const std::size_t i = static_cast<std::size_t>(m);
      const std::complex<double> c1 = (u[i] - s2 * q[i]) / (s1 - s2);
      const double expected = (c1 * std::exp(s1 * h) + (q[i] - c1) * std::exp(s2 * h)).real();
      EXPECT_NEAR(one.q(body)[i], expected, 1e-12 * (std::abs(q[i]) + std::abs(u[i]) / w)) << h << " " << m;
    }
  }
}

// Motion, vibration and what contacts and friction store, less the work of gravity, never grows: whatever the
// masses, modes, friction and step.
TEST(ContactGroup, EnergyNeverGrowsInRandomGroups)
{
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-6, -2.5);
    RandomGroup one;
    build(one, seed, 0.1 * (seed % 12), static_cast<int>(seed % 20));
    FlexibleSettings settings;
    settings.adapt_modes = seed % 2 == 0;
    if (seed % 3 == 0) {  // one substep a slice, whatever it misses
      settings.max_step = 1;
      settings.steps_per_period = 1e-9;
      settings.min_impact_speed = 1e9;
      settings.min_step = 1;
    }
    double last = one.group.kinetic_energy();
    const double start = last;
    for (int i = 0; i < 6; ++i) {
      one.group.advance(std::pow(10, exponent(random)), settings);
      const double energy = one.group.kinetic_energy() + one.group.modal_energy() +
                            one.group.report().contact_energy - one.group.external_work();
      ASSERT_LE(energy, last + 1e-7 * start) << seed << " slice " << i;
      last = energy;
    }
  }
}

// Sweeps over the contacts and Newton's method in the coordinates find the same forces.
TEST(ContactGroup, NewtonsMethodAgreesWithSweeps)
{
  std::uint64_t solved = 0;
  int compared = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    std::array<RandomGroup, 2> both;
    for (const std::size_t i : {0U, 1U}) {
      // Half of them with gaps, some of which the forces at other contacts close.
      build(both[i], seed, 0.1 * (seed % 12), static_cast<int>(seed % 20), seed % 2 == 0 ? 1e-4 : 0);
      FlexibleSettings settings;
      settings.adapt_modes = false;
      settings.iterations = 20000;
      settings.tolerance = 1e-11;
      settings.sweeps_before_newton = i == 0 ? settings.iterations : 0;
      // One substep.
      settings.max_step = 1;
      settings.steps_per_period = 1e-9;
      settings.min_impact_speed = 1e9;
      settings.min_step = 1;
      both[i].group.advance(3e-5 * (1 + seed % 7), settings);
    }
    ASSERT_EQ(both[0].group.report().newton_solves, 0U);
    solved += both[1].group.report().newton_solves;
    if (both[0].group.report().unsolved > 0 || both[1].group.report().unsolved > 0) continue;
    ++compared;
    const double energy = std::sqrt(both[0].group.kinetic_energy() + both[0].group.modal_energy());
    for (int body = 0; body < 3; ++body) {
      const Vec3 apart = both[0].group.velocity(body) - both[1].group.velocity(body);
      EXPECT_NEAR(apart.norm(), 0, 1e-6 * energy) << seed << " body " << body;
    }
  }
  EXPECT_GT(solved, 150U);
  EXPECT_GT(compared, 150);
}

// A mass on a mode whose period is shorter than a substep swings on the stiffness of the mode, whatever share
// of a period a substep is: forces held over one would let its true motion yield by anything between 0 and
// twice that. What it has never grows, and stays the same where substeps follow the mode.
TEST(ContactGroup, AModeFasterThanSubstepsYieldsByItsStiffness)
{
  const double omega = 2 * std::numbers::pi * 20e3;
  const double shape = 100;
  const double mass = 1;
  const double g = 1000;
  const double speed = 0.1;
  const elastic::ModeList modes{VecX::Constant(1, omega), VecX::Zero(1)};
  const double stiffness = omega * omega / (shape * shape);
  const double expected = std::sqrt(stiffness / mass) / (2 * std::numbers::pi);
  for (const double periods : {0.1, 0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 2.7}) {
    const double dt = 2 * std::numbers::pi * periods / omega;
    FlexibleSettings settings;
    settings.adapt_modes = false;
    settings.tail_modes = false;
    settings.max_step = dt;
    settings.steps_per_period = 1e-9;
    settings.min_impact_speed = 1e9;
    const std::array<double, 1> down{-shape};
    const std::array<double, 1> sag{-mass * g * shape / (omega * omega)};
    ContactGroup group;
    const int plate = group.add_body({.modes = &modes, .q = sag});
    const int ball = group.add_body({.moves = true,
                                     .inverse_mass = 1 / mass,
                                     .velocity = Vec3(0, 0, speed),
                                     .acceleration = Vec3(0, 0, -g)});
    const int row =
        group.add_row({plate, Vec3::Zero(), Vec3::Zero(), down}, {ball, Vec3::UnitZ(), Vec3::Zero(), {}});
    group.begin_patch();
    const elastic::HeldContact law{.stiffness = 1e13};
    for (int i = 0; i < 2; ++i)
      (void)group.add_contact(row, law, law.indentation(0.5 * mass * g), 0.5 * mass * g);
    const auto energy = [&] {
      return group.kinetic_energy() + group.modal_energy() + 2 * law.potential(group.indentation(0)) -
             group.external_work();
    };
    const double start = energy();
    double last = start;
    double before = speed;
    std::vector<double> crossings;  // times at which it turns downwards
    for (double time = 0; time < 10 / expected; time += dt) {
      group.advance(dt, settings);
      ASSERT_LE(energy(), last + 1e-8 * start) << periods;  // forces are found to 1e-9
      last = energy();
      const double now = group.velocity(ball).z();
      if (before > 0 && now <= 0) crossings.push_back(time + dt * before / (before - now));
      before = now;
    }
    ASSERT_GE(crossings.size(), 8U) << periods;
    const double found = static_cast<double>(crossings.size() - 1) / (crossings.back() - crossings.front());
    EXPECT_NEAR(found / expected, 1, 0.03) << periods;
    if (periods <= 0.25) {
      EXPECT_NEAR(energy() / start, 1, 1e-9) << periods;
    }
  }
}

// Modes that are too quiet to move yield by their stiffness: a plate sags under a weight that is put on it by
// the sum of F U / w^2, though none of them ever moves by itself, in substeps as long as the slices.
TEST(ContactGroup, QuietModesSagUnderAWeight)
{
  constexpr int kModes = 60;
  const elastic::ModeList modes{VecX::LinSpaced(kModes, 500, 30e3), VecX::Constant(kModes, 20)};
  std::vector<double> down;
  for (int m = 0; m < kModes; ++m) down.push_back(-0.3 - 0.01 * (m % 7));
  const double mass = 2;
  const double g = 9.81;
  const double stiffness = 1e9;
  FlexibleSettings settings;
  settings.quiet_energy = 1;
  ContactGroup group;
  const int plate = group.add_body({.modes = &modes, .weight = 50});
  const int ball = group.add_body(
      {.moves = true, .inverse_mass = 1 / mass, .acceleration = Vec3(0, 0, -g), .weight = mass * g});
  const int row =
      group.add_row({plate, Vec3::Zero(), Vec3::Zero(), down}, {ball, Vec3::UnitZ(), Vec3::Zero(), {}});
  group.begin_patch();
  const elastic::HeldContact law{stiffness, elastic::hertz_damping(0.1, mass, stiffness)};
  const int contact = group.add_contact(row, law, 0, 0);
  for (int i = 0; i < 400; ++i) group.advance(1e-3, settings);
  EXPECT_NEAR(group.force(contact), mass * g, 1e-4 * mass * g);
  double sag = 0;
  for (std::size_t m = 0; m < kModes; ++m) {
    const double omega = modes.omegas[static_cast<Eigen::Index>(m)];
    const double expected = mass * g * down[m] / (omega * omega);
    EXPECT_NEAR(group.q(plate)[m], expected, 1e-4 * std::abs(expected)) << m;
    sag -= down[m] * group.q(plate)[m];
  }
  EXPECT_NEAR(-group.displacement(ball).z(), -sag + group.indentation(contact), 1e-9);
  EXPECT_EQ(group.report().active_modes, 0U);
}

// A contact that was pressed opens within the substep: no row pushes, and bodies move as if they were free.
TEST(ContactGroup, NewtonsMethodLeavesContactsThatOpen)
{
  constexpr int kModes = 60;
  const elastic::ModeList modes{VecX::LinSpaced(kModes, 500, 30e3), VecX::Zero(kModes)};
  const std::vector<double> shapes(kModes, -0.2);
  ContactGroup group;
  const int plate = group.add_body({.modes = &modes, .weight = 50});
  const int ball = group.add_body({.moves = true, .inverse_mass = 2, .velocity = Vec3(0, 0, 3), .weight = 5});
  const int row =
      group.add_row({plate, Vec3::Zero(), Vec3::Zero(), shapes}, {ball, Vec3::UnitZ(), Vec3::Zero(), {}});
  group.begin_patch();
  (void)group.add_contact(row, {.stiffness = 1e8, .damping = 1e4}, -1e-6, 7);
  FlexibleSettings settings;
  settings.sweeps_before_newton = 0;
  settings.adapt_modes = false;
  group.advance(1e-3, settings);
  EXPECT_GT(group.report().newton_solves, 0U);
  EXPECT_DOUBLE_EQ(group.velocity(ball).z(), 3);
  EXPECT_DOUBLE_EQ(group.displacement(ball).z(), 3e-3);
}

// Forces between bodies change no momentum, those of the ground change it by their impulses.
TEST(ContactGroup, MomentumIsKept)
{
  for (unsigned seed = 1; seed <= 100; ++seed) {
    RandomGroup one;
    build(one, seed, 0.4, 8);
    // Masses as build() draws them.
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(-1, 1);
    std::vector<double> masses;
    for (int i = 0; i < 3; ++i) {
      masses.push_back(std::pow(10, u(random)));
      (void)u(random);
      (void)u(random);
    }
    const auto momentum = [&] {
      Vec3 sum = Vec3::Zero();
      for (int i = 0; i < 3; ++i) sum += masses[static_cast<std::size_t>(i)] * one.group.velocity(i);
      return sum;
    };
    const Vec3 before = momentum();
    const double h = 2e-4;
    one.group.advance(h, {});
    Vec3 pushed = Vec3::Zero();
    for (int k = 0; k < 4; ++k) {  // contacts with the ground
      pushed += Vec3(one.group.slip_impulse(k)[0], one.group.slip_impulse(k)[1], one.group.impulse(k));
    }
    for (const double mass : masses) pushed.z() -= 9.81 * h * mass;
    EXPECT_NEAR((momentum() - before - pushed).norm(), 0, 1e-11) << seed;
  }
}

// A body above the ground that does not reach it: there is no force, by sweeps or by Newton's method.
TEST(ContactGroup, NothingPressesAtAnOpenContact)
{
  for (const ContactLaw law : {ContactLaw::hertz, ContactLaw::hard}) {
    ContactGroup group;
    const int body = group.add_body({.moves = true, .inverse_mass = 1, .velocity = Vec3(0, 0, -1)});
    const int row = group.add_row({}, {body, Vec3::UnitZ(), Vec3::Zero(), {}});
    group.begin_patch();
    const int contact = group.add_contact(row, {1e9, 0}, -1, 5);  // with the force of a step before
    FlexibleSettings settings;
    settings.contact = law;
    settings.sweeps_before_newton = 0;
    group.advance(1e-3, settings);
    EXPECT_EQ(group.force(contact), 0);
    EXPECT_EQ(group.velocity(body).z(), -1);
    EXPECT_EQ(group.report().unsolved, 0U);
  }
}

}  // namespace
}  // namespace thrum::flexible
