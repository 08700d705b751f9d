// SPDX-License-Identifier: MIT
// A ball falls on a ringing plate on which two smaller balls rest: the first answer to it, at any step and
// phase.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "tests/vibration/coupled_plate.h"
#include "thrum/base/index.h"
#include "thrum/sim/responder.h"

namespace thrum::sim {

inline constexpr double kPlateGravity = 9.81;
inline constexpr double kBallRadius = 0.03;  ///< of the ball that strikes [m]

/// A plate about the origin, with a vertex below that gives the model the height of the plate.
inline std::shared_ptr<const model::ModalModel> centred_plate(const vibration::PlateSize& size)
{
  auto model = std::make_shared<model::ModalModel>(*vibration::plate_model(size));
  for (Vec3& v : model->surface.vertices) v += Vec3(-size.a / 2, -size.b / 2, size.h / 2);
  model->surface.vertices.emplace_back(-size.a / 2, -size.b / 2, -size.h / 2);
  model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
  model->shapes.bottomRows(3).setZero();
  return model;
}

struct StruckPlate {
  vibration::PlateSize size;
  std::shared_ptr<const model::ModalModel> plate;
  vibration::KickRule rule = vibration::KickRule::micro_collisions;
  double restitution = 0;
  double friction = 0.4;
  double drop = 0.2;               ///< of the ball [m]
  double mass = 1;                 ///< of the ball [kg]
  Vec3 strike = {-0.23, 0.04, 0};  ///< where the ball meets the plate [m]
  Vec3 along = Vec3::Zero();       ///< speed of the ball along the surface [m/s]
  Vec3 spin = Vec3::Zero();        ///< of the ball [rad/s]
  bool is_mesh = false;            ///< triangles instead of a box
  std::array<Vec3, 2> resting = {Vec3(0.27, 0.13, 0), Vec3(0.05, -0.21, 0)};
};

/// Upward speeds of the resting balls after the response, what the plate received over what the ball
/// brought, and how the ball turns and moves along.
struct PlateAnswer {
  std::array<double, 2> speeds = {0, 0};
  double received = 0;
  Vec3 spin = Vec3::Zero();        ///< [rad/s]
  Vec3 rigid_spin = Vec3::Zero();  ///< as the rigid step left it [rad/s]
  Vec3 along = Vec3::Zero();       ///< [m/s]
};

/// A box, or the same of triangles: those of its upper face meet along x / a = y / b.
inline model::ShapeId plate_shape(World& world, const StruckPlate& setup)
{
  const Vec3 half(setup.size.a / 2, setup.size.b / 2, setup.size.h / 2);
  if (!setup.is_mesh) return world.add_shape({model::Box{half}});
  mesh::TriangleMesh box;
  for (int i = 0; i < 8; ++i)
    box.vertices.emplace_back((i & 1) != 0 ? half.x() : -half.x(), (i & 2) != 0 ? half.y() : -half.y(),
                              (i & 4) != 0 ? half.z() : -half.z());
  box.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                   {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return world.add_shape({model::Mesh{std::make_shared<const mesh::TriangleMesh>(std::move(box)), nullptr}});
}

/// The spin of a body when the step is complete, before the observers that come later act on it.
class SpinReader : public StepObserver {
 public:
  explicit SpinReader(model::BodyId body) : body_(body) {}
  void after_slice(const StepView& view, StepActions& /*actions*/) override
  {
    spin = view.state.bodies[at(view.index_of(body_))].angular_velocity;
  }
  Vec3 spin = Vec3::Zero();  ///< [rad/s]

 private:
  model::BodyId body_;
};

inline PlateAnswer first_answer(const StruckPlate& setup, double step, double phase)
{
  WorldDesc desc;
  desc.length_scale = 0.1;
  desc.sleep.enabled = false;
  World world(desc);
  BodyDesc spec;
  spec.surface = world.add_surface({setup.restitution, setup.friction, 0, 0});
  spec.name = "plate";
  spec.shape = plate_shape(world, setup);
  spec.motion = model::Motion::fixed;
  const model::BodyId plate = world.add_body(spec);
  spec.motion = model::Motion::dynamic;
  spec.name = "ball";
  const auto add_ball = [&](double radius, double mass, const Vec3& place) {
    spec.shape = world.add_shape({model::Sphere{radius}});
    spec.mass = mass;
    spec.X_ws.position = place + Vec3(0, 0, setup.size.h / 2 + radius);
    return world.add_body(spec);
  };
  const std::array resting = {add_ball(0.02, 0.1, setup.resting[0]), add_ball(0.025, 0.3, setup.resting[1])};
  const double fall_time = std::sqrt(2 * setup.drop / kPlateGravity);
  spec.velocity = setup.along;
  spec.angular_velocity = setup.spin;
  const model::BodyId ball =
      add_ball(kBallRadius, setup.mass, setup.strike - fall_time * setup.along + Vec3(0, 0, setup.drop));
  SpinReader reader(ball);
  world.add_observer(reader);
  Responder responder;
  vibration::BodyResponseDesc response;
  response.settings.rule = setup.rule;
  responder.add_body(world, plate, setup.plate, response);
  world.add_observer(responder);
  PlateAnswer answer;
  for (int i = 0; world.state().time < 1.5 * fall_time; ++i) {
    world.step(i == 0 ? phase * step : step);
    if (responder.report().impacts == 0) continue;
    for (std::size_t k = 0; k < resting.size(); ++k) answer.speeds[k] = world.body(resting[k]).velocity.z();
    answer.received = responder.report().received / (setup.mass * kPlateGravity * setup.drop);
    answer.spin = world.body(ball).angular_velocity;
    answer.rigid_spin = reader.spin;
    answer.along = world.body(ball).velocity;
    break;
  }
  return answer;
}

}  // namespace thrum::sim
