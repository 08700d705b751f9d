// SPDX-License-Identifier: MIT
// Building a world, acting on it, and saving it.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/collision/narrow_phase.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/model/compare_state.h"
#include "thrum/rigid/contact_graph.h"
#include "thrum/rigid/shape_mass.h"
#include "thrum/rigid/stepper.h"
#include "thrum/sim/joint_checks.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// How far a given rotation may be from unit length.
constexpr double kUnitRotationTolerance = 1e-6;

// Worlds may be made by several threads at once. 0 stands for ids of no known world.
std::uint32_t next_world_number()
{
  static std::atomic<std::uint32_t> last{0};
  std::uint32_t number = ++last;
  while (number == 0) number = ++last;
  return number;
}

std::string name_or_number(const std::string& name, std::size_t number)
{
  return name.empty() ? fmt::format("Body {}", number) : fmt::format("Body '{}'", name);
}

void check_pose(const Pose& pose, const std::string& who)
{
  if (!pose.position.allFinite() || !pose.rotation.coeffs().allFinite())
    throw Error(fmt::format("The pose of body {} is not a finite number.", who));
  if (std::abs(pose.rotation.squaredNorm() - 1) > kUnitRotationTolerance)
    throw Error(fmt::format("The rotation of body {} is not a unit quaternion.", who));
}

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

void check_finite(const Vec3& value, const char* what, model::BodyId id)
{
  if (!value.allFinite())
    throw Error(fmt::format("The {} of body {} is ({:g}), which is not finite.", what, to_string(id),
                            fmt::join(value, ", ")));
}

void check_desc(const WorldDesc& desc)
{
  const auto require = [](bool is_right, const char* name, double value, const char* expected) {
    if (!is_right) throw Error(fmt::format("{} of a world is {}, expected {}.", name, value, expected));
  };
  require(desc.threads >= 0, "The number of threads", desc.threads, "1 or more, or 0 for all");
  require(desc.length_scale > 0, "The length scale", desc.length_scale, "a positive number of metres");
  require(desc.max_slices >= 1, "max_slices", desc.max_slices, "at least 1");
  require(desc.max_impact_slices >= 0, "max_impact_slices", desc.max_impact_slices, "at least 0");
  require(desc.impact_tolerance > 0 && desc.impact_tolerance <= 0.1, "impact_tolerance",
          desc.impact_tolerance, "a share between 0 and 0.1");
  require(desc.max_move > 0, "max_move", desc.max_move, "a positive share");
  require(desc.max_turn > 0, "max_turn", desc.max_turn, "a positive angle");
  require(desc.constraint.substeps >= 1, "constraint.substeps", desc.constraint.substeps, "at least 1");
  require(desc.constraint.iterations >= 1, "constraint.iterations", desc.constraint.iterations, "at least 1");
  const rigid::PenaltySettings& penalty = desc.penalty;
  require(penalty.stiffness.value_or(1) > 0, "penalty.stiffness", penalty.stiffness.value_or(1), "positive");
  require(penalty.contact_time > 0, "penalty.contact_time", penalty.contact_time, "positive");
  require(penalty.damping_ratio.value_or(0) >= 0, "penalty.damping_ratio", penalty.damping_ratio.value_or(0),
          "at least 0");
  require(penalty.max_damping_ratio > 0, "penalty.max_damping_ratio", penalty.max_damping_ratio, "positive");
  require(penalty.friction_stiffness > 0, "penalty.friction_stiffness", penalty.friction_stiffness,
          "positive");
  require(penalty.substeps_per_contact >= 2, "penalty.substeps_per_contact", penalty.substeps_per_contact,
          "at least 2");
  require(penalty.max_substeps >= 1, "penalty.max_substeps", penalty.max_substeps, "at least 1");
  const flexible::FlexibleSettings& f = desc.flexible;
  require(f.max_frequency > 0, "flexible.max_frequency", f.max_frequency, "positive");
  require(f.min_step > 0, "flexible.min_step", f.min_step, "positive");
  require(f.max_step >= f.min_step, "flexible.max_step", f.max_step, "at least min_step");
  require(f.steps_per_period > 0, "flexible.steps_per_period", f.steps_per_period, "positive");
  require(f.steps_per_impact > 0, "flexible.steps_per_impact", f.steps_per_impact, "positive");
  require(f.contact_radius > 0, "flexible.contact_radius", f.contact_radius, "positive");
  require(f.friction_stiffness > 0, "flexible.friction_stiffness", f.friction_stiffness, "positive");
  require(f.iterations >= 1, "flexible.iterations", f.iterations, "at least 1");
  require(f.friction_directions >= 3, "flexible.friction_directions", f.friction_directions, "at least 3");
  if (f.friction == flexible::FrictionSolver::staggered && f.contact != flexible::ContactLaw::hard)
    throw Error(
        "flexible.friction of a world is staggered, which solves hard contact only: set flexible.contact to "
        "hard, "
        "or flexible.friction to coupled.");
  require(f.tolerance > 0, "flexible.tolerance", f.tolerance, "positive");
  if (!desc.gravity.allFinite())
    throw Error(
        fmt::format("The gravity of a world is ({:g}), which is not finite.", fmt::join(desc.gravity, ", ")));
}

void check_joint(const model::JointDesc& desc)
{
  check_pose(desc.X_aj, fmt::format("{} (the frame of a joint in it)", to_string(desc.a)));
  check_pose(desc.X_bj, desc.b.valid() ? fmt::format("{} (the frame of a joint in it)", to_string(desc.b))
                                       : std::string("'world' (the frame of a joint in it)"));
  if (desc.limited) check_joint_limits(desc.kind, desc.limits);
  check_joint_motor(desc.kind, desc.motor);
  check_joint_size(desc.length, "length");
  check_joint_size(desc.stiffness, "stiffness");
  check_joint_size(desc.damping, "damping");
  if (desc.kind == model::JointKind::spring && desc.stiffness == 0 && desc.damping == 0)
    throw Error("The stiffness of a spring is 0, and so is its damping: it has no force. Set one of them.");
}

}  // namespace

std::unique_ptr<rigid::Stepper> make_stepper(const WorldDesc& desc)
{
  switch (desc.stepper) {
    case StepperKind::constraint:
      return rigid::make_constraint_stepper(desc.constraint, desc.impacts);
    case StepperKind::impulse:
      return rigid::make_impulse_stepper(desc.impulse, desc.impacts);
    case StepperKind::penalty:
      return rigid::make_penalty_stepper(desc.penalty);
    case StepperKind::flexible:
      return flexible::make_flexible_stepper(desc.flexible);
  }
  throw Error("The stepper of a world must be one of StepperKind.");
}

World::World(const WorldDesc& desc)
    : desc_(desc),
      broad_phase_(desc.broad_phase),
      stepper_(make_stepper(desc)),
      number_(next_world_number()),
      body_table_(number_),
      joint_table_(number_),
      shape_table_(number_),
      narrow_phase_scratch_(std::make_unique<collision::NarrowPhaseScratch>()),
      contact_update_(std::make_unique<collision::ContactUpdate>()),
      graph_(std::make_unique<rigid::ContactGraph>())
{
  model_.gravity = desc.gravity;
  model_.length_scale = desc.length_scale;
  check_desc(desc);
  if (desc.stepper != StepperKind::flexible) return;
  flexible_ = static_cast<flexible::FlexibleStepper*>(stepper_.get());
  desc_.sleep.enabled = false;
}

World::~World() = default;
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;

model::ShapeId World::add_shape(model::Shape shape)
{
  require_no_step("add_shape");
  collision::PreparedShape prepared = collision::prepare(shape);
  const model::ShapeId id = shape_table_.add(0);
  const std::size_t i = id.slot;
  shape_table_.move(id, static_cast<model::ShapeIndex>(i));
  const model::Shape* const storage = model_.shapes.data();
  if (i == model_.shapes.size()) {
    model_.shapes.emplace_back();
    prepared_.emplace_back();
    shape_users_.push_back(0);
  }
  model_.shapes[i] = std::move(shape);
  prepared_[i] = std::move(prepared);
  // Prepared shapes point into the array, which may have moved.
  const std::size_t first = model_.shapes.data() == storage ? i : 0;
  for (std::size_t k = first; k < prepared_.size(); ++k) prepared_[k].shape = &model_.shapes[k];
  return id;
}

model::SurfaceId World::add_surface(const model::Surface& surface)
{
  check_surface(surface);
  model_.surfaces.push_back(surface);
  return {static_cast<std::uint32_t>(model_.surfaces.size() - 1), 0, number_};
}

void World::set_surface(model::SurfaceId id, const model::Surface& surface)
{
  check_surface(surface);
  model_.surfaces[at(index_of(id))] = surface;
  surfaces_changed_ = true;
}

void World::set_surface_pair(model::SurfaceId a, model::SurfaceId b, const model::Surface& values)
{
  check_surface(values);
  model_.surface_pairs.push_back({index_of(a), index_of(b), values});
  surfaces_changed_ = true;
}

void World::check_properties(const model::BodyProperties& desc, const model::BodyState& state) const
{
  const std::string who = name_or_number(desc.name, model_.bodies.size());
  const bool finite = state.X_wb.position.allFinite() && state.X_wb.rotation.coeffs().allFinite() &&
                      state.velocity.allFinite() && state.angular_velocity.allFinite();
  if (!finite) throw Error(fmt::format("{} has a position or a velocity that is not a number.", who));
  if (std::abs(state.X_wb.rotation.squaredNorm() - 1) > kUnitRotationTolerance) {
    throw Error(fmt::format("{} has a rotation that is not a unit quaternion.", who));
  }
  if (!std::isfinite(desc.gravity_scale))
    throw Error(fmt::format("{} has gravity_scale {}, expected a finite number.", who, desc.gravity_scale));
  for (const auto& [what, rate] : {std::pair("linear_damping", desc.linear_damping),
                                   std::pair("angular_damping", desc.angular_damping)}) {
    if (!(rate >= 0) || !std::isfinite(rate))
      throw Error(fmt::format("{} has {} {} 1/s, expected at least 0.", who, what, rate));
  }
  if (desc.motion != model::Motion::dynamic) return;
  const model::ShapeKind kind = prepared_[at(desc.shape)].kind;
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

// Mass, inertia and centre of mass from the shape and the density, or from the mass if it is given. The shape
// stays in place.
void World::find_inertia(model::BodyProperties& desc) const
{
  const mesh::MassProperties mass = rigid::shape_mass(model_.shapes[at(desc.shape)], desc.density);
  const double factor = desc.mass > 0 ? desc.mass / mass.mass : 1.0;
  desc.mass = factor * mass.mass;
  desc.inertia = factor * mass.inertia;
  desc.X_bs.position = -mass.center;
  desc.has_inertia = true;
}

std::pair<model::BodyProperties, model::BodyState> World::make_body(const BodyDesc& desc) const
{
  model::BodyProperties properties;
  properties.name = desc.name;
  properties.motion = desc.motion;
  properties.shape = index_of(desc.shape);
  properties.surface = index_of(desc.surface);
  properties.density = desc.density;
  const std::string who = name_or_number(desc.name, model_.bodies.size());
  if (desc.mass && !(*desc.mass > 0)) {
    throw Error(fmt::format("{}: the mass is {} kg; masses are positive. Leave it out to use the density.",
                            who, *desc.mass));
  }
  properties.mass = desc.mass.value_or(0.0);
  if (desc.inertia && !desc.mass)
    throw Error(fmt::format("{} has an inertia but no mass; give both or neither.", who));
  const std::string mistake = desc.inertia ? rigid::find_inertia_mistake(*desc.inertia) : std::string();
  if (!mistake.empty()) throw Error(fmt::format("{}: the inertia {}", who, mistake));
  const model::ShapeKind kind = prepared_[at(properties.shape)].kind;
  const bool solid = kind != model::ShapeKind::plane && kind != model::ShapeKind::height_field;
  const bool is_wanted = desc.motion == model::Motion::dynamic || desc.inertia || desc.centre_of_mass;
  if (is_wanted && solid && !(desc.inertia && desc.centre_of_mass)) find_inertia(properties);
  if (desc.inertia) {
    properties.inertia = *desc.inertia;
    properties.has_inertia = true;
  }
  if (desc.centre_of_mass) properties.X_bs.position = -*desc.centre_of_mass;
  properties.gravity_scale = desc.gravity_scale;
  properties.linear_damping = desc.linear_damping;
  properties.angular_damping = desc.angular_damping;
  properties.collision_group = desc.collision_group;
  properties.collides_with = desc.collides_with;
  properties.sensor = desc.sensor;
  properties.may_sleep = desc.may_sleep;
  properties.user_data = desc.user_data;
  model::BodyState state;
  state.velocity = desc.velocity;
  state.angular_velocity = desc.angular_velocity;
  state.X_wb = desc.X_ws * properties.X_bs.inverse();
  check_properties(properties, state);
  state.X_wb.rotation.normalize();
  return {std::move(properties), state};
}

void World::check_body(const BodyDesc& desc) const
{
  static_cast<void>(make_body(desc));
}

model::BodyId World::add_body(const BodyDesc& desc)
{
  require_no_step("add_body");
  auto [properties, state] = make_body(desc);
  const auto index = static_cast<model::BodyIndex>(model_.bodies.size());
  const model::BodyId id = body_table_.add(index);
  ++shape_users_[at(properties.shape)];
  broad_phase_.add(index, properties.motion == model::Motion::fixed,
                   prepared_[at(properties.shape)].unbounded);
  model_.bodies.push_back(std::move(properties));
  state_.body_ids.push_back(id);
  state_.bodies.push_back(state);
  removed_.push_back(0);
  update_box(index);
  for (StepObserver* observer : observers_) observer->body_added(id);
  return id;
}

model::JointId World::add_joint(const model::JointDesc& desc)
{
  require_no_step("add_joint");
  const model::BodyIndex a = index_of(desc.a);
  const model::BodyIndex b = desc.b.valid() ? index_of(desc.b) : model::kNone;
  if (a == b) throw Error(fmt::format("A joint connects body {} with itself.", to_string(desc.a)));
  check_joint(desc);
  const auto index = static_cast<model::JointIndex>(model_.joints.size());
  model_.joints.push_back({.kind = desc.kind,
                           .a = a,
                           .b = b,
                           .X_aj = desc.X_aj,
                           .X_bj = desc.X_bj,
                           .limited = desc.limited,
                           .limits = desc.limits,
                           .motor = desc.motor,
                           .length = desc.length,
                           .stiffness = desc.stiffness,
                           .damping = desc.damping,
                           .collide_connected = desc.collide_connected});
  state_.joints.emplace_back();
  contacts_changed_ = true;
  state_.joint_ids.push_back(joint_table_.add(index));
  joint_removed_.push_back(0);
  if (!desc.collide_connected && desc.b.valid()) excluded_pairs_stale_ = true;
  return state_.joint_ids.back();
}

model::BodyState& World::awake_body(model::BodyId id)
{
  model::BodyState& body = state_.bodies[at(index_of(id))];
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
  check_finite(impulse, "impulse", id);
  check_finite(position, "place of an impulse", id);
  model::BodyState& body = awake_body(id);
  const model::BodyProperties& desc = desc_of(id);
  if (desc.motion != model::Motion::dynamic) return;
  model::apply_impulse(desc, body, impulse, (position - body.X_wb.position).cross(impulse));
}

void World::apply_force(model::BodyId id, const Vec3& force, const Vec3& position)
{
  check_finite(force, "force", id);
  check_finite(position, "place of a force", id);
  model::BodyState& body = awake_body(id);
  body.force += force;
  body.torque += (position - body.X_wb.position).cross(force);
}

void World::set_velocity(model::BodyId id, const Vec3& velocity, const Vec3& angular_velocity)
{
  check_finite(velocity, "velocity", id);
  check_finite(angular_velocity, "angular velocity", id);
  model::BodyState& body = awake_body(id);
  body.velocity = velocity;
  body.angular_velocity = angular_velocity;
}

void World::set_pose(model::BodyId id, const Pose& X_ws)
{
  require_no_step("set_pose");
  model::BodyState& body = awake_body(id);
  const Pose X_wb = X_ws * desc_of(id).X_bs.inverse();
  check_pose(X_wb, to_string(id));
  body.X_wb = X_wb;
  body.X_wb.rotation.normalize();
  update_box(index_of(id));
}

Pose World::shape_pose(model::BodyId id) const
{
  return body(id).X_wb * desc_of(id).X_bs;
}

base::Hash128 World::hash() const
{
  return removed_count_ > 0 || removals_pending_ ? model::hash_of(save()) : model::hash_of(state_);
}

double World::kinetic_energy() const
{
  double sum = 0;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (model_.bodies[i].motion != model::Motion::dynamic) continue;
    sum += model::kinetic_energy(model_.bodies[i], state_.bodies[i]);
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
