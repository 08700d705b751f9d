// SPDX-License-Identifier: MIT
// What a run of micro-collisions (micro_collisions.cpp has its equations) finds out once: rows, contact laws,
// substeps, tail modes.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/elastic/contact_spring.h"
#include "thrum/elastic/damped_oscillation.h"
#include "thrum/vibration/micro_simulation.h"
#include "thrum/vibration/pulse.h"
#include "thrum/vibration/response_limit.h"

namespace thrum::vibration {

namespace {

/// A dashpot above critical damping, as a restitution near 0 asks for, ties a resting body to the fastest
/// modes as no Hertz contact does: on a steel plate with restitution 0 bodies left up to twice as fast.
constexpr double kMaxRestingDampingRatio = 1;
/// Substeps for the contacts of resting bodies may be so much shorter than the setting.
constexpr double kMinSubstepRatio = 0.125;
/// Tail modes are for impacts that are shorter than so many periods of the highest mode ...
constexpr double kMaxTailPeriods = 2;
/// ... and reach up to so many turns in the contact time: faster ones receive less than 1 % of the force.
constexpr double kTailTurns = 3;
/// Bands of tail modes in 1 / contact time.
constexpr double kTailBands = 3;
/// Diffuse modes reach up to so many turns in the contact time: a mode of one turn receives a third of the
/// impulse. Half a turn less or more changes the kicks on plates with 10 to 60 modes by 3 % in the mean.
constexpr double kDiffuseTurns = 1;

}  // namespace

void MicroSimulation::prepare()
{
  modes_ = ringing_ = count_ = count_followed_modes(r_);
  model_modes_ = {r_.modes.omegas.head(modes_), r_.modes.decays.head(modes_)};
  for (VecX* v : {&state_.q, &state_.v}) v->conservativeResize(modes_);
  prepare_bodies();
  prepare_contacts();
  prepare_friction();
  prepare_tail_modes();
  F_transposed_ = F_.transpose();
  coarse_ = make_propagator(resting_substep(r_));
  // An impact lasts for at least `steps_per_impact` substeps.
  double shortest = std::numeric_limits<double>::infinity();
  for (const std::size_t i : r_.struck) {
    const double duration = r_.pulse_duration(i, contact_speed(i));
    if (!(duration > 0)) continue;
    shortest = std::min(shortest, duration);
    impact_duration_ = std::max(impact_duration_, duration);
  }
  const double fine = r_.savings.substep_factor * shortest / r_.settings.micro.steps_per_impact;
  if (fine < coarse_.dt) fine_ = make_propagator(fine);
}

namespace {

// Frequency up to which modes ring through the window: kDiffuseTurns within the contact time of the shortest
// impact; infinite where nothing is known of it [rad/s].
double highest_excited(const ResponseContext& r)
{
  double highest = 0;
  for (const std::size_t i : r.struck) {
    const double duration = r.pulse_duration(i, std::max(r.contact(i).approach_speed, kRattleSpeed));
    if (duration > 0) highest = std::max(highest, 2 * std::numbers::pi * kDiffuseTurns / duration);
  }
  return highest > 0 ? highest : std::numeric_limits<double>::infinity();
}

}  // namespace

std::size_t count_diffuse_modes(const ResponseContext& r)
{
  if (r.diffuse_modes == nullptr || !r.settings.micro.tail_modes) return 0;
  const double highest = highest_excited(r);
  return std::isfinite(highest) ? r.diffuse_modes->count_up_to(highest) : 0;
}

// Faster modes than the impact excites are left to the tail modes, as those that the model does not have.
Eigen::Index count_followed_modes(const ResponseContext& r)
{
  const VecX& omegas = r.modes.omegas;
  if (!r.savings.fast_modes || !r.settings.micro.tail_modes) return omegas.size();
  if (!std::is_sorted(omegas.begin(), omegas.end())) return omegas.size();
  const auto end = std::upper_bound(omegas.begin(), omegas.end(), highest_excited(r));
  const Eigen::Index count = end - omegas.begin();
  return is_tail_known({omegas.head(count), r.modes.decays.head(count)}) ? count : omegas.size();
}

// As for an impact, but of the gentle ones of a rattling surface, and not below a limit: what is so light or
// hard that its contacts are shorter hardly slows the surface.
double resting_substep(const ResponseContext& r)
{
  const MicroSettings& micro = r.settings.micro;
  double substep = micro.step;
  for (const std::size_t i : r.resting) {
    const double duration = r.pulse_duration(i, kRattleSpeed);
    if (duration > 0) substep = std::min(substep, duration / micro.steps_per_impact);
  }
  return r.savings.substep_factor * std::max(substep, kMinSubstepRatio * micro.step);
}

// Of approach, or of the gentle impacts of a rattling surface where none is known [m/s].
double MicroSimulation::contact_speed(std::size_t i) const
{
  return std::max(r_.contact(i).struck ? r_.contact(i).approach_speed : 0.0, kRattleSpeed);
}

void MicroSimulation::prepare_bodies()
{
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
    m.risen = m.mass * part.acceleration.norm() * part.risen;
  }
  for (const std::size_t i : r_.struck) active_contacts_.push_back(i);
  for (const std::size_t i : r_.resting) active_contacts_.push_back(i);
  n_ = static_cast<Eigen::Index>(active_contacts_.size());
  J_.resize(active_contacts_.size());
  for (Eigen::Index k = 0; k < n_; ++k) {
    const SurfaceContact& contact = active_contact(k);
    ContactJacobian& J = J_[at(k)];
    J.body = at(contact.body);
    J.own << contact.normal, arm_of_own(input.bodies[0], contact).cross(contact.normal);
    J.other << contact.normal, arm_of_other(input.bodies[J.body], contact).cross(contact.normal);
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
  std::vector<FallSinceImpact> falls(bodies_.size());
  for (Eigen::Index k = 0; k < n_ && active_contact(k).struck; ++k) {
    const SurfaceContact& contact = active_contact(k);
    falls[at(contact.body)].add(contact, bodies_[at(contact.body)].acceleration.head<3>(),
                                along(k, &MovingBody::V), separation_speed(input, contact));
  }
  for (std::size_t b = 1; b < bodies_.size(); ++b) {
    if (!strikes_with_one_contact(input.contacts, static_cast<std::int32_t>(b))) continue;
    bodies_[b].V -= falls[b].time_before(input.step) * bodies_[b].acceleration;
    bodies_[b].fall = falls[b].time_after(input.step) * bodies_[b].acceleration;
  }
  for (MovingBody& m : bodies_) {
    m.start = m.kinetic(m.V);
    m.start_rise = m.rise();
  }
}

void MicroSimulation::prepare_friction()
{
  sliding_.resize(active_contacts_.size());
  tangent_columns_.resize(modes_, 2 * n_);
  for (Eigen::Index k = 0; k < n_; ++k) {
    const SurfaceContact& contact = active_contact(k);
    SlidingContact& sliding = sliding_[at(k)];
    if (!r_.settings.micro.friction || contact.struck || !(contact.friction > 0)) continue;
    sliding.friction = contact.friction;
    const Vec3 t1 = contact.normal.unitOrthogonal();
    const std::array<Vec3, 2> t = {t1, contact.normal.cross(t1)};
    const MovingBody& other = bodies_[J_[at(k)].body];
    for (std::size_t i = 0; i < 2; ++i) {
      sliding.own[i] << t[i], arm_of_own(r_.input.bodies[0], contact).cross(t[i]);
      sliding.other[i] << t[i], arm_of_other(r_.input.bodies[J_[at(k)].body], contact).cross(t[i]);
      sliding.velocity_change_own[i] = inverse_mass_times(bodies_[0], sliding.own[i]);
      sliding.velocity_change_other[i] = inverse_mass_times(other, sliding.other[i]);
      tangent_columns_.col(2 * k + static_cast<Eigen::Index>(i)).noalias() =
          r_.shapes[active_contacts_[at(k)]]->leftCols(modes_).transpose() * t[i];
    }
    const auto columns = tangent_columns_.middleCols<2>(2 * k);
    sliding.S = columns.transpose() * columns;
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t l = 0; l < 2; ++l)
        sliding.S(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(l)) +=
            sliding.own[i].dot(sliding.velocity_change_own[l]) +
            sliding.other[i].dot(sliding.velocity_change_other[l]);
    // Between two bodies that do not move, on a surface that moves along its normal alone.
    if (!(sliding.S.trace() > 0)) sliding.friction = 0;
  }
}

void MicroSimulation::prepare_contacts()
{
  for (VecX* v : {&depth_, &free_depth_, &depth_base_, &load_, &force_, &force_before_}) v->setZero(n_);
  F_.resize(n_, modes_);
  laws_.resize(active_contacts_.size());
  for (Eigen::Index k = 0; k < n_; ++k) {
    const std::size_t i = active_contacts_[at(k)];
    F_.row(k) = r_.rows.row(static_cast<Eigen::Index>(i)).head(modes_);
    const SurfaceContact& contact = active_contact(k);
    const double inverse_effective_mass = r_.inverse_effective_mass[static_cast<Eigen::Index>(i)];
    if (!(inverse_effective_mass > 0)) continue;
    const double mass = 1 / inverse_effective_mass;
    elastic::HeldContact& law = laws_[at(k)];
    law.stiffness = elastic::hertz_stiffness(contact_modulus(r_.modulus, r_.body_of(i).modulus),
                                             r_.settings.contact_radius);
    // Without a modulus the contact is as hard as the substep can show.
    if (!(law.stiffness > 0))
      law.stiffness = stiffness_for_duration(mass, 2 * r_.settings.micro.step, contact_speed(i));
    double ratio = elastic::damping_ratio(contact.restitution);
    if (!contact.struck) ratio = std::min(ratio, kMaxRestingDampingRatio);
    law.damping = std::sqrt(5 * mass * law.stiffness) * ratio;
    load_[k] = contact.struck ? 0 : std::max(0.0, contact.load);
    // The impact begins now; the gap of its contact is from when the rigid solver found it, up to a step ago.
    // What carries a load touches; a gap of micrometres there is the rest that the rigid solver leaves.
    depth_[k] = contact.struck ? 0 : load_[k] > 0 ? law.indentation(load_[k]) : -std::max(0.0, contact.gap);
  }
  // The rigid contact says how far the body is from the surface as it is now, vibration and all: a body in
  // contact in the rigid world is in contact with the displaced surface. With gaps counted from the
  // undeformed surface a body under a wave crest would start inside its spring, which is energy from nowhere.
  depth_base_ = depth_ - F_ * state_.q;
  closed_.reserve(active_contacts_.size());
}

// Modes above the highest of the model, f_c, take energy from a short impact; without them it bounces too
// well, and what rests elsewhere moves too little. Up to one turn within the contact time they are drawn
// (diffuse_modes.h) and ring through the window like those of the model: they move each contact by the root
// mean square of the modes between f_c / 2 and f_c there. A struck contact is moved by that value itself: its
// mobility is the mean one.
//
// Above, they are replaced at each struck contact by one mode in the middle of each band df, of the mean
// mobility Y of the modes of the model between f_c / 2 and f_c,
//
//     shape^2 = 4 Y df,     4 Y = sum of f^2 over these / (f_c / 2),
//
// which is constant for a plate. They live for the impact only: what they have taken by then has gone into
// vibration too fast to move anything.
void MicroSimulation::prepare_tail_modes()
{
  all_modes_ = model_modes_;
  if (!r_.settings.micro.tail_modes || !is_tail_known(model_modes_)) return;
  add_diffuse_modes();
  add_impact_modes();
}

void MicroSimulation::append_modes(const std::vector<double>& omegas, const std::vector<double>& decays)
{
  const Eigen::Index before = count_;
  count_ += static_cast<Eigen::Index>(omegas.size());
  F_.conservativeResize(Eigen::NoChange, count_);
  F_.rightCols(count_ - before).setZero();
  for (VecX* v : {&all_modes_.omegas, &all_modes_.decays, &state_.q, &state_.v}) {
    v->conservativeResize(count_);
    v->tail(count_ - before).setZero();
  }
  for (std::size_t t = 0; t < omegas.size(); ++t) {
    all_modes_.omegas[before + static_cast<Eigen::Index>(t)] = omegas[t];
    all_modes_.decays[before + static_cast<Eigen::Index>(t)] = decays[t];
  }
}

void MicroSimulation::add_diffuse_modes()
{
  const std::size_t count = count_diffuse_modes(r_);
  if (count == 0) return;
  std::vector<double> omegas, decays;
  for (std::size_t t = 0; t < count; ++t) {
    omegas.push_back((*r_.diffuse_modes)[t].omega);
    decays.push_back((*r_.diffuse_modes)[t].decay);
  }
  append_modes(omegas, decays);
  for (Eigen::Index k = 0; k < n_; ++k) {
    const SurfaceContact& contact = active_contact(k);
    const double size = std::sqrt(mean_upper_square(model_modes_, F_.row(k).head(modes_).transpose()));
    for (std::size_t t = 0; t < count; ++t) {
      const double shape = (*r_.diffuse_modes)[t].at(r_.places[active_contacts_[at(k)]]);
      F_(k, modes_ + static_cast<Eigen::Index>(t)) =
          size * (contact.struck ? std::copysign(1, shape) : shape);
    }
  }
  ringing_ = count_;
}

void MicroSimulation::add_impact_modes()
{
  const double highest = model_modes_.omegas.maxCoeff();
  const double mode_density = static_cast<double>(count_upper_modes(model_modes_)) / (highest / 2);
  const double begin = all_modes_.omegas.maxCoeff();
  std::vector<double> omegas, shapes;
  std::vector<Eigen::Index> contacts;
  for (Eigen::Index k = 0; k < n_; ++k) {
    const SurfaceContact& contact = active_contact(k);
    if (!contact.struck) break;
    const std::size_t i = active_contacts_[at(k)];
    const double duration = r_.pulse_duration(i, contact_speed(i));
    if (!(duration > 0) || highest * duration >= 2 * std::numbers::pi * kMaxTailPeriods) continue;
    const double density = mean_upper_square(model_modes_, F_.row(k).head(modes_).transpose()) *
                           mode_density;  // of shape^2 in w
    const double widest = 2 * std::numbers::pi / (kTailBands * duration);
    const double last = 2 * std::numbers::pi * kTailTurns / duration;
    for (double w = begin; w < last;) {
      const double band = std::min(w, widest);
      omegas.push_back(w + band / 2);
      shapes.push_back(std::sqrt(density * band));
      contacts.push_back(k);
      w += band;
    }
  }
  append_modes(omegas, std::vector<double>(omegas.size(), 0.0));
  for (std::size_t t = 0; t < omegas.size(); ++t)
    F_(contacts[t], ringing_ + static_cast<Eigen::Index>(t)) = shapes[t];
}

// A unit force held on a mode of unit mass moves it by (1 - cosine - d sine) / w^2, to the speed `sine` of
// elastic/damped_oscillation.h.
MicroSimulation::Propagator MicroSimulation::make_propagator(double dt) const
{
  Propagator step;
  step.dt = dt;
  for (VecX* v : {&step.qq, &step.qv, &step.vq, &step.vv, &step.fq}) v->resize(count_);
  for (Eigen::Index i = 0; i < count_; ++i) {
    const double w = all_modes_.omegas[i];
    const double d = all_modes_.decays[i];
    const elastic::DampedOscillation s = elastic::damped_oscillation(w, d, dt);
    step.qq[i] = s.cosine + d * s.sine;
    step.qv[i] = s.sine;
    step.vq[i] = -w * w * s.sine;
    step.vv[i] = s.cosine - d * s.sine;
    step.fq[i] = w > 0 ? (1 - step.qq[i]) / (w * w) : dt * dt / 2;
  }
  step.fv = step.qv;
  const VecX load = F_transposed_ * load_;
  step.load_q = step.fq.cwiseProduct(load);
  step.load_v = step.fv.cwiseProduct(load);
  const MatX weighted = step.fq.head(ringing_).asDiagonal() * F_transposed_.topRows(ringing_);
  step.R.noalias() = F_.leftCols(ringing_) * weighted;
  for (Eigen::Index k = 0; k < n_; ++k) {
    for (Eigen::Index l = 0; l <= k; ++l) {
      step.R(k, l) +=
          dt * dt / 2 * inverse_effective_mass(r_.input.bodies, active_contact(k), active_contact(l));
      step.R(l, k) = step.R(k, l);
    }
  }
  step.tail_compliance = F_.rightCols(count_ - ringing_).cwiseAbs2() * step.fq.tail(count_ - ringing_);
  step.R.diagonal() += step.tail_compliance;
  return step;
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
  const auto push_body = [&](std::size_t b, const Vec3& arm, const Vec3& j) {
    MovingBody& m = bodies_[b];
    m.V.head<3>() += m.inverse_mass * j;
    m.V.tail<3>() += m.inverse_inertia * arm.cross(j);
  };
  const std::size_t other = at(contact.body);
  push_body(other, arm_of_other(r_.input.bodies[other], contact), impulse * contact.normal);
  push_body(0, arm_of_own(r_.input.bodies[0], contact), -impulse * contact.normal);
}

}  // namespace thrum::vibration
