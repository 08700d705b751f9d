// SPDX-License-Identifier: MIT
// Boxes, rounded boxes and spheres: grids over the six sides of a cube, or over the twenty of an icosahedron.
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <unordered_map>

#include "thrum/base/index.h"
#include "thrum/shapes/shape_checks.h"
#include "thrum/shapes/shapes.h"

namespace thrum::shapes {

namespace {

using GridPoint = std::array<int, 3>;

// Vertices of a cube's surface grid with counts[a] cells along axis a, each created once.
class CubeGrid {
 public:
  explicit CubeGrid(const std::array<int, 3>& counts) : counts_(counts) {}

  // Two triangles for each cell of the six sides; place(grid point) gives the position.
  template <typename Place>
  mesh::TriangleMesh build(Place place)
  {
    mesh::TriangleMesh mesh;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int side : {0, 1}) add_side(mesh, axis, side, place);
    }
    return mesh;
  }

 private:
  template <typename Place>
  void add_side(mesh::TriangleMesh& mesh, std::size_t axis, int side, Place place)
  {
    const std::size_t u = (axis + 1) % 3;
    const std::size_t v = (axis + 2) % 3;
    for (int i = 0; i < counts_[u]; ++i) {
      for (int j = 0; j < counts_[v]; ++j) {
        const auto at = [&](int di, int dj) {
          GridPoint p{};
          p[axis] = side * counts_[axis];
          p[u] = i + di;
          p[v] = j + dj;
          return vertex(mesh, p, place);
        };
        const std::array<Index, 4> q = {at(0, 0), at(1, 0), at(1, 1), at(0, 1)};
        // Diagonals point to the middle of the side, so the mesh has the symmetries of the box.
        const bool same_side = (2 * i < counts_[u]) == (2 * j < counts_[v]);
        add_quad(mesh, q, same_side, side == 1);
      }
    }
  }

  static void add_quad(mesh::TriangleMesh& mesh, const std::array<Index, 4>& q, bool diagonal_02, bool upper)
  {
    Triangle a = diagonal_02 ? Triangle{q[0], q[1], q[2]} : Triangle{q[0], q[1], q[3]};
    Triangle b = diagonal_02 ? Triangle{q[0], q[2], q[3]} : Triangle{q[1], q[2], q[3]};
    if (!upper) {
      std::swap(a[1], a[2]);
      std::swap(b[1], b[2]);
    }
    mesh.triangles.push_back(a);
    mesh.triangles.push_back(b);
  }

  template <typename Place>
  Index vertex(mesh::TriangleMesh& mesh, const GridPoint& p, Place place)
  {
    const std::int64_t stride = 2 * static_cast<std::int64_t>(kMaxSegments);
    const std::int64_t key = (p[0] * stride + p[1]) * stride + p[2];
    const auto [entry, fresh] = index_.try_emplace(key, count_of(mesh.vertices));
    if (fresh) mesh.vertices.push_back(place(p));
    return entry->second;
  }

  std::array<int, 3> counts_;
  std::unordered_map<std::int64_t, Index> index_;
};

// Grid lines along one axis of a rounded box: `arc` steps through 45 degrees of the rounding, the flat part,
// and again. A line in the rounding is where the ray at a uniform angle meets the box, so that normalising
// gives even arcs.
std::vector<double> rounded_lines(double half, double rounding, int flat, int arc)
{
  std::vector<double> lines;
  const double core = half - rounding;
  const auto line = [&](int i) {
    return i == arc ? half : core + rounding * std::tan(std::numbers::pi / 4 * i / arc);
  };
  for (int i = arc; i >= 1; --i) lines.push_back(-line(i));
  for (int i = 0; i <= flat; ++i) lines.push_back(flat == 0 ? 0 : core * (2.0 * i / flat - 1));
  for (int i = 1; i <= arc; ++i) lines.push_back(line(i));
  return lines;
}

// The nearest point of the rounded box to a point on the surface of the sharp one.
Vec3 onto_rounded_box(const Vec3& p, const Vec3& core, double rounding)
{
  const Vec3 inner = p.cwiseMax(-core).cwiseMin(core);
  return inner + rounding * (p - inner).normalized();
}

mesh::TriangleMesh rounded_box(const Vec3& half, double rounding, double edge_length, int min_arc_segments)
{
  const int arc = segment_count(std::numbers::pi / 4 * rounding, edge_length, min_arc_segments);
  std::array<std::vector<double>, 3> lines;
  std::array<int, 3> counts{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double core = half[a] - rounding;
    const int flat = core > 0 ? segment_count(2 * core, edge_length) : 0;
    lines[a] = rounded_lines(half[a], rounding, flat, arc);
    counts[a] = static_cast<int>(lines[a].size()) - 1;
  }
  const Vec3 core = (half.array() - rounding).matrix();
  return CubeGrid(counts).build([&](const GridPoint& p) {
    const Vec3 on_box(lines[0][at(p[0])], lines[1][at(p[1])], lines[2][at(p[2])]);
    return onto_rounded_box(on_box, core, rounding);
  });
}

struct Icosahedron {
  std::array<Vec3, 12> vertices;
  std::array<Triangle, 20> triangles;
};

// Unit icosahedron with a vertex at either pole.
Icosahedron icosahedron()
{
  Icosahedron solid;
  const double z = 1 / std::sqrt(5.0);
  const double r = 2 * z;
  solid.vertices[0] = Vec3(0, 0, 1);
  solid.vertices[11] = Vec3(0, 0, -1);
  for (int i = 0; i < 5; ++i) {
    const double upper = 2 * std::numbers::pi * i / 5;
    const double lower = upper + std::numbers::pi / 5;
    solid.vertices[at(1 + i)] = Vec3(r * std::cos(upper), r * std::sin(upper), z);
    solid.vertices[at(6 + i)] = Vec3(r * std::cos(lower), r * std::sin(lower), -z);
  }
  std::size_t next = 0;
  for (Index i = 0; i < 5; ++i) {
    const Index j = (i + 1) % 5;
    solid.triangles[next++] = {0, 1 + i, 1 + j};
    solid.triangles[next++] = {1 + i, 6 + i, 1 + j};
    solid.triangles[next++] = {1 + j, 6 + i, 6 + j};
    solid.triangles[next++] = {11, 6 + j, 6 + i};
  }
  return solid;
}

// Every side of the icosahedron cut into n^2 triangles and projected onto the sphere. A vertex is identified
// by its corners with their integer weights (with sum n), which is the same for both triangles at an edge.
mesh::TriangleMesh icosphere(double radius, int n)
{
  const Icosahedron solid = icosahedron();
  mesh::TriangleMesh mesh;
  std::map<std::array<std::pair<Index, int>, 3>, Index> known;
  const auto vertex = [&](const Triangle& t, int wa, int wb, int wc) {
    std::array<std::pair<Index, int>, 3> key = {{{t[0], wa}, {t[1], wb}, {t[2], wc}}};
    for (auto& entry : key) {
      if (entry.second == 0) entry.first = -1;
    }
    std::sort(key.begin(), key.end());
    const auto [entry, fresh] = known.try_emplace(key, count_of(mesh.vertices));
    if (fresh) {
      // Summed in the order of the sorted key, so both sides of an edge would give the same bits.
      Vec3 p = Vec3::Zero();
      for (const auto& [corner, weight] : key) {
        if (corner >= 0) p += weight * solid.vertices[at(corner)];
      }
      mesh.vertices.push_back(radius * p.normalized());
    }
    return entry->second;
  };
  for (const Triangle& t : solid.triangles) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n - i; ++j) {
        const Index a = vertex(t, n - i - j, i, j);
        const Index b = vertex(t, n - i - j - 1, i + 1, j);
        const Index c = vertex(t, n - i - j - 1, i, j + 1);
        mesh.triangles.push_back({a, b, c});
        if (j < n - i - 1) mesh.triangles.push_back({b, vertex(t, n - i - j - 2, i + 1, j + 1), c});
      }
    }
  }
  return mesh;
}

}  // namespace

mesh::TriangleMesh generate(const BoxDesc& desc)
{
  for (const double size : desc.size) require_positive(size, "size of the box");
  require_not_negative(desc.rounding, "edge rounding of the box");
  require_not_negative(desc.edge_length, "edge length");
  const Vec3 half = desc.size / 2;
  if (desc.rounding > half.minCoeff()) {
    throw Error(
        fmt::format("The edge rounding of {} m is more than half the smallest dimension of the box, {} m.",
                    desc.rounding, half.minCoeff()));
  }
  constexpr int kDefaultArc = 2;  // pieces in 45 degrees of rounding
  if (desc.rounding > 0)
    return rounded_box(half, desc.rounding, desc.edge_length, desc.edge_length > 0 ? 1 : kDefaultArc);

  std::array<int, 3> counts{};
  for (std::size_t a = 0; a < 3; ++a) counts[a] = segment_count(desc.size[a], desc.edge_length);
  return CubeGrid(counts).build([&](const GridPoint& p) {
    Vec3 v;
    for (std::size_t a = 0; a < 3; ++a) {
      // Exact at both ends, so that boxes placed flush share their coordinates bit for bit.
      v[a] = half[a] * (static_cast<double>(2 * p[a] - counts[a]) / counts[a]);
    }
    return v;
  });
}

mesh::TriangleMesh generate(const SphereDesc& desc)
{
  require_positive(desc.radius, "radius of the sphere");
  require_not_negative(desc.edge_length, "edge length");
  const double edge =
      desc.edge_length > 0 ? desc.edge_length : 2 * std::numbers::pi * desc.radius / kDefaultSegments;
  if (desc.grid == SphereGrid::cube) return rounded_box(Vec3::Constant(desc.radius), desc.radius, edge, 1);
  // The side of a unit icosahedron spans atan 2; the mean edge of the cut sphere is close to the n-th of that
  // arc.
  return icosphere(desc.radius, segment_count(std::atan(2.0) * desc.radius, edge));
}

mesh::TriangleMesh generate(const HeightFieldDesc& desc)
{
  require_positive(desc.spacing, "spacing of the height field");
  if (desc.columns < 2 || desc.rows < 2) throw Error("A height field needs at least 2 columns and 2 rows.");
  if (std::max(desc.columns, desc.rows) > kMaxSegments) {
    throw Error(fmt::format("A height field has at most {} columns and rows.", kMaxSegments));
  }
  const auto columns = at(desc.columns);
  const auto rows = at(desc.rows);
  if (desc.heights.size() != columns * rows) {
    throw Error(fmt::format("The height field has {} heights; {} columns and {} rows need {}.",
                            desc.heights.size(), columns, rows, columns * rows));
  }
  for (const double h : desc.heights) {
    if (!(h > desc.bottom) || !std::isfinite(h)) {
      throw Error(fmt::format("The height {} m is not above the bottom at {} m.", h, desc.bottom));
    }
  }
  // One cell high: the upper side carries the heights, the lower side the bottom, the walls connect them.
  const double x0 = -desc.spacing * (desc.columns - 1) / 2;
  const double y0 = -desc.spacing * (desc.rows - 1) / 2;
  return CubeGrid({desc.columns - 1, desc.rows - 1, 1}).build([&](const GridPoint& p) {
    const double height = desc.heights[at(p[1]) * columns + at(p[0])];
    return Vec3(x0 + desc.spacing * p[0], y0 + desc.spacing * p[1], p[2] == 1 ? height : desc.bottom);
  });
}

}  // namespace thrum::shapes
