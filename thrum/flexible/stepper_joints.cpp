// SPDX-License-Identifier: MIT
// Joints of bodies that touch something, within the groups of the flexible stepper.
//
// A row of a joint is a spring between its bodies, as stiff as one that swings the mass it feels at
// kJointFrequency: forces are held over a substep as those of contacts are, and there is no limit of
// stability.
//
// As a contact that is found deeper than it was pressed, a joint that is found farther off than its spring
// was stretched would bring energy that nothing has spent: a joint that starts a decimetre off its place, or
// that pulls two boxes into each other, threw them with up to 45 m/s. So the spring begins with the stretch
// that it had, and the rest is pushed out without giving speed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/flexible/flexible_body.h"

namespace thrum::flexible {

namespace {

constexpr double kJointFrequency = 300;  ///< [Hz]
constexpr double kJointDampingRatio = 1;

/// The spring of a joint that is off by `found` and had the stretch `before` begins with this.
double first_stretch(double found, double before)
{
  return std::clamp(found, std::min(0.0, before), std::max(0.0, before));
}

bool is_rigid(const rigid::JointRow& row)
{
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return !row.limit && !row.spring && row.speed == 0 && row.lower == -kInfinity && row.upper == kInfinity;
}

}  // namespace

// Those with a contact, and those that joints join to them.
std::vector<bool> FlexibleStepper::bodies_in_touch(const rigid::StepFrame& frame)
{
  std::vector<bool> touches(bodies_.all().size(), false);
  for (const std::int32_t p : frame.order) {
    touches[at(frame.state.patches[at(p)].a)] = true;
    touches[at(frame.state.patches[at(p)].b)] = true;
  }
  const auto moves = [&](model::BodyIndex i) {
    return i != model::kNone && bodies_.all()[at(i)].moves;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const model::Joint& joint : frame.model.joints) {
      if (!moves(joint.a) || !moves(joint.b) || touches[at(joint.a)] == touches[at(joint.b)]) continue;
      touches[at(joint.a)] = touches[at(joint.b)] = true;
      changed = true;
    }
  }
  return touches;
}

// What the groups hold, the joints need not.
void FlexibleStepper::take_joint_rows(const std::vector<bool>& in_touch)
{
  const auto touches = [&](std::int32_t i) {
    return bodies_.all()[at(i)].moves && in_touch[at(i)];
  };
  for (rigid::JointRow& row : joints_.rows()) {
    if (!is_rigid(row) || !(touches(row.a) || touches(row.b))) continue;
    group_joints_.push_back({row, -1, -1});
    row.lower = row.upper = 0;
  }
}

void FlexibleStepper::add_joints(const rigid::StepFrame& frame)
{
  const auto place_of = [&](std::int32_t i) -> Place {
    return at(i) < places_.size() ? places_[at(i)] : Place{};
  };
  for (GroupJoint& joint : group_joints_) {
    const Place a = place_of(joint.row.a);
    const Place b = place_of(joint.row.b);
    joint.group = a.group >= 0 ? a.group : b.group;
    ContactGroup& group = groups_[at(joint.group)];
    group.begin_patch();
    const RowSide side_a{.body = a.body, .direction = -joint.row.linear, .moment = -joint.row.angular_a};
    const RowSide side_b{.body = b.body, .direction = joint.row.linear, .moment = joint.row.angular_b};
    SlipDesc desc;
    desc.rows[0] = desc.rows[1] = group.add_row(side_a, side_b);
    desc.count = 1;
    const double mass = group.effective_mass(desc.rows[0]);
    const double omega = 2 * std::numbers::pi * kJointFrequency;
    desc.stiffness = mass * omega * omega;
    desc.damping = 2 * kJointDampingRatio * mass * omega;
    desc.is_joint = true;
    desc.limit = joint.row.linear.isZero(0) ? frame.model.length_scale : 1;
    const double last_step = frame.state.last_step > 0 ? frame.state.last_step : frame.h;
    const double before = -joint.row.lambda / (last_step * desc.stiffness);
    desc.force[0] = -desc.stiffness * first_stretch(joint.row.phi, before);
    joint.slip = group.add_slip(desc);
    joint.stiffness = desc.stiffness;
  }
}

// What a spring of a group holds is its stretch: only the rest is pushed out. With all of it, the light
// wheels of a cart were pushed to the axles of its bed, and so into the ground, by 7 um in a slice; lifting
// them again was work that nothing had done.
void FlexibleStepper::push_out_joints(rigid::StepFrame& frame, double h)
{
  bodies_.update_world_inertia(frame.model, frame.state);
  joints_.build(frame.model, frame.state, rigid::ConstraintSettings{}, bodies_, h);
  for (rigid::JointRow& row : joints_.rows()) {
    const auto is_of_row = [&](const GroupJoint& joint) {
      return joint.row.joint == row.joint && joint.row.slot == row.slot;
    };
    const auto held = std::find_if(group_joints_.begin(), group_joints_.end(), is_of_row);
    if (held == group_joints_.end() || !is_rigid(row)) continue;
    const double force = groups_[at(held->group)].slip_force(held->slip)[0];
    row.phi -= first_stretch(row.phi, -force / held->stiffness);
  }
  joints_.push_out(bodies_, h);
  for (std::size_t i = 0; i < frame.model.bodies.size(); ++i) {
    rigid::SolverBody& body = bodies_.all()[i];
    if (!body.moves || body.inverse_mass == 0) continue;
    Pose& X_wb = frame.state.bodies[i].X_wb;
    X_wb.position += h * body.push_v;
    if (body.push_w.isZero(0)) continue;
    // The spin turns along, so that its energy stays.
    const Quat turn = rigid::advance_rotation(Quat::Identity(), body.push_w, h);
    X_wb.rotation = (turn * X_wb.rotation).normalized();
    body.w = turn * body.w;
  }
}

}  // namespace thrum::flexible
