// SPDX-License-Identifier: MIT
// The points of the paper [Guendelman03, sections 3 to 5 and 8.1]: at each visit of a pair its bodies are
// moved to the positions predicted from their velocities, and every vertex and edge of one inside the other
// is a point of its own, with the gradient of the other's distance as its normal. The contact graph is made
// of what each body runs into when it alone is moved.
//
// The patches of the state, found with a reach, say which pairs to look at and get the impulses of the
// points near them, so that reports and events are the same for both kinds of points.
#include <algorithm>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/rigid/impulse_stepper.h"
#include "thrum/rigid/support_graph.h"

namespace thrum::rigid {

namespace {

const collision::PreparedShape& shape_of(const StepFrame& frame, model::BodyIndex body)
{
  return frame.shapes[at(frame.model.bodies[at(body)].shape)];
}

// Where a body is after a step h with the velocities v and w.
Pose predicted_pose(const Pose& X_wb, const Vec3& v, const Vec3& w, double h)
{
  return {X_wb.position + h * v, advance_rotation(X_wb.rotation, w, h)};
}

}  // namespace

void ImpulseStepper::mark_sampled_pairs(const StepFrame& frame)
{
  found_patches_ = patches_.size();
  for (ImpulsePair& pair : pairs_) {
    pair.is_sampled = settings_.contact_points == ContactPoints::paper &&
                      collision::has_interfering_points(shape_of(frame, pair.a), shape_of(frame, pair.b));
    if (!pair.is_sampled) continue;
    pair.found_begin = pair.begin;
    pair.found_end = pair.end;
    pair.begin = pair.end = found_patches_;
  }
}

void ImpulseStepper::clear_samples()
{
  if (settings_.contact_points != ContactPoints::paper) return;
  for (ImpulsePair& pair : pairs_) {
    if (pair.is_sampled) store_sampled_impulses(pair);
  }
  patches_.resize(found_patches_);
}

// Points at x + h v, or x + h (v + h a) before the velocities are advanced. Both bodies feel an impulse at
// the same place, which is the mean of where it is on either now.
void ImpulseStepper::sample_pair(const StepFrame& frame, ImpulsePair& pair, double h, bool before_velocities)
{
  if (!pair.is_sampled) return;
  store_sampled_impulses(pair);
  const auto velocity = [&](model::BodyIndex body) {
    const SolverBody& B = bodies_[body];
    return Vec3(before_velocities && B.moves ? Vec3(B.v + h * B.acceleration) : B.v);
  };
  const auto place = [&](model::BodyIndex body, Pose& X_wb) {
    X_wb = predicted_pose(frame.state.bodies[at(body)].X_wb, velocity(body), bodies_[body].w, h);
    return X_wb * frame.model.bodies[at(body)].X_bs;
  };
  Pose X_wa;
  Pose X_wb;
  const Pose X_ws_a = place(pair.a, X_wa);
  const Pose X_ws_b = place(pair.b, X_wb);
  const auto& points = finder_.find(shape_of(frame, pair.a), X_ws_a, shape_of(frame, pair.b), X_ws_b);
  const Pose& now_a = frame.state.bodies[at(pair.a)].X_wb;
  const Pose& now_b = frame.state.bodies[at(pair.b)].X_wb;
  pair.begin = patches_.size();
  for (const collision::InterferingPoint& from : points) {
    ImpulsePatch& patch = patches_.emplace_back();
    const ImpulsePatch& like = patches_[pair.found_begin];
    patch.source = like.source;
    patch.restitution = like.restitution;
    patch.friction = like.friction;
    patch.n = from.normal;
    patch.count = 1;
    patch.acceleration = patch.n.dot(bodies_[pair.b].acceleration - bodies_[pair.a].acceleration);
    ImpulsePoint& point = patch.points[0];
    const Vec3 on_a = now_a.point(X_wa.point_to_local(from.position));
    const Vec3 on_b = now_b.point(X_wb.point_to_local(from.position));
    const Vec3 middle = 0.5 * (on_a + on_b);
    point.ra = middle - now_a.position;
    point.rb = middle - now_b.position;
    point.ra_n = point.ra.cross(patch.n);
    point.rb_n = point.rb.cross(patch.n);
    point.speed = speed_along(pair, patch, point);
    // So that gap + h (speed) is the depth found.
    point.gap = -from.depth - h * (point.speed + (before_velocities ? h * patch.acceleration : 0.0));
    ImpulsePatch* found = nullptr;
    point.requested_speed = nearest_found_point(pair, patch.n, point.rb, found)->requested_speed;
  }
  pair.end = patches_.size();
}

// The point of the state's patches that lies nearest, among those of the patch whose normal is most alike.
ImpulsePoint* ImpulseStepper::nearest_found_point(const ImpulsePair& pair, const Vec3& n, const Vec3& rb,
                                                  ImpulsePatch*& patch)
{
  double most_alike = -std::numeric_limits<double>::infinity();
  for (std::size_t p = pair.found_begin; p < pair.found_end; ++p) {
    const double alike = patches_[p].n.dot(n);
    if (alike <= most_alike) continue;
    most_alike = alike;
    patch = &patches_[p];
  }
  const std::span<ImpulsePoint> points = patch->active();
  return &*std::min_element(points.begin(), points.end(), [&](const ImpulsePoint& p, const ImpulsePoint& q) {
    return (p.rb - rb).squaredNorm() < (q.rb - rb).squaredNorm();
  });
}

// What the sampled points were given goes to the patches of the state.
void ImpulseStepper::store_sampled_impulses(ImpulsePair& pair)
{
  for (std::size_t p = pair.begin; p < pair.end; ++p) {
    const ImpulsePatch& sampled = patches_[p];
    const ImpulsePoint& from = sampled.points[0];
    if (from.impulse == 0 && from.contact_impulse.isZero(0)) continue;
    ImpulsePatch* patch = nullptr;
    ImpulsePoint* to = nearest_found_point(pair, sampled.n, from.rb, patch);
    to->impulse += from.impulse;
    to->contact_impulse += from.contact_impulse;
    to->bounced = to->bounced || from.bounced;
    patch->friction_total += sampled.friction_total;
    patch->contact_angular_impulse += sampled.contact_angular_impulse;
    if (from.contact_impulse.isZero(0)) continue;
    bodies_[pair.a].has_contact = true;
    bodies_[pair.b].has_contact = true;
  }
  pair.begin = pair.end = found_patches_;
}

// A body rests on those into which it runs when it alone is moved for a step. Pairs without sampled points
// keep the rule to first order (support_graph.h), which is where the frame's levels come from.
void ImpulseStepper::find_levels_from_samples(const StepFrame& frame, double h)
{
  if (settings_.contact_points != ContactPoints::paper) return;
  clear_samples();
  std::vector<SupportEdge> edges;
  const auto runs_into = [&](model::BodyIndex mover, model::BodyIndex other) {
    if (bodies_[mover].inverse_mass == 0) return false;
    const model::BodyState& body = frame.state.bodies[at(mover)];
    const Pose moved = predicted_pose(body.X_wb, bodies_[mover].v, bodies_[mover].w, h);
    return !finder_
                .find(shape_of(frame, mover), moved * frame.model.bodies[at(mover)].X_bs,
                      shape_of(frame, other),
                      frame.state.bodies[at(other)].X_wb * frame.model.bodies[at(other)].X_bs)
                .empty();
  };
  for (const ImpulsePair& pair : pairs_) {
    if (pair.is_sampled) {
      if (runs_into(pair.a, pair.b)) edges.push_back({pair.a, pair.b});
      if (runs_into(pair.b, pair.a)) edges.push_back({pair.b, pair.a});
    } else if (frame.levels[at(pair.a)] < frame.levels[at(pair.b)]) {
      edges.push_back({pair.b, pair.a});
    } else if (frame.levels[at(pair.b)] < frame.levels[at(pair.a)]) {
      edges.push_back({pair.a, pair.b});
    }
  }
  const SupportGraph graph = build_support_graph(frame.model, std::move(edges));
  order_pairs(graph.level, graph.levels);
}

}  // namespace thrum::rigid
