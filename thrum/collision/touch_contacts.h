// SPDX-License-Identifier: MIT
// Contacts of a pair that had none, where contacts begin at the touch and not ahead of it: for the methods
// that end a slice at each impact (sim/world_impact_times.cpp).
//
// Whether two shapes touch is seen with a small margin only. Within a large one the faces that are clipped
// need not hold the nearest point, up to a quarter of the margin (kLostShare in patch_builder.cpp): a disc
// that had come within 0.1 um of a vertex seemed 16 um away, had no contact and passed. And boxes are
// searched for their nearest points, since of two separating axes that differ by little their contact
// function prefers faces, over which nothing may be in reach yet.
#pragma once

#include <vector>

#include "thrum/collision/pair_table.h"

namespace thrum::collision {

/// Appends the patches of a pair that is within `touch` [m], and of none that is not. Points with a gap up to
/// the margin of the pair that are no more than these come along: a corner beside others that comes down is
/// seen in time.
void find_touch_contacts(const PairInput& pair, double touch, std::vector<model::ContactPatch>& patches);

/// Registers boxes by the search for distances (convex_pairs.cpp).
void register_touching_boxes(PairTable& table);

}  // namespace thrum::collision
