// SPDX-License-Identifier: MIT
// Union, intersection and difference of closed meshes.
//
// Made for parts that lie flush: coplanar faces, shared edges and shared corners are the normal case and
// decided exactly. Coordinates are rounded to a grid of a power of two, 2^-29 to 2^-30 of the common box;
// what is on the grid stays there, so results can be used again without drifting. The result is closed, every
// edge has exactly two triangles (where solids touch along an edge or in a point, vertices are doubled), and
// it is outward.
//
// The inputs must be closed, outward and must not cut themselves; several components and cavities are fine.
#pragma once

#include <span>

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

[[nodiscard]] mesh::TriangleMesh boolean_union(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b);
[[nodiscard]] mesh::TriangleMesh boolean_intersection(const mesh::TriangleMesh& a,
                                                      const mesh::TriangleMesh& b);
[[nodiscard]] mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& a, const mesh::TriangleMesh& b);

/// All parts in one pass, with one rounding. May be empty when nothing is left.
[[nodiscard]] mesh::TriangleMesh boolean_union(std::span<const mesh::TriangleMesh> parts);
[[nodiscard]] mesh::TriangleMesh boolean_intersection(std::span<const mesh::TriangleMesh> parts);

/// `body` less all `cutters`.
[[nodiscard]] mesh::TriangleMesh boolean_difference(const mesh::TriangleMesh& body,
                                                    std::span<const mesh::TriangleMesh> cutters);

}  // namespace thrum::shapes
