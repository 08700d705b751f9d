// SPDX-License-Identifier: MIT
#include "thrum/collision/predicted_contacts.h"

#include <algorithm>

#include "thrum/collision/pair_scratch.h"

namespace thrum::collision {

namespace {

// The two places that touch at the end lie on either body; where they are now makes position and depth of
// now. The normal stays that of the end, along which the two will meet. Bodies that move along the surface
// have them side by side, and each would be pushed beside its own place: a ball of 30 mm that met a fixed
// mesh with 2 m/s along it in a step of 1/47 s got a spin of -31 rad/s from the point halfway, where friction
// alone gives 47.
model::ContactPoint moved_back(const model::ContactPoint& end, const Vec3& n, const PairInput& now,
                               const PredictedContactsDesc& then)
{
  const Vec3 on_a = now.X_wa.point(then.X_wa.point_to_local(end.position + 0.5 * end.depth * n));
  const Vec3 on_b = now.X_wb.point(then.X_wb.point_to_local(end.position - 0.5 * end.depth * n));
  model::ContactPoint point = end;
  point.position = 0.5 * (on_a + on_b);
  point.depth = n.dot(on_a - on_b);
  if (then.in_place_of_a != then.in_place_of_b)
    point.position += (then.in_place_of_a ? 0.5 : -0.5) * (on_a - on_b - point.depth * n);
  return point;
}

bool is_known(const Vec3& position, double distance, std::span<const model::ContactPatch> patches)
{
  for (const model::ContactPatch& patch : patches) {
    for (const model::ContactPoint& point : patch.active())
      if ((point.position - position).squaredNorm() < distance * distance) return true;
  }
  return false;
}

}  // namespace

void add_predicted_contacts(const PairInput& pair, const PredictedContactsDesc& desc, std::size_t begin,
                            std::vector<model::ContactPatch>& patches)
{
  std::vector<model::ContactPatch>& predicted = pair.scratch->predicted;
  predicted.clear();
  PairInput end = pair;
  end.X_wa = desc.X_wa;
  end.X_wb = desc.X_wb;
  end.margin = 0;
  pair.table->collide(end, predicted);
  const std::size_t known = patches.size();
  for (const model::ContactPatch& at_end : predicted) {
    if (patches.size() - begin >= kMaxPatches) return;
    const std::span<const model::ContactPoint> points = at_end.active();
    if (std::none_of(points.begin(), points.end(),
                     [&](const model::ContactPoint& point) { return point.depth > desc.min_depth; }))
      continue;
    model::ContactPatch patch = at_end;
    patch.count = 0;
    for (const model::ContactPoint& point : points) {
      const model::ContactPoint back = moved_back(point, at_end.normal, pair, desc);
      const auto found = std::span(patches).subspan(begin, known - begin);
      if (!is_known(back.position, desc.same_point, found)) patch.points[patch.count++] = back;
    }
    if (patch.count > 0) patches.push_back(patch);
  }
}

}  // namespace thrum::collision
