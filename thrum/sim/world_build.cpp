// SPDX-License-Identifier: MIT
// Building a world, acting on it, and saving it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/rigid/shape_mass.h"
#include "thrum/rigid/stepper.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// How far a given rotation may be from unit length.
constexpr double kUnitRotationTolerance = 1e-6;

void check_surface(const model::Surface& s)
{
  if (!(s.restitution >= 0 && s.restitution <= 1)) {
    throw Error(fmt::format("Restitution is {}, expected 0 to 1.", s.restitution));
  }
  for (const double value : {s.friction, s.rolling_friction, s.spinning_friction}) {
    if (!(value >= 0) || !std::isfinite(value))
      throw Error(fmt::format("A friction coefficient is {}, expected at least 0.", value));
  }
}

}  // namespace

std::unique_ptr<rigid::Stepper> make_stepper(const WorldDesc& desc)
{
  switch (desc.stepper) {
    case StepperKind::constraint:
      return rigid::make_constraint_stepper(desc.constraint);
    case StepperKind::impulse:
      return rigid::make_impulse_stepper(desc.impulse);
  }
  throw Error("The stepper of a world must be one of StepperKind.");
}

World::World(const WorldDesc& desc)
    : desc_(desc), broad_phase_(desc.broad_phase), stepper_(make_stepper(desc))
{
  model_.gravity = desc.gravity;
  model_.length_scale = desc.length_scale;
  state_.random_state = desc.seed;
  if (!(desc.length_scale > 0)) throw Error("The length scale of a world must be positive.");
}

World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

model::ShapeId World::add_shape(model::Shape shape)
{
  model_.shapes.push_back(std::move(shape));
  try {
    prepared_.push_back(collision::prepare(model_.shapes.back()));
  } catch (...) {
    model_.shapes.pop_back();
    throw;
  }
  for (std::size_t i = 0; i < prepared_.size(); ++i) prepared_[i].shape = &model_.shapes[i];
  return static_cast<model::ShapeId>(prepared_.size()) - 1;
}

model::SurfaceId World::add_surface(const model::Surface& surface)
{
  check_surface(surface);
  model_.surfaces.push_back(surface);
  return static_cast<model::SurfaceId>(model_.surfaces.size()) - 1;
}

void World::set_surface(model::SurfaceId id, const model::Surface& surface)
{
  check_surface(surface);
  model_.surfaces.at(static_cast<std::size_t>(id)) = surface;
}

void World::set_surface_pair(model::SurfaceId a, model::SurfaceId b, const model::Surface& values)
{
  check_surface(values);
  model_.surface_pairs.push_back({a, b, values});
}

void World::check_body(const model::BodyDesc& desc, const model::BodyState& state) const
{
  const std::string who =
      desc.name.empty() ? fmt::format("Body {}", model_.bodies.size()) : fmt::format("Body '{}'", desc.name);
  if (desc.shape < 0 || static_cast<std::size_t>(desc.shape) >= prepared_.size()) {
    throw Error(fmt::format("{} has shape {}, but there are {} shapes.", who, desc.shape, prepared_.size()));
  }
  if (desc.surface < 0 || static_cast<std::size_t>(desc.surface) >= model_.surfaces.size()) {
    throw Error(fmt::format("{} has surface {}, but there are {} surfaces.", who, desc.surface,
                            model_.surfaces.size()));
  }
  const bool finite = state.X_wb.position.allFinite() && state.X_wb.rotation.coeffs().allFinite() &&
                      state.velocity.allFinite() && state.angular_velocity.allFinite();
  if (!finite) throw Error(fmt::format("{} has a position or a velocity that is not a number.", who));
  if (std::abs(state.X_wb.rotation.squaredNorm() - 1) > kUnitRotationTolerance) {
    throw Error(fmt::format("{} has a rotation that is not a unit quaternion.", who));
  }
  if (desc.motion != model::Motion::dynamic) return;
  const model::ShapeKind kind = prepared_[static_cast<std::size_t>(desc.shape)].kind;
  if (kind == model::ShapeKind::plane || kind == model::ShapeKind::height_field) {
    throw Error(fmt::format("{} is dynamic, but planes and height fields can only be fixed.", who));
  }
  if (!(desc.mass > 0) || !std::isfinite(desc.mass)) {
    throw Error(fmt::format("{} is dynamic and has mass {} kg, expected a positive one.", who, desc.mass));
  }
  const Eigen::LLT<Mat3> positive(desc.inertia);
  if (!desc.inertia.allFinite() || positive.info() != Eigen::Success) {
    throw Error(fmt::format("{} has an inertia tensor that is not positive definite.", who));
  }
}

model::BodyId World::add_body(const model::BodyDesc& desc, const model::BodyState& state)
{
  check_body(desc, state);
  const auto id = static_cast<model::BodyId>(model_.bodies.size());
  model_.bodies.push_back(desc);
  state_.bodies.push_back(state);
  state_.bodies.back().X_wb.rotation.normalize();
  broad_phase_.add(id, desc.motion == model::Motion::fixed,
                   prepared_[static_cast<std::size_t>(desc.shape)].unbounded);
  return id;
}

model::BodyId World::add_body(const BodySpec& spec)
{
  model::BodyDesc desc;
  desc.name = spec.name;
  desc.motion = spec.motion;
  desc.shape = spec.shape;
  desc.surface = spec.surface;
  model::BodyState state;
  state.velocity = spec.velocity;
  state.angular_velocity = spec.angular_velocity;
  if (spec.motion == model::Motion::dynamic && spec.shape >= 0 &&
      static_cast<std::size_t>(spec.shape) < model_.shapes.size()) {
    const mesh::MassProperties mass =
        rigid::shape_mass(model_.shapes[static_cast<std::size_t>(spec.shape)], spec.density);
    const double factor = spec.mass ? *spec.mass / mass.mass : 1.0;
    desc.mass = factor * mass.mass;
    desc.inertia = factor * mass.inertia;
    desc.X_bs.position = -mass.center;
  }
  state.X_wb = spec.X_ws * desc.X_bs.inverse();
  return add_body(desc, state);
}

model::JointId World::add_joint(const model::JointDesc& desc)
{
  const auto known = [&](model::BodyId id) {
    return id >= 0 && static_cast<std::size_t>(id) < model_.bodies.size();
  };
  if (!known(desc.a) || (desc.b != model::kNone && !known(desc.b)) || desc.a == desc.b) {
    throw Error(fmt::format("A joint names bodies {} and {}, but there are {} bodies.", desc.a, desc.b,
                            model_.bodies.size()));
  }
  model_.joints.push_back(desc);
  state_.joints.emplace_back();
  if (!desc.collide_connected && desc.b != model::kNone) {
    excluded_pairs_.push_back({std::min(desc.a, desc.b), std::max(desc.a, desc.b)});
    std::sort(excluded_pairs_.begin(), excluded_pairs_.end());
  }
  return static_cast<model::JointId>(model_.joints.size()) - 1;
}

model::BodyState& World::awake_body(model::BodyId id)
{
  if (id < 0 || static_cast<std::size_t>(id) >= state_.bodies.size()) {
    throw Error(fmt::format("There is no body {}; the world has {}.", id, state_.bodies.size()));
  }
  model::BodyState& body = state_.bodies[static_cast<std::size_t>(id)];
  body.asleep = false;
  body.still_time = 0;
  return body;
}

void World::wake(model::BodyId id)
{
  awake_body(id);
}

void World::apply_impulse(model::BodyId id, const Vec3& impulse, const Vec3& position)
{
  model::BodyState& body = awake_body(id);
  const model::BodyDesc& desc = model_.bodies[static_cast<std::size_t>(id)];
  if (desc.motion != model::Motion::dynamic) return;
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  body.velocity += impulse / desc.mass;
  body.angular_velocity +=
      R * desc.inertia.inverse() * R.transpose() * (position - body.X_wb.position).cross(impulse);
}

void World::apply_force(model::BodyId id, const Vec3& force, const Vec3& position)
{
  model::BodyState& body = awake_body(id);
  body.force += force;
  body.torque += (position - body.X_wb.position).cross(force);
}

void World::set_velocity(model::BodyId id, const Vec3& velocity, const Vec3& angular_velocity)
{
  model::BodyState& body = awake_body(id);
  body.velocity = velocity;
  body.angular_velocity = angular_velocity;
}

void World::set_pose(model::BodyId id, const Pose& X_wb)
{
  awake_body(id).X_wb = X_wb;
}

Pose World::shape_pose(model::BodyId id) const
{
  return body(id).X_wb * model_.bodies[static_cast<std::size_t>(id)].X_bs;
}

void World::restore(const model::SceneState& state)
{
  if (state.bodies.size() != model_.bodies.size() || state.joints.size() != model_.joints.size()) {
    throw Error(
        fmt::format("A state of {} bodies and {} joints cannot be restored into a world of {} and {}.",
                    state.bodies.size(), state.joints.size(), model_.bodies.size(), model_.joints.size()));
  }
  state_ = state;
  contacts_.clear();
  impulses_.clear();
  events_.clear();
  reported_ = true;
}

base::Hash128 World::hash() const
{
  base::Hasher hasher;
  hasher.add(state_.time).add(state_.step).add(state_.random_state);
  for (const model::BodyState& body : state_.bodies) {
    hasher.add(body.X_wb.position).add(Vec3(body.X_wb.rotation.vec())).add(body.X_wb.rotation.w());
    hasher.add(body.velocity).add(body.angular_velocity).add(body.still_time).add(body.asleep);
  }
  for (const model::JointState& joint : state_.joints) {
    for (const double impulse : joint.warm_impulse) hasher.add(impulse);
  }
  for (const model::ContactPatch& patch : state_.patches) {
    hasher.add(patch.a).add(patch.b).add(patch.normal).add(patch.warm_friction).add(patch.warm_twist);
    for (const model::ContactPoint& point : patch.active())
      hasher.add(point.position).add(point.warm_impulse);
  }
  for (const model::ModalState& ring : state_.modal_states) {
    hasher.add(ring.body);
    for (const double q : ring.q) hasher.add(q);
    for (const double v : ring.v) hasher.add(v);
  }
  for (const model::PendingKick& kick : state_.pending_kicks)
    hasher.add(kick.body).add(kick.time).add(kick.impulse);
  return hasher.finish();
}

double World::kinetic_energy() const
{
  double sum = 0;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (model_.bodies[i].motion != model::Motion::dynamic) continue;
    const model::BodyState& body = state_.bodies[i];
    const Vec3 w = body.X_wb.direction_to_local(body.angular_velocity);
    sum +=
        0.5 * model_.bodies[i].mass * body.velocity.squaredNorm() + 0.5 * w.dot(model_.bodies[i].inertia * w);
  }
  return sum;
}

double World::potential_energy() const
{
  double sum = 0;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (model_.bodies[i].motion != model::Motion::dynamic) continue;
    sum -= model_.bodies[i].mass * model_.bodies[i].gravity_scale *
           model_.gravity.dot(state_.bodies[i].X_wb.position);
  }
  return sum;
}

Vec3 World::momentum() const
{
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (model_.bodies[i].motion == model::Motion::dynamic)
      sum += model_.bodies[i].mass * state_.bodies[i].velocity;
  }
  return sum;
}

}  // namespace thrum::sim
