// SPDX-License-Identifier: MIT
// The table of the benchmarks: a top of 1.6 x 0.9 x 0.06 m on four legs, 0.76 m high, cut from a regular
// grid.
#pragma once

#include <map>
#include <vector>

#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::bench {

/// Cells of about `spacing` [m] across; the feet stand at z = 0.
inline mesh::TetrahedralMesh table_mesh(double spacing)
{
  constexpr double kLength = 1.6;
  constexpr double kWidth = 0.9;
  constexpr double kTop = 0.06;
  constexpr double kLegHeight = 0.70;
  constexpr double kLeg = 0.08;
  const auto cells = [spacing](double length) {
    return std::max(1, static_cast<int>(std::lround(length / spacing)));
  };
  const int nx = cells(kLength);
  const int ny = cells(kWidth);
  const int top = cells(kTop);
  const int leg_cells = cells(kLegHeight);
  const int leg = cells(kLeg);
  const auto inside = [&](int i, int j, int k) {
    if (k >= leg_cells) return true;
    return (i < leg || i >= nx - leg) && (j < leg || j >= ny - leg);
  };

  mesh::TetrahedralMesh mesh;
  std::map<std::array<int, 3>, Index> numbers;
  const auto vertex = [&](int i, int j, int k) {
    const auto [it, fresh] = numbers.try_emplace({k, j, i}, static_cast<Index>(mesh.vertices.size()));
    if (fresh) {
      const double z =
          k <= leg_cells ? kLegHeight * k / leg_cells : kLegHeight + kTop * (k - leg_cells) / top;
      mesh.vertices.emplace_back(kLength * i / nx, kWidth * j / ny, z);
    }
    return it->second;
  };
  std::vector<tets::Hexahedron> hexahedra;
  for (int k = 0; k < leg_cells + top; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        if (inside(i, j, k))
          hexahedra.push_back({vertex(i, j, k), vertex(i + 1, j, k), vertex(i + 1, j + 1, k),
                               vertex(i, j + 1, k), vertex(i, j, k + 1), vertex(i + 1, j, k + 1),
                               vertex(i + 1, j + 1, k + 1), vertex(i, j + 1, k + 1)});
  mesh.tetrahedra = tets::split_hexahedra(hexahedra);
  return mesh;
}

}  // namespace thrum::bench
