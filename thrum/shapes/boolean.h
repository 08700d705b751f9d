// SPDX-License-Identifier: MIT
// Union, intersection and difference of closed meshes.
//
// Designed for parts that are flush: coplanar faces, shared edges and shared corners are the normal case and
// handled exactly. Coordinates are rounded to a grid of a power of two, 2^-29 to 2^-30 of the common box;
// points on the grid stay there, so results can be used as inputs again without drifting. The result is
// closed, every edge has exactly two triangles (where solids touch along an edge or at a point, vertices are
// duplicated), and it faces outwards.
//
// The inputs must be closed, face outwards and must not intersect themselves; several components and cavities
// are allowed.
#pragma once

#include <span>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

[[nodiscard]] mesh::TriangleMesh boolean_union(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b);
[[nodiscard]] mesh::TriangleMesh boolean_intersection(const mesh::TriangleMesh& a,
                                                      const mesh::TriangleMesh& b);
[[nodiscard]] mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b);

/// All parts in one pass, with one rounding. The result may be empty.
[[nodiscard]] mesh::TriangleMesh boolean_union(std::span<const mesh::TriangleMesh> parts);
[[nodiscard]] mesh::TriangleMesh boolean_intersection(std::span<const mesh::TriangleMesh> parts);

/// `body` minus all `cutters`.
[[nodiscard]] mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& body,
                                                    std::span<const mesh::TriangleMesh> cutters);

}  // namespace thrum::shapes
