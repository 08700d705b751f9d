// SPDX-License-Identifier: MIT
// Bodies that are fast for their size do not pass through others.
//
// After a slice is solved, every pair that moved against each other by more than half the width of the
// thinner one is searched for the time at which the two first touch (collision/time_of_impact.h), on the
// motion that the solver gave them. The slice is then undone and solved again up to the earliest of these
// times, so that the next one begins with the contact; that one is short, and what follows it has the
// velocities after the impact. When a step has been cut in this way `max_impact_slices` times, what would
// pass is instead stopped where it touches for the rest of the slice, and counted.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Contacts are looked for within half the width of fast bodies, so that a pair that moves by less against
/// each other is seen before it has passed the middle.
constexpr double kUnseenMove = 0.5;
/// Shares of the width of the thinner body: the gap at which the search for an impact ends (a quarter of the
/// least margin of contacts), the overlap to which pairs in contact may go, and the motion of the pair in the
/// slice that resolves an impact.
constexpr double kTouchGap = 0.00125;
constexpr double kAllowedDepth = 0.25;
constexpr double kImpactMove = 0.25;
/// A slice is solved so many times before bodies are stopped instead.
constexpr int kMaxAttempts = 6;
/// A slice is solved so many times again for what bodies meet that were struck in it.
constexpr int kMaxMissedRounds = 2;
/// Bodies that are stopped are moved less in so many rounds, and then not at all.
constexpr int kShorterRounds = 3;
constexpr int kMaxStopRounds = 8;
/// Whole turns of a body within a slice that are searched for impacts. One that makes more sweeps the same
/// place again and again; when it meets something there is not known at this slice.
constexpr double kMaxTurns = 4;
/// Where a body is at the end of a parabola, as a share of its way.
constexpr double kParabolaRounding = 1e-9;
/// Bodies that turn by more than this in a slice are stopped where they are rather than where they touch
/// [rad].
constexpr double kMaxStoppedTurn = 1e-3;
/// A body turned by more than this is bounded by the sphere about its centre [rad].
constexpr double kSmallTurn = 0.1;

// The rotation vector from one orientation to another, of those that differ by at most kMaxTurns whole turns
// the one nearest to `expected` [rad].
Vec3 rotation_between(const Quat& from, const Quat& to, const Vec3& expected)
{
  const Eigen::AngleAxisd turn(to * from.conjugate());
  const double full = 2 * std::numbers::pi;
  const double more = std::round((expected.dot(turn.axis()) - turn.angle()) / full);
  return (turn.angle() + full * std::clamp(more, -kMaxTurns, kMaxTurns)) * turn.axis();
}

double depth_of(const model::ContactPatch& patch)
{
  double depth = -std::numeric_limits<double>::infinity();
  for (const model::ContactPoint& point : patch.active()) depth = std::max(depth, point.depth);
  return depth;
}

// By which the surfaces of two bodies may have entered each other's shapes because they bend, at either end
// of a slice [m].
double bend_of(const flexible::FlexibleStepper& stepper, std::span<const model::ModalState> before,
               std::span<const model::ModalState> after, model::BodyId a, model::BodyId b)
{
  return std::max(stepper.max_bend(before, a), stepper.max_bend(after, a)) +
         std::max(stepper.max_bend(before, b), stepper.max_bend(after, b));
}

// A body that did not get to `end` has not fallen as far either: without the work of gravity along the rest
// of the way it would keep the speed of a fall that it did not make, and gain energy with every step in which
// it is stopped.
void take_back_fall(model::BodyState& body, const Vec3& gravity, const Vec3& end)
{
  const double work = gravity.dot(end - body.X_wb.position);  // by mass [J/kg]
  if (!(work > 0)) return;
  const Vec3 down = gravity.normalized();
  const double speed = down.dot(body.velocity);
  const double kept = std::copysign(std::sqrt(std::max(0.0, speed * speed - 2 * work)), speed);
  body.velocity += (kept - speed) * down;
}

// A body that went with a carrier for a whole slice has at least the speed of the carrier there, along its
// motion. With none it would begin the next slice as it did this one, too far from the carrier for a contact,
// and go with it for ever.
void take_along(model::BodyState& body, const model::BodyState& carrier)
{
  const Vec3 arm = body.X_wb.position - carrier.X_wb.position;
  const Vec3 u = carrier.velocity + carrier.angular_velocity.cross(arm);
  const double missing = u.dot(u - body.velocity);
  if (missing > 0) body.velocity += (missing / u.squaredNorm()) * u;
}

double radius_about_centre(const collision::PreparedShape& shape, const Pose& X_bs)
{
  const double offset = X_bs.position.norm();
  return shape.kind == model::ShapeKind::sphere ? offset : offset + shape.radius;
}

}  // namespace

void World::remember_slice_start()
{
  slice_start_.bodies.assign(state_.bodies.begin(), state_.bodies.end());
  slice_start_.joints.assign(state_.joints.begin(), state_.joints.end());
  if (flexible_ != nullptr) slice_start_.modal_states = state_.modal_states;
}

void World::restore_slice_start()
{
  state_.bodies.assign(slice_start_.bodies.begin(), slice_start_.bodies.end());
  state_.joints.assign(slice_start_.joints.begin(), slice_start_.joints.end());
  if (flexible_ != nullptr) state_.modal_states = slice_start_.modal_states;
  restore_previous_contacts();
}

// How the shape of a body has moved in this slice.
collision::ShapeMotion World::motion_in_slice(model::BodyIndex id, double h) const
{
  const std::size_t i = at(id);
  const model::BodyState& before = slice_start_.bodies[i];
  const model::BodyState& after = state_.bodies[i];
  collision::ShapeMotion motion;
  motion.X_ws = X_ws_[i];
  motion.centre = before.X_wb.position;
  if (model_.bodies[i].motion == model::Motion::fixed) return motion;
  motion.move = after.X_wb.position - before.X_wb.position;
  if (finds_impact_times()) {
    // A body that nothing touched goes along a parabola.
    const Vec3 sagging = motion.move - 0.5 * h * (before.velocity + after.velocity);
    if (sagging.squaredNorm() <= kParabolaRounding * kParabolaRounding * motion.move.squaredNorm()) {
      motion.bend = 0.5 * h * (after.velocity - before.velocity);
      motion.move = h * before.velocity;
    }
  }
  if (after.X_wb.rotation.coeffs() != before.X_wb.rotation.coeffs()) {
    // Of a body that was stopped the whole turns are not known any more.
    const Vec3 expected = was_stopped(id) ? Vec3::Zero() : Vec3(h * after.angular_velocity);
    motion.turn = rotation_between(before.X_wb.rotation, after.X_wb.rotation, expected);
  }
  return motion;
}

// Bodies that moved by more than a share of the thinnest shape of the scene.
void World::list_fast_bodies(double h)
{
  fast_bodies_.clear();
  double thinnest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (removed_[i] == 0) thinnest = std::min(thinnest, prepared_[at(model_.bodies[i].shape)].width);
  }
  min_fast_move_ = finds_impact_times() ? 0.0 : 0.5 * kUnseenMove * thinnest;
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const model::BodyProperties& desc = model_.bodies[i];
    if (removed_[i] != 0 || desc.motion == model::Motion::fixed || state_.bodies[i].asleep) continue;
    const model::BodyState& before = slice_start_.bodies[i];
    const model::BodyState& after = state_.bodies[i];
    const double spin =
        std::sqrt(std::max(before.angular_velocity.squaredNorm(), after.angular_velocity.squaredNorm()));
    const double move = (after.X_wb.position - before.X_wb.position).norm() +
                        h * spin * radius_about_centre(prepared_[at(desc.shape)], desc.X_bs);
    if (move > min_fast_move_) fast_bodies_.push_back(static_cast<model::BodyIndex>(i));
  }
}

Box3 World::box_of_motion(model::BodyIndex id, double h) const
{
  const std::size_t i = at(id);
  const collision::PreparedShape& shape = prepared_[at(model_.bodies[i].shape)];
  const collision::ShapeMotion motion = motion_in_slice(id, h);
  if (motion.turn.norm() < kSmallTurn) {
    // A parabola leaves its chord by a quarter of `bend`.
    const double bulge = motion.turn.squaredNorm() * radius_about_centre(shape, model_.bodies[i].X_bs) +
                         0.25 * motion.bend.norm();
    Box3 box = collision::world_bounds(shape, motion.X_ws, bulge);
    return box.extend(collision::world_bounds(shape, motion.pose_at(1), bulge));
  }
  const Vec3 reach = Vec3::Constant((motion.X_ws.position - motion.centre).norm() + shape.radius +
                                    0.25 * motion.bend.norm());
  Box3 box(motion.centre - reach, motion.centre + reach);
  return box.extend(box.translated(motion.move + motion.bend));
}

// Pairs of which one is fast, and that may collide at all.
void World::list_fast_pairs(double h)
{
  fast_pairs_.clear();
  list_fast_bodies(h);
  if (flexible_ != nullptr) {
    // Contacts that yield may be pressed in bit by bit, by bodies that are not fast.
    for (const model::ContactPatch& patch : state_.patches) {
      const collision::BodyPair pair{patch.a, patch.b};
      if (!may_collide(pair)) continue;
      const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
      const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
      const double reach =
          collision::relative_reach(a, motion_in_slice(pair.a, h), b, motion_in_slice(pair.b, h));
      const double bend = bend_of(*flexible_, slice_start_.modal_states, state_.modal_states,
                                  state_.body_ids[at(pair.a)], state_.body_ids[at(pair.b)]);
      if (depth_of(patch) + reach > kAllowedDepth * collision::thinner_width(a, b) + bend)
        fast_pairs_.push_back(pair);
    }
  }
  if (fast_bodies_.empty()) return;
  if (in_group_) {
    list_fast_pairs_in_group(h);
    return;
  }
  for (const model::BodyIndex i : fast_bodies_) broad_phase_.update(i, box_of_motion(i, h));
  std::vector<model::BodyIndex> found;
  for (const model::BodyIndex i : fast_bodies_) {
    Box3 box = box_of_motion(i, h);
    // What is not fast has moved by less than this out of its box.
    box = Box3(box.min().array() - min_fast_move_, box.max().array() + min_fast_move_);
    broad_phase_.overlapping(box, found);
    for (const model::BodyIndex j : found) {
      if (i == j) continue;
      const collision::BodyPair pair{std::min(i, j), std::max(i, j)};
      if (may_collide(pair)) fast_pairs_.push_back(pair);
    }
  }
  std::sort(fast_pairs_.begin(), fast_pairs_.end());
  fast_pairs_.erase(std::unique(fast_pairs_.begin(), fast_pairs_.end()), fast_pairs_.end());
}

bool World::may_collide(const collision::BodyPair& pair) const
{
  const auto is_in = [&](const std::vector<collision::BodyPair>& pairs) {
    return std::binary_search(pairs.begin(), pairs.end(), pair);
  };
  return !model_.bodies[at(pair.a)].sensor && !model_.bodies[at(pair.b)].sensor &&
         collision::should_collide(model_, pair) && !is_in(excluded_pairs_) && !is_in(disabled_pairs_);
}

bool World::has_patch(const collision::BodyPair& pair) const
{
  const auto bodies_of = [](const model::ContactPatch& patch) {
    return collision::BodyPair{patch.a, patch.b};
  };
  const auto found = std::lower_bound(
      state_.patches.begin(), state_.patches.end(), pair,
      [&](const model::ContactPatch& patch, const collision::BodyPair& p) { return bodies_of(patch) < p; });
  return found != state_.patches.end() && bodies_of(*found) == pair;
}

// The fraction of the slice up to which the pair does not pass through each other.
double World::free_fraction(const collision::BodyPair& pair, double h, double max_fraction, int attempt) const
{
  const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
  const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
  const collision::ShapeMotion motion_a = motion_in_slice(pair.a, h);
  const collision::ShapeMotion motion_b = motion_in_slice(pair.b, h);
  const double width = collision::thinner_width(a, b);
  collision::ImpactDesc desc;
  desc.in_contact = has_patch(pair);
  // Contacts that look ahead see what moves by less, and hold it unless they yield, or were solved for a body
  // that was stopped since: a ball left a room bit by bit that moved away from it in each slice, and was
  // stopped by another body.
  const bool yields = flexible_ != nullptr && desc.in_contact;
  const bool is_blind = yields || was_stopped(pair.a) || was_stopped(pair.b);
  const double unseen = is_blind || (finds_impact_times() && !desc.in_contact) ? 0.0 : kUnseenMove * width;
  if (!(collision::relative_reach(a, motion_a, b, motion_b) > unseen)) return 1;
  // Smaller with each attempt: the end of the one before may not be taken for an impact again.
  const double tolerance = finds_impact_times() ? desc_.impact_tolerance : kTouchGap;
  desc.touch_gap = tolerance * width * std::pow(0.5, attempt);
  desc.allowed_depth = kAllowedDepth * width;
  // What bends gives way by more than its shape says: a pot on a table goes with it.
  if (yields)
    desc.allowed_depth += bend_of(*flexible_, slice_start_.modal_states, state_.modal_states,
                                  state_.body_ids[at(pair.a)], state_.body_ids[at(pair.b)]);
  desc.max_fraction = max_fraction;
  const bool bisects =
      finds_impact_times() && desc_.time_of_impact == TimeOfImpactMethod::bisection && !desc.in_contact;
  const collision::PairTable& table = collision::pair_table_with(desc_.interference);
  const collision::TimeOfImpact impact =
      bisects ? collision::bisect_impact(a, motion_a, b, motion_b, desc, table)
              : collision::time_of_impact(a, motion_a, b, motion_b, desc, table);
  return impact.found() ? impact.fraction : 1;
}

// The fraction of the slice up to the first impact that contacts did not see.
double World::find_first_impact(double h, int attempt)
{
  const auto timer = times_.stage("find impacts");
  kept_motion_.clear();
  list_fast_pairs(h);
  double first = 1;
  for (const collision::BodyPair& pair : fast_pairs_) {
    const double fraction = free_fraction(pair, h, first, attempt);
    if (!(fraction < first)) continue;
    first = fraction;
    first_impact_ = pair;
  }
  return first;
}

// How long the slice that resolves the impact found last may be [s].
double World::impact_slice(double h) const
{
  const collision::PreparedShape& a = prepared_[at(model_.bodies[at(first_impact_.a)].shape)];
  const collision::PreparedShape& b = prepared_[at(model_.bodies[at(first_impact_.b)].shape)];
  const double reach = collision::relative_reach(a, motion_in_slice(first_impact_.a, h), b,
                                                 motion_in_slice(first_impact_.b, h));
  return h * kImpactMove * collision::thinner_width(a, b) / reach;
}

// Bodies that would pass through others stay where they touch, with their velocities; against a kinematic
// body they go with it, and so does what they meet in turn. Each round shortens the motions of the pairs that
// still collide, in the end to nothing: then none is left.
void World::stop_before_impacts(double h, int attempt)
{
  kept_motion_.assign(state_.bodies.size(), 1.0);
  std::vector<model::BodyIndex> carrier_of(state_.bodies.size(), model::kNone);
  const auto stop = [&](model::BodyIndex id, model::BodyIndex other, double fraction) {
    if (model_.bodies[at(id)].motion != model::Motion::dynamic) return;
    const collision::ShapeMotion motion = motion_in_slice(id, h);
    Pose X_ws = motion.pose_at(fraction);
    if (model_.bodies[at(other)].motion == model::Motion::kinematic) {
      carrier_of[at(id)] = other;
    } else if (carrier_of[at(id)] == model::kNone) {
      carrier_of[at(id)] = carrier_of[at(other)];
    }
    if (carrier_of[at(id)] != model::kNone) {
      const collision::ShapeMotion carrier = motion_in_slice(carrier_of[at(id)], h);
      X_ws = carrier.pose_at(1) * carrier.pose_at(fraction).inverse() * X_ws;
    }
    // The spin turns along: a thin rod that is turned under its spin would get many times its energy.
    model::BodyState& body = state_.bodies[at(id)];
    const Quat old = body.X_wb.rotation;
    body.X_wb = X_ws * model_.bodies[at(id)].X_bs.inverse();
    body.angular_velocity = body.X_wb.rotation * (old.conjugate() * body.angular_velocity);
    kept_motion_[at(id)] *= fraction;
  };
  // Whether a pair moves on by no more than the gap at which it was stopped: the impact found is the same. A
  // body that spins fast is better not brought so near: the next search for its first touch would take
  // thousands of steps.
  const auto is_end = [&](const collision::BodyPair& pair, double fraction) {
    const collision::PreparedShape& a = prepared_[at(model_.bodies[at(pair.a)].shape)];
    const collision::PreparedShape& b = prepared_[at(model_.bodies[at(pair.b)].shape)];
    const collision::ShapeMotion motion_a = motion_in_slice(pair.a, h);
    const collision::ShapeMotion motion_b = motion_in_slice(pair.b, h);
    const auto spin = [&](model::BodyIndex i) {
      return std::max(slice_start_.bodies[at(i)].angular_velocity.norm(),
                      state_.bodies[at(i)].angular_velocity.norm());
    };
    if (!(h * (spin(pair.a) + spin(pair.b)) < kMaxStoppedTurn)) return false;
    const double reach = collision::relative_reach(a, motion_a, b, motion_b);
    return (1 - fraction) * reach <= kTouchGap * collision::thinner_width(a, b) * std::pow(0.5, attempt);
  };
  std::vector<Vec3> ends;
  for (const model::BodyState& body : state_.bodies) ends.push_back(body.X_wb.position);
  bool found = true;
  for (int round = 0; round < kMaxStopRounds && found; ++round) {
    found = false;
    for (const collision::BodyPair& pair : fast_pairs_) {
      const double fraction = free_fraction(pair, h, 1, attempt);
      if (!(fraction < 1) || (round > 0 && is_end(pair, fraction))) continue;
      found = true;
      const double kept = round < kShorterRounds ? fraction : 0.0;
      stop(pair.a, pair.b, kept);
      stop(pair.b, pair.a, kept);
    }
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (kept_motion_[i] < 1 && carrier_of[i] == model::kNone)
      take_back_fall(state_.bodies[i], model_.bodies[i].gravity_scale * model_.gravity, ends[i]);
    if (kept_motion_[i] == 0 && carrier_of[i] != model::kNone)
      take_along(state_.bodies[i], state_.bodies[at(carrier_of[i])]);
  }
}

void World::count_stopped(double h)
{
  for (const double kept : kept_motion_) {
    if (!(kept < 1)) continue;
    ++impact_counts_.stopped_bodies;
    impact_counts_.lost_time += h * (1 - kept);
  }
}

// Solves a slice of at most h, up to the first impact that would otherwise be missed, and returns its length.
// A slice is cut to no less than min_slice: in one so short bodies are stopped.
double World::solve_until_impact(double h, double min_slice, bool may_cut)
{
  if (desc_.time_of_impact == TimeOfImpactMethod::none) {
    solve_slice(h);
    return h;
  }
  remember_slice_start();
  // Groups of the flexible stepper follow impacts by its substeps.
  looks_ahead_ = desc_.time_of_impact == TimeOfImpactMethod::continuous || !may_cut ||
                 (in_group_ && flexible_ != nullptr);
  if (finds_impact_times()) {
    if (desc_.time_of_impact == TimeOfImpactMethod::bisection) return bisect_world(h, min_slice);
    h = std::max(predicted_fraction(h) * h, min_slice);
  }
  wide_pairs_.clear();
  int rounds = 0;
  for (int attempt = 0;; ++attempt) {
    solve_slice(h);
    for (; rounds < kMaxMissedRounds && add_missed_pairs(h); ++rounds) {
      count_undone_slice();
      restore_slice_start();
      solve_slice(h);
    }
    const double first = find_first_impact(h, attempt);
    if (!(first < 1)) return h;
    if (!finds_impact_times()) next_slice_ = std::max(impact_slice(h), min_slice);
    if (!may_cut || h <= min_slice || attempt + 1 == kMaxAttempts) {
      stop_before_impacts(h, attempt);
      if (!may_cut || h > min_slice) count_stopped(h);
      kept_motion_.clear();
      return h;
    }
    count_undone_slice();
    restore_slice_start();
    h = std::max(first * h, min_slice);
  }
}

}  // namespace thrum::sim
