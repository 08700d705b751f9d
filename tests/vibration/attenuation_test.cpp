// SPDX-License-Identifier: MIT
#include "thrum/vibration/attenuation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/vibration/body_response.h"

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

TouchScene blow()
{
  TouchScene scene;
  scene.strike(kHere, 1.0, 2.0);
  scene.rest(kThere, 0.1);
  return scene;
}

TEST(Attenuation, FollowsEquation14AndItsSimpleForm)
{
  AttenuationSettings full{.full = true, .alpha = 0.048, .beta = 0.8, .r0 = 0.033, .least_distance = 0.01};
  EXPECT_EQ(attenuation(full, 0.033), 1);
  EXPECT_NEAR(attenuation(full, 2.0), std::exp(-0.048 * 1.967) * std::pow(2.0 / 0.033, -0.8), 1e-15);
  AttenuationSettings simple{.C = 0.7, .beta = 0.5};
  EXPECT_NEAR(attenuation(simple, 4.0), 0.35, 1e-15);
  EXPECT_EQ(attenuation(simple, 0), attenuation(simple, simple.least_distance));
}

TEST(Attenuation, KickIsTheStruckPointsMotionTimesTheFactor)  // [Coevoet20, eq. 15-16]
{
  const auto model = plate_model({.cells = 48});
  const TouchScene scene = blow();
  for (const WaveDistance distance : {WaveDistance::euclidean, WaveDistance::geodesic}) {
    AttenuatedResponse response(model, unlimited(KickRule::peak_displacement),
                                {.C = 0.6, .beta = 1, .distance = distance});
    const ResponseResult r = response.respond(scene.input());
    // The same vertex struck and felt, by the modal response.
    const VecX& self = response.self_displacement(scene.step);
    const geometry::SurfacePoint at = response.map().find(kHere).point;
    const Triangle& corners = model->surface.triangles[static_cast<std::size_t>(at.triangle)];
    const double dx = at.barycentric.dot(Vec3(self[corners[0]], self[corners[1]], self[corners[2]])) *
                      scene.touches[0].impulse;
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
  TouchScene scene = blow();
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
    const TouchScene scene = blow();
    const ResponseResult r = response.respond(scene.input());
    EXPECT_LE(kinetic(pushed(scene.bodies, r.pushes)) - kinetic(scene.bodies),
              scene.touches[0].loss * (1 + 1e-6));
    EXPECT_LT(r.energy.kick_scale, 1);
  }
}

// A striker much heavier than the surface below it cannot give it more than twice its own speed, whatever the rigid impulse was.
TEST(Attenuation, TheStruckSurfaceYields)
{
  const auto model = plate_model();
  for (const double mass : {0.01, 1.0, 1000.0}) {
    AttenuatedResponse response(model, unlimited(KickRule::exchange),
                                {.C = 1, .beta = 0, .distance = WaveDistance::euclidean});
    TouchScene scene;
    scene.strike(kHere, mass, 2.0, 0.5);
    scene.rest(kThere, 1e-6, 0.0);
    const ResponseResult r = response.respond(scene.input());
    // The resting body is so light that it takes the speed of the surface, that of the struck point: (1 + e) v m / (m + m_s).
    const geometry::SurfacePoint at = response.map().find(kHere).point;
    const Triangle& corners = model->surface.triangles[static_cast<std::size_t>(at.triangle)];
    const VecX& self = response.self_speed();
    const double surface = at.barycentric.dot(Vec3(self[corners[0]], self[corners[1]], self[corners[2]]));
    ASSERT_EQ(r.kicks.size(), 1U);
    EXPECT_NEAR(r.kicks[0].speed, 1.5 * 2.0 * mass / (mass + 1 / surface), 1e-3 * r.kicks[0].speed);
  }
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

TEST(Attenuation, RefusesWavesThatGrow)
{
  EXPECT_THROW((void)AttenuatedResponse(plate_model(), {}, {.beta = -1}), Error);
}

TEST(BodyResponse, BlendsBySize)
{
  const TouchScene scene = blow();
  const auto model = plate_model();
  BodyResponseDesc desc;
  desc.settings = unlimited(KickRule::peak_velocity);
  desc.attenuation.distance = WaveDistance::euclidean;
  const auto speed = [&](ResponseMethod method, double small, double large) {
    desc.method = method;
    desc.rings_up_to = small;
    desc.waves_from = large;
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

}  // namespace
}  // namespace thrum::vibration
