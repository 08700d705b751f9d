// SPDX-License-Identifier: MIT
// The springs of a slice: from the contacts, and how stiff they are together.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/collision/prepared_shape.h"
#include "thrum/rigid/overlap_push.h"
#include "thrum/rigid/penalty_stepper.h"

namespace thrum::rigid {

namespace {

/// Springs of the default stiffness are pressed by no more than this share of the thinner body's width, or
/// fast bodies would come out on the other side.
constexpr double kMaxDepthShare = 0.25;
/// A body on many points swings faster than a mass on one spring, by about this factor. Stiffer springs than
/// max_substeps can follow would add energy.
constexpr double kPointsShare = 10;
/// A body that turns by more than this in a slice may answer the springs otherwise than when it began [rad].
constexpr double kFarTurn = 0.1;
/// Substeps are divided where they are longer than wanted by this factor.
constexpr double kPartsFactor = 2;

Vec3 limited(const Vec3& v, double max_length)
{
  const double length = v.norm();
  return length > max_length ? Vec3(v * (max_length / length)) : v;
}

BodyRow row_along(const model::ContactPatch& contact, const Vec3& direction, const Vec3& ra, const Vec3& rb)
{
  return {contact.a, contact.b, direction, ra.cross(direction), rb.cross(direction)};
}

BodyRow row_about(const model::ContactPatch& contact, const Vec3& axis)
{
  return {contact.a, contact.b, Vec3::Zero(), axis, axis};
}

}  // namespace

// The stiffness with which a mass m on the n points of a patch, that met it at v0, would come to rest at the
// depth D without losses: m v0^2 = k D^2. The speed v0 follows from the present one and the energy of the
// springs (impact_frequency()), so that k stays the same while the springs are pressed and released. Where it
// changes nevertheless, as of a body that turns, energy is lost, never gained: see make_springs().
double PenaltyStepper::default_stiffness(const StepFrame& frame, const model::ContactPatch& contact,
                                         const PenaltyPatch& patch, double mass, double damping_ratio) const
{
  const double omega = std::numbers::pi / settings_.contact_time;
  const double stiffness = mass * omega * omega;
  const auto width = [&](model::BodyIndex body) {
    return frame.shapes[at(frame.model.bodies[at(body)].shape)].width;
  };
  const double max_depth = kMaxDepthShare * std::min(width(contact.a), width(contact.b));
  if (!std::isfinite(max_depth) || !(max_depth > 0)) return stiffness;
  const double max_omega =
      std::numbers::pi * settings_.max_substeps / (kPointsShare * settings_.substeps_per_contact * frame.h);
  const double solvable = mass * max_omega * max_omega;
  double twice_energy = 0;
  double approach = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    twice_energy += contact.points[i].warm_impulse * contact.points[i].warm_impulse;
    approach = std::max(approach, -patch.points[i].speed);
  }
  // All points together swing with sqrt(n k / m).
  const double points = patch.count;
  const double needed = impact_frequency(damping_ratio, max_depth / std::sqrt(points), approach,
                                         std::sqrt(twice_energy / mass));
  return std::max(stiffness, std::min(mass * needed * needed / points, solvable));
}

void PenaltyStepper::make_springs(const StepFrame& frame, const model::ContactPatch& contact,
                                  PenaltyPatch& patch)
{
  const model::Surface& surface = frame.surfaces[at(patch.source)];
  const double mass = 1 / (bodies_[contact.a].inverse_mass + bodies_[contact.b].inverse_mass);
  const double ratio =
      settings_.damping_ratio.value_or(damping_ratio_for(surface.restitution, settings_.max_damping_ratio));
  const double k =
      settings_.stiffness ? *settings_.stiffness : default_stiffness(frame, contact, patch, mass, ratio);
  // The points of a flat patch together have the damping ratio.
  patch.spring = {k, 2 * ratio * std::sqrt(k * mass / patch.count)};

  // With the energy that they held at the end of the last slice, at most.
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    PenaltyPoint& point = patch.points[i];
    const double pressed = std::max(0.0, contact.points[i].warm_impulse) / std::sqrt(k);
    point.excess = std::max(0.0, point.depth - pressed);
    point.depth = std::min(point.depth, pressed);
  }

  Vec3 middle = Vec3::Zero();
  for (const model::ContactPoint& point : contact.active()) middle += point.position / patch.count;
  double arm = 0;
  double load = 0;
  for (std::size_t i = 0; i < patch.active().size(); ++i) {
    arm += (contact.points[i].position - middle).norm() / patch.count;
    load += k * std::max(0.0, patch.points[i].depth);
  }
  const double stiffness = settings_.friction_stiffness * k * patch.count;
  const double damping = 2 * settings_.friction_damping_ratio * std::sqrt(stiffness * mass);
  const auto start = [&](SlipSpring& spring, double scale, double limit, const Vec3& root_energy) {
    spring.stiffness = scale * scale * stiffness;
    spring.damping = scale * scale * damping;
    spring.limit = limit;
    // A force that the springs along the normal cannot hold any more is not taken over.
    const double root = std::sqrt(spring.stiffness);
    const Vec3 kept = limited(root_energy, limit * load / root);
    for (std::size_t i = 0; i < at(spring.count); ++i) {
      const BodyRow& row = spring.rows[i];
      spring.stretch[i] = -(row.linear.isZero(0) ? row.angular_b : row.linear).dot(kept) / root;
    }
  };
  patch.middle = {middle - frame.state.bodies[at(contact.a)].X_wb.position,
                  middle - frame.state.bodies[at(contact.b)].X_wb.position};
  if (surface.friction > 0) {
    const Vec3 ra = middle - frame.state.bodies[at(contact.a)].X_wb.position;
    const Vec3 rb = middle - frame.state.bodies[at(contact.b)].X_wb.position;
    patch.sliding.count = 2;
    patch.sliding.rows = {row_along(contact, patch.t1, ra, rb), row_along(contact, patch.t2, ra, rb)};
    start(patch.sliding, 1, surface.friction, contact.warm_friction);
  }
  const double twist_limit = surface.friction * arm + surface.spinning_friction;
  if (twist_limit > 0) {
    patch.twist.count = 1;
    patch.twist.rows[0] = row_about(contact, patch.n);
    start(patch.twist, std::max(arm, surface.spinning_friction), twist_limit, contact.warm_twist * patch.n);
  }
  if (surface.rolling_friction > 0) {
    patch.rolling.count = 2;
    patch.rolling.rows = {row_about(contact, patch.t1), row_about(contact, patch.t2)};
    start(patch.rolling, std::max(arm, surface.rolling_friction), surface.rolling_friction,
          contact.warm_rolling);
  }
}

void PenaltyStepper::gather_patches(const StepFrame& frame)
{
  patches_.clear();
  patches_.reserve(frame.order.size());
  for (const std::int32_t source : frame.order) {
    const model::ContactPatch& contact = frame.state.patches[at(source)];
    PenaltyPatch& patch = patches_.emplace_back();
    patch.source = source;
    patch.n = contact.normal;
    patch.t1 = patch.n.unitOrthogonal();
    patch.t2 = patch.n.cross(patch.t1);
    patch.count = contact.count;
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      const Vec3& p = contact.points[i].position;
      PenaltyPoint& point = patch.points[i];
      point.row = row_along(contact, patch.n, p - frame.state.bodies[at(contact.a)].X_wb.position,
                            p - frame.state.bodies[at(contact.b)].X_wb.position);
      point.arms = {p - frame.state.bodies[at(contact.a)].X_wb.position,
                    p - frame.state.bodies[at(contact.b)].X_wb.position};
      point.depth = contact.points[i].depth;
      point.speed = speed_of(point.row, bodies_);
    }
    make_springs(frame, contact, patch);
  }
}

// What a distant response asks for is given at once: the springs are too slow for it.
void PenaltyStepper::apply_requested_speeds(const StepFrame& frame)
{
  for (PenaltyPatch& patch : patches_) {
    const model::ContactPatch& contact = frame.state.patches[at(patch.source)];
    for (std::size_t i = 0; i < patch.active().size(); ++i) {
      PenaltyPoint& point = patch.points[i];
      const double missing = contact.points[i].requested_speed - speed_of(point.row, bodies_);
      if (!(contact.points[i].requested_speed > 0) || !(missing > 0)) continue;
      const double impulse = missing / coupling(point.row, point.row, bodies_);
      apply(point.row, bodies_, impulse);
      point.total += impulse;
    }
  }
}

void PenaltyStepper::push_out(StepFrame& frame)
{
  std::vector<OverlapRow> rows;
  for (const PenaltyPatch& patch : patches_) {
    for (const PenaltyPoint& point : patch.active()) {
      if (point.excess > 0) rows.push_back({point.row, point.excess});
    }
  }
  push_out_overlap({settings_.push_out_share, settings_.max_push_out * frame.model.length_scale}, rows,
                   frame.h, bodies_, frame.state);
}

// -----------------------------------------------------------------------------------------------------------
// The stable step

// With K = sum k J^T J over the springs, the largest eigenvalue of M^-1 K is at most the largest sum over the
// springs of one body of k J M^-1 J^T through that body, twice where the other body yields as well, since
// (x + y)^2 <= 2 x^2 + 2 y^2. Springs that the bodies cannot reach in this slice are left out [1/s^2].
//
// `is_turning`: within a slice, with the speeds as they are now. A body that turns by far within h then
// counts with the largest response that it has in any direction: the norm of its inverse inertia.
double PenaltyStepper::largest_square_frequency(double h, bool is_turning)
{
  square_frequency_.assign(bodies_.all().size(), 0.0);
  const auto add = [&](const BodyRow& row, double stiffness) {
    const SolverBody& A = bodies_[row.a];
    const SolverBody& B = bodies_[row.b];
    const double factor = A.inverse_mass > 0 && B.inverse_mass > 0 ? 2 : 1;
    const auto through = [&](const SolverBody& body, const Vec3& angular) {
      const bool is_far = is_turning && h * h * body.w.squaredNorm() > kFarTurn * kFarTurn;
      const double turning = is_far ? angular.squaredNorm() * body.inverse_inertia.norm()
                                    : angular.dot(body.inverse_inertia * angular);
      return factor * stiffness * (body.inverse_mass * row.linear.squaredNorm() + turning);
    };
    square_frequency_[at(row.a)] += through(A, row.angular_a);
    square_frequency_[at(row.b)] += through(B, row.angular_b);
  };
  for (const PenaltyPatch& patch : patches_) {
    bool touches = false;
    for (const PenaltyPoint& point : patch.active()) {
      const Vec3 pull = bodies_[point.row.b].acceleration - bodies_[point.row.a].acceleration;
      const double speed = is_turning ? speed_of(point.row, bodies_) : point.speed;
      const double approach = std::abs(speed) + h * pull.norm();
      if (point.depth + h * approach <= 0) continue;
      touches = true;
      add(point.row, patch.spring.stiffness);
    }
    if (!touches) continue;
    for (const SlipSpring* spring : {&patch.sliding, &patch.twist, &patch.rolling}) {
      for (std::size_t i = 0; i < at(spring->count); ++i) add(spring->rows[i], spring->stiffness);
    }
  }
  return *std::max_element(square_frequency_.begin(), square_frequency_.end());
}

int PenaltyStepper::count_substeps(double h)
{
  islands_.clear();
  parts_ = 1;
  counted_turn_.assign(bodies_.all().size(), Vec3::Zero());
  const double wanted = substeps_for(largest_square_frequency(h, false), h);
  is_limited_ = false;
  if (wanted > settings_.max_substeps) note_limit(wanted);
  const int count = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(settings_.max_substeps)));
  parts_left_ = settings_.max_substeps - count;
  return count;
}

double PenaltyStepper::substeps_for(double square_frequency, double h) const
{
  return std::ceil(h * std::sqrt(square_frequency) * settings_.substeps_per_contact / std::numbers::pi);
}

void PenaltyStepper::note_limit(double wanted)
{
  if (!is_limited_) ++substep_limits_.slices;
  is_limited_ = true;
  substep_limits_.max_needed = std::max(substep_limits_.max_needed, wanted);
}

// A body may answer a force across it a thousand times as much after a quarter of a turn: a needle that lands
// on its point and is turned by the friction there. The substep that was found when the slice began is then
// too long by far and is divided. (When it was not, sweeps did not settle, and friction threw the needle off
// with 400,000 times its energy.)
int PenaltyStepper::count_parts(const StepFrame& frame, double h)
{
  if (patches_.empty()) return 1;
  bool has_turned = false;
  for (std::size_t i = 0; i < counted_turn_.size(); ++i) {
    const SolverBody& body = bodies_.all()[i];
    const double turn = std::max((body.dth - counted_turn_[i]).squaredNorm(), h * h * body.w.squaredNorm());
    has_turned = has_turned || (body.inverse_mass > 0 && turn > kFarTurn * kFarTurn);
  }
  if (has_turned) {
    for (std::size_t i = 0; i < counted_turn_.size(); ++i) counted_turn_[i] = bodies_.all()[i].dth;
    bodies_.update_world_inertia(frame.model, frame.state);
    move_rows(frame);
    const double wanted = substeps_for(largest_square_frequency(h, true) / (kPartsFactor * kPartsFactor), h);
    if (wanted > 1.0 + parts_left_) note_limit(wanted * substeps_);
    parts_ = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(settings_.max_substeps)));
  }
  const int parts = std::min(parts_, 1 + parts_left_);
  parts_left_ -= parts - 1;
  return parts;
}

}  // namespace thrum::rigid
