// SPDX-License-Identifier: MIT
#include "thrum/tets/cell_improvement.h"

#include <algorithm>
#include <cmath>

#include "thrum/tets/cavity_filling.h"
#include "thrum/tets/grid_predicates.h"
#include "thrum/tets/tet_quality.h"

namespace thrum::tets {

namespace {

constexpr double kGoodRatio = 0.3;  // cells with a radius ratio above this are left alone
constexpr int kMaxPasses = 8;
constexpr double kNearlyFlat = 3e-3;  // cells with a radius ratio below this are opened by a new point
constexpr int kMaxInsertions = 3;
constexpr std::size_t kMaxRing = 9;  // edges with more cells are left alone
// A swap must raise the worst ratio by more than rounding.
constexpr double kGain = 1e-6;

class Improvement {
 public:
  Improvement(DelaunayMesh& mesh, KeptSurface& surface) : mesh_(mesh), surface_(surface) {}

  std::size_t run()
  {
    std::size_t changes = swap();
    for (int round = 0; round < kMaxInsertions; ++round) {
      std::size_t inserted = 0;
      for (Index cell = 0; cell < count_of(mesh_.cells()); ++cell)
        if (is_worse_than(kNearlyFlat, cell) && open(cell)) ++inserted;
      if (inserted == 0) break;
      changes += inserted + swap();
    }
    return changes;
  }

 private:
  std::size_t swap()
  {
    std::size_t swaps = 0;
    for (int pass = 0; pass < kMaxPasses; ++pass) {
      const std::size_t before = swaps;
      for (Index cell = 0; cell < count_of(mesh_.cells()); ++cell)
        if (is_worse_than(kGoodRatio, cell) && improve(cell)) ++swaps;
      if (swaps == before) break;
    }
    return swaps;
  }

  [[nodiscard]] bool is_worse_than(double limit, Index cell) const
  {
    return mesh_.is_used(cell) && surface_.inside[at(cell)] == 1 && ratio(mesh_.cells()[at(cell)].v) < limit;
  }

  // 0 for a tetrahedron that is not positive.
  [[nodiscard]] double ratio(const std::array<Index, 4>& v) const
  {
    if (mesh_.orientation(v[0], v[1], v[2], v[3]) <= 0) return 0;
    return radius_ratio({mesh_.point(v[0]), mesh_.point(v[1]), mesh_.point(v[2]), mesh_.point(v[3])});
  }

  [[nodiscard]] double worst_ratio(const std::vector<Index>& cells) const
  {
    double worst = 1;
    for (const Index cell : cells) worst = std::min(worst, ratio(mesh_.cells()[at(cell)].v));
    return worst;
  }

  bool improve(Index cell)
  {
    const std::array<Index, 4> v = mesh_.cells()[at(cell)].v;
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = i + 1; k < 4; ++k)
        if (remove_edge(v[i], v[k])) return true;
    for (std::size_t k = 0; k < 4; ++k)
      if (remove_face(cell, k)) return true;
    return false;
  }

  void replace(const std::vector<Index>& cells, const std::vector<std::array<Index, 4>>& by)
  {
    for (const Index made : mesh_.replace(cells, by)) {
      if (at(made) >= surface_.inside.size()) surface_.inside.resize(at(made) + 1);
      surface_.inside[at(made)] = 1;
    }
  }

  // The vertices around the edge, counter-clockwise seen from b; empty when they are too many.
  [[nodiscard]] std::vector<Index> ring_around(Index a, Index b, const std::vector<Index>& cells) const
  {
    if (cells.size() < 3 || cells.size() > kMaxRing) return {};
    std::vector<std::array<Index, 2>> sides;
    for (const Index cell : cells) {
      std::array<Index, 2> side{};
      std::size_t n = 0;
      for (const Index v : mesh_.cells()[at(cell)].v)
        if (v != a && v != b) side[n++] = v;
      if (mesh_.orientation(a, b, side[0], side[1]) < 0) std::swap(side[0], side[1]);
      sides.push_back(side);
    }
    std::vector<Index> ring = {sides[0][0]};
    while (ring.size() < sides.size()) {
      const auto next =
          std::find_if(sides.begin(), sides.end(), [&](const auto& side) { return side[0] == ring.back(); });
      if (next == sides.end()) return {};
      ring.push_back((*next)[1]);
    }
    return ring;
  }

  bool remove_edge(Index a, Index b)
  {
    if (surface_.edges.contains({std::min(a, b), std::max(a, b)})) return false;
    std::vector<Index> cells;
    mesh_.cells_at(a, b, cells);
    const std::vector<Index> ring = ring_around(a, b, cells);
    const std::size_t n = ring.size();
    if (n == 0) return false;

    // best[i][k]: the largest worst ratio of the cells over the polygon i .. k, and the corner that it takes
    // between.
    std::array<std::array<double, kMaxRing>, kMaxRing> best{};
    std::array<std::array<std::size_t, kMaxRing>, kMaxRing> corner{};
    for (std::size_t i = 0; i + 1 < n; ++i) best[i][i + 1] = 1;
    for (std::size_t span = 2; span < n; ++span) {
      for (std::size_t i = 0; i + span < n; ++i) {
        const std::size_t k = i + span;
        for (std::size_t j = i + 1; j < k; ++j) {
          const double worst = std::min({best[i][j], best[j][k], ratio({ring[i], ring[j], ring[k], b}),
                                         ratio({ring[i], ring[k], ring[j], a})});
          if (worst <= best[i][k]) continue;
          best[i][k] = worst;
          corner[i][k] = j;
        }
      }
    }
    if (best[0][n - 1] <= worst_ratio(cells) + kGain) return false;
    std::vector<std::array<Index, 4>> by;
    std::vector<std::array<std::size_t, 2>> polygons = {{0, n - 1}};
    while (!polygons.empty()) {
      const auto [i, k] = polygons.back();
      polygons.pop_back();
      if (k == i + 1) continue;
      const std::size_t j = corner[i][k];
      by.push_back({ring[i], ring[j], ring[k], b});
      by.push_back({ring[i], ring[k], ring[j], a});
      polygons.push_back({i, j});
      polygons.push_back({j, k});
    }
    replace(cells, by);
    return true;
  }

  // A new point beside the middle of an edge inside, off the plane of the flat cell, is joined to all faces
  // around the edge, or around all such edges of the cell.
  bool open(Index cell)
  {
    const std::array<Index, 4> v = mesh_.cells()[at(cell)].v;
    Opening best;
    std::vector<Index> around_all;
    Vec3 across_all = Vec3::Zero();
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t k = i + 1; k < 4; ++k) {
        if (surface_.edges.contains({std::min(v[i], v[k]), std::max(v[i], v[k])})) continue;
        std::vector<Index> cells;
        mesh_.cells_at(v[i], v[k], cells);
        for (const Index c : cells)
          if (std::find(around_all.begin(), around_all.end(), c) == around_all.end()) around_all.push_back(c);
        const Vec3 along = mesh_.point(v[k]) - mesh_.point(v[i]);
        across_all = along.cross(opposite_edge(v, i, k));
        try_points(cells, 0.5 * (mesh_.point(v[i]) + mesh_.point(v[k])), along.norm(), across_all, best);
      }
    }
    const Vec3 middle =
        0.25 * (mesh_.point(v[0]) + mesh_.point(v[1]) + mesh_.point(v[2]) + mesh_.point(v[3]));
    try_points(around_all, middle, std::sqrt(across_all.norm()), across_all, best);
    if (best.cells.empty()) return false;
    const std::vector<OpenTriangle> faces = outer_faces(best.cells);
    const Index vertex = mesh_.add_vertex(best.point);
    std::vector<std::array<Index, 4>> by;
    for (const OpenTriangle& face : faces) by.push_back({face[0], face[1], face[2], vertex});
    replace(best.cells, by);
    return true;
  }

  struct Opening {
    double worst = 0;  // radius ratio of the new cells
    Vec3 point = Vec3::Zero();
    std::vector<Index> cells;
  };

  [[nodiscard]] Vec3 opposite_edge(const std::array<Index, 4>& v, std::size_t i, std::size_t k) const
  {
    Vec3 edge = Vec3::Zero();
    double sign = 1;
    for (std::size_t j = 0; j < 4; ++j) {
      if (j == i || j == k) continue;
      edge += sign * mesh_.point(v[j]);
      sign = -1;
    }
    return edge;
  }

  void try_points(const std::vector<Index>& cells, const Vec3& middle, double size, const Vec3& across,
                  Opening& best) const
  {
    if (cells.empty() || across.norm() == 0) return;
    const double before = worst_ratio(cells);
    for (const double share : {0.3, -0.3, 0.15, -0.15, 0.07, -0.07, 0.02, -0.02}) {
      const Vec3 exact = middle + share * size * across.normalized();
      const Vec3 point(std::round(exact.x()), std::round(exact.y()), std::round(exact.z()));
      const double worst = worst_of_star(point, cells);
      if (worst > std::max(best.worst, before + kGain)) best = {worst, point, cells};
    }
  }

  // Faces of cells that have no other of them behind, with the cells on their positive side.
  [[nodiscard]] std::vector<OpenTriangle> outer_faces(const std::vector<Index>& cells) const
  {
    std::vector<OpenTriangle> faces;
    for (const Index cell : cells) {
      const DelaunayMesh::Cell& c = mesh_.cells()[at(cell)];
      const auto inward = inward_faces(c.v);
      for (std::size_t k = 0; k < 4; ++k)
        if (std::find(cells.begin(), cells.end(), c.n[k]) == cells.end()) faces.push_back(inward[k]);
    }
    return faces;
  }

  [[nodiscard]] double worst_of_star(const Vec3& point, const std::vector<Index>& cells) const
  {
    double worst = 1;
    for (const OpenTriangle& face : outer_faces(cells)) {
      const std::array<Vec3, 4> p = {mesh_.point(face[0]), mesh_.point(face[1]), mesh_.point(face[2]), point};
      if (grid_orientation(p[0], p[1], p[2], p[3]) <= 0) return 0;
      worst = std::min(worst, radius_ratio(p));
    }
    return worst;
  }

  bool remove_face(Index cell, std::size_t k)
  {
    const DelaunayMesh::Cell& here = mesh_.cells()[at(cell)];
    const Index other = here.n[k];
    if (other < 0) return false;
    Triangle face{};
    for (std::size_t i = 0, j = 0; i < 4; ++i)
      if (i != k) face[j++] = here.v[i];
    Triangle key = face;
    std::sort(key.begin(), key.end());
    if (surface_.triangles.contains(key)) return false;
    const Index d = here.v[k];
    Index e = -1;
    for (const Index v : mesh_.cells()[at(other)].v)
      if (std::find(face.begin(), face.end(), v) == face.end()) e = v;
    if (mesh_.orientation(face[0], face[1], face[2], d) < 0) std::swap(face[1], face[2]);  // seen from d
    const std::vector<std::array<Index, 4>> by = {
        {e, d, face[0], face[1]}, {e, d, face[1], face[2]}, {e, d, face[2], face[0]}};
    const std::vector<Index> cells = {cell, other};
    double worst = 1;
    for (const auto& v : by) worst = std::min(worst, ratio(v));
    if (worst <= worst_ratio(cells) + kGain) return false;
    replace(cells, by);
    return true;
  }

  DelaunayMesh& mesh_;
  KeptSurface& surface_;
};

}  // namespace

std::size_t improve_cells(DelaunayMesh& mesh, KeptSurface& surface)
{
  return Improvement(mesh, surface).run();
}

}  // namespace thrum::tets
