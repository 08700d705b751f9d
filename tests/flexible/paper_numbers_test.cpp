// SPDX-License-Identifier: MIT
// Numbers that closed forms and independent computations give for impacts, friction and time integration of
// modal bodies. docs/methods/flexible_stepper.md lists all of them with their tests.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tests/flexible/struck_plate.h"

namespace thrum::flexible {
namespace {

constexpr double kPi = std::numbers::pi;

// -----------------------------------------------------------------------------------------------------------
// A steel ball of 5 mm on a steel plate of 3 mm, 1 m/s ("plate B")

const Plate kPlate{.thickness = 0.003};
constexpr double kX = 0.41, kY = 0.37;  // where it is struck [m]

Strike steel_ball()
{
  const double radius = 0.005;
  const double plane = 2e11 / (1 - 0.09);
  return {.mass = 4.0 / 3 * kPi * std::pow(radius, 3) * 7850,
          .stiffness = elastic::hertz_stiffness(elastic::contact_modulus(plane, plane), radius)};
}

TEST(PlateB, BouncesWithTheRestitutionOfItsModesTo150Kilohertz)
{
  const StruckModes modes = kPlate.modes(kX, kY, 150e3);
  const StrikeResult result = strike(modes, steel_ball(), 3.1e-6, plain_settings(), 1e-3);
  EXPECT_NEAR(result.restitution, 0.487, 0.01);
  EXPECT_LT(result.energy_error, 1e-6);
}

TEST(PlateB, BouncesLikewiseWithModesToFiveKilohertzAndATail)
{
  FlexibleSettings settings;
  settings.adapt_modes = false;
  for (const double slice : {1e-3, 2e-4}) {
    const StrikeResult result = strike(kPlate.modes(kX, kY, 5e3), steel_ball(), slice, settings);
    EXPECT_NEAR(result.restitution, 0.477, 0.01) << slice;
    EXPECT_LT(result.energy_error, 1e-6) << slice;
  }
}

// Whatever the step: modes to 150 kHz turn by up to 15 periods in 100 us.
TEST(PlateB, KeepsItsEnergyInLongSubsteps)
{
  for (const double top : {5e3, 150e3}) {
    const StruckModes modes = kPlate.modes(kX, kY, top);
    for (const double h : {31e-6, 100e-6})
      EXPECT_LT(strike(modes, steel_ball(), h, plain_settings(), 2e-3).energy_error, 1e-6) << top << " " << h;
  }
}

// What an impulse at a point moves, m_s = 1 / sum phi^2, falls as 1 / (4 Y f) with the highest frequency f.
TEST(PlateB, TheMassThatAContactFeelsFallsWithTheModes)
{
  EXPECT_NEAR(kPlate.mobility() / 1.163e-3, 1, 0.005);
  struct Case {
    double top, mass;
  };
  for (const Case& c : {Case{5e3, 0.0430}, {20e3, 0.0107}}) {
    double sum = 0;
    int places = 0;
    for (double x = 0.15; x < 0.85; x += 0.023) {
      const StruckModes modes = kPlate.modes(x, 0.2 + 0.5 * std::fmod(7.3 * x, 1), c.top);
      ContactGroup group;
      const int plate = group.add_body({.modes = &modes.list});
      const int row = group.add_row({plate, Vec3::Zero(), Vec3::Zero(), modes.shapes}, {});
      sum += 1 / group.effective_mass(row);
      ++places;
    }
    EXPECT_NEAR(places / sum / c.mass, 1, 0.03) << c.top;
  }
}

// -----------------------------------------------------------------------------------------------------------
// A mass m on one mode of the moving mass m_s = 1 / phi^2: the two stick at once, and the mode throws the
// mass off after half a period of both together.

struct OneMode {
  double ratio;        ///< m_s / m
  double restitution;  ///< m / (m + m_s)
  double duration;     ///< pi sqrt((m + m_s) / (m_s w^2)), 100 Hz [s]
  double coarse;       ///< restitution in 20 substeps a period, condition on the gap
  double speeds_only;  ///< ... where impulses change speeds and move nothing
};
constexpr std::array<OneMode, 3> kOneMode = {
    {{0.25, 0.8, 11.180e-3, 0.799, 0.51}, {1, 0.5, 7.071e-3, 0.506, 0.42}, {4, 0.2, 5.590e-3, 0.205, 0.19}}};
constexpr double kFrequency = 100;
constexpr double kMass = 0.5;

StrikeResult strike_one_mode(const OneMode& c, double substeps)
{
  StruckModes body;
  body.list.omegas = VecX::Constant(1, 2 * kPi * kFrequency);
  body.list.decays = VecX::Zero(1);
  body.shapes = {1 / std::sqrt(c.ratio * kMass)};
  FlexibleSettings settings = plain_settings();
  settings.contact = ContactLaw::hard;
  settings.tolerance = 1e-12;
  return strike(body, {.mass = kMass, .speed = 1}, 1 / (substeps * kFrequency), settings, 0.05);
}

TEST(OneModeImpact, HasTheRestitutionDurationAndLossOfTheClosedForm)
{
  for (const OneMode& c : kOneMode) {
    const StrikeResult fine = strike_one_mode(c, 2000);
    EXPECT_NEAR(fine.restitution, c.restitution, 2e-3) << c.ratio;
    EXPECT_NEAR(fine.duration / c.duration, 1, 3e-3) << c.ratio;
    // Of the energy m / (m + m_s) is left when they stick, and stays.
    EXPECT_NEAR(1 - fine.energy_error, 1 / (1 + c.ratio), 3e-3) << c.ratio;
  }
}

// The same with impulses that change speeds alone: each substep is then a plastic impact of its own.
double restitution_by_speeds(const OneMode& c, double substeps)
{
  const double w = 2 * kPi * kFrequency;
  const double h = 1 / (substeps * kFrequency);
  const double shape = 1 / std::sqrt(c.ratio * kMass);
  double z = 0, v = -1, q = 0, u = 0;
  while (z - shape * q < 1e-3) {
    const double closing = shape * u - v;
    if (z - shape * q <= 0 && closing > 0) {
      const double impulse = closing / (1 / kMass + shape * shape);
      v += impulse / kMass;
      u -= shape * impulse;
    }
    z += h * v;
    const double q1 = std::cos(w * h) * q + std::sin(w * h) * u / w;
    u = std::cos(w * h) * u - w * std::sin(w * h) * q;
    q = q1;
  }
  return v;
}

TEST(OneModeImpact, ImpulsesMoveTheBodiesWithinTheSubstep)
{
  for (const OneMode& c : kOneMode) {
    EXPECT_NEAR(restitution_by_speeds(c, 20), c.speeds_only, 0.006) << c.ratio;
    EXPECT_NEAR(strike_one_mode(c, 20).restitution, c.coarse, 0.01) << c.ratio;
  }
}

// -----------------------------------------------------------------------------------------------------------
// Rods of one section, 1 : `ratio` long, that meet end to end [St. Venant], with `modes` of the shorter and
// those of the longer up to the same frequency

struct Rods {
  double restitution = 0;
  double duration = 0;  ///< in 2 L / c of the shorter
  double max_energy = 0;
};

Rods meet(int modes, int ratio)
{
  const double c = 5000;  // [m/s], length and mass of the shorter 1
  const auto rod = [&](int length) {
    StruckModes result;
    result.list.omegas.resize(modes * length);
    result.list.decays.setZero(modes * length);
    for (int n = 1; n <= modes * length; ++n) {
      result.list.omegas[n - 1] = n * kPi * c / length;
      result.shapes.push_back(std::sqrt(2.0 / length));
    }
    return result;
  };
  const StruckModes a = rod(ratio);
  const StruckModes b = rod(1);
  std::vector<double> minus;
  for (const double shape : a.shapes) minus.push_back(-shape);
  ContactGroup group;
  const int body_a = group.add_body({.moves = true, .inverse_mass = 1.0 / ratio, .modes = &a.list});
  const int body_b =
      group.add_body({.moves = true, .inverse_mass = 1, .velocity = Vec3(-1, 0, 0), .modes = &b.list});
  const int row = group.add_row({body_a, -Vec3::UnitX(), Vec3::Zero(), minus},
                                {body_b, Vec3::UnitX(), Vec3::Zero(), b.shapes});
  group.begin_patch();
  const int contact = group.add_contact(row, {1, 0}, 0, 0);
  FlexibleSettings settings = plain_settings();
  settings.contact = ContactLaw::hard;
  settings.tolerance = 1e-12;
  const double h = 1 / (6.5 * modes * c / 2);
  Rods result;
  double last = 0;
  for (double t = 0; t < 3.0 * ratio / c; t += h) {
    group.advance(h, settings);
    if (group.force(contact) > 0) last = t + h;
    result.max_energy = std::max(result.max_energy, 2 * (group.kinetic_energy() + group.modal_energy()));
  }
  result.duration = last * c / 2;
  result.restitution = group.velocity(body_b).x() - group.velocity(body_a).x();
  return result;
}

// Predicted by a program of its own with N modes of equal rods, and of 1:2 with 4 N of the longer.
TEST(StVenantRods, ConvergeAsPredictedForEveryNumberOfModes)
{
  struct Case {
    int modes;
    double equal, double_length;
  };
  for (const Case& c : {Case{4, 0.886, 0.491},
                        {8, 0.940, 0.495},
                        {16, 0.969, 0.497},
                        {32, 0.984, 0.499},
                        {64, 0.992, 0.499}}) {
    const Rods equal = meet(c.modes, 1);
    EXPECT_NEAR(equal.restitution, c.equal, 0.001) << c.modes;
    EXPECT_LE(equal.max_energy, 1 + 1e-9) << c.modes;
    const Rods longer = meet(2 * c.modes, 2);
    EXPECT_NEAR(longer.restitution, c.double_length, 0.003) << c.modes;
    EXPECT_LE(longer.max_energy, 1 + 1e-9) << c.modes;
  }
  EXPECT_NEAR(meet(64, 1).duration, 1, 0.02);  // a wave goes to the free end and back
}

// -----------------------------------------------------------------------------------------------------------
// Time integration of a mode in 6.5 steps a period

TEST(ModeIntegration, IsExactWhereNewmarksRulesAreOutOfTune)
{
  const double x = 2 * kPi / 6.5;
  // Phase of one step of q'' = -q / h^2 by each rule, over x.
  const double average = 2 * std::atan(x / 2) / x;
  const double central = 2 * std::asin(x / 2) / x;
  EXPECT_NEAR(average, 0.9315, 1e-4);
  EXPECT_NEAR(central, 1.0437, 1e-4);
  const double omega = 31e3;
  const elastic::ModeList modes{VecX::Constant(1, omega), VecX::Zero(1)};
  for (const double phase : {0.0, 1.0, 4.0}) {
    const std::array<double, 1> q{std::cos(phase)};
    const std::array<double, 1> u{-omega * std::sin(phase)};
    ContactGroup group;
    const int body = group.add_body({.modes = &modes, .q = q, .u = u});
    group.advance(x / omega, plain_settings());
    // Turned back by the phase at the beginning.
    const double c = group.q(body)[0], s = -group.u(body)[0] / omega;
    const double angle = std::atan2(s * q[0] + c * u[0] / omega, c * q[0] - s * u[0] / omega);
    EXPECT_NEAR(angle / x, 1, 1e-14) << phase;
    EXPECT_NEAR(std::hypot(c, s), 1, 1e-14) << phase;
  }
}

// -----------------------------------------------------------------------------------------------------------
// Friction

// One contact with A_nn = A_tt = 1 and A_nt = 0.5, of a body that comes in at 1 m/s and slides with `slide`.
struct SlidingContact {
  ContactGroup group;
  int body = 0;
  static constexpr double kCoupling = 0.5;

  SlidingContact(double slide, double mu)
  {
    const double s = std::sqrt(1 - kCoupling * kCoupling);
    body =
        group.add_body({.moves = true, .inverse_mass = 1, .velocity = Vec3((slide + kCoupling) / s, 0, -1)});
    const int normal = group.add_row({}, {body, Vec3::UnitZ(), Vec3::Zero(), {}});
    const int across = group.add_row({}, {body, Vec3(s, 0, kCoupling), Vec3::Zero(), {}});
    group.begin_patch();
    (void)group.add_contact(normal, {1, 0}, 0, 0);
    (void)group.add_slip({.rows = {across, across}, .count = 1, .stiffness = 1, .limit = mu});
  }
  [[nodiscard]] double slide() const
  {
    const Vec3 v = group.velocity(body);
    return std::sqrt(1 - kCoupling * kCoupling) * v.x() + kCoupling * v.z();
  }
  /// How far impulses and speeds are from those of contact and friction, by the natural map.
  [[nodiscard]] double residual(double mu) const
  {
    const double normal = group.impulse(0);
    const double friction = group.slip_impulse(0)[0];
    const double along_normal = normal - std::max(0.0, normal - group.velocity(body).z());
    const double across = friction - std::clamp(friction - slide(), -mu * normal, mu * normal);
    return std::max(std::abs(along_normal), std::abs(across));
  }
};

// Where the body slides on, a = 1 + sign 0.5 mu a: friction lifts the body (slide < 0) or presses it down.
TEST(StaggeredFriction, ErrorsFallByHalfTheFrictionARound)
{
  for (const double slide : {-40.0, 40.0}) {
    const double sign = slide < 0 ? -1 : 1;
    for (const double mu : {0.2, 0.5, 1.0, 1.5}) {
      const double expected = 1 / (1 - sign * 0.5 * mu);
      // The plain iteration: normal impulse with the friction of the round before, then friction.
      double a = 1;
      double error = std::abs(a - expected);
      for (int round = 0; round < 8; ++round) {
        a = 1 + sign * SlidingContact::kCoupling * mu * a;
        EXPECT_NEAR(std::abs(a - expected) / error, 0.5 * mu, 1e-6) << slide << " " << mu;
        error = std::abs(a - expected);
      }
      for (const FrictionSolver solver : {FrictionSolver::staggered, FrictionSolver::coupled}) {
        FlexibleSettings settings = plain_settings();
        settings.contact = ContactLaw::hard;
        settings.friction = solver;
        SlidingContact one(slide, mu);
        one.group.advance(1e-3, settings);
        EXPECT_EQ(one.group.report().unsolved, 0U) << slide << " " << mu;
        EXPECT_NEAR(one.group.impulse(0), expected, 1e-7 * expected) << slide << " " << mu;
        EXPECT_NEAR(one.group.slip_impulse(0)[0], -sign * mu * expected, 1e-7 * expected)
            << slide << " " << mu;
      }
    }
  }
}

// Above mu = 2 rounds grow by 0.5 mu. Both ways find a solution there or say that they have not.
TEST(StaggeredFriction, WhatDoesNotConvergeIsReported)
{
  const double mu = 2.5;
  int solved = 0;
  for (const double slide : {-40.0, -1.0, -0.2, 0.2, 1.0, 40.0}) {
    for (const FrictionSolver solver : {FrictionSolver::staggered, FrictionSolver::coupled}) {
      for (const int iterations : {1, 3, 200}) {
        FlexibleSettings settings = plain_settings();
        settings.contact = ContactLaw::hard;
        settings.friction = solver;
        settings.iterations = iterations;
        SlidingContact one(slide, mu);
        one.group.advance(1e-3, settings);
        const double left = one.residual(mu) / std::max(1.0, one.group.impulse(0));
        if (one.group.report().unsolved == 0) {
          ++solved;
          EXPECT_LT(left, 1e-6) << slide << " " << iterations;
        } else {
          EXPECT_GT(one.group.report().max_residual, settings.tolerance) << slide << " " << iterations;
        }
      }
    }
  }
  EXPECT_GE(solved, 12);  // those with all iterations at least
}

// A block of four modes that slides at 0.5 m/s with mu = 0.3 stops after v^2 / 2 mu g = 0.04247 m, in steps
// that follow its modes and in such that do not; all that it has only gets less.
TEST(SlidingBlock, WithModesStopsWhereCoulombSaysAndNeverGains)
{
  const double g = 9.81;
  const double mass = 0.8;
  elastic::ModeList modes;
  modes.omegas = 2 * kPi * (VecX(4) << 700, 1900, 6000, 15000).finished();
  modes.decays = VecX::Constant(4, 30);
  const std::array<double, 4> along_normal{0.9, -0.7, 0.5, 0.8};
  const std::array<double, 4> along_slide{-0.3, 0.6, 0.4, -0.2};
  const elastic::HeldContact law{1e9, elastic::hertz_damping(0.3, mass, 1e9)};
  for (const double h : {1e-5, 31e-6, 1e-4, 1e-3}) {
    ContactGroup group;
    const int block = group.add_body({.moves = true,
                                      .inverse_mass = 1 / mass,
                                      .velocity = Vec3(0.5, 0, 0),
                                      .acceleration = Vec3(0, 0, -g),
                                      .modes = &modes,
                                      .weight = mass * g});
    const auto row = [&](const Vec3& n, std::span<const double> shapes) {
      return group.add_row({}, {block, n, Vec3::Zero(), shapes});
    };
    group.begin_patch();
    (void)group.add_contact(row(Vec3::UnitZ(), along_normal), law, law.indentation(mass * g), mass * g);
    (void)group.add_slip({.rows = {row(Vec3::UnitX(), along_slide), row(Vec3::UnitY(), {})},
                          .stiffness = 0.82 * law.tangent_stiffness(law.indentation(mass * g)),
                          .damping = 100,
                          .limit = 0.3});
    const auto energy = [&] {
      return group.kinetic_energy() + group.modal_energy() + group.report().contact_energy -
             group.external_work();
    };
    group.advance(h, plain_settings());
    double last = energy();
    const double start = last;
    for (double t = 0; t < 0.25; t += h) {
      group.advance(h, plain_settings());
      ASSERT_LE(energy(), last + 1e-8 * start) << h << " " << t;
      last = energy();
    }
    EXPECT_NEAR(group.displacement(block).x(), 0.04247, 2e-5) << h;
    EXPECT_LT(group.velocity(block).norm(), 1e-4) << h;
    EXPECT_EQ(group.report().unsolved, 0U) << h;
  }
}

}  // namespace
}  // namespace thrum::flexible
