// SPDX-License-Identifier: MIT
// Unknowns: amplitudes q, q' of the struck body; velocity V and small motion X of every rigid body in contact
// with it (and of the struck one when it can move). Contact k, with J_k V its speed along the normal and f_k
// its row, has the depth
//
//     d_k = d_k(0) - J_k X + f_k (q - q(0)).
//
// One substep of length h: each contact force F_k is held, everything else moves exactly. A mode of
// frequency w without damping and a body move by
//
//     q += (1 - cos w h) / w^2 Q,   q' += sin(w h) / w Q,     X += h^2 / 2 M^-1 J^T F,   V += h M^-1 J^T F
//
// beyond their free motion (elastic/damped_oscillation.h has the damped mode), so that d = d_free - R F with
//
//     R = h^2 / 2 J M^-1 J^T + f diag((1 - cos w h) / w^2) f^T,
//
// and F_k does exactly the work F_k times the change of depth. F_k is Hertz' force as a discrete gradient,
// plus the damping with which a mass on it bounces with the restitution of the pair (elastic/held_contact.h),
// never pulling: work and contact potential balance in every substep of any length, and what the damping
// takes is lost. The forces of all contacts are solved together (elastic/held_contact_solver.h).
//
// While the impact lasts the substeps are at most a tenth of Hertz' contact time, and modes above those of
// the model take their share of it (micro_prepare.cpp).
//
// The steady forces between the bodies before the impact have bent the struck body already; q is measured
// from there, so the modes feel F less the steady load.
//
// A resting body rubs as well: after the normal force of a contact follows the impulse against its slip
// u_t = (J V - H U q')_t along t = u_t / |u_t|,
//
//     j = min(|u_t| / (t . S t), mu h F),
//
// S being the velocity change of bodies and modes by an impulse across the normal,
// which changes the energy by -j |u_t| + j^2 t.S t / 2 <= 0. Striking bodies have had their friction from the
// rigid solver.
//
// What the rigid step gets: a body that left the surface keeps the energy it left with, as a velocity. Of
// hops that end inside the window that one counts which takes the centre of the body highest. Counted by
// energy instead, a box on four corners that rocked, or came down, was given that motion, which the next
// rigid solve stopped: a tenth of the boxes around an impact did not move at all.
#include "thrum/vibration/micro_collisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "thrum/elastic/column_kernels.h"
#include "thrum/vibration/micro_simulation.h"

namespace thrum::vibration {

namespace {

constexpr double kSilentEnergyRatio = 1e-4;  ///< share of the energy at which the ringing is over
constexpr int kSilenceCheckInterval = 16;    ///< substeps between two looks at that
/// A yielding surface makes an impact longer than Hertz' on a rigid one: 2.6 times at Zener's lambda = 2.
constexpr double kImpactDurations = 4;
/// Kicks on steel plates with 20 to 400 modes and restitutions of 0 to 1 have the same bias and median error
/// with any of these (tests/vibration/time_budget_test.cpp); the last takes a fifth of the time with 400.
constexpr std::array<MicroSavings, 4> kSavings = {MicroSavings{}, {true, 1}, {true, 2}, {true, 4}};
constexpr double kDepartureTolerance =
    1e-9;  ///< relative; a body in free flight does not leave again and again

std::span<double> span_of(VecX& v)
{
  return {v.data(), at(v.size())};
}

}  // namespace

ResponseResult MicroSimulation::run()
{
  const double before = energy(all_modes_, state_) + body_energy();
  const double window = r_.settings.window;
  if (fine_.dt > 0 || count_ > ringing_) {
    const Propagator& step = fine_.dt > 0 ? fine_ : coarse_;
    const double end = std::min(kImpactDurations * impact_duration_, window);
    for (; elapsed_ < end; elapsed_ += step.dt) substep(step);
    end_impact();
  }
  double max_energy = 0;
  for (int step = 1; elapsed_ < window; ++step) {
    substep(coarse_);
    elapsed_ += coarse_.dt;
    if (step % kSilenceCheckInterval != 0) continue;
    const double rings = energy(all_modes_, state_);
    max_energy = std::max(max_energy, rings);
    const bool striking = std::any_of(bodies_.begin(), bodies_.end(),
                                      [](const MovingBody& m) { return m.strikes && m.pushed; });
    if (!striking && rings < kSilentEnergyRatio * max_energy) break;
  }
  return make_result(before);
}

// The tail modes have done their part. What they displace at the contact stays as it is.
void MicroSimulation::end_impact()
{
  const Eigen::Index tail = count_ - ringing_;
  if (tail == 0) return;
  depth_base_ += F_.rightCols(tail) * state_.q.tail(tail);
  coarse_.R.diagonal() -= coarse_.tail_compliance;
  closed_step_ = nullptr;
  count_ = ringing_;
  for (VecX* v : {&all_modes_.omegas, &all_modes_.decays, &state_.q, &state_.v, &coarse_.qq, &coarse_.qv,
                  &coarse_.vq, &coarse_.vv, &coarse_.fq, &coarse_.fv, &coarse_.load_q, &coarse_.load_v})
    v->conservativeResize(ringing_);
  F_.conservativeResize(Eigen::NoChange, ringing_);
  F_transposed_.conservativeResize(ringing_, Eigen::NoChange);
}

void MicroSimulation::substep(const Propagator& step)
{
  // Free motion.
  elastic::step_modes({step.qq.data(), step.qv.data(), step.vq.data(), step.vv.data(), step.load_q.data(),
                       step.load_v.data()},
                      span_of(state_.q), state_.v.data());
  for (MovingBody& m : bodies_) {
    m.X += step.dt * m.V + (step.dt * step.dt / 2) * m.acceleration;
    m.V += step.dt * m.acceleration;
    m.pushed = false;
  }
  // Depths that this leaves.
  free_depth_.setZero();
  elastic::add_columns(F_.data(), at(n_), span_of(state_.q), span_of(free_depth_));
  free_depth_ += depth_base_;
  closed_.clear();
  for (Eigen::Index k = 0; k < n_; ++k) {
    free_depth_[k] -= along(k, &MovingBody::X);
    if ((depth_[k] > 0 || free_depth_[k] > 0) && laws_[at(k)].stiffness > 0) {
      closed_.push_back(k);
    } else {
      force_[k] = force_before_[k] = 0;
    }
  }
  depth_.swap(free_depth_);
  if (!closed_.empty()) {
    solve(step);
    apply(step);
  }
  record_departures();
}

// free_depth_ holds the depths at the start of the substep now, depth_ those after the free motion. The
// forces go on as they went in the substep before, as a first guess.
void MicroSimulation::solve(const Propagator& step)
{
  const auto count = static_cast<Eigen::Index>(closed_.size());
  held_.resize(closed_.size());
  if (closed_step_ != &step || closed_before_ != closed_) {
    closed_R_.resize(count, count);
    for (Eigen::Index i = 0; i < count; ++i)
      for (Eigen::Index j = 0; j < count; ++j) closed_R_(j, i) = step.R(closed_[at(j)], closed_[at(i)]);
    closed_step_ = &step;
    closed_before_ = closed_;
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Index k = closed_[at(i)];
    elastic::ContactStep& contact = held_[at(i)];
    contact.contact = laws_[at(k)];
    // At the middle of the free motion, which the solve does not change.
    const double middle = (std::max(0.0, free_depth_[k]) + std::max(0.0, depth_[k])) / 2;
    contact.damper = contact.contact.damper(middle) / step.dt;
    contact.depth_before = free_depth_[k];
    contact.depth_free = depth_[k];
    contact.force = std::max(0.0, 2 * force_[k] - force_before_[k]);
  }
  const elastic::HeldSolveSettings settings{.sweeps = r_.settings.micro.sweeps};
  if (!solver_.solve(closed_R_, held_, settings).converged) ++unsolved_;
  force_before_.swap(force_);
  force_.setZero();
  for (Eigen::Index i = 0; i < count; ++i) force_[closed_[at(i)]] = held_[at(i)].force;
}

void MicroSimulation::apply(const Propagator& step)
{
  modal_force_.setZero(count_);
  pushing_.clear();
  for (const Eigen::Index k : closed_) {
    const double force = force_[k];
    if (force == 0) continue;
    const ContactJacobian& J = J_[at(k)];
    const double impulse = step.dt * force;
    apply_contact_impulse(bodies_[J.body], J.velocity_change_other, impulse, step.dt);
    apply_contact_impulse(bodies_[0], J.velocity_change_own, -impulse, step.dt, bodies_[J.body].mass == 0);
    pushing_.add(force, F_transposed_.col(k).data(), step.R.col(k).data());
  }
  elastic::add_columns(pushing_.modes, pushing_.forces.data(), span_of(modal_force_));
  elastic::add_columns(pushing_.depths, pushing_.opposite_forces.data(), span_of(depth_));
  state_.q -= step.fq.cwiseProduct(modal_force_);
  state_.v -= step.fv.cwiseProduct(modal_force_);
  for (const Eigen::Index k : closed_)
    if (force_[k] > 0 && sliding_[at(k)].friction > 0) apply_friction(k, step.dt * force_[k]);
}

// Friction of one contact, one after the other. `impulse` is that of the normal force [N s].
void MicroSimulation::apply_friction(Eigen::Index k, double impulse)
{
  const SlidingContact& contact = sliding_[at(k)];
  MovingBody& other = bodies_[J_[at(k)].body];
  const double* t1 = tangent_columns_.col(2 * k).data();
  const double* t2 = tangent_columns_.col(2 * k + 1).data();
  const std::span<double> mode_speeds(state_.v.data(), at(modes_));
  const elastic::ColumnPair surface = elastic::dot_two_columns(t1, t2, mode_speeds);
  Eigen::Vector2d slip(-surface.first, -surface.second);
  for (int i = 0; i < 2; ++i) {
    slip[i] += contact.other[at(i)].dot(other.V);
    if (bodies_[0].mass > 0) slip[i] -= contact.own[at(i)].dot(bodies_[0].V);
  }
  const double speed = slip.norm();
  if (!(speed > 0)) return;
  const Eigen::Vector2d t = slip / speed;
  const Eigen::Vector2d j = -std::min(speed / t.dot(contact.S * t), contact.friction * impulse) * t;
  for (int i = 0; i < 2; ++i) {
    apply_contact_impulse(other, contact.velocity_change_other[at(i)], j[i], 0);
    apply_contact_impulse(bodies_[0], contact.velocity_change_own[at(i)], -j[i], 0, false);
  }
  elastic::subtract_two_columns(j[0], t1, j[1], t2, mode_speeds);
}

// `direction` is M^-1 J^T of a contact whose force, held over dt, gives the impulse; at once for dt = 0.
// `holds`: a body that leaves this contact flies; the ringing body itself flies when it has left those that
// do not move, whatever lies on it.
void MicroSimulation::apply_contact_impulse(MovingBody& m, const Vec6& direction, double impulse, double dt,
                                            bool holds) const
{
  if (m.mass == 0) return;
  m.V += impulse * direction;
  m.X += (dt / 2 * impulse) * direction;
  m.pushed = m.pushed || holds;
  m.in_contact = m.in_contact || holds;
}

void MicroSimulation::record_departures()
{
  for (MovingBody& m : bodies_) {
    // In free flight the energy stays; only its beginning counts.
    if (m.pushed || !m.in_contact) continue;
    m.in_contact = false;
    const double rise = m.rise();
    // A striking body counts from its last flight, the others from their highest.
    if (m.strikes || rise > m.max_rise * (1 + kDepartureTolerance) + kDepartureTolerance * m.start) {
      m.max_rise = rise;
      m.best = m.energy();
      m.departure_velocity = m.V;
    }
  }
}

ResponseResult simulate_micro_collisions(const ResponseContext& context, ModeState& state)
{
  const double vibration_before = energy(context.modes, state);
  ResponseResult result = MicroSimulation(context, state).run();
  result.energy.vibration_before = vibration_before;
  return result;
}

double micro_cost(const ResponseContext& r)
{
  const auto contacts = static_cast<double>(r.struck.size() + r.resting.size());
  const auto modes = static_cast<double>(at(count_followed_modes(r)) + count_diffuse_modes(r));
  const double steps = r.settings.window / resting_substep(r);
  return contacts * contacts * modes + steps * (contacts * (modes + 12) + 4 * modes);
}

MicroSavings choose_micro_savings(const ResponseContext& context, double max_cost)
{
  ResponseContext r = context;
  for (const MicroSavings& savings : kSavings) {
    r.savings = savings;
    if (micro_cost(r) <= max_cost) break;
  }
  return r.savings;
}

}  // namespace thrum::vibration
