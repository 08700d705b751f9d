// SPDX-License-Identifier: MIT
// Unknowns: amplitudes q, q' of the struck body; velocity V and small motion X of every touching rigid body
// (and of the struck one when it can move). A touch i, with J_i V its speed along the normal and f_i its row,
// has the gap
//
//     g_i = g_i(0) + J_i X - f_i q,        speed u_i = J_i V - f_i q'.
//
// One substep dt: the modes swing freely and exactly, gravity acts on the bodies, then impulses lambda act at
// closed contacts, each a spring k (which keeps a body as long as Hertz' contact would) with a dashpot c,
// one-sided:
//
//     lambda = max(0, -k dt (g(0) + g(1)) / 2 - c dt (u(0) + u(1)) / 2),
//     u(1) = u(0) + A lambda,   g(1) = g + dt A lambda / 2,
//
// g being the gap after the free motion and A = J M^-1 J^T + F F^T. With kappa = k dt^2 / 4 + c dt / 2 this
// is the complementarity problem
//
//     0 <= lambda  perpendicular to
//     (A + 1/kappa) lambda + (k dt^2 (g(0) + g)/(2 dt) + c dt u(0)) / kappa >= 0,
//
// solved by sweeps over the contacts that are closed. This is the midpoint rule: the spring gives back what
// it took while the contact stays closed, and the dashpot, with the damping ratio with which a mass on k
// bounces with the restitution of the pair, only takes. The implicit rule (everything at the end of the
// substep) needs a substep ten times shorter for the same error.
//
// The steady forces between the bodies before the impact have bent the struck body already; q is measured
// from there, so the modes feel lambda less the steady load.
//
// With tangential kicks a touching body rubs as well: after the normal impulse lambda of a contact follows
// the impulse against its slip u_t = (J V - H U q')_t along t = u_t / |u_t|,
//
//     j = min(|u_t| / (t . S t), mu lambda),
//
// S being the velocity change of bodies and modes by an impulse in any direction,
// which changes the energy by -j |u_t| + j^2 t.S t / 2 <= 0. Striking bodies have had their friction from the
// rigid solver.
//
// What the rigid step gets: a body that left the surface keeps the energy it left with, as a velocity. Of
// hops that end inside the window that one counts which takes the centre of the body highest. Counted by
// energy instead, a box on four corners that rocked, or came down, was given that motion, which the next
// rigid solve stopped: a tenth of the boxes around a blow did not move at all.
#include "thrum/vibration/micro_collisions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/vibration/micro_simulation.h"

namespace thrum::vibration {

namespace {

constexpr double kSilentEnergyRatio = 1e-4;  ///< share of the energy at which the ringing is over
constexpr int kSilenceCheckInterval = 16;    ///< substeps between two looks at that
/// Change of the impulses at which sweeping ends, as a share of the largest.
constexpr float kSweepTolerance = 1e-4F;
constexpr double kDepartureTolerance =
    1e-9;  ///< relative; a body in free flight does not leave again and again

}  // namespace

ResponseResult MicroSimulation::run()
{
  const double before = energy(r_.modes, state_) + body_energy();
  const auto steps = static_cast<int>(std::ceil(r_.settings.window / dt_));
  double max_energy = 0;
  int step = 0;
  for (; step < steps; ++step) {
    substep();
    if (step % kSilenceCheckInterval != kSilenceCheckInterval - 1) continue;
    const double rings = energy(r_.modes, state_);
    max_energy = std::max(max_energy, rings);
    const bool striking = std::any_of(bodies_.begin(), bodies_.end(),
                                      [](const MovingBody& m) { return m.strikes && m.pushed; });
    if (!striking && rings < kSilentEnergyRatio * max_energy) break;
  }
  elapsed_ = (step < steps ? step + 1 : steps) * dt_;
  return make_result(before);
}

void MicroSimulation::substep()
{
  // Free motion.
  q_next_ = qq_.cwiseProduct(state_.q) + qv_.cwiseProduct(state_.v);
  state_.v = vq_.cwiseProduct(state_.q) + vv_.cwiseProduct(state_.v) + load_impulse_;
  state_.q.swap(q_next_);
  for (MovingBody& m : bodies_) {
    m.V += dt_ * m.acceleration;
    m.X += dt_ * m.V;
    m.pushed = false;
  }
  // Gaps that this leaves.
  single_precision_ = state_.q.cast<float>();
  surface_motion_.noalias() = F_single_ * single_precision_;
  free_gap_ = gap_base_ - surface_motion_.head(n_).cast<double>();
  closed_.clear();
  for (Eigen::Index k = 0; k < n_; ++k) {
    free_gap_[k] += along(k, &MovingBody::X);
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
  record_departures();
}

// free_gap_ holds the gaps at the start of the substep now, gap_ those after the free motion. Sweeps begin at
// the impulses of the substep before, which a contact that stays closed hardly changes. They end at
// kSweepTolerance, so single precision is enough for them; what bodies and modes then receive is added up in
// double.
void MicroSimulation::solve()
{
  single_precision_ = state_.v.cast<float>();
  surface_motion_.noalias() = F_single_ * single_precision_;
  speed_change_.setZero();
  for (const Eigen::Index k : closed_) {
    const auto u = static_cast<float>(along(k, &MovingBody::V)) - surface_motion_[k];
    const auto g = static_cast<float>((free_gap_[k] + gap_[k]) / 2);
    rhs_[k] = spring_[k] * g + dashpot_[k] * u;
    if (lambda_[k] > 0) speed_change_ += lambda_[k] * A_.col(k);
  }
  for (int sweep = 0; sweep < r_.settings.micro.sweeps; ++sweep) {
    float most = 0;
    float moved = 0;
    for (const Eigen::Index k : closed_) {
      const float next =
          std::max(0.0F, lambda_[k] - (rhs_[k] + speed_change_[k] + inverse_kappa_[k] * lambda_[k]) *
                                          inverse_diagonal_[k]);
      const float change = next - lambda_[k];
      most = std::max(most, next);
      if (change == 0) continue;
      lambda_[k] = next;
      moved = std::max(moved, std::abs(change));
      speed_change_ += change * A_.col(k);
    }
    if (moved <= kSweepTolerance * most) break;
  }
}

void MicroSimulation::apply()
{
  mode_impulse_.setZero();
  for (const Eigen::Index k : closed_) {
    const auto lambda = static_cast<double>(lambda_[k]);
    if (lambda == 0) continue;
    const ContactJacobian& J = J_[static_cast<std::size_t>(k)];
    apply_contact_impulse(bodies_[J.body], J.velocity_change_other, lambda);
    apply_contact_impulse(bodies_[0], J.velocity_change_own, -lambda, bodies_[J.body].mass == 0);
    mode_impulse_ += lambda * F_transposed_.col(k);
  }
  gap_ += (dt_ / 2) * speed_change_.head(n_).cast<double>();
  state_.v -= mode_impulse_;
  state_.q -= (dt_ / 2) * mode_impulse_;
  if (inverse_effective_masses_.empty()) return;
  for (const Eigen::Index k : closed_) {
    if (lambda_[k] > 0 && !active_contact(k).struck && active_contact(k).friction > 0) apply_friction(k);
  }
}

// Friction of one contact, one after the other.
void MicroSimulation::apply_friction(Eigen::Index k)
{
  const SurfaceContact& contact = active_contact(k);
  const auto& shapes = *r_.shapes[active_contacts_[static_cast<std::size_t>(k)]];
  const auto b = static_cast<std::size_t>(contact.body);
  const auto at = [&](std::size_t body) -> Vec3 {
    const Vec6& V = bodies_[body].V;
    return V.head<3>() + Vec3(V.tail<3>()).cross(contact.position - r_.input.bodies[body].centre);
  };
  const Vec3 u = at(b) - at(0) - shapes * state_.v;
  Vec3 t = u - contact.normal * contact.normal.dot(u);
  const double slip = t.norm();
  if (!(slip > 0)) return;
  t /= slip;
  const double sticking = slip / t.dot(inverse_effective_masses_[static_cast<std::size_t>(k)] * t);
  const Vec3 impulse = -std::min(sticking, contact.friction * static_cast<double>(lambda_[k])) * t;
  for (const auto& [body, sign] : {std::pair(b, 1.0), std::pair(std::size_t{0}, -1.0)}) {
    Vec6 row;
    row << sign * impulse, (contact.position - r_.input.bodies[body].centre).cross(sign * impulse);
    apply_contact_impulse(bodies_[body], inverse_mass_times(bodies_[body], row), 1, body != 0);
  }
  mode_impulse_.noalias() = shapes.transpose() * impulse;
  state_.v -= mode_impulse_;
  state_.q -= (dt_ / 2) * mode_impulse_;
}

// `direction` is M^-1 J^T of a contact. `holds`: a body that leaves this contact flies; the ringing body
// itself flies when it has left those that do not move, whatever lies on it.
void MicroSimulation::apply_contact_impulse(MovingBody& m, const Vec6& direction, double lambda,
                                            bool holds) const
{
  if (m.mass == 0) return;
  m.V += lambda * direction;
  m.X += (dt_ / 2 * lambda) * direction;
  m.pushed = m.pushed || holds;
  m.touched = m.touched || holds;
}

void MicroSimulation::record_departures()
{
  for (MovingBody& m : bodies_) {
    // In free flight the energy stays; only its beginning counts.
    if (m.pushed || !m.touched) continue;
    m.touched = false;
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
  const auto modes = static_cast<double>(r.modes.size());
  const double steps = r.settings.window / r.settings.micro.step;
  return contacts * contacts * modes + steps * (contacts * (modes + 12) + 4 * modes);
}

}  // namespace thrum::vibration
