// SPDX-License-Identifier: MIT
// Which part of a body is held, and in which directions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::model {

enum class SelectionKind {
  everything,
  box,         ///< points inside `box`, its faces included
  half_space,  ///< points with normal . x <= offset
  region,      ///< nodes of the tetrahedra of the region called `name`
  nodes,       ///< vertices of the tetrahedral mesh, by index
};

/// A part of a body, in its own axes. A straight edge is selected when both its ends are.
struct Selection {
  SelectionKind kind = SelectionKind::everything;
  Box3 box;                    ///< [m]
  Vec3 normal = Vec3::Zero();  ///< half_space
  double offset = 0;           ///< half_space, in the unit of normal . x
  std::string name;            ///< region
  std::vector<Index> nodes;    ///< nodes
};

/// Holds the selected part still along the chosen axes: all three is a clamp, one is a sliding support.
struct Support {
  Selection where;
  std::array<bool, 3> fixed = {true, true, true};  ///< x, y, z
};

}  // namespace thrum::model
