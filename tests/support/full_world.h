// SPDX-License-Identifier: MIT
// A small world whose state has something in every list: contacts, sensors, a joint, a ringing body, a kick
// under way. For tests that restore states into it.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "tests/vibration/plate_model.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/model/visit_state.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"

namespace thrum::testing {

/// Whether all numbers of a state are finite; `first` is the path of the first one that is not.
struct FiniteCheck : model::NumberVisitor {
  std::vector<std::string> path;
  std::string first;

  void enter(const char* field) { path.push_back(path.empty() ? field : path.back() + "." + field); }
  void enter(std::size_t index) { path.push_back(path.back() + "[" + std::to_string(index) + "]"); }
  void leave() { path.pop_back(); }
  template <class T>
  void number(T value)
  {
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value) && first.empty()) first = path.back();
    }
  }
};

[[nodiscard]] inline std::string first_not_finite(const model::SceneState& state)
{
  FiniteCheck check;
  model::visit_numbers(state, check);
  return check.first;
}

/// A slab that rings, boxes that stand on it, one that has just fallen on it, two of them joined, a sensor
/// around one of them.
struct FullWorld {
  static constexpr double kStep = 0.01;  ///< [s]

  sim::World world;
  sim::Responder responder;
  model::BodyId faller;

  explicit FullWorld(sim::StepperKind stepper) : world(desc(stepper))
  {
    sim::BodyDesc spec;
    spec.name = "slab";
    spec.shape = world.add_shape({model::Box{{0.8, 0.45, 0.015}}});
    spec.motion = model::Motion::fixed;
    const model::BodyId slab = world.add_body(spec);
    spec.name = "sensor";
    spec.sensor = true;
    spec.shape = world.add_shape({model::Box{{0.1, 0.1, 0.1}}});
    spec.X_ws.position = {-0.3, 0.1, 0.045};
    (void)world.add_body(spec);
    spec = {};
    spec.shape = world.add_shape({model::Box{{0.03, 0.03, 0.03}}});
    spec.mass = 0.2;
    spec.name = "a";
    spec.X_ws.position = {-0.3, 0.1, 0.045};
    const model::BodyId a = world.add_body(spec);
    spec.name = "b";
    spec.X_ws.position = {-0.2, 0.1, 0.045};
    const model::BodyId b = world.add_body(spec);
    spec.name = "faller";
    spec.X_ws.position = {0, 0, 0.06};
    spec.mass = 3.0;
    spec.velocity = {0, 0, -1};
    faller = world.add_body(spec);
    model::JointDesc joint;
    joint.kind = model::JointKind::ball;
    joint.a = a;
    joint.b = b;
    joint.X_aj.position = {0.05, 0, 0};
    joint.X_bj.position = {-0.05, 0, 0};
    world.add_joint(joint);
    if (stepper == sim::StepperKind::flexible) {
      world.set_elastic(slab, {0, slab_model()});
      return;
    }
    responder.add_body(world, slab, slab_model(), {});
    world.add_observer(responder);
  }

  /// After the impact. A kick that arrives in the next step is added, as the rules of this scene send none.
  [[nodiscard]] model::SceneState state_after_impact()
  {
    for (int i = 0; i < 6; ++i) world.step(kStep);
    model::SceneState state = world.save();
    model::PendingKick kick;
    kick.body = faller;
    kick.time = state.time + kStep / 2;
    kick.impulse = {0.01, 0, 0.02};
    kick.arm_b = {0, 0.01, -0.03};
    kick.energy = 1e-3;
    state.pending_kicks.push_back(kick);
    return state;
  }

 private:
  static sim::WorldDesc desc(sim::StepperKind stepper)
  {
    sim::WorldDesc desc;
    desc.length_scale = 0.1;
    desc.stepper = stepper;
    desc.threads = 1;
    return desc;
  }

  static std::shared_ptr<const model::ModalModel> slab_model()
  {
    auto model = std::make_shared<model::ModalModel>(*vibration::plate_model({.modes = 3, .cells = 6}));
    for (Vec3& v : model->surface.vertices) v += Vec3(-0.8, -0.45, 0.015);
    // A vertex below gives the model the height of the slab.
    model->surface.vertices.emplace_back(-0.8, -0.45, -0.015);
    model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
    model->shapes.bottomRows(3).setZero();
    return model;
  }
};

}  // namespace thrum::testing
