// SPDX-License-Identifier: MIT
// What a run of micro-collisions (micro_collisions.cpp has its equations) finds out once: rows, springs,
// steps of the modes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/elastic/damped_oscillation.h"
#include "thrum/elastic/contact_spring.h"
#include "thrum/vibration/micro_simulation.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {

namespace {

/// A dashpot above critical damping, as a restitution near 0 asks for, ties a resting body to the fastest
/// modes as no Hertz contact does: on a steel plate with restitution 0 bodies left up to twice as fast.
constexpr double kMaxRestingDampingRatio = 1;

}  // namespace

void MicroSimulation::prepare()
{
  dt_ = r_.settings.micro.step;
  const auto& input = r_.input;
  bodies_.resize(input.bodies.size());
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const RigidBodyData& part = input.bodies[b];
    MovingBody& m = bodies_[b];
    m.V << part.velocity, part.angular_velocity;
    m.inverse_inertia = part.inverse_inertia;
    m.inverse_mass = part.inverse_mass;
    m.mass = part.inverse_mass > 0 ? 1 / part.inverse_mass : 0;
    if (!part.inverse_inertia.isZero(0)) m.inertia = part.inverse_inertia.inverse();
    if (part.inverse_mass > 0) m.acceleration.head<3>() = part.acceleration;
  }
  for (const std::size_t i : r_.struck) active_contacts_.push_back(i);
  for (const std::size_t i : r_.resting) active_contacts_.push_back(i);
  n_ = static_cast<Eigen::Index>(active_contacts_.size());
  F_.resize(n_, r_.rows.cols());
  J_.resize(active_contacts_.size());
  for (Eigen::Index k = 0; k < n_; ++k) {
    const std::size_t i = active_contacts_[at(k)];
    F_.row(k) = r_.rows.row(static_cast<Eigen::Index>(i));
    const SurfaceContact& contact = r_.contact(i);
    for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(contact.body)}) {
      Vec6 row;
      row << contact.normal, (contact.position - input.bodies[b].centre).cross(contact.normal);
      (b == 0 ? J_[at(k)].own : J_[at(k)].other) = row;
    }
    ContactJacobian& J = J_[at(k)];
    J.body = static_cast<std::size_t>(contact.body);
    J.velocity_change_own = inverse_mass_times(bodies_[0], J.own);
    J.velocity_change_other = inverse_mass_times(bodies_[J.body], J.other);
  }
  // Striking bodies go back to before the impact, and with a ringing body that can move so does what it
  // passed on: a table that stands on the floor is pushed up by its legs as hard as it is struck. Without
  // this its rigid motion would keep the floor's part of an impact whose other part is taken back.
  if (bodies_[0].mass > 0) {
    for (std::size_t i = 0; i < input.contacts.size(); ++i) {
      if (!input.contacts[i].struck) push(i, -input.contacts[i].reaction);
    }
  }
  for (const std::size_t i : r_.struck) {
    bodies_[at(r_.contact(i).body)].strikes = true;
    push(i, -r_.contact(i).impulse);
  }
  for (MovingBody& m : bodies_) {
    m.start = m.kinetic(m.V);
    m.start_rise = m.rise();
  }
  F_transposed_ = F_.transpose();
  constexpr Eigen::Index kLanes =
      4;  // of a vector register: columns that begin on one are read without peeling
  const Eigen::Index padded = (n_ + kLanes - 1) / kLanes * kLanes;
  F_single_.setZero(padded, F_.cols());
  F_single_.topRows(n_) = F_.cast<float>();
  MatX A(n_, n_);
  A.noalias() = F_ * F_transposed_;
  for (Eigen::Index k = 0; k < n_; ++k) {
    for (Eigen::Index l = 0; l <= k; ++l) {
      A(k, l) += inverse_effective_mass(input.bodies, active_contact(k), active_contact(l));
      A(l, k) = A(k, l);
    }
  }
  A_.setZero(padded, n_);
  A_.topRows(n_) = A.cast<float>();
  speed_change_.setZero(padded);
  prepare_contacts();
  prepare_modes();
  if (r_.settings.tangential) prepare_friction();
}

void MicroSimulation::prepare_friction()
{
  inverse_effective_masses_.assign(active_contacts_.size(), Mat3::Zero());
  for (std::size_t k = 0; k < active_contacts_.size(); ++k) {
    const SurfaceContact& contact = r_.contact(active_contacts_[k]);
    Mat3& S = inverse_effective_masses_[k];
    S = *r_.shapes[active_contacts_[k]] * r_.shapes[active_contacts_[k]]->transpose();
    for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(contact.body)}) {
      if (bodies_[b].mass == 0) continue;
      const Mat3 arm = base::skew(contact.position - r_.input.bodies[b].centre);
      S += bodies_[b].inverse_mass * Mat3::Identity() - arm * bodies_[b].inverse_inertia * arm;
    }
  }
}

void MicroSimulation::prepare_contacts()
{
  for (VecX* v : {&gap_, &gap_base_, &load_}) v->setZero(n_);
  for (Eigen::VectorXf* v : {&spring_, &dashpot_, &inverse_kappa_, &inverse_diagonal_, &lambda_, &rhs_})
    v->setZero(n_);
  for (Eigen::Index k = 0; k < n_; ++k) {
    const std::size_t i = active_contacts_[at(k)];
    const SurfaceContact& contact = active_contact(k);
    const double inverse_effective_mass = r_.inverse_effective_mass[static_cast<Eigen::Index>(i)];
    if (!(inverse_effective_mass > 0)) continue;
    const double speed = contact.struck ? std::max(contact.approach_speed, kRattleSpeed) : kRattleSpeed;
    // Without a modulus the contact is as hard as the substep can show.
    const double duration = std::max(r_.pulse_duration(i, speed), 2 * dt_);
    const double k_n = stiffness_for_duration(1 / inverse_effective_mass, duration);
    double ratio = elastic::damping_ratio(contact.restitution);
    if (!contact.struck) ratio = std::min(ratio, kMaxRestingDampingRatio);
    const double c = 2 * ratio * std::sqrt(k_n / inverse_effective_mass);
    const double inverse_kappa = 1 / (k_n * dt_ * dt_ / 4 + c * dt_ / 2);
    spring_[k] = static_cast<float>(inverse_kappa * k_n * dt_);
    dashpot_[k] = static_cast<float>(inverse_kappa * c * dt_);
    inverse_kappa_[k] = static_cast<float>(inverse_kappa);
    inverse_diagonal_[k] = static_cast<float>(1 / (static_cast<double>(A_(k, k)) + inverse_kappa));
    load_[k] = contact.struck ? 0 : contact.load;
    // The impact begins now; the gap of its contact is from when the rigid solver found it, up to a step ago.
    gap_base_[k] = contact.struck ? 0 : std::max(0.0, contact.gap) - load_[k] / k_n;
  }
  // The rigid contact says how far the body is from the surface as it is now, vibration and all: a body that
  // touches in the rigid world touches the displaced surface. With gaps counted from the undeformed surface,
  // g(0) = gap - f q, a body under a wave crest would start inside its spring, which is energy from nowhere.
  gap_ = gap_base_;
  gap_base_ += F_ * state_.q;
  load_impulse_ = F_transposed_ * (load_ * dt_);
  closed_.reserve(active_contacts_.size());
}

void MicroSimulation::prepare_modes()
{
  const Eigen::Index m = state_.q.size();
  for (VecX* v : {&qq_, &qv_, &vq_, &vv_}) v->resize(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double w = r_.modes.omegas[i];
    const double d = r_.modes.decays[i];
    const elastic::DampedOscillation s = elastic::damped_oscillation(w, d, dt_);
    qq_[i] = s.cosine + d * s.sine;
    qv_[i] = s.sine;
    vq_[i] = -w * w * s.sine;
    vv_[i] = s.cosine - d * s.sine;
  }
  q_next_.resize(m);
  mode_impulse_.resize(m);
}

MicroSimulation::Vec6 MicroSimulation::inverse_mass_times(const MovingBody& m, const Vec6& J)
{
  Vec6 direction;
  direction << m.inverse_mass * J.head<3>(), m.inverse_inertia * J.tail<3>();
  return direction;
}

void MicroSimulation::push(std::size_t i, double impulse)
{
  const SurfaceContact& contact = r_.contact(i);
  for (const auto& [b, sign] :
       {std::pair(static_cast<std::size_t>(contact.body), 1.0), std::pair(std::size_t{0}, -1.0)}) {
    MovingBody& m = bodies_[b];
    const Vec3 j = sign * impulse * contact.normal;
    m.V.head<3>() += m.inverse_mass * j;
    m.V.tail<3>() += m.inverse_inertia * (contact.position - r_.input.bodies[b].centre).cross(j);
  }
}

}  // namespace thrum::vibration
