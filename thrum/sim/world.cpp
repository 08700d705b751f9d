// SPDX-License-Identifier: MIT
// The step. docs/the-step.md explains each stage under the same name.
#include "thrum/sim/world.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "thrum/base/error.h"
#include "thrum/rigid/contact_graph.h"

namespace thrum::sim {

namespace {

/// Old and new contact points nearer than this share of the length scale can be the same point.
constexpr double kSamePlace = 0.02;

// How far its spin takes the points of a body in a step, along each axis [m]. Contacts are looked for within the greatest
// margin of the narrow phase and no farther.
Vec3 swing_of(const collision::PreparedShape& shape, const Vec3& w, double h, double greatest_margin)
{
  if (shape.kind == model::ShapeKind::sphere) return Vec3::Zero();
  const Vec3 across(std::hypot(w.y(), w.z()), std::hypot(w.z(), w.x()), std::hypot(w.x(), w.y()));
  return (h * shape.radius * across).cwiseMin(greatest_margin * shape.smallest_extent);
}

}  // namespace

void World::step(double h)
{
  if (!(h > 0) || !std::isfinite(h)) throw Error("The time step must be a positive number of seconds.");
  contacts_.clear();
  impulses_.clear();
  events_.clear();
  responses_.clear();
  dated_responses_ = 0;
  double left = h;
  for (int done = 0; left > 0; ++done) {
    if (done > 0) report();
    // What was struck in the last piece may need shorter ones for the rest.
    const int pieces = std::min(pieces_for(left), std::max(1, desc_.most_pieces - done));
    step_once(left / pieces);
    left = pieces > 1 ? left - left / pieces : 0;
  }
  if (on_contacts_) on_contacts_(contacts());
}

void World::step_once(double h)
{
  const auto timer = times_.stage("step");
  if (on_respond_) before_ = state_.bodies;
  find_pairs(h);
  find_contacts(h);
  order_contacts(h);
  rigid::StepFrame now = frame(h);
  const auto timed = [&](const char* name, auto&& stage) {
    const auto inner = times_.stage(name);
    stage();
  };
  timed("collide", [&] { stepper_->collide(now); });
  const int sub_steps = stepper_->sub_steps();
  const double h_s = h / sub_steps;
  for (int i = 0; i < sub_steps; ++i) {
    timed("advance velocities", [&] { stepper_->advance_velocities(now, h_s); });
    timed("resolve contacts", [&] { stepper_->resolve_contacts(now, h_s); });
    timed("advance positions", [&] { stepper_->advance_positions(now, h_s); });
  }
  timed("finish", [&] { stepper_->finish(now); });
  respond(h);
  record(h);
}

// A body may move at most by its safe move, and turn at most so far, before contacts are found again [Guendelman03 limits its
// step likewise].
int World::pieces_for(double h) const
{
  double most = 0;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    const model::BodyDesc& desc = model_.bodies[i];
    if (desc.motion == model::Motion::fixed || state_.bodies[i].asleep) continue;
    const collision::PreparedShape& shape = prepared_[static_cast<std::size_t>(desc.shape)];
    if (shape.unbounded) continue;
    most = std::max(most, h * state_.bodies[i].velocity.norm() / (desc_.greatest_move * shape.safe_move));
    // A ball that turns stays where it is.
    if (shape.kind != model::ShapeKind::sphere)
      most = std::max(most, h * state_.bodies[i].angular_velocity.norm() / desc_.greatest_turn);
  }
  return static_cast<int>(std::clamp(std::ceil(most), 1.0, static_cast<double>(desc_.most_pieces)));
}

void World::find_pairs(double h)
{
  const auto timer = times_.stage("find pairs");
  X_ws_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const model::BodyDesc& desc = model_.bodies[i];
    const model::BodyState& body = state_.bodies[i];
    X_ws_[i] = body.X_wb * desc.X_bs;
    const collision::PreparedShape& shape = prepared_[static_cast<std::size_t>(desc.shape)];
    // The box holds the body now and where it is going to be.
    const double margin = shape.unbounded ? 0 : desc_.narrow_phase.margin * shape.smallest_extent;
    Box3 box = collision::world_bounds(shape, X_ws_[i], margin);
    if (desc.motion != model::Motion::fixed && !body.asleep && !shape.unbounded) {
      const Vec3 move = h * (body.velocity + h * model_.gravity);
      box.extend(Box3(box.min() + move, box.max() + move));
      const Vec3 swing = swing_of(shape, body.angular_velocity, h, desc_.narrow_phase.greatest_margin);
      box = Box3(box.min() - swing, box.max() + swing);
    }
    broad_phase_.update(static_cast<model::BodyId>(i), box);
  }
  pairs_ = broad_phase_.find_pairs();
}

void World::find_contacts(double h)
{
  const auto timer = times_.stage("find contacts");
  fresh_.clear();
  collision::NarrowPhaseDesc desc = desc_.narrow_phase;
  desc.step = h;
  collision::find_contacts(
      {model_, state_, prepared_, X_ws_, pairs_, jointed_, collision::default_pair_table()}, desc, fresh_);
  collision::match_contacts(state_.patches, kSamePlace * model_.length_scale, fresh_);
  // Impulses to start from were those of the last step's length.
  if (state_.last_step > 0 && state_.last_step != h)
    collision::scale_warm_impulses(fresh_, h / state_.last_step);
  previous_.swap(state_.patches);
  state_.patches.swap(fresh_);
}

void World::order_contacts(double h)
{
  const auto timer = times_.stage("order contacts");
  if (desc_.sleep.enabled) rigid::wake_islands(model_, state_);
  levels_.clear();
  order_.clear();
  if (stepper_->wants_contact_graph()) {
    rigid::ContactGraph graph = rigid::build_contact_graph(model_, state_, h);
    order_.swap(graph.patch_order);
    levels_.swap(graph.level);
  } else {
    order_.resize(state_.patches.size());
    std::iota(order_.begin(), order_.end(), 0);
  }
  // Patches of sleepers wait.
  const auto awake = [&](model::BodyId id) {
    return model_.bodies[static_cast<std::size_t>(id)].motion == model::Motion::dynamic && !body(id).asleep;
  };
  std::erase_if(order_, [&](std::int32_t p) {
    const model::ContactPatch& patch = state_.patches[static_cast<std::size_t>(p)];
    return !awake(patch.a) && !awake(patch.b);
  });
  // The coefficients of each pair: the scene's table, or the smaller of the two.
  surfaces_.resize(state_.patches.size());
  for (std::size_t p = 0; p < state_.patches.size(); ++p) {
    const model::SurfaceId a = model_.bodies[static_cast<std::size_t>(state_.patches[p].a)].surface;
    const model::SurfaceId b = model_.bodies[static_cast<std::size_t>(state_.patches[p].b)].surface;
    const auto listed = std::find_if(
        model_.surface_pairs.begin(), model_.surface_pairs.end(),
        [&](const auto& pair) { return (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a); });
    surfaces_[p] = listed != model_.surface_pairs.end()
                       ? listed->values
                       : model::smaller_of(model_.surfaces[static_cast<std::size_t>(a)],
                                           model_.surfaces[static_cast<std::size_t>(b)]);
  }
}

rigid::StepFrame World::frame(double h)
{
  return {model_, state_, order_, surfaces_, levels_, prepared_, pairs_, h};
}

void World::respond(double h)
{
  if (!on_respond_) return;
  const auto timer = times_.stage("respond");
  on_respond_(*this, state_, h);
}

void World::record(double h)
{
  const auto timer = times_.stage("record");
  state_.time += h;
  state_.last_step = h;
  ++state_.step;
  reported_ = false;
  for (; dated_responses_ < responses_.size(); ++dated_responses_) {
    responses_[dated_responses_].step = state_.step;
    responses_[dated_responses_].time = state_.time;
  }
  rigid::sleep_islands(model_, state_, desc_.sleep, h);
}

}  // namespace thrum::sim
