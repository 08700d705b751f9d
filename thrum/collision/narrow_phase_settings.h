// SPDX-License-Identifier: MIT
// Settings of the search for contacts.
#pragma once

#include <cstdint>

namespace thrum::collision {

struct NarrowPhaseDesc {
  double step = 1.0 / 60;   ///< bodies may move for this long before contacts are found again [s]
  double margin = 0.005;    ///< gap up to which resting bodies count as touching, as a share of the smaller
                            ///< one's least extent
  double max_margin = 0.5;  ///< likewise for fast bodies, whose margin grows with speed * step
  double kept_move = 1e-4;  ///< contacts are kept while two bodies have moved against each other by less than
                            ///< this share of the length scale; 0: they are found in each step
  double kept_turn = 1e-4;  ///< and turned by less than this [rad]
};

/// How the faces of two meshes that may touch are found.
enum class Interference : std::uint8_t {
  hierarchy,  ///< by a hierarchy of balls over the corners and edges of each
  zlist,      ///< by rasterisation (z_list.h)
};

}  // namespace thrum::collision
