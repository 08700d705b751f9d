// SPDX-License-Identifier: MIT
// Time of impact as in [Lecture13]: bisection of the world, and conservative advancement.
//
// Contacts are found where bodies touch, not ahead of them, and a slice ends at the time at which the first
// pair touches, to `impact_tolerance` of the thinner width. The next slice begins with the contact and
// resolves the impact. When a step has been cut max_impact_slices times its rest is solved as with
// `continuous`.
//
//  bisection     The slice is solved. If pairs touch in it that were no contacts at its start, it is undone
//                and solved with half its length, and so on, until the end is known to the tolerance. If it
//                is one pair only, the time is found from the motion of these two, and the world is solved
//                once more.
//  conservative  Before the slice is solved, the pairs that may meet are advanced by bounds of their
//                translation and rotation (collision/time_of_impact.h) along the motion that they have
//                without contacts; the slice ends where the first would touch. What contacts change about
//                that motion is checked afterwards.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

std::uint64_t World::awake_bodies() const
{
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (removed_[i] == 0 && model_.bodies[i].motion != model::Motion::fixed && !state_.bodies[i].asleep)
      ++count;
  }
  return count;
}

void World::count_undone_slice()
{
  ++impact_counts_.undone_slices;
  impact_counts_.undone_bodies += awake_bodies();
}

// Pairs that touch during the slice though they had no contact at its start. Returns whether there are any.
bool World::list_new_overlaps(double h)
{
  const auto timer = times_.stage("find impacts");
  overlaps_.clear();
  list_fast_pairs(h);
  for (const collision::BodyPair& pair : fast_pairs_) {
    if (!(free_fraction(pair, h, 1, 0) < 1)) continue;
    overlaps_.push_back(pair);
  }
  return !overlaps_.empty();
}

double World::bisect_world(double h, double min_slice)
{
  solve_slice(h);
  if (!list_new_overlaps(h)) return h;
  // The time in which these pairs move by the tolerance.
  const auto resolution = [&](double length) {
    double time = length;
    for (const collision::BodyPair& pair : overlaps_) {
      const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
      const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
      const double reach =
          collision::relative_reach(a, motion_in_slice(pair.a, length), b, motion_in_slice(pair.b, length));
      time = std::min(time, length * desc_.impact_tolerance * collision::thinner_width(a, b) / reach);
    }
    return std::max(time, min_slice);
  };
  const auto solve_again = [&](double length) {
    count_undone_slice();
    restore_slice_start();
    solve_slice(length);
  };
  double free = 0;
  double high = h;
  double solved = h;
  double tolerance = resolution(h);
  while (high - free > tolerance) {
    double middle = 0.5 * (free + high);
    // One pair that is alone: no other body changes its motion before it touches.
    if (overlaps_.size() == 1 && solved == high)
      middle = std::clamp(free_fraction(overlaps_[0], high, 1, 0) * high, free + 0.25 * tolerance,
                          high - 0.25 * tolerance);
    solve_again(middle);
    solved = middle;
    const std::vector<collision::BodyPair> before = overlaps_;
    if (list_new_overlaps(middle)) {
      high = middle;
      tolerance = std::min(tolerance, resolution(middle));
    } else {
      overlaps_ = before;
      free = middle;
      if (before.size() == 1) break;
    }
  }
  const double length = free > 0 ? free : high;
  if (solved != length) solve_again(length);
  return length;
}

// How a body moves without contacts.
collision::ShapeMotion World::predicted_motion(model::BodyIndex id, double h) const
{
  const std::size_t i = at(id);
  const model::BodyProperties& desc = model_.bodies[i];
  const model::BodyState& body = state_.bodies[i];
  collision::ShapeMotion motion;
  motion.X_ws = X_ws_[i];
  motion.centre = body.X_wb.position;
  if (desc.motion == model::Motion::fixed || body.asleep) return motion;
  motion.move = h * body.velocity;
  motion.turn = h * body.angular_velocity;
  if (desc.motion == model::Motion::dynamic)
    motion.bend = 0.5 * h * h * (desc.gravity_scale * model_.gravity + body.force / desc.mass);
  return motion;
}

// The fraction of the slice up to which no pair that is apart now can have met.
double World::predicted_fraction(double h) const
{
  double first = 1;
  for (const collision::BodyPair& pair : near_pairs_) {
    if (!may_collide(pair) || has_patch(pair)) continue;
    const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
    const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
    collision::ImpactDesc desc;
    desc.touch_gap = desc_.impact_tolerance * collision::thinner_width(a, b);
    desc.max_fraction = first;
    const collision::TimeOfImpact impact =
        collision::time_of_impact(a, predicted_motion(pair.a, h), b, predicted_motion(pair.b, h), desc,
                                  collision::pair_table_with(desc_.interference));
    // What touches already has its contact in this slice.
    if (impact.found() && impact.fraction > 0) first = std::min(first, impact.fraction);
  }
  return first;
}

}  // namespace thrum::sim
