// SPDX-License-Identifier: MIT
// Closed rings of vertices and the bands of triangles between them, from which shapes of revolution and tubes
// are built.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::shapes {

/// `count` consecutive vertices of a mesh, evenly spaced in angle from angle 0; a count of 1 is a pole.
struct Ring {
  Index first = 0;
  int count = 0;

  [[nodiscard]] Index at(int i) const { return first + static_cast<Index>(i % count); }
};

/// Triangles between two rings that may differ in count. Seen from outside, `a` is traversed to the right and
/// `b` lies above it. Either may be a pole.
void add_band(mesh::TriangleMesh& mesh, const Ring& a, const Ring& b);

}  // namespace thrum::shapes
