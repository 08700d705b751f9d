// SPDX-License-Identifier: MIT
#include "thrum/vibration/modal_response.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "benchmarks/response/direct_response.h"
#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {
namespace {

const Vec3 kHere(0.5, 0.4, 0);
const Vec3 kThere(1.1, 0.5, 0);

std::shared_ptr<const model::ModalModel> one_mode(double alpha = 0)
{
  return plate_model({.modes = 1, .cells = 64, .alpha = alpha, .beta = 0});
}

double row(const model::ModalModel& model, const Vec3& at, Eigen::Index mode = 0)
{
  SurfaceMap map(std::make_shared<model::ModalModel>(model));
  return map.find(at).shapes(2, mode);
}

ResponseSettings with(KickRule rule)
{
  ResponseSettings settings;
  settings.rule = rule;
  settings.limit_energy = false;
  return settings;
}

ResponseResult respond(std::shared_ptr<const model::ModalModel> model, const ResponseSettings& settings,
                       const ContactScene& scene)
{
  ModalResponse response(std::move(model), settings);
  ModeState state = response.at_rest();
  return response.respond(scene.input(), state);
}

TEST(ModalResponse, OneModeMovesByItsClosedForm)  // [Coevoet20, eq. 9-12]
{
  const auto model = one_mode();
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.rest(kThere, 0.1);
  scene.step = 0.05;  // longer than a quarter of the period
  const double j = scene.contacts[0].impulse;
  const double d_max = row(*model, kHere) * row(*model, kThere) * j / model->omega(0);
  const ResponseResult r = respond(model, with(KickRule::peak_displacement), scene);
  ASSERT_EQ(r.kicks.size(), 1U);
  EXPECT_EQ(r.kicks[0].contact, 1U);
  EXPECT_NEAR(r.kicks[0].speed, d_max / 0.05, 1e-5 * d_max / 0.05);
}

TEST(ModalResponse, OneModePeaksAtItsVelocityWhateverTheStep)
{
  const auto model = one_mode();
  ResponseSettings settings = with(KickRule::peak_velocity);
  settings.window = 0.05;
  settings.contact_radius = 100;  // a short pulse
  for (const double h : {1.0 / 30, 0.01, 0.001}) {
    ContactScene scene;
    scene.strike(kHere, 1.0, 2.0);
    scene.rest(kThere, 0.1);
    scene.step = h;
    const ResponseResult r = respond(model, settings, scene);
    const double v = row(*model, kHere) * row(*model, kThere) * scene.contacts[0].impulse;
    ASSERT_EQ(r.kicks.size(), 1U);
    EXPECT_NEAR(r.kicks[0].speed, v, 0.02 * v) << h;
  }
}

// Against the formulas written out without anything kept: contacts that share triangles and corners, with
// the same normal and with others, steps of other lengths, one object for all of them.
TEST(ModalResponse, PaperPresetIsThePaperForManyContactsInManySteps)
{
  const auto model = plate_model();
  ModalResponse response(model, coevoet2020());
  bench::DirectModalResponse direct(*model);
  ModeState state = response.at_rest();
  base::Random random(6);
  const double grid = SurfaceMap::kGrid * response.map().size();  // places are rounded to it
  const auto place = [&] {
    const Vec3 at(random.uniform(0.1, 1.5), random.uniform(0.1, 0.7), 0);
    return Vec3(grid * (at / grid).array().round());
  };
  for (int step = 0; step < 50; ++step) {
    ContactScene scene;
    scene.step = random.uniform(0.001, 0.03);
    scene.strike(place(), 1.0, 2.0);
    for (int body = 0; body < 6; ++body) {
      const Vec3 at = place();
      for (int k = 0; k < 2; ++k) {
        const std::size_t i = scene.rest(at + k * 2 * grid * Vec3::UnitX(), 0.1);
        if (random.uniform() < 0.3)
          scene.contacts[i].normal = Vec3(random.uniform(-0.3, 0.3), 0, 1).normalized();
      }
    }
    std::vector<double> speeds(scene.contacts.size(), 0);
    for (const Kick& kick : response.respond(scene.input(), state).kicks) speeds[kick.contact] = kick.speed;
    const std::vector<double>& expected = direct.respond(scene.input());
    const double max_speed = *std::max_element(expected.begin(), expected.end());
    for (std::size_t i = 1; i < speeds.size(); ++i) {
      if (expected[i] < 2e-3) continue;
      EXPECT_NEAR(speeds[i], expected[i], 1e-5 * max_speed) << "step " << step;
    }
  }
}

TEST(ModalResponse, PaperPresetIsTheSampledFilterOfThePaper)  // [Coevoet20, eq. 10-13], sample by sample
{
  const auto model = plate_model();
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.rest(kThere, 0.1);
  const ResponseResult r = respond(model, coevoet2020(), scene);
  const elastic::ModeList modes = elastic::mode_list(*model);
  const double T = std::numbers::pi / (2 * modes.omegas.maxCoeff());
  SurfaceMap map(model);
  const VecX blow = -scene.contacts[0].impulse * map.find(kHere).shapes.row(2).transpose();
  const mesh::SurfacePoint at = map.find(kThere).point;
  double expected = 0;
  for (int c = 0; c < 3; ++c) {
    const Index corner =
        model->surface.triangles[static_cast<std::size_t>(at.triangle)][static_cast<std::size_t>(c)];
    VecX q1 = VecX::Zero(20);
    VecX q2 = VecX::Zero(20);
    double peak = 0;
    for (int k = 1; k <= static_cast<int>(0.01 / T); ++k) {
      VecX q(20);
      for (Eigen::Index m = 0; m < 20; ++m) {
        const double xi = modes.decays[m] / modes.omegas[m];
        const double wd = modes.omegas[m] * std::sqrt(1 - xi * xi);
        const double e = std::exp(-modes.decays[m] * T);
        const double g = std::asin(xi);
        const double a_r =
            2 * (e * std::cos(wd * T + g) - e * e * std::cos(2 * wd * T + g)) / (3 * modes.omegas[m] * wd);
        q[m] = 2 * e * std::cos(wd * T) * q1[m] - e * e * q2[m] + (k == 1 ? a_r * blow[m] / T : 0);
      }
      peak = std::max(peak, std::abs(model->shapes.row(3 * corner + 2).dot(q)));
      q2 = q1;
      q1 = q;
    }
    expected += at.barycentric[c] * peak;
  }
  ASSERT_EQ(r.kicks.size(), 1U);
  EXPECT_NEAR(r.kicks[0].speed, expected / 0.01, 1e-4 * expected / 0.01);
}

// Places that are vertices of the mesh and of the grid to which contacts are rounded, so that eq. 13 weighs
// one corner alone: 1.2 m / 32 cells and 0.9 m / 24 cells are 125 times 2e-4 of the diagonal.
const PlateSize kOnTheGrid{.a = 1.2, .b = 0.9, .cells = 32};
const Vec3 kVertexA(10 * 0.0375, 9 * 0.0375, 0);
const Vec3 kVertexB(25 * 0.0375, 14 * 0.0375, 0);

TEST(ModalResponse, StruckAtAAndFeltAtBEqualsTheReverse)
{
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity}) {
    const auto speed = [&](const Vec3& struck, const Vec3& felt) {
      ContactScene scene;
      scene.strike(struck, 1.0, 1.0);
      scene.rest(felt, 0.3);
      const ResponseResult r = respond(plate_model(kOnTheGrid), with(rule), scene);
      return r.kicks.empty() ? 0.0 : r.kicks[0].speed;
    };
    const double ab = speed(kVertexA, kVertexB);
    EXPECT_GT(ab, 0.01);
    EXPECT_NEAR(speed(kVertexB, kVertexA), ab, 1e-12 * ab) << static_cast<int>(rule);
  }
}

// Between the trades exchange is linear, so that with the effective masses of both ends taken out of the
// impulse,
//
//     p (1/m_b + 1/m_s at the felt place) (1/m + 1/m_s at the struck place)
//
// is the same both ways.
TEST(ModalResponse, ExchangeIsReciprocalButForTheEffectiveMasses)
{
  constexpr double kStriker = 1.0;
  constexpr double kResting = 0.3;
  constexpr double kSpeed = 1.0;
  const auto plate = plate_model(kOnTheGrid);
  const elastic::ModeList modes = elastic::mode_list(*plate);
  const double wood = 1.1e10 / (1 - 0.09);
  const ResponseSettings settings = with(KickRule::exchange);
  // 1/m + 1/m_s, as a blow of that mass and speed meets the surface.
  const auto mobility = [&](const Vec3& at, double mass, double speed) {
    const double tau = hertz_duration(mass, contact_modulus(wood, 0), settings.contact_radius, speed);
    const VecX f = SurfaceMap(plate).find(at).shapes.row(2).transpose();
    return 1 / mass + f.cwiseProduct(pulse_weights(modes, tau)).squaredNorm();
  };
  const auto both_ways = [&](const Vec3& struck, const Vec3& felt) {
    ContactScene scene;
    scene.strike(struck, kStriker, kSpeed);
    scene.rest(felt, kResting);
    const ResponseResult r = respond(plate, settings, scene);
    return r.kicks.empty() ? 0.0
                           : r.kicks[0].impulse * mobility(felt, kResting, kRattleSpeed) *
                                 mobility(struck, kStriker, kSpeed);
  };
  const double ab = both_ways(kVertexA, kVertexB);
  EXPECT_GT(ab, 0.01);
  EXPECT_NEAR(both_ways(kVertexB, kVertexA), ab, 1e-11 * ab);
}

// The mesh mirrors itself, and so does the grid to which contacts are rounded: 1.2 and 0.9 m are multiples of
// 2e-4 of the diagonal.
TEST(ModalResponse, ASymmetricPlateRespondsSymmetrically)
{
  const auto plate = plate_model({.a = 1.2, .b = 0.9, .cells = 32});
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                              KickRule::micro_collisions}) {
    // Struck in the middle, where four bodies feel the same, and on a middle line, where two pairs do.
    for (const double y : {0.45, 0.3}) {
      ContactScene scene;
      scene.strike({0.6, y, 0}, 1.0, 1.0);
      for (const double far : {0.21, 0.69}) {
        for (const double x : {0.3, 0.9}) scene.rest({x, far, 0}, 0.2);
      }
      const ResponseResult r = respond(plate, with(rule), scene);
      ASSERT_EQ(r.kicks.size(), 4U);
      // Micro-collisions are swept from one to the next, and find their gaps in single precision.
      const double tolerance = (rule == KickRule::micro_collisions ? 1e-5 : 1e-9) * r.kicks[0].speed;
      for (const std::size_t k : {0, 2})
        EXPECT_NEAR(r.kicks[k].speed, r.kicks[k + 1].speed, tolerance) << static_cast<int>(rule);
      if (y != 0.45) continue;
      EXPECT_NEAR(r.kicks[0].speed, r.kicks[2].speed, tolerance) << static_cast<int>(rule);
    }
  }
}

TEST(ModalResponse, SeveralImpactsInOneStepAddUp)
{
  ContactScene both;
  both.strike(kHere, 1.0, 1.0);
  both.strike(kHere, 2.0, 1.0);
  both.rest(kThere, 0.1);
  ContactScene one;
  one.strike(kHere, 3.0, 1.0);
  one.rest(kThere, 0.1);
  const ResponseSettings settings = with(KickRule::peak_displacement);
  EXPECT_NEAR(respond(plate_model(), settings, both).kicks[0].speed,
              respond(plate_model(), settings, one).kicks[0].speed, 1e-9);
}

// Each blow is answered from rest, whatever still rings; what is kept adds to the energy of the vibration.
TEST(ModalResponse, StateIsKeptOrRestartedAndABlowIsAnsweredFromRest)
{
  ContactScene scene;
  scene.strike(kHere, 1.0, 1.0);
  scene.rest(kThere, 0.1);
  scene.step = 0.002;
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                              KickRule::micro_collisions}) {
    for (const VibrationAfterStep memory : {VibrationAfterStep::keep, VibrationAfterStep::reset}) {
      ResponseSettings settings = with(rule);
      settings.vibration_after_step = memory;
      const bool keeps = memory == VibrationAfterStep::keep;
      ModalResponse response(plate_model(), settings);
      ModeState state = response.at_rest();
      const double first = response.respond(scene.input(), state).kicks[0].speed;
      const double once = energy(response.modes(), state);
      if (rule == KickRule::peak_velocity || rule == KickRule::peak_displacement) {
        EXPECT_EQ(once > 0, keeps);
      }
      ModeState decayed = state;
      advance(response.modes(), keeps ? scene.step : 0, decayed);
      EXPECT_EQ(response.respond(scene.input(), state).kicks[0].speed, first);
      const double twice = keeps ? energy(response.modes(), decayed) + once : once;
      EXPECT_NEAR(energy(response.modes(), state), twice, 1e-9 * twice) << static_cast<int>(rule);
    }
  }
}

TEST(ModalResponse, WithoutAnImpactVibrationOnlyDecays)
{
  ContactScene scene;
  scene.rest(kThere, 0.1);
  ModalResponse response(plate_model(), {});
  ModeState state = response.at_rest();
  state.v[3] = 0.1;
  for (int i = 0; i < 400; ++i) {
    const double before = energy(response.modes(), state);
    const ResponseResult r = response.respond(scene.input(), state);
    EXPECT_TRUE(r.kicks.empty() && r.body_impulses.empty());
    EXPECT_LE(energy(response.modes(), state), before);
  }
  EXPECT_EQ(energy(response.modes(), state), 0);
  EXPECT_EQ(response.map().searches(), 0U);
}

TEST(ModalResponse, SmallImpactsDoNothing)
{
  ContactScene scene;
  scene.strike(kHere, 0.1, 0.1);
  scene.rest(kThere, 0.1);
  EXPECT_TRUE(respond(plate_model(), {}, scene).kicks.empty());
}

TEST(ModalResponse, WithRestitutionOneTheBudgetIsEmpty)
{
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0, 1.0);
  scene.rest(kThere, 0.1);
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity}) {
    ResponseSettings settings;
    settings.rule = rule;
    EXPECT_TRUE(respond(plate_model(), settings, scene).kicks.empty());
  }
}

// For every rule: bodies and vibration together never have more than before the impact.
TEST(ModalResponse, EnergyNeverGrowsInAThousandScenes)
{
  base::Random random(11);
  const auto plate = plate_model();
  for (int i = 0; i < 1000; ++i) {
    ResponseSettings settings;
    settings.rule = std::array{KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                               KickRule::micro_collisions}[static_cast<std::size_t>(i % 4)];
    settings.form = KickForm::impulse;
    settings.tangential = settings.micro.friction = random.chance(0.5);
    settings.micro.step = 1e-4;
    const double e = random.uniform(0, 1);
    ContactScene scene;
    const auto place = [&] {
      return Vec3(random.uniform(0.1, 1.5), random.uniform(0.1, 0.8), 0);
    };
    scene.step = random.uniform(0.001, 0.03);
    for (std::int64_t k = random.integer(1, 2); k > 0; --k)
      scene.strike(place(), random.uniform(0.1, 8), random.uniform(0.2, 4), e);
    for (std::int64_t k = random.integer(1, 8); k > 0; --k) scene.rest(place(), random.uniform(0.02, 2), e);
    ModalResponse response(plate, settings);
    ModeState state = response.at_rest();
    for (Eigen::Index m = 0; m < state.v.size(); ++m) state.v[m] = random.normal(0, 0.05);
    const double before = kinetic(before_impact(scene)) + energy(response.modes(), state);
    const ResponseResult r = response.respond(scene.input(), state);
    const double after = kinetic(pushed(scene.bodies, r.body_impulses)) + energy(response.modes(), state);
    EXPECT_LE(after, before * (1 + 1e-9)) << "scene " << i << " restitution " << e;
    EXPECT_LE(r.energy.given, before);
    if (settings.rule == KickRule::peak_displacement || settings.rule == KickRule::peak_velocity) {
      EXPECT_LE(r.energy.given, r.energy.lost * (1 + 1e-9));
    }
  }
}

TEST(ModalResponse, AContactOffTheSurfaceIsSkippedAndReported)
{
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.rest({1.1, 0.5, 0.6}, 0.1);
  const ResponseResult r = respond(plate_model(), {}, scene);
  EXPECT_TRUE(r.kicks.empty());
  ASSERT_EQ(r.warnings.size(), 1U);
  EXPECT_NE(r.warnings[0].find("off the surface"), std::string::npos);
}

TEST(ModalResponse, RejectsInvalidInput)
{
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.bodies[1].velocity.z() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)respond(plate_model(), {}, scene), Error);
  ResponseSettings bad;
  bad.window = -1;
  EXPECT_THROW((void)ModalResponse(plate_model(), bad), Error);
  EXPECT_THROW((void)ModalResponse(plate_model({.alpha = 1e5}), coevoet2020()), Error);
}

TEST(ModalResponse, AFinerMeshConverges)
{
  const auto speed = [](int cells) {
    ContactScene scene;
    scene.strike(kHere, 1.0, 1.0);
    scene.rest(kThere, 0.1);
    return respond(plate_model({.cells = cells}), with(KickRule::peak_velocity), scene).kicks[0].speed;
  };
  const double fine = speed(128);
  EXPECT_LT(std::abs(speed(64) - fine), 0.5 * std::abs(speed(16) - fine) + 1e-4 * fine);
  EXPECT_NEAR(speed(64), fine, 0.02 * fine);
}

// With time enough the default is micro_collisions to the bit. Less time makes it less exact, in steps: it
// has the same mean, never becomes another rule, and is over its budget only when nothing is left to save.
TEST(ModalResponse, TheDefaultStaysTheBestRuleWithAnyBudget)
{
  ContactScene scene;
  scene.strike(kHere, 2.0, 1.5);
  for (int i = 0; i < 12; ++i) scene.rest({0.2 + 0.1 * i, 0.6, 0}, 0.3);
  const auto model = plate_model();
  const auto speeds = [&](KickRule rule, double budget, double& over_budget) {
    ResponseSettings settings;
    settings.rule = rule;
    settings.time_budget = budget;
    std::vector<double> all(scene.contacts.size(), 0.0);
    const ResponseResult result = respond(model, settings, scene);
    for (const Kick& kick : result.kicks) all[kick.contact] = kick.speed;
    over_budget = result.over_budget;
    return all;
  };
  double over_budget = 0;
  const std::vector<double> exact = speeds(KickRule::micro_collisions, 0, over_budget);
  EXPECT_EQ(over_budget, 0);  // a rule that was asked for has no budget
  std::vector<std::vector<double>> answers;
  for (double budget = 1e-2; budget > 1e-6; budget /= 2) {
    const std::vector<double> now = speeds(KickRule::automatic, budget, over_budget);
    if (answers.empty() || now != answers.back()) answers.push_back(now);
    EXPECT_TRUE(over_budget == 0 || over_budget > budget);
    double logarithms = 0;
    for (std::size_t i = 1; i < exact.size(); ++i) logarithms += std::log(std::max(now[i], 1e-3) / exact[i]);
    EXPECT_NEAR(logarithms / static_cast<double>(exact.size() - 1), 0, 0.2) << budget;
  }
  EXPECT_EQ(answers[0], exact);
  EXPECT_EQ(answers.size(), 3U);  // no mode of the plate is too fast: substeps of one, two and four lengths
  EXPECT_GT(over_budget, 0);
}

// The paper's table, 20 modes and 41 contacts, is followed in small with the usual settings; with ten times
// the modes something is saved.
TEST(ModalResponse, TheDefaultSimulatesMicroCollisionsForADinnerTable)
{
  ContactScene scene;
  scene.strike(kHere, 5.0, 1.5);
  for (int i = 0; i < 41; ++i) scene.rest({0.1 + 0.035 * i, i % 2 == 0 ? 0.3 : 0.6, 0}, 0.5);
  const auto same = [&](int modes, KickRule rule) {
    const auto model = plate_model({.modes = modes, .cells = 12});
    ResponseSettings settings;
    const ResponseResult by_default = respond(model, settings, scene);
    settings.rule = rule;
    const ResponseResult wanted = respond(model, settings, scene);
    return !wanted.kicks.empty() && by_default.kicks.size() == wanted.kicks.size() &&
           by_default.kicks.front().speed == wanted.kicks.front().speed;
  };
  EXPECT_TRUE(same(20, KickRule::micro_collisions));
  EXPECT_FALSE(same(200, KickRule::micro_collisions));
}

// One mode struck with J bends its place by J f^2 / w: a warning when that is far from small, not before.
TEST(ModalResponse, WarnsWhenAnImpactBendsTheBodyTooFar)
{
  const auto model = one_mode();
  const double f = row(*model, kHere);
  const double size = std::hypot(1.6, 0.9);
  for (const double share : {0.05, 0.2}) {
    ContactScene scene;
    scene.strike(kHere, 1.0, 1.0);
    scene.rest(kThere, 0.1);
    scene.contacts[0].impulse = share * size * model->omega(0) / (f * f);
    scene.contacts[0].loss = 1e9;
    const ResponseResult r = respond(model, with(KickRule::peak_displacement), scene);
    EXPECT_EQ(r.warnings.size(), share > 0.1 ? 1U : 0U);
    if (share > 0.1) {
      EXPECT_NE(r.warnings[0].find("20 % of its size"), std::string::npos) << r.warnings[0];
    }
    EXPECT_TRUE(std::isfinite(r.kicks.at(0).speed));
  }
}

// Modes far above what a substep of 40 us shows, up to 300 kHz: nothing grows.
TEST(ModalResponse, ModesFarAboveTheSubStepDoNotExplode)
{
  const auto model =
      plate_model({.a = 0.16, .b = 0.09, .h = 0.01, .density = 7850, .young = 2e11, .modes = 60});
  ASSERT_GT(model->frequencies.maxCoeff(), 1e5);
  for (const KickRule rule : {KickRule::micro_collisions, KickRule::exchange, KickRule::peak_velocity}) {
    ContactScene scene;
    scene.strike({0.05, 0.04, 0}, 0.5, 2.0);
    scene.rest({0.11, 0.05, 0}, 0.02);
    scene.rest({0.03, 0.07, 0}, 0.1);
    ResponseSettings settings;
    settings.rule = rule;
    settings.form = KickForm::impulse;
    ModalResponse response(model, settings);
    ModeState state = response.at_rest();
    const double before = kinetic(before_impact(scene));
    const ResponseResult r = response.respond(scene.input(), state);
    EXPECT_LE(kinetic(pushed(scene.bodies, r.body_impulses)) + energy(response.modes(), state),
              before * (1 + 1e-6));
  }
}

TEST(ModalResponse, RejectsWindowsWithTooManySamplesBeforeAnythingMoves)
{
  for (const KickRule rule :
       {KickRule::automatic, KickRule::peak_velocity, KickRule::exchange, KickRule::micro_collisions}) {
    ResponseSettings settings = with(rule);
    settings.window = 1e6;
    EXPECT_THROW(ModalResponse(plate_model(), settings), Error) << static_cast<int>(rule);
  }
}

}  // namespace
}  // namespace thrum::vibration
