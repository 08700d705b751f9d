// SPDX-License-Identifier: MIT
// Which bodies may meet within a step, and into how many slices it is cut for them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/rigid/stepper.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Growth of the boxes that queries look at, as a share of the radius, so that rounding loses no touch.
constexpr double kQueryMargin = 1e-6;

/// The impulse stepper tests contacts where gravity would take bodies within the slice: by no more than this
/// many of their least extents. A house of cards of 1.5 mm fell at 1/30 s, where it is 7 of them.
constexpr double kMaxGravityMove = 2;

/// Two meshes may move against each other by this many times the safe move of one with the constraint
/// stepper: what is struck within a slice finds its contacts there (world_struck.cpp). 500 rings that fall up
/// to 15 m overlap by 6 to 12 mm on the way (five seeds), as without it; with twice the safe move of all
/// meshes it was 21 mm. A mesh that rolls on a plane, and the impulse stepper, need the shorter slices.
constexpr double kMeshPairMove = 1.5;

// How far its spin takes the points of a body in a step, along each axis [m]. Contacts are looked for within
// the largest margin of the narrow phase and no farther.
Vec3 rotation_sweep(const collision::PreparedShape& shape, const Vec3& w, double h, double max_margin)
{
  if (shape.kind == model::ShapeKind::sphere) return Vec3::Zero();
  const Vec3 squares = w.cwiseAbs2();
  const Vec3 across(std::sqrt(squares.y() + squares.z()), std::sqrt(squares.z() + squares.x()),
                    std::sqrt(squares.x() + squares.y()));
  return (h * shape.radius * across).cwiseMin(max_margin * shape.min_extent);
}

// Whether a box comes as near as `reach` [m] to a plane, whose own axes have z as its normal.
bool reaches_plane(const Box3& box, const Pose& X_ws, double reach)
{
  const Vec3 n = X_ws.direction(Vec3::UnitZ());
  const double half = 0.5 * box.sizes().dot(n.cwiseAbs());
  return n.dot(box.center() - X_ws.position) <= half + reach;
}

}  // namespace

// Holds the body now and wherever it is going to be within h.
Box3 World::swept_box(std::size_t i, double h) const
{
  const model::BodyProperties& desc = model_.bodies[i];
  const model::BodyState& body = state_.bodies[i];
  const bool bends = !deflections_.empty() && deflections_[i].deformed != nullptr;
  const collision::PreparedShape& shape = bends ? *deflections_[i].deformed : prepared_[at(desc.shape)];
  double margin = shape.unbounded ? 0 : desc_.narrow_phase.margin * shape.min_extent;
  if (!deflections_.empty()) margin += deflections_[i].reach;
  Box3 box = collision::world_bounds(shape, X_ws_[i], margin);
  if (desc.motion == model::Motion::fixed || body.asleep || shape.unbounded) return box;
  const bool exact = desc_.time_of_impact > TimeOfImpactMethod::continuous;
  Vec3 acceleration = desc.gravity_scale * model_.gravity;
  if (exact && desc.motion == model::Motion::dynamic) acceleration += body.force / desc.mass;
  const Vec3 move = h * (body.velocity + h * acceleration);
  box.extend(Box3(box.min() + move, box.max() + move));
  // For impact times the box holds all of the way, with the height of its parabola.
  const double max_margin = exact ? std::numeric_limits<double>::infinity() : desc_.narrow_phase.max_margin;
  Vec3 sweep = rotation_sweep(shape, body.angular_velocity, h, max_margin);
  if (exact) sweep += 0.125 * h * h * acceleration.cwiseAbs();
  return {box.min() - sweep, box.max() + sweep};
}

void World::find_pairs(double h)
{
  const auto timer = times_.stage("find pairs");
  stepper_->find_deflections(model_, state_, prepared_, std::min(h, stepper_->max_slice()), deflections_);
  X_ws_.resize(model_.bodies.size());
  boxes_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    if (removed_[i] != 0) {
      boxes_[i].setEmpty();
      continue;
    }
    X_ws_[i] = state_.bodies[i].X_wb * model_.bodies[i].X_bs;
    boxes_[i] = swept_box(i, h);
    broad_phase_.update(static_cast<model::BodyIndex>(i), boxes_[i]);
  }
  // The broad phase looks at looser boxes.
  const std::span<const collision::BodyPair> loose = broad_phase_.find_pairs();
  near_pairs_.assign(loose.begin(), loose.end());
  remove_far_pairs();
}

// Queries look at these boxes, also while the response is called. Pairs are not changed by it: find_pairs()
// filters them by boxes of its own.
void World::update_box(model::BodyIndex index)
{
  const std::size_t i = at(index);
  const collision::PreparedShape& shape = prepared_[at(model_.bodies[i].shape)];
  const Pose X_ws = state_.bodies[i].X_wb * model_.bodies[i].X_bs;
  const double margin = shape.unbounded ? 0 : kQueryMargin * shape.radius;
  broad_phase_.update(index, collision::world_bounds(shape, X_ws, margin));
}

void World::update_moved_boxes()
{
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (model_.bodies[i].motion == model::Motion::fixed || state_.bodies[i].asleep) continue;
    update_box(static_cast<model::BodyIndex>(i));
  }
}

void World::refilter_pairs(double h)
{
  const auto timer = times_.stage("find pairs");
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    if (removed_[i] == 0) boxes_[i] = swept_box(i, h);
  }
  remove_far_pairs();
}

void World::remove_far_pairs()
{
  const auto shape_of = [&](std::size_t i) -> const collision::PreparedShape& {
    return prepared_[at(model_.bodies[i].shape)];
  };
  const auto deflection = [&](std::size_t i) {
    return deflections_.empty() ? 0.0 : deflections_[i].reach;
  };
  std::erase_if(near_pairs_, [&](const collision::BodyPair& pair) {
    const std::size_t a = at(pair.a);
    const std::size_t b = at(pair.b);
    if (shape_of(a).kind == model::ShapeKind::plane)
      return !reaches_plane(boxes_[b], X_ws_[a], deflection(a));
    if (shape_of(b).kind == model::ShapeKind::plane)
      return !reaches_plane(boxes_[a], X_ws_[b], deflection(b));
    return !boxes_[a].intersects(boxes_[b]);
  });
}

// A body may move at most by its safe move against those that it may meet, and turn at most so far, before
// contacts are found again [Guendelman03 limits its step likewise]. What falls together, or alone, needs no
// short steps.
double World::slices_needed(double h) const
{
  double required_slices = 0;
  const auto include_turn = [&](model::BodyIndex id) {
    const model::BodyState& body = state_.bodies[at(id)];
    const bool turns = model_.bodies[at(id)].motion != model::Motion::fixed && !body.asleep;
    if (turns) required_slices = std::max(required_slices, h * body.angular_velocity.norm() / desc_.max_turn);
  };
  const auto include_body = [&](model::BodyIndex id, model::BodyIndex other) {
    const std::size_t i = at(id);
    const model::BodyProperties& desc = model_.bodies[i];
    const model::BodyState& body = state_.bodies[i];
    if (desc.motion == model::Motion::fixed || body.asleep) return;
    const collision::PreparedShape& shape = prepared_[at(desc.shape)];
    if (shape.unbounded) return;
    const Vec3 relative = body.velocity - state_.bodies[at(other)].velocity;
    const double speed = std::sqrt(std::min(body.velocity.squaredNorm(), relative.squaredNorm()));
    const bool are_meshes = shape.kind == model::ShapeKind::mesh &&
                            prepared_[at(model_.bodies[at(other)].shape)].kind == model::ShapeKind::mesh;
    const bool may_move_more = are_meshes && desc_.stepper == StepperKind::constraint;
    const double safe_move = (may_move_more ? kMeshPairMove : 1.0) * shape.safe_move;
    required_slices = std::max(required_slices, h * speed / (desc_.max_move * safe_move));
    if (desc_.stepper == StepperKind::impulse) {
      const double fall = h * h * std::abs(desc.gravity_scale) * model_.gravity.norm();
      required_slices = std::max(required_slices, std::sqrt(fall / (kMaxGravityMove * shape.min_extent)));
    }
    // A ball that turns stays where it is.
    if (shape.kind != model::ShapeKind::sphere) include_turn(id);
  };
  // Sensors, and bodies that pass through each other, may not change each other's motion by a shorter step.
  const auto is_sensor = [&](model::BodyIndex i) {
    return model_.bodies[at(i)].sensor;
  };
  for (const collision::BodyPair& pair : near_pairs_) {
    if (is_sensor(pair.a) || is_sensor(pair.b) || !collision::should_collide(model_, pair)) continue;
    include_body(pair.a, pair.b);
    include_body(pair.b, pair.a);
  }
  // A joint turns with its bodies, whether or not they meet anything.
  for (const model::Joint& joint : model_.joints) {
    for (const model::BodyIndex body : {joint.a, joint.b}) {
      if (body != model::kNone) include_turn(body);
    }
  }
  return std::max(1.0, std::ceil(required_slices));
}

}  // namespace thrum::sim
