// SPDX-License-Identifier: MIT
// What a step reports: contacts, events, impulses.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/sim/world.h"

namespace thrum::sim {

namespace {

/// Slip slower than this many length scales a second is not reported as sliding.
constexpr double kMinSlideSpeed = 1e-3;

// The patches of one pair of bodies, seen as a whole.
struct PairSummary {
  double impulse = 0;   ///< normal, over the step [N s]
  double approach = 0;  ///< largest speed of approach of a new point, at least 0 [m/s]
  double slip = 0;      ///< [m/s]
  bool impact = false;  ///< a new point was pushed
  Vec3 position = Vec3::Zero();
  Vec3 normal = Vec3::UnitZ();
};

PairSummary summarise(std::span<const model::ContactPatch> patches, const model::SceneState& state)
{
  PairSummary summary;
  double most = -1;
  for (const model::ContactPatch& patch : patches) {
    const model::BodyState& a = state.bodies[at(patch.a)];
    const model::BodyState& b = state.bodies[at(patch.b)];
    for (const model::ContactPoint& point : patch.active()) {
      summary.impulse += point.normal_impulse;
      if (point.is_new && point.normal_impulse > 0) {
        summary.impact = true;
        summary.approach = std::max(summary.approach, -point.normal_speed);
      }
      if (point.normal_impulse > most) {
        most = point.normal_impulse;
        summary.position = point.position;
        summary.normal = patch.normal;
        const Vec3 relative = model::velocity_at(b, point.position) - model::velocity_at(a, point.position);
        summary.slip = (relative - patch.normal * patch.normal.dot(relative)).norm();
      }
    }
  }
  return summary;
}

// Calls visit(begin, end) for each run of patches with the same two bodies.
template <class Visit>
void for_each_pair(std::span<const model::ContactPatch> patches, Visit&& visit)
{
  std::size_t begin = 0;
  while (begin < patches.size()) {
    std::size_t end = begin + 1;
    while (end < patches.size() && patches[end].a == patches[begin].a && patches[end].b == patches[begin].b)
      ++end;
    visit(patches.subspan(begin, end - begin));
    begin = end;
  }
}

bool has_contact_impulse(std::span<const model::ContactPatch> patches)
{
  return std::any_of(patches.begin(), patches.end(), [](const model::ContactPatch& patch) {
    const auto points = patch.active();
    return std::any_of(points.begin(), points.end(),
                       [](const auto& point) { return point.normal_impulse > 0; });
  });
}

bool is_overlapping(std::span<const model::ContactPatch> patches)
{
  return std::any_of(patches.begin(), patches.end(), [](const model::ContactPatch& patch) {
    const auto points = patch.active();
    return std::any_of(points.begin(), points.end(), [](const auto& point) { return point.depth > 0; });
  });
}

// Joins contacts of earlier slices of a step, which come first, with those of the last: one that goes on is
// reported once, as it is now, with its impulses summed and the speed at which it began.
void merge_contacts(std::vector<model::Contact>& contacts, std::size_t earlier)
{
  const auto key = [](const model::Contact& c) {
    return std::tuple(c.a, c.b, c.part_a, c.part_b, c.feature_a, c.feature_b);
  };
  std::vector<std::size_t> by_key(earlier);
  std::iota(by_key.begin(), by_key.end(), std::size_t{0});
  std::stable_sort(by_key.begin(), by_key.end(),
                   [&](std::size_t i, std::size_t j) { return key(contacts[i]) < key(contacts[j]); });
  std::vector<bool> merged(contacts.size(), false);
  for (std::size_t k = earlier; k < contacts.size(); ++k) {
    model::Contact& now = contacts[k];
    auto before =
        std::lower_bound(by_key.begin(), by_key.end(), key(now),
                         [&](std::size_t i, const auto& wanted) { return key(contacts[i]) < wanted; });
    while (before != by_key.end() && key(contacts[*before]) == key(now) && merged[*before]) ++before;
    if (before == by_key.end() || key(contacts[*before]) != key(now)) continue;
    const model::Contact& old = contacts[*before];
    now.normal_impulse += old.normal_impulse;
    now.friction_impulse += old.friction_impulse;
    now.normal_speed = old.normal_speed;
    now.is_new = old.is_new;
    merged[*before] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (!merged[i]) contacts[kept++] = contacts[i];
  }
  contacts.resize(kept);
}

void require_report(bool enabled, const char* name)
{
  if (enabled) return;
  throw Error(fmt::format(
      "World::{0}(): the report is switched off; set WorldDesc::reports.{0} or call set_reports().", name));
}

}  // namespace

std::span<const model::Contact> World::contacts() const
{
  require_report(desc_.reports.contacts, "contacts");
  return contacts_;
}

std::span<const model::ImpulseEvent> World::impulses() const
{
  require_report(desc_.reports.impulses, "impulses");
  return impulses_;
}

std::span<const model::ContactEvent> World::events() const
{
  require_report(desc_.reports.events, "events");
  return events_;
}

// Called after each slice of a step; a contact that goes on from one slice to the next is reported once.
void World::report()
{
  const auto timer = times_.stage("report");
  if (desc_.reports.events) {
    report_sensor_events();
    report_events();
  }
  if (!desc_.reports.contacts && !desc_.reports.impulses) return;
  const std::size_t earlier = contacts_.size();
  report_contacts();
  if (earlier > 0) merge_contacts(contacts_, earlier);
}

void World::report_contacts()
{
  for (const model::ContactPatch& patch : state_.patches) report_patch_contacts(patch);
  for (const model::ContactPatch& patch : state_.sensor_patches) report_patch_contacts(patch);
}

void World::report_patch_contacts(const model::ContactPatch& patch)
{
  const model::BodyState& a = at(state_.bodies, patch.a);
  const model::BodyState& b = at(state_.bodies, patch.b);
  if (a.asleep && b.asleep) return;
  double pressure = 0;
  for (const model::ContactPoint& point : patch.active()) pressure += point.normal_impulse;
  for (const model::ContactPoint& point : patch.active()) {
    model::Contact contact;
    contact.a = id_of(patch.a);
    contact.b = id_of(patch.b);
    contact.part_a = patch.part_a;
    contact.part_b = patch.part_b;
    contact.feature_a = point.feature_a;
    contact.feature_b = point.feature_b;
    contact.position = point.position;
    contact.normal = patch.normal;
    contact.depth = point.depth;
    contact.normal_impulse = point.normal_impulse;
    contact.normal_speed = point.normal_speed;
    contact.is_new = point.is_new;
    if (pressure > 0) contact.friction_impulse = (point.normal_impulse / pressure) * patch.friction_impulse;
    const Vec3 relative = model::velocity_at(b, point.position) - model::velocity_at(a, point.position);
    contact.slip_velocity = relative - patch.normal * patch.normal.dot(relative);
    if (desc_.reports.contacts) contacts_.push_back(contact);
    if (!desc_.reports.impulses || !(point.normal_impulse > 0)) continue;
    const Vec3 on_b = point.normal_impulse * patch.normal + contact.friction_impulse;
    for (const auto& [index, other, impulse] :
         {std::tuple(patch.a, patch.b, Vec3(-on_b)), std::tuple(patch.b, patch.a, on_b)}) {
      model::ImpulseEvent event;
      event.time = state_.time;
      event.body = id_of(index);
      event.other = id_of(other);
      event.position_b = at(state_.bodies, index).X_wb.point_to_local(point.position);
      event.impulse_b = at(state_.bodies, index).X_wb.direction_to_local(impulse);
      event.approach_speed = std::max(0.0, -point.normal_speed);
      event.impact = point.is_new;
      impulses_.push_back(event);
    }
  }
}

// Nothing presses on a sensor, so it is touched where something overlaps it. Overlap is that of the poses
// from which contacts were found, at the beginning of the step (or of the slice of it); so is the time of
// these events.
void World::report_sensor_events()
{
  const auto overlapping_pairs = [](std::span<const model::ContactPatch> patches) {
    std::vector<collision::BodyPair> pairs;
    for_each_pair(patches, [&](std::span<const model::ContactPatch> of_pair) {
      if (is_overlapping(of_pair)) pairs.push_back({of_pair[0].a, of_pair[0].b});
    });
    return pairs;
  };
  const std::vector<collision::BodyPair> before = overlapping_pairs(previous_sensor_patches_);
  const std::vector<collision::BodyPair> now = overlapping_pairs(state_.sensor_patches);
  const auto add = [&](model::ContactEventKind kind, std::span<const model::ContactPatch> patches,
                       const std::vector<collision::BodyPair>& here,
                       const std::vector<collision::BodyPair>& there) {
    for_each_pair(patches, [&](std::span<const model::ContactPatch> of_pair) {
      const collision::BodyPair pair{of_pair[0].a, of_pair[0].b};
      if (!std::binary_search(here.begin(), here.end(), pair) ||
          std::binary_search(there.begin(), there.end(), pair))
        return;
      const PairSummary summary = summarise(of_pair, state_);
      events_.push_back({kind, state_.time - state_.last_step, id_of(pair.a), id_of(pair.b), summary.position,
                         summary.normal, 0, 0});
    });
  };
  add(model::ContactEventKind::begin, state_.sensor_patches, now, before);
  add(model::ContactEventKind::end, previous_sensor_patches_, before, now);
}

// What pushed in the slice before, before its patches are brought up to date.
void World::list_pushed_pairs()
{
  pushed_before_.clear();
  for_each_pair(state_.patches, [&](std::span<const model::ContactPatch> patches) {
    if (!has_contact_impulse(patches)) return;
    const PairSummary summary = summarise(patches, state_);
    pushed_before_.push_back({{patches[0].a, patches[0].b}, summary.position, summary.normal});
  });
}

void World::report_events()
{
  const auto add = [&](model::ContactEventKind kind, const collision::BodyPair& pair,
                       const PairSummary& summary, double speed) {
    events_.push_back({kind, state_.time, id_of(pair.a), id_of(pair.b), summary.position, summary.normal,
                       speed, summary.impulse});
  };
  const auto pushed_before = [&](const collision::BodyPair& pair) {
    const auto first =
        std::lower_bound(pushed_before_.begin(), pushed_before_.end(), pair,
                         [](const PushedPair& p, const collision::BodyPair& q) { return p.pair < q; });
    return first != pushed_before_.end() && first->pair == pair;
  };
  std::vector<collision::BodyPair> now;
  for_each_pair(state_.patches, [&](std::span<const model::ContactPatch> patches) {
    if (!has_contact_impulse(patches)) return;
    const collision::BodyPair pair{patches[0].a, patches[0].b};
    now.push_back(pair);
    const PairSummary summary = summarise(patches, state_);
    if (!pushed_before(pair)) add(model::ContactEventKind::begin, pair, summary, summary.approach);
    if (summary.impact && summary.approach > 0)
      add(model::ContactEventKind::hit, pair, summary, summary.approach);
    if (summary.slip > kMinSlideSpeed * model_.length_scale)
      add(model::ContactEventKind::slide, pair, summary, summary.slip);
  });
  for (const PushedPair& before : pushed_before_) {
    if (std::binary_search(now.begin(), now.end(), before.pair)) continue;
    PairSummary last;
    last.position = before.position;
    last.normal = before.normal;
    add(model::ContactEventKind::end, before.pair, last, 0);
  }
}

}  // namespace thrum::sim
