// SPDX-License-Identifier: MIT
#include "thrum/rigid/constraint_stepper.h"

namespace thrum::rigid {

void ConstraintStepper::collide(StepFrame& frame)
{
  bodies_.load(frame.model, frame.state);
  contacts_.build(frame.state, frame.order, frame.surfaces, settings_, bodies_);
  if (settings_.order == SweepOrder::contact_graph)
    contacts_.hold_lower_bodies(bodies_, settings_, frame.levels);
  joints_.build(frame.model, frame.state, settings_, bodies_, frame.h / settings_.sub_steps);
}

void ConstraintStepper::advance_velocities(StepFrame& frame, double h)
{
  contacts_.note_approach(bodies_);
  bodies_.advance_velocities(frame.model, frame.state, h);
}

void ConstraintStepper::sweeps(int iterations, double h)
{
  // Down from the last patch to the first and up again, so that loads and support both travel.
  for (int i = 0; i < iterations; ++i) {
    joints_.sweep(bodies_, h);
    contacts_.sweep(bodies_, settings_, h, i % 2 == 0);
  }
  if (settings_.order == SweepOrder::contact_graph) contacts_.shock_sweep(bodies_, settings_, h);
}

void ConstraintStepper::resolve_contacts(StepFrame& frame, double h)
{
  contacts_.warm_start(bodies_);
  joints_.warm_start(bodies_);
  sweeps(settings_.iterations, h);
  contacts_.mark_touched(bodies_);
  contacts_.push_out(bodies_, settings_, frame.model.length_scale, h);
  joints_.push_out(bodies_, h);
}

void ConstraintStepper::advance_positions(StepFrame& frame, double h)
{
  bodies_.advance_positions(frame.model, frame.state, h);
  if (contacts_.start_bounces()) sweeps(settings_.impact_iterations, h);
  contacts_.finish_sub_step();
  joints_.finish_sub_step();
}

void ConstraintStepper::finish(StepFrame& frame)
{
  bodies_.store(frame.state);
  contacts_.store(frame.state);
  joints_.store(frame.state);
}

}  // namespace thrum::rigid
