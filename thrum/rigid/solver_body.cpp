// SPDX-License-Identifier: MIT
#include "thrum/rigid/solver_body.h"

#include <atomic>
#include <cmath>
#include <numbers>

#include "thrum/base/team.h"

namespace thrum::rigid {

namespace {

constexpr int kMaxNewtonSteps = 8;
/// Newton's method for the midpoint stops at this share of the angular velocity.
constexpr double kSpinAccuracy = 1e-14;
/// Free rotation is integrated in parts of at most this angle [rad], up to a maximum number of parts.
constexpr double kMaxSpinTurn = 0.5;
constexpr double kMaxSpinParts = 256;
/// A body that turns by less than this in a step is not worth the solve [rad].
constexpr double kNegligibleTurn = 1e-5;

/// A body that is no faster than gravity makes it in so many steps rests.
constexpr double kRestingSteps = 2;
/// A body that turned by more than this since its inertia was found gets a new one [rad].
constexpr double kStaleTurn = 1e-6;

// Euler's equations in body axes, I w' = (I w) x w, by the implicit midpoint rule:
//
//     I (w1 - w0) = h (I wm) x wm,        wm = (w0 + w1) / 2. (1)
//
// Multiplied by wm and by I wm the right side vanishes, so w.Iw and |Iw|^2 do not change. With the Cayley
// transform
//
//     q1 = q0 (1, h wm / 2) / norm (2)
//
// as the rotation, (1) reads I w1 = cay(-h wm) I w0, so that R1 I w1 = R0 I w0: the angular momentum in world
// axes is kept as a vector. Newton's method solves f(w1) = I (w1 - w0) - h (I wm) x wm = 0; its matrix is I -
// (h/2) (skew(I wm) - skew(wm) I).
//
// (2) turns by 2 atan(h |wm| / 2) only, 2 % too little at 0.5 rad. Both are kept for any h, so
//
//     h* = 2 tan(h |w0| / 2) / |w0| (3)
//
// takes its place: a spin about a principal axis then turns by h |w|, to rounding. What is returned as the
// mean speed turns the body as (2) does, by the rotation vector h w.
SpinMidpoint advance_spin_part(const Mat3& inertia_b, const Quat& q, const Vec3& w, double h)
{
  const Vec3 w0 = q.conjugate() * w;
  const Vec3 L0 = inertia_b * w0;
  if (L0.cross(w0).squaredNorm() == 0) return {w, w, advance_rotation(q, w, h)};
  const double half_turn = 0.5 * h * w0.norm();
  const double cayley_h = h * std::tan(half_turn) / half_turn;  // (3)
  Vec3 w1 = w0;
  for (int step = 0; step < kMaxNewtonSteps; ++step) {
    const Vec3 wm = 0.5 * (w0 + w1);
    const Vec3 Lm = inertia_b * wm;
    const Vec3 f = inertia_b * (w1 - w0) - cayley_h * Lm.cross(wm);
    const Mat3 derivative = inertia_b - 0.5 * cayley_h * (base::skew(Lm) - base::skew(wm) * inertia_b);
    const Vec3 correction = derivative.inverse() * f;
    w1 -= correction;
    if (correction.squaredNorm() <= kSpinAccuracy * kSpinAccuracy * w0.squaredNorm()) break;
  }
  const Vec3 wm = q * Vec3(0.5 * (w0 + w1));
  const double half_turned = 0.5 * cayley_h * wm.norm();
  const Vec3 mean = (cayley_h / h) * (std::atan(half_turned) / half_turned) * wm;
  const Quat after = advance_rotation(q, mean, h);  // (2)
  return {after * w1, mean, after};
}

}  // namespace

Mat3 world_inverse_inertia(const Mat3& inertia_b, const Quat& q)
{
  const Mat3 R = q.toRotationMatrix();
  // A diagonal tensor, the usual case, is inverted entry by entry.
  if (inertia_b(0, 1) == 0 && inertia_b(0, 2) == 0 && inertia_b(1, 2) == 0) {
    const Vec3 inverse = inertia_b.diagonal().cwiseInverse();
    return R * inverse.asDiagonal() * R.transpose();
  }
  return R * inertia_b.inverse() * R.transpose();
}

// Newton's method begins at w0, which is near enough only while the body turns by little: at 3 rad in one
// part it did not converge, and a plate that spun at 200 rad/s gained 13 times its energy within 10 s.
SpinMidpoint advance_spin(const Mat3& inertia_b, const Quat& q, const Vec3& w, double h)
{
  const double parts = std::max(1.0, std::ceil(h * w.norm() / kMaxSpinTurn));
  if (parts == 1) return advance_spin_part(inertia_b, q, w, h);
  if (!(parts <= kMaxSpinParts)) {
    // Twenty turns in a step: how far it turned is not resolved any more. Turned about its angular momentum
    // it keeps that and its energy; turned about its spin, a thin rod gained 200 times its spin.
    const Vec3 L = q * Vec3(inertia_b * (q.conjugate() * w));
    const Quat turn(Eigen::AngleAxisd(std::fmod(h * w.norm(), 2 * std::numbers::pi), L.normalized()));
    return {turn * w, w, (turn * q).normalized()};
  }
  SpinMidpoint spin{w, Vec3::Zero(), q};
  for (double part = 0; part < parts; ++part) {
    const SpinMidpoint next = advance_spin_part(inertia_b, spin.rotation, spin.w_after, h / parts);
    spin = {next.w_after, spin.w_mid + next.w_mid / parts, next.rotation};
  }
  return spin;
}

Quat advance_rotation(const Quat& q, const Vec3& w, double h)
{
  const Vec3 half = 0.5 * h * w;
  const double angle = half.norm();
  const double sinc = angle < kNegligibleTurn ? 1 - angle * angle / 6 : std::sin(angle) / angle;
  const Quat turn(std::cos(angle), sinc * half.x(), sinc * half.y(), sinc * half.z());
  return (turn * q).normalized();
}

namespace {

/// Bodies handed to a thread at a time: some microseconds of work.
constexpr std::size_t kBodyGrain = 128;

void load_body(const model::BodyProperties& desc, const model::BodyState& body, const Vec3& gravity,
               SolverBody& s)
{
  if (desc.motion == model::Motion::fixed) return;
  s.v = body.velocity;
  s.w = body.angular_velocity;
  if (desc.motion == model::Motion::kinematic) {
    s.moves = true;
    return;
  }
  s.inverse_mass = 1 / desc.mass;
  s.inverse_inertia = world_inverse_inertia(desc.inertia, body.X_wb.rotation);
  if (body.asleep) return;
  s.moves = true;
  s.acceleration = desc.gravity_scale * gravity + s.inverse_mass * body.force;
  s.angular_acceleration = s.inverse_inertia * body.torque;
  s.damped = desc.linear_damping > 0 || desc.angular_damping > 0;
}

// Symplectic Euler, x += h v+, where contacts act. A body that nothing touched follows its parabola exactly,
//
//     x += h v+ - h^2 a / 2,
//
// because symplectic Euler alone loses g^2 h^2 / 2 of energy per unit mass and step of flight: a ball dropped
// from 1 m at h = 1/60 s would come back to 0.93 m.
void advance_position(const model::BodyProperties& desc, double h, SolverBody& s, Pose& X_wb)
{
  Vec3 dx = h * (s.v + s.push_v);
  if (!s.has_contact && !(s.damped && desc.linear_damping > 0)) dx -= 0.5 * h * h * s.acceleration;
  // Impulses have acted on the body as it stood; now it turns freely.
  Vec3 turn = s.w;
  Quat rotation = X_wb.rotation;
  if (s.inverse_mass > 0 && h * h * s.w.squaredNorm() > kNegligibleTurn * kNegligibleTurn) {
    const SpinMidpoint spin = advance_spin(desc.inertia, X_wb.rotation, s.w, h);
    turn = spin.w_mid;
    s.w = spin.w_after;
    rotation = spin.rotation;
  } else {
    rotation = advance_rotation(X_wb.rotation, turn, h);
  }
  s.dx += dx;
  s.dth += h * (turn + s.push_w);
  X_wb.position += dx;
  X_wb.rotation = rotation;
  if (s.push_w.isZero(0)) return;
  // What pushes overlap out turns the spin along with the body: w.Iw stays as it was. With w kept in world
  // axes, a capsule that tumbled over a smooth ground gained 2e-4 of the energy of its pile in a step.
  s.w = advance_rotation(Quat::Identity(), s.push_w, h) * s.w;
  X_wb.rotation = advance_rotation(X_wb.rotation, s.push_w, h);
}

}  // namespace

void SolverBodies::load(const model::SceneModel& model, const model::SceneState& state)
{
  const std::size_t count = model.bodies.size();
  bodies_.assign(count + 1, SolverBody{});
  inertia_rotation_.assign(count, Vec3::Zero());
#ifndef NDEBUG
  start_.clear();
  for (const model::BodyState& body : state.bodies) start_.push_back(body.X_wb.position);
#endif
  base::team_for(
      count, [&](std::size_t i) { load_body(model.bodies[i], state.bodies[i], model.gravity, bodies_[i]); },
      kBodyGrain);
}

void SolverBodies::advance_velocities(const model::SceneModel& model, double h)
{
  base::team_for(
      bodies_.size() - 1,
      [&](std::size_t i) {
        SolverBody& s = bodies_[i];
        s.has_contact = false;
        s.push_v.setZero();
        s.push_w.setZero();
        if (!s.moves || s.inverse_mass == 0) return;
        s.v += h * s.acceleration;
        s.w += h * s.angular_acceleration;
        if (!s.damped) return;
        // Exact decay, so that no damping rate can overshoot.
        s.v *= std::exp(-h * model.bodies[i].linear_damping);
        s.w *= std::exp(-h * model.bodies[i].angular_damping);
      },
      kBodyGrain);
}

bool is_resting(const SolverBody& body, double step)
{
  const double speed = kRestingSteps * step * body.acceleration.norm();
  return body.v.squaredNorm() <= speed * speed &&
         step * step * body.w.squaredNorm() <= kStaleRowTurn * kStaleRowTurn;
}

void remove_lift_energy(SolverBody& body, const Vec3& push, double h)
{
  if (body.inverse_mass == 0) return;
  const double climbed = -2 * h * body.acceleration.dot(push);
  if (!(climbed > 0)) return;
  // Twice the kinetic energy by mass. Both parts lose, in proportion: a body whose centre alone is stopped
  // would turn about it, into what it lies on.
  const double square =
      body.v.squaredNorm() + body.inverse_mass * body.w.dot(body.inverse_inertia.inverse() * body.w);
  const double kept = climbed < square ? std::sqrt(1 - climbed / square) : 0.0;
  body.v *= kept;
  body.w *= kept;
}

void SolverBodies::remove_push_out_energy(double h)
{
  base::team_for(
      bodies_.size(),
      [&](std::size_t i) {
        SolverBody& body = bodies_[i];
        if (!body.push_v.isZero(0)) remove_lift_energy(body, body.push_v, h);
      },
      kBodyGrain);
}

void SolverBodies::advance_positions(const model::SceneModel& model, model::SceneState& state, double h)
{
  base::team_for(
      bodies_.size() - 1,
      [&](std::size_t i) {
        if (bodies_[i].moves) advance_position(model.bodies[i], h, bodies_[i], state.bodies[i].X_wb);
      },
      kBodyGrain);
}

bool SolverBodies::update_world_inertia(const model::SceneModel& model, const model::SceneState& state)
{
  std::atomic<bool> far = false;
  base::team_for(
      bodies_.size() - 1,
      [&](std::size_t i) {
        SolverBody& s = bodies_[i];
        if (s.inverse_mass == 0 || (s.dth - inertia_rotation_[i]).squaredNorm() < kStaleTurn * kStaleTurn)
          return;
        s.inverse_inertia = world_inverse_inertia(model.bodies[i].inertia, state.bodies[i].X_wb.rotation);
        inertia_rotation_[i] = s.dth;
        if (s.dth.squaredNorm() > kStaleRowTurn * kStaleRowTurn) far.store(true, std::memory_order_relaxed);
      },
      kBodyGrain);
  return far;
}

void SolverBodies::store(model::SceneState& state) const
{
  for (std::size_t i = 0; i + 1 < bodies_.size(); ++i) {
    if (!bodies_[i].moves) continue;
    state.bodies[i].velocity = bodies_[i].v;
    state.bodies[i].angular_velocity = bodies_[i].w;
  }
}

}  // namespace thrum::rigid
