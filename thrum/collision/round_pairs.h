// SPDX-License-Identifier: MIT
// Contacts of two round meshes.
#pragma once

#include <vector>

#include "thrum/collision/pair_table.h"
#include "thrum/collision/round_surface.h"

namespace thrum::collision {

/// Appends the patches of the pair. `thickness` is that of the thinner one [m].
void collide_round_surfaces(const PairInput& pair, const RoundSurface& a, const RoundSurface& b,
                            double thickness, std::vector<model::ContactPatch>& patches);

}  // namespace thrum::collision
