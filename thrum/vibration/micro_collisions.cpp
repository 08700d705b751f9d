// SPDX-License-Identifier: MIT
// Unknowns: amplitudes q, q' of the struck body; velocity V and small motion X of every touching rigid body (and of the struck
// one when it can move). A touch i, with J_i V its speed along the normal and f_i its row, has the gap
//
//     g_i = g_i(0) + J_i X - f_i q,        speed u_i = J_i V - f_i q'.
//
// One sub-step dt: the modes swing freely and exactly, gravity acts on the bodies, then impulses lambda act at closed contacts,
// each a spring k (which keeps a body as long as Hertz' contact would) with a dashpot c, one-sided:
//
//     lambda = max(0, -k dt (g(0) + g(1)) / 2 - c dt (u(0) + u(1)) / 2),   u(1) = u(0) + A lambda,   g(1) = g + dt A lambda / 2,
//
// g being the gap after the free motion and A = J M^-1 J^T + F F^T. With kappa = k dt^2 / 4 + c dt / 2 this is the
// complementarity problem
//
//     0 <= lambda  perpendicular to  (A + 1/kappa) lambda + (k dt^2 (g(0) + g)/(2 dt) + c dt u(0)) / kappa >= 0,
//
// solved by sweeps over the contacts that are closed. This is the midpoint rule: the spring gives back what it took while the
// contact stays closed, and the dashpot, with the damping ratio with which a mass on k bounces with the restitution of the pair,
// only takes. The implicit rule (everything at the end of the sub-step) needs a sub-step ten times shorter for the same error.
//
// The steady forces between the bodies before the impact have bent the struck body already; q is measured from there, so the
// modes feel lambda less the steady load.
//
// With tangential kicks a touching body rubs as well: after the normal impulse lambda of a contact follows the impulse against its slip u_t
// = (J V - H U q')_t along t = u_t / |u_t|,
//
//     j = min(|u_t| / (t . S t), mu lambda),       S = the answer of bodies and modes to an impulse in any direction,
//
// which changes the energy by -j |u_t| + j^2 t.S t / 2 <= 0. Striking bodies have had their friction from the rigid solver.
//
// What is handed over: a body that left the surface keeps the energy it left with, as a velocity. Hops that end inside the
// window count by their highest.
#include "thrum/vibration/micro_collisions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/vibration/micro_run.h"

namespace thrum::vibration {

namespace {

constexpr double kSilent = 1e-4;   ///< share of the energy at which the ringing is over
constexpr int kSilenceCheck = 16;  ///< sub-steps between two looks at that
/// Change of the impulses at which sweeping ends, as a share of the greatest.
constexpr float kSettled = 1e-4F;
constexpr double kHigher = 1e-9;  ///< relative; a body in free flight does not leave again and again

}  // namespace

ResponseResult MicroRun::run()
{
  const double before = energy(r_.modes, state_) + body_energy();
  const auto steps = static_cast<int>(std::ceil(r_.settings.window / dt_));
  double loudest = 0;
  int step = 0;
  for (; step < steps; ++step) {
    sub_step();
    if (step % kSilenceCheck != kSilenceCheck - 1) continue;
    const double rings = energy(r_.modes, state_);
    loudest = std::max(loudest, rings);
    const bool striking =
        std::any_of(movers_.begin(), movers_.end(), [](const Mover& m) { return m.strikes && m.pushed; });
    if (!striking && rings < kSilent * loudest) break;
  }
  elapsed_ = (step < steps ? step + 1 : steps) * dt_;
  return hand_over(before);
}

void MicroRun::sub_step()
{
  // Free motion.
  q_next_ = qq_.cwiseProduct(state_.q) + qv_.cwiseProduct(state_.v);
  state_.v = vq_.cwiseProduct(state_.q) + vv_.cwiseProduct(state_.v) + hold_;
  state_.q.swap(q_next_);
  for (Mover& m : movers_) {
    m.V += dt_ * m.acceleration;
    m.X += dt_ * m.V;
    m.pushed = false;
  }
  // Gaps that this leaves.
  single_ = state_.q.cast<float>();
  moved_.noalias() = F_single_ * single_;
  free_gap_ = gap_base_ - moved_.head(n_).cast<double>();
  closed_.clear();
  for (Eigen::Index k = 0; k < n_; ++k) {
    free_gap_[k] += along(k, &Mover::X);
    if (gap_[k] + free_gap_[k] < 0 && inverse_diagonal_[k] > 0) {
      closed_.push_back(k);
    } else {
      lambda_[k] = 0;
    }
  }
  gap_.swap(free_gap_);
  if (!closed_.empty()) {
    solve();
    apply();
  }
  note_flights();
}

// free_gap_ holds the gaps at the start of the sub-step now, gap_ those after the free motion. Sweeps begin at the impulses of the
// sub-step before, which a contact that stays closed hardly changes. They end at kSettled, so single precision is enough for them;
// what bodies and modes then receive is added up in double.
void MicroRun::solve()
{
  single_ = state_.v.cast<float>();
  moved_.noalias() = F_single_ * single_;
  pushed_.setZero();
  for (const Eigen::Index k : closed_) {
    const auto u = static_cast<float>(along(k, &Mover::V)) - moved_[k];
    const auto g = static_cast<float>((free_gap_[k] + gap_[k]) / 2);
    wish_[k] = spring_[k] * g + dash_[k] * u;
    if (lambda_[k] > 0) pushed_ += lambda_[k] * A_.col(k);
  }
  for (int sweep = 0; sweep < r_.settings.micro.sweeps; ++sweep) {
    float most = 0;
    float moved = 0;
    for (const Eigen::Index k : closed_) {
      const float next = std::max(
          0.0F, lambda_[k] - (wish_[k] + pushed_[k] + inverse_kappa_[k] * lambda_[k]) * inverse_diagonal_[k]);
      const float change = next - lambda_[k];
      most = std::max(most, next);
      if (change == 0) continue;
      lambda_[k] = next;
      moved = std::max(moved, std::abs(change));
      pushed_ += change * A_.col(k);
    }
    if (moved <= kSettled * most) break;
  }
}

void MicroRun::apply()
{
  blow_.setZero();
  for (const Eigen::Index k : closed_) {
    const auto lambda = static_cast<double>(lambda_[k]);
    if (lambda == 0) continue;
    const ContactJacobian& J = J_[static_cast<std::size_t>(k)];
    give(movers_[J.body], J.pushes_other, lambda);
    give(movers_[0], J.pushes_own, -lambda);
    blow_ += lambda * F_columns_.col(k);
  }
  gap_ += (dt_ / 2) * pushed_.head(n_).cast<double>();
  state_.v -= blow_;
  state_.q -= (dt_ / 2) * blow_;
  if (answers_.empty()) return;
  for (const Eigen::Index k : closed_) {
    if (lambda_[k] > 0 && !member(k).struck && member(k).friction > 0) rub(k);
  }
}

// Friction of one contact, one after the other.
void MicroRun::rub(Eigen::Index k)
{
  const Touch& touch = member(k);
  const auto& shapes = *r_.shapes[members_[static_cast<std::size_t>(k)]];
  const auto b = static_cast<std::size_t>(touch.body);
  const auto at = [&](std::size_t body) -> Vec3 {
    const Vec6& V = movers_[body].V;
    return V.head<3>() + Vec3(V.tail<3>()).cross(touch.position - r_.input.bodies[body].centre);
  };
  const Vec3 u = at(b) - at(0) - shapes * state_.v;
  Vec3 t = u - touch.normal * touch.normal.dot(u);
  const double slip = t.norm();
  if (!(slip > 0)) return;
  t /= slip;
  const double sticking = slip / t.dot(answers_[static_cast<std::size_t>(k)] * t);
  const Vec3 impulse = -std::min(sticking, touch.friction * static_cast<double>(lambda_[k])) * t;
  for (const auto& [body, sign] : {std::pair(b, 1.0), std::pair(std::size_t{0}, -1.0)}) {
    Vec6 row;
    row << sign * impulse, (touch.position - r_.input.bodies[body].centre).cross(sign * impulse);
    give(movers_[body], direction_of(movers_[body], row), 1);
  }
  blow_.noalias() = shapes.transpose() * impulse;
  state_.v -= blow_;
  state_.q -= (dt_ / 2) * blow_;
}

// `direction` is M^-1 J^T of a contact.
void MicroRun::give(Mover& m, const Vec6& direction, double lambda) const
{
  if (m.mass == 0) return;
  m.V += lambda * direction;
  m.X += (dt_ / 2 * lambda) * direction;
  m.pushed = true;
  m.touched = true;
}

void MicroRun::note_flights()
{
  for (Mover& m : movers_) {
    // In free flight the energy stays; only its beginning counts.
    if (m.pushed || !m.touched) continue;
    m.touched = false;
    const double now = m.energy();
    // A striking body counts from its last flight, the others from their highest.
    if (m.strikes || now > m.best * (1 + kHigher) + kHigher * m.start) {
      m.best = now;
      m.leaving = m.V;
    }
  }
}

ResponseResult collide_in_small(const Ringing& ringing, ModeState& state)
{
  const double rang = energy(ringing.modes, state);
  ResponseResult result = MicroRun(ringing, state).run();
  result.energy.rang = rang;
  return result;
}

double micro_cost(const Ringing& r)
{
  const auto touches = static_cast<double>(r.struck.size() + r.resting.size());
  const auto modes = static_cast<double>(r.modes.size());
  const double steps = r.settings.window / r.settings.micro.step;
  return touches * touches * modes + steps * (touches * (modes + 12) + 4 * modes);
}

}  // namespace thrum::vibration
