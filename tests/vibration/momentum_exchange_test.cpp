// SPDX-License-Identifier: MIT
#include "thrum/vibration/momentum_exchange.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

ResponseSettings exchange(double radius = 100)
{
  ResponseSettings settings;
  settings.rule = KickRule::exchange;
  settings.window = 0.05;
  settings.contact_radius = radius;  // large: short pulses
  return settings;
}

TEST(Exchange, OneUndampedModeFollowsTheClosedForm)  // Eq. (1) and (2) of momentum_exchange.cpp
{
  const auto model = plate_model({.modes = 1, .cells = 64, .alpha = 0, .beta = 0});
  ContactScene scene;
  const double m = 1.0;
  const double v = 2.0;
  const double e = 0.3;
  const double m_b = 0.2;
  scene.strike({0.5, 0.4, 0}, m, v, e);
  scene.rest({1.1, 0.5, 0}, m_b, e);
  ModalResponse response(model, exchange());
  ModeState state = response.at_rest();
  const double fc = response.map().find({0.5, 0.4, 0}).shapes(2, 0);
  const double fp = response.map().find({1.1, 0.5, 0}).shapes(2, 0);
  const ResponseResult r = response.respond(scene.input(), state);
  const double j = (1 + e) * v / (1 / m + fc * fc);
  const double v_s = std::abs(fp * fc) * j;  // after half a period
  const double p = (1 + e) * v_s / (1 / m_b + fp * fp);
  ASSERT_EQ(r.kicks.size(), 1U);
  EXPECT_NEAR(r.kicks[0].impulse, p, 0.01 * p);
  EXPECT_NEAR(r.kicks[0].speed, p / m_b, 0.01 * p / m_b);
  const auto after = pushed(scene.bodies, r.body_impulses);
  EXPECT_NEAR(after[1].velocity.z(), -v + j / m, 0.01 * v);
}

TEST(Exchange, ElasticImpactsKeepTheTotal)
{
  base::Random random(7);
  const auto plate = plate_model({.alpha = 0, .beta = 0});
  for (int i = 0; i < 100; ++i) {
    ContactScene scene;
    const auto place = [&] {
      return Vec3(random.uniform(0.1, 1.5), random.uniform(0.1, 0.8), 0);
    };
    scene.strike(place(), random.uniform(0.1, 8), random.uniform(0.2, 4), 1);
    for (int k = 0; k < 5; ++k) scene.rest(place(), random.uniform(0.02, 2), 1);
    ModalResponse response(plate, exchange(0.01));
    ModeState state = response.at_rest();
    const double before = kinetic(before_impact(scene));
    const ResponseResult r = response.respond(scene.input(), state);
    EXPECT_NEAR(kinetic(pushed(scene.bodies, r.body_impulses)) + energy(response.modes(), state), before,
                1e-9 * before);
  }
}

TEST(Exchange, AHeavySurfaceGivesTheRigidResult)
{
  // A plate a thousand times as heavy hardly yields: the striker keeps its bounce.
  const auto heavy = plate_model({.h = 3, .density = 7e5});
  ContactScene scene;
  scene.strike({0.5, 0.4, 0}, 1.0, 2.0, 0.4);
  ModalResponse response(heavy, exchange(0.01));
  ModeState state = response.at_rest();
  const ResponseResult r = response.respond(scene.input(), state);
  EXPECT_NEAR(pushed(scene.bodies, r.body_impulses)[1].velocity.z(), 0.8, 0.001);
}

TEST(Exchange, ConvergesAsModesAreAdded)
{
  const auto speed = [](int modes) {
    ContactScene scene;
    scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
    scene.rest({1.1, 0.5, 0}, 0.3);
    ModalResponse response(plate_model({.modes = modes, .cells = 96}), exchange(0.01));
    ModeState state = response.at_rest();
    return response.respond(scene.input(), state).kicks.at(0).speed;
  };
  EXPECT_NEAR(speed(150), speed(250), 0.05 * speed(250));
}

TEST(Exchange, TangentialKicksStayInsideTheFrictionCone)
{
  auto tilted = std::make_shared<model::ModalModel>(*plate_model());
  for (Index v = 0; v < tilted->vertex_count(); ++v)
    tilted->shapes.row(3 * v) = 0.8 * tilted->shapes.row(3 * v + 2);  // moves sideways as it comes up
  ContactScene scene;
  scene.strike({0.5, 0.4, 0}, 2.0, 1.0);
  scene.rest({1.1, 0.5, 0}, 0.3);
  for (const double mu : {0.1, 0.5}) {
    scene.contacts[1].friction = mu;
    ResponseSettings settings = exchange(0.01);
    settings.tangential = true;
    ModalResponse response(tilted, settings);
    ModeState state = response.at_rest();
    const ResponseResult r = response.respond(scene.input(), state);
    ASSERT_EQ(r.kicks.size(), 1U);
    EXPECT_GT(r.kicks[0].tangential_impulse.norm(), 0);
    EXPECT_LE(r.kicks[0].tangential_impulse.norm(), mu * r.kicks[0].impulse * (1 + 1e-12));
    EXPECT_NEAR(r.kicks[0].tangential_impulse.z(), 0, 1e-12);
  }
}

}  // namespace
}  // namespace thrum::vibration
