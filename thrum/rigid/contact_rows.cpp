// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thrum::rigid {

namespace {

/// The block of seven rows has rank six at most. It is regularised by this share of its diagonal, which
/// leaves as much of the error for the next visit.
constexpr double kBlockRegularisation = 1e-3;
/// Shock propagation holds bodies that are no faster than gravity makes them in so many steps.
constexpr double kRestingSteps = 2;
/// Friction blocks are regularised by this share of their trace: a single point has no arm to twist about.
constexpr double kFrictionRegularisation = 1e-9;

Vec3 tangent_of(const Vec3& n)
{
  // The world axis least along n gives the steadiest tangent from step to step.
  Eigen::Index axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  return n.cross(Vec3(Vec3::Unit(axis))).normalized();
}

// Inverse of the leading 7 x 7 block of a symmetric positive definite matrix by sweeping each row in turn:
// column operations only, which is several times quicker here than a factorisation.
void invert_seven(Eigen::Matrix<double, 8, 8>& A)
{
  for (int k = 0; k < 7; ++k) {
    const Eigen::Matrix<double, 8, 1> row = A.col(k);
    const double d = 1 / row[k];
    for (int j = 0; j < 7; ++j) A.col(j) -= (row[j] * d) * row;
    A.col(k) = row * d;
    A.row(k) = A.col(k).transpose();
    A(k, k) = -d;
  }
  A = -A;
}

// The seven rows: normals, t1, t2, twist. `K` is the block of the last three.
void set_inverse_block(SolverPatch& p, const Mat3& Ia, const Mat3& Ib, const Mat3& K)
{
  Eigen::Matrix<double, 8, 8>& block = p.inverse_block;
  block.setZero();
  block.topLeftCorner<4, 4>() = p.A.matrix();
  block.block<3, 3>(4, 4) = K;
  // Normal rows against friction rows: only through rotation, as n is square to the tangents.
  const std::array<Vec3, 3> arm_a{Ia * p.ra.cross(p.t1), Ia * p.ra.cross(p.t2), Ia * p.n};
  const std::array<Vec3, 3> arm_b{Ib * p.rb.cross(p.t1), Ib * p.rb.cross(p.t2), Ib * p.n};
  for (int k = 0; k < 3; ++k) {
    const Vec3& a = arm_a[static_cast<std::size_t>(k)];
    const Vec3& b = arm_b[static_cast<std::size_t>(k)];
    for (int i = 0; i < p.count; ++i) {
      const double value = a.x() * p.ra_n[0][i] + a.y() * p.ra_n[1][i] + a.z() * p.ra_n[2][i] +
                           b.x() * p.rb_n[0][i] + b.y() * p.rb_n[1][i] + b.z() * p.rb_n[2][i];
      block(i, 4 + k) = block(4 + k, i) = value;
    }
  }
  // Lanes without a point, and rows that nothing can turn, keep to themselves.
  const double trace = block.diagonal().sum();
  std::array<bool, 7> alone{};
  for (int i = 0; i < 7; ++i) {
    if (block(i, i) > kFrictionRegularisation * trace) {
      block(i, i) *= 1 + kBlockRegularisation + (i < p.count ? p.cfm[i] * p.inverse_A[i] : 0.0);
      continue;
    }
    block.row(i).setZero();
    block.col(i).setZero();
    block(i, i) = trace;
    alone[static_cast<std::size_t>(i)] = true;
  }
  invert_seven(block);
  for (int i = 0; i < 7; ++i) {
    if (alone[static_cast<std::size_t>(i)]) block(i, i) = 0;
  }
}

// Masses of the rows for bodies that yield by yield_a and yield_b.
void set_masses(SolverPatch& p, const SolverBody& A, const SolverBody& B, double cfm)
{
  const Mat3 Ia = p.yield_a * A.inverse_inertia;
  const Mat3 Ib = p.yield_b * B.inverse_inertia;
  const double inverse_mass = p.yield_a * A.inverse_mass + p.yield_b * B.inverse_mass;
  p.A.setZero();
  p.inverse_A.setZero();
  p.cfm.setZero();
  for (int i = 0; i < p.count; ++i) {
    const Vec3 ra_i(p.ra_n[0][i], p.ra_n[1][i], p.ra_n[2][i]);
    const Vec3 rb_i(p.rb_n[0][i], p.rb_n[1][i], p.rb_n[2][i]);
    const Vec3 Ja = Ia * ra_i;
    const Vec3 Jb = Ib * rb_i;
    for (int j = 0; j <= i; ++j) {
      const double value = inverse_mass + Ja.x() * p.ra_n[0][j] + Ja.y() * p.ra_n[1][j] +
                           Ja.z() * p.ra_n[2][j] + Jb.x() * p.rb_n[0][j] + Jb.y() * p.rb_n[1][j] +
                           Jb.z() * p.rb_n[2][j];
      p.A(i, j) = p.A(j, i) = value;
    }
    p.cfm[i] = cfm * p.A(i, i);
    p.inverse_A[i] = p.A(i, i) > 0 ? 1 / (p.A(i, i) + p.cfm[i]) : 0;
  }
  // Block of the two tangents and the twist.
  const std::array<Vec3, 3> arm_a{p.ra.cross(p.t1), p.ra.cross(p.t2), p.n};
  const std::array<Vec3, 3> arm_b{p.rb.cross(p.t1), p.rb.cross(p.t2), p.n};
  Mat3 K;
  for (int i = 0; i < 3; ++i) {
    const Vec3 Ja = Ia * arm_a[static_cast<std::size_t>(i)];
    const Vec3 Jb = Ib * arm_b[static_cast<std::size_t>(i)];
    for (int j = 0; j < 3; ++j) {
      K(i, j) = (i == j && i < 2 ? inverse_mass : 0.0) + Ja.dot(arm_a[static_cast<std::size_t>(j)]) +
                Jb.dot(arm_b[static_cast<std::size_t>(j)]);
    }
  }
  const double trace = K.trace();
  if (!(trace > 0)) {
    p.friction_mass.setZero();
    p.rolling_mass.setZero();
    p.inverse_block.setZero();
    return;
  }
  set_inverse_block(p, Ia, Ib, K);
  p.friction_mass = (K + kFrictionRegularisation * Mat3(K.diagonal().asDiagonal())).inverse();
  if (p.rolling > 0) p.rolling_mass = (Ia + Ib).inverse();
}

struct NormalImpulse {
  double sum;  ///< along n [N s]
  Vec3 on_a;   ///< angular, about the centre of a [N m s]
  Vec3 on_b;
};

inline NormalImpulse normal_impulse(const SolverPatch& p, const Lanes& impulse)
{
  return {impulse.sum(),
          {(p.ra_n[0] * impulse).sum(), (p.ra_n[1] * impulse).sum(), (p.ra_n[2] * impulse).sum()},
          {(p.rb_n[0] * impulse).sum(), (p.rb_n[1] * impulse).sum(), (p.rb_n[2] * impulse).sum()}};
}

inline void apply_normal(const SolverPatch& p, SolverBody& A, SolverBody& B, const Lanes& impulse)
{
  const NormalImpulse j = normal_impulse(p, impulse);
  A.v -= (p.yield_a * A.inverse_mass * j.sum) * p.n;
  A.w -= p.yield_a * (A.inverse_inertia * j.on_a);
  B.v += (p.yield_b * B.inverse_mass * j.sum) * p.n;
  B.w += p.yield_b * (B.inverse_inertia * j.on_b);
}

inline void apply_friction(const SolverPatch& p, SolverBody& A, SolverBody& B, const Vec3& impulse)
{
  const Vec3 linear = impulse.x() * p.t1 + impulse.y() * p.t2;
  const Vec3 twist = impulse.z() * p.n;
  A.v -= (p.yield_a * A.inverse_mass) * linear;
  A.w -= p.yield_a * (A.inverse_inertia * (p.ra.cross(linear) + twist));
  B.v += (p.yield_b * B.inverse_mass) * linear;
  B.w += p.yield_b * (B.inverse_inertia * (p.rb.cross(linear) + twist));
}

void apply_rolling(const SolverPatch& p, SolverBody& A, SolverBody& B, const Vec3& impulse)
{
  A.w -= p.yield_a * (A.inverse_inertia * impulse);
  B.w += p.yield_b * (B.inverse_inertia * impulse);
}

inline Lanes along_normal(const SolverPatch& p, const Vec3& linear, const Vec3& angular_a,
                          const Vec3& angular_b)
{
  return p.n.dot(linear) + p.rb_n[0] * angular_b.x() + p.rb_n[1] * angular_b.y() + p.rb_n[2] * angular_b.z() -
         p.ra_n[0] * angular_a.x() - p.ra_n[1] * angular_a.y() - p.ra_n[2] * angular_a.z();
}

struct PushValues {
  double rate;   ///< erp / h [1/s]
  double speed;  ///< at most [m/s]
  double slop;   ///< overlap left alone [m]
  int inner;
};

struct SweepValues {
  double inverse_h;
  int inner;
  int rounds;
  FrictionCone cone;
};

// Eq. (2)-(3b) for the normal rows of a patch: a gap may just close within the sub-step, surfaces that meet
// may not approach, and where restitution or a distant impact asks for it they must part.
void solve_normal(SolverPatch& p, SolverBody& A, SolverBody& B, const SweepValues& s)
{
  Lanes vn = along_normal(p, B.v - A.v, A.w, B.w);
  const Lanes gap = p.gap + along_normal(p, B.dx - A.dx, A.dth, B.dth);
  const Lanes bias = (p.target > 0.0).select(-p.target, gap.max(0.0) * s.inverse_h);
  Lanes change = Lanes::Zero();
  for (int sweep = 0; sweep < s.inner; ++sweep) {
    for (int i = 0; i < p.count; ++i) {
      const double old = p.lambda[i];
      const double next = std::max(0.0, old - (vn[i] + bias[i] + p.cfm[i] * old) * p.inverse_A[i]);
      const double delta = next - old;
      p.lambda[i] = next;
      change[i] += delta;
      vn += p.A.col(i) * delta;
    }
  }
  apply_normal(p, A, B, change);
}

// The same rows for the velocities that push overlap out, gamma phi / h in eq. (2).
void solve_push(SolverPatch& p, SolverBody& A, SolverBody& B, const PushValues& s)
{
  const Lanes gap = p.gap + s.slop + along_normal(p, B.dx - A.dx, A.dth, B.dth);
  if ((gap >= 0.0).all()) return;
  Lanes vn = along_normal(p, B.push_v - A.push_v, A.push_w, B.push_w);
  const Lanes bias = (gap * s.rate).max(-s.speed);
  Lanes change = Lanes::Zero();
  for (int sweep = 0; sweep < s.inner; ++sweep) {
    for (int i = 0; i < p.count; ++i) {
      if (gap[i] >= 0) continue;
      const double next = std::max(0.0, p.push[i] - (vn[i] + bias[i]) * p.inverse_A[i]);
      const double delta = next - p.push[i];
      p.push[i] = next;
      change[i] += delta;
      vn += p.A.col(i) * delta;
    }
  }
  const NormalImpulse j = normal_impulse(p, change);
  A.push_v -= (p.yield_a * A.inverse_mass * j.sum) * p.n;
  A.push_w -= p.yield_a * (A.inverse_inertia * j.on_a);
  B.push_v += (p.yield_b * B.inverse_mass * j.sum) * p.n;
  B.push_w += p.yield_b * (B.inverse_inertia * j.on_b);
}

// Coulomb friction at the centre of the patch, the twist about its normal, and rolling.
void solve_friction(SolverPatch& p, SolverBody& A, SolverBody& B, const SweepValues& s)
{
  const double pressure = p.lambda.sum();
  const Vec3 slip = B.v + B.w.cross(p.rb) - A.v - A.w.cross(p.ra);
  const Vec3 w = B.w - A.w;
  const Vec3 velocity(p.t1.dot(slip), p.t2.dot(slip), p.n.dot(w));
  const Vec3 old = p.friction;
  Vec3 next = old - p.friction_mass * velocity;
  const double limit = p.mu * pressure;
  if (s.cone == FrictionCone::cone) {
    const double length = std::sqrt(next.x() * next.x() + next.y() * next.y());
    if (length > limit) {
      const double scale = limit / length;
      next.x() *= scale;
      next.y() *= scale;
    }
  } else {
    next.x() = std::clamp(next.x(), -limit, limit);
    next.y() = std::clamp(next.y(), -limit, limit);
  }
  const double twist_limit = (p.twist_arm * p.lambda).sum();
  next.z() = std::clamp(next.z(), -twist_limit, twist_limit);
  p.friction = next;
  apply_friction(p, A, B, next - old);

  if (p.rolling > 0) {
    const Vec3 rolling_velocity = (B.w - A.w) - p.n * p.n.dot(B.w - A.w);
    const Vec3 old_roll = p.rolling_impulse;
    Vec3 roll = old_roll - p.rolling_mass * rolling_velocity;
    roll -= p.n * p.n.dot(roll);
    const double most = p.rolling * pressure;
    const double length = roll.norm();
    if (length > most) roll *= most / length;
    p.rolling_impulse = roll;
    apply_rolling(p, A, B, roll - old_roll);
  }
}

// All seven rows at once. False, and nothing changed, when a bound is met.
bool solve_block(SolverPatch& p, SolverBody& A, SolverBody& B, const SweepValues& s)
{
  const Lanes gap = p.gap + along_normal(p, B.dx - A.dx, A.dth, B.dth);
  const Lanes bias = (p.target > 0.0).select(-p.target, gap.max(0.0) * s.inverse_h);
  const Vec3 slip = B.v + B.w.cross(p.rb) - A.v - A.w.cross(p.ra);
  Eigen::Matrix<double, 8, 1> residual;
  residual.head<4>() = (along_normal(p, B.v - A.v, A.w, B.w) + bias + p.cfm * p.lambda).matrix();
  residual[4] = p.t1.dot(slip);
  residual[5] = p.t2.dot(slip);
  residual[6] = p.n.dot(B.w - A.w);
  residual[7] = 0;
  Eigen::Matrix<double, 8, 1> change;
  change = -residual[0] * p.inverse_block.col(0);
  for (int k = 1; k < 7; ++k) change -= residual[k] * p.inverse_block.col(k);
  const Lanes lambda = p.lambda + change.head<4>().array();
  if ((lambda < 0.0).any()) return false;
  const Vec3 friction = p.friction + Vec3(change.segment<3>(4));
  const double limit = p.mu * lambda.sum();
  const double across = friction.x() * friction.x() + friction.y() * friction.y();
  const bool sticks = s.cone == FrictionCone::cone
                          ? across <= limit * limit
                          : std::max(std::abs(friction.x()), std::abs(friction.y())) <= limit;
  if (!sticks || std::abs(friction.z()) > (p.twist_arm * lambda).sum()) return false;

  const NormalImpulse j = normal_impulse(p, change.head<4>().array());
  const Vec3 tangential = change[4] * p.t1 + change[5] * p.t2;
  const Vec3 linear = j.sum * p.n + tangential;
  const Vec3 twist = change[6] * p.n;
  A.v -= (p.yield_a * A.inverse_mass) * linear;
  A.w -= p.yield_a * (A.inverse_inertia * (j.on_a + p.ra.cross(tangential) + twist));
  B.v += (p.yield_b * B.inverse_mass) * linear;
  B.w += p.yield_b * (B.inverse_inertia * (j.on_b + p.rb.cross(tangential) + twist));
  p.lambda = lambda;
  p.friction = friction;
  return true;
}

void solve_patch(SolverPatch& p, std::span<SolverBody> bodies, const SweepValues& s)
{
  SolverBody& A = bodies[static_cast<std::size_t>(p.a)];
  SolverBody& B = bodies[static_cast<std::size_t>(p.b)];
  if (p.rolling == 0 && solve_block(p, A, B, s)) return;
  for (int k = 0; k < s.rounds; ++k) {
    if (p.mu > 0 || p.rolling > 0) solve_friction(p, A, B, s);
    solve_normal(p, A, B, s);
  }
}

}  // namespace

void ContactRows::build(const model::SceneState& state, std::span<const std::int32_t> order,
                        std::span<const model::Surface> surfaces, const ConstraintSettings& settings,
                        SolverBodies& bodies)
{
  patches_.clear();
  shock_patches_.clear();
  held_.assign(order.size(), kNotHeld);
  patches_.reserve(order.size());
  for (const std::int32_t source : order) {
    const model::ContactPatch& contact = state.patches[static_cast<std::size_t>(source)];
    SolverBody& A = bodies[contact.a];
    SolverBody& B = bodies[contact.b];
    const model::Surface& surface = surfaces[static_cast<std::size_t>(source)];
    SolverPatch& p = patches_.emplace_back();
    p.a = contact.a;
    p.b = contact.b;
    p.source = source;
    p.count = contact.count;
    p.n = contact.normal;
    p.mu = surface.friction;
    p.rolling = surface.rolling_friction;
    p.restitution = surface.restitution;
    for (std::size_t k = 0; k < 3; ++k) p.ra_n[k] = p.rb_n[k] = Lanes::Zero();
    p.gap = p.push = p.target = p.lambda = p.total = p.twist_arm = p.bounce_candidate = p.approach_speed =
        p.approach_gap = Lanes::Zero();
    p.friction_total.setZero();

    const Vec3& xa = state.bodies[static_cast<std::size_t>(p.a)].X_wb.position;
    const Vec3& xb = state.bodies[static_cast<std::size_t>(p.b)].X_wb.position;
    Vec3 centre = Vec3::Zero();
    for (const model::ContactPoint& point : contact.active()) centre += point.position;
    centre /= p.count;
    p.ra = centre - xa;
    p.rb = centre - xb;
    for (int i = 0; i < p.count; ++i) {
      const model::ContactPoint& point = contact.points[static_cast<std::size_t>(i)];
      const Vec3 ra_n = (point.position - xa).cross(p.n);
      const Vec3 rb_n = (point.position - xb).cross(p.n);
      for (int k = 0; k < 3; ++k) {
        p.ra_n[static_cast<std::size_t>(k)][i] = ra_n[k];
        p.rb_n[static_cast<std::size_t>(k)][i] = rb_n[k];
      }
      p.gap[i] = -point.depth;
      p.target[i] = std::max(0.0, point.wanted_speed);
      p.lambda[i] = settings.warm_start ? point.warm_impulse : 0.0;
      p.twist_arm[i] = p.mu * (point.position - centre).norm() + surface.spinning_friction;
      if (p.restitution > 0 && point.is_new) {
        p.bounce_candidate[i] = 1;
        p.may_bounce = true;
      }
    }
    p.t1 = tangent_of(p.n);
    p.t2 = p.n.cross(p.t1);
    p.friction.setZero();
    if (settings.warm_start) {
      p.friction = {p.t1.dot(contact.warm_friction), p.t2.dot(contact.warm_friction), contact.warm_twist};
      p.rolling_impulse = contact.warm_rolling;
    }
    p.approach_acceleration = p.n.dot(B.acceleration - A.acceleration);
    p.start_speed = along_normal(p, B.v - A.v, A.w, B.w);
    set_masses(p, A, B, settings.cfm);
  }
}

void ContactRows::warm_start(SolverBodies& bodies)
{
  for (SolverPatch& p : patches_) {
    SolverBody& A = bodies[p.a];
    SolverBody& B = bodies[p.b];
    apply_normal(p, A, B, p.lambda);
    apply_friction(p, A, B, p.friction);
    if (p.rolling > 0) apply_rolling(p, A, B, p.rolling_impulse);
  }
}

void ContactRows::note_approach(SolverBodies& bodies)
{
  for (SolverPatch& p : patches_) {
    if (!p.may_bounce) continue;
    const SolverBody& A = bodies[p.a];
    const SolverBody& B = bodies[p.b];
    p.approach_speed = along_normal(p, B.v - A.v, A.w, B.w);
    p.approach_gap = p.gap + along_normal(p, B.dx - A.dx, A.dth, B.dth);
  }
}

void ContactRows::sweep(SolverBodies& bodies, const ConstraintSettings& settings, double h, bool backward)
{
  SweepValues s{1 / h, settings.patch_iterations, settings.patch_rounds, settings.friction};
  const std::span<SolverBody> all = bodies.all();
  const auto visit = [&](SolverPatch& p) {
    s.inner = p.may_bounce ? settings.impact_iterations : settings.patch_iterations;
    solve_patch(p, all, s);
  };
  if (backward) {
    for (std::size_t i = patches_.size(); i-- > 0;) visit(patches_[i]);
  } else {
    for (SolverPatch& p : patches_) visit(p);
  }
}

void ContactRows::push_out(SolverBodies& bodies, const ConstraintSettings& settings, double length_scale,
                           double h)
{
  const PushValues s{settings.erp / h, settings.push_out * length_scale / h, settings.slop * length_scale,
                     settings.patch_iterations};
  for (int k = 0; k < settings.push_iterations; ++k) {
    for (std::size_t i = 0; i < patches_.size(); ++i) {
      SolverPatch& p = solved(i);
      if (k == 0) p.push.setZero();
      solve_push(p, bodies[p.a], bodies[p.b], s);
    }
  }
}

// [Coevoet20, eq. 4]: a new contact leaves with restitution times the speed of approach. The paper takes the
// speed at the start of the step. Where the surfaces still had a gap then, the speed at which they meet
// follows from v_c^2 = v^2 + 2 a gap; with it a bounce neither gains nor loses energy, wherever in the step
// it falls.
bool ContactRows::start_bounces()
{
  bool any = false;
  for (SolverPatch& p : patches_) {
    if (!p.may_bounce) continue;
    for (int i = 0; i < p.count; ++i) {
      if (p.bounce_candidate[i] == 0 || !(p.lambda[i] > 0)) continue;
      const double v = std::min(0.0, p.approach_speed[i]);
      const double a = std::min(0.0, p.approach_acceleration);
      const double met = std::sqrt(v * v - 2 * a * std::max(0.0, p.approach_gap[i]));
      p.target[i] = std::max(p.target[i], p.restitution * met);
      p.bounce_candidate[i] = 0;
      any = any || p.target[i] > 0;
    }
  }
  // A second round of sweeps follows, which starts from the rows' own impulses: what shock propagation added in the
  // first must not be forgotten.
  if (any && !shock_patches_.empty()) {
    for (std::size_t i = 0; i < patches_.size(); ++i) {
      patches_[i].total += solved(i).lambda - patches_[i].lambda;
      patches_[i].friction_total += solved(i).friction - patches_[i].friction;
    }
  }
  return any;
}

void ContactRows::mark_touched(SolverBodies& bodies) const
{
  for (const SolverPatch& p : patches_) {
    if (!(p.lambda.sum() > 0)) continue;
    bodies[p.a].touched = true;
    bodies[p.b].touched = true;
  }
}

void ContactRows::finish_sub_step()
{
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    SolverPatch& p = patches_[i];
    p.total += solved(i).lambda;
    p.friction_total += solved(i).friction;
    if ((p.target > 0.0).any()) {
      p.lambda = (p.target > 0.0).select(Lanes::Zero(), p.lambda);
      p.friction.setZero();
      p.rolling_impulse.setZero();
      p.target.setZero();
    }
  }
}

void ContactRows::hold_lower_bodies(SolverBodies& bodies, const ConstraintSettings& settings,
                                    std::span<const std::int32_t> level_of_body, double step)
{
  // Only what rests can be leant on: a moving body of endless mass would give energy away. A body rests when it is no
  // faster than a few steps of gravity would make it.
  const auto rests = [&](const SolverBody& body) {
    const double speed = kRestingSteps * step * body.acceleration.norm();
    return body.v.squaredNorm() <= speed * speed;
  };
  shock_patches_.clear();
  held_.assign(patches_.size(), kNotHeld);
  level_begin_.clear();
  std::int32_t level = -1;
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    const SolverPatch& patch = patches_[i];
    const std::int32_t la = level_of_body[static_cast<std::size_t>(patch.a)];
    const std::int32_t lb = level_of_body[static_cast<std::size_t>(patch.b)];
    if (std::max(la, lb) != level) {
      level = std::max(la, lb);
      level_begin_.push_back(i);
    }
    // Nothing changes for what stands on a fixed body, nor between equals.
    const bool hold_a = la < lb && bodies[patch.a].inverse_mass > 0 && rests(bodies[patch.a]);
    const bool hold_b = lb < la && bodies[patch.b].inverse_mass > 0 && rests(bodies[patch.b]);
    if (!hold_a && !hold_b) continue;
    held_[i] = static_cast<std::int32_t>(shock_patches_.size());
    SolverPatch& p = shock_patches_.emplace_back(patch);
    p.yield_a = hold_a ? 0 : 1;
    p.yield_b = hold_b ? 0 : 1;
    set_masses(p, bodies[p.a], bodies[p.b], settings.cfm);
  }
  level_begin_.push_back(patches_.size());
}

void ContactRows::shock_sweep(SolverBodies& bodies, const ConstraintSettings& settings, double h)
{
  const SweepValues s{1 / h, settings.patch_iterations, 1, settings.friction};
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    if (held_[i] == kNotHeld) continue;
    SolverPatch& p = solved(i);
    p.lambda = patches_[i].lambda;
    p.friction = patches_[i].friction;
    p.rolling_impulse = patches_[i].rolling_impulse;
    p.target = patches_[i].target;
  }
  // A level is gone over several times before the next one: a brick lies on two others.
  for (std::size_t level = 0; level + 1 < level_begin_.size(); ++level) {
    const std::size_t begin = level_begin_[level];
    const std::size_t end = level_begin_[level + 1];
    for (int k = 0; k < settings.shock_iterations; ++k) {
      for (std::size_t i = begin; i < end; ++i) {
        solve_patch(solved(k % 2 == 0 ? i : begin + end - 1 - i), bodies.all(), s);
      }
    }
  }
}

void ContactRows::store(model::SceneState& state) const
{
  for (const SolverPatch& p : patches_) {
    model::ContactPatch& contact = state.patches[static_cast<std::size_t>(p.source)];
    for (int i = 0; i < p.count; ++i) {
      model::ContactPoint& point = contact.points[static_cast<std::size_t>(i)];
      point.warm_impulse = p.lambda[i];
      point.normal_impulse = p.total[i];
      point.wanted_speed = 0;
      point.normal_speed = p.start_speed[i];
      point.bounced = p.may_bounce && p.bounce_candidate[i] == 0 && point.is_new;
    }
    contact.warm_friction = p.friction.x() * p.t1 + p.friction.y() * p.t2;
    contact.warm_twist = p.friction.z();
    contact.warm_rolling = p.rolling_impulse;
    contact.friction_impulse = p.friction_total.x() * p.t1 + p.friction_total.y() * p.t2;
  }
}

}  // namespace thrum::rigid
