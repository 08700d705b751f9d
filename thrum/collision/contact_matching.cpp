// SPDX-License-Identifier: MIT
#include "thrum/collision/contact_matching.h"

#include <algorithm>

namespace thrum::collision {

namespace {

/// Patches whose normals differ by less keep their friction (cosine, about 25 degrees).
constexpr double kSamePatch = 0.9;
/// Cosines that differ by less are those of the same direction.
constexpr double kSameCosine = 1e-9;

}  // namespace

namespace {

// Whether the middle of a is nearer to that of `patch` than the middle of b is.
bool is_nearer(const model::ContactPatch& a, const model::ContactPatch& b, const model::ContactPatch& patch)
{
  const auto middle = [](const model::ContactPatch& p) {
    Vec3 sum = Vec3::Zero();
    for (const model::ContactPoint& point : p.active()) sum += point.position / p.count;
    return sum;
  };
  const Vec3 here = middle(patch);
  return (middle(a) - here).squaredNorm() < (middle(b) - here).squaredNorm();
}

void continue_point(model::ContactPoint& current, const model::ContactPoint& old)
{
  current.warm_impulse = old.warm_impulse;
  current.requested_speed = old.requested_speed;
  current.allowed_energy = old.allowed_energy;
  current.is_new = !(old.normal_impulse > 0 || old.warm_impulse > 0);
}

}  // namespace

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
      if (!same_parts(candidate, patch) || along <= max_cosine - kSameCosine) continue;
      // Of several that push the same way, as those of a surface that bends, the nearest.
      const bool is_alike = best != nullptr && along <= max_cosine + kSameCosine;
      if (is_alike && !is_nearer(candidate, *best, patch)) continue;
      max_cosine = std::max(max_cosine, along);
      best = &candidate;
    }
    if (best == nullptr) continue;
    patch.warm_friction = best->warm_friction - patch.normal * patch.normal.dot(best->warm_friction);
    patch.warm_rolling = best->warm_rolling - patch.normal * patch.normal.dot(best->warm_rolling);
    patch.warm_twist = best->warm_twist;
  }
}

}  // namespace thrum::collision
