// SPDX-License-Identifier: MIT
// Flips triangles so that each component is oriented consistently and outwards. Part of repair.h, and used by
// mesh_report.h to find inverted components.
#pragma once

#include <vector>

#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::mesh {

/// The orientation of one component.
struct ComponentState {
  bool closed = false;     ///< every edge has exactly two triangles
  bool consistent = true;  ///< neighbours are oriented the same way
  bool orientable = true;  ///< neighbours can be oriented the same way
  double volume = 0;       ///< signed [m^3]; about its centre when open
  int depth = 0;           ///< number of closed components that contain it; odd: a cavity
  bool inverted = false;   ///< closed, consistent, and facing the wrong way for its depth
  Index first_triangle = -1;
};

[[nodiscard]] std::vector<ComponentState> component_states(const TriangleMesh& mesh,
                                                           const MeshComponents& components,
                                                           std::span<const EdgeUse> uses);

struct OrientResult {
  std::size_t flipped_triangles = 0;
  std::size_t flipped_components = 0;
  std::size_t cavities = 0;
  std::size_t unorientable_components = 0;
};

/// Neighbours across edges of two triangles are made to agree, starting from the lowest triangle of a
/// component; then closed components face outwards (a cavity into its void) and open ones the way that gives
/// them positive volume about their centre. A component that needs no flip is not changed.
OrientResult orient_components(TriangleMesh& mesh);

}  // namespace thrum::mesh
