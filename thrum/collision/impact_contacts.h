// SPDX-License-Identifier: MIT
// Contacts of two meshes in the slice in which they meet: the static check of [Forgue91, fig. 4].
#pragma once

#include <span>
#include <vector>

#include "thrum/collision/pair_scratch.h"
#include "thrum/collision/pair_table.h"
#include "thrum/mesh/bvh.h"

namespace thrum::collision {

/// Whether impacts of meshes are found with the z-list and Boyse's tests: for pair_table_with(zlist).
[[nodiscard]] bool has_boyse_impacts(const PairTable& table);

/// The table for pairs that had no contact and meet now: with has_boyse_impacts() one that gives features of
/// meshes that touch the normals of boyse.h, otherwise the same.
[[nodiscard]] const PairTable& table_of_impacts(const PairTable& table);

/// Sets the functions of that table (mesh_pairs.cpp).
void register_meeting_meshes(PairTable& table);

/// Replaces contacts of two meshes that touch by the features that touch there, with the normals of boyse.h.
/// `faces` are those that may touch. Contacts with a gap stay: contacts look ahead. Nothing is replaced where
/// a contact is deep already, or where no features touch.
void use_touching_features(const PairInput& pair, std::span<const mesh::TrianglePair> faces,
                           std::vector<MeshContact>& contacts);

}  // namespace thrum::collision
