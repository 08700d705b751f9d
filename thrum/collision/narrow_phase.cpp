// SPDX-License-Identifier: MIT
#include "thrum/collision/narrow_phase.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/collision/pair_scratch.h"

namespace thrum::collision {

namespace {

/// Pairs handed to a thread at a time: about 0.2 ms of work.
constexpr std::size_t kPairsPerChunk = 512;
/// Patches whose normals differ by less keep their friction (cosine, about 25 degrees).
constexpr double kSamePatch = 0.9;

// How far a point of the body can get in a step [m].
double reach(const model::BodyState& body, double radius, double step)
{
  if (!std::isfinite(radius)) return 0;
  return step * (body.velocity.norm() + body.angular_velocity.norm() * radius);
}

double margin_of(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, const BodyPair& pair)
{
  const std::size_t a = at(pair.a);
  const std::size_t b = at(pair.b);
  const PreparedShape& shape_a = input.shapes[at(input.model.bodies[a].shape)];
  const PreparedShape& shape_b = input.shapes[at(input.model.bodies[b].shape)];
  const double extent = std::min(shape_a.min_extent, shape_b.min_extent);
  const double gravity_scale =
      std::max(std::abs(input.model.bodies[a].gravity_scale), std::abs(input.model.bodies[b].gravity_scale));
  const double speed_margin = reach(input.state.bodies[a], shape_a.radius, desc.step) +
                              reach(input.state.bodies[b], shape_b.radius, desc.step) +
                              desc.step * desc.step * gravity_scale * input.model.gravity.norm();
  return std::clamp(speed_margin, desc.margin * extent, desc.max_margin * extent);
}

bool is_awake(const NarrowPhaseInput& input, model::BodyIndex id)
{
  const std::size_t i = at(id);
  return input.model.bodies[i].motion != model::Motion::fixed && !input.state.bodies[i].asleep;
}

BodyPair bodies_of(const model::ContactPatch& patch)
{
  return {patch.a, patch.b};
}

struct OldPoint {
  const model::ContactPatch* patch = nullptr;
  const model::ContactPoint* point = nullptr;
  bool taken = false;
};

struct MatchScratch {
  std::vector<OldPoint> candidates;
  std::vector<const model::ContactPoint*> named;
};

// Lends a PairScratch to each chunk while it is worked on, so that there are no more of them than threads.
class ScratchPool {
 public:
  explicit ScratchPool(std::vector<std::unique_ptr<PairScratch>>& owned) : owned_(owned)
  {
    for (const auto& scratch : owned_) free_.push_back(scratch.get());
  }
  [[nodiscard]] PairScratch& take()
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return *owned_.emplace_back(std::make_unique<PairScratch>());
    PairScratch& scratch = *free_.back();
    free_.pop_back();
    return scratch;
  }
  void put_back(PairScratch& scratch)
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(&scratch);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<PairScratch>>& owned_;
  std::vector<PairScratch*> free_;
};

void continue_point(model::ContactPoint& current, const model::ContactPoint& old)
{
  current.warm_impulse = old.warm_impulse;
  current.requested_speed = old.requested_speed;
  current.allowed_energy = old.allowed_energy;
  current.is_new = !(old.normal_impulse > 0 || old.warm_impulse > 0);
}

// Matches the patches of one pair of bodies.
void match_pair(std::span<const model::ContactPatch> old, double match_distance, MatchScratch& scratch,
                std::span<model::ContactPatch> current)
{
  std::vector<OldPoint>& candidates = scratch.candidates;
  std::vector<const model::ContactPoint*>& named = scratch.named;
  candidates.clear();
  named.clear();
  for (const model::ContactPatch& patch : old) {
    for (const model::ContactPoint& point : patch.active()) candidates.push_back({&patch, &point, false});
  }
  const auto same_parts = [](const model::ContactPatch& p, const model::ContactPatch& q) {
    return p.part_a == q.part_a && p.part_b == q.part_b;
  };
  // By name first: a point that kept its features kept its impulse.
  for (model::ContactPatch& patch : current) {
    for (model::ContactPoint& point : patch.active()) {
      for (OldPoint& candidate : candidates) {
        if (candidate.taken || !same_parts(*candidate.patch, patch) ||
            candidate.point->feature_a != point.feature_a || candidate.point->feature_b != point.feature_b ||
            candidate.patch->normal.dot(patch.normal) < kSamePatch) {
          continue;
        }
        continue_point(point, *candidate.point);
        candidate.taken = true;
        named.push_back(&point);
        break;
      }
    }
  }
  // Then by place: features change names when a face takes over from another.
  for (model::ContactPatch& patch : current) {
    for (model::ContactPoint& point : patch.active()) {
      if (std::find(named.begin(), named.end(), &point) != named.end()) continue;
      OldPoint* nearest = nullptr;
      double min_square = match_distance * match_distance;
      for (OldPoint& candidate : candidates) {
        const double square = (candidate.point->position - point.position).squaredNorm();
        if (candidate.taken || square > min_square || candidate.patch->normal.dot(patch.normal) < kSamePatch)
          continue;
        min_square = square;
        nearest = &candidate;
      }
      if (nearest == nullptr) continue;
      continue_point(point, *nearest->point);
      nearest->taken = true;
    }
  }
  // Friction goes with the patch.
  for (model::ContactPatch& patch : current) {
    const model::ContactPatch* best = nullptr;
    double max_cosine = kSamePatch;
    for (const model::ContactPatch& candidate : old) {
      const double along = candidate.normal.dot(patch.normal);
      if (!same_parts(candidate, patch) || along <= max_cosine) continue;
      max_cosine = along;
      best = &candidate;
    }
    if (best == nullptr) continue;
    patch.warm_friction = best->warm_friction - patch.normal * patch.normal.dot(best->warm_friction);
    patch.warm_rolling = best->warm_rolling - patch.normal * patch.normal.dot(best->warm_rolling);
    patch.warm_twist = best->warm_twist;
  }
}

}  // namespace

struct NarrowPhaseScratch::Memory {
  std::vector<std::unique_ptr<PairScratch>> pairs;        ///< by thread
  std::vector<std::vector<model::ContactPatch>> patches;  ///< by chunk
  MatchScratch match;
};

NarrowPhaseScratch::NarrowPhaseScratch() : memory_(std::make_unique<Memory>()) {}
NarrowPhaseScratch::~NarrowPhaseScratch() = default;
NarrowPhaseScratch::NarrowPhaseScratch(NarrowPhaseScratch&&) noexcept = default;
NarrowPhaseScratch& NarrowPhaseScratch::operator=(NarrowPhaseScratch&&) noexcept = default;

bool should_collide(const model::SceneModel& model, const BodyPair& pair)
{
  const model::BodyProperties& a = model.bodies[at(pair.a)];
  const model::BodyProperties& b = model.bodies[at(pair.b)];
  if (a.motion != model::Motion::dynamic && b.motion != model::Motion::dynamic) return false;
  if (a.sensor && b.sensor) return false;
  return (a.collision_group & b.collides_with) != 0 && (b.collision_group & a.collides_with) != 0;
}

namespace {

// Patches of the pairs in [begin, end).
void find_contacts_of(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, std::size_t begin,
                      std::size_t end, PairScratch& scratch, std::vector<model::ContactPatch>& patches)
{
  const std::vector<model::ContactPatch>& old = input.state.patches;
  for (std::size_t k = begin; k < end; ++k) {
    const BodyPair& pair = input.pairs[k];
    const std::size_t a = at(pair.a);
    const std::size_t b = at(pair.b);
    if (!should_collide(input.model, pair)) continue;
    if (std::binary_search(input.excluded_pairs.begin(), input.excluded_pairs.end(), pair)) continue;
    // A pair of sleeping bodies has not moved. Overlaps of sensors are not among the old patches: found
    // again.
    const bool sensor = input.model.bodies[a].sensor || input.model.bodies[b].sensor;
    if (!sensor && !is_awake(input, pair.a) && !is_awake(input, pair.b)) {
      auto carried = std::lower_bound(
          old.begin(), old.end(), pair,
          [](const model::ContactPatch& patch, const BodyPair& p) { return bodies_of(patch) < p; });
      for (; carried != old.end() && bodies_of(*carried) == pair; ++carried) patches.push_back(*carried);
      continue;
    }
    PairInput shapes;
    shapes.a = &input.shapes[at(input.model.bodies[a].shape)];
    shapes.b = &input.shapes[at(input.model.bodies[b].shape)];
    shapes.X_wa = input.X_ws[a];
    shapes.X_wb = input.X_ws[b];
    shapes.margin = margin_of(input, desc, pair);
    shapes.table = &input.table;
    shapes.scratch = &scratch;
    const std::size_t before = patches.size();
    input.table.collide(shapes, patches);
    for (std::size_t i = before; i < patches.size(); ++i) {
      patches[i].a = pair.a;
      patches[i].b = pair.b;
    }
  }
}

}  // namespace

void find_contacts(const NarrowPhaseInput& input, const NarrowPhaseDesc& desc, NarrowPhaseScratch& scratch,
                   std::vector<model::ContactPatch>& patches)
{
  // Chunks keep their own lists, which are joined in order: the result is the same for any number of threads.
  ScratchPool pool(scratch.memory().pairs);
  const base::Chunks chunks = base::Chunks::of(input.pairs.size(), kPairsPerChunk);
  if (chunks.size() < 2 || base::thread_count() == 1) {
    PairScratch& mine = pool.take();
    find_contacts_of(input, desc, 0, input.pairs.size(), mine, patches);
    return;
  }
  std::vector<std::vector<model::ContactPatch>>& found = scratch.memory().patches;
  if (found.size() < chunks.size()) found.resize(chunks.size());
  for (auto& list : found) list.clear();
  base::parallel_for_chunks(
      input.pairs.size(),
      [&](std::size_t begin, std::size_t end) {
        PairScratch& mine = pool.take();
        find_contacts_of(input, desc, begin, end, mine, found[begin / chunks.grain]);
        pool.put_back(mine);
      },
      kPairsPerChunk);
  for (const auto& list : found) patches.insert(patches.end(), list.begin(), list.end());
}

void match_contacts(std::span<const model::ContactPatch> old, double match_distance,
                    NarrowPhaseScratch& scratch, std::span<model::ContactPatch> current)
{
  std::size_t i = 0;
  std::size_t k = 0;
  while (k < current.size()) {
    const BodyPair pair = bodies_of(current[k]);
    std::size_t current_end = k;
    while (current_end < current.size() && bodies_of(current[current_end]) == pair) ++current_end;
    while (i < old.size() && bodies_of(old[i]) < pair) ++i;
    std::size_t old_end = i;
    while (old_end < old.size() && bodies_of(old[old_end]) == pair) ++old_end;
    match_pair(old.subspan(i, old_end - i), match_distance, scratch.memory().match,
               current.subspan(k, current_end - k));
    i = old_end;
    k = current_end;
  }
}

void scale_warm_impulses(std::span<model::ContactPatch> patches, double factor)
{
  for (model::ContactPatch& patch : patches) {
    patch.warm_friction *= factor;
    patch.warm_rolling *= factor;
    patch.warm_twist *= factor;
    for (model::ContactPoint& point : patch.active()) point.warm_impulse *= factor;
  }
}

}  // namespace thrum::collision
