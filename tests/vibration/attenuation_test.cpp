// SPDX-License-Identifier: MIT
#include "thrum/vibration/attenuation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/vibration/body_response.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {
namespace {

const Vec3 kHere(0.3, 0.45, 0);
const Vec3 kThere(1.2, 0.45, 0);

ResponseSettings unlimited(KickRule rule)
{
  ResponseSettings settings;
  settings.rule = rule;
  settings.limit_energy = false;
  return settings;
}

ContactScene blow()
{
  ContactScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.rest(kThere, 0.1);
  return scene;
}

TEST(Attenuation, FollowsEquation14AndItsSimpleForm)
{
  AttenuationSettings full{.full = true, .alpha = 0.048, .beta = 0.8, .r0 = 0.033, .min_distance = 0.01};
  EXPECT_EQ(attenuation(full, 0.033), 1);
  EXPECT_NEAR(attenuation(full, 2.0), std::exp(-0.048 * 1.967) * std::pow(2.0 / 0.033, -0.8), 1e-15);
  AttenuationSettings simple{.C = 0.7, .beta = 0.5};
  EXPECT_NEAR(attenuation(simple, 4.0), 0.35, 1e-15);
  EXPECT_EQ(attenuation(simple, 0), attenuation(simple, simple.min_distance));
}

TEST(Attenuation, KickIsTheStruckPointsMotionTimesTheFactor)  // [Coevoet20, eq. 15-16]
{
  const auto model = plate_model({.cells = 48});
  const ContactScene scene = blow();
  for (const WaveDistance distance : {WaveDistance::euclidean, WaveDistance::geodesic}) {
    AttenuatedResponse response(model, unlimited(KickRule::peak_displacement),
                                {.C = 0.6, .beta = 1, .distance = distance});
    const ResponseResult r = response.respond(scene.input());
    // The same vertex struck and felt, by the modal response.
    const VecX& self = response.self_displacement(scene.step);
    const mesh::SurfacePoint at = response.map().find(kHere).point;
    const Triangle& corners = model->surface.triangles[static_cast<std::size_t>(at.triangle)];
    const double dx = at.barycentric.dot(Vec3(self[corners[0]], self[corners[1]], self[corners[2]])) *
                      scene.contacts[0].impulse;
    ASSERT_EQ(r.kicks.size(), 1U);
    EXPECT_NEAR(r.kicks[0].speed, 0.6 / 0.9 * dx / scene.step, 0.05 * r.kicks[0].speed);
  }
}

TEST(Attenuation, SelfDisplacementOfOneModeIsItsClosedForm)
{
  const auto model = plate_model({.modes = 1, .alpha = 0, .beta = 0});
  AttenuatedResponse response(model, {}, {});
  const Index v = model->vertex_count() / 2;
  const double f = model->shapes(3 * v + 2, 0);
  EXPECT_NEAR(response.self_displacement(0.1)[v], f * f / model->omega(0), 1e-9);
  EXPECT_NEAR(response.self_speed()[v], f * f, 1e-12);
}

TEST(Attenuation, GeodesicsAreSolvedOnceForTheFewerSide)
{
  AttenuatedResponse response(plate_model(), unlimited(KickRule::peak_velocity), {});
  ContactScene scene = blow();
  for (int i = 0; i < 6; ++i) scene.rest({0.2 + 0.2 * i, 0.7, 0}, 0.1);
  (void)response.respond(scene.input());
  EXPECT_EQ(response.geodesics().solves(), 1U);
  for (int i = 0; i < 5; ++i) (void)response.respond(scene.input());
  EXPECT_EQ(response.geodesics().solves(), 1U);
}

TEST(Attenuation, NeverGivesMoreThanTheImpactLost)
{
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange}) {
    ResponseSettings settings;
    settings.rule = rule;
    settings.form = KickForm::impulse;
    AttenuatedResponse response(plate_model(), settings, {.C = 5000, .distance = WaveDistance::euclidean});
    const ContactScene scene = blow();
    const ResponseResult r = response.respond(scene.input());
    EXPECT_LE(kinetic(pushed(scene.bodies, r.body_impulses)) - kinetic(scene.bodies),
              scene.contacts[0].loss * (1 + 1e-6));
    EXPECT_LT(r.energy.kick_scale, 1);
  }
}

// f^2 of each mode at a place, from the corners of its triangle [1/kg].
VecX squared_shapes_at(AttenuatedResponse& response, const Vec3& place)
{
  const model::ModalModel& model = response.map().model();
  const mesh::SurfacePoint at = response.map().find(place).point;
  VecX squares = VecX::Zero(model.frequencies.size());
  for (Eigen::Index c = 0; c < 3; ++c) {
    const Index v =
        model.surface.triangles[static_cast<std::size_t>(at.triangle)][static_cast<std::size_t>(c)];
    squares += at.barycentric[c] * model.shapes.row(3 * v + 2).cwiseAbs2().transpose();
  }
  return squares;
}

double hertz_on(const model::ModalModel& model, double mass, double speed)
{
  const model::Material& wood = model.materials[0];
  const double modulus = wood.young / (1 - wood.poisson * wood.poisson);
  return hertz_duration(mass, contact_modulus(modulus, modulus), ResponseSettings{}.contact_radius, speed);
}

// A striker much heavier than the surface below it cannot give it more than twice its own speed, whatever the
// rigid impulse was: with the weights w of the modes and 1/m_s = (w f).(w f) the struck place gets the speed
// (1 + e) v m f.w f / (1 + m/m_s).
TEST(Attenuation, TheStruckSurfaceIsCompliant)
{
  const auto model = plate_model();
  for (const double mass : {0.01, 1.0, 1000.0}) {
    AttenuatedResponse response(model, unlimited(KickRule::exchange),
                                {.C = 1, .beta = 0, .distance = WaveDistance::euclidean});
    ContactScene scene;
    scene.strike(kHere, mass, 2.0, 0.5);
    // So light that it takes the speed of the surface, and follows each mode.
    constexpr double kLight = 1e-9;
    scene.rest(kThere, kLight, 0.0);
    const ResponseResult r = response.respond(scene.input());
    const VecX w = pulse_weights(elastic::mode_list(*model), hertz_on(*model, mass, 2.0));
    const VecX squares = squared_shapes_at(response, kHere);
    const double wanted = 1.5 * 2.0 * mass * w.dot(squares) / (1 + mass * w.cwiseAbs2().dot(squares));
    ASSERT_EQ(r.kicks.size(), 1U);
    EXPECT_NEAR(r.kicks[0].speed, wanted, 1e-3 * wanted);
  }
}

// One mode: with the weight w of its frequency the wave is w times that of a blow of no length, for both
// ends.
TEST(Attenuation, ThePulseDecidesWhichModesSendWaves)
{
  const auto model = plate_model({.modes = 1});
  auto hard = std::make_shared<model::ModalModel>(*model);
  hard->materials.clear();  // without a modulus blows have no length
  const AttenuationSettings level{.C = 1, .beta = 0, .distance = WaveDistance::euclidean};
  ContactScene scene;
  constexpr double kHeavy = 200;
  scene.strike(kHere, kHeavy, 0.5);
  scene.rest(kThere, 2.0);
  const auto speed = [&](const auto& of, KickRule rule) {
    AttenuatedResponse response(of, unlimited(rule), level);
    return response.respond(scene.input()).kicks.at(0).speed;
  };
  const double f = model->omega(0);
  const double w = pulse_weight(f, hertz_on(*model, kHeavy, 0.5));
  ASSERT_LT(w, 0.9);
  ASSERT_GT(w, 0.05);
  EXPECT_NEAR(speed(model, KickRule::peak_velocity) / speed(hard, KickRule::peak_velocity), w, 1e-9);
  // The paper's rule strikes with the impulse as it is.
  EXPECT_NEAR(speed(model, KickRule::peak_displacement) / speed(hard, KickRule::peak_displacement), 1, 1e-12);
  // Masses: the struck place yields by w^2 f^2, the resting body by its own u^2 f^2.
  AttenuatedResponse response(model, unlimited(KickRule::exchange), level);
  const double u = pulse_weight(f, hertz_on(*model, 2.0, kRattleSpeed));
  const double here = squared_shapes_at(response, kHere)[0];
  const double there = squared_shapes_at(response, kThere)[0];
  const double wanted =
      1.15 * 0.5 * kHeavy * w * here / (1 + kHeavy * w * w * here) * 1.15 * u / (1 + 2.0 * u * u * there);
  EXPECT_NEAR(speed(model, KickRule::exchange), wanted, 1e-9 * wanted);
}

TEST(Attenuation, KicksArriveWithTheWave)
{
  const auto model = plate_model();
  AttenuatedResponse response(model, unlimited(KickRule::peak_velocity),
                              {.distance = WaveDistance::euclidean, .arrival_delay = true});
  const ResponseResult r = response.respond(blow().input());
  ASSERT_EQ(r.kicks.size(), 1U);
  EXPECT_NEAR(r.kicks[0].delay, 0.9 / rayleigh_speed(model->materials[0]), 1e-9);
}

TEST(Attenuation, RejectsWavesThatGrow)
{
  EXPECT_THROW((void)AttenuatedResponse(plate_model(), {}, {.beta = -1}), Error);
}

TEST(BodyResponse, BlendsBySize)
{
  const ContactScene scene = blow();
  const auto model = plate_model();
  BodyResponseDesc desc;
  desc.settings = unlimited(KickRule::peak_velocity);
  desc.attenuation.distance = WaveDistance::euclidean;
  const auto speed = [&](ResponseMethod method, double small, double large) {
    desc.method = method;
    desc.max_modal_size = small;
    desc.min_wave_size = large;
    BodyResponse response(model, desc);
    ModeState state = response.at_rest();
    return response.respond(scene.input(), state).kicks.at(0).speed;
  };
  const double modal = speed(ResponseMethod::modal, 1, 2);
  const double waves = speed(ResponseMethod::attenuated, 1, 2);
  EXPECT_NEAR(speed(ResponseMethod::blended, 10, 20), modal, 1e-12);
  EXPECT_NEAR(speed(ResponseMethod::blended, 0.1, 0.2), waves, 1e-12);
  const double size = std::hypot(1.6, 0.9);
  EXPECT_NEAR(speed(ResponseMethod::blended, size / 2, size * 2), (modal + waves) / 2, 1e-9);
}

// Bodies and vibration together, whatever part of the response is waves.
TEST(BodyResponse, ABlendNeverHasMoreEnergyThanTheImpact)
{
  const auto model = plate_model({.alpha = 0, .beta = 0});
  const double size = std::hypot(1.6, 0.9);
  for (const KickRule rule : {KickRule::exchange, KickRule::micro_collisions}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      BodyResponseDesc desc;
      desc.method = ResponseMethod::blended;
      desc.settings.rule = rule;
      desc.settings.form = KickForm::impulse;
      desc.max_modal_size = size / 2;
      desc.min_wave_size = size * 2;
      desc.attenuation.distance = WaveDistance::euclidean;
      BodyResponse response(model, desc);
      ModeState state = response.at_rest();
      ContactScene scene;
      scene.strike(kHere, 1.0, 2.0, e);
      scene.rest(kThere, 0.1, e);
      const double before = kinetic(before_impact(scene));
      const ResponseResult r = response.respond(scene.input(), state);
      const double after =
          kinetic(pushed(scene.bodies, r.body_impulses)) + energy(elastic::mode_list(*model), state);
      EXPECT_LE(after, before * (1 + 1e-9)) << e;
      EXPECT_GT(energy(elastic::mode_list(*model), state), 0);
    }
  }
}

}  // namespace
}  // namespace thrum::vibration
