// SPDX-License-Identifier: MIT
// Groups of the flexible stepper: bodies, rows and contacts at the beginning of a slice.
#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/hertz_contact.h"
#include "thrum/flexible/flexible_body.h"

namespace thrum::flexible {

namespace {

/// Of bodies whose material is not known: that of hard wood [Pa].
constexpr double kDefaultModulus = 1e10;
/// Gravity at which the stiffness of friction is taken where the scene has less [m/s^2].
constexpr double kMinGravity = 1;

/// Of the surface where it touches [m]; 0: not round.
double radius_of(const model::Shape& shape)
{
  if (const auto* sphere = std::get_if<model::Sphere>(&shape.geometry)) return sphere->radius;
  if (const auto* capsule = std::get_if<model::Capsule>(&shape.geometry)) return capsule->radius;
  return 0;
}

}  // namespace

FlexibleStepper::FlexibleBody::FlexibleBody(const ElasticBody& body, double max_frequency) : elastic(body)
{
  if (!(body.modulus >= 0) || !std::isfinite(body.modulus))
    throw Error(fmt::format("The modulus of an elastic body is {} Pa, expected at least 0.", body.modulus));
  if (!body.modes) return;
  const model::ModalModel& model = *body.modes;
  for (Eigen::Index m = 0; m < model.frequencies.size(); ++m) {
    const bool ascends = m == 0 || model.frequencies[m] >= model.frequencies[m - 1];
    if (!(model.frequencies[m] > 0) || !ascends || !(model.decays[m] >= 0))
      throw Error(
          fmt::format("Mode {} of the modal model '{}' has {} Hz and a decay of {} 1/s, expected "
                      "frequencies above 0 in ascending order and decays of at least 0.",
                      m + 1, model.name, model.frequencies[m], model.decays[m]));
    if (!std::isfinite(model.frequencies[m]) || !std::isfinite(model.decays[m]) ||
        !model.shapes.col(m).allFinite())
      throw Error(fmt::format(
          "Mode {} of the modal model '{}' has values that are not finite. Compute its modes again.", m + 1,
          model.name));
  }
  map = std::make_unique<elastic::SurfaceMap>(body.modes);
  const elastic::ModeList all = elastic::mode_list(model);
  Eigen::Index count = 0;
  while (count < model.frequencies.size() && model.frequencies[count] <= max_frequency) ++count;
  modes.omegas = all.omegas.head(count);
  modes.decays = all.decays.head(count);
  for (Eigen::Index m = 0; m < count; ++m)
    scale.push_back(
        std::sqrt(3 * model.shapes.col(m).squaredNorm() / static_cast<double>(model.shapes.rows())));
  find_bounds();
}

FlexibleStepper::FlexibleBody* FlexibleStepper::flexible(const rigid::StepFrame& frame, model::BodyIndex i)
{
  const auto found = bodies_by_id_.find(frame.state.body_ids[at(i)]);
  return found == bodies_by_id_.end() ? nullptr : found->second.get();
}

double FlexibleStepper::modulus_of(const rigid::StepFrame& frame, model::BodyIndex i) const
{
  const auto found = bodies_by_id_.find(frame.state.body_ids[at(i)]);
  const double modulus = found == bodies_by_id_.end() ? 0 : found->second->elastic.modulus;
  return modulus > 0 ? modulus : kDefaultModulus;
}

// Bodies that move or vibrate and that contacts join.
void FlexibleStepper::assign_groups(const rigid::StepFrame& frame)
{
  const std::size_t count = frame.model.bodies.size();
  std::vector<std::int32_t> parent(count);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t i) {
    while (parent[at(i)] != i) {
      parent[at(i)] = parent[at(parent[at(i)])];
      i = parent[at(i)];
    }
    return i;
  };
  const auto takes_part = [&](model::BodyIndex i) {
    const FlexibleBody* body = flexible(frame, i);
    return bodies_[i].moves || (body != nullptr && body->modes.size() > 0);
  };
  for (const std::int32_t p : frame.order) {
    const model::ContactPatch& patch = frame.state.patches[at(p)];
    if (!takes_part(patch.a) || !takes_part(patch.b)) continue;
    const std::int32_t a = root(patch.a);
    const std::int32_t b = root(patch.b);
    parent[at(std::max(a, b))] = std::min(a, b);
  }
  for (const GroupJoint& joint : group_joints_) {
    const auto is_free = [&](std::int32_t i) {
      return at(i) < count && takes_part(i);
    };
    if (!is_free(joint.row.a) || !is_free(joint.row.b)) continue;
    const std::int32_t a = root(joint.row.a);
    const std::int32_t b = root(joint.row.b);
    parent[at(std::max(a, b))] = std::min(a, b);
  }
  places_.assign(count, {});
  group_count_ = 0;
  std::vector<int> group_of(count, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto index = static_cast<model::BodyIndex>(i);
    if (!takes_part(index)) continue;
    int& group = group_of[at(root(index))];
    if (group < 0) group = group_count_++;
    places_[i].group = group;
  }
  if (groups_.size() < at(group_count_)) groups_.resize(at(group_count_));
  for (int g = 0; g < group_count_; ++g) groups_[at(g)].clear();
  group_contacts_.assign(at(group_count_), 0);
}

void FlexibleStepper::add_bodies(const rigid::StepFrame& frame)
{
  const double g = frame.model.gravity.norm();
  for (std::size_t i = 0; i < frame.model.bodies.size(); ++i) {
    if (places_[i].group < 0) continue;
    const auto index = static_cast<model::BodyIndex>(i);
    const rigid::SolverBody& body = bodies_[index];
    GroupBodyDesc desc;
    desc.moves = body.moves;
    desc.inverse_mass = body.inverse_mass;
    desc.velocity = body.v;
    desc.angular_velocity = body.w;
    desc.acceleration = body.acceleration;
    desc.angular_acceleration = body.angular_acceleration;
    if (body.inverse_mass > 0) {
      Eigen::SelfAdjointEigenSolver<Mat3> axes;
      axes.computeDirect(body.inverse_inertia);
      desc.inertia_axes = axes.eigenvectors();
      desc.inverse_inertia = axes.eigenvalues().cwiseMax(0);
      desc.weight = g / body.inverse_mass;
    }
    const FlexibleBody* elastic_body = flexible(frame, index);
    if (elastic_body != nullptr && elastic_body->modes.size() > 0) {
      desc.modes = &elastic_body->modes;
      desc.mode_scale = elastic_body->scale;
      desc.records_forces = elastic_body->elastic.records_forces;
      for (const model::ModalState& ring : frame.state.modal_states) {
        if (ring.body != frame.state.body_ids[i]) continue;
        desc.q = ring.q;
        desc.u = ring.v;
      }
      desc.weight = std::max(desc.weight, g * elastic_body->elastic.modes->mass);
    }
    places_[i].body = groups_[at(places_[i].group)].add_body(desc);
  }
}

// `modes` holds what the result points to.
RowSide FlexibleStepper::side_of(const rigid::StepFrame& frame, model::BodyIndex i, const Vec3& position,
                                 const Vec3& direction, VecX& modes)
{
  RowSide side;
  side.body = places_[at(i)].body;
  const Pose& X_wb = frame.state.bodies[at(i)].X_wb;
  side.direction = direction;
  side.moment = (position - X_wb.position).cross(direction);
  FlexibleBody* body = flexible(frame, i);
  if (body == nullptr || body->modes.size() == 0) return side;
  const Pose X_ws = X_wb * frame.model.bodies[at(i)].X_bs;
  Vec3 place = X_ws.point_to_local(position);
  if (body->is_deformed) place = body->deformed->at_rest(place);
  const elastic::MappedPoint& mapped = body->map->find(place);
  const Vec3 local = X_ws.direction_to_local(direction);
  modes = mapped.shapes.leftCols(body->modes.omegas.size()).transpose() * local;
  side.modes = {modes.data(), at(modes.size())};
  return side;
}

int FlexibleStepper::add_row(const rigid::StepFrame& frame, const model::ContactPatch& contact,
                             const Vec3& position, const Vec3& direction)
{
  VecX modes_a;
  VecX modes_b;
  const RowSide a = side_of(frame, contact.a, position, -direction, modes_a);
  const RowSide b = side_of(frame, contact.b, position, direction, modes_b);
  return groups_[at(patches_.back().group)].add_row(a, b);
}

int FlexibleStepper::add_turn_row(const model::ContactPatch& contact, const Vec3& axis)
{
  RowSide a;
  RowSide b;
  a.body = places_[at(contact.a)].body;
  b.body = places_[at(contact.b)].body;
  a.moment = -axis;
  b.moment = axis;
  return groups_[at(patches_.back().group)].add_row(a, b);
}

double FlexibleStepper::pair_stiffness(const rigid::StepFrame& frame,
                                       const model::ContactPatch& contact) const
{
  const double a = radius_of(frame.model.shapes[at(frame.model.bodies[at(contact.a)].shape)]);
  const double b = radius_of(frame.model.shapes[at(frame.model.bodies[at(contact.b)].shape)]);
  double radius = settings_.contact_radius;
  if (a > 0 && b > 0) {
    radius = a * b / (a + b);
  } else if (a > 0 || b > 0) {
    radius = std::max(a, b);
  }
  return elastic::hertz_stiffness(
      elastic::contact_modulus(modulus_of(frame, contact.a), modulus_of(frame, contact.b)), radius);
}

void FlexibleStepper::add_patch(const rigid::StepFrame& frame, std::int32_t source)
{
  const model::ContactPatch& contact = frame.state.patches[at(source)];
  const Place& place_a = places_[at(contact.a)];
  const Place& place_b = places_[at(contact.b)];
  const int group_number = place_a.group >= 0 ? place_a.group : place_b.group;
  PatchRows& rows = patches_.emplace_back();
  rows.source = source;
  rows.group = group_number;
  rows.t1 = contact.normal.unitOrthogonal();
  rows.t2 = contact.normal.cross(rows.t1);
  ContactGroup& group = groups_[at(group_number)];
  group.begin_patch();
  const double stiffness = pair_stiffness(frame, contact);
  const double gap_tolerance = settings_.gap_tolerance * frame.model.length_scale;
  double load = 0;
  for (std::size_t i = 0; i < contact.active().size(); ++i) {
    const model::ContactPoint& point = contact.points[i];
    // Below 0 only in a state that no run has made.
    const double warm_force = std::max(0.0, point.warm_impulse);
    const int row = add_row(frame, contact, point.position, contact.normal);
    elastic::HeldContact law{stiffness, 0};
    const double mass = group.effective_mass(row);
    law.damping = elastic::hertz_damping(frame.surfaces[at(source)].restitution, mass, stiffness);
    // The vibration of the bodies moves their surfaces; a point that is pressed keeps its indentation.
    // One whose contacts are found on its bent surface has moved already.
    const double found = point.depth - group.modal_separation(row, is_deformed(frame, contact.a),
                                                              is_deformed(frame, contact.b));
    const bool is_hard = settings_.contact == ContactLaw::hard;
    const double pressed = is_hard ? 0 : law.indentation(warm_force);
    const bool keeps = warm_force > 0 && found > pressed - gap_tolerance;
    const double d = keeps ? pressed : std::min(found, pressed);
    if (found > d + gap_tolerance) {
      const Vec3& n = contact.normal;
      const rigid::BodyRow overlap{
          contact.a, contact.b, n,
          (point.position - frame.state.bodies[at(contact.a)].X_wb.position).cross(n),
          (point.position - frame.state.bodies[at(contact.b)].X_wb.position).cross(n)};
      if (rigid::coupling(overlap, overlap, bodies_) > 0) overlaps_.push_back({overlap, found - d});
    }
    rows.laws[i] = law;
    // One that has opened since starts from the force of its indentation.
    const double force = is_hard || keeps ? warm_force : std::min(warm_force, law.static_force(d));
    rows.contacts[i] = group.add_contact(row, law, d, force);
    load += warm_force;
  }
  group_contacts_[at(group_number)] += contact.count;
  add_slips(frame, contact, rows, load);
}

// The stiffness across the normal is that of a pair under the weight of the lighter body, and does not change
// with the load: a spring that grew stiffer while it is stretched would bring energy.
void FlexibleStepper::add_slips(const rigid::StepFrame& frame, const model::ContactPatch& contact,
                                PatchRows& rows, double load)
{
  const model::Surface& surface = frame.surfaces[at(rows.source)];
  ContactGroup& group = groups_[at(rows.group)];
  Vec3 middle = Vec3::Zero();
  for (const model::ContactPoint& point : contact.active()) middle += point.position / contact.count;
  double arm = 0;
  for (const model::ContactPoint& point : contact.active())
    arm += (point.position - middle).norm() / contact.count;
  const double inverse_mass = bodies_[contact.a].inverse_mass + bodies_[contact.b].inverse_mass;
  const double mass = inverse_mass > 0 ? 1 / inverse_mass : 1;
  const elastic::HeldContact law = rows.laws[0];
  const double weight = mass * std::max(kMinGravity, frame.model.gravity.norm());
  const double stiffness = settings_.friction_stiffness * law.tangent_stiffness(law.indentation(weight));
  const auto add = [&](std::array<int, 2> row, int count, double scale, double limit,
                       std::array<double, 2> force) {
    SlipDesc slip;
    slip.rows = row;
    slip.count = count;
    slip.stiffness = scale * scale * stiffness;
    slip.damping = scale * scale * 2 * settings_.friction_damping_ratio * std::sqrt(stiffness * mass);
    slip.limit = limit;
    const double length = std::hypot(force[0], force[1]);
    const double kept = length > limit * load ? limit * load / length : 1;
    slip.force = {kept * force[0], kept * force[1]};
    return group.add_slip(slip);
  };
  if (surface.friction > 0) {
    rows.sliding =
        add({add_row(frame, contact, middle, rows.t1), add_row(frame, contact, middle, rows.t2)}, 2, 1,
            surface.friction, {contact.warm_friction.dot(rows.t1), contact.warm_friction.dot(rows.t2)});
  }
  const double twist_limit = surface.friction * arm + surface.spinning_friction;
  if (twist_limit > 0) {
    const int row = add_turn_row(contact, contact.normal);
    rows.twist_arm = std::max(arm, surface.spinning_friction);
    rows.twist = add({row, row}, 1, rows.twist_arm, twist_limit, {rows.twist_arm * contact.warm_twist, 0});
  }
  if (surface.rolling_friction > 0) {
    rows.rolling_arm = std::max(arm, surface.rolling_friction);
    rows.rolling = add({add_turn_row(contact, rows.t1), add_turn_row(contact, rows.t2)}, 2, rows.rolling_arm,
                       surface.rolling_friction,
                       {rows.rolling_arm * contact.warm_rolling.dot(rows.t1),
                        rows.rolling_arm * contact.warm_rolling.dot(rows.t2)});
  }
}

}  // namespace thrum::flexible
