// SPDX-License-Identifier: MIT
// The scenes of the comparison of methods, and what is measured on them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "thrum/sim/world.h"

namespace thrum::bench {

/// A scene that any method can run.
struct MethodScene {
  std::string name;
  std::string question;  ///< that it answers
  double step = 1.0 / 60;
  double seconds = 1;
  std::function<sim::World(sim::WorldDesc)> build;
  /// Whether something is where it can only be by passing through a body.
  std::function<bool(const sim::World&)> has_passed = [](const sim::World&) {
    return false;
  };
};

[[nodiscard]] std::vector<MethodScene> method_scenes();

/// Balls in a box without gravity and without losses, at the same density for any number.
[[nodiscard]] sim::World gas_scene(sim::WorldDesc desc, int count);

/// About the origin [kg m^2/s].
[[nodiscard]] Vec3 angular_momentum(const sim::World& world);

/// A method: a stepper with a way to find times of impact.
struct Method {
  std::string name;
  sim::StepperKind stepper = sim::StepperKind::constraint;
  sim::TimeOfImpactMethod time_of_impact = sim::TimeOfImpactMethod::continuous;
};

[[nodiscard]] std::vector<Method> all_methods();
[[nodiscard]] sim::WorldDesc desc_of(const Method& method);

}  // namespace thrum::bench
