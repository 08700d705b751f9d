// SPDX-License-Identifier: MIT
// The references of the accuracy benchmarks, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/response/coupled_bodies.h"
#include "tests/vibration/plate_model.h"

namespace thrum::bench {
namespace {

const model::Material kStone{"stone", 2500, 1e10, 0.2, {}, 0};

CoupledBody fixed_floor()
{
  CoupledBody floor;
  floor.half = {1, 1, 0.1};
  return floor;
}

CoupledBody ball(double speed)
{
  CoupledBody body;
  body.is_ball = true;
  body.half = {0.05, 0, 0};
  body.mass = 1;
  body.stands_on = 0;
  body.position = {0.1, 0.2, 0.15};
  body.velocity = {0, 0, -speed};
  return body;
}

TEST(ExactModes, FollowTheirClosedFormBelowAndAboveCriticalDamping)
{
  model::ModalModel model;
  model.frequencies = (VecX(2) << 50, 50).finished();
  const double w = 2 * std::numbers::pi * 50;
  model.decays = (VecX(2) << 0.1 * w, 2 * w).finished();
  constexpr double kStep = 1e-4;
  ExactModes modes(model, kStep);
  modes.v.setOnes();
  for (int i = 0; i < 70; ++i) modes.advance();
  const double t = 70 * kStep;
  const double wd = w * std::sqrt(1 - 0.01);
  const double s = w * std::sqrt(3.0);
  EXPECT_NEAR(modes.q[0], std::exp(-0.1 * w * t) * std::sin(wd * t) / wd, 1e-12);
  EXPECT_NEAR(modes.q[1], std::exp(-2 * w * t) * std::sinh(s * t) / s, 1e-12);
}

// 2.87 (m^2 / (R E*^2 v))^(1/5): Hertz' duration of an impact without loss.
TEST(CoupledBodies, AnImpactLastsAndReturnsAsHertzSays)
{
  CoupledBodies run({fixed_floor(), ball(1)}, {.step = 1e-7, .material = kStone, .restitution = 1});
  int closed = 0;
  for (int i = 0; i < 10000; ++i) {
    run.step();
    if (run.bodies()[1].position.z() < 0.15) ++closed;
  }
  const double E = 1e10 / (1 - 0.04) / 2;
  EXPECT_NEAR(closed * 1e-7, 2.8683 * std::pow(1 / (0.01 * E * E), 0.2), 2e-6);
  EXPECT_NEAR(run.bodies()[1].velocity.z(), 1, 0.01);
}

TEST(CoupledBodies, ABallReturnsWithItsRestitution)
{
  for (const double e : {0.15, 0.5, 0.8}) {
    CoupledBodies run({fixed_floor(), ball(1)}, {.step = 1e-6, .material = kStone, .restitution = e});
    for (int i = 0; i < 2000; ++i) run.step();
    EXPECT_NEAR(run.bodies()[1].velocity.z(), e, 0.03) << e;  // gravity takes 0.02
  }
}

TEST(CoupledBodies, AStackAtRestStaysAtRest)
{
  CoupledBody box;
  box.half = {0.05, 0.04, 0.03};
  box.mass = 0.5;
  box.stands_on = 0;
  box.position = {0, 0, 0.13};
  CoupledBody top = box;
  top.half = {0.03, 0.03, 0.03};
  top.mass = 0.2;
  top.stands_on = 1;
  top.position.z() = 0.19;
  CoupledBodies run({fixed_floor(), box, top}, {.step = 2e-6, .material = kStone});
  const std::vector<CoupledBody> start = run.bodies();
  for (int i = 0; i < 50000; ++i) run.step();
  for (std::size_t b = 1; b < 3; ++b)
    EXPECT_LT((run.bodies()[b].position - start[b].position).norm(), 1e-8) << b;
}

// mu g until it rests: v^2 / (2 mu g).
TEST(CoupledBodies, ABoxSlidesAsFarAsFrictionLetsIt)
{
  CoupledBody box;
  box.half = {0.05, 0.05, 0.01};
  box.mass = 0.5;
  box.stands_on = 0;
  box.position = {0, 0, 0.11};
  // Set moving after it was put down, as moving bodies are taken for strikers.
  CoupledBodies run({fixed_floor(), box}, {.step = 2e-6, .material = kStone});
  run.set_velocity(1, {0.3, 0, 0});
  for (int i = 0; i < 60000; ++i) run.step();
  EXPECT_NEAR(run.bodies()[1].position.x(), 0.09 / (2 * 0.5 * 9.81), 3e-4);
}

// Without loss, friction and gravity's work left aside, what the ball has less the modes have.
TEST(CoupledBodies, ConserveTheEnergyOfABallAndModes)
{
  const auto plate = vibration::plate_model({.modes = 10, .alpha = 0, .beta = 0});
  CoupledBody below;
  below.half = {1, 1, 0};
  below.model = plate.get();
  CoupledBody striker = ball(1);
  striker.position = {0.5, 0.4, 0.05};
  CoupledBodies run({below, striker}, {.step = 2e-7, .material = kStone, .restitution = 1});
  const auto total = [&] {
    double sum = 0;
    const CoupledBody& up = run.bodies()[1];
    sum += up.mass * (up.velocity.squaredNorm() / 2 + 9.81 * up.position.z());
    const ExactModes& modes = run.bodies()[0].modes;
    const VecX w = 2 * std::numbers::pi * plate->frequencies;
    return sum + (modes.v.squaredNorm() + w.cwiseProduct(modes.q).squaredNorm()) / 2;
  };
  const double before = total();
  for (int i = 0; i < 50000; ++i) run.step();
  EXPECT_GT(run.bodies()[0].modes.v.norm(), 0.01);
  EXPECT_NEAR(total(), before, 0.01 * 0.5);
}

}  // namespace
}  // namespace thrum::bench
