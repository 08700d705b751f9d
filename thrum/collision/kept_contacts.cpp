// SPDX-License-Identifier: MIT
#include "thrum/collision/kept_contacts.h"

#include <algorithm>

#include "thrum/collision/contact_matching.h"

namespace thrum::collision {

namespace {

/// So many points of a patch hold a body against rolling.
constexpr std::uint8_t kPointsOfFace = 3;

}  // namespace

void move_patch(const model::PairReference& reference, const PairMotion& motion, model::ContactPatch& patch)
{
  for (model::ContactPoint& point : patch.active()) {
    const Vec3& p = point.reference_position;
    const Vec3 a = motion.move_a + motion.turn_a.cross(p - reference.X_wa.position);
    const Vec3 b = motion.move_b + motion.turn_b.cross(p - reference.X_wb.position);
    point.position = p + 0.5 * (a + b);
    point.depth = point.reference_depth - patch.normal.dot(b - a);
    continue_kept(point);
  }
  patch.friction_impulse.setZero();
}

bool is_keepable(const PreparedShape& a, const PreparedShape& b, std::span<const model::ContactPatch> patches)
{
  if (!a.curved && !b.curved) return true;
  return std::all_of(patches.begin(), patches.end(),
                     [](const model::ContactPatch& patch) { return patch.count >= kPointsOfFace; });
}

}  // namespace thrum::collision
