// SPDX-License-Identifier: MIT
// The quality of the tetrahedra of a mesh, in the measures that matter for finite elements.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "thrum/mesh/tetrahedral_mesh.h"

namespace thrum::tets {

struct TetQuality {
  std::size_t vertices = 0;
  std::size_t tetrahedra = 0;
  std::size_t bad = 0;  ///< flat or inside out; not included in the other values

  double volume = 0;         ///< total [m^3]
  double min_volume = 0;     ///< [m^3]
  double max_volume = 0;     ///< [m^3]
  double shortest_edge = 0;  ///< [m]
  double longest_edge = 0;   ///< [m]

  double min_dihedral = 0;  ///< [rad]
  double max_dihedral = 0;  ///< [rad]
  /// Fraction of all dihedral angles in steps of 10 degrees from 0 to 180.
  std::array<double, 18> dihedral_fractions{};

  /// Radius ratio 3 r / R of the inscribed and the circumscribed sphere: 1 for the regular tetrahedron, 0 for
  /// a flat one.
  double min_radius_ratio = 0;
  double mean_radius_ratio = 0;
};

[[nodiscard]] TetQuality measure_quality(const mesh::TetrahedralMesh& mesh);

/// 3 r / R of one tetrahedron; 0 when it is flat or inside out.
[[nodiscard]] double radius_ratio(const mesh::TetrahedralMesh& mesh, std::size_t tetrahedron);
[[nodiscard]] double radius_ratio(const std::array<Vec3, 4>& corners);

/// A few lines of plain text.
[[nodiscard]] std::string describe(const TetQuality& quality);

}  // namespace thrum::tets
