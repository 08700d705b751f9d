// SPDX-License-Identifier: MIT
#include "thrum/rigid/impulse_stepper.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/rigid/support_graph.h"

namespace thrum::rigid {

namespace {

/// A point that would move less than this share of the length scale in a step is settled.
constexpr double kSettled = 1e-8;
/// A pass that keeps a part of the approach need not be more exact than this share of what it takes away.
constexpr double kPassAccuracy = 0.05;
/// Points within this share of the length scale of the deepest are as deep, for impacts.
constexpr double kSameDepthImpact = 1e-5;
/// Points this much narrower across than along do not span a patch (square of the ratio).
constexpr double kFlatPatch = 1e-4;
/// Overlap that mean velocities may leave, as a share of the length scale.
constexpr double kSteadyOverlap = 1e-6;
/// A body slower than this share of what its acceleration gives in a step is at rest.
constexpr double kMoving = 0.1;
/// Sweeps over the points of a patch when overlap is pushed out.
constexpr int kPushSweeps = 4;

// The speed after the velocities are advanced for a body that is kicked away at `speed`. Positions follow the mean of that speed and the
// one before, gravity acts again only in the next step: v^2 / 2 + g h v / 2 must be what the kick was worth.
double kick_speed(double speed, double gravity_in_step)
{
  return speed > 0 ? std::hypot(speed, gravity_in_step / 2) - gravity_in_step / 2 : 0;
}

// Speed after an impact that is given where the body is now, a gap above the surface. The body would meet the
// surface at v_c^2 = u^2 + 2 a gap and leave at e v_c; what is left of that when it has climbed back through the
// gap is
//
//     w^2 = e^2 u^2 - (1 - e^2) 2 a gap.
//
// With e = 1 it is u itself, as in the paper, and wherever in the step the impact falls no energy is gained. Negative:
// it does not climb back; the impact belongs to the end of the step.
double rebound_square(double u, double e, double gap, double acceleration)
{
  const double a = std::max(0.0, -acceleration);
  return e * e * u * u - (1 - e * e) * 2 * a * std::max(0.0, gap);
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Stages

void ImpulseStepper::collide(StepFrame& frame)
{
  length_scale_ = frame.model.length_scale;
  settled_ = kSettled * length_scale_ / frame.h;
  bodies_.load(frame.model, frame.state);
  joints_.build(frame.model, frame.state, ConstraintSettings{}, bodies_, frame.h);
  gather_pairs(frame);
  order_pairs(frame);
  if (settings_.separate_collisions) collision_phase(frame.h, true);
}

void ImpulseStepper::advance_velocities(StepFrame& frame, double h)
{
  before_.assign(bodies_.all().begin(), bodies_.all().end());
  bodies_.advance_velocities(frame.model, h);
}

void ImpulseStepper::resolve_contacts(StepFrame&, double h)
{
  if (!settings_.separate_collisions) collision_phase(h, false);
  joints_.warm_start(bodies_);
  // Restitution -0.9 keeps nine tenths of the approach, -0.8 eight, and the last pass nothing [section 7.1]: the
  // bodies slow down together instead of one stopping dead before the next is asked.
  const int passes = settings_.contact_iterations;
  for (int i = 1; i <= passes; ++i) {
    joints_.sweep(bodies_, h);
    contact_pass(h, settings_.gradual_restitution ? 1 - static_cast<double>(i) / passes : 0.0);
  }
  if (settings_.contact_graph && settings_.shock_propagation) {
    for (int i = 0; i < settings_.shock_sweeps; ++i) shock_propagation(h);
  }
  use_mean_velocities(h);
  if (settings_.push_out) push_out(h);
  for (int i = 0; i < settings_.contact_iterations; ++i) joints_.push_out(bodies_, h);
}

void ImpulseStepper::advance_positions(StepFrame& frame, double h)
{
  bodies_.advance_positions(frame.model, frame.state, h);
  late_rebounds();
  joints_.finish_sub_step();
}

void ImpulseStepper::finish(StepFrame& frame)
{
  bodies_.store(frame.state);
  joints_.store(frame.state);
  for (const ImpulsePatch& patch : patches_) {
    model::ContactPatch& contact = frame.state.patches[static_cast<std::size_t>(patch.source)];
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      const ImpulsePoint& point = patch.points[i];
      contact.points[i].normal_impulse = std::max(0.0, point.impulse);
      contact.points[i].warm_impulse = std::max(0.0, patch.n.dot(point.resting));
      contact.points[i].normal_speed = point.speed;
      contact.points[i].wanted_speed = 0;
      contact.points[i].bounced = point.bounced;
    }
    contact.friction_impulse = patch.friction_total;
    contact.warm_friction.setZero();
    contact.warm_rolling.setZero();
    contact.warm_twist = 0;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Pairs and their order

void ImpulseStepper::gather_pairs(const StepFrame& frame)
{
  patches_.clear();
  pairs_.clear();
  changes_.assign(bodies_.all().size(), 0);
  patches_.reserve(frame.order.size());
  for (const std::int32_t source : frame.order) {
    const model::ContactPatch& contact = frame.state.patches[static_cast<std::size_t>(source)];
    const model::Surface& surface = frame.surfaces[static_cast<std::size_t>(source)];
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
    patch.acceleration = patch.n.dot(B.acceleration - A.acceleration);
    const Vec3& xa = frame.state.bodies[static_cast<std::size_t>(contact.a)].X_wb.position;
    const Vec3& xb = frame.state.bodies[static_cast<std::size_t>(contact.b)].X_wb.position;
    if (pairs_.empty() || pairs_.back().a != contact.a || pairs_.back().b != contact.b)
      pairs_.push_back({contact.a, contact.b, 1, patches_.size() - 1, patches_.size(), 0});
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
      point.wanted = kick_speed(from.wanted_speed, frame.h * std::max(0.0, -patch.acceleration));
      point.speed = speed_along(pairs_.back(), patch, point);
    }
  }
}

// Contacts are treated level by level from the ground up [section 8.1]; see support_graph.h.
void ImpulseStepper::order_pairs(const StepFrame& frame)
{
  std::int32_t count = 2;
  levels_.assign(frame.model.bodies.size(), 1);
  if (settings_.contact_graph) {
    SupportGraph graph = build_support_graph(frame.model, frame.state, frame.h);
    levels_.swap(graph.level);
    count = graph.levels;
  }
  for (ImpulsePair& pair : pairs_) {
    pair.level =
        std::max(levels_[static_cast<std::size_t>(pair.a)], levels_[static_cast<std::size_t>(pair.b)]);
  }
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const ImpulsePair& p, const ImpulsePair& q) { return p.level < q.level; });
  level_begin_.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const ImpulsePair& pair : pairs_) ++level_begin_[static_cast<std::size_t>(pair.level) + 1];
  for (std::size_t i = 1; i < level_begin_.size(); ++i) level_begin_[i] += level_begin_[i - 1];
  for (auto& bodies : on_level_) bodies.clear();
  on_level_.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < levels_.size(); ++i)
    on_level_[static_cast<std::size_t>(levels_[i])].push_back(static_cast<std::int32_t>(i));
}

// ---------------------------------------------------------------------------------------------------------------------
// What collision and contact share

bool ImpulseStepper::yields(const ImpulsePair& pair)
{
  return bodies_[pair.a].inverse_mass > 0 || bodies_[pair.b].inverse_mass > 0;
}

double ImpulseStepper::speed_along(const ImpulsePair& pair, const ImpulsePatch& patch,
                                   const ImpulsePoint& point)
{
  const SolverBody& A = bodies_[pair.a];
  const SolverBody& B = bodies_[pair.b];
  return patch.n.dot(B.v - A.v) + point.rb_n.dot(B.w) - point.ra_n.dot(A.w);
}

// The deepest listed point of the pair [section 5]. Points of its patch that are as deep, to `same_depth`, come with it
// and form one place in their middle: a flat face has no deepest point, and taking its corners one after the other
// would set a box that falls flat spinning.
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

// Where the load of a patch acted in the step before is the best place to act on it now: a box at rest on a slope is
// held by one impulse there, where its corners, pushed one after the other and never taken back, would make it hop.
// What a corner must add in this step moves the place for the next.
void ImpulseStepper::share_by_load(Choice& choice)
{
  // What is taken back is taken in proportion to what was given, so that no point is left pulling.
  const auto load_of = [&](const ImpulsePoint& point) {
    return point.pulls ? std::max(0.0, choice.patch->n.dot(point.resting)) : point.weight;
  };
  double sum = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (choice.taken[i]) sum += load_of(choice.patch->points[i]);
  if (!(sum > 0)) return;
  for (std::size_t i = 0; i < 4; ++i)
    choice.share[i] = choice.taken[i] ? load_of(choice.patch->points[i]) / sum : 0.0;
}

// One impulse at the place, after which it separates at `speed`.
void ImpulseStepper::give_impulse(const ImpulsePair& pair, const Choice& choice, double speed, bool resting)
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
  const Mat3 K = yielding(A, B, place);
  const Vec3 u = relative_velocity(A, B, place);
  PointImpulse impulse;
  if (resting) {
    // The sum over this phase obeys the laws: of the points taken, and for turning of the whole patch.
    Vec3 given = Vec3::Zero();
    double pressure = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      if (choice.taken[i]) given += patch.points[i].resting;
      pressure += patch.n.dot(patch.points[i].resting);
    }
    impulse = sticking_or_sliding_in_sum(K, u, place.n, speed, friction.sliding, given);
    add_rolling_and_spinning(A, B, place, K, friction, std::max(0.0, pressure + impulse.normal),
                             patch.turning, impulse);
    patch.turning += impulse.angular;
  } else {
    impulse = sticking_or_sliding(K, u, place.n, speed, friction.sliding);
    add_rolling_and_spinning(A, B, place, K, friction, impulse.normal, Vec3::Zero(), impulse);
  }
  apply_impulse(A, B, place, impulse);
  note_change(pair);
  patch.friction_total += impulse.linear - patch.n.dot(impulse.linear) * patch.n;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!choice.taken[i]) continue;
    patch.points[i].impulse += choice.share[i] * patch.n.dot(impulse.linear);
    if (resting) patch.points[i].resting += choice.share[i] * impulse.linear;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Collision [section 5]

// Rounds over all pairs, since an impact can drive a body into the next one. A round in which nothing happens is the
// last.
void ImpulseStepper::collision_phase(double h, bool before_velocities)
{
  for (int i = 0; i < settings_.collision_iterations; ++i) {
    bool any = false;
    for (const ImpulsePair& pair : pairs_) {
      list_interfering_points(pair, h, before_velocities);
      any = collide_pair(pair) || any;
    }
    if (!any) return;
  }
}

// Interference is looked for at the predicted position x + h (v + h g), which contact will look at as well, so that
// nothing that collides is taken for resting [section 4].
void ImpulseStepper::list_interfering_points(const ImpulsePair& pair, double h, bool before_velocities)
{
  for (std::size_t p = pair.begin; p < pair.end; ++p) {
    ImpulsePatch& patch = patches_[p];
    const double gained = before_velocities ? h * patch.acceleration : 0.0;
    for (ImpulsePoint& point : patch.active()) {
      const double u = speed_along(pair, patch, point);
      point.depth = -(point.gap + h * (u + gained));
      point.listed = point.depth > 0 && u < -settled_ && point.late == 0;
      point.pulls = false;
    }
  }
}

// The list of interfering points is made once. The deepest gets its impulse, points that now separate are taken off,
// and so on until the list is empty: the bodies are not moved again in between [section 5, the aggressive variant].
bool ImpulseStepper::collide_pair(const ImpulsePair& pair)
{
  bool any = false;
  if (!yields(pair)) return false;
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
    const double square = rebound_square(u, patch.restitution, gap, patch.acceleration);
    const bool later = settings_.close_gaps && square < 0;
    if (!later) give_impulse(pair, choice, std::sqrt(std::max(0.0, square)), false);
    any = any || !later;
    for (std::size_t i = 0; i < 4; ++i) {
      if (!choice.taken[i]) continue;
      ImpulsePoint& point = patch.points[i];
      point.bounced = patch.restitution > 0;
      if (!later) continue;
      const double a = std::max(0.0, -patch.acceleration);
      point.late = patch.restitution * std::sqrt(u * u + 2 * a * std::max(0.0, gap));
      point.listed = false;
    }
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      for (ImpulsePoint& point : patches_[p].active())
        point.listed = point.listed && speed_along(pair, patches_[p], point) < -settled_;
    }
  }
  return any;
}

// Impacts whose rebound stays below where the body was at the start of the step: contact has let it come to the surface,
// and from there it leaves with e v_c.
void ImpulseStepper::late_rebounds()
{
  for (int i = 0; i < settings_.collision_iterations; ++i) {
    bool any = false;
    for (const ImpulsePair& pair : pairs_) {
      for (int k = 0; k < settings_.pair_iterations && yields(pair); ++k) {
        for (std::size_t p = pair.begin; p < pair.end; ++p) {
          for (ImpulsePoint& point : patches_[p].active()) {
            const double u = speed_along(pair, patches_[p], point);
            point.depth = point.late - u;
            point.pulls = false;
            point.listed = point.late > 0 && point.impulse > 0 && u < 0;
          }
        }
        const Choice choice = deepest_place(pair, std::numeric_limits<double>::infinity());
        if (choice.count == 0) break;
        double speed = 0;
        for (std::size_t c = 0; c < 4; ++c)
          if (choice.taken[c]) speed += choice.patch->points[c].late / choice.count;
        give_impulse(pair, choice, speed, false);
        any = true;
      }
    }
    if (!any) return;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Contact [section 7]

void ImpulseStepper::contact_pass(double h, double kept)
{
  for (const ImpulsePair& pair : pairs_) settle_pair(pair, h, kept, settings_.pair_iterations);
}

// The deepest point that is not separating first, at positions x + h v predicted anew after each impulse. `kept` is minus
// the restitution: the share of its approach that a point keeps in this pass.
//
// Where we leave the paper: a point with a gap may approach at gap / h, which just closes it. The paper stops it where it
// is, up to h^2 g above the ground (3 mm at 1/60 s), and there it stays.
bool ImpulseStepper::settle_pair(const ImpulsePair& pair, double h, double kept, int iterations)
{
  if (!yields(pair)) return false;
  // What each point may do in this pass.
  for (std::size_t p = pair.begin; p < pair.end; ++p) {
    for (ImpulsePoint& point : patches_[p].active()) {
      const double u = speed_along(pair, patches_[p], point);
      double least = settings_.close_gaps ? -std::max(0.0, point.gap) / h : 0.0;
      if (point.wanted > 0) least = point.wanted;
      const bool pushed = patches_[p].n.dot(point.resting) > 0;
      point.target = u < least || pushed ? least + kept * (u - least) : least;
      point.slack = settled_;
      if (kept > 0) point.slack = std::max(settled_, kPassAccuracy * std::abs(u - point.target));
    }
  }
  bool any = false;
  const bool one_patch = settings_.patch_at_once && pair.end - pair.begin == 1;
  for (int k = 0; k < iterations; ++k) {
    if (one_patch) {
      const AtOnce outcome = settle_at_once(pair, patches_[pair.begin], h);
      if (outcome != AtOnce::not_possible) return any || outcome == AtOnce::done;
    }
    bool some = false;
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      for (ImpulsePoint& point : patches_[p].active()) {
        const double u = speed_along(pair, patches_[p], point);
        const bool interferes = point.gap + h * u < 0 || point.wanted > 0;
        const bool too_fast = u > point.target + point.slack && patches_[p].n.dot(point.resting) > 0;
        point.depth = std::abs(h * (point.target - u));
        point.pulls = too_fast;
        point.listed = (u < point.target - point.slack && interferes) || too_fast;
        some = some || point.listed;
      }
    }
    if (!some) break;
    Choice choice = deepest_place(pair, std::numeric_limits<double>::infinity());
    share_by_load(choice);
    double speed = 0;
    for (std::size_t i = 0; i < 4; ++i)
      if (choice.taken[i]) speed += choice.share[i] * choice.patch->points[i].target;
    give_impulse(pair, choice, speed, true);
    any = true;
  }
  return any;
}

// Middle and axes of a patch and the moments of its points. False: they do not span a face.
bool ImpulseStepper::find_flat_frame(ImpulsePatch& patch)
{
  if (patch.count < 3) return false;
  FlatFrame& flat = patch.flat;
  flat.place.n = patch.n;
  for (const ImpulsePoint& point : patch.active()) {
    flat.place.ra += point.ra / patch.count;
    flat.place.rb += point.rb / patch.count;
  }
  flat.t1 = (patch.points[0].rb - flat.place.rb).normalized();
  flat.t2 = patch.n.cross(flat.t1);
  Mat3 moments = Mat3::Zero();
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    const Vec3 d = patch.points[i].rb - flat.place.rb;
    flat.at[i] = {1, flat.t1.dot(d), flat.t2.dot(d)};
    moments += flat.at[i] * flat.at[i].transpose();
    flat.arm += d.norm() / patch.count;
  }
  if (!(moments(2, 2) > kFlatPatch * moments(1, 1))) return false;
  flat.inverse_moments = moments.inverse();
  return true;
}

// How the two bodies answer at the middle of the patch, kept as long as the same ones yield.
void ImpulseStepper::find_flat_answer(const SolverBody& A, const SolverBody& B, FlatFrame& flat)
{
  const int yields = (A.inverse_mass > 0 ? 1 : 0) + (B.inverse_mass > 0 ? 2 : 0);
  if (flat.yields == yields) return;
  flat.yields = yields;
  flat.K_inverse = yielding(A, B, flat.place).inverse();
  flat.L = -(base::skew(flat.place.ra) * A.inverse_inertia + base::skew(flat.place.rb) * B.inverse_inertia);
  const Mat3 S = A.inverse_inertia + B.inverse_inertia - flat.L.transpose() * flat.K_inverse * flat.L;
  flat.S_inverse = S.inverse();
}

// A flat patch that rests needs no going round its points: the impulse (j, tau) at its middle that brings it to the
// speeds asked for and stops all slip and twist solves
//
//     K j + L tau = speed n - u,        L^T j + (Ia^-1 + Ib^-1) tau = w* - w                  (L as in point_impulse.cpp)
//
// where the plane speed + d . (n x w*) fits the targets of the points at d from the middle. It stands when it can be
// shared out among the points, sum l_i = j.n and sum l_i d_i x n = tau across n (the least l serves), so that each has
// been pushed in sum and friction holds. Otherwise nothing changes and the points are taken one by one, as in the paper.
ImpulseStepper::AtOnce ImpulseStepper::settle_at_once(const ImpulsePair& pair, ImpulsePatch& patch, double h)
{
  FlatFrame& flat = patch.flat;
  if (flat.fit == FlatFrame::Fit::unknown)
    flat.fit = find_flat_frame(patch) ? FlatFrame::Fit::flat : FlatFrame::Fit::not_flat;
  if (flat.fit == FlatFrame::Fit::not_flat) return AtOnce::not_possible;
  const ContactPlace& place = flat.place;
  const std::array<Vec3, 4>& at = flat.at;
  const Vec3& t1 = flat.t1;
  const Vec3& t2 = flat.t2;
  bool settled = true;
  Vec3 given = Vec3::Zero();
  Vec3 fit = Vec3::Zero();
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    const ImpulsePoint& point = patch.points[i];
    const double u = speed_along(pair, patch, point);
    const bool takes_part = point.gap + h * u < 0 || patch.n.dot(point.resting) > 0;
    if (!takes_part || point.wanted > 0) return AtOnce::not_possible;
    settled = settled && std::abs(u - point.target) <= point.slack;
    given += point.resting;
    fit += point.target * at[i];
  }
  fit = flat.inverse_moments * fit;

  SolverBody& A = bodies_[pair.a];
  SolverBody& B = bodies_[pair.b];
  const Vec3 du = fit[0] * patch.n - relative_velocity(A, B, place);
  const Vec3 dw = (fit[1] * t1 + fit[2] * t2).cross(patch.n) - (B.w - A.w);
  const double slip = (du - patch.n.dot(du) * patch.n).norm() + flat.arm * std::abs(patch.n.dot(dw));
  if (settled && slip <= patch.points[0].slack) return AtOnce::settled;

  find_flat_answer(A, B, flat);
  PointImpulse impulse;
  impulse.angular = flat.S_inverse * (dw - flat.L.transpose() * (flat.K_inverse * du));
  impulse.linear = flat.K_inverse * (du - flat.L * impulse.angular);
  impulse.normal = patch.n.dot(impulse.linear);

  // Shares of the points, and the bounds.
  const Vec3 load =
      flat.inverse_moments * Vec3(impulse.normal, -t2.dot(impulse.angular), t1.dot(impulse.angular));
  std::array<double, 4> sum{};
  double pressure = 0;
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    sum[i] = patch.n.dot(patch.points[i].resting) + at[i].dot(load);
    if (!(sum[i] >= 0)) return AtOnce::not_possible;
    pressure += sum[i];
  }
  const Vec3 total = given + impulse.linear;
  const Vec3 across = total - patch.n.dot(total) * patch.n;
  const double twist = patch.n.dot(impulse.angular);
  const double most_twist = (patch.friction.sliding * flat.arm + patch.friction.spinning) * pressure;
  if (!(pressure > 0) || across.norm() > patch.friction.sliding * pressure ||
      std::abs(patch.n.dot(patch.turning) + twist) > most_twist)
    return AtOnce::not_possible;
  apply_impulse(A, B, place, impulse);
  note_change(pair);
  patch.turning += twist * patch.n;
  patch.friction_total += impulse.linear - impulse.normal * patch.n;
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    ImpulsePoint& point = patch.points[i];
    point.impulse += sum[i] - patch.n.dot(point.resting);
    point.resting = sum[i] * patch.n + (sum[i] / pressure) * across;
  }
  return AtOnce::done;
}

// A last sweep from the ground up [section 8.2]. When a level has been settled its bodies are given infinite mass and
// keep it until the sweep is over: what comes to rest on them cannot push them back down, so one sweep carries support
// to the top of a stack of any height and any masses.
void ImpulseStepper::shock_propagation(double h)
{
  const std::span<SolverBody> all = bodies_.all();
  yield_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) yield_[i] = {all[i].inverse_mass, all[i].inverse_inertia};
  const bool jointed = !joints_.rows().empty();
  for (std::size_t level = 1; level + 1 < level_begin_.size(); ++level) {
    for (int k = 0; k < settings_.shock_level_iterations; ++k) {
      if (jointed) joints_.sweep(bodies_, h);
      bool any = jointed;
      for (std::size_t i = level_begin_[level]; i < level_begin_[level + 1]; ++i) {
        // A pair that was settled in the round before, and whose bodies got no impulse since, still is.
        ImpulsePair& pair = pairs_[i];
        if (k > 0 && !jointed && pair.settled_at == changes_of(pair) + 1) continue;
        const bool changed = settle_pair(pair, h, 0.0, settings_.shock_pair_iterations);
        pair.settled_at = changed ? 0 : changes_of(pair) + 1;
        any = any || changed;
      }
      if (!any) break;
    }
    hold_level(static_cast<std::int32_t>(level), h);
  }
  release_all();
}

// Where we leave the paper: only what rests is held. A moving body of endless mass gives energy away: a capsule between a
// ball that rolled off and a box that fell was spun up, and the pile gained 0.2 % of its energy in a step.
void ImpulseStepper::hold_level(std::int32_t level, double h)
{
  for (const std::int32_t body : on_level_[static_cast<std::size_t>(level)]) {
    if (!rests(bodies_[body], h)) continue;
    bodies_[body].inverse_mass = 0;
    bodies_[body].inverse_inertia.setZero();
  }
}

void ImpulseStepper::release_all()
{
  const std::span<SolverBody> all = bodies_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].inverse_mass = yield_[i].inverse_mass;
    all[i].inverse_inertia = yield_[i].inverse_inertia;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Positions

// x += h v with the new v is off by h v / 2 t after a time t of steady sliding: 0.8 % after 2 s at 1/60 s. A body that
// nothing touched follows its parabola (SolverBodies::advance_positions); one whose contacts were closed when the step
// began moves with the mean of the velocities before and after, which is exact for steady forces and makes the work of
// gravity equal to the change of potential energy. One that is just landing moves with the new velocity, which is the
// one that contact made harmless.
void ImpulseStepper::use_mean_velocities(double h)
{
  std::vector<bool> steady(bodies_.all().size(), settings_.mean_velocity);
  // A joint binds as a contact does; its rows are written for x += h v.
  for (const JointRow& row : joints_.rows()) {
    bodies_[row.a].touched = bodies_[row.b].touched = true;
    steady[static_cast<std::size_t>(row.a)] = steady[static_cast<std::size_t>(row.b)] = false;
  }
  for (const ImpulsePair& pair : pairs_) {
    for (std::size_t p = pair.begin; p < pair.end; ++p) {
      for (const ImpulsePoint& point : patches_[p].active()) {
        const Vec3& n = patches_[p].n;
        const SolverBody& A = before_[static_cast<std::size_t>(pair.a)];
        const SolverBody& B = before_[static_cast<std::size_t>(pair.b)];
        if (n.dot(point.resting) > 0) {
          bodies_[pair.a].touched = true;
          bodies_[pair.b].touched = true;
        }
        const double u0 = n.dot(B.v - A.v) + point.rb_n.dot(B.w) - point.ra_n.dot(A.w);
        const double u1 = speed_along(pair, patches_[p], point);
        const double gap_mean = point.gap + 0.5 * h * (u0 + u1);
        const double gap_new = point.gap + h * u1;
        if (gap_mean >= std::min(0.0, gap_new) - kSteadyOverlap * length_scale_) continue;
        steady[static_cast<std::size_t>(pair.a)] = false;
        steady[static_cast<std::size_t>(pair.b)] = false;
      }
    }
  }
  const std::span<SolverBody> all = bodies_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].touched || !steady[i] || all[i].inverse_mass == 0) continue;
    // What rests is better off with the new velocity, which contact has just brought to rest.
    if (all[i].v.norm() < kMoving * h * all[i].acceleration.norm()) continue;
    all[i].push_v -= 0.5 * (all[i].v - before_[i].v);
  }
}

// Overlap that is left, or was there from the start, is removed by moving the bodies apart from the ground up, those
// below held, with velocities that are not kept. The paper leaves overlap to its contact impulses; without this
// a tower sinks into itself by what each step leaves over.
void ImpulseStepper::push_out(double h)
{
  const std::span<SolverBody> all = bodies_.all();
  yield_.resize(all.size());
  mean_push_.resize(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    yield_[i] = {all[i].inverse_mass, all[i].inverse_inertia};
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
          point.target = pushed + std::min(settings_.push_out_share * wanted / h,
                                           settings_.push_out_speed * length_scale_);
        }
      }
    }
    for (int k = 0; k < settings_.shock_level_iterations; ++k) {
      for (const ImpulsePair& pair : pairs) {
        if (!yields(pair)) continue;
        for (std::size_t p = pair.begin; p < pair.end; ++p) push_patch_out(pair, patches_[p], h);
      }
    }
    if (settings_.contact_graph) hold_level(static_cast<std::int32_t>(level), h);
  }
  release_all();
  for (std::size_t i = 0; i < all.size(); ++i) pay_for_climb(all[i], all[i].push_v - mean_push_[i], h);
}

void ImpulseStepper::push_patch_out(const ImpulsePair& pair, ImpulsePatch& patch, double)
{
  SolverBody& A = bodies_[pair.a];
  SolverBody& B = bodies_[pair.b];
  for (int sweep = 0; sweep < kPushSweeps; ++sweep) {
    bool any = false;
    for (const ImpulsePoint& point : patch.active()) {
      if (!point.listed) continue;
      const double u = patch.n.dot(B.push_v - A.push_v) + point.rb_n.dot(B.push_w) - point.ra_n.dot(A.push_w);
      if (u >= point.target) continue;
      const double answer = A.inverse_mass + B.inverse_mass + point.ra_n.dot(A.inverse_inertia * point.ra_n) +
                            point.rb_n.dot(B.inverse_inertia * point.rb_n);
      const double j = (point.target - u) / answer;
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
