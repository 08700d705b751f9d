// SPDX-License-Identifier: MIT
#include "thrum/collision/touch_contacts.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/collision/impact_contacts.h"
#include "thrum/collision/pair_scratch.h"

namespace thrum::collision {

namespace {

/// Points of a pair nearer than so many of the gaps at which the two touch are the same.
constexpr double kSamePoint = 10;

const PairTable& table_of_touches(const PairTable& table)
{
  const auto with_boxes = [](const PairTable& of) {
    PairTable touches = of;
    register_touching_boxes(touches);
    return touches;
  };
  static const PairTable usual = with_boxes(default_pair_table());
  static const PairTable by_z_list = with_boxes(table_of_impacts(pair_table_with(Interference::zlist)));
  return &table == &default_pair_table() ? usual : by_z_list;
}

}  // namespace

void find_touch_contacts(const PairInput& pair, double touch, std::vector<model::ContactPatch>& patches)
{
  const std::size_t begin = patches.size();
  PairInput near = pair;
  near.margin = touch;
  near.table = &table_of_touches(*pair.table);
  near.table->collide(near, patches);
  const std::size_t end = patches.size();
  if (end == begin || !(pair.margin > touch)) return;

  std::vector<model::ContactPatch>& wide = pair.scratch->predicted;
  wide.clear();
  pair.table->collide(pair, wide);
  const auto is_known = [&](const model::ContactPoint& point) {
    return std::any_of(patches.begin() + static_cast<std::ptrdiff_t>(begin),
                       patches.begin() + static_cast<std::ptrdiff_t>(end), [&](const model::ContactPatch& p) {
                         const auto points = p.active();
                         return std::any_of(points.begin(), points.end(), [&](const model::ContactPoint& q) {
                           return (q.position - point.position).squaredNorm() <
                                  kSamePoint * kSamePoint * touch * touch;
                         });
                       });
  };
  for (const model::ContactPatch& found : wide) {
    if (patches.size() - begin >= kMaxPatches) return;
    model::ContactPatch rest = found;
    rest.count = 0;
    for (const model::ContactPoint& point : found.active()) {
      if (!is_known(point)) rest.points[rest.count++] = point;
    }
    if (rest.count > 0) patches.push_back(rest);
  }
}

}  // namespace thrum::collision
