// SPDX-License-Identifier: MIT
#include "thrum/flexible/flexible_stepper.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/flexible/flexible_body.h"

namespace thrum::flexible {

namespace {

constexpr int kJointSweeps = 64;
constexpr int kBendUpdates = 2;

}  // namespace

FlexibleStepper::FlexibleStepper(const FlexibleSettings& settings) : settings_(settings) {}
FlexibleStepper::~FlexibleStepper() = default;

std::unique_ptr<FlexibleStepper> make_flexible_stepper(const FlexibleSettings& settings)
{
  return std::make_unique<FlexibleStepper>(settings);
}

void FlexibleStepper::set_body(model::BodyId id, const ElasticBody& body)
{
  bodies_by_id_[id] = std::make_shared<FlexibleBody>(body, settings_.max_frequency);
}

bool FlexibleStepper::is_flexible(model::BodyId id) const
{
  const auto found = bodies_by_id_.find(id);
  return found != bodies_by_id_.end() && found->second->modes.size() > 0;
}

std::shared_ptr<const model::ModalModel> FlexibleStepper::modes_of(model::BodyId id) const
{
  const auto found = bodies_by_id_.find(id);
  return found == bodies_by_id_.end() ? nullptr : found->second->elastic.modes;
}

void FlexibleStepper::check_state(const model::SceneState& state) const
{
  for (const model::ModalState& ring : state.modal_states) {
    const auto found = bodies_by_id_.find(ring.body);
    if (found == bodies_by_id_.end()) continue;
    const std::size_t expected = found->second->modes.size();
    if (ring.q.size() == expected && ring.v.size() == expected) continue;
    throw Error(
        fmt::format("The state has {} amplitudes and {} speeds of modes of body {}, expected {} of each: the "
                    "modes of its "
                    "model up to {} Hz.",
                    ring.q.size(), ring.v.size(), to_string(ring.body), expected, settings_.max_frequency));
  }
}

double FlexibleStepper::vibration_energy(const model::SceneState& state) const
{
  double sum = 0;
  for (const model::ModalState& ring : state.modal_states) {
    const auto found = bodies_by_id_.find(ring.body);
    if (found == bodies_by_id_.end()) continue;
    const elastic::ModeList& modes = found->second->modes;
    for (std::size_t m = 0; m < std::min(ring.q.size(), modes.size()); ++m) {
      const double wq = modes.omegas[static_cast<Eigen::Index>(m)] * ring.q[m];
      sum += 0.5 * (ring.v[m] * ring.v[m] + wq * wq);
    }
  }
  return sum;
}

// -----------------------------------------------------------------------------------------------------------
// Stages

rigid::ContactGraph FlexibleStepper::order_contacts(const model::SceneModel& /*model*/,
                                                    const model::SceneState& state, double /*h*/) const
{
  return rigid::contacts_as_found(state);
}

void FlexibleStepper::collide(rigid::StepFrame& frame)
{
  bodies_.load(frame.model, frame.state);
  rigid::JointRows::begin_step(frame.state);
  solve_joints(frame, frame.h);
  assign_groups(frame);
  add_bodies(frame);
  add_joints(frame);
  patches_.clear();
  overlaps_.clear();
  for (const std::int32_t source : frame.order) add_patch(frame, source);
  for (auto& [id, body] : bodies_by_id_) {
    if (body->map) body->map->evict_unused();
  }
}

// The forces of joints over the slice. A body that touches something, or that joints join to one that does,
// feels gravity, springs and motors as forces held over the slice, so that its contacts are pressed evenly,
// and its joints in the group; any other moves with the velocity at the end of the slice, which keeps the
// energy of pendulums.
void FlexibleStepper::solve_joints(rigid::StepFrame& frame, double h)
{
  group_joints_.clear();
  if (frame.model.joints.empty()) return;
  std::vector<Vec3> v, w;
  for (const rigid::SolverBody& body : bodies_.all()) {
    v.push_back(body.v);
    w.push_back(body.w);
  }
  joints_.build(frame.model, frame.state, rigid::ConstraintSettings{}, bodies_, h);
  const std::vector<bool> touches = bodies_in_touch(frame);
  take_joint_rows(touches);
  bodies_.advance_velocities(frame.model, h);
  energy_of_islands_.prepare(frame.model, frame.state, false, false);
  const auto nothing = [] {
  };
  joints_.warm_start_within(energy_of_islands_, bodies_, nothing, nothing);
  for (int i = 0; i < kBendUpdates; ++i) {
    joints_.sweep(bodies_, h, kJointSweeps, 0);
    joints_.update_bends(frame.model, frame.state, rigid::ConstraintSettings{}, bodies_, h);
  }
  joints_.sweep(bodies_, h, kJointSweeps, 0);
  // Joints bring no energy: see island_energy.h.
  const std::vector<double> no_work(energy_of_islands_.island_count() + 1, 0.0);
  if (energy_of_islands_.find_gaining_islands(bodies_, h, no_work)) {
    energy_of_islands_.restore_velocities(bodies_);
    joints_.restart_on_tangents(energy_of_islands_);
    joints_.warm_start(bodies_);
    for (int i = 0; i <= kBendUpdates; ++i) joints_.sweep(bodies_, h, kJointSweeps, 0);
  }
  joints_.finish_substep(frame.state);
  for (std::size_t i = 0; i < bodies_.all().size(); ++i) {
    rigid::SolverBody& body = bodies_.all()[i];
    if (body.inverse_mass == 0 || !body.moves) continue;
    if (!touches[i]) {
      body.acceleration.setZero();
      body.angular_acceleration.setZero();
      continue;
    }
    body.acceleration = (body.v - v[i]) / h;
    body.angular_acceleration = (body.w - w[i]) / h;
    body.v = v[i];
    body.w = w[i];
  }
}

// Forces act within resolve_contacts.
void FlexibleStepper::advance_velocities(rigid::StepFrame& /*frame*/, double /*h*/) {}

void FlexibleStepper::resolve_contacts(rigid::StepFrame& /*frame*/, double h)
{
  base::parallel_for(
      at(group_count_), [&](std::size_t g) { groups_[g].advance(h, settings_, substep_observer_); }, 1);
  ++report_.slices;
  GroupReport& sum = report_.groups;
  sum.contact_energy = 0;
  for (int g = 0; g < group_count_; ++g) {
    const GroupReport& one = groups_[at(g)].report();
    sum.substeps += one.substeps;
    sum.sweeps += one.sweeps;
    sum.newton_solves += one.newton_solves;
    sum.newton_steps += one.newton_steps;
    sum.shortened += one.shortened;
    sum.culled += one.culled;
    sum.unsolved += one.unsolved;
    sum.max_residual = std::max(sum.max_residual, one.max_residual);
    sum.contact_energy += one.contact_energy;
    sum.held_mode_energy += one.held_mode_energy;
    sum.tail_mode_energy += one.tail_mode_energy;
    sum.active_modes += one.active_modes;
    report_.max_contacts = std::max(report_.max_contacts, group_contacts_[at(g)]);
  }
}

// The group has moved a body without its own gyroscopic moments: they are added by its free rotation.
void FlexibleStepper::advance_positions(rigid::StepFrame& frame, double h)
{
  for (std::size_t i = 0; i < frame.model.bodies.size(); ++i) {
    rigid::SolverBody& body = bodies_.all()[i];
    if (!body.moves) continue;
    const Place& place = places_[i];
    const ContactGroup& group = groups_[at(place.group)];
    Pose& X_wb = frame.state.bodies[i].X_wb;
    const model::BodyProperties& desc = frame.model.bodies[i];
    X_wb.position += group.displacement(place.body);
    const Vec3 w_gain = group.angular_velocity(place.body) - body.w;
    const Vec3 turn_gain = group.rotation(place.body) - h * body.w;
    if (body.inverse_mass > 0) {
      const rigid::SpinMidpoint spin = rigid::advance_spin(desc.inertia, X_wb.rotation, body.w, h);
      X_wb.rotation = rigid::advance_rotation(spin.rotation, turn_gain, 1);
      // The angular momentum that contacts gave was given to the body as it stood. Their work was found with
      // its inertia as it stood: the spin has no more energy than that.
      const Mat3 before = body.inverse_inertia.inverse();
      body.inverse_inertia = rigid::world_inverse_inertia(desc.inertia, X_wb.rotation);
      const Vec3 w_end = body.w + w_gain;
      body.w = spin.w_after + body.inverse_inertia * (before * w_gain);
      const double energy = body.w.dot(body.inverse_inertia.ldlt().solve(body.w));
      const double allowed = w_end.dot(before * w_end);
      if (energy > allowed) body.w *= std::sqrt(allowed / energy);
    } else {
      X_wb.rotation = rigid::advance_rotation(X_wb.rotation, body.w, h);
    }
    body.v = group.velocity(place.body);
    if (body.damped) {
      body.v *= std::exp(-h * desc.linear_damping);
      body.w *= std::exp(-h * desc.angular_damping);
    }
  }
  if (!frame.model.joints.empty()) push_out_joints(frame, h);
  push_out_overlap(frame, h);
}

// What a lift costs is the work against gravity: forces of joints, held over the slice, have done theirs. It
// is paid by what the group of the body has lost in this slice, and then by the motion of the body.
void FlexibleStepper::push_out_overlap(rigid::StepFrame& frame, double h)
{
  std::vector<double> lost;
  for (int g = 0; g < group_count_; ++g) lost.push_back(groups_[at(g)].lost_energy());
  std::vector<double*> budgets(frame.model.bodies.size(), nullptr);
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    bodies_.all()[i].acceleration = frame.model.bodies[i].gravity_scale * frame.model.gravity;
    if (places_[i].group >= 0) budgets[i] = &lost[at(places_[i].group)];
  }
  rigid::push_out_overlap(
      {settings_.push_out_share, settings_.max_push_out * frame.model.length_scale, budgets}, overlaps_, h,
      bodies_, frame.state);
}

void FlexibleStepper::bounce(rigid::StepFrame& /*frame*/, double /*h*/) {}

void FlexibleStepper::store_results(rigid::StepFrame& frame)
{
  bodies_.store(frame.state);
  report_.modal_forces.clear();
  for (const PatchRows& rows : patches_) {
    model::ContactPatch& contact = frame.state.patches[at(rows.source)];
    const ContactGroup& group = groups_[at(rows.group)];
    for (std::size_t i = 0; i < contact.active().size(); ++i) {
      model::ContactPoint& point = contact.points[i];
      point.normal_impulse = group.impulse(rows.contacts[i]);
      point.warm_impulse = settings_.contact == ContactLaw::hard
                               ? group.force(rows.contacts[i])
                               : rows.laws[i].static_force(group.indentation(rows.contacts[i]));
      point.normal_speed = group.approach(rows.contacts[i]);
      point.requested_speed = 0;
      point.bounced = false;
    }
    const auto across = [&](int slip, auto value) -> Vec3 {
      if (slip < 0) return Vec3::Zero();
      const std::array<double, 2> both = value(slip);
      return both[0] * rows.t1 + both[1] * rows.t2;
    };
    const auto force = [&](int slip) {
      return group.slip_force(slip);
    };
    contact.friction_impulse = across(rows.sliding, [&](int slip) { return group.slip_impulse(slip); });
    contact.warm_friction = across(rows.sliding, force);
    contact.warm_rolling = across(rows.rolling, force) / rows.rolling_arm;
    contact.warm_twist = rows.twist < 0 ? 0 : group.slip_force(rows.twist)[0] / rows.twist_arm;
  }
  for (const GroupJoint& joint : group_joints_) {
    const ContactGroup& group = groups_[at(joint.group)];
    const double impulse = group.slip_impulse(joint.slip)[0];
    model::JointState& state = frame.state.joints[at(joint.row.joint)];
    // What the spring holds at the end, with which it begins the next slice.
    state.warm_impulse[at(joint.row.slot)] = frame.h * group.slip_force(joint.slip)[0];
    state.impulse += impulse * joint.row.linear;
    state.angular_impulse += impulse * joint.row.angular_b;
  }
  // In the order of the bodies; those of others, such as a response, stay behind them.
  std::vector<model::ModalState> rings;
  for (std::size_t i = 0; i < frame.model.bodies.size(); ++i) {
    const FlexibleBody* body = flexible(frame, static_cast<model::BodyIndex>(i));
    const Place& place = places_[i];
    if (body == nullptr || body->modes.size() == 0 || place.group < 0) continue;
    if (body->elastic.records_forces) {
      report_.modal_forces.push_back(groups_[at(place.group)].modal_forces(place.body));
      report_.modal_forces.back().body = frame.state.body_ids[i];
    }
    const std::span<const double> q = groups_[at(place.group)].q(place.body);
    const std::span<const double> u = groups_[at(place.group)].u(place.body);
    const auto is_zero = [](double value) {
      return value == 0;
    };
    if (std::all_of(q.begin(), q.end(), is_zero) && std::all_of(u.begin(), u.end(), is_zero)) continue;
    rings.push_back({frame.state.body_ids[i], {q.begin(), q.end()}, {u.begin(), u.end()}});
  }
  for (model::ModalState& other : frame.state.modal_states) {
    if (!is_flexible(other.body)) rings.push_back(std::move(other));
  }
  frame.state.modal_states = std::move(rings);
}

}  // namespace thrum::flexible
