// SPDX-License-Identifier: MIT
#include "thrum/rigid/islands.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace thrum::rigid {

namespace {

// Sets of bodies that can be joined; the root of a set is its lowest number.
class Sets {
 public:
  explicit Sets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t root(std::int32_t i)
  {
    while (at(i) != i) {
      at(i) = at(at(i));
      i = at(i);
    }
    return i;
  }
  void join(std::int32_t i, std::int32_t j)
  {
    const std::int32_t a = root(i);
    const std::int32_t b = root(j);
    at(std::max(a, b)) = std::min(a, b);
  }

 private:
  std::int32_t& at(std::int32_t i) { return parent_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> parent_;
};

}  // namespace

std::vector<std::int32_t> find_islands(const model::SceneModel& model, const model::SceneState& state)
{
  const std::size_t count = model.bodies.size();
  Sets sets(count);
  const auto dynamic = [&](model::BodyIndex id) {
    return id != model::kNone && model.bodies[static_cast<std::size_t>(id)].motion == model::Motion::dynamic;
  };
  for (const model::ContactPatch& patch : state.patches) {
    if (dynamic(patch.a) && dynamic(patch.b)) sets.join(patch.a, patch.b);
  }
  for (const model::Joint& joint : model.joints) {
    if (dynamic(joint.a) && dynamic(joint.b)) sets.join(joint.a, joint.b);
  }
  std::vector<std::int32_t> island(count, model::kNone);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto id = static_cast<std::int32_t>(i);
    if (!dynamic(id)) continue;
    const std::int32_t root = sets.root(id);
    island[i] = root == id ? next++ : island[static_cast<std::size_t>(root)];
  }
  return island;
}

void wake_islands(const model::SceneModel& model, model::SceneState& state)
{
  const bool any =
      std::any_of(state.bodies.begin(), state.bodies.end(), [](const auto& body) { return body.asleep; });
  if (!any) return;
  const std::vector<std::int32_t> island = find_islands(model, state);
  std::vector<bool> awake(model.bodies.size(), false);
  for (std::size_t i = 0; i < island.size(); ++i) {
    if (island[i] != model::kNone && !state.bodies[i].asleep)
      awake[static_cast<std::size_t>(island[i])] = true;
  }
  // What touches something that is driven must not sleep through it.
  for (const model::ContactPatch& patch : state.patches) {
    for (const auto& [mover, other] : {std::pair(patch.a, patch.b), std::pair(patch.b, patch.a)}) {
      const auto m = static_cast<std::size_t>(mover);
      const std::int32_t touched = island[static_cast<std::size_t>(other)];
      if (touched == model::kNone || model.bodies[m].motion != model::Motion::kinematic) continue;
      const bool moving =
          state.bodies[m].velocity.squaredNorm() + state.bodies[m].angular_velocity.squaredNorm() > 0;
      if (moving) awake[static_cast<std::size_t>(touched)] = true;
    }
  }
  for (std::size_t i = 0; i < island.size(); ++i) {
    if (island[i] == model::kNone || !awake[static_cast<std::size_t>(island[i])] || !state.bodies[i].asleep)
      continue;
    state.bodies[i].asleep = false;
    state.bodies[i].still_time = 0;
  }
}

void sleep_islands(const model::SceneModel& model, model::SceneState& state, const SleepSettings& settings,
                   double h)
{
  if (!settings.enabled) return;
  const double speed = settings.speed * model.length_scale;
  bool candidate = false;
  for (std::size_t i = 0; i < state.bodies.size(); ++i) {
    model::BodyState& body = state.bodies[i];
    const bool still = model.bodies[i].may_sleep && body.velocity.squaredNorm() < speed * speed &&
                       body.angular_velocity.squaredNorm() < settings.angular_speed * settings.angular_speed;
    body.still_time = still ? body.still_time + h : 0.0;
    candidate = candidate || (!body.asleep && body.still_time >= settings.time);
  }
  if (!candidate) return;
  const std::vector<std::int32_t> island = find_islands(model, state);
  std::vector<double> min_still_time(model.bodies.size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < island.size(); ++i) {
    if (island[i] == model::kNone) continue;
    double& time = min_still_time[static_cast<std::size_t>(island[i])];
    time = std::min(time, state.bodies[i].still_time);
  }
  for (std::size_t i = 0; i < island.size(); ++i) {
    if (island[i] == model::kNone || min_still_time[static_cast<std::size_t>(island[i])] < settings.time)
      continue;
    state.bodies[i].asleep = true;
    state.bodies[i].velocity.setZero();
    state.bodies[i].angular_velocity.setZero();
  }
}

}  // namespace thrum::rigid
