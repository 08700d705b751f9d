// SPDX-License-Identifier: MIT
// What a run of micro-collisions (micro_collisions.cpp has its equations) finds out once: rows, springs, steps of the modes.
#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/elastic/mode_swing.h"
#include "thrum/vibration/contact_spring.h"
#include "thrum/vibration/micro_run.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {

void MicroRun::prepare()
{
  dt_ = r_.settings.micro.step;
  const auto& input = r_.input;
  movers_.resize(input.bodies.size());
  for (std::size_t b = 0; b < movers_.size(); ++b) {
    const RigidPart& part = input.bodies[b];
    Mover& m = movers_[b];
    m.V << part.velocity, part.angular_velocity;
    m.inverse_inertia = part.inverse_inertia;
    m.inverse_mass = part.inverse_mass;
    m.mass = part.inverse_mass > 0 ? 1 / part.inverse_mass : 0;
    if (!part.inverse_inertia.isZero(0)) m.inertia = part.inverse_inertia.inverse();
    if (part.inverse_mass > 0) m.acceleration.head<3>() = part.acceleration;
  }
  for (const std::size_t i : r_.struck) members_.push_back(i);
  for (const std::size_t i : r_.resting) members_.push_back(i);
  n_ = static_cast<Eigen::Index>(members_.size());
  F_.resize(n_, r_.rows.cols());
  J_.resize(members_.size());
  for (Eigen::Index k = 0; k < n_; ++k) {
    const std::size_t i = members_[static_cast<std::size_t>(k)];
    F_.row(k) = r_.rows.row(static_cast<Eigen::Index>(i));
    const Touch& touch = r_.touch(i);
    for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(touch.body)}) {
      Vec6 row;
      row << touch.normal, (touch.position - input.bodies[b].centre).cross(touch.normal);
      (b == 0 ? J_[static_cast<std::size_t>(k)].own : J_[static_cast<std::size_t>(k)].other) = row;
    }
    ContactJacobian& J = J_[static_cast<std::size_t>(k)];
    J.body = static_cast<std::size_t>(touch.body);
    J.pushes_own = direction_of(movers_[0], J.own);
    J.pushes_other = direction_of(movers_[J.body], J.other);
  }
  // Striking bodies go back to before the impact.
  for (const std::size_t i : r_.struck) {
    movers_[static_cast<std::size_t>(r_.touch(i).body)].strikes = true;
    push(i, -r_.touch(i).impulse);
  }
  for (Mover& m : movers_) m.start = m.kinetic(m.V);
  F_columns_ = F_.transpose();
  constexpr Eigen::Index kLanes =
      4;  // of a vector register: columns that begin on one are read without peeling
  const Eigen::Index padded = (n_ + kLanes - 1) / kLanes * kLanes;
  F_single_.setZero(padded, F_.cols());
  F_single_.topRows(n_) = F_.cast<float>();
  MatX A(n_, n_);
  A.noalias() = F_ * F_columns_;
  for (Eigen::Index k = 0; k < n_; ++k) {
    for (Eigen::Index l = 0; l <= k; ++l) {
      A(k, l) += rigid_answer(input.bodies, member(k), member(l));
      A(l, k) = A(k, l);
    }
  }
  A_.setZero(padded, n_);
  A_.topRows(n_) = A.cast<float>();
  pushed_.setZero(padded);
  prepare_contacts();
  prepare_modes();
  if (r_.settings.tangential) prepare_friction();
}

void MicroRun::prepare_friction()
{
  answers_.assign(members_.size(), Mat3::Zero());
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const Touch& touch = r_.touch(members_[k]);
    Mat3& S = answers_[k];
    S = *r_.shapes[members_[k]] * r_.shapes[members_[k]]->transpose();
    for (const std::size_t b : {std::size_t{0}, static_cast<std::size_t>(touch.body)}) {
      if (movers_[b].mass == 0) continue;
      const Mat3 arm = base::skew(touch.position - r_.input.bodies[b].centre);
      S += movers_[b].inverse_mass * Mat3::Identity() - arm * movers_[b].inverse_inertia * arm;
    }
  }
}

void MicroRun::prepare_contacts()
{
  for (VecX* v : {&gap_, &gap_base_, &load_}) v->setZero(n_);
  for (Eigen::VectorXf* v : {&spring_, &dash_, &inverse_kappa_, &inverse_diagonal_, &lambda_, &wish_})
    v->setZero(n_);
  for (Eigen::Index k = 0; k < n_; ++k) {
    const std::size_t i = members_[static_cast<std::size_t>(k)];
    const Touch& touch = member(k);
    const double answer = r_.answer[static_cast<Eigen::Index>(i)];
    if (!(answer > 0)) continue;
    const double speed = touch.struck ? std::max(touch.approach_speed, kRattleSpeed) : kRattleSpeed;
    // Without a modulus the contact is as hard as the sub-step can show.
    const double duration = std::max(r_.pulse_duration(i, speed), 2 * dt_);
    const double k_n = equal_time_stiffness(1 / answer, duration);
    const double c = 2 * damping_ratio(touch.restitution) * std::sqrt(k_n / answer);
    const double inverse_kappa = 1 / (k_n * dt_ * dt_ / 4 + c * dt_ / 2);
    spring_[k] = static_cast<float>(inverse_kappa * k_n * dt_);
    dash_[k] = static_cast<float>(inverse_kappa * c * dt_);
    inverse_kappa_[k] = static_cast<float>(inverse_kappa);
    inverse_diagonal_[k] = static_cast<float>(1 / (static_cast<double>(A_(k, k)) + inverse_kappa));
    load_[k] = touch.struck ? 0 : touch.load;
    gap_base_[k] = std::max(0.0, touch.gap) - load_[k] / k_n;
  }
  gap_ = gap_base_ - F_ * state_.q;
  hold_ = F_columns_ * (load_ * dt_);
  closed_.reserve(members_.size());
}

void MicroRun::prepare_modes()
{
  const Eigen::Index m = state_.q.size();
  for (VecX* v : {&qq_, &qv_, &vq_, &vv_}) v->resize(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double w = r_.modes.omegas[i];
    const double d = r_.modes.decays[i];
    const elastic::Swing s = elastic::swing(w, d, dt_);
    qq_[i] = s.cosine + d * s.sine;
    qv_[i] = s.sine;
    vq_[i] = -w * w * s.sine;
    vv_[i] = s.cosine - d * s.sine;
  }
  q_next_.resize(m);
  blow_.resize(m);
}

MicroRun::Vec6 MicroRun::direction_of(const Mover& m, const Vec6& J)
{
  Vec6 direction;
  direction << m.inverse_mass * J.head<3>(), m.inverse_inertia * J.tail<3>();
  return direction;
}

void MicroRun::push(std::size_t i, double impulse)
{
  const Touch& touch = r_.touch(i);
  for (const auto& [b, sign] :
       {std::pair(static_cast<std::size_t>(touch.body), 1.0), std::pair(std::size_t{0}, -1.0)}) {
    Mover& m = movers_[b];
    const Vec3 j = sign * impulse * touch.normal;
    m.V.head<3>() += m.inverse_mass * j;
    m.V.tail<3>() += m.inverse_inertia * (touch.position - r_.input.bodies[b].centre).cross(j);
  }
}

}  // namespace thrum::vibration
