// SPDX-License-Identifier: MIT
// Shared by the searches of one hierarchy: four lanes of floats, and the stack of nodes still to visit.
#pragma once

#include "thrum/mesh/bvh.h"

namespace thrum::mesh::bvh_walk {

using Lanes = Eigen::Array<float, Bvh::kWidth, 1>;

// At most 24 levels by the heuristic, then at least one halving per level of at most 2^31 triangles; a node
// leaves at most three children on the stack.
inline constexpr int kStackSize = 3 * (24 + 32) + Bvh::kWidth;

// A float bound is enlarged by this factor to cover the rounding of a box distance.
inline constexpr float kFloatSlack = 1 + 0x1p-18f;

struct Entry {
  float key;
  Index child;
};

inline Lanes load(const float (&lanes)[Bvh::kWidth])
{
  return Eigen::Map<const Lanes, Eigen::Aligned16>(lanes);
}

// Puts the children with key <= limit on the stack, the nearest on top.
template <class Keys>
void push_sorted(const Bvh::Node& node, const Keys& keys, float limit, Entry* stack, int& top)
{
  const int bottom = top;
  for (int lane = 0; lane < Bvh::kWidth; ++lane) {
    const float key = keys[lane];
    if (!(key <= limit)) continue;
    int at = top++;
    while (at > bottom && stack[at - 1].key < key) {
      stack[at] = stack[at - 1];
      --at;
    }
    stack[at] = {key, node.child[lane]};
  }
}

}  // namespace thrum::mesh::bvh_walk
