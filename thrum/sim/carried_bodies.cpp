// SPDX-License-Identifier: MIT
#include "thrum/sim/carried_bodies.h"

#include <Eigen/LU>
#include <algorithm>
#include <set>

#include "thrum/base/index.h"

namespace thrum::sim {

namespace {

Mat3 world_inertia(const model::BodyProperties& desc, const model::BodyState& body)
{
  const Mat3 R = body.X_wb.rotation.toRotationMatrix();
  return R * desc.inertia * R.transpose();
}

}  // namespace

SupportGraph::SupportGraph(const StepView& view,
                           const std::function<bool(const model::ContactPoint&)>& is_resting)
    : view_(view)
{
  const auto join = [&](model::BodyIndex a, model::BodyIndex b) {
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  };
  for (const model::ContactPatch& patch : view.state.patches) {
    const auto points = patch.active();
    if (std::any_of(points.begin(), points.end(), is_resting)) join(patch.a, patch.b);
  }
  for (const model::Joint& joint : view.model.joints) join(joint.a, joint.b);
}

std::vector<model::BodyIndex> SupportGraph::carried_by(
    model::BodyIndex carrier, const std::function<bool(model::BodyIndex)>& is_other_support) const
{
  std::vector<model::BodyIndex> carried;
  const auto first = neighbours_.find(carrier);
  if (first == neighbours_.end()) return carried;
  std::set<model::BodyIndex> seen = {carrier};
  // One group of bodies that hold each other at a time.
  for (const model::BodyIndex start : first->second) {
    std::vector<model::BodyIndex> group, to_visit = {start};
    bool is_held = false;
    while (!to_visit.empty()) {
      const model::BodyIndex body = to_visit.back();
      to_visit.pop_back();
      if (body != carrier && (body == model::kNone || is_other_support(body) ||
                              view_.model.bodies[at(body)].motion != model::Motion::dynamic)) {
        is_held = true;
        continue;
      }
      if (!seen.insert(body).second) continue;
      group.push_back(body);
      const auto next = neighbours_.find(body);
      to_visit.insert(to_visit.end(), next->second.begin(), next->second.end());
    }
    if (!is_held) carried.insert(carried.end(), group.begin(), group.end());
  }
  std::sort(carried.begin(), carried.end());
  return carried;
}

BodyStack::BodyStack(const StepView& view, std::vector<model::BodyIndex> bodies) : members(std::move(bodies))
{
  Vec3 momentum = Vec3::Zero();
  for (const model::BodyIndex b : members) {
    const double m = view.model.bodies[at(b)].mass;
    mass += m;
    centre += m * view.state.bodies[at(b)].X_wb.position;
    momentum += m * view.state.bodies[at(b)].velocity;
  }
  centre /= mass;
  velocity = momentum / mass;
  Vec3 angular_momentum = Vec3::Zero();
  for (const model::BodyIndex b : members) {
    const model::BodyProperties& desc = view.model.bodies[at(b)];
    const model::BodyState& body = view.state.bodies[at(b)];
    const Vec3 r = body.X_wb.position - centre;
    const Mat3 own = world_inertia(desc, body);
    inertia += own + desc.mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    angular_momentum += own * body.angular_velocity + desc.mass * r.cross(body.velocity);
  }
  angular_velocity = inertia.inverse() * angular_momentum;
}

void BodyStack::apply_impulse(const StepView& view, StepActions& actions, const Vec3& impulse,
                              const Vec3& angular_impulse) const
{
  const Vec3 v = impulse / mass;
  const Vec3 w = inertia.inverse() * angular_impulse;
  for (const model::BodyIndex b : members) {
    const model::BodyProperties& desc = view.model.bodies[at(b)];
    const model::BodyState& body = view.state.bodies[at(b)];
    const Vec3 r = body.X_wb.position - centre;
    (void)actions.apply_impulse(b, desc.mass * (v + w.cross(r)), world_inertia(desc, body) * w);
  }
}

}  // namespace thrum::sim
