// SPDX-License-Identifier: MIT
// What a step took from the energy of its bodies, from the bodies before and after it. The view must have
// bodies_before.
#pragma once

#include "thrum/model/body.h"
#include "thrum/sim/step_observer.h"

namespace thrum::sim {

/// Mechanical energy that the rigid step took from a body, with what applied forces brought in [J].
[[nodiscard]] double body_energy_loss(const StepView& view, model::BodyIndex body);

/// The same of all bodies, with what those that are moved brought in by their contacts; below 0 where energy
/// was added [J].
[[nodiscard]] double step_energy_loss(const StepView& view);

}  // namespace thrum::sim
