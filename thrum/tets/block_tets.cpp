// SPDX-License-Identifier: MIT
#include "thrum/tets/block_tets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/tets/structured_tets.h"

namespace thrum::tets {

namespace {

/// Corners of a face count as one plane within this share of the size of the body: remeshed surfaces are
/// planar to rounding only.
constexpr double kPlaneTolerance = 1e-6;

using Lines = std::array<std::vector<double>, 3>;  // ascending, by axis [m]

// The axis that the triangle is perpendicular to, -1: none.
int axis_of(const mesh::TriangleMesh& surface, std::size_t t, double tolerance)
{
  const Vec3 a = surface.corner(t, 0), b = surface.corner(t, 1), c = surface.corner(t, 2);
  const Vec3 thickness = a.cwiseMax(b).cwiseMax(c) - a.cwiseMin(b).cwiseMin(c);
  Eigen::Index axis = 0;
  return thickness.minCoeff(&axis) <= tolerance ? static_cast<int>(axis) : -1;
}

// The planes of the faces, by axis.
Lines face_planes(const mesh::TriangleMesh& surface)
{
  const double tolerance = kPlaneTolerance * mesh::bounding_box(surface).diagonal().norm();
  Lines planes;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const int axis = axis_of(surface, t, tolerance);
    if (axis < 0) {
      const Vec3 p = surface.corner(t, 0);
      throw Error(
          fmt::format("A grid needs faces along x, y and z, and the face at ({:.3g}, {:.3g}, {:.3g}) is not. "
                      "Use a lattice (spacing) instead.",
                      p.x(), p.y(), p.z()));
    }
    planes[static_cast<std::size_t>(axis)].push_back(surface.corner(t, 0)[axis]);
  }
  for (std::vector<double>& along : planes) {
    std::sort(along.begin(), along.end());
    along.erase(
        std::unique(along.begin(), along.end(), [&](double a, double b) { return b - a <= 2 * tolerance; }),
        along.end());
  }
  return planes;
}

// Divides the spaces between the planes into equal cells of at most `max_cell`.
Lines grid_lines(const Lines& planes, const Vec3& max_cell)
{
  Lines lines;
  double cells = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double size = max_cell[static_cast<Eigen::Index>(axis)];
    if (!(size > 0)) throw Error(fmt::format("A cell of the grid is {} m wide; it must be positive.", size));
    lines[axis].push_back(planes[axis].front());
    for (std::size_t i = 1; i < planes[axis].size(); ++i) {
      const double from = planes[axis][i - 1], to = planes[axis][i];
      const double parts = std::max(1.0, std::ceil((to - from) / size - 1e-9));
      if (parts > kMaxBlockCells)
        throw Error(fmt::format("A grid of {} m has too many cells. Use larger cells.", size));
      for (int k = 1; k <= static_cast<int>(parts); ++k)
        lines[axis].push_back(k == static_cast<int>(parts) ? to : from + (to - from) * k / parts);
    }
    cells *= static_cast<double>(lines[axis].size() - 1);
  }
  if (cells > kMaxBlockCells)
    throw Error(fmt::format("The grid has {:.3g} cells; at most {:.0e} are allowed. Use larger cells.", cells,
                            kMaxBlockCells));
  return lines;
}

}  // namespace

mesh::TetrahedralMesh tetrahedralise_blocks(const mesh::TriangleMesh& surface, const Vec3& max_cell)
{
  const distance::MeshDistance distance(surface);
  const Lines lines = grid_lines(face_planes(surface), max_cell);
  const std::array<std::size_t, 3> n = {lines[0].size(), lines[1].size(), lines[2].size()};
  const auto at = [&](std::size_t i, std::size_t j, std::size_t k) {
    return Vec3(lines[0][i], lines[1][j], lines[2][k]);
  };

  mesh::TetrahedralMesh result;
  std::vector<Index> numbers(n[0] * n[1] * n[2], -1);
  const auto vertex = [&](std::size_t i, std::size_t j, std::size_t k) {
    Index& number = numbers[i + n[0] * (j + n[1] * k)];
    if (number < 0) {
      number = static_cast<Index>(result.vertices.size());
      result.vertices.push_back(at(i, j, k));
    }
    return number;
  };
  for (std::size_t k = 0; k + 1 < n[2]; ++k) {
    for (std::size_t j = 0; j + 1 < n[1]; ++j) {
      for (std::size_t i = 0; i + 1 < n[0]; ++i) {
        if (distance.signed_distance((at(i, j, k) + at(i + 1, j + 1, k + 1)) / 2).distance > 0) continue;
        const Hexahedron cell = {vertex(i, j, k),
                                 vertex(i + 1, j, k),
                                 vertex(i + 1, j + 1, k),
                                 vertex(i, j + 1, k),
                                 vertex(i, j, k + 1),
                                 vertex(i + 1, j, k + 1),
                                 vertex(i + 1, j + 1, k + 1),
                                 vertex(i, j + 1, k + 1)};
        append_five(cell, (i + j + k) % 2 != 0, result.tetrahedra);
      }
    }
  }
  return result;
}

}  // namespace thrum::tets
