// SPDX-License-Identifier: MIT
#include "thrum/rigid/joint_rows.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace thrum::rigid {

namespace {

// A joint with its two frames in the world.
struct PlacedJoint {
  const model::JointDesc& desc;
  std::int32_t a;
  std::int32_t b;
  std::int32_t joint;
  Pose X_wja;  ///< joint frame on a
  Pose X_wjb;  ///< joint frame on b
  Vec3 ra;     ///< its origin from the centre of mass of a [m]
  Vec3 rb;
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
    const model::JointDesc& desc = joint_.desc;
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
      row.speed = desc.motor.speed;
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
  const Vec3 xb = joint.X_wjb.rotation * Vec3::UnitX();
  const Vec3 d = joint.X_wjb.position - joint.X_wja.position;
  const auto hold_origin = [&] {
    for (int k = 0; k < 3; ++k) rows.hold_point(k, Vec3::Unit(k));
  };
  const auto hold_axes = [&] {
    const Vec3 turn = turn_between(joint.X_wja, joint.X_wjb);
    for (int k = 0; k < 3; ++k) rows.hold_turn(3 + k, Vec3::Unit(k), turn[k]);
  };
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
      rows.limit_and_drive(5, along, std::atan2(z.dot(x.cross(xb)), x.dot(xb)), h);
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
      rows.limit_and_drive(5, along, z.dot(d), h);
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

// How far the row is violated now, to first order in what the bodies moved since the start of the step [m or
// rad].
double violation(const JointRow& row, const SolverBody& A, const SolverBody& B)
{
  return row.phi + row.linear.dot(B.dx - A.dx) + row.angular_b.dot(B.dth) - row.angular_a.dot(A.dth);
}

void apply(const JointRow& row, SolverBody& A, SolverBody& B, double impulse)
{
  A.v -= (A.inverse_mass * impulse) * row.linear;
  A.w -= A.inverse_inertia * (impulse * row.angular_a);
  B.v += (B.inverse_mass * impulse) * row.linear;
  B.w += B.inverse_inertia * (impulse * row.angular_b);
}

}  // namespace

void JointRows::build(const model::SceneModel& model, const model::SceneState& state,
                      const ConstraintSettings& settings, SolverBodies& bodies, double h)
{
  rows_.clear();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const model::JointDesc& desc = model.joints[j];
    const auto index = [&](model::BodyId id) {
      return id == model::kNone ? bodies.world() : id;
    };
    PlacedJoint joint{desc, index(desc.a), index(desc.b), static_cast<std::int32_t>(j), {},
                      {},   Vec3::Zero(),  Vec3::Zero()};
    if (!bodies[joint.a].moves && !bodies[joint.b].moves) continue;
    const auto place = [&](model::BodyId id, const Pose& X_bj, Pose& X_wj, Vec3& r) {
      const Pose X_wb = id == model::kNone ? Pose{} : state.bodies[static_cast<std::size_t>(id)].X_wb;
      X_wj = X_wb * X_bj;
      r = X_wj.position - X_wb.position;
    };
    place(desc.a, desc.X_aj, joint.X_wja, joint.ra);
    place(desc.b, desc.X_bj, joint.X_wjb, joint.rb);
    RowBuilder builder(rows_, joint, settings.joint_erp);
    add_rows(builder, joint, h);
  }
  for (JointRow& row : rows_) {
    const SolverBody& A = bodies[row.a];
    const SolverBody& B = bodies[row.b];
    // A spring with an implicit step [Coevoet20, eq. 1 read with phi+ = phi + h v+]: softness = 1 / (h^2 k +
    // h c).
    if (row.spring) {
      const double stiff = h * h * row.stiffness + h * row.damping;
      row.softness = stiff > 0 ? 1 / stiff : std::numeric_limits<double>::infinity();
    }
    const double K = row.linear.squaredNorm() * (A.inverse_mass + B.inverse_mass) +
                     row.angular_a.dot(A.inverse_inertia * row.angular_a) +
                     row.angular_b.dot(B.inverse_inertia * row.angular_b) + row.softness;
    row.mass = K > 0 && std::isfinite(K) ? 1 / K : 0;
    if (settings.warm_start) {
      row.lambda = std::clamp(
          state.joints[static_cast<std::size_t>(row.joint)].warm_impulse[static_cast<std::size_t>(row.slot)],
          row.lower, row.upper);
    }
  }
}

void JointRows::warm_start(SolverBodies& bodies)
{
  for (const JointRow& row : rows_) {
    apply(row, bodies[row.a], bodies[row.b], row.lambda);
    bodies[row.a].touched = true;
    bodies[row.b].touched = true;
  }
}

void JointRows::sweep(SolverBodies& bodies, double h)
{
  for (JointRow& row : rows_) {
    SolverBody& A = bodies[row.a];
    SolverBody& B = bodies[row.b];
    const double v = row.linear.dot(B.v - A.v) + row.angular_b.dot(B.w) - row.angular_a.dot(A.w);
    double bias = -row.speed;
    if (row.spring) {
      bias = row.softness * h * row.stiffness * violation(row, A, B);
    } else if (row.limit) {
      bias = std::max(0.0, violation(row, A, B)) / h;
    }
    const double old = row.lambda;
    row.lambda = std::clamp(old - row.mass * (v + bias + row.softness * (row.mass > 0 ? old : 0)), row.lower,
                            row.upper);
    apply(row, A, B, row.lambda - old);
  }
}

void JointRows::push_out(SolverBodies& bodies, double h)
{
  for (JointRow& row : rows_) {
    if (row.spring || row.erp == 0) continue;
    SolverBody& A = bodies[row.a];
    SolverBody& B = bodies[row.b];
    const double v =
        row.linear.dot(B.push_v - A.push_v) + row.angular_b.dot(B.push_w) - row.angular_a.dot(A.push_w);
    const double phi = violation(row, A, B);
    if (row.limit && phi >= 0) continue;
    const double impulse = -row.mass * (v + row.erp * phi / h);
    A.push_v -= (A.inverse_mass * impulse) * row.linear;
    A.push_w -= A.inverse_inertia * (impulse * row.angular_a);
    B.push_v += (B.inverse_mass * impulse) * row.linear;
    B.push_w += B.inverse_inertia * (impulse * row.angular_b);
  }
}

void JointRows::finish_sub_step()
{
  for (JointRow& row : rows_) row.total += row.lambda;
}

void JointRows::store(model::SceneState& state) const
{
  for (model::JointState& joint : state.joints) joint = {};
  for (const JointRow& row : rows_) {
    model::JointState& joint = state.joints[static_cast<std::size_t>(row.joint)];
    joint.warm_impulse[static_cast<std::size_t>(row.slot)] = row.lambda;
    joint.impulse += row.total * row.linear;
    joint.angular_impulse += row.total * row.angular_b;
  }
}

}  // namespace thrum::rigid
