// SPDX-License-Identifier: MIT
// A closed solid that is a thin wall: two sides that face each other, joined by narrow rims or not at all
// (a hollow body). Found from the surface alone; the two sides need not have the same triangles.
#pragma once

#include <optional>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct Wall {
  TriangleMesh side;         ///< one of the two sides, facing outwards, with vertices of its own
  std::vector<Vec3> across;  ///< from each of its vertices to the other side [m]
  double thickness = 0;      ///< median over the area [m]
  double volume_error = 0;   ///< relative difference of the volume between the sides to that of the solid
};

/// None when the solid is not one wall throughout: a part of it is thick, sides branch or belong to several
/// walls, the wall is not thin, or what lies between the two sides differs from the solid by more than 0.1 %
/// in volume, centre (of the thickness) or inertia (0.3 %).
[[nodiscard]] std::optional<Wall> find_wall(const TriangleMesh& solid);

}  // namespace thrum::mesh
