// SPDX-License-Identifier: MIT
// Which contacts of a pair continue contacts of the step before.
#pragma once

#include <span>
#include <vector>

#include "thrum/model/contact.h"

namespace thrum::collision {

struct OldPoint {
  const model::ContactPatch* patch = nullptr;
  const model::ContactPoint* point = nullptr;
  bool taken = false;
};

/// Working memory of match_pair().
struct MatchScratch {
  std::vector<OldPoint> candidates;
  std::vector<const model::ContactPoint*> named;
};

/// Gives points of `current` that continue points of `old` their impulses and marks them as not new. Both are
/// of one pair of bodies. Points are matched by parts and features, then by place: at most `match_distance`
/// [m] apart.
void match_pair(std::span<const model::ContactPatch> old, double match_distance, MatchScratch& scratch,
                std::span<model::ContactPatch> current);

/// A point goes on from one step to the next as if it had been found again and matched with itself.
inline void continue_kept(model::ContactPoint& point)
{
  point.is_new = !(point.normal_impulse > 0 || point.warm_impulse > 0);
  point.normal_impulse = 0;
  point.normal_speed = 0;
  point.bounced = false;
}

}  // namespace thrum::collision
