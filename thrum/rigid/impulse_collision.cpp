// SPDX-License-Identifier: MIT
// Collision by impulses [Guendelman03, section 5].
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/rigid/impulse_stepper.h"

namespace thrum::rigid {

namespace {

/// Points within this share of the length scale of the deepest are as deep, for impacts.
constexpr double kSameDepthImpact = 1e-5;

// Speed after an impact that is given where the body is now, a gap above the surface. The body would meet the
// surface at v_c^2 = u^2 + 2 a gap and leave at e v_c; what is left of that when it has climbed back through
// the gap is
//
//     w^2 = e^2 u^2 - (1 - e^2) 2 a gap.
//
// With e = 1 it is u itself, as in the paper, and wherever in the step the impact falls no energy is gained.
// Negative: it does not climb back; the impact belongs to the end of the step.
double rebound_square(double u, double e, double gap, double acceleration)
{
  const double a = std::max(0.0, -acceleration);
  return e * e * u * u - (1 - e * e) * 2 * a * std::max(0.0, gap);
}

}  // namespace

// Rounds over all pairs, since an impact can drive a body into the next one. A round in which nothing happens
// is the last.
void ImpulseStepper::collision_phase(const StepFrame& frame, double h, bool before_velocities)
{
  for (int i = 0; i < settings_.collision_iterations; ++i) {
    bool any = false;
    clear_samples();
    for (ImpulsePair& pair : pairs_) {
      sample_pair(frame, pair, h, before_velocities);
      list_interfering_points(pair, h, before_velocities);
      any = collide_pair(pair) || any;
    }
    if (!any) return;
  }
}

// Interference is looked for at the predicted position x + h (v + h g), which contact will look at as well,
// so that nothing that collides is taken for resting [section 4].
void ImpulseStepper::list_interfering_points(const ImpulsePair& pair, double h, bool before_velocities)
{
  for (std::size_t p = pair.begin; p < pair.end; ++p) {
    ImpulsePatch& patch = patches_[p];
    const double gained = before_velocities ? h * patch.acceleration : 0.0;
    for (ImpulsePoint& point : patch.active()) {
      const double u = speed_along(pair, patch, point);
      point.depth = -(point.gap + h * (u + gained));
      point.listed = point.depth > 0 && u < -settled_ && point.rebound_speed == 0;
      point.pulls = false;
    }
  }
}

// The list of interfering points is made once. The deepest gets its impulse, points that now separate are
// taken off, and so on until the list is empty: the bodies are not moved again in between [section 5, the
// aggressive variant].
bool ImpulseStepper::collide_pair(const ImpulsePair& pair)
{
  bool any = false;
  if (!is_movable(pair)) return false;
  for (int k = 0; k < settings_.pair_iterations; ++k) {
    const Choice choice = deepest_place(pair, kSameDepthImpact * length_scale_);
    if (choice.count == 0) break;
    ImpulsePatch& patch = *choice.patch;
    double u = 0;
    double gap = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (!choice.taken[i]) continue;
      u += speed_along(pair, patch, patch.points[i]) / choice.count;
      gap += patch.points[i].gap / choice.count;
    }
    if (!settings_.close_gaps) gap = 0;
    const double square = rebound_square(u, patch.restitution, gap, patch.acceleration);
    const bool later = settings_.close_gaps && square < 0;
    if (!later) (void)apply_contact_impulse(pair, choice, std::sqrt(std::max(0.0, square)), false);
    any = any || !later;
    for (std::size_t i = 0; i < 4; ++i) {
      if (!choice.taken[i]) continue;
      ImpulsePoint& point = patch.points[i];
      point.bounced = patch.restitution > 0;
      if (!later) continue;
      const double a = std::max(0.0, -patch.acceleration);
      point.rebound_speed = patch.restitution * std::sqrt(u * u + 2 * a * std::max(0.0, gap));
      point.listed = false;
    }
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      for (ImpulsePoint& point : patches_[p].active())
        point.listed = point.listed && speed_along(pair, patches_[p], point) < -settled_;
    }
  }
  return any;
}

// Impacts whose rebound stays below where the body was at the start of the step: contact has let it come to
// the surface, and from there it leaves with e v_c.
void ImpulseStepper::apply_late_rebounds()
{
  for (int i = 0; i < settings_.collision_iterations; ++i) {
    bool any = false;
    for (const ImpulsePair& pair : pairs_) {
      for (int k = 0; k < settings_.pair_iterations && is_movable(pair); ++k) {
        for (std::size_t p = pair.begin; p < pair.end; ++p) {
          for (ImpulsePoint& point : patches_[p].active()) {
            const double u = speed_along(pair, patches_[p], point);
            point.depth = point.rebound_speed - u;
            point.pulls = false;
            point.listed = point.rebound_speed > 0 && point.impulse > 0 && u < 0;
          }
        }
        const Choice choice = deepest_place(pair, std::numeric_limits<double>::infinity());
        if (choice.count == 0) break;
        double speed = 0;
        for (std::size_t c = 0; c < 4; ++c)
          if (choice.taken[c]) speed += choice.patch->points[c].rebound_speed / choice.count;
        apply_contact_impulse(pair, choice, speed, false);
        any = true;
      }
    }
    if (!any) return;
  }
}

}  // namespace thrum::rigid
