// SPDX-License-Identifier: MIT
// How the impulse stepper moves the bodies: mean velocities in steady contact, and overlap pushed out.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/rigid/impulse_stepper.h"

namespace thrum::rigid {

namespace {

/// Overlap that mean velocities may leave, as a share of the length scale.
constexpr double kSteadyOverlap = 1e-6;
/// A body slower than this share of what its acceleration gives in a step is at rest.
constexpr double kMoving = 0.1;
/// Sweeps over the points of a patch when overlap is pushed out.
constexpr int kPushSweeps = 4;

}  // namespace

// x += h v with the new v is off by h v / 2 t after a time t of steady sliding: 0.8 % after 2 s at 1/60 s. A
// body that nothing touched follows its parabola (SolverBodies::advance_positions); one whose contacts were
// closed when the step began moves with the mean of the velocities before and after, which is exact for
// steady forces and makes the work of gravity equal to the change of potential energy. One that is just
// landing moves with the new velocity, which is the one that contact made harmless.
void ImpulseStepper::use_mean_velocities(double h)
{
  std::vector<bool> steady(bodies_.all().size(), settings_.mean_velocity);
  // A joint binds as a contact does; its rows are written for x += h v.
  for (const JointRow& row : joints_.rows()) {
    bodies_[row.a].has_contact = bodies_[row.b].has_contact = true;
    steady[at(row.a)] = steady[at(row.b)] = false;
  }
  for (const ImpulsePair& pair : pairs_) {
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      for (const ImpulsePoint& point : patches_[p].active()) {
        const Vec3& n = patches_[p].n;
        const SolverBody& A = before_[at(pair.a)];
        const SolverBody& B = before_[at(pair.b)];
        if (n.dot(point.contact_impulse) > 0) {
          bodies_[pair.a].has_contact = true;
          bodies_[pair.b].has_contact = true;
        }
        const double u0 = n.dot(B.v - A.v) + point.rb_n.dot(B.w) - point.ra_n.dot(A.w);
        const double u1 = speed_along(pair, patches_[p], point);
        const double gap_mean = point.gap + 0.5 * h * (u0 + u1);
        const double gap_new = point.gap + h * u1;
        if (gap_mean >= std::min(0.0, gap_new) - kSteadyOverlap * length_scale_) continue;
        steady[at(pair.a)] = false;
        steady[at(pair.b)] = false;
      }
    }
  }
  const std::span<SolverBody> all = bodies_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].has_contact || !steady[i] || all[i].inverse_mass == 0) continue;
    // What rests is better off with the new velocity, which contact has just brought to rest.
    if (all[i].v.norm() < kMoving * h * all[i].acceleration.norm()) continue;
    all[i].push_v -= 0.5 * (all[i].v - before_[i].v);
  }
}

// Overlap that is left, or was there from the start, is removed by moving the bodies apart from the ground
// up, those below held, with velocities that are not kept. The paper leaves overlap to its contact impulses;
// without this a tower sinks into itself by what each step leaves over.
void ImpulseStepper::push_out(double h)
{
  const std::span<SolverBody> all = bodies_.all();
  saved_masses_.resize(all.size());
  mean_push_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    saved_masses_[i] = {all[i].inverse_mass, all[i].inverse_inertia};
    mean_push_[i] = all[i].push_v;
  }
  for (std::size_t level = 1; level + 1 < level_begin_.size(); ++level) {
    const std::span<ImpulsePair> pairs(pairs_.data() + level_begin_[level],
                                       level_begin_[level + 1] - level_begin_[level]);
    for (const ImpulsePair& pair : pairs) {
      for (std::size_t p = pair.begin; p < pair.end; ++p) {
        for (ImpulsePoint& point : patches_[p].active()) {
          const Vec3& n = patches_[p].n;
          const SolverBody& A = bodies_[pair.a];
          const SolverBody& B = bodies_[pair.b];
          const double pushed =
              n.dot(B.push_v - A.push_v) + point.rb_n.dot(B.push_w) - point.ra_n.dot(A.push_w);
          const double gap = point.gap + h * (speed_along(pair, patches_[p], point) + pushed);
          const double wanted = -(gap + settings_.slop * length_scale_);
          point.listed = wanted > 0;
          point.push = 0;
          point.target = pushed + std::min(settings_.push_out_share * wanted / h,
                                           settings_.push_out_speed * length_scale_);
        }
      }
    }
    for (int k = 0; k < settings_.shock_level_iterations; ++k) {
      for (const ImpulsePair& pair : pairs) {
        if (!is_movable(pair)) continue;
        for (std::size_t p = pair.begin; p < pair.end; ++p) push_patch_out(pair, patches_[p]);
      }
    }
    if (settings_.contact_graph) hold_level(static_cast<std::int32_t>(level), h);
  }
  release_all();
  for (std::size_t i = 0; i < all.size(); ++i) remove_lift_energy(all[i], all[i].push_v - mean_push_[i], h);
}

void ImpulseStepper::push_patch_out(const ImpulsePair& pair, ImpulsePatch& patch)
{
  SolverBody& A = bodies_[pair.a];
  SolverBody& B = bodies_[pair.b];
  for (int sweep = 0; sweep < kPushSweeps; ++sweep) {
    bool any = false;
    for (ImpulsePoint& point : patch.active()) {
      if (!point.listed) continue;
      const double u = patch.n.dot(B.push_v - A.push_v) + point.rb_n.dot(B.push_w) - point.ra_n.dot(A.push_w);
      if (u >= point.target && point.push == 0) continue;
      const double inverse_effective_mass = A.inverse_mass + B.inverse_mass +
                                            point.ra_n.dot(A.inverse_inertia * point.ra_n) +
                                            point.rb_n.dot(B.inverse_inertia * point.rb_n);
      // In sum they push; what was pushed too far, because another contact pushes as well, comes back.
      const double push = std::max(0.0, point.push + (point.target - u) / inverse_effective_mass);
      const double j = push - point.push;
      if (j == 0) continue;
      point.push = push;
      A.push_v -= (A.inverse_mass * j) * patch.n;
      A.push_w -= A.inverse_inertia * (j * point.ra_n);
      B.push_v += (B.inverse_mass * j) * patch.n;
      B.push_w += B.inverse_inertia * (j * point.rb_n);
      any = true;
    }
    if (!any) return;
  }
}

}  // namespace thrum::rigid
