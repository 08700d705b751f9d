// SPDX-License-Identifier: MIT
// Removing bodies, joints and shapes, and saving and restoring what is left.
//
// Bodies keep the order in which they were added, whatever is removed: everything in a step that depends on
// an order (patches, islands, levels) depends on that order alone, so what is left moves as if the rest had
// never been there. A removed body stays in its place as a fixed body without a box, which costs nothing in a
// step; when half of the places are empty at the end of a step they are closed up. Each place is closed up
// once, so removing takes amortised constant time.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/flexible/flexible_stepper.h"
#include "thrum/sim/check_state.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Fewer empty places than this are never closed up.
constexpr std::size_t kMinEmptyPlaces = 32;
/// A contact is no farther than so many radii from the centre of a body.
constexpr double kMaxContactRadii = 4;

template <class Tag>
[[noreturn]] void reject_id(const char* what, base::Id<Tag> id, std::uint32_t world)
{
  if (!id.valid()) throw Error(fmt::format("The {} id is empty: nothing was added under it.", what));
  if (id.owner != 0 && id.owner != world)
    throw Error(fmt::format(
        "The id of {0} {1} is of another world. Use the id that add_{0}() of this world returned.", what,
        to_string(id)));
  if constexpr (std::is_same_v<Tag, model::SurfaceTag>)
    throw Error(fmt::format(
        "There is no surface {} in this world. Use the id that add_surface() of this world returned.",
        to_string(id)));
  throw Error(fmt::format(
      "There is no {} {} in this world: it was removed. Keep ids only while World::contains(id) is "
      "true.",
      what, to_string(id)));
}

// Leaves out the elements whose flag is set, in order.
template <class T>
void erase_flagged(std::vector<T>& elements, const std::vector<std::uint8_t>& flags)
{
  std::size_t kept = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (flags[i] != 0) continue;
    if (kept != i) elements[kept] = std::move(elements[i]);
    ++kept;
  }
  elements.resize(kept);
}

// New position of each element once those flagged are left out; kNone for these.
std::vector<std::int32_t> positions_after(const std::vector<std::uint8_t>& flags)
{
  std::vector<std::int32_t> positions(flags.size(), model::kNone);
  std::int32_t next = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] == 0) positions[i] = next++;
  }
  return positions;
}

void erase_vibration_of(model::SceneState& state, const std::vector<model::BodyId>& gone)
{
  if (gone.empty()) return;
  const auto is_gone = [&](const auto& entry) {
    return std::find(gone.begin(), gone.end(), entry.body) != gone.end();
  };
  std::erase_if(state.modal_states, is_gone);
  std::erase_if(state.pending_kicks, is_gone);
}

std::vector<model::BodyId> flagged_ids(const model::SceneState& state, const std::vector<std::uint8_t>& flags)
{
  std::vector<model::BodyId> ids;
  if (state.modal_states.empty() && state.pending_kicks.empty()) return ids;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != 0) ids.push_back(state.body_ids[i]);
  }
  return ids;
}

void erase_bodies(model::SceneState& state, const std::vector<std::uint8_t>& removed)
{
  erase_vibration_of(state, flagged_ids(state, removed));
  const std::vector<std::int32_t> positions = positions_after(removed);
  erase_flagged(state.bodies, removed);
  erase_flagged(state.body_ids, removed);
  const auto renumber = [&](auto& pairs) {
    for (auto& pair : pairs) {
      pair.a = at(positions, pair.a);
      pair.b = at(positions, pair.b);
    }
    std::erase_if(pairs, [](const auto& pair) { return pair.a == model::kNone || pair.b == model::kNone; });
  };
  renumber(state.patches);
  renumber(state.sensor_patches);
  renumber(state.references);
}

}  // namespace

model::BodyIndex World::index_of(model::BodyId id) const
{
  const model::BodyIndex index = body_table_.find(id);
  if (index == model::kNone) reject_id("body", id, number_);
  return index;
}

model::JointIndex World::index_of(model::JointId id) const
{
  if (!contains(id)) reject_id("joint", id, number_);
  return joint_table_.find(id);
}

model::ShapeIndex World::index_of(model::ShapeId id) const
{
  const model::ShapeIndex index = shape_table_.find(id);
  if (index == model::kNone) reject_id("shape", id, number_);
  return index;
}

model::SurfaceIndex World::index_of(model::SurfaceId id) const
{
  const bool is_foreign = id.owner != 0 && id.owner != number_;
  if (is_foreign || id.slot >= model_.surfaces.size() || id.generation != 0)
    reject_id("surface", id, number_);
  return static_cast<model::SurfaceIndex>(id.slot);
}

bool World::contains(model::JointId id) const
{
  const model::JointIndex index = joint_table_.find(id);
  if (index == model::kNone) return false;
  const model::Joint& joint = at(model_.joints, index);
  return exists(joint.a) && (joint.b == model::kNone || exists(joint.b));
}

std::vector<model::BodyId> World::bodies() const
{
  std::vector<model::BodyId> ids;
  ids.reserve(state_.bodies.size() - removed_count_);
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) {
    if (removed_[i] == 0) ids.push_back(state_.body_ids[i]);
  }
  return ids;
}

void World::remove_body(model::BodyId id)
{
  require_no_step("remove_body");
  const model::BodyIndex index = index_of(id);
  model::BodyProperties& desc = at(model_.bodies, index);
  --at(shape_users_, desc.shape);
  desc.motion = model::Motion::fixed;
  desc.sensor = false;
  desc.vibrates = false;
  at(state_.bodies, index) = {};
  broad_phase_.remove(index);
  body_table_.remove(id);
  at(removed_, index) = 1;
  ++removed_count_;
  removals_pending_ = true;
  if (flexible_ != nullptr) flexible_->remove_body(id);
  for (StepObserver* observer : observers_) observer->body_removed(id);
}

void World::remove_joint(model::JointId id)
{
  require_no_step("remove_joint");
  const model::JointIndex index = index_of(id);
  const model::Joint& joint = at(model_.joints, index);
  for (const model::BodyIndex body : {joint.a, joint.b}) {
    if (body != model::kNone) wake(id_of(body));
  }
  joint_table_.remove(id);
  at(joint_removed_, index) = 1;
  removals_pending_ = true;
}

void World::remove_shape(model::ShapeId id)
{
  require_no_step("remove_shape");
  const model::ShapeIndex index = index_of(id);
  const std::int32_t users = at(shape_users_, index);
  if (users > 0) {
    throw Error(fmt::format("The shape {} cannot be removed while {} bodies have it; remove them first.",
                            to_string(id), users));
  }
  at(model_.shapes, index) = {};
  at(prepared_, index) = {};
  shape_table_.remove(id);
}

// Before a step: joints of removed bodies go and what touched one wakes.
void World::apply_removals()
{
  if (removals_pending_) {
    removals_pending_ = false;
    contacts_changed_ = true;
    wake_around_removed(state_);
    remove_joints_of_removed_bodies();
    erase_vibration_of(state_, flagged_ids(state_, removed_));
    excluded_pairs_stale_ = true;
  }
  if (excluded_pairs_stale_) list_excluded_pairs();
}

// After a step, which has reported that the contacts of removed bodies ended.
void World::close_up_places()
{
  if (removed_count_ > kMinEmptyPlaces && 2 * removed_count_ > state_.bodies.size()) compact_bodies();
}

void World::remove_joints_of_removed_bodies()
{
  for (std::size_t j = 0; j < model_.joints.size(); ++j) {
    if (joint_removed_[j] != 0 || contains(state_.joint_ids[j])) continue;
    joint_table_.remove(state_.joint_ids[j]);
    joint_removed_[j] = 1;
  }
  erase_flagged(model_.joints, joint_removed_);
  erase_flagged(state_.joints, joint_removed_);
  erase_flagged(state_.joint_ids, joint_removed_);
  joint_removed_.assign(model_.joints.size(), 0);
  for (std::size_t j = 0; j < model_.joints.size(); ++j)
    joint_table_.move(state_.joint_ids[j], static_cast<model::JointIndex>(j));
}

// Bodies that touched a removed one, or were joined to it, wake in `state`.
void World::wake_around_removed(model::SceneState& state) const
{
  const auto wake_other = [&](model::BodyIndex a, model::BodyIndex b) {
    if (b == model::kNone || exists(a) == exists(b)) return;
    model::BodyState& other = at(state.bodies, exists(a) ? a : b);
    other.asleep = false;
    other.still_time = 0;
  };
  for (const model::ContactPatch& patch : state_.patches) wake_other(patch.a, patch.b);
  for (const model::Joint& joint : model_.joints) wake_other(joint.a, joint.b);
}

void World::compact_bodies()
{
  const std::vector<std::int32_t> positions = positions_after(removed_);
  erase_bodies(state_, removed_);
  stepper_->forget_contacts();
  erase_flagged(model_.bodies, removed_);
  for (model::Joint& joint : model_.joints) {
    joint.a = at(positions, joint.a);
    if (joint.b != model::kNone) joint.b = at(positions, joint.b);
  }
  removed_.assign(model_.bodies.size(), 0);
  removed_count_ = 0;
  broad_phase_.clear();
  for (std::size_t i = 0; i < model_.bodies.size(); ++i) {
    const auto index = static_cast<model::BodyIndex>(i);
    const model::BodyProperties& desc = model_.bodies[i];
    body_table_.move(state_.body_ids[i], index);
    broad_phase_.add(index, desc.motion == model::Motion::fixed, at(prepared_, desc.shape).unbounded);
    update_box(index);
  }
  excluded_pairs_stale_ = true;
  contacts_changed_ = true;
}

void World::list_excluded_pairs()
{
  excluded_pairs_stale_ = false;
  excluded_pairs_.clear();
  for (const model::Joint& joint : model_.joints) {
    if (joint.collide_connected || joint.b == model::kNone) continue;
    excluded_pairs_.push_back({std::min(joint.a, joint.b), std::max(joint.a, joint.b)});
  }
  std::sort(excluded_pairs_.begin(), excluded_pairs_.end());
}

model::SceneState World::save() const
{
  model::SceneState state = state_;
  if (removed_count_ == 0 && !removals_pending_) return state;
  if (removals_pending_) wake_around_removed(state);
  std::vector<std::uint8_t> joints = joint_removed_;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (!contains(state_.joint_ids[j])) joints[j] = 1;
  }
  erase_flagged(state.joints, joints);
  erase_flagged(state.joint_ids, joints);
  erase_bodies(state, removed_);
  return state;
}

// Contacts that are not where the two bodies are, as in a damaged file, are found again.
void World::drop_misplaced_references()
{
  const auto is_near = [&](model::BodyIndex i, const Pose& X_wb, double margin, const Vec3& p) {
    const model::BodyProperties& desc = at(model_.bodies, i);
    const double radius = at(prepared_, desc.shape).radius + desc.X_bs.position.norm() + margin;
    return !((p - X_wb.position).norm() > kMaxContactRadii * radius);
  };
  std::erase_if(state_.references, [&](const model::PairReference& pair) {
    auto patch = std::lower_bound(
        state_.patches.begin(), state_.patches.end(), pair,
        [](const auto& p, const auto& q) { return std::pair(p.a, p.b) < std::pair(q.a, q.b); });
    for (; patch != state_.patches.end() && patch->a == pair.a && patch->b == pair.b; ++patch) {
      for (const model::ContactPoint& point : patch->active()) {
        if (!is_near(pair.a, pair.X_wa, pair.margin, point.reference_position) ||
            !is_near(pair.b, pair.X_wb, pair.margin, point.reference_position))
          return true;
      }
    }
    return false;
  });
}

void World::restore(const model::SceneState& state)
{
  require_no_step("restore");
  apply_removals();
  if (removed_count_ > 0) compact_bodies();
  check_state(state, state_.body_ids, state_.joint_ids);
  for (const StepObserver* observer : observers_) observer->check_state(state);
  stepper_->check_state(state);
  state_ = state;
  // The state may be of another world that was built by the same calls.
  for (model::BodyId& id : state_.body_ids) id.owner = number_;
  for (model::JointId& id : state_.joint_ids) id.owner = number_;
  for (model::ModalState& ring : state_.modal_states) ring.body.owner = number_;
  for (model::PendingKick& kick : state_.pending_kicks) kick.body.owner = number_;
  drop_misplaced_references();
  stepper_->forget_contacts();
  warped_contact_energy_ = 0;
  contacts_changed_ = true;
  for (std::size_t i = 0; i < state_.bodies.size(); ++i) update_box(static_cast<model::BodyIndex>(i));
  contacts_.clear();
  impulses_.clear();
  events_.clear();
}

}  // namespace thrum::sim
