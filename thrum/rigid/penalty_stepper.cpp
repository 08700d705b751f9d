// SPDX-License-Identifier: MIT
#include "thrum/rigid/penalty_stepper.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::rigid {

namespace {

/// Sweeps end when no impulse changes by more than this share of the largest.
constexpr double kSettled = 1e-10;
/// The change of friction is measured in shares of its coefficient, of this at least [1 or m].
constexpr double kMinLimit = 1e-12;
/// Sweeps over the joints alone before each over the contacts.
constexpr int kJointSweeps = 16;

}  // namespace

double SlipSpring::energy() const
{
  return 0.5 * stiffness * (stretch[0] * stretch[0] + stretch[1] * stretch[1]);
}

ContactGraph PenaltyStepper::order_contacts(const model::SceneModel& /*model*/,
                                            const model::SceneState& state, double /*h*/) const
{
  return contacts_as_found(state);
}

// -----------------------------------------------------------------------------------------------------------
// Stages

void PenaltyStepper::collide(StepFrame& frame)
{
  bodies_.load(frame.model, frame.state);
  JointRows::begin_step(frame.state);
  gather_patches(frame);
  if (!frame.model.joints.empty()) energy_of_islands_.prepare(frame.model, frame.state, false, false);
  push_out(frame);
  apply_requested_speeds(frame);
  substeps_ = count_substeps(frame.h);
  part_ = frame.h / substeps_;
}

// Impulses act between the halves, on bodies as they stand there.
void PenaltyStepper::move_half(StepFrame& frame, double h)
{
  for (SolverBody& body : bodies_.all()) body.has_contact = true;
  bodies_.advance_positions(frame.model, frame.state, 0.5 * h);
}

// The rows as the bodies stand now.
void PenaltyStepper::move_rows(const StepFrame& frame)
{
  const auto move = [&](const ContactArms& arms, std::span<BodyRow> rows) {
    const Vec3& xa = frame.state.bodies[at(rows[0].a)].X_wb.position;
    const Vec3& xb = frame.state.bodies[at(rows[0].b)].X_wb.position;
    const Vec3 on_a = xa + arms.of_a;
    const Vec3 on_b = xb + arms.of_b;
    const bool a_yields = bodies_[rows[0].a].inverse_mass > 0;
    const bool b_yields = bodies_[rows[0].b].inverse_mass > 0;
    const Vec3 p = !a_yields ? on_b : !b_yields ? on_a : Vec3(0.5 * (on_a + on_b));
    for (BodyRow& row : rows) {
      row.angular_a = (p - xa).cross(row.linear);
      row.angular_b = (p - xb).cross(row.linear);
    }
  };
  for (PenaltyPatch& patch : patches_) {
    for (PenaltyPoint& point : patch.active()) move(point.arms, {&point.row, 1});
    if (patch.sliding.count > 0) move(patch.middle, patch.sliding.rows);
  }
}

// Returns the mobility of the row, J M^-1 J^T.
double PenaltyStepper::find_response(const BodyRow& row, RowResponse& response)
{
  const SolverBody& a = bodies_[row.a];
  const SolverBody& b = bodies_[row.b];
  response.inverse_mass_a = a.inverse_mass;
  response.inverse_mass_b = b.inverse_mass;
  response.spin_a = a.inverse_inertia * row.angular_a;
  response.spin_b = b.inverse_inertia * row.angular_b;
  return (a.inverse_mass + b.inverse_mass) * row.linear.squaredNorm() + row.angular_a.dot(response.spin_a) +
         row.angular_b.dot(response.spin_b);
}

void PenaltyStepper::push(const BodyRow& row, const RowResponse& response, double impulse)
{
  SolverBody& a = bodies_[row.a];
  SolverBody& b = bodies_[row.b];
  a.v -= (response.inverse_mass_a * impulse) * row.linear;
  b.v += (response.inverse_mass_b * impulse) * row.linear;
  a.w -= impulse * response.spin_a;
  b.w += impulse * response.spin_b;
}

void PenaltyStepper::advance_velocities(StepFrame& frame, double h)
{
  const int parts = count_parts(frame, h);
  const double part = h / parts;
  // Sweeps begin with the impulses of the substep before.
  if (part != part_) scale_impulses([&](const BodyRow&) { return part / part_; });
  part_ = part;
  for (int i = 0; i + 1 < parts; ++i) {
    begin_part(frame, part_);
    solve_part(frame, part_);
    finish_part(frame, part_);
    joints_.finish_substep(frame.state);
  }
  begin_part(frame, part_);
}

void PenaltyStepper::resolve_contacts(StepFrame& frame, double /*h*/)
{
  solve_part(frame, part_);
}

void PenaltyStepper::advance_positions(StepFrame& frame, double /*h*/)
{
  finish_part(frame, part_);
}

void PenaltyStepper::bounce(StepFrame& frame, double /*h*/)
{
  joints_.finish_substep(frame.state);
}

void PenaltyStepper::begin_part(StepFrame& frame, double h)
{
  for (SolverBody& body : bodies_.all()) {
    body.push_v.setZero();
    body.push_w.setZero();
  }
  move_half(frame, h);
  bodies_.update_world_inertia(frame.model, frame.state);
  move_rows(frame);
  joints_.build(frame.model, frame.state, ConstraintSettings{}, bodies_, h);
  for (PenaltyPatch& patch : patches_) {
    for (PenaltyPoint& point : patch.active()) {
      point.before = speed_of(point.row, bodies_);
      point.mobility = find_response(point.row, point.response);
    }
    for (SlipSpring* spring : {&patch.sliding, &patch.twist, &patch.rolling}) {
      for (std::size_t i = 0; i < at(spring->count); ++i) {
        spring->before[i] = speed_of(spring->rows[i], bodies_);
        spring->mobility[i] = find_response(spring->rows[i], spring->responses[i]);
      }
    }
  }
  bodies_.advance_velocities(frame.model, h);
  if (joints_.rows().empty()) {
    push_all();
    return;
  }
  energy_of_islands_.find_inertia(frame.model, frame.state,
                                  IslandFlags(energy_of_islands_.island_count() + 1, 1));
  list_contact_speeds(free_speeds_);
  joints_.warm_start_within(
      energy_of_islands_, bodies_, [&] { push_all(); },
      [&] { scale_impulses([&](const BodyRow& row) { return energy_of_islands_.share(row.a, row.b); }); });
}

void PenaltyStepper::push_all()
{
  visit_contact_rows([&](const BodyRow& row, const RowResponse& response, double impulse, double) {
    if (impulse != 0) push(row, response, impulse);
  });
}

void PenaltyStepper::list_contact_speeds(std::vector<double>& speeds)
{
  speeds.clear();
  visit_contact_rows([&](const BodyRow& row, const RowResponse&, double, double) {
    speeds.push_back(speed_of(row, bodies_));
  });
}

// What joints bring beyond the work of the contacts they have no energy for: see island_energy.h.
bool PenaltyStepper::do_joints_gain(double h)
{
  contact_work_.assign(energy_of_islands_.island_count() + 1, 0.0);
  std::size_t k = 0;
  visit_contact_rows([&](const BodyRow& row, const RowResponse&, double impulse, double) {
    const double mean_speed = 0.5 * (free_speeds_[k++] + speed_of(row, bodies_));
    contact_work_[island_between(energy_of_islands_.islands(), energy_of_islands_.island_count(), row.a,
                                 row.b)] += impulse * mean_speed;
  });
  return energy_of_islands_.find_gaining_islands(bodies_, h, contact_work_);
}

// All forces of a substep together.
void PenaltyStepper::sweep_all(StepFrame& frame, double h, bool follows_bends)
{
  const bool has_joints = !joints_.rows().empty();
  for (int i = 0; i < settings_.iterations; ++i) {
    if (has_joints) {
      joints_.sweep(bodies_, h, kJointSweeps, 0);
      if (i == 0 && follows_bends)
        joints_.update_bends(frame.model, frame.state, ConstraintSettings{}, bodies_, h);
    }
    const double change = sweep(h);
    settled_ = change == 0;
    if ((i > 0 || !has_joints) && settled_) break;
  }
  if (has_joints) joints_.sweep(bodies_, h, kJointSweeps, 0);
}

void PenaltyStepper::solve_part(StepFrame& frame, double h)
{
  sweep_all(frame, h, true);
  if (joints_.rows().empty()) {
    if (!settled_) limit_work(frame);
    return;
  }
  if (do_joints_gain(h)) {
    energy_of_islands_.restore_velocities(bodies_);
    scale_impulses([](const BodyRow&) { return 0.0; });
    joints_.restart_on_tangents(energy_of_islands_);
    // Those of other islands go on from where they are.
    joints_.warm_start(bodies_);
    sweep_all(frame, h, false);
  }
  joints_.push_out(bodies_, h);
}

void PenaltyStepper::finish_part(StepFrame& frame, double h)
{
  // What corrects joints acts in the second half alone.
  for (SolverBody& body : bodies_.all()) {
    body.push_v *= 2;
    body.push_w *= 2;
  }
  for (PenaltyPatch& patch : patches_) {
    double normal = 0;
    for (PenaltyPoint& point : patch.active()) {
      finish_point(point, h);
      normal += point.impulse;
    }
    for (std::size_t i = 0; i < at(patch.sliding.count); ++i)
      patch.friction_total += patch.sliding.impulse[i] * patch.sliding.rows[i].linear;
    finish_slip(patch.sliding, normal, h);
    finish_slip(patch.twist, normal, h);
    finish_slip(patch.rolling, normal, h);
  }
  if (!settled_ && joints_.rows().empty()) limit_spring_energy();
  move_half(frame, h);
}

void PenaltyStepper::store_results(StepFrame& frame)
{
  bodies_.store(frame.state);
  energy_ = 0;
  for (const PenaltyPatch& patch : patches_) {
    model::ContactPatch& contact = frame.state.patches[at(patch.source)];
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      const PenaltyPoint& point = patch.points[i];
      const double depth = std::max(0.0, point.depth);
      energy_ += 0.5 * patch.spring.stiffness * depth * depth;
      contact.points[i].normal_impulse = point.total;
      contact.points[i].warm_impulse = std::sqrt(patch.spring.stiffness) * depth;
      contact.points[i].normal_speed = point.speed;
      contact.points[i].requested_speed = 0;
      contact.points[i].bounced = false;
    }
    contact.friction_impulse = patch.friction_total;
    energy_ += patch.sliding.energy() + patch.twist.energy() + patch.rolling.energy();
    contact.warm_friction = -std::sqrt(patch.sliding.stiffness) *
                            (patch.sliding.stretch[0] * patch.t1 + patch.sliding.stretch[1] * patch.t2);
    contact.warm_twist = -std::sqrt(patch.twist.stiffness) * patch.twist.stretch[0];
    contact.warm_rolling = -std::sqrt(patch.rolling.stiffness) *
                           (patch.rolling.stretch[0] * patch.t1 + patch.rolling.stretch[1] * patch.t2);
  }
}

// -----------------------------------------------------------------------------------------------------------
// Forces of a substep

// Returns the largest change of an impulse, 0 when all have settled.
double PenaltyStepper::sweep(double h)
{
  double change = 0;
  double largest = 0;
  for (PenaltyPatch& patch : patches_) {
    double normal = 0;
    for (PenaltyPoint& point : patch.active()) {
      change = std::max(change, solve_point(patch.spring, point, h));
      normal += point.impulse;
    }
    largest = std::max(largest, normal);
    for (SlipSpring* spring : {&patch.sliding, &patch.twist, &patch.rolling}) {
      if (spring->count > 0) change = std::max(change, solve_slip(*spring, normal, h));
    }
  }
  return change <= kSettled * largest ? 0 : change;
}

double PenaltyStepper::solve_point(const ContactSpring& spring, PenaltyPoint& point, double h)
{
  // Speed at the end of the substep if this point did not push.
  const double free = speed_of(point.row, bodies_) - point.mobility * point.impulse;
  const double free_depth = point.depth - 0.5 * h * (point.before + free);
  const double depth = depth_after(spring, point.depth, free_depth, point.mobility, h);
  const double impulse = h * contact_force(spring, point.depth, depth, h);
  const double change = impulse - point.impulse;
  if (change == 0) return 0;
  push(point.row, point.response, change);
  point.impulse = impulse;
  return std::abs(change);
}

// With s = h (u0 + u1) / 2 the way of the substep, the spring and its damper give
//
//     p = -h (k (xi + s / 2) + c s / h),        u1 = u + w p,
//
// a linear equation for p in each direction; both together are limited to `limit` times the normal impulse.
double PenaltyStepper::solve_slip(SlipSpring& spring, double normal_impulse, double h)
{
  std::array<double, 2> wanted{};
  const double resistance = 0.5 * h * spring.stiffness + spring.damping;
  for (std::size_t i = 0; i < at(spring.count) && normal_impulse > 0; ++i) {
    const double free = speed_of(spring.rows[i], bodies_) - spring.mobility[i] * spring.impulse[i];
    const double way = 0.5 * h * (spring.before[i] + free);
    wanted[i] = -(h * spring.stiffness * spring.stretch[i] + resistance * way) /
                (1 + 0.5 * h * resistance * spring.mobility[i]);
  }
  const double length = std::hypot(wanted[0], wanted[1]);
  const double limit = spring.limit * normal_impulse;
  spring.slips = length > limit || normal_impulse <= 0;
  double change = 0;
  for (std::size_t i = 0; i < at(spring.count); ++i) {
    if (length > limit) wanted[i] *= limit / length;
    const double step = wanted[i] - spring.impulse[i];
    if (step == 0) continue;
    push(spring.rows[i], spring.responses[i], step);
    spring.impulse[i] = wanted[i];
    change = std::max(change, std::abs(step) / std::max(spring.limit, kMinLimit));
  }
  return change;
}

void PenaltyStepper::finish_point(PenaltyPoint& point, double h)
{
  point.depth -= 0.5 * h * (point.before + speed_of(point.row, bodies_));
  point.total += point.impulse;
}

// A spring that slips keeps the stretch of its force, as far as the work of the substep allows.
void PenaltyStepper::finish_slip(SlipSpring& spring, double normal_impulse, double h)
{
  if (spring.count == 0) return;
  const double available = spring.energy();
  double work = 0;  // on the bodies
  for (std::size_t i = 0; i < at(spring.count); ++i) {
    const double way = 0.5 * h * (spring.before[i] + speed_of(spring.rows[i], bodies_));
    work += spring.impulse[i] / h * way;
    spring.stretch[i] = spring.slips ? -spring.impulse[i] / (h * spring.stiffness) : spring.stretch[i] + way;
  }
  if (!spring.slips) return;
  if (normal_impulse <= 0) spring.stretch = {};
  const double allowed = std::max(0.0, available - work);
  const double energy = spring.energy();
  if (energy <= allowed) return;
  for (double& stretch : spring.stretch) stretch *= std::sqrt(allowed / energy);
}

std::unique_ptr<Stepper> make_penalty_stepper(const PenaltySettings& settings)
{
  return std::make_unique<PenaltyStepper>(settings);
}

}  // namespace thrum::rigid
