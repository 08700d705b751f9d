// SPDX-License-Identifier: MIT
#include "thrum/rigid/warm_start.h"

#include <algorithm>

#include "thrum/rigid/islands.h"

namespace thrum::rigid {

void WarmStartLimit::prepare(const model::SceneModel& model, const model::SceneState& state)
{
  island_ = find_islands(model, state);
  inertia_.resize(island_.size());
  std::int32_t count = 0;
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (island_[i] == model::kNone) continue;
    count = std::max(count, island_[i] + 1);
    const Mat3 R = state.bodies[i].X_wb.rotation.toRotationMatrix();
    inertia_[i] = R * model.bodies[i].inertia * R.transpose();
  }
  energy_.assign(static_cast<std::size_t>(count), {});
}

void WarmStartLimit::note(SolverBodies& bodies)
{
  before_.resize(island_.size());
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyId>(i)];
    before_[i] = {body.v, body.w};
  }
}

bool WarmStartLimit::limit(SolverBodies& bodies)
{
  std::fill(energy_.begin(), energy_.end(), Energy{});
  for (std::size_t i = 0; i < island_.size(); ++i) {
    const SolverBody& body = bodies[static_cast<model::BodyId>(i)];
    if (island_[i] == model::kNone || body.inverse_mass == 0) continue;
    const Vec3 dv = body.v - before_[i].v;
    const Vec3 dw = body.w - before_[i].w;
    const Vec3 turned = inertia_[i] * dw;
    Energy& energy = energy_[static_cast<std::size_t>(island_[i])];
    energy.slope += before_[i].v.dot(dv) / body.inverse_mass + before_[i].w.dot(turned);
    energy.square += dv.squaredNorm() / body.inverse_mass + dw.dot(turned);
  }
  // Eq. (1).
  bool any = false;
  for (Energy& energy : energy_) {
    if (2 * energy.slope + energy.square <= 0) continue;
    energy.share = std::max(0.0, -energy.slope / energy.square);
    any = true;
  }
  if (!any) return false;
  for (std::size_t i = 0; i < island_.size(); ++i) {
    if (island_[i] == model::kNone) continue;
    const double share = energy_[static_cast<std::size_t>(island_[i])].share;
    if (share == 1) continue;
    SolverBody& body = bodies[static_cast<model::BodyId>(i)];
    body.v = before_[i].v + share * (body.v - before_[i].v);
    body.w = before_[i].w + share * (body.w - before_[i].w);
  }
  return true;
}

double WarmStartLimit::share(model::BodyId a, model::BodyId b) const
{
  for (const model::BodyId id : {a, b}) {
    // The world, to which joints may be tied, has no number here.
    if (static_cast<std::size_t>(id) >= island_.size()) continue;
    const std::int32_t island = island_[static_cast<std::size_t>(id)];
    if (island != model::kNone) return energy_[static_cast<std::size_t>(island)].share;
  }
  return 1;
}

}  // namespace thrum::rigid
