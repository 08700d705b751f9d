// SPDX-License-Identifier: MIT
#include "thrum/tets/structured_tets.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::tets {

namespace {

constexpr double kPi = std::numbers::pi;

void require_positive(double value, const char* name)
{
  if (!(value > 0) || !std::isfinite(value)) {
    throw Error(fmt::format("The {} is {} m; it must be positive.", name, value));
  }
}

void require_count(int value, int min_count, const char* name)
{
  if (value < min_count)
    throw Error(fmt::format("There must be at least {} {}; requested: {}.", min_count, name, value));
}

// Index arithmetic of a grid of (n[0]+1) x (n[1]+1) x (n[2]+1) vertices, x running fastest.
struct Grid {
  std::array<int, 3> n;

  [[nodiscard]] Index vertex(int i, int j, int k) const { return i + (n[0] + 1) * (j + (n[1] + 1) * k); }
  [[nodiscard]] Hexahedron cell(int i, int j, int k) const
  {
    return {
        vertex(i, j, k),     vertex(i + 1, j, k),     vertex(i + 1, j + 1, k),     vertex(i, j + 1, k),
        vertex(i, j, k + 1), vertex(i + 1, j, k + 1), vertex(i + 1, j + 1, k + 1), vertex(i, j + 1, k + 1)};
  }
};

// Pulls the smallest vertex of a convex cell: the cell is the cone from that vertex over the faces that do
// not contain it, and those quadrilaterals are themselves cut from their smallest vertex. Faces are given
// outward counter-clockwise; a triangle repeats its last corner.
template <std::size_t corners, std::size_t faces>
void append_split_cell(const std::array<Index, corners>& cell,
                       const std::array<std::array<int, 4>, faces>& face_corners,
                       std::vector<Tetrahedron>& out)
{
  const Index apex = *std::min_element(cell.begin(), cell.end());
  for (const auto& face : face_corners) {
    std::array<Index, 4> f{};
    for (std::size_t m = 0; m < 4; ++m) f[m] = cell[at(face[m])];
    if (std::find(f.begin(), f.end(), apex) != f.end()) continue;
    if (f[3] != f[2]) std::rotate(f.begin(), std::min_element(f.begin(), f.end()), f.end());
    // Outward faces seen from the apex inside run clockwise, so apex first and the face in its own order is
    // positive.
    out.push_back({apex, f[0], f[1], f[2]});
    if (f[3] != f[2]) out.push_back({apex, f[0], f[2], f[3]});
  }
}

// Maps a point of the unit cube's surface to the unit sphere. The tangent spaces the directions evenly in
// angle along the axes of each face (the equiangular cubed sphere).
Vec3 on_sphere(const Vec3& u)
{
  return Vec3(std::tan(kPi / 4 * u.x()), std::tan(kPi / 4 * u.y()), std::tan(kPi / 4 * u.z())).normalized();
}

// The middle block reaches to kCoreFraction of the radius at the middle of its faces, and is kRounding of the
// way from a cube to a ball: its corners must stay away from the sphere and its edges must not become flat.
constexpr double kCoreFraction = 0.5;
constexpr double kRounding = 0.5;

Vec3 core_point(const Vec3& u)
{
  const double shell = u.cwiseAbs().maxCoeff();
  if (shell == 0) return Vec3::Zero();
  return kCoreFraction * ((1 - kRounding) * u + kRounding * shell * on_sphere(u / shell));
}

}  // namespace

void append_five(const Hexahedron& c, bool mirrored, std::vector<Tetrahedron>& out)
{
  if (!mirrored) {
    out.insert(out.end(), {{c[0], c[1], c[2], c[5]},
                           {c[0], c[2], c[3], c[7]},
                           {c[0], c[5], c[7], c[4]},
                           {c[2], c[7], c[5], c[6]},
                           {c[0], c[2], c[7], c[5]}});
  } else {
    out.insert(out.end(), {{c[1], c[2], c[3], c[6]},
                           {c[1], c[3], c[0], c[4]},
                           {c[1], c[6], c[4], c[5]},
                           {c[3], c[4], c[6], c[7]},
                           {c[1], c[3], c[4], c[6]}});
  }
}

mesh::TetrahedralMesh tetrahedralise_box(const Vec3& size, const std::array<int, 3>& cells, BoxSplit split)
{
  for (int axis = 0; axis < 3; ++axis) {
    require_positive(size[axis], "size of the box along each axis");
    require_count(cells[at(axis)], 1, "cell along each axis of the box");
  }
  const Grid grid{cells};
  mesh::TetrahedralMesh mesh;
  for (int k = 0; k <= cells[2]; ++k) {
    for (int j = 0; j <= cells[1]; ++j) {
      for (int i = 0; i <= cells[0]; ++i) {
        const Vec3 fraction(static_cast<double>(i) / cells[0], static_cast<double>(j) / cells[1],
                            static_cast<double>(k) / cells[2]);
        mesh.vertices.push_back(size.cwiseProduct(fraction - Vec3::Constant(0.5)));
      }
    }
  }
  std::vector<Hexahedron> hexahedra;
  for (int k = 0; k < cells[2]; ++k) {
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i) {
        if (split == BoxSplit::five)
          append_five(grid.cell(i, j, k), (i + j + k) % 2 != 0, mesh.tetrahedra);
        else
          hexahedra.push_back(grid.cell(i, j, k));
      }
    }
  }
  if (split == BoxSplit::six) mesh.tetrahedra = split_hexahedra(hexahedra);
  return mesh;
}

PlanarTriangulation triangulate_disc(double radius, int rings)
{
  require_positive(radius, "radius of the disc");
  require_count(rings, 1, "ring");
  // Ring n starts at vertex 1 + 3 n (n - 1) and has 6 n vertices, so that all triangles are nearly
  // equilateral.
  const auto first = [](int ring) {
    return ring == 0 ? 0 : 1 + 3 * ring * (ring - 1);
  };
  PlanarTriangulation disc;
  disc.vertices.push_back(Vec2::Zero());
  for (int ring = 1; ring <= rings; ++ring) {
    for (int i = 0; i < 6 * ring; ++i) {
      const double angle = 2 * kPi * i / (6 * ring);
      disc.vertices.push_back(radius * ring / rings * Vec2(std::cos(angle), std::sin(angle)));
    }
  }
  for (int ring = 1; ring <= rings; ++ring) {
    const auto outer = [&](int i) {
      return static_cast<Index>(first(ring) + i % (6 * ring));
    };
    const auto inner = [&](int i) {
      return static_cast<Index>(ring == 1 ? 0 : first(ring - 1) + i % (6 * (ring - 1)));
    };
    for (int sector = 0; sector < 6; ++sector) {
      for (int i = 0; i < ring; ++i) {
        const int out_i = sector * ring + i;
        const int in_i = sector * (ring - 1) + i;
        disc.triangles.push_back({inner(in_i), outer(out_i), outer(out_i + 1)});
        if (i + 1 < ring) disc.triangles.push_back({inner(in_i), outer(out_i + 1), inner(in_i + 1)});
      }
    }
  }
  return disc;
}

PlanarTriangulation triangulate_annulus(double inner_radius, double outer_radius, int around, int across)
{
  require_positive(inner_radius, "inner radius of the ring");
  require_positive(outer_radius - inner_radius, "width of the ring");
  require_count(around, 3, "cells around the ring");
  require_count(across, 1, "cell across the ring");
  PlanarTriangulation ring;
  for (int r = 0; r <= across; ++r) {
    const double radius = inner_radius + (outer_radius - inner_radius) * r / across;
    for (int i = 0; i < around; ++i) {
      const double angle = 2 * kPi * i / around;
      ring.vertices.push_back(radius * Vec2(std::cos(angle), std::sin(angle)));
    }
  }
  const auto vertex = [&](int r, int i) {
    return static_cast<Index>(r * around + i % around);
  };
  for (int r = 0; r < across; ++r) {
    for (int i = 0; i < around; ++i) {
      // Alternate diagonals, so that the ring has no preferred direction of rotation (exactly when `around`
      // is even).
      const Index a = vertex(r, i), b = vertex(r + 1, i), c = vertex(r + 1, i + 1), d = vertex(r, i + 1);
      if ((r + i) % 2 == 0)
        ring.triangles.insert(ring.triangles.end(), {Triangle{a, b, c}, Triangle{a, c, d}});
      else
        ring.triangles.insert(ring.triangles.end(), {Triangle{a, b, d}, Triangle{b, c, d}});
    }
  }
  return ring;
}

mesh::TetrahedralMesh tetrahedralise_prism(const PlanarTriangulation& base, double height, int layers)
{
  require_positive(height, "height of the prism");
  require_count(layers, 1, "layer");
  const auto count = count_of(base.vertices);
  for (const Triangle& t : base.triangles) {
    for (const Index v : t) {
      if (v < 0 || v >= count) throw Error(fmt::format("A base triangle names vertex {} of {}.", v, count));
    }
    const auto at = [&](std::size_t m) {
      return base.vertices[static_cast<std::size_t>(t[m])];
    };
    const Vec2 u = at(1) - at(0), v = at(2) - at(0);
    if (!(u.x() * v.y() - u.y() * v.x() > 0)) {
      throw Error(fmt::format("Base triangle {} {} {} is not counter-clockwise.", t[0], t[1], t[2]));
    }
  }
  mesh::TetrahedralMesh mesh;
  for (int layer = 0; layer <= layers; ++layer) {
    const double z = height * (static_cast<double>(layer) / layers - 0.5);
    for (const Vec2& p : base.vertices) mesh.vertices.emplace_back(p.x(), p.y(), z);
  }
  std::vector<Prism> prisms;
  prisms.reserve(base.triangles.size() * at(layers));
  for (Index layer = 0; layer < layers; ++layer) {
    const Index low = layer * count, high = low + count;
    for (const Triangle& t : base.triangles) {
      prisms.push_back({low + t[0], low + t[1], low + t[2], high + t[0], high + t[1], high + t[2]});
    }
  }
  mesh.tetrahedra = split_prisms(prisms);
  return mesh;
}

mesh::TetrahedralMesh tetrahedralise_ball(double radius, int cells)
{
  require_positive(radius, "radius of the ball");
  require_count(cells, 1, "cell");
  const Grid grid{{cells, cells, cells}};
  mesh::TetrahedralMesh mesh;
  std::vector<Hexahedron> hexahedra;

  // The middle block.
  const auto coordinate = [&](int i) {
    return 2.0 * i / cells - 1;
  };
  std::vector<Vec3> cube_points;
  for (int k = 0; k <= cells; ++k) {
    for (int j = 0; j <= cells; ++j) {
      for (int i = 0; i <= cells; ++i) cube_points.emplace_back(coordinate(i), coordinate(j), coordinate(k));
    }
  }
  for (const Vec3& u : cube_points) mesh.vertices.push_back(radius * core_point(u));
  for (int k = 0; k < cells; ++k) {
    for (int j = 0; j < cells; ++j) {
      for (int i = 0; i < cells; ++i) hexahedra.push_back(grid.cell(i, j, k));
    }
  }

  // Shells of vertices from the middle block's surface to the sphere, spaced like the block's own cells.
  const int layers =
      std::max(1, static_cast<int>(std::lround(cells * (1 - kCoreFraction) / (2 * kCoreFraction))));
  std::vector<std::vector<Index>> shell(at(layers) + 1, std::vector<Index>(cube_points.size(), -1));
  for (std::size_t v = 0; v < cube_points.size(); ++v) {
    const Vec3& u = cube_points[v];
    if (u.cwiseAbs().maxCoeff() != 1) continue;
    shell[0][v] = static_cast<Index>(v);
    for (int layer = 1; layer <= layers; ++layer) {
      const double f = static_cast<double>(layer) / layers;
      shell[at(layer)][v] = count_of(mesh.vertices);
      mesh.vertices.push_back(radius * ((1 - f) * core_point(u) + f * on_sphere(u)));
    }
  }

  // Six blocks: each boundary quadrilateral of the middle block, outward, extruded through the shells.
  const auto extrude = [&](const std::array<Index, 4>& quad) {
    for (std::size_t layer = 0; layer + 1 < shell.size(); ++layer) {
      Hexahedron cell{};
      for (std::size_t m = 0; m < 4; ++m) {
        cell[m] = shell[layer][at(quad[m])];
        cell[m + 4] = shell[layer + 1][at(quad[m])];
      }
      hexahedra.push_back(cell);
    }
  };
  for (int b = 0; b < cells; ++b) {
    for (int a = 0; a < cells; ++a) {
      for (const int side : {0, cells}) {
        // Axis order (fixed, a, b) is a cyclic one, so a, b turn counter-clockwise about the fixed axis.
        std::array<Index, 4> x = {grid.vertex(side, a, b), grid.vertex(side, a + 1, b),
                                  grid.vertex(side, a + 1, b + 1), grid.vertex(side, a, b + 1)};
        std::array<Index, 4> y = {grid.vertex(b, side, a), grid.vertex(b, side, a + 1),
                                  grid.vertex(b + 1, side, a + 1), grid.vertex(b + 1, side, a)};
        std::array<Index, 4> z = {grid.vertex(a, b, side), grid.vertex(a + 1, b, side),
                                  grid.vertex(a + 1, b + 1, side), grid.vertex(a, b + 1, side)};
        for (auto* quad : {&x, &y, &z}) {
          if (side == 0) std::reverse(quad->begin(), quad->end());
          extrude(*quad);
        }
      }
    }
  }
  mesh.tetrahedra = split_hexahedra(hexahedra);
  return mesh;
}

std::vector<Tetrahedron> split_hexahedra(std::span<const Hexahedron> cells)
{
  constexpr std::array<std::array<int, 4>, 6> kFaces = {
      {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};
  std::vector<Tetrahedron> result;
  result.reserve(6 * cells.size());
  for (const Hexahedron& cell : cells) append_split_cell(cell, kFaces, result);
  return result;
}

std::vector<Tetrahedron> split_prisms(std::span<const Prism> cells)
{
  constexpr std::array<std::array<int, 4>, 5> kFaces = {
      {{0, 2, 1, 1}, {3, 4, 5, 5}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}}};
  std::vector<Tetrahedron> result;
  result.reserve(3 * cells.size());
  for (const Prism& cell : cells) append_split_cell(cell, kFaces, result);
  return result;
}

void map_vertices(mesh::TetrahedralMesh& mesh, const std::function<Vec3(const Vec3&)>& map)
{
  for (Vec3& p : mesh.vertices) p = map(p);
  std::size_t positive = 0;
  std::size_t negative = 0;
  for (std::size_t t = 0; t < mesh.tetrahedra.size(); ++t) {
    const double six = six_times_volume(mesh, t);
    if (six > 0) ++positive;
    if (six < 0) ++negative;
  }
  const std::size_t count = mesh.tetrahedra.size();
  if (positive != count && negative != count) {
    throw Error(
        fmt::format("The map folds or flattens the mesh: of {} tetrahedra {} keep their orientation, {} are "
                    "mirrored and {} are flat.",
                    count, positive, negative, count - positive - negative));
  }
  if (count > 0 && negative == count) {
    for (Tetrahedron& tet : mesh.tetrahedra) std::swap(tet[2], tet[3]);
  }
}

}  // namespace thrum::tets
