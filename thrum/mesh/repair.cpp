// SPDX-License-Identifier: MIT
#include "thrum/mesh/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <unordered_map>

#include "thrum/base/index.h"
#include "thrum/mesh/duplicate_triangles.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/orient_components.h"
#include "thrum/mesh/split_edges.h"
#include "thrum/mesh/unused_vertices.h"

namespace thrum::mesh {

namespace {

using Cell = std::array<std::int64_t, 3>;

struct CellHash {
  std::size_t operator()(const Cell& c) const
  {
    constexpr std::uint64_t kHashMultiplier = 0x9e3779b97f4a7c15;
    std::uint64_t h = 0;
    for (const std::int64_t v : c) h = (h ^ static_cast<std::uint64_t>(v)) * kHashMultiplier;
    return h ^ (h >> 32);
  }
};

// For each vertex the kept vertex that it becomes: the lowest one within the tolerance. Kept vertices never
// chain, so no vertex moves farther than the tolerance. Cells are four tolerances wide: most vertices need
// only one.
std::vector<Index> weld_targets(const std::vector<Vec3>& vertices, double tolerance, const Vec3& origin)
{
  constexpr double kCellPerTolerance = 4;
  const double cell_size = kCellPerTolerance * tolerance;
  const auto cell_along = [&](double offset) {
    return static_cast<std::int64_t>(std::floor(offset / cell_size));
  };
  // Only used for lookup, never iterated, so its order has no influence.
  std::unordered_map<Cell, std::vector<Index>, CellHash> kept;
  kept.reserve(vertices.size());
  std::vector<Index> target(vertices.size());
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const Vec3 p = vertices[v] - origin;
    Cell low{}, high{};
    for (int k = 0; k < 3; ++k) {
      low[at(k)] = cell_along(p[k] - tolerance);
      high[at(k)] = cell_along(p[k] + tolerance);
    }
    auto best = static_cast<Index>(v);
    for (std::int64_t x = low[0]; x <= high[0]; ++x) {
      for (std::int64_t y = low[1]; y <= high[1]; ++y) {
        for (std::int64_t z = low[2]; z <= high[2]; ++z) {
          const auto found = kept.find({x, y, z});
          if (found == kept.end()) continue;
          for (const Index other : found->second) {
            const double distance = (vertices[at(other)] - vertices[v]).norm();
            if (other < best && distance <= tolerance) best = other;
          }
        }
      }
    }
    target[v] = best;
    if (best == static_cast<Index>(v))
      kept[{cell_along(p.x()), cell_along(p.y()), cell_along(p.z())}].push_back(best);
  }
  return target;
}

std::vector<Index> equal_targets(const std::vector<Vec3>& vertices)
{
  std::vector<Index> order(vertices.size());
  std::iota(order.begin(), order.end(), 0);
  const auto position = [&](Index v) -> const Vec3& {
    return vertices[at(v)];
  };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return std::lexicographical_compare(position(a).data(), position(a).data() + 3, position(b).data(),
                                        position(b).data() + 3);
  });
  std::vector<Index> target(vertices.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && position(order[i]) == position(order[i - 1]);
    target[at(order[i])] = same ? target[at(order[i - 1])] : order[i];
  }
  return target;
}

class Repair {
 public:
  Repair(const TriangleMesh& mesh, const RepairDesc& desc) : desc_(desc)
  {
    result_.mesh = mesh;
    result_.source_triangles.resize(mesh.triangles.size());
    std::iota(result_.source_triangles.begin(), result_.source_triangles.end(), 0);
  }

  RepairResult run()
  {
    check_indices(mesh_);
    if (desc_.weld) weld();
    if (desc_.drop_degenerate) {
      drop_repeated_corners();
      flip_slivers();
    }
    if (desc_.drop_duplicates) drop_duplicates();
    if (desc_.split_edges) split_edges();
    if (desc_.orient) orient();
    if (desc_.drop_unused_vertices) drop_unused_vertices();
    return std::move(result_);
  }

 private:
  template <class... Args>
  void report_change(fmt::format_string<Args...> text, Args&&... args)
  {
    report_.lines.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  void weld()
  {
    const Box3 box = bounding_box(mesh_);
    if (box.isEmpty()) return;
    const double tolerance = desc_.weld_tolerance * box.diagonal().norm();
    const std::vector<Index> target =
        tolerance > 0 ? weld_targets(mesh_.vertices, tolerance, box.min()) : equal_targets(mesh_.vertices);
    for (std::size_t v = 0; v < target.size(); ++v) {
      if (target[v] == static_cast<Index>(v)) continue;
      ++report_.welded_vertices;
      report_.max_weld_distance =
          std::max(report_.max_weld_distance, (mesh_.vertices[v] - mesh_.vertices[at(target[v])]).norm());
    }
    for (Triangle& t : mesh_.triangles) {
      for (Index& v : t) v = target[at(v)];
    }
    if (report_.welded_vertices > 0) {
      report_change("{} vertices were welded to others at most {:.3g} m away (tolerance {:.3g} m).",
                    report_.welded_vertices, report_.max_weld_distance, tolerance);
    }
  }

  // Keeps the triangles for which `keep` is true; returns how many were removed.
  template <class Keep>
  std::size_t filter(Keep&& keep)
  {
    std::size_t kept = 0;
    const std::size_t before = mesh_.triangles.size();
    for (std::size_t t = 0; t < before; ++t) {
      if (!keep(t)) continue;
      mesh_.triangles[kept] = mesh_.triangles[t];
      result_.source_triangles[kept++] = result_.source_triangles[t];
    }
    mesh_.triangles.resize(kept);
    result_.source_triangles.resize(kept);
    return before - kept;
  }

  void drop_repeated_corners()
  {
    report_.degenerate_triangles =
        filter([this](std::size_t t) { return triangle_kind(mesh_, t) != TriangleKind::repeated_corner; });
    if (report_.degenerate_triangles > 0) {
      report_change("{} triangles with a repeated corner were dropped.", report_.degenerate_triangles);
    }
  }

  // A flat triangle a b c with b on the side c a cannot simply be removed: that would open a hole between its
  // neighbours. Flipping the edge that it shares with the neighbour c a d gives a b d and b c d, which cover
  // the same surface:
  //
  //     a---b---c          a---b---c
  //      \     /     ->     \  |  /
  //       \   /              \ | /
  //         d                  d
  bool flip_sliver(std::size_t sliver, const std::vector<EdgeUse>& uses, std::vector<char>& touched)
  {
    int longest = 0;
    double length = -1;
    for (int k = 0; k < 3; ++k) {
      const double side = (mesh_.corner(sliver, (k + 1) % 3) - mesh_.corner(sliver, k)).squaredNorm();
      if (side > length) {
        length = side;
        longest = k;
      }
    }
    const Triangle t = mesh_.triangles[sliver];
    const Index c = t[at(longest)];
    const Index a = t[at((longest + 1) % 3)];
    const Index b = t[at((longest + 2) % 3)];
    const auto edge = [&uses](Index from, Index to) {
      return std::equal_range(uses.begin(), uses.end(),
                              EdgeUse{std::min(from, to), std::max(from, to), 0, false},
                              [](const EdgeUse& x, const EdgeUse& y) {
                                return x.low != y.low ? x.low < y.low : x.high < y.high;
                              });
    };
    const auto range = edge(a, c);
    if (range.second - range.first != 2 || range.first[0].forward == range.first[1].forward) return false;
    const Index other = range.first[0].triangle == static_cast<Index>(sliver) ? range.first[1].triangle
                                                                              : range.first[0].triangle;
    const auto o = at(other);
    if (o == sliver || touched[o] != 0 || triangle_kind(mesh_, o) != TriangleKind::valid) return false;
    Index d = -1;
    for (const Index v : mesh_.triangles[o]) {
      if (v != a && v != c) d = v;
    }
    // The new edge must not exist already, or four triangles would meet at it.
    if (d == b || edge(b, d).first != edge(b, d).second) return false;
    mesh_.triangles[sliver] = {a, b, d};
    mesh_.triangles[o] = {b, c, d};
    touched[o] = touched[sliver] = 1;
    return true;
  }

  void flip_slivers()
  {
    // A flip may leave a flat triangle for the next round; a few rounds remove all that occur in practice.
    constexpr int kRounds = 8;
    std::size_t left = 0;
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::size_t> slivers;
      for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
        if (triangle_kind(mesh_, t) == TriangleKind::flat) slivers.push_back(t);
      }
      left = slivers.size();
      if (slivers.empty()) break;
      const std::vector<EdgeUse> uses = edge_uses(mesh_);
      std::vector<char> touched(mesh_.triangles.size(), 0);
      std::size_t turned = 0;
      for (const std::size_t t : slivers) {
        if (touched[t] == 0 && flip_sliver(t, uses, touched)) ++turned;
      }
      report_.flipped_slivers += turned;
      if (turned == 0) break;
    }
    report_.kept_slivers = left;
    if (report_.flipped_slivers > 0) {
      report_change("The long edge of a flat triangle was flipped {} times.", report_.flipped_slivers);
    }
    if (left > 0)
      report_change(
          "{} flat triangles could not be flipped and were kept, because dropping them would open holes.",
          left);
  }

  void drop_duplicates()
  {
    const DuplicateTriangles found = find_duplicate_triangles(mesh_);
    filter([&found](std::size_t t) { return found.dropped[t] == 0; });
    report_.duplicate_triangles = found.repeated;
    report_.opposed_pairs = found.opposed_pairs;
    if (found.repeated > 0)
      report_change("{} triangles with the same corners as another one were dropped.", found.repeated);
    if (found.opposed_pairs > 0) {
      report_change(
          "{} pairs of triangles with the same corners that face opposite ways were dropped: they enclose "
          "nothing.",
          found.opposed_pairs);
    }
  }

  // Which triangles bound the same material is known once neighbours face the same way, and which parts there
  // are to be oriented once they are separate. So this looks at an oriented copy, and orient() counts its
  // flips later.
  void split_edges()
  {
    TriangleMesh oriented = mesh_;
    if (desc_.orient) (void)orient_components(oriented);
    std::vector<char> is_flipped(mesh_.triangles.size(), 0);
    for (std::size_t t = 0; t < is_flipped.size(); ++t)
      is_flipped[t] = oriented.triangles[t] != mesh_.triangles[t] ? 1 : 0;
    const SplitEdgesResult split = mesh::split_edges(oriented);
    for (std::size_t t = 0; t < is_flipped.size(); ++t) {
      if (is_flipped[t] != 0) std::swap(oriented.triangles[t][1], oriented.triangles[t][2]);
    }
    mesh_ = std::move(oriented);
    report_.split_edges = split.split_edges;
    report_.kept_edges = split.kept_edges;
    if (split.split_edges > 0) {
      report_change(
          "{} edges where parts touch were split: {} vertices were added at the same points as others.",
          split.split_edges, split.new_vertices);
    }
    if (split.kept_edges > 0) {
      report_change(
          "{} edges of three triangles or more were kept: what is inside there is not known, or the parts "
          "are joined at both ends.",
          split.kept_edges);
    }
  }

  void orient()
  {
    const OrientResult oriented = orient_components(mesh_);
    report_.flipped_triangles = oriented.flipped_triangles;
    report_.flipped_components = oriented.flipped_components;
    report_.cavities = oriented.cavities;
    report_.unorientable_components = oriented.unorientable_components;
    if (oriented.flipped_triangles > 0) {
      report_change(
          "{} triangles were flipped so that every component faces outwards ({} components as a whole).",
          oriented.flipped_triangles, oriented.flipped_components);
    }
    if (oriented.flipped_triangles > 0 && oriented.cavities > 0) {
      report_change(
          "{} closed components lie inside others and were treated as cavities: their triangles face into "
          "the void.",
          oriented.cavities);
    }
    if (oriented.unorientable_components > 0) {
      report_change("{} components have only one side and could not be oriented; they were not changed.",
                    oriented.unorientable_components);
    }
  }

  void drop_unused_vertices()
  {
    // Welded vertices have been counted already.
    report_.unused_vertices =
        remove_unused_vertices(mesh_.vertices, mesh_.triangles) - report_.welded_vertices;
    if (report_.unused_vertices > 0)
      report_change("{} vertices that no triangle uses were dropped.", report_.unused_vertices);
  }

  RepairDesc desc_;
  RepairResult result_;
  TriangleMesh& mesh_ = result_.mesh;
  RepairReport& report_ = result_.report;
};

}  // namespace

bool RepairReport::changed() const
{
  return welded_vertices + degenerate_triangles + flipped_slivers + duplicate_triangles + opposed_pairs +
             split_edges + flipped_triangles + unused_vertices >
         0;
}

RepairResult repair_mesh(const TriangleMesh& mesh, const RepairDesc& desc)
{
  return Repair(mesh, desc).run();
}

}  // namespace thrum::mesh
