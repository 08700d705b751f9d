// SPDX-License-Identifier: MIT
// The stages of a step, the pairs in their order, and the single impulse that collision and contact share.
#include "thrum/rigid/impulse_stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/rigid/support_graph.h"

namespace thrum::rigid {

namespace {

/// A point that would move less than this share of the length scale in a step is settled.
constexpr double kSettled = 1e-8;

// The speed after the velocities are advanced for a body that is kicked away at `speed`. Positions follow the
// mean of that speed and the one before, gravity acts again only in the next step: v^2 / 2 + g h v / 2 must
// be what the kick was worth.
double kick_speed(double speed, double gravity_in_step)
{
  return speed > 0 ? std::hypot(speed, gravity_in_step / 2) - gravity_in_step / 2 : 0;
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// Stages

// The levels are those of [section 8.1], see support_graph.h; without the graph all bodies are on the same
// one. The pairs are sorted by level when they are gathered.
ContactGraph ImpulseStepper::order_contacts(const model::SceneModel& model, const model::SceneState& state,
                                            double h) const
{
  ContactGraph graph = contacts_as_found(state);
  if (settings_.contact_graph) {
    SupportGraph support = build_support_graph(model, state, h, settings_.levels);
    graph.level.swap(support.level);
    graph.level_count = support.levels;
  } else {
    graph.level.assign(model.bodies.size(), 1);
    graph.level_count = 2;
  }
  return graph;
}

void ImpulseStepper::collide(StepFrame& frame)
{
  length_scale_ = frame.model.length_scale;
  settled_ = kSettled * length_scale_ / frame.h;
  bodies_.load(frame.model, frame.state);
  JointRows::begin_step(frame.state);
  gather_pairs(frame);
  mark_sampled_pairs(frame);
  order_pairs(frame.levels, frame.level_count);
  reflect_impacts(frame);
  if (settings_.separate_collisions) collision_phase(frame, frame.h, true);
}

void ImpulseStepper::advance_velocities(StepFrame& frame, double h)
{
  before_.assign(bodies_.all().begin(), bodies_.all().end());
  joints_.build(frame.model, frame.state, ConstraintSettings{}, bodies_, h);
  bodies_.advance_velocities(frame.model, h);
}

void ImpulseStepper::resolve_contacts(StepFrame& frame, double h)
{
  if (!settings_.separate_collisions) collision_phase(frame, h, false);
  if (settings_.contact_graph && settings_.levels == ContactLevels::predicted)
    find_levels_from_samples(frame, h);
  warm_start(frame, h);
  // Restitution -0.9 keeps nine tenths of the approach, -0.8 eight, and the last pass nothing [section 7.1]:
  // the bodies slow down together instead of one stopping dead before the next is asked.
  const int passes = settings_.contact_iterations;
  for (int i = 1; i <= passes; ++i) {
    joints_.sweep(bodies_, h, 1, settled_);
    joints_.update_bends(frame.model, frame.state, ConstraintSettings{}, bodies_, h);
    contact_pass(frame, h, settings_.gradual_restitution ? 1 - static_cast<double>(i) / passes : 0.0);
  }
  if (passes > 0) extra_contact_passes(frame, h);
  if (settings_.contact_graph && settings_.shock_propagation) {
    for (int i = 0; i < settings_.shock_sweeps; ++i) shock_propagation(frame, h);
  }
  use_mean_velocities(h);
  if (settings_.push_out) push_out(h);
  for (int i = 0; i < settings_.contact_iterations; ++i) joints_.push_out(bodies_, h);
}

void ImpulseStepper::advance_positions(StepFrame& frame, double h)
{
  impacts_.apply_shifts(bodies_, h);
  bodies_.advance_positions(frame.model, frame.state, h);
}

void ImpulseStepper::bounce(StepFrame& frame, double)
{
  apply_late_rebounds();
  joints_.finish_substep(frame.state);
}

void ImpulseStepper::store_results(StepFrame& frame)
{
  bodies_.store(frame.state);
  clear_samples();
  for (const ImpulsePatch& patch : patches_) {
    model::ContactPatch& contact = frame.state.patches[at(patch.source)];
    Vec3 given = Vec3::Zero();
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      const ImpulsePoint& point = patch.points[i];
      contact.points[i].normal_impulse = std::max(0.0, point.impulse);
      const Vec3& felt = patch.one_sided ? patch.felt_impulse[i] : point.contact_impulse;
      contact.points[i].warm_impulse = std::max(0.0, patch.n.dot(felt));
      given += felt;
      contact.points[i].normal_speed = point.speed;
      contact.points[i].requested_speed = 0;
      contact.points[i].bounced = point.bounced;
    }
    contact.friction_impulse = patch.friction_total;
    contact.warm_friction = given - patch.n.dot(given) * patch.n;
    const Vec3& turning = patch.one_sided ? patch.felt_angular_impulse : patch.contact_angular_impulse;
    contact.warm_twist = patch.n.dot(turning);
    contact.warm_rolling = turning - contact.warm_twist * patch.n;
  }
}

// -----------------------------------------------------------------------------------------------------------
// Pairs and their order

void ImpulseStepper::gather_pairs(const StepFrame& frame)
{
  patches_.clear();
  pairs_.clear();
  changes_.assign(bodies_.all().size(), 0);
  patches_.reserve(frame.order.size());
  for (const std::int32_t source : frame.order) {
    const model::ContactPatch& contact = frame.state.patches[at(source)];
    const model::Surface& surface = frame.surfaces[at(source)];
    const SolverBody& A = bodies_[contact.a];
    const SolverBody& B = bodies_[contact.b];
    ImpulsePatch& patch = patches_.emplace_back();
    patch.source = source;
    patch.n = contact.normal;
    patch.count = contact.count;
    patch.restitution = surface.restitution;
    patch.friction.sliding = settings_.friction ? surface.friction : 0.0;
    if (settings_.rolling_and_spinning) {
      patch.friction.rolling = surface.rolling_friction;
      patch.friction.spinning = surface.spinning_friction;
    }
    patch.warm_friction = contact.warm_friction;
    patch.warm_angular = contact.warm_rolling + contact.warm_twist * patch.n;
    patch.acceleration = patch.n.dot(B.acceleration - A.acceleration);
    const Vec3& xa = frame.state.bodies[at(contact.a)].X_wb.position;
    const Vec3& xb = frame.state.bodies[at(contact.b)].X_wb.position;
    if (pairs_.empty() || pairs_.back().a != contact.a || pairs_.back().b != contact.b)
      pairs_.push_back({.a = contact.a, .b = contact.b, .level = 1, .begin = patches_.size() - 1});
    pairs_.back().end = patches_.size();
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      const model::ContactPoint& from = contact.points[i];
      ImpulsePoint& point = patch.points[i];
      point.ra = from.position - xa;
      point.rb = from.position - xb;
      point.ra_n = point.ra.cross(patch.n);
      point.rb_n = point.rb.cross(patch.n);
      point.gap = -from.depth;
      point.weight = std::max(0.0, from.warm_impulse);
      point.requested_speed = kick_speed(from.requested_speed, frame.h * std::max(0.0, -patch.acceleration));
      point.speed = speed_along(pairs_.back(), patch, point);
    }
  }
}

// Contacts are treated level by level from the ground up [section 8.1].
void ImpulseStepper::order_pairs(std::span<const std::int32_t> levels, std::int32_t count)
{
  for (ImpulsePair& pair : pairs_) {
    pair.level = std::max(levels[at(pair.a)], levels[at(pair.b)]);
  }
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const ImpulsePair& p, const ImpulsePair& q) { return p.level < q.level; });
  level_begin_.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const ImpulsePair& pair : pairs_) ++level_begin_[static_cast<std::size_t>(pair.level) + 1];
  for (std::size_t i = 1; i < level_begin_.size(); ++i) level_begin_[i] += level_begin_[i - 1];
  for (auto& bodies : on_level_) bodies.clear();
  on_level_.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < levels.size(); ++i)
    on_level_[at(levels[i])].push_back(static_cast<std::int32_t>(i));
}

// -----------------------------------------------------------------------------------------------------------
// What collision and contact share

// The deepest listed point of the pair [section 5]. Points of its patch that are as deep, to `same_depth`,
// come with it and form one place in their middle: a flat face has no deepest point, and taking its corners
// one after the other would set a box that falls flat spinning.
ImpulseStepper::Choice ImpulseStepper::deepest_place(const ImpulsePair& pair, double same_depth) const
{
  Choice choice;
  double deepest = -std::numeric_limits<double>::infinity();
  std::size_t patch_of_deepest = 0;
  std::size_t first = 0;
  for (std::size_t p = pair.begin; p < pair.end; ++p) {
    for (std::size_t i = 0; i < patches_[p].active().size(); ++i) {
      const ImpulsePoint& point = patches_[p].points[i];
      if (!point.listed || point.depth <= deepest) continue;
      if (!settings_.deepest_first && choice.count > 0) continue;
      deepest = point.depth;
      patch_of_deepest = p;
      first = i;
      choice.count = 1;
    }
  }
  if (choice.count == 0) return choice;
  choice.patch = const_cast<ImpulsePatch*>(&patches_[patch_of_deepest]);
  choice.deepest = first;
  choice.count = 0;
  for (std::size_t i = 0; i < choice.patch->active().size(); ++i) {
    const ImpulsePoint& point = choice.patch->points[i];
    const bool as_deep = settings_.deepest_first ? point.depth >= deepest - same_depth : i == first;
    if (!point.listed || !as_deep || point.pulls != choice.patch->points[first].pulls) continue;
    choice.taken[i] = true;
    ++choice.count;
  }
  for (std::size_t i = 0; i < 4; ++i) choice.share[i] = choice.taken[i] ? 1.0 / choice.count : 0.0;
  return choice;
}

// Where the load of a patch acted in the step before is the best place to act on it now: a box at rest on a
// slope is held by one impulse there, where its corners, pushed one after the other and never taken back,
// would make it hop. What a corner must add in this step moves the place for the next.
void ImpulseStepper::share_by_load(Choice& choice)
{
  // What is taken back is taken in proportion to what was given, so that no point is left pulling.
  const auto load_of = [&](const ImpulsePoint& point) {
    return point.pulls ? std::max(0.0, choice.patch->n.dot(point.contact_impulse)) : point.weight;
  };
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (choice.taken[i]) sum += load_of(choice.patch->points[i]);
  if (!(sum > 0)) return;
  for (std::size_t i = 0; i < 4; ++i)
    choice.share[i] = choice.taken[i] ? load_of(choice.patch->points[i]) / sum : 0.0;
}

// One impulse at the place, after which it separates at `speed`. False: nothing was given, since one of
// several points would then pull.
bool ImpulseStepper::apply_contact_impulse(const ImpulsePair& pair, const Choice& choice, double speed,
                                           bool resting)
{
  ImpulsePatch& patch = *choice.patch;
  SolverBody& A = bodies_[pair.a];
  SolverBody& B = bodies_[pair.b];
  ContactPlace place;
  place.n = patch.n;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!choice.taken[i]) continue;
    place.ra += choice.share[i] * patch.points[i].ra;
    place.rb += choice.share[i] * patch.points[i].rb;
  }
  // Points about the middle resist a turn about the normal with mu times their distance.
  PlaceFriction friction = patch.friction;
  for (std::size_t i = 0; i < 4 && choice.count > 1; ++i) {
    if (choice.taken[i])
      friction.spinning += choice.share[i] * friction.sliding * (patch.points[i].rb - place.rb).norm();
  }
  const Mat3 K = collision_matrix(A, B, place);
  const Vec3 u = relative_velocity(A, B, place);
  PointImpulse impulse;
  if (resting && settings_.accumulate_impulses) {
    // The sum over this phase obeys the laws: of the points taken, and for turning of the whole patch.
    Vec3 given = Vec3::Zero();
    double pressure = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (choice.taken[i]) given += patch.points[i].contact_impulse;
      pressure += patch.n.dot(patch.points[i].contact_impulse);
    }
    impulse = solve_accumulated_impulse(K, u, place.n, speed, friction.sliding, given);
    for (std::size_t i = 0; i < 4 && choice.count > 1; ++i) {
      const double before = patch.n.dot(patch.points[i].contact_impulse);
      if (choice.taken[i] && before + choice.share[i] * impulse.normal < 0) return false;
    }
    add_rolling_and_spinning(A, B, place, K, friction, std::max(0.0, pressure + impulse.normal),
                             patch.contact_angular_impulse, impulse);
    patch.contact_angular_impulse += impulse.angular;
  } else {
    impulse = solve_impulse(K, u, place.n, speed, friction.sliding);
    add_rolling_and_spinning(A, B, place, K, friction, impulse.normal, Vec3::Zero(), impulse);
  }
  apply_impulse(A, B, place, impulse);
  record_change(pair);
  patch.friction_total += impulse.linear - patch.n.dot(impulse.linear) * patch.n;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!choice.taken[i]) continue;
    patch.points[i].impulse += choice.share[i] * patch.n.dot(impulse.linear);
    if (resting) patch.points[i].contact_impulse += choice.share[i] * impulse.linear;
  }
  return true;
}

std::unique_ptr<Stepper> make_impulse_stepper(const ImpulseSettings& settings, const ImpactSettings& impacts)
{
  return std::make_unique<ImpulseStepper>(settings, impacts);
}

}  // namespace thrum::rigid
