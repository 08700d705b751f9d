// SPDX-License-Identifier: MIT
// Contact without indentation against closed forms, and the two ways to solve for friction.
#include <gtest/gtest.h>

#include "tests/flexible/random_group.h"
#include "tests/flexible/struck_plate.h"

namespace thrum::flexible {
namespace {

FlexibleSettings hard_settings()
{
  FlexibleSettings settings = plain_settings();
  settings.contact = ContactLaw::hard;
  settings.iterations = 5000;
  settings.tolerance = 1e-12;
  return settings;
}

// A mass m meets a mode of the moving mass m_s = 1 / phi^2: plastic at first, then the mode pushes it off
// with e = m / (m + m_s).
TEST(HardContact, OneModeGivesTheRestitutionOfItsMass)
{
  struct Case {
    double ratio, e;
  };
  for (const Case& c : {Case{0.25, 0.8}, {1, 0.5}, {4, 0.2}}) {
    for (const double phase : {0.0, 0.3, 0.8}) {
      const double f = 100;
      StruckModes body;
      body.list.omegas = VecX::Constant(1, 2 * std::numbers::pi * f);
      body.list.decays = VecX::Zero(1);
      const double mass = 0.5;
      body.shapes = {1 / std::sqrt(c.ratio * mass)};
      const double h = 1 / (200 * f);
      const StrikeResult result =
          strike(body, {.mass = mass, .speed = 1, .gap = phase * h}, h, hard_settings(), 0.05);
      EXPECT_NEAR(result.restitution, c.e, 0.02) << c.ratio << " " << phase;
    }
  }
}

struct Rods {
  double restitution = 0;
  double max_energy = 0;
};

// Two rods of one section, lengths 1 and `ratio`, that meet end to end: free, with N longitudinal modes of
// the shorter one [St. Venant].
Rods meet(int modes, int ratio)
{
  const double mass = 1;
  const double c = 5000;
  const auto rod = [&](int length) {
    StruckModes result;
    result.list.omegas.resize(modes * length);
    result.list.decays.setZero(modes * length);
    for (int n = 1; n <= modes * length; ++n) {
      result.list.omegas[n - 1] = n * std::numbers::pi * c / length;
      result.shapes.push_back(std::sqrt(2 / (mass * length)));
    }
    return result;
  };
  const StruckModes a = rod(ratio);
  const StruckModes b = rod(1);
  std::vector<double> minus;
  for (const double shape : a.shapes) minus.push_back(-shape);
  const double h = 1 / (6.5 * modes * c / 2);
  ContactGroup group;
  const int body_a = group.add_body({.moves = true, .inverse_mass = 1 / (mass * ratio), .modes = &a.list});
  const int body_b =
      group.add_body({.moves = true, .inverse_mass = 1 / mass, .velocity = Vec3(-1, 0, 0), .modes = &b.list});
  const int row = group.add_row({body_a, -Vec3::UnitX(), Vec3::Zero(), minus},
                                {body_b, Vec3::UnitX(), Vec3::Zero(), b.shapes});
  group.begin_patch();
  (void)group.add_contact(row, {1, 0}, 0, 0);
  FlexibleSettings settings = hard_settings();
  Rods result;
  for (double t = 0; t < 4.0 * ratio / c; t += h) {
    group.advance(h, settings);
    result.max_energy =
        std::max(result.max_energy, (group.kinetic_energy() + group.modal_energy()) / (0.5 * mass));
  }
  result.restitution = group.velocity(body_b).x() - group.velocity(body_a).x();
  return result;
}

TEST(HardContact, RodsApproachStVenantAsModesAreAdded)
{
  double last = 1;
  for (const int modes : {8, 16, 32, 64}) {
    const Rods equal = meet(modes, 1);
    EXPECT_LT(1 - equal.restitution, 0.65 * last) << modes;  // halved with each doubling
    EXPECT_LT(equal.max_energy, 1.01);
    last = 1 - equal.restitution;
  }
  EXPECT_NEAR(meet(64, 1).restitution, 1, 0.02);
  EXPECT_NEAR(meet(64, 2).restitution, 0.5, 0.02);
}

// A ball on a plate: without compliance of the contact it hardly bounces, whatever the modes. That is why
// Hertz' contact is the default.
TEST(HardContact, ABallOnAPlateDoesNotBounce)
{
  const StruckModes modes = Plate{.thickness = 0.006}.modes(0.41, 0.37, 20e3);
  const double mass = 4.0 / 3 * std::numbers::pi * std::pow(0.005, 3) * 7850;
  for (const double h : {1 / (6.5 * 20e3), 2e-6}) {
    const StrikeResult result = strike(modes, {.mass = mass, .speed = 1}, h, hard_settings(), 1e-3);
    EXPECT_LT(result.restitution, 0.15) << h;
  }
}

// Where both ways converge they find the same impulses, as far as a polygon of many corners is round.
TEST(HardContact, StaggeredAndCoupledFrictionAgree)
{
  int compared = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomGroup one, two;
    build(one, seed, 0.3, 12);
    build(two, seed, 0.3, 12);
    FlexibleSettings coupled = hard_settings();
    coupled.tolerance = 1e-9;
    FlexibleSettings staggered = coupled;
    staggered.friction = FrictionSolver::staggered;
    staggered.friction_directions = 256;
    one.group.advance(1e-4, coupled);
    two.group.advance(1e-4, staggered);
    EXPECT_EQ(one.group.report().unsolved, 0U) << seed;
    if (two.group.report().unsolved > 0) continue;
    ++compared;
    for (int body = 0; body < 3; ++body)
      EXPECT_NEAR((one.group.velocity(body) - two.group.velocity(body)).norm(), 0, 2e-3) << seed;
  }
  EXPECT_GE(compared, 15);
}

// Nothing pushes sideways: the paper's iteration leaves friction out, and the motion is the same. On a slope
// it is solved throughout. Eq. (10) and (11) of [Zheng11].
TEST(HardContact, FrictionIsCulledWhereNothingSlips)
{
  for (const double slope : {0.0, 0.1}) {
    std::array<Vec3, 2> moved;
    for (const bool staggers : {false, true}) {
      ContactGroup group;
      const int box = group.add_body({.moves = true,
                                      .inverse_mass = 1,
                                      .inverse_inertia = Vec3(600, 600, 600),
                                      .acceleration = Vec3(9.81 * slope, 0, -9.81)});
      for (int i = 0; i < 4; ++i) {
        const Vec3 arm(i % 2 == 0 ? 0.05 : -0.05, i < 2 ? 0.05 : -0.05, -0.05);
        const auto row = [&](const Vec3& n) {
          return group.add_row({}, {box, n, arm.cross(n), {}});
        };
        group.begin_patch();
        (void)group.add_contact(row(Vec3::UnitZ()), {}, 0, 9.81 / 4);
        (void)group.add_slip(
            {.rows = {row(Vec3::UnitX()), row(Vec3::UnitY())}, .stiffness = 1e6, .limit = 0.5});
      }
      FlexibleSettings settings;
      settings.contact = ContactLaw::hard;
      settings.friction = staggers ? FrictionSolver::staggered : FrictionSolver::coupled;
      group.advance(0.02, settings);
      EXPECT_EQ(group.report().culled > 0, staggers && slope == 0) << slope;
      moved[staggers] = group.displacement(box);
    }
    EXPECT_NEAR((moved[0] - moved[1]).norm(), 0, 1e-12) << slope;
  }
}

// A polygon of d corners loses at most 1 - cos(pi / d) of the cone.
TEST(HardContact, FrictionStaysInItsPolygonAndCone)
{
  for (const int corners : {4, 8, 16}) {
    for (unsigned seed = 1; seed <= 10; ++seed) {
      RandomGroup random;
      build(random, seed, 0.5, 6);
      FlexibleSettings settings = hard_settings();
      settings.tolerance = 1e-9;
      settings.friction = FrictionSolver::staggered;
      settings.friction_directions = corners;
      random.group.advance(1e-4, settings);
      for (int k = 0; k < 8; ++k) {
        const std::array<double, 2> across = random.group.slip_impulse(k);
        const double limit = 0.5 * random.group.impulse(k);
        EXPECT_LE(std::hypot(across[0], across[1]), limit * (1 + 1e-6) + 1e-9) << corners << " " << seed;
        EXPECT_GE(random.group.impulse(k), 0);
      }
    }
  }
}

// One contact with A_nn = 1, A_nt = a, A_tt = 1 that slides: a round of the staggered iteration changes the
// error by a mu. Above 1 it does not converge, and both ways must say so or be right.
TEST(HardContact, ReportsWhatItDidNotSolve)
{
  for (const double mu : {0.5, 2.5}) {
    ContactGroup group;
    // The rows of a body whose first two coordinates are along (1, 0) and (a, sqrt(1 - a^2)).
    const double a = 0.5;
    const int body = group.add_body({.moves = true, .inverse_mass = 1, .velocity = Vec3(0.3, 0, -1)});
    const int normal = group.add_row({}, {body, Vec3::UnitZ(), Vec3::Zero(), {}});
    const int across = group.add_row({}, {body, Vec3(std::sqrt(1 - a * a), 0, a), Vec3::Zero(), {}});
    group.begin_patch();
    (void)group.add_contact(normal, {1, 0}, 0, 0);
    (void)group.add_slip({.rows = {across, across}, .count = 1, .stiffness = 1, .limit = mu});
    FlexibleSettings settings = hard_settings();
    settings.friction = FrictionSolver::staggered;
    group.advance(1e-3, settings);
    const Vec3 v = group.velocity(body);
    const double along = std::sqrt(1 - a * a) * v.x() + a * v.z();
    const double friction = group.slip_impulse(0)[0];
    const bool is_right = v.z() > -1e-9 && (std::abs(along) < 1e-6 ||
                                            std::abs(std::abs(friction) - mu * group.impulse(0)) < 1e-6);
    EXPECT_TRUE(is_right || group.report().unsolved > 0) << mu;
    if (mu < 2) {
      EXPECT_EQ(group.report().unsolved, 0U);
    }
  }
}

}  // namespace
}  // namespace thrum::flexible
