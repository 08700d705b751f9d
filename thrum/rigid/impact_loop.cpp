// SPDX-License-Identifier: MIT
#include "thrum/rigid/impact_loop.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/rigid/impact_dynamics.h"

namespace thrum::rigid {

namespace {

/// Impulses over the contacts of one impact; four corners of a box settle in about ten.
constexpr int kMaxImpulses = 100;
/// A frame is taken in parts in which the bodies turn by no more than this [rad].
constexpr double kMaxTurn = 0.5;
/// Approaches slower than this share of the fastest are over.
constexpr double kSettled = 1e-6;

double radius_of(const ImpactObject& object)
{
  const Box3& box = object.surface->bounds();
  return box.min().cwiseAbs().cwiseMax(box.max().cwiseAbs()).norm();
}

// How much of the time of the motion has passed, by the way that the body made.
double time_share(const collision::SplitMotion& motion, const collision::BoyseImpact& impact, double radius)
{
  const double arm = (motion.translated(1).position - motion.centre).norm() + radius;
  const double first = motion.translation.norm();
  const double second = motion.angle * arm;
  const double done = impact.in_rotation ? first + impact.share * second : impact.share * first;
  return first + second > 0 ? done / (first + second) : 1.0;
}

ImpactBody at_impact(const ImpactObject& object, const Vec3& point)
{
  const Mat3 R = object.X_wb.rotation.toRotationMatrix();
  ImpactBody body;
  body.fixed = !(object.mass > 0);
  body.mass = object.mass;
  body.inertia = R * object.inertia * R.transpose();
  body.arm = point - object.X_wb.position;
  body.velocity = object.velocity;
  body.spin = object.spin;
  return body;
}

}  // namespace

ImpactObject make_impact_object(mesh::TriangleMesh mesh, double density)
{
  ImpactObject object;
  if (density > 0) {
    const mesh::MassProperties mass = mesh::solid_mass_properties(mesh, density);
    object.mass = mass.mass;
    object.inertia = mass.inertia;
    object.X_wb.position = mass.center;
  } else {
    object.X_wb.position = mesh::bounding_box(mesh).center();
  }
  mesh::transform(mesh, {-object.X_wb.position, Quat::Identity()});
  object.surface = std::make_shared<collision::BoyseSurface>(std::move(mesh));
  return object;
}

ImpactLoop::ImpactLoop(ImpactObject mover, ImpactObject other, const ImpactLoopDesc& desc)
    : a_(std::move(mover)), b_(std::move(other)), desc_(desc)
{
  if (!(a_.mass > 0)) throw Error("impact loop: the moving body has no mass; give it a density above 0.");
  if (desc_.candidates != ImpactCandidates::hierarchy) return;
  for (ImpactObject* object : {&a_, &b_}) {
    if (!object->bvh) object->bvh = std::make_shared<mesh::Bvh>(object->surface->mesh());
  }
}

double ImpactLoop::energy() const
{
  double sum = 0;
  for (const ImpactObject* object : {&a_, &b_}) {
    if (!(object->mass > 0)) continue;
    const Vec3 w = object->X_wb.direction_to_local(object->spin);
    sum += 0.5 * object->mass * object->velocity.squaredNorm() + 0.5 * w.dot(object->inertia * w) -
           object->mass * desc_.gravity.dot(object->X_wb.position);
  }
  return sum;
}

Pose ImpactLoop::advanced(const ImpactObject& body, double h) const
{
  const double angle = body.spin.norm() * h;
  const Quat turn = angle > 0 ? Quat(Eigen::AngleAxisd(angle, body.spin.normalized())) : Quat::Identity();
  return {body.X_wb.position + h * body.velocity, (turn * body.X_wb.rotation).normalized()};
}

const std::vector<mesh::TrianglePair>& ImpactLoop::find_candidates(const collision::SplitMotion& motion)
{
  pairs_.clear();
  const mesh::TriangleMesh& mesh_a = a_.surface->mesh();
  const mesh::TriangleMesh& mesh_b = b_.surface->mesh();
  if (desc_.candidates == ImpactCandidates::zlist) {
    pairs_ = buffer_
                 .find({.mesh = &mesh_a, .bounds = a_.surface->bounds(), .motion = &motion},
                       {.mesh = &mesh_b, .bounds = b_.surface->bounds()}, desc_.z_list)
                 .pairs;
  } else if (desc_.candidates == ImpactCandidates::hierarchy) {
    // No point is further from its place halfway than this at any time.
    const Pose middle = motion.rotated(0.5);
    double reach = 0;
    for (int k = 0; k < 8; ++k) {
      const Vec3 corner = a_.surface->bounds().corner(static_cast<Box3::CornerType>(k));
      const double arm = (motion.translated(1).point(corner) - motion.centre).norm();
      reach = std::max(reach, motion.translation.norm() + 0.5 * motion.angle * arm);
    }
    mesh::Bvh::for_each_near_pair(*a_.bvh, middle, *b_.bvh, Pose{}, reach, [&](Index i, Index j) {
      pairs_.push_back({i, j});
      return true;
    });
  } else {
    for (Index i = 0; i < count_of(mesh_a.triangles); ++i) {
      for (Index j = 0; j < count_of(mesh_b.triangles); ++j) pairs_.push_back({i, j});
    }
  }
  return pairs_;
}

// Of the mover, seen from the other body and in its axes.
collision::BoyseVelocity ImpactLoop::relative_motion() const
{
  const Vec3 between = a_.X_wb.position - b_.X_wb.position;
  return {b_.X_wb.direction_to_local(a_.velocity - b_.velocity - b_.spin.cross(between)),
          b_.X_wb.direction_to_local(a_.spin - b_.spin)};
}

void ImpactLoop::resolve(const std::vector<collision::BoyseContact>& contacts, ImpactStepReport& report)
{
  double fastest = 0;
  for (int k = 0; k < kMaxImpulses; ++k) {
    const collision::BoyseContact* worst = nullptr;
    double approach = kSettled * fastest;
    for (const collision::BoyseContact& c : contacts) {
      const Vec3 point = b_.X_wb.point(c.point);
      const double speed =
          -b_.X_wb.direction(c.normal).dot(relative_velocity(at_impact(a_, point), at_impact(b_, point)));
      if (!(speed > approach)) continue;
      approach = speed;
      worst = &c;
    }
    if (worst == nullptr) break;
    fastest = std::max(fastest, approach);
    const Vec3 point = b_.X_wb.point(worst->point);
    const ImpactResult result =
        solve_impact(at_impact(a_, point), at_impact(b_, point),
                     {.normal = b_.X_wb.direction(worst->normal).normalized(),
                      .restitution = approach < desc_.rest_speed ? 0 : desc_.restitution,
                      .friction = desc_.friction});
    a_.velocity = result.velocity_a;
    a_.spin = result.spin_a;
    b_.velocity = result.velocity_b;
    b_.spin = result.spin_b;
  }
  report.max_approach = std::max(report.max_approach, fastest);
}

ImpactStepReport ImpactLoop::step(double h)
{
  ImpactStepReport report;
  a_.velocity += h * desc_.gravity;
  if (b_.mass > 0) b_.velocity += h * desc_.gravity;
  double left = h;
  while (left > 0) {
    // A split motion turns by less than half a turn.
    const double turn = left * (a_.spin.norm() + b_.spin.norm());
    const double part = turn > kMaxTurn ? left * kMaxTurn / turn : left;
    const Pose to_a = advanced(a_, part);
    const Pose to_b = advanced(b_, part);
    const collision::SplitMotion motion =
        collision::screw_motion(b_.X_wb.inverse() * a_.X_wb, to_b.inverse() * to_a);
    const std::vector<mesh::TrianglePair>& pairs = find_candidates(motion);
    report.candidates += pairs.size();
    collision::BoyseDesc boyse = desc_.boyse;
    boyse.velocity = relative_motion();
    const collision::BoyseImpact impact =
        collision::find_first_impact(*a_.surface, *b_.surface, motion, pairs, boyse);
    if (!impact.found) {
      a_.X_wb = to_a;
      b_.X_wb = to_b;
      left -= part;
      continue;
    }
    const double passed = part * time_share(motion, impact, radius_of(a_));
    b_.X_wb = advanced(b_, passed);
    a_.X_wb = b_.X_wb * impact.X_ba;
    left -= passed;
    resolve(impact.contacts, report);
    if (++report.impacts >= desc_.max_impacts) {
      report.stopped = true;
      break;
    }
  }
  return report;
}

}  // namespace thrum::rigid
