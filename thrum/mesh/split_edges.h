// SPDX-License-Identifier: MIT
// Separates parts of a surface that touch along an edge. Part of repair.h.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

struct SplitEdgesResult {
  std::size_t split_edges = 0;   ///< of four triangles or more, now of two each
  std::size_t kept_edges = 0;    ///< of three triangles or more that are left
  std::size_t new_vertices = 0;  ///< at the same points as others
};

/// Where four triangles or more meet at an edge, as many in one direction as in the other, those that bound
/// the same wedge of material stay together:
///
///      \ B /            \ B /       Two boxes A and B that share an edge, seen along it,
///       \|/       ->     \|/        become two closed bodies. Only vertices are added, at the
///       /|\              /|\        same points: the surface, its volume and the number of
///      / A \            / A \       triangles are as before.
///
/// An edge is left alone when its directions do not balance or two of its triangles lie in one plane on the
/// same side of it: then it is not known what is inside. It also stays where the parts are joined at both of
/// its ends. Expects neighbours to face the same way.
SplitEdgesResult split_edges(TriangleMesh& mesh);

}  // namespace thrum::mesh
