// SPDX-License-Identifier: MIT
#include "thrum/rigid/island_energy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/base/team.h"

namespace thrum::rigid {

namespace {

/// Bodies handed to a thread at a time.
constexpr std::size_t kBodyGrain = 128;
/// What a solve may add to the kinetic energy of an island in which no body turns far, as a share of it: the
/// error of a symplectic step, which swings.
constexpr double kMaxSolveGain = 0.05;

/// A motor with the speed 0 brakes, also on the way to a target.
bool brings_energy(const model::Joint& joint)
{
  return joint.kind == model::JointKind::spring || (joint.motor.enabled && joint.motor.speed != 0);
}

}  // namespace

// Kinematic bodies may give energy to what they touch.
void IslandEnergy::find_islands_of(const model::SceneModel& model, const model::SceneState& state)
{
  island_ = find_islands(model, state);
  std::int32_t count = 0;
  for (const std::int32_t island : island_) count = std::max(count, island + 1);
  island_count_ = static_cast<std::size_t>(count);
  touches_driver_.assign(island_count_, false);
  for (const model::ContactPatch& patch : state.patches) {
    for (const auto& [mover, other] : {std::pair(patch.a, patch.b), std::pair(patch.b, patch.a)}) {
      if (model.bodies[at(mover)].motion == model::Motion::kinematic && island_[at(other)] != model::kNone)
        touches_driver_[at(island_[at(other)])] = true;
    }
  }
}

void IslandEnergy::find_kick_energy(const model::SceneState& state)
{
  for (const model::ContactPatch& patch : state.patches) {
    for (const model::ContactPoint& point : patch.active()) {
      if (!(point.requested_speed > 0)) continue;
      const std::int32_t a = island_[at(patch.a)];
      const std::int32_t island = a != model::kNone ? a : island_[at(patch.b)];
      if (island == model::kNone) continue;
      // Without an account there is no bound.
      if (!(point.allowed_energy > 0)) driven_[at(island)] = true;
      kick_energy_[at(island)] += point.allowed_energy;
    }
  }
}

void IslandEnergy::prepare(const model::SceneModel& model, const model::SceneState& state, bool same_contacts,
                           bool any_requested)
{
  if (!same_contacts || island_.size() != model.bodies.size()) find_islands_of(model, state);
  inertia_.resize(island_.size());
  find_inertia(model, state, IslandFlags(island_count_ + 1, 1));
  energy_.assign(island_count_, {});
  share_.assign(island_.size(), 1.0);
  kick_energy_.assign(island_count_, 0.0);
  driven_ = touches_driver_;
  if (any_requested) find_kick_energy(state);
  // Motors and springs give energy too.
  has_motor_.assign(island_count_, false);
  has_joint_.assign(island_count_, false);
  for (const model::Joint& joint : model.joints) {
    for (const model::BodyIndex id : {joint.a, joint.b}) {
      if (id == model::kNone || island_[at(id)] == model::kNone) continue;
      has_joint_[at(island_[at(id)])] = true;
      if (!brings_energy(joint)) continue;
      driven_[at(island_[at(id)])] = true;
      has_motor_[at(island_[at(id)])] = true;
    }
  }
}

void IslandEnergy::find_inertia(const model::SceneModel& model, const model::SceneState& state,
                                const IslandFlags& islands)
{
  base::team_for(
      island_.size(),
      [&](std::size_t i) {
        if (island_[i] == model::kNone || islands[at(island_[i])] == 0) return;
        const Mat3 R = state.bodies[i].X_wb.rotation.toRotationMatrix();
        inertia_[i] = R * model.bodies[i].inertia * R.transpose();
      },
      kBodyGrain);
}

void IslandEnergy::record_velocities(SolverBodies& bodies)
{
  before_.resize(island_.size());
  base::team_for(
      island_.size(),
      [&](std::size_t i) {
        const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
        before_[i] = {body.v, body.w};
      },
      kBodyGrain);
}

double IslandEnergy::Energy::minimizing_share() const
{
  return square > 0 ? std::clamp(-slope / square, 0.0, 1.0) : 1.0;
}

IslandEnergy::Energy IslandEnergy::change_of(const SolverBody& body, std::size_t i) const
{
  const Vec3 dv = body.v - before_[i].v;
  const Vec3 dw = body.w - before_[i].w;
  const Vec3 turned = inertia_[i] * dw;
  Energy energy;
  energy.slope = before_[i].v.dot(dv) / body.inverse_mass + before_[i].w.dot(turned);
  energy.square = dv.squaredNorm() / body.inverse_mass + dw.dot(turned);
  return energy;
}

double IslandEnergy::kinetic(const SolverBody& body, std::size_t i) const
{
  return 0.5 * (body.v.squaredNorm() / body.inverse_mass + body.w.dot(inertia_[i] * body.w));
}

void IslandEnergy::sum_changes(SolverBodies& bodies)
{
  changes_.resize(island_.size());
  base::team_for(
      island_.size(),
      [&](std::size_t i) {
        const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
        const bool yields = island_[i] != model::kNone && body.inverse_mass != 0;
        const Energy change = yields ? change_of(body, i) : Energy{};
        changes_[i] = {change.slope, change.square};
      },
      kBodyGrain);
  // In the order of the bodies, so that sums are rounded alike on any number of threads.
  std::fill(energy_.begin(), energy_.end(), Energy{});
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (island_[i] == model::kNone) continue;
    Energy& energy = energy_[at(island_[i])];
    energy.slope += changes_[i].slope;
    energy.square += changes_[i].square;
  }
}

bool IslandEnergy::find_body_shares(SolverBodies& bodies)
{
  sum_changes(bodies);
  if (std::none_of(energy_.begin(), energy_.end(), [](const Energy& energy) { return energy.is_gain(); }))
    return false;
  for (std::size_t i = 0; i < island_.size(); ++i) {
    share_[i] = 1;
    const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0) continue;
    if (!energy_[at(island_[i])].is_gain()) continue;
    const Energy own = change_of(body, i);
    if (own.is_gain()) share_[i] = own.minimizing_share();
  }
  return true;
}

void IslandEnergy::restore_velocities(SolverBodies& bodies) const
{
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (island_[i] == model::kNone) continue;
    SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    body.v = before_[i].v;
    body.w = before_[i].w;
  }
}

void IslandEnergy::apply_island_shares(SolverBodies& bodies)
{
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (island_[i] == model::kNone) continue;
    share_[i] = energy_[at(island_[i])].share;
    if (share_[i] == 1) continue;
    SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (!body.v.allFinite() || !body.w.allFinite()) {
      body.v = before_[i].v;
      body.w = before_[i].w;
      continue;
    }
    body.v = before_[i].v + share_[i] * (body.v - before_[i].v);
    body.w = before_[i].w + share_[i] * (body.w - before_[i].w);
  }
}

bool IslandEnergy::limit_warm_start(SolverBodies& bodies)
{
  sum_changes(bodies);
  bool any = false;
  for (Energy& energy : energy_) {
    if (!energy.is_gain()) continue;
    energy.share = energy.minimizing_share();
    any = true;
  }
  if (any) apply_island_shares(bodies);
  return any;
}

void IslandEnergy::begin_substep(SolverBodies& bodies)
{
  start_energy_.assign(island_.size(), 0.0);
  moved_.resize(island_.size());
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0) continue;
    start_energy_[i] = kinetic(body, i);
    moved_[i] = {body.dx, body.dth};
  }
}

bool IslandEnergy::limit_bounces(SolverBodies& bodies)
{
  sum_changes(bodies);
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0) continue;
    const double work = body.acceleration.dot(body.dx - moved_[i].v) / body.inverse_mass +
                        (inertia_[i] * body.angular_acceleration).dot(body.dth - moved_[i].w);
    const double now =
        0.5 * (before_[i].v.squaredNorm() / body.inverse_mass + before_[i].w.dot(inertia_[i] * before_[i].w));
    energy_[at(island_[i])].allowed += start_energy_[i] + work - now;
  }
  bool any = false;
  for (std::size_t k = 0; k < energy_.size(); ++k) {
    Energy& energy = energy_[k];
    energy.allowed += std::exchange(kick_energy_[k], 0.0);
    if (driven_[k] || !(energy.slope + 0.5 * energy.square > std::max(0.0, energy.allowed))) continue;
    // The greater root of s^2 square / 2 + s slope - allowed = 0, eq. (1).
    const double root = energy.slope * energy.slope + 2 * energy.square * std::max(0.0, energy.allowed);
    energy.share = std::clamp((-energy.slope + std::sqrt(root)) / energy.square, 0.0, 1.0);
    any = true;
  }
  if (any) apply_island_shares(bodies);
  return any;
}

template <class IsSlow>
bool IslandEnergy::find_islands_unless(SolverBodies& bodies, IsSlow&& is_slow)
{
  spinning_.assign(island_count_ + 1, 0);
  bool any = false;
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0 || is_slow(body, at(island_[i]))) continue;
    spinning_[at(island_[i])] = 1;
    any = true;
  }
  return any;
}

bool IslandEnergy::find_spinning_islands(SolverBodies& bodies, double slice)
{
  const double max_spin = kStaleRowTurn / slice;
  return find_islands_unless(bodies, [&](const SolverBody& body, std::size_t) {
    return body.w.squaredNorm() <= max_spin * max_spin &&
           body.dth.squaredNorm() <= kStaleRowTurn * kStaleRowTurn;
  });
}

bool IslandEnergy::find_limited_islands(SolverBodies& bodies, double slice, double substep)
{
  return find_islands_unless(bodies, [&](const SolverBody& body, std::size_t island) {
    const double max_spin = kStaleRowTurn / (has_joint_[island] ? substep : slice);
    return body.w.squaredNorm() <= max_spin * max_spin &&
           (has_joint_[island] || body.dth.squaredNorm() <= kStaleRowTurn * kStaleRowTurn);
  });
}

bool IslandEnergy::limit_solve(SolverBodies& bodies, std::span<const double> work)
{
  sum_changes(bodies);
  bool any = false;
  for (std::size_t k = 0; k < energy_.size(); ++k) {
    Energy& energy = energy_[k];
    if (spinning_[k] == 0 || has_motor_[k]) continue;
    energy.slope += work[k];
    // Also what is not a number.
    if (2 * energy.slope + energy.square <= 0) continue;
    energy.share = std::isfinite(energy.square) ? energy.minimizing_share() : 0.0;
    any = true;
  }
  if (any) apply_island_shares(bodies);
  return any;
}

bool IslandEnergy::find_gaining_islands(SolverBodies& bodies, double substep, std::span<const double> work)
{
  (void)find_spinning_islands(bodies, substep);
  sum_changes(bodies);
  std::vector<double> start(island_count_, 0.0);
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyIndex>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0) continue;
    start[at(island_[i])] +=
        0.5 * (before_[i].v.squaredNorm() / body.inverse_mass + before_[i].w.dot(inertia_[i] * before_[i].w));
  }
  bool any = false;
  for (std::size_t k = 0; k < energy_.size(); ++k) {
    const double gain = energy_[k].slope + 0.5 * energy_[k].square - work[k];
    const double allowed = spinning_[k] != 0 ? 0.0 : kMaxSolveGain * start[k];
    // Also what is not a number.
    spinning_[k] = has_motor_[k] || gain <= allowed ? 0 : 1;
    any = any || spinning_[k] != 0;
  }
  return any;
}

bool IslandEnergy::is_found(model::BodyIndex a, model::BodyIndex b) const
{
  return spinning_[island_between(island_, island_count_, a, b)] != 0;
}

double IslandEnergy::share(model::BodyIndex a, model::BodyIndex b) const
{
  double min_share = 1;
  for (const model::BodyIndex id : {a, b}) {
    // The world, to which joints may be tied, has no number here; what does not move keeps 1.
    if (static_cast<std::size_t>(id) < share_.size()) min_share = std::min(min_share, share_[at(id)]);
  }
  return min_share;
}

}  // namespace thrum::rigid
