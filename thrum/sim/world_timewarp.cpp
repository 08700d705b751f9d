// SPDX-License-Identifier: MIT
// Timewarp [Lecture13; Mirtich 2000]: groups of bodies that may meet advance through a step each at its own
// time, so that an impact ends a slice of its group only.
//
//   groups     bodies whose boxes over the whole step overlap, that touch, or that a joint connects. Bodies
//              that meet nothing are advanced together, in one slice.
//   queue      the group whose local time is earliest advances next, by one slice: up to its first impact
//              (conservative advancement) or the end of the step. Its state is saved before that.
//   rollback   an impact may send a body to where its box did not say. If its way in the slice meets the box
//              of a body outside its group, the slice is undone; the groups concerned go back to the start of
//              the slice, become one group, and advance from there. Nobody else notices.
//   reclaim    no group can be sent back to before the earliest local time (global virtual time): older saved
//              states are dropped.
//
// All groups are at the same time again at the end of World::step(). The members of the world that a slice
// works on (model, state, pairs, reports) are swapped with those of the group while it advances.
//
// Where we leave the paper: groups are formed at the start of each step from boxes, rather than split as soon
// as bodies part; and events are slices of groups, since the solvers work on groups.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "thrum/base/index.h"
#include "thrum/collision/time_of_impact.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Impacts cut no slice of a group to less than this share of the step.
constexpr double kMinGroupSlice = 1e-6;
/// Impulses to start from grow by at most this from a slice to a whole step.
constexpr double kMaxWarmGrowth = 8;

/// Pairs of boxes that overlap, of which not both are fixed; sorted.
void overlapping_pairs(std::span<const Box3> boxes, const std::vector<model::BodyProperties>& bodies,
                       std::vector<collision::BodyPair>& pairs)
{
  pairs.clear();
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return std::pair(boxes[i].min().x(), i) < std::pair(boxes[j].min().x(), j);
  });
  std::vector<std::size_t> open;
  for (const std::size_t i : order) {
    std::erase_if(open, [&](std::size_t j) { return boxes[j].max().x() < boxes[i].min().x(); });
    for (const std::size_t j : open) {
      const bool both_fixed =
          bodies[i].motion == model::Motion::fixed && bodies[j].motion == model::Motion::fixed;
      if (both_fixed || !boxes[i].intersects(boxes[j])) continue;
      pairs.push_back(
          {static_cast<model::BodyIndex>(std::min(i, j)), static_cast<model::BodyIndex>(std::max(i, j))});
    }
    open.push_back(i);
  }
  std::sort(pairs.begin(), pairs.end());
}

std::int32_t find_root(std::vector<std::int32_t>& parent, std::int32_t i)
{
  while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
  return i;
}

}  // namespace

/// Bodies that advance together, as a scene of their own. Indices in it are positions in `bodies`.
struct World::WarpGroup {
  struct Saved {
    double time = 0;  ///< since the start of the step [s]
    model::SceneState state;
    std::vector<model::Contact> contacts;
    std::vector<model::ImpulseEvent> impulses;
    std::vector<model::ContactEvent> events;
    int cuts = 0;
    int whole = 0;
  };

  std::vector<model::BodyIndex> bodies;   ///< in the world, sorted; those that it meets and are fixed as well
  std::vector<model::JointIndex> joints;  ///< likewise
  Saved now;
  std::vector<Saved> saved;  ///< by time
  std::vector<Box3> boxes;   ///< of the bodies over the last slice
  bool is_merged = false;    ///< it is part of another group

  // Swapped with the members of the world.
  model::SceneModel model;
  std::vector<Pose> X_ws;
  std::vector<Box3> swept_boxes;
  std::vector<collision::BodyPair> near_pairs;
  std::vector<collision::BodyPair> excluded_pairs;
  std::vector<std::uint8_t> removed;

  [[nodiscard]] model::BodyIndex local(model::BodyIndex body) const
  {
    if (body == model::kNone) return model::kNone;
    const auto found = std::lower_bound(bodies.begin(), bodies.end(), body);
    return found != bodies.end() && *found == body ? static_cast<model::BodyIndex>(found - bodies.begin())
                                                   : model::kNone;
  }
};

// -----------------------------------------------------------------------------------------------------------
// One group

void World::swap_group(WarpGroup& group)
{
  std::swap(model_, group.model);
  // These are of the world for every group.
  model_.shapes.swap(group.model.shapes);
  model_.surfaces.swap(group.model.surfaces);
  model_.surface_pairs.swap(group.model.surface_pairs);
  std::swap(state_, group.now.state);
  X_ws_.swap(group.X_ws);
  boxes_.swap(group.swept_boxes);
  near_pairs_.swap(group.near_pairs);
  excluded_pairs_.swap(group.excluded_pairs);
  removed_.swap(group.removed);
  contacts_.swap(group.now.contacts);
  impulses_.swap(group.now.impulses);
  events_.swap(group.now.events);
  stepper_->forget_contacts();
  contacts_changed_ = true;
  graph_asleep_.clear();
  in_group_ = !in_group_;
}

void World::find_pairs_in_group(double h)
{
  X_ws_.resize(model_.bodies.size());
  boxes_.resize(model_.bodies.size());
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    X_ws_[i] = state_.bodies[i].X_wb * model_.bodies[i].X_bs;
    boxes_[i] = swept_box(i, h);
  }
  overlapping_pairs(boxes_, model_.bodies, near_pairs_);
  remove_far_pairs();
}

void World::list_fast_pairs_in_group(double h)
{
  std::vector<Box3> boxes(model_.bodies.size());
  for (std::size_t i = 0; i < boxes.size(); ++i)
    boxes[i] = box_of_motion(static_cast<model::BodyIndex>(i), h);
  overlapping_pairs(boxes, model_.bodies, fast_pairs_);
  std::erase_if(fast_pairs_, [&](const collision::BodyPair& pair) { return !may_collide(pair); });
}

// One slice of a group, which ends at `end` at the latest. `h` is the whole step.
void World::advance_group(WarpGroup& group, double end, double h)
{
  swap_group(group);
  const double left = end - group.now.time;
  find_pairs_in_group(left);
  const int slices = std::min(slice_count_for(left), std::max(1, desc_.max_slices - group.now.whole));
  const double length = left / slices;
  if (length < left) refilter_pairs(length);
  const double taken =
      solve_until_impact(length, kMinGroupSlice * h, group.now.cuts < desc_.max_impact_slices);
  (taken < length ? group.now.cuts : group.now.whole) += 1;
  group.boxes.resize(model_.bodies.size());
  for (std::size_t i = 0; i < group.boxes.size(); ++i) {
    if (model_.bodies[i].motion == model::Motion::fixed) continue;
    const double margin = desc_.narrow_phase.margin * prepared_[at(model_.bodies[i].shape)].min_extent;
    Box3 box = box_of_motion(static_cast<model::BodyIndex>(i), taken);
    group.boxes[i] = Box3(box.min().array() - margin, box.max().array() + margin);
  }
  finish_step(taken);
  report();
  group.now.time = taken < left ? group.now.time + taken : end;
  swap_group(group);
}

// -----------------------------------------------------------------------------------------------------------
// A step

class World::Timewarp {
 public:
  Timewarp(World& world, double h) : world_(world), h_(h) {}

  void run()
  {
    make_groups();
    if (!free_.bodies.empty()) advance_free_bodies();
    for (std::size_t g = 0; g < groups_.size(); ++g) queue_.push({groups_[g].now.time, g});
    while (!queue_.empty()) {
      const std::size_t g = queue_.top().group;
      const double time = queue_.top().time;
      queue_.pop();
      WarpGroup& group = groups_[g];
      if (group.is_merged || group.now.time != time || !(time < h_)) continue;
      reclaim(group, time);
      group.saved.push_back(group.now);
      world_.advance_group(group, h_, h_);
      const std::size_t result = merge_with_those_met(g) ? groups_.size() - 1 : g;
      queue_.push({groups_[result].now.time, result});
    }
    write_back();
  }

 private:
  struct Event {
    double time;
    std::size_t group;
    bool operator<(const Event& other) const  // earliest first
    {
      return std::pair(time, group) > std::pair(other.time, other.group);
    }
  };

  [[nodiscard]] bool is_fixed(model::BodyIndex i) const
  {
    return world_.model_.bodies[at(i)].motion == model::Motion::fixed;
  }

  void make_groups()
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

  void drop_sleeping_groups()
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

  void add_fixed_bodies()
  {
    const auto add = [&](model::BodyIndex a, model::BodyIndex b) {
      if (a == model::kNone || b == model::kNone || is_fixed(a) == is_fixed(b)) return;
      const model::BodyIndex mover = is_fixed(a) ? b : a;
      if (group_of_[at(mover)] != model::kNone)
        groups_[at(group_of_[at(mover)])].bodies.push_back(is_fixed(a) ? a : b);
    };
    for (const collision::BodyPair& pair : world_.near_pairs_) add(pair.a, pair.b);
    for (const model::ContactPatch& patch : world_.state_.patches) add(patch.a, patch.b);
    for (const model::Joint& joint : world_.model_.joints) add(joint.a, joint.b);
    for (WarpGroup& group : groups_) {
      std::sort(group.bodies.begin(), group.bodies.end());
      group.bodies.erase(std::unique(group.bodies.begin(), group.bodies.end()), group.bodies.end());
    }
  }

  // Model and bodies as they are in the world, without contacts. Joints are those of its bodies.
  void start_group(WarpGroup& group)
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
  void distribute_contacts()
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
  void advance_free_bodies()
  {
    start_group(free_);
    world_.advance_group(free_, h_, h_);
    while (free_.now.time < h_) world_.advance_group(free_, h_, h_);
  }

  // Saved states before the global virtual time, up to the last one that may still be needed.
  static void reclaim(WarpGroup& group, double virtual_time)
  {
    const auto later = std::find_if(group.saved.begin(), group.saved.end(),
                                    [&](const WarpGroup::Saved& s) { return s.time > virtual_time; });
    if (later - group.saved.begin() > 1) group.saved.erase(group.saved.begin(), later - 1);
  }

  // Whether the last slice of a group took a body to where bodies outside the group may be. Then the groups
  // become one, at the start of the slice.
  bool merge_with_those_met(std::size_t g)
  {
    std::vector<std::size_t> others;
    std::vector<model::BodyIndex> strays;  // fixed bodies, and free ones
    std::vector<model::BodyIndex> found;
    WarpGroup& group = groups_[g];
    for (std::size_t i = 0; i < group.bodies.size(); ++i) {
      const model::BodyIndex body = group.bodies[i];
      if (is_fixed(body) || world_.boxes_[at(body)].contains(group.boxes[i])) continue;
      world_.boxes_[at(body)].extend(group.boxes[i]);
      world_.broad_phase_.update(body, world_.boxes_[at(body)]);
      world_.broad_phase_.overlapping(group.boxes[i], found);
      for (const model::BodyIndex other : found) {
        const collision::BodyPair pair{std::min(body, other), std::max(body, other)};
        if (other == body || group.local(other) != model::kNone || !world_.may_collide(pair)) continue;
        const std::int32_t theirs = group_of_[at(other)];
        if (theirs == model::kNone) {
          strays.push_back(other);
        } else if (!is_fixed(other)) {
          others.push_back(at(theirs));
        }
      }
    }
    if (others.empty() && strays.empty()) return false;
    const auto unique = [](auto& list) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    };
    unique(others);
    unique(strays);
    merge(g, others, strays);
    return true;
  }

  void go_back(WarpGroup& group, double time)
  {
    while (group.now.time > time) {
      ImpactCounts& counts = world_.impact_counts_;
      ++counts.undone_slices;
      for (const model::BodyIndex i : group.bodies) counts.undone_bodies += is_fixed(i) ? 0 : 1;
      group.now = group.saved.back();
      group.saved.pop_back();
    }
  }

  void merge(std::size_t g, const std::vector<std::size_t>& others,
             const std::vector<model::BodyIndex>& strays)
  {
    std::vector<WarpGroup> parts;
    const double time = groups_[g].saved.back().time;
    go_back(groups_[g], time);
    parts.push_back(std::move(groups_[g]));
    groups_[g].is_merged = true;
    for (const std::size_t k : others) {
      go_back(groups_[k], time);
      parts.push_back(std::move(groups_[k]));
      groups_[k].is_merged = true;
    }
    for (const model::BodyIndex i : strays) {
      WarpGroup& part = parts.emplace_back();
      part.bodies = {i};
      start_group(part);
      if (!is_fixed(i) && !world_.state_.bodies[at(i)].asleep) ++world_.impact_counts_.undone_bodies;
    }
    // Up to the same time. Nothing meets anything on the way: these slices were solved before.
    for (WarpGroup& part : parts) {
      while (part.now.time < time) world_.advance_group(part, time, h_);
    }
    WarpGroup merged;
    for (const WarpGroup& part : parts)
      merged.bodies.insert(merged.bodies.end(), part.bodies.begin(), part.bodies.end());
    std::sort(merged.bodies.begin(), merged.bodies.end());
    merged.bodies.erase(std::unique(merged.bodies.begin(), merged.bodies.end()), merged.bodies.end());
    start_group(merged);
    for (const WarpGroup& part : parts) take_over(part, merged);
    sort_contacts(merged.now.state);
    merged.now.time = time;
    merged.now.state.time = world_.state_.time + time;
    const auto number = static_cast<std::int32_t>(groups_.size());
    for (const model::BodyIndex i : merged.bodies) {
      if (!is_fixed(i)) group_of_[at(i)] = number;
    }
    groups_.push_back(std::move(merged));
  }

  void take_over(const WarpGroup& part, WarpGroup& merged)
  {
    const model::SceneState& from = part.now.state;
    model::SceneState& to = merged.now.state;
    for (std::size_t i = 0; i < part.bodies.size(); ++i)
      to.bodies[at(merged.local(part.bodies[i]))] = from.bodies[i];
    for (std::size_t j = 0; j < part.joints.size(); ++j) {
      const auto place = std::find(merged.joints.begin(), merged.joints.end(), part.joints[j]);
      if (place != merged.joints.end())
        to.joints[static_cast<std::size_t>(place - merged.joints.begin())] = from.joints[j];
    }
    const auto append = [&](const auto& list, auto& into, auto&& change) {
      for (auto entry : list) {
        entry.a = merged.local(part.bodies[at(entry.a)]);
        entry.b = merged.local(part.bodies[at(entry.b)]);
        change(entry);
        into.push_back(entry);
      }
    };
    // The impulses of all parts are to be those of a slice of the same length.
    std::vector<model::ContactPatch> patches = from.patches;
    scale_to(world_.state_.last_step > 0 ? world_.state_.last_step : h_, from.last_step, patches);
    to.last_step = world_.state_.last_step > 0 ? world_.state_.last_step : h_;
    const auto nothing = [](auto&) {
    };
    append(patches, to.patches, nothing);
    append(from.references, to.references, nothing);
    merged.now.contacts.insert(merged.now.contacts.end(), part.now.contacts.begin(), part.now.contacts.end());
    merged.now.impulses.insert(merged.now.impulses.end(), part.now.impulses.begin(), part.now.impulses.end());
    merged.now.events.insert(merged.now.events.end(), part.now.events.begin(), part.now.events.end());
    merged.now.cuts = std::max(merged.now.cuts, part.now.cuts);
    merged.now.whole = std::max(merged.now.whole, part.now.whole);
  }

  void scale_to(double wanted, double last, std::vector<model::ContactPatch>& patches) const
  {
    if (last > 0 && last != wanted && !world_.stepper_->keeps_forces())
      collision::scale_warm_impulses(patches, std::min(wanted / last, kMaxWarmGrowth));
  }

  static void sort_contacts(model::SceneState& state)
  {
    const auto before = [](const auto& p, const auto& q) {
      return std::pair(p.a, p.b) < std::pair(q.a, q.b);
    };
    std::stable_sort(state.patches.begin(), state.patches.end(), before);
    std::stable_sort(state.references.begin(), state.references.end(), before);
  }

  // What the groups have become is the state of the world at the end of the step.
  void write_back()
  {
    model::SceneState& state = world_.state_;
    const auto in_group = [&](const auto& entry) {
      return group_of_[at(is_fixed(entry.a) ? entry.b : entry.a)] != model::kNone;
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
    sort_contacts(state);
    std::stable_sort(world_.events_.begin(), world_.events_.end(),
                     [](const auto& p, const auto& q) { return p.time < q.time; });
    std::stable_sort(world_.impulses_.begin(), world_.impulses_.end(),
                     [](const auto& p, const auto& q) { return p.time < q.time; });
    state.time += h_;
    state.last_step = h_;
    ++state.step;
  }

  void write_back_group(WarpGroup& group)
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
  }

  World& world_;
  double h_;
  std::vector<WarpGroup> groups_;
  WarpGroup free_;                      ///< bodies that meet nothing
  std::vector<std::int32_t> group_of_;  ///< by body; kNone: fixed, free or asleep
  std::priority_queue<Event> queue_;
};

// Observers and sensors look at all bodies at one time, and the energy in the springs of the penalty stepper
// is that of all bodies.
bool World::can_warp() const
{
  return observers_.empty() && !stepper_->keeps_forces() &&
         std::none_of(model_.bodies.begin(), model_.bodies.end(),
                      [](const model::BodyProperties& body) { return body.sensor; });
}

void World::step_by_timewarp(double h)
{
  find_pairs(h);
  Timewarp(*this, h).run();
  contacts_changed_ = true;
  update_moved_boxes();
}

}  // namespace thrum::sim
