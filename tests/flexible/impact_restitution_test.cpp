// SPDX-License-Identifier: MIT
// Impacts on flexible bodies against closed forms and published values.
#include <gtest/gtest.h>

#include "tests/flexible/struck_plate.h"
#include "thrum/elastic/held_contact.h"

namespace thrum::flexible {
namespace {

// A body that yields to a force with a speed Y F at any frequency: modes in even spacing with phi^2 = 4 Y df.
StruckModes resistive_body(double mobility, double spacing, double top)
{
  StruckModes modes;
  std::vector<double> omegas;
  for (double f = 0.5 * spacing; f < top; f += spacing) omegas.push_back(2 * std::numbers::pi * f);
  modes.list.omegas = Eigen::Map<const VecX>(omegas.data(), static_cast<Eigen::Index>(omegas.size()));
  modes.list.decays.setZero(modes.list.omegas.size());
  modes.shapes.assign(omegas.size(), std::sqrt(4 * mobility * spacing));
  return modes;
}

// [Zener 1941]: a ball on an infinite plate, by the inelasticity lambda = m Y / T, T = (m^2 / (k^2 v))^(1/5).
TEST(ImpactRestitution, IsThatOfZener)
{
  const std::vector<std::pair<double, double>> published{{0.05, 0.9178}, {0.1, 0.8433}, {0.2, 0.7140},
                                                         {0.3, 0.6059},  {0.5, 0.4369}, {0.7, 0.3130},
                                                         {1, 0.1841},    {1.5, 0.0664}, {2, 0.0207}};
  Strike ball{.mass = 0.01, .stiffness = 1e10};
  for (const double speed : {0.05, 3.0}) {
    ball.speed = speed;
    const double T = std::pow(ball.mass * ball.mass / (ball.stiffness * ball.stiffness * speed), 0.2);
    for (const auto& [lambda, e] : published) {
      const StruckModes body = resistive_body(lambda * T / ball.mass, 1 / (30 * T), 20 / T);
      const StrikeResult result = strike(body, ball, 0.02 * T, plain_settings(), 20 * T);
      EXPECT_NEAR(result.restitution, e, 0.01) << lambda;
      EXPECT_LT(result.energy_error, 1e-9);
    }
  }
}

TEST(ImpactRestitution, DurationAndPeakForceAreThoseOfZener)
{
  Strike ball{.mass = 0.01, .stiffness = 1e10};
  const double T = std::pow(ball.mass * ball.mass / (ball.stiffness * ball.stiffness), 0.2);
  struct Published {
    double lambda, duration, force;
  };
  for (const Published& p :
       {Published{0, 3.218, 1.1433}, {0.1, 3.279, 1.0355}, {0.5, 3.625, 0.7502}, {1, 4.388, 0.5562}}) {
    const StruckModes body = resistive_body(p.lambda * T / ball.mass, 1 / (30 * T), 20 / T);
    const StrikeResult result = strike(body, ball, 0.005 * T, plain_settings(), 20 * T);
    EXPECT_NEAR(result.duration / T, p.duration, 0.04 * p.duration) << p.lambda;
    EXPECT_NEAR(result.peak_force * T / ball.mass, p.force, 0.02 * p.force) << p.lambda;
  }
}

struct SteelCase {
  const char* name;
  double radius, thickness, expected;
};
// Steel balls on a steel plate of 1 x 0.9 m at 1 m/s, by exact modes to 150 kHz.
const std::vector<SteelCase> kSteel{{"A", 0.005, 0.006, 0.830},
                                    {"B", 0.005, 0.003, 0.480},
                                    {"C", 0.010, 0.0045, 0.271},
                                    {"D", 0.020, 0.006, 0.037}};

Strike steel_ball(double radius)
{
  const double plane = 2e11 / (1 - 0.09);
  return {.mass = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3) * 7850,
          .stiffness = elastic::hertz_stiffness(elastic::contact_modulus(plane, plane), radius),
          .speed = 1,
          .gap = 0};
}

TEST(ImpactRestitution, OfSteelBallsOnASteelPlate)
{
  for (const SteelCase& c : kSteel) {
    const StruckModes modes = Plate{.thickness = c.thickness}.modes(0.41, 0.37, 150e3);
    EXPECT_NEAR(strike(modes, steel_ball(c.radius), 1e-6, plain_settings(), 1e-3).restitution, c.expected,
                0.01)
        << c.name;
  }
}

// With modes to 5 kHz, those above the highest carry off the rest.
TEST(ImpactRestitution, TailModesStandForThoseThatAreLeftOut)
{
  for (const double top : {2e3, 5e3, 10e3}) {
    for (const SteelCase& c : kSteel) {
      const StruckModes modes = Plate{.thickness = c.thickness}.modes(0.41, 0.37, top);
      FlexibleSettings settings;
      settings.max_frequency = top;
      const StrikeResult with = strike(modes, steel_ball(c.radius), 1e-3, settings);
      EXPECT_NEAR(with.restitution, c.expected, 0.03) << c.name << " " << top;
      EXPECT_EQ(with.unsolved, 0U);
    }
  }
  // And that they are needed.
  const StruckModes modes = Plate{.thickness = 0.003}.modes(0.41, 0.37, 5e3);
  FlexibleSettings without;
  without.tail_modes = false;
  EXPECT_GT(strike(modes, steel_ball(0.005), 1e-3, without).restitution, 0.75);
}

// Whatever the length of the step, and wherever in it the impact begins.
TEST(ImpactRestitution, KeepsTheEnergyAtAnyStepAndPhase)
{
  const StruckModes modes = Plate{.thickness = 0.003}.modes(0.41, 0.37, 20e3);
  for (const double h : {3.1e-6, 31e-6, 100e-6, 1e-3}) {
    for (const double phase : {0.0, 0.21, 0.68}) {
      Strike ball = steel_ball(0.005);
      ball.gap = phase * h * ball.speed;
      EXPECT_LT(strike(modes, ball, h, plain_settings()).energy_error, 1e-9) << h << " " << phase;
    }
  }
}

TEST(ImpactRestitution, DoesNotDependOnTheSliceOrThePhase)
{
  const StruckModes modes = Plate{.thickness = 0.006}.modes(0.41, 0.37, 5e3);
  for (const double slice : {2e-3, 1e-3, 0.2e-3}) {
    for (const double gap : {0.0, 1e-4, 3.3e-4, 7e-4}) {
      Strike ball = steel_ball(0.005);
      ball.gap = gap;
      EXPECT_NEAR(strike(modes, ball, slice, {}).restitution, 0.83, 0.03) << slice << " " << gap;
    }
  }
}

// A mass on one mode whose moving mass is m_s = 1 / phi^2 and a contact that is stiff beside it: the two
// stick while the mode pushes back, [Zheng11] with non-penetration: e = m / (m + m_s).
TEST(ImpactRestitution, ModalMassOfAPlateFallsWithItsModes)
{
  const Plate plate{.thickness = 0.003};
  for (const double top : {5e3, 20e3}) {
    double sum = 0;
    int places = 0;
    for (double x = 0.2; x < 0.8; x += 0.037) {
      for (const double shape : plate.modes(x, 0.37 + 0.1 * x, top).shapes) sum += shape * shape;
      ++places;
    }
    EXPECT_NEAR(places / sum * 4 * plate.mobility() * top, 1, 0.06) << top;
  }
}

}  // namespace
}  // namespace thrum::flexible
