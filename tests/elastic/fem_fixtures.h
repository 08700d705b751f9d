// SPDX-License-Identifier: MIT
// Materials and meshes shared by the tests of elastic.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "thrum/base/error.h"
#include "thrum/base/random.h"
#include "thrum/mesh/tetrahedral_mesh.h"
#include "thrum/model/material.h"
#include "thrum/numerics/sparse_factorisation.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::elastic::testing {

inline model::Material test_steel()
{
  return {.name = "test steel", .density = 8000, .young = 200e9, .poisson = 0.3};
}

/// The message of the error that `work` throws; empty when it throws none.
inline std::string message(const std::function<void()>& work)
{
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// A box mesh whose inner vertices are moved at random, so that no symmetry hides an error.
inline mesh::TetrahedralMesh perturbed_box(const Vec3& size, const std::array<int, 3>& cells,
                                           std::uint64_t seed)
{
  mesh::TetrahedralMesh mesh = tets::tetrahedralise_box(size, cells);
  base::Random random(seed);
  const Vec3 cell(size.x() / cells[0], size.y() / cells[1], size.z() / cells[2]);
  constexpr double kFraction = 0.15;  // of a cell; small enough to keep every tetrahedron positive
  constexpr double kOnFace = 1e-9;
  for (Vec3& v : mesh.vertices) {
    for (int axis = 0; axis < 3; ++axis) {
      const double move = random.uniform(-kFraction, kFraction) * cell[axis];
      const bool inner = std::abs(v[axis]) < size[axis] / 2 * (1 - kOnFace);
      if (inner) v[axis] += move;
    }
  }
  return mesh;
}

/// A square plate, one layer of prisms on cells x cells squares whose diagonals alternate: no direction is
/// preferred.
inline mesh::TetrahedralMesh square_plate(double side, double thickness, int cells)
{
  tets::PlanarTriangulation plane;
  for (int j = 0; j <= cells; ++j)
    for (int i = 0; i <= cells; ++i)
      plane.vertices.emplace_back(side * i / cells - side / 2, side * j / cells - side / 2);
  const auto at = [cells](int i, int j) {
    return static_cast<Index>(i + (cells + 1) * j);
  };
  for (int j = 0; j < cells; ++j)
    for (int i = 0; i < cells; ++i) {
      const Index a = at(i, j);
      const Index b = at(i + 1, j);
      const Index c = at(i + 1, j + 1);
      const Index d = at(i, j + 1);
      const bool rising = (i + j) % 2 == 0;
      plane.triangles.push_back(rising ? Triangle{a, b, c} : Triangle{a, b, d});
      plane.triangles.push_back(rising ? Triangle{a, c, d} : Triangle{b, c, d});
    }
  return tets::tetrahedralise_prism(plane, thickness, 1);
}

/// The whole matrix from its lower triangle.
inline MatX dense(const numerics::SparseMatrix& lower)
{
  const MatX half(lower);
  MatX whole = half + half.transpose();
  whole.diagonal() = half.diagonal();
  return whole;
}

}  // namespace thrum::elastic::testing
