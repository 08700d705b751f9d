// SPDX-License-Identifier: MIT
// The groups that a step of the timewarp begins with, and how they become the state of the world again.
#include <algorithm>
#include <numeric>
#include <utility>

#include "thrum/collision/narrow_phase.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/sim/world_timewarp.h"

namespace thrum::sim {

namespace {

/// Impulses to start from grow by at most this from a slice to a whole step.
constexpr double kMaxWarmGrowth = 8;

std::int32_t find_root(std::vector<std::int32_t>& parent, std::int32_t i)
{
  while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
  return i;
}

}  // namespace

bool World::Timewarp::is_fixed(model::BodyIndex i) const
{
  const model::BodyProperties& body = world_.model_.bodies[at(i)];
  return body.motion == model::Motion::fixed && !body.vibrates;
}

void World::Timewarp::make_groups()
{
  const model::SceneModel& model = world_.model_;
  const model::SceneState& state = world_.state_;
  std::vector<std::int32_t> parent(model.bodies.size());
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<std::uint8_t> meets(model.bodies.size(), 0);
  const auto connect = [&](model::BodyIndex a, model::BodyIndex b) {
    if (a != model::kNone) meets[at(a)] = 1;
    if (b != model::kNone) meets[at(b)] = 1;
    if (a == model::kNone || b == model::kNone || is_fixed(a) || is_fixed(b)) return;
    parent[at(find_root(parent, a))] = find_root(parent, b);
  };
  for (const collision::BodyPair& pair : world_.near_pairs_) {
    if (world_.may_collide(pair)) connect(pair.a, pair.b);
  }
  for (const model::ContactPatch& patch : state.patches) connect(patch.a, patch.b);
  for (const model::Joint& joint : model.joints) connect(joint.a, joint.b);

  group_of_.assign(model.bodies.size(), model::kNone);
  std::vector<std::int32_t> number(model.bodies.size(), model::kNone);
  for (std::size_t i = 0; i < model.bodies.size(); ++i) {
    const auto body = static_cast<model::BodyIndex>(i);
    if (world_.removed_[i] != 0 || is_fixed(body)) continue;
    if (meets[i] == 0) {
      if (!state.bodies[i].asleep) free_.bodies.push_back(body);
      continue;
    }
    std::int32_t& group = number[at(find_root(parent, body))];
    if (group == model::kNone) {
      group = static_cast<std::int32_t>(groups_.size());
      groups_.emplace_back();
    }
    group_of_[i] = group;
    groups_[at(group)].bodies.push_back(body);
  }
  drop_sleeping_groups();
  add_fixed_bodies();
  for (WarpGroup& group : groups_) start_group(group);
  distribute_contacts();
}

void World::Timewarp::drop_sleeping_groups()
{
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto& bodies = groups_[g].bodies;
    const bool asleep = std::all_of(bodies.begin(), bodies.end(),
                                    [&](model::BodyIndex i) { return world_.state_.bodies[at(i)].asleep; });
    if (!asleep) continue;
    for (const model::BodyIndex i : bodies) group_of_[at(i)] = model::kNone;
    groups_[g].is_merged = true;
  }
}

void World::Timewarp::add_fixed_bodies()
{
  const auto add = [&](model::BodyIndex a, model::BodyIndex b) {
    if (a == model::kNone || b == model::kNone || is_fixed(a) == is_fixed(b)) return;
    const model::BodyIndex mover = is_fixed(a) ? b : a;
    if (group_of_[at(mover)] != model::kNone)
      groups_[at(group_of_[at(mover)])].bodies.push_back(is_fixed(a) ? a : b);
  };
  for (const collision::BodyPair& pair : world_.near_pairs_) {
    if (world_.may_collide(pair)) add(pair.a, pair.b);
  }
  for (const model::ContactPatch& patch : world_.state_.patches) add(patch.a, patch.b);
  for (const model::Joint& joint : world_.model_.joints) add(joint.a, joint.b);
  for (WarpGroup& group : groups_) {
    std::sort(group.bodies.begin(), group.bodies.end());
    group.bodies.erase(std::unique(group.bodies.begin(), group.bodies.end()), group.bodies.end());
  }
}

// Model and bodies as they are in the world, without contacts. Joints are those of its bodies.
void World::Timewarp::start_group(WarpGroup& group)
{
  const model::SceneModel& model = world_.model_;
  group.model.gravity = model.gravity;
  group.model.length_scale = model.length_scale;
  group.removed.assign(group.bodies.size(), 0);
  model::SceneState& state = group.now.state;
  state.time = world_.state_.time;
  state.step = world_.state_.step;
  state.last_step = world_.state_.last_step;
  for (const model::BodyIndex i : group.bodies) {
    group.model.bodies.push_back(model.bodies[at(i)]);
    state.bodies.push_back(world_.state_.bodies[at(i)]);
    state.body_ids.push_back(world_.state_.body_ids[at(i)]);
  }
  for (const model::ModalState& ring : world_.state_.modal_states) {
    if (std::find(state.body_ids.begin(), state.body_ids.end(), ring.body) != state.body_ids.end())
      state.modal_states.push_back(ring);
  }
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    model::Joint joint = model.joints[j];
    const model::BodyIndex mover = is_fixed(joint.a) ? joint.b : joint.a;
    if (mover == model::kNone || group.local(mover) == model::kNone) continue;
    joint.a = group.local(joint.a);
    joint.b = group.local(joint.b);
    group.joints.push_back(static_cast<model::JointIndex>(j));
    group.model.joints.push_back(joint);
    state.joints.push_back(world_.state_.joints[j]);
    state.joint_ids.push_back(world_.state_.joint_ids[j]);
  }
  for (const collision::BodyPair& pair : world_.excluded_pairs_) {
    const collision::BodyPair inside{group.local(pair.a), group.local(pair.b)};
    if (inside.a != model::kNone && inside.b != model::kNone) group.excluded_pairs.push_back(inside);
  }
}

// Each patch and reference goes to the group of its bodies.
void World::Timewarp::distribute_contacts()
{
  const auto to_groups = [&](const auto& list, auto member) {
    for (const auto& entry : list) {
      const model::BodyIndex mover = is_fixed(entry.a) ? entry.b : entry.a;
      const std::int32_t g = group_of_[at(mover)];
      if (g == model::kNone) continue;
      WarpGroup& group = groups_[at(g)];
      auto copy = entry;
      copy.a = group.local(entry.a);
      copy.b = group.local(entry.b);
      if (copy.a != model::kNone && copy.b != model::kNone) (group.now.state.*member).push_back(copy);
    }
  };
  to_groups(world_.state_.patches, &model::SceneState::patches);
  to_groups(world_.state_.references, &model::SceneState::references);
}

// Bodies that meet nothing: one slice for all of them.
void World::Timewarp::advance_free_bodies()
{
  start_group(free_);
  world_.advance_group(free_, h_, h_);
  while (free_.now.time < h_) world_.advance_group(free_, h_, h_);
}

void World::Timewarp::scale_to(double wanted, double last, std::vector<model::ContactPatch>& patches) const
{
  if (last > 0 && last != wanted && !world_.stepper_->keeps_forces())
    collision::scale_warm_impulses(patches, std::min(wanted / last, kMaxWarmGrowth));
}

void World::Timewarp::sort_contacts(model::SceneState& state)
{
  const auto before = [](const auto& p, const auto& q) {
    return std::pair(p.a, p.b) < std::pair(q.a, q.b);
  };
  std::stable_sort(state.patches.begin(), state.patches.end(), before);
  std::stable_sort(state.references.begin(), state.references.end(), before);
}

// What the groups have become is the state of the world at the end of the step.
void World::Timewarp::write_back()
{
  model::SceneState& state = world_.state_;
  const auto in_group = [&](const auto& entry) {
    return is_in_group(entry.a, entry.b);
  };
  std::erase_if(state.patches, in_group);
  std::erase_if(state.references, in_group);
  for (WarpGroup& group : groups_) {
    if (!group.is_merged) write_back_group(group);
  }
  for (std::size_t i = 0; i < free_.bodies.size(); ++i) {
    if (group_of_[at(free_.bodies[i])] == model::kNone)
      state.bodies[at(free_.bodies[i])] = free_.now.state.bodies[i];
  }
  write_back_vibration();
  sort_contacts(state);
  std::stable_sort(world_.events_.begin(), world_.events_.end(),
                   [](const auto& p, const auto& q) { return p.time < q.time; });
  std::stable_sort(world_.impulses_.begin(), world_.impulses_.end(),
                   [](const auto& p, const auto& q) { return p.time < q.time; });
  state.time += h_;
  state.last_step = h_;
  ++state.step;
}

// Bodies ring as their groups left them, in the order of the bodies.
void World::Timewarp::write_back_vibration()
{
  if (world_.flexible_ == nullptr) return;
  double contact_energy = 0;
  std::vector<std::pair<model::BodyIndex, model::ModalState>> rings;
  const auto take = [&](const WarpGroup& group, bool is_free) {
    contact_energy += group.now.contact_energy;
    for (const model::ModalState& ring : group.now.state.modal_states) {
      const auto& ids = group.now.state.body_ids;
      const auto place = std::find(ids.begin(), ids.end(), ring.body) - ids.begin();
      const model::BodyIndex body = group.bodies[static_cast<std::size_t>(place)];
      if (!is_free || group_of_[at(body)] == model::kNone) rings.emplace_back(body, ring);
    }
  };
  for (const WarpGroup& group : groups_) {
    if (!group.is_merged) take(group, false);
  }
  if (!free_.bodies.empty()) take(free_, true);
  std::sort(rings.begin(), rings.end(), [](const auto& p, const auto& q) { return p.first < q.first; });
  world_.state_.modal_states.clear();
  for (auto& [body, ring] : rings) world_.state_.modal_states.push_back(std::move(ring));
  world_.flexible_->set_contact_energy(contact_energy);
}

void World::Timewarp::write_back_group(WarpGroup& group)
{
  model::SceneState& state = world_.state_;
  model::SceneState& from = group.now.state;
  for (std::size_t i = 0; i < group.bodies.size(); ++i) {
    if (!is_fixed(group.bodies[i])) state.bodies[at(group.bodies[i])] = from.bodies[i];
  }
  for (std::size_t j = 0; j < group.joints.size(); ++j) state.joints[at(group.joints[j])] = from.joints[j];
  scale_to(h_, from.last_step, from.patches);
  const auto append = [&](auto& list, auto& into) {
    for (auto& entry : list) {
      entry.a = group.bodies[at(entry.a)];
      entry.b = group.bodies[at(entry.b)];
      into.push_back(entry);
    }
  };
  append(from.patches, state.patches);
  append(from.references, state.references);
  const auto join = [](auto& list, auto& into) {
    into.insert(into.end(), list.begin(), list.end());
  };
  join(group.now.contacts, world_.contacts_);
  join(group.now.impulses, world_.impulses_);
  join(group.now.events, world_.events_);
  // The flexible stepper keeps its own, see write_back_vibration().
  if (world_.flexible_ == nullptr) world_.warped_contact_energy_ += group.now.contact_energy;
}

bool World::Timewarp::is_in_group(model::BodyIndex a, model::BodyIndex b) const
{
  return group_of_[at(is_fixed(a) ? b : a)] != model::kNone;
}

}  // namespace thrum::sim
