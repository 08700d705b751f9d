// SPDX-License-Identifier: MIT
// Resting contact starts from the impulses of the step before: of a heap at rest they are the answer, and the
// passes find only the change.
//
// Where we leave [Guendelman03, section 7], which starts from nothing: ten passes and shock propagation then
// carry the load of a deep heap only in part. Of 40 rings in a narrow box some never came to rest, and shock
// propagation, which had to make up for it, gained up to 1,000 J in a step.
#include <algorithm>
#include <cmath>

#include "thrum/rigid/impulse_stepper.h"

namespace thrum::rigid {

namespace {

/// Points whose speed along the normal is below so many times what gravity gives in a step are at rest.
constexpr double kRestingApproach = 2;

Vec3 limited(const Vec3& v, double max_length)
{
  const double length = v.norm();
  return length > max_length ? Vec3(v * (max_length / length)) : v;
}

// Largest distance of a point from the middle of the patch [m].
double reach_of(const ImpulsePatch& patch)
{
  Vec3 middle = Vec3::Zero();
  for (const ImpulsePoint& point : patch.active()) middle += point.rb / patch.count;
  double reach = 0;
  for (const ImpulsePoint& point : patch.active()) reach = std::max(reach, (point.rb - middle).norm());
  return reach;
}

// The impulses of the step before, as far as the points rest and the friction of now allows them.
void set_warm_impulses(ImpulsePatch& patch, double resting_speed)
{
  double pressure = 0;
  for (const ImpulsePoint& point : patch.active()) {
    if (std::abs(point.speed) <= resting_speed) pressure += point.weight;
  }
  if (!(pressure > 0)) return;
  const double mu = patch.friction.sliding;
  const Vec3 across = limited(patch.warm_friction, mu * pressure);
  const double twist = patch.n.dot(patch.warm_angular);
  const double max_twist = (mu * reach_of(patch) + patch.friction.spinning) * pressure;
  patch.contact_angular_impulse =
      limited(patch.warm_angular - twist * patch.n, patch.friction.rolling * pressure) +
      std::clamp(twist, -max_twist, max_twist) * patch.n;
  for (ImpulsePoint& point : patch.active()) {
    if (std::abs(point.speed) <= resting_speed)
      point.contact_impulse = point.weight * (patch.n + across / pressure);
  }
}

}  // namespace

// Never with more energy than without: see island_energy.h.
void ImpulseStepper::warm_start(const StepFrame& frame, double h)
{
  for (const ImpulsePair& pair : pairs_) {
    const double resting = kRestingApproach * h *
                           std::max(bodies_[pair.a].acceleration.norm(), bodies_[pair.b].acceleration.norm());
    for (std::size_t p = pair.begin; settings_.warm_start && p < pair.end; ++p)
      set_warm_impulses(patches_[p], resting);
  }
  energy_.prepare(frame.model, frame.state, frame.same_contacts, false);
  energy_.record_velocities(bodies_);
  apply_warm_impulses();
  if (energy_.find_body_shares(bodies_)) {
    scale_warm_impulses();
    energy_.restore_velocities(bodies_);
    apply_warm_impulses();
    if (energy_.limit_warm_start(bodies_)) scale_warm_impulses();
  }
  for (ImpulsePair& pair : pairs_) {
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      ImpulsePatch& patch = patches_[p];
      for (ImpulsePoint& point : patch.active()) {
        const double normal = patch.n.dot(point.contact_impulse);
        point.impulse += normal;
        patch.friction_total += point.contact_impulse - normal * patch.n;
        pair.is_warm = pair.is_warm || normal > 0;
      }
    }
  }
}

void ImpulseStepper::apply_warm_impulses()
{
  joints_.warm_start(bodies_);
  for (const ImpulsePair& pair : pairs_) {
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      const ImpulsePatch& patch = patches_[p];
      PointImpulse impulse;
      impulse.angular = patch.contact_angular_impulse;
      for (const ImpulsePoint& point : patch.active()) {
        if (point.contact_impulse.isZero(0)) continue;
        impulse.linear = point.contact_impulse;
        apply_impulse(bodies_[pair.a], bodies_[pair.b], {point.ra, point.rb, patch.n}, impulse);
        impulse.angular.setZero();
      }
    }
  }
}

void ImpulseStepper::scale_warm_impulses()
{
  for (JointRow& row : joints_.rows()) row.lambda *= energy_.share(row.a, row.b);
  for (const ImpulsePair& pair : pairs_) {
    const double share = energy_.share(pair.a, pair.b);
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      patches_[p].contact_angular_impulse *= share;
      for (ImpulsePoint& point : patches_[p].active()) point.contact_impulse *= share;
    }
  }
}

}  // namespace thrum::rigid
