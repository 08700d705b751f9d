// SPDX-License-Identifier: MIT
#include "thrum/rigid/joint_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/rigid/joint_coordinate.h"
#include "thrum/rigid/joint_motor.h"

namespace thrum::rigid {

namespace {

/// A body that turns by more than this in a substep leaves the tangent of its joints by no small bend [rad].
/// So does a rod, or what slides along an axis that turns. Less of it is followed where the joint is off by
/// more than a share of the distances from the centres of mass to it: what was torn apart is not on the
/// tangent.
constexpr double kMaxBentTurn = 3;
constexpr double kMaxTornTurn = 0.5;
constexpr double kTornShare = 0.1;
/// What a bend adds to the speed of its bodies against each other, at most, as a share of it: for a body on a
/// point half the angle that it turns by.
constexpr double kMaxBentShare = 0.5;
/// Rows of axes that are further apart than this are not their tangent any more [rad].
constexpr double kMaxBentError = 0.25;

// A joint with its two frames in the world.
struct PlacedJoint {
  const model::Joint& desc;
  std::int32_t a;
  std::int32_t b;
  std::int32_t joint;
  Pose X_wja;  ///< joint frame on a
  Pose X_wjb;  ///< joint frame on b
  Vec3 ra;     ///< its origin from the centre of mass of a [m]
  Vec3 rb;
  double deceleration = 0;  ///< of its motor, see braking_deceleration()

  void place(const Pose& X_wa, const Pose& X_wb)
  {
    X_wja = X_wa * desc.X_aj;
    X_wjb = X_wb * desc.X_bj;
    ra = X_wja.position - X_wa.position;
    rb = X_wjb.position - X_wb.position;
  }
};

class RowBuilder {
 public:
  RowBuilder(std::vector<JointRow>& rows, const PlacedJoint& joint, double erp)
      : rows_(rows), joint_(joint), erp_(erp)
  {
  }

  JointRow& add(int slot, const Vec3& linear, const Vec3& angular_a, const Vec3& angular_b, double phi)
  {
    JointRow row;
    row.a = joint_.a;
    row.b = joint_.b;
    row.joint = joint_.joint;
    row.slot = slot;
    row.linear = linear;
    row.angular_a = angular_a;
    row.angular_b = angular_b;
    row.phi = phi;
    row.erp = erp_;
    rows_.push_back(row);
    return rows_.back();
  }
  // The origins may not move apart along `axis`.
  JointRow& hold_point(int slot, const Vec3& axis)
  {
    const Vec3 d = joint_.X_wjb.position - joint_.X_wja.position;
    return add(slot, axis, joint_.ra.cross(axis), joint_.rb.cross(axis), axis.dot(d));
  }
  // b may slide against a, but not along `axis`, which is carried by a.
  JointRow& hold_slide(int slot, const Vec3& axis)
  {
    const Vec3 d = joint_.X_wjb.position - joint_.X_wja.position;
    return add(slot, axis, (joint_.ra + d).cross(axis), joint_.rb.cross(axis), axis.dot(d));
  }
  JointRow& hold_turn(int slot, const Vec3& axis, double angle)
  {
    return add(slot, Vec3::Zero(), axis, axis, angle);
  }

  // The coordinate `value` along a row stays within the limits, and a motor drives it.
  void limit_and_drive(int slot, const JointRow& along, double value, double h)
  {
    const model::Joint& desc = joint_.desc;
    if (desc.limited) {
      const bool near_lower = value - desc.limits.lower < desc.limits.upper - value;
      const double sign = near_lower ? 1.0 : -1.0;
      const double room = near_lower ? value - desc.limits.lower : desc.limits.upper - value;
      if (std::isfinite(room)) {
        JointRow& row = add(slot, sign * along.linear, sign * along.angular_a, sign * along.angular_b, room);
        row.lower = 0;
        row.limit = true;
      }
    }
    if (desc.motor.enabled) {
      JointRow& row = add(slot + 1, along.linear, along.angular_a, along.angular_b, 0);
      row.erp = 0;
      row.speed = motor_speed(desc.motor, desc.kind, value, joint_.deceleration, h);
      row.upper = h * desc.motor.max_force;
      row.lower = -row.upper;
    }
  }

 private:
  std::vector<JointRow>& rows_;
  const PlacedJoint& joint_;
  double erp_;
};

// The small rotation that would turn a's frame into b's, in world axes.
Vec3 turn_between(const Pose& from, const Pose& to)
{
  Quat q = to.rotation * from.rotation.conjugate();
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  return 2 * q.vec();
}

void add_rows(RowBuilder& rows, const PlacedJoint& joint, double h)
{
  const Mat3 Ra = joint.X_wja.rotation.toRotationMatrix();
  const Vec3 x = Ra.col(0);
  const Vec3 y = Ra.col(1);
  const Vec3 z = Ra.col(2);
  const Vec3 zb = joint.X_wjb.rotation * Vec3::UnitZ();
  const Vec3 d = joint.X_wjb.position - joint.X_wja.position;
  const auto hold_origin = [&] {
    for (int k = 0; k < 3; ++k) rows.hold_point(k, Vec3::Unit(k));
  };
  const auto hold_axes = [&] {
    const Vec3 turn = turn_between(joint.X_wja, joint.X_wjb);
    for (int k = 0; k < 3; ++k) rows.hold_turn(3 + k, Vec3::Unit(k), turn[k]);
  };
  const double value = joint_coordinate(joint.desc.kind, joint.X_wja, joint.X_wjb);
  switch (joint.desc.kind) {
    case model::JointKind::fixed:
      hold_origin();
      hold_axes();
      return;
    case model::JointKind::ball:
      hold_origin();
      return;
    case model::JointKind::hinge: {
      hold_origin();
      const Vec3 tilt = z.cross(zb);
      rows.hold_turn(3, x, x.dot(tilt));
      rows.hold_turn(4, y, y.dot(tilt));
      JointRow along;
      along.angular_a = along.angular_b = z;
      rows.limit_and_drive(5, along, value, h);
      return;
    }
    case model::JointKind::slider: {
      const Vec3 turn = turn_between(joint.X_wja, joint.X_wjb);
      for (int k = 0; k < 3; ++k) rows.hold_turn(k, Vec3::Unit(k), turn[k]);
      rows.hold_slide(3, x);
      rows.hold_slide(4, y);
      JointRow along;
      along.linear = z;
      along.angular_a = (joint.ra + d).cross(z);
      along.angular_b = joint.rb.cross(z);
      rows.limit_and_drive(5, along, value, h);
      return;
    }
    case model::JointKind::distance:
    case model::JointKind::spring: {
      const double length = d.norm();
      const Vec3 n = length > 0 ? Vec3(d / length) : z;
      if (joint.desc.kind == model::JointKind::distance && joint.desc.limited) {
        JointRow along;
        along.linear = n;
        along.angular_a = joint.ra.cross(n);
        along.angular_b = joint.rb.cross(n);
        rows.limit_and_drive(0, along, length, h);
        return;
      }
      JointRow& row = rows.add(0, n, joint.ra.cross(n), joint.rb.cross(n), length - joint.desc.length);
      if (joint.desc.kind == model::JointKind::spring) {
        row.spring = true;
        row.stiffness = joint.desc.stiffness;
        row.damping = joint.desc.damping;
      }
      return;
    }
  }
}

// J times a motion of both bodies.
double along_row(const JointRow& row, const Vec3& dx_a, const Vec3& dth_a, const Vec3& dx_b,
                 const Vec3& dth_b)
{
  return row.linear.dot(dx_b - dx_a) + row.angular_b.dot(dth_b) - row.angular_a.dot(dth_a);
}

// How far the row is violated now, to first order in what the bodies moved since it was built [m or rad].
double violation(const JointRow& row, const SolverBody& A, const SolverBody& B)
{
  return row.phi + along_row(row, A.dx, A.dth, B.dx, B.dth);
}

void set_effective_mass(JointRow& row, const SolverBody& A, const SolverBody& B, double h)
{
  // A spring with an implicit step [Coevoet20, eq. 1 read with phi+ = phi + h v+]: softness = 1 / (h^2 k + h
  // c).
  if (row.spring) {
    const double stiff = h * h * row.stiffness + h * row.damping;
    row.softness = stiff > 0 ? 1 / stiff : std::numeric_limits<double>::infinity();
  }
  const double K = row.linear.squaredNorm() * (A.inverse_mass + B.inverse_mass) +
                   row.angular_a.dot(A.inverse_inertia * row.angular_a) +
                   row.angular_b.dot(B.inverse_inertia * row.angular_b) + row.softness;
  row.mass = K > 0 && std::isfinite(K) ? 1 / K : 0;
}

// Where a body would be after a time h if nothing pushed it.
Pose pose_after(const model::BodyProperties& desc, const Pose& X_wb, const SolverBody& body, double h)
{
  if (!body.moves) return X_wb;
  const Quat turned = body.inverse_mass > 0 ? advance_spin(desc.inertia, X_wb.rotation, body.w, h).rotation
                                            : advance_rotation(X_wb.rotation, body.w, h);
  return {X_wb.position + h * body.v, turned};
}

// What a limit's row says of the other side of the range, or of a turn past half a circle, is about something
// else.
bool has_bend(const JointRow& row, const JointRow& moved)
{
  if (row.spring || row.erp == 0) return false;
  return !row.limit || row.linear.dot(moved.linear) > 0;
}

// Whether the bodies stay so near to the tangent that a bend adds little to their speed.
//
// Of links that start at velocities which their joints contradict, or that were torn apart, that is not so.
// The axes of a hinge or slider that are half a turn off, a rod that turns round within a substep and a
// slider that carries a body at a thousand times its length ask for speeds beyond all bounds, and no impulse
// along the row brings the bodies there: chains of 2 to 6 links that were thrown at a wall at 100 to 900 m/s
// got up to 1e18 times their energy. Without a bend J v = 0 is an inelastic impact, which takes energy
// whatever the velocities are, and positions are corrected by push_out(), which gives none.
bool is_small_bend(const JointRow& row, const JointRow& moved, double bend, double speed, double h)
{
  if (!(std::abs(bend) <= kMaxBentShare * h * speed)) return false;
  if (row.linear.isZero(0)) return row.limit || std::abs(moved.phi) <= kMaxBentError;
  return row.linear.dot(moved.linear) >= std::cos(kMaxTornTurn);
}

// How fast the bodies of a joint move against each other where it holds them; for rows that hold a turn
// [rad/s].
double joint_speed(const JointRow& row, const PlacedJoint& joint, const SolverBody& A, const SolverBody& B)
{
  if (row.linear.isZero(0)) return A.w.norm() + B.w.norm();
  return (B.v - A.v).norm() + A.w.norm() * joint.ra.norm() + B.w.norm() * joint.rb.norm();
}

// Whether both bodies turn by little in a substep, and z of the two frames do not point opposite ways, where
// the rows of a hinge find no error.
bool turns_by_little(std::span<const JointRow> rows, const PlacedJoint& joint, const SolverBody& A,
                     const SolverBody& B, double h)
{
  double square = 0;
  for (const JointRow& row : rows) {
    if (row.linear.isZero(0) || row.limit || row.spring || row.erp == 0) continue;
    const double error = violation(row, A, B);
    square += error * error;
  }
  const double arms = joint.ra.norm() + joint.rb.norm() + joint.desc.length;
  const bool is_torn = !(square <= kTornShare * kTornShare * arms * arms);
  const double max_spin = (is_torn ? kMaxTornTurn : kMaxBentTurn) / h;
  if (!(std::max(A.w.squaredNorm(), B.w.squaredNorm()) <= max_spin * max_spin)) return false;
  return joint.desc.kind != model::JointKind::hinge ||
         joint.X_wja.direction(Vec3::UnitZ()).dot(joint.X_wjb.direction(Vec3::UnitZ())) > 0;
}

void apply(const JointRow& row, SolverBody& A, SolverBody& B, double impulse)
{
  A.v -= (A.inverse_mass * impulse) * row.linear;
  A.w -= A.inverse_inertia * (impulse * row.angular_a);
  B.v += (B.inverse_mass * impulse) * row.linear;
  B.w += B.inverse_inertia * (impulse * row.angular_b);
}

PlacedJoint placed_joint(const model::SceneModel& model, std::size_t number, const SolverBodies& bodies)
{
  const model::Joint& desc = model.joints[number];
  const auto index = [&](model::BodyIndex id) {
    return id == model::kNone ? bodies.world() : id;
  };
  return {desc, index(desc.a), index(desc.b), static_cast<std::int32_t>(number), {},
          {},   Vec3::Zero(),  Vec3::Zero()};
}

}  // namespace

void JointRows::begin_step(model::SceneState& state)
{
  for (model::JointState& joint : state.joints) {
    joint.impulse.setZero();
    joint.angular_impulse.setZero();
  }
}

// A row J v = 0 is tangent to what the joint allows: bodies that follow it leave on the tangent, by
//
//     bend = phi(x + h v) - phi(x) - h J v,
//
// v^2 h^2 / 2 l for a pendulum of length l. Moved back to where they should be, they have lost speed with
// every turn of J, and been lifted for nothing: at 1/60 s a pendulum of half a metre lost half its height in
// 20 s. With
//
//     J v+ = -bend / h
//
// bodies end the substep on the joint, by a velocity that they keep. For the distance joint this is the SHAKE
// scheme (Ryckaert et al. 1977) to the order of h^3, which is symplectic. The bend is found from the
// velocities before the substep; where impulses change them enough to matter, update_bends() finds it again.
void JointRows::build(const model::SceneModel& model, model::SceneState& state,
                      const ConstraintSettings& settings, SolverBodies& bodies, double h)
{
  rows_.clear();
  length_scale_ = model.length_scale;
  const auto pose_of = [&](model::BodyIndex id) {
    return id == model::kNone ? Pose{} : state.bodies[at(id)].X_wb;
  };
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    PlacedJoint joint = placed_joint(model, j, bodies);
    const SolverBody& A = bodies[joint.a];
    const SolverBody& B = bodies[joint.b];
    if (!A.moves && !B.moves) {
      state.joints[j] = {};
      continue;
    }
    const std::size_t first = rows_.size();
    joint.place(pose_of(joint.desc.a), pose_of(joint.desc.b));
    if (joint.desc.motor.enabled)
      joint.deceleration =
          braking_deceleration(joint.desc, joint.X_wja.direction(Vec3::UnitZ()), joint.ra, joint.rb, A, B);
    RowBuilder now(rows_, joint, settings.joint_erp);
    add_rows(now, joint, h);
    for (std::size_t k = first; k < rows_.size(); ++k)
      rows_[k].phi -= along_row(rows_[k], A.dx, A.dth, B.dx, B.dth);
  }
  update_bends(model, state, settings, bodies, h);
  for (JointRow& row : rows_) {
    set_effective_mass(row, bodies[row.a], bodies[row.b], h);
    if (!settings.warm_start) continue;
    const model::JointState& joint = state.joints[at(row.joint)];
    row.lambda = std::clamp(joint.warm_impulse[at(row.slot)], row.lower, row.upper);
  }
}

void JointRows::update_masses(SolverBodies& bodies, double h)
{
  for (JointRow& row : rows_) set_effective_mass(row, bodies[row.a], bodies[row.b], h);
}

std::size_t JointRows::end_of_joint(std::size_t first) const
{
  std::size_t end = first;
  while (end < rows_.size() && rows_[end].joint == rows_[first].joint) ++end;
  return end;
}

template <class Record>
void JointRows::update_bends_of(const model::SceneModel& model, const model::SceneState& state,
                                const ConstraintSettings& settings, SolverBodies& bodies, double h,
                                std::size_t first, std::size_t end, Record&& record)
{
  const auto next_pose_of = [&](model::BodyIndex id) {
    if (id == model::kNone) return Pose{};
    const std::size_t i = at(id);
    return pose_after(model.bodies[i], state.bodies[i].X_wb, bodies[id], h);
  };
  PlacedJoint joint = placed_joint(model, at(rows_[first].joint), bodies);
  const SolverBody& A = bodies[joint.a];
  const SolverBody& B = bodies[joint.b];
  moved_.clear();
  joint.place(next_pose_of(joint.desc.a), next_pose_of(joint.desc.b));
  const bool little = turns_by_little({&rows_[first], end - first}, joint, A, B, h);
  if (little) {
    RowBuilder next(moved_, joint, settings.joint_erp);
    add_rows(next, joint, h);
  }
  for (std::size_t k = 0; k < end - first; ++k) {
    JointRow& row = rows_[first + k];
    double bend = 0;
    if (k < moved_.size()) {
      if (!has_bend(row, moved_[k])) continue;
      bend = moved_[k].phi - violation(row, A, B) - h * along_row(row, A.v, A.w, B.v, B.w);
      if (!is_small_bend(row, moved_[k], bend, joint_speed(row, joint, A, B), h)) bend = 0;
    } else if (little) {
      continue;
    }
    const double arm = row.linear.isZero(0) ? length_scale_ : 1.0;
    record(first + k, arm * std::abs(bend - row.bend) / h);
    row.bend = bend;
  }
}

double JointRows::update_bends(const model::SceneModel& model, const model::SceneState& state,
                               const ConstraintSettings& settings, SolverBodies& bodies, double h)
{
  double max_change = 0;
  for (std::size_t first = 0, end = 0; first < rows_.size(); first = end) {
    end = end_of_joint(first);
    update_bends_of(model, state, settings, bodies, h, first, end,
                    [&](std::size_t, double change) { max_change = std::max(max_change, change); });
  }
  return max_change;
}

void JointRows::update_bends(const model::SceneModel& model, const model::SceneState& state,
                             const ConstraintSettings& settings, SolverBodies& bodies, double h,
                             std::span<const std::uint8_t> flags, std::span<double> changes)
{
  for (std::size_t first = 0, end = 0; first < rows_.size(); first = end) {
    end = end_of_joint(first);
    if (flags[first] == 0) continue;
    std::fill(changes.begin() + static_cast<std::ptrdiff_t>(first),
              changes.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    update_bends_of(model, state, settings, bodies, h, first, end,
                    [&](std::size_t row, double change) { changes[row] = change; });
  }
}

double joint_bias(const JointRow& row, const SolverBody& A, const SolverBody& B, double h)
{
  if (row.spring) return row.softness * h * row.stiffness * violation(row, A, B);
  const double room = row.limit ? std::max(0.0, violation(row, A, B)) : 0.0;
  return (room + row.bend) / h - row.speed;
}

void JointRows::warm_start(SolverBodies& bodies)
{
  for (const JointRow& row : rows_) {
    apply(row, bodies[row.a], bodies[row.b], row.lambda);
    bodies[row.a].has_contact = true;
    bodies[row.b].has_contact = true;
  }
}

void JointRows::restart_on_tangents(const IslandEnergy& energy)
{
  for (JointRow& row : rows_) {
    if (!energy.is_found(row.a, row.b)) continue;
    row.bend = 0;
    row.lambda = 0;
  }
}

double JointRows::sweep_row(JointRow& row, SolverBodies& bodies, double h) const
{
  SolverBody& A = bodies[row.a];
  SolverBody& B = bodies[row.b];
  const double v = along_row(row, A.v, A.w, B.v, B.w) + joint_bias(row, A, B, h);
  const double old = row.lambda;
  row.lambda =
      std::clamp(old - row.mass * (v + row.softness * (row.mass > 0 ? old : 0)), row.lower, row.upper);
  apply(row, A, B, row.lambda - old);
  if (row.mass == 0) return 0;
  const double arm = row.linear.isZero(0) ? length_scale_ : 1.0;
  return arm * std::abs(row.lambda - old) / row.mass;
}

void JointRows::sweep_once(SolverBodies& bodies, double h, std::span<const std::uint8_t> flags,
                           std::span<double> changes)
{
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (flags[i] != 0) changes[i] = sweep_row(rows_[i], bodies, h);
  }
}

void JointRows::sweep(SolverBodies& bodies, double h, int iterations, double settled)
{
  if (rows_.empty()) return;
  for (int i = 0; i < iterations; ++i) {
    double max_change = 0;
    for (JointRow& row : rows_) max_change = std::max(max_change, sweep_row(row, bodies, h));
    if (max_change <= settled) return;
  }
}

void JointRows::push_out(SolverBodies& bodies, double h)
{
  for (JointRow& row : rows_) {
    if (row.spring || row.erp == 0) continue;
    SolverBody& A = bodies[row.a];
    SolverBody& B = bodies[row.b];
    const double v = along_row(row, A.push_v, A.push_w, B.push_v, B.push_w);
    const double phi = violation(row, A, B);
    if (row.limit && phi >= 0) continue;
    const double impulse = -row.mass * (v + row.erp * phi / h);
    A.push_v -= (A.inverse_mass * impulse) * row.linear;
    A.push_w -= A.inverse_inertia * (impulse * row.angular_a);
    B.push_v += (B.inverse_mass * impulse) * row.linear;
    B.push_w += B.inverse_inertia * (impulse * row.angular_b);
  }
}

void JointRows::finish_substep(model::SceneState& state) const
{
  for (const JointRow& row : rows_) {
    model::JointState& joint = state.joints[at(row.joint)];
    joint.warm_impulse[at(row.slot)] = row.lambda;
    joint.impulse += row.lambda * row.linear;
    joint.angular_impulse += row.lambda * row.angular_b;
  }
}

}  // namespace thrum::rigid
