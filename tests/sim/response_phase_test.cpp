// SPDX-License-Identifier: MIT
// The same impact throws what rests on the plate as high at any step, wherever in the step it falls: the
// rigid step has moved the striking body on since then, for up to its whole length.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/vibration/coupled_plate.h"
#include "thrum/sim/responder.h"

namespace thrum::sim {
namespace {

using vibration::KickRule;

constexpr double kHalfThickness = 0.0045;
constexpr double kGravity = 9.81;

std::shared_ptr<const model::ModalModel> plate_of(int modes)
{
  vibration::PlateSize size = vibration::steel_plate(modes);
  size.a = 1.1;
  size.b = 0.8;
  size.h = 2 * kHalfThickness;
  auto model = std::make_shared<model::ModalModel>(*vibration::plate_model(size));
  for (Vec3& v : model->surface.vertices) v += Vec3(-size.a / 2, -size.b / 2, kHalfThickness);
  // A vertex below gives the model the height of the plate.
  model->surface.vertices.emplace_back(-size.a / 2, -size.b / 2, -kHalfThickness);
  model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
  model->shapes.bottomRows(3).setZero();
  return model;
}

struct StruckPlate {
  std::shared_ptr<const model::ModalModel> plate;
  KickRule rule = KickRule::micro_collisions;
  double restitution = 0;
};

// A ball of 1 kg falls by 0.2 m on a steel plate on which two balls of 0.1 and 0.3 kg rest. Their speeds
// after the response to it, and what the plate received over what the ball brought.
struct Answer {
  std::array<double, 2> speeds = {0, 0};
  double received = 0;
};

Answer first_answer(const StruckPlate& setup, double step, double phase)
{
  WorldDesc desc;
  desc.length_scale = 0.1;
  desc.sleep.enabled = false;
  World world(desc);
  BodyDesc spec;
  spec.surface = world.add_surface({setup.restitution, 0.4, 0, 0});
  spec.name = "plate";
  spec.shape = world.add_shape({model::Box{{0.55, 0.4, kHalfThickness}}});
  spec.motion = model::Motion::fixed;
  const model::BodyId plate = world.add_body(spec);
  spec.motion = model::Motion::dynamic;
  spec.name = "ball";
  const auto add_ball = [&](double radius, double mass, const Vec3& place) {
    spec.shape = world.add_shape({model::Sphere{radius}});
    spec.mass = mass;
    spec.X_ws.position = place + Vec3(0, 0, kHalfThickness + radius);
    return world.add_body(spec);
  };
  const std::array resting = {add_ball(0.02, 0.1, {0.27, 0.13, 0}), add_ball(0.025, 0.3, {0.05, -0.21, 0})};
  constexpr double kDrop = 0.2;
  (void)add_ball(0.03, 1, {-0.23, 0.04, kDrop});
  Responder responder;
  vibration::BodyResponseDesc response;
  response.settings.rule = setup.rule;
  responder.add_body(world, plate, setup.plate, response);
  world.add_observer(responder);
  Answer answer;
  for (int i = 0; world.state().time < 0.3; ++i) {
    world.step(i == 0 ? phase * step : step);
    if (responder.report().impacts == 0) continue;
    for (std::size_t k = 0; k < resting.size(); ++k) answer.speeds[k] = world.body(resting[k]).velocity.z();
    answer.received = responder.report().received / (kGravity * kDrop);
    break;
  }
  return answer;
}

// Within 2 % in speed of the run at 1 ms. A ball with the whole of its fall since the impact, as the rigid
// solver leaves it, brings up to 1.19 times its energy at 1/30 s.
TEST(ResponsePhase, AKickIsTheSameAtAnyStepAndPhase)
{
  for (const KickRule rule : {KickRule::micro_collisions, KickRule::exchange}) {
    for (const int modes : {40, 100}) {
      for (const double e : {0.0, 0.5, 1.0}) {
        const StruckPlate setup{plate_of(modes), rule, e};
        const Answer expected = first_answer(setup, 1e-3, 0.5);
        EXPECT_GT(expected.speeds[0], 0.02);
        for (const double rate : {30.0, 47.0, 60.0, 100.0, 200.0, 1000.0}) {
          for (const double phase : {0.17, 0.5, 0.83, 1.0}) {
            const Answer now = first_answer(setup, 1 / rate, phase);
            const auto name = [&] {
              return ::testing::Message()
                     << (rule == KickRule::exchange ? "exchange" : "micro_collisions") << ", " << modes
                     << " modes, restitution " << e << ", 1/" << rate << " s, phase " << phase;
            };
            EXPECT_LE(now.received, 1 + 1e-9) << name();
            for (std::size_t k = 0; k < 2; ++k)
              EXPECT_NEAR(now.speeds[k], expected.speeds[k], 0.02 * expected.speeds[k] + 1e-3) << name();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
