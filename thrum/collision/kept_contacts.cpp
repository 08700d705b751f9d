// SPDX-License-Identifier: MIT
#include "thrum/collision/kept_contacts.h"

#include <algorithm>
#include <array>

#include "thrum/collision/contact_matching.h"

namespace thrum::collision {

namespace {

/// So many points of a patch hold a body against rolling.
constexpr std::uint8_t kPointsOfFace = 3;

}  // namespace

void move_patch(const model::PairReference& reference, const PairMotion& motion, model::ContactPatch& patch)
{
  const Vec3& n = patch.normal;
  for (model::ContactPoint& point : patch.active()) {
    const Vec3& p = point.reference_position;
    const auto moved = [&](const Vec3& move, const Vec3& turn, const Vec3& x) -> std::array<double, 3> {
      const double rx = p.x() - x.x();
      const double ry = p.y() - x.y();
      const double rz = p.z() - x.z();
      return {move.x() + (turn.y() * rz - turn.z() * ry), move.y() + (turn.z() * rx - turn.x() * rz),
              move.z() + (turn.x() * ry - turn.y() * rx)};
    };
    const std::array<double, 3> a = moved(motion.move_a, motion.turn_a, reference.X_wa.position);
    const std::array<double, 3> b = moved(motion.move_b, motion.turn_b, reference.X_wb.position);
    point.position.x() = p.x() + 0.5 * (a[0] + b[0]);
    point.position.y() = p.y() + 0.5 * (a[1] + b[1]);
    point.position.z() = p.z() + 0.5 * (a[2] + b[2]);
    const double opened = n.x() * (b[0] - a[0]) + n.y() * (b[1] - a[1]) + n.z() * (b[2] - a[2]);
    point.depth = point.reference_depth - opened;
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
