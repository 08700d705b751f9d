// SPDX-License-Identifier: MIT
#include "thrum/mesh/mesh_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "thrum/base/counted.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/orient_components.h"
#include "thrum/mesh/self_intersections.h"

namespace thrum::mesh {

namespace {

// Simulated objects are between a grain and a house in size. Beyond that the unit is probably not the metre.
constexpr double kMaxPlausibleSize = 50;     // [m]
constexpr double kMinPlausibleSize = 0.001;  // [m]

class Inspector {
 public:
  Inspector(const TriangleMesh& mesh, const MeshReportDesc& desc)
      : mesh_(mesh), desc_(desc), uses_(edge_uses(mesh)), components_(edge_components(mesh, uses_))
  {
  }

  MeshReport run()
  {
    report_.vertices = mesh_.vertices.size();
    report_.triangles = mesh_.triangles.size();
    report_.components = components_.count;
    report_.box = bounding_box(mesh_);
    report_.area = area(mesh_);
    report_.volume = signed_volume(mesh_);
    check_triangles();
    check_edges();
    check_vertices();
    check_components();
    if (desc_.self_intersections) {
      for (const TrianglePair& pair : self_intersections(mesh_))
        add(report_.self_intersections, centroid(pair.a));
    }
    check_scale();
    set_conclusions();
    return std::move(report_);
  }

 private:
  [[nodiscard]] Vec3 vertex(Index v) const { return mesh_.vertices[at(v)]; }
  [[nodiscard]] Vec3 centroid(Index t) const
  {
    const std::size_t i = at(t);
    return (mesh_.corner(i, 0) + mesh_.corner(i, 1) + mesh_.corner(i, 2)) / 3;
  }
  void add(MeshFinding& finding, const Vec3& place) const
  {
    if (finding.count++ < desc_.places) finding.places.push_back(place);
  }

  void check_triangles()
  {
    std::vector<std::pair<Triangle, Index>> sorted;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      const TriangleKind kind = triangle_kind(mesh_, t);
      if (kind == TriangleKind::repeated_corner)
        add(report_.repeated_corners, centroid(static_cast<Index>(t)));
      if (kind == TriangleKind::flat) add(report_.flat_triangles, centroid(static_cast<Index>(t)));
      Triangle corners = mesh_.triangles[t];
      std::sort(corners.begin(), corners.end());
      sorted.emplace_back(corners, static_cast<Index>(t));
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i].first == sorted[i - 1].first)
        add(report_.duplicate_triangles, centroid(sorted[i].second));
    }
  }

  void check_edges()
  {
    std::size_t edges = 0;
    std::vector<EdgeUse> open;
    for_each_edge(uses_, [&](std::span<const EdgeUse> edge) {
      ++edges;
      const auto forward =
          std::count_if(edge.begin(), edge.end(), [](const EdgeUse& use) { return use.forward; });
      if (2 * at(forward) != edge.size()) is_balanced_ = false;
      const Vec3 middle = (vertex(edge[0].low) + vertex(edge[0].high)) / 2;
      if (edge.size() == 1) {
        open.push_back(edge[0]);
        add(report_.open_edges, middle);
      } else if (edge.size() > 2) {
        add(report_.non_manifold_edges, middle);
      } else if (edge[0].forward == edge[1].forward) {
        add(report_.inconsistent_edges, middle);
      }
    });
    report_.boundary_loops = connected_chains(open);
    std::vector<char> used(mesh_.vertices.size(), 0);
    for (const Triangle& t : mesh_.triangles) {
      for (const Index v : t) used[at(v)] = 1;
    }
    for (std::size_t v = 0; v < used.size(); ++v) {
      if (used[v] == 0) add(report_.unused_vertices, mesh_.vertices[v]);
    }
    report_.euler_characteristic = static_cast<long>(report_.vertices - report_.unused_vertices.count) -
                                   static_cast<long>(edges) + static_cast<long>(report_.triangles);
  }

  // Open edges joined at their ends: the number of separate chains.
  [[nodiscard]] std::size_t connected_chains(const std::vector<EdgeUse>& open) const
  {
    std::vector<Index> parent(mesh_.vertices.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](Index v) {
      while (parent[at(v)] != v) {
        Index& up = parent[at(v)];
        up = parent[at(up)];
        v = up;
      }
      return v;
    };
    std::vector<Index> ends;
    for (const EdgeUse& edge : open) {
      parent[at(root(edge.low))] = root(edge.high);
      ends.push_back(edge.low);
    }
    for (Index& v : ends) v = root(v);
    std::sort(ends.begin(), ends.end());
    return at(std::unique(ends.begin(), ends.end()) - ends.begin());
  }

  // Around a manifold vertex the triangles form one fan. Corners are joined when their triangles share a side
  // at the vertex; a vertex with more than one group of corners is a pinch.
  void check_vertices()
  {
    std::vector<Index> parent(3 * mesh_.triangles.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](Index c) {
      while (parent[at(c)] != c) {
        Index& up = parent[at(c)];
        up = parent[at(up)];
        c = up;
      }
      return c;
    };
    const auto corner_of = [this](Index triangle, Index v) {
      const Triangle& t = mesh_.triangles[at(triangle)];
      const auto k = static_cast<Index>(std::find(t.begin(), t.end(), v) - t.begin());
      return 3 * triangle + k;
    };
    for_each_edge(uses_, [&](std::span<const EdgeUse> edge) {
      for (std::size_t i = 1; i < edge.size(); ++i) {
        for (const Index v : {edge[0].low, edge[0].high}) {
          parent[at(root(corner_of(edge[i].triangle, v)))] = root(corner_of(edge[0].triangle, v));
        }
      }
    });
    std::vector<std::pair<Index, Index>> fans;
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (triangle_kind(mesh_, t) == TriangleKind::repeated_corner) continue;
      for (std::size_t k = 0; k < 3; ++k)
        fans.emplace_back(mesh_.triangles[t][k], root(static_cast<Index>(3 * t + k)));
    }
    std::sort(fans.begin(), fans.end());
    fans.erase(std::unique(fans.begin(), fans.end()), fans.end());
    for (std::size_t i = 1; i < fans.size(); ++i) {
      const bool second = fans[i].first == fans[i - 1].first && (i < 2 || fans[i].first != fans[i - 2].first);
      if (second) add(report_.non_manifold_vertices, vertex(fans[i].first));
    }
    find_duplicate_vertices();
  }

  void find_duplicate_vertices()
  {
    std::vector<Index> order(mesh_.vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](Index a, Index b) {
      const Vec3 p = vertex(a), q = vertex(b);
      return std::lexicographical_compare(p.data(), p.data() + 3, q.data(), q.data() + 3);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (vertex(order[i]) == vertex(order[i - 1])) add(report_.duplicate_vertices, vertex(order[i]));
    }
  }

  void check_components()
  {
    for (const ComponentState& state : component_states(mesh_, components_, uses_)) {
      if (state.inverted) add(report_.inverted_components, centroid(state.first_triangle));
      if (state.closed && state.depth % 2 == 1) ++report_.cavities;
    }
  }

  void check_scale()
  {
    if (report_.box.isEmpty()) return;
    const double size = report_.box.diagonal().norm();
    if (size > kMaxPlausibleSize) {
      report_.scale_warning = fmt::format(
          "The mesh is {:.4g} m across. If it was drawn in millimetres it is {:.4g} m: scale it by 0.001.",
          size, size / 1000);
    } else if (size < kMinPlausibleSize) {
      report_.scale_warning = fmt::format(
          "The mesh is only {:.3g} m across. If it was drawn in kilometres or scaled twice it is {:.3g} m: "
          "scale it by 1000.",
          size, size * 1000);
    }
  }

  void set_conclusions()
  {
    const bool some = report_.triangles > 0;
    report_.closed = some && is_balanced_ && !report_.repeated_corners.found();
    report_.watertight = some && !report_.open_edges.found() && !report_.non_manifold_edges.found() &&
                         !report_.inconsistent_edges.found() && !report_.repeated_corners.found();
    // chi = 2 (components - handles) for closed surfaces; with a pinched vertex the number of handles would
    // be too small.
    if (report_.watertight && !report_.non_manifold_vertices.found()) {
      report_.genus = static_cast<long>(report_.components) - report_.euler_characteristic / 2;
    }
    const bool outwards = report_.watertight && !report_.inverted_components.found();
    report_.usable_for_mass = outwards;
    report_.usable_for_distance = outwards && !report_.self_intersections.found();
    report_.usable_for_tetrahedra = outwards && !report_.self_intersections.found();
  }

  const TriangleMesh& mesh_;
  MeshReportDesc desc_;
  std::vector<EdgeUse> uses_;
  MeshComponents components_;
  bool is_balanced_ = true;  ///< each edge is passed as often one way as the other
  MeshReport report_;
};

using Out = std::back_insert_iterator<std::string>;

void describe(Out out, const MeshFinding& finding, const char* one, const char* many)
{
  if (!finding.found()) return;
  fmt::format_to(out, "  {}", base::counted(finding.count, one, many));
  for (std::size_t i = 0; i < finding.places.size(); ++i) {
    const Vec3& p = finding.places[i];
    fmt::format_to(out, "{}({:.4g}, {:.4g}, {:.4g})", i == 0 ? ", at " : " ", p.x(), p.y(), p.z());
  }
  fmt::format_to(out, "{}\n", finding.count > finding.places.size() ? " ..." : "");
}

void describe_size(Out out, const MeshReport& report)
{
  fmt::format_to(out, "{}, {}, {}\n", base::counted(report.vertices, "vertex", "vertices"),
                 base::counted(report.triangles, "triangle"), base::counted(report.components, "component"));
  if (report.box.isEmpty()) return;
  const Vec3 size = report.box.sizes();
  fmt::format_to(out, "size {:.4g} x {:.4g} x {:.4g} m, area {:.6g} m^2", size.x(), size.y(), size.z(),
                 report.area);
  if (report.watertight) fmt::format_to(out, ", volume {:.6g} m^3", report.volume);
  const char* const state = report.watertight ? "watertight"
                            : report.closed   ? "closed, but parts of it touch along edges"
                                              : "not watertight";
  fmt::format_to(out, "\n{}, Euler characteristic {}", state, report.euler_characteristic);
  if (report.genus >= 0)
    fmt::format_to(out, ", {}", base::counted(static_cast<std::size_t>(report.genus), "handle"));
  if (report.cavities > 0)
    fmt::format_to(out, ", {}",
                   base::counted(static_cast<std::size_t>(report.cavities), "cavity", "cavities"));
  fmt::format_to(out, "\n");
}

void describe_faults(Out out, const MeshReport& report)
{
  describe(out, report.open_edges, "open edge", "open edges");
  if (report.boundary_loops > 0) {
    fmt::format_to(out, "  {} hole{} or rim{} of open edges\n", report.boundary_loops,
                   report.boundary_loops == 1 ? "" : "s", report.boundary_loops == 1 ? "" : "s");
  }
  describe(out, report.non_manifold_edges, "edge where more than two triangles meet",
           "edges where more than two triangles meet");
  describe(out, report.non_manifold_vertices, "vertex where surfaces meet at a point",
           "vertices where surfaces meet at a point");
  describe(out, report.inconsistent_edges, "edge whose two triangles face opposite ways",
           "edges whose two triangles face opposite ways");
  describe(out, report.repeated_corners, "triangle with a repeated corner",
           "triangles with a repeated corner");
  describe(out, report.flat_triangles, "triangle without height", "triangles without height");
  describe(out, report.duplicate_triangles, "duplicate triangle", "duplicate triangles");
  describe(out, report.duplicate_vertices, "vertex at the same point as another",
           "vertices at the same point as others");
  describe(out, report.unused_vertices, "vertex that no triangle uses", "vertices that no triangle uses");
  describe(out, report.self_intersections, "pair of triangles that cross or touch",
           "pairs of triangles that cross or touch");
  describe(out, report.inverted_components, "component that is inside out", "components that are inside out");
  if (!report.scale_warning.empty()) fmt::format_to(out, "  {}\n", report.scale_warning);
}

}  // namespace

MeshReport report_mesh(const TriangleMesh& mesh, const MeshReportDesc& desc)
{
  check_indices(mesh);
  return Inspector(mesh, desc).run();
}

MeshReport require_closed(const TriangleMesh& surface, const std::string& name, const std::string& use)
{
  MeshReport report = report_mesh(surface, {.self_intersections = false});
  if (report.usable_for_tetrahedra) return report;
  std::string reason = "it has no triangles";
  if (report.open_edges.found()) {
    reason = base::counted(report.open_edges.count, "open edge");
  } else if (report.closed && report.non_manifold_edges.found()) {
    throw Error(
        fmt::format("The surface of '{}' is closed, but parts of it touch along {}, where it is not known "
                    "which triangles belong "
                    "together, so it cannot {} as it is. 'thrum mesh repair' separates the parts.",
                    name,
                    base::counted(report.non_manifold_edges.count, "edge of four triangles or more",
                                  "edges of four triangles or more"),
                    use));
  } else if (report.non_manifold_edges.found()) {
    reason = base::counted(report.non_manifold_edges.count, "edge of three triangles or more",
                           "edges of three triangles or more");
  } else if (report.inconsistent_edges.found()) {
    reason = base::counted(report.inconsistent_edges.count, "edge where neighbours face different ways",
                           "edges where neighbours face different ways");
  } else if (report.repeated_corners.found()) {
    reason = base::counted(report.repeated_corners.count, "triangle with a repeated corner",
                           "triangles with a repeated corner");
  } else if (report.inverted_components.found()) {
    throw Error(
        fmt::format("The surface of '{}' is inside out, so it has no interior that could {}. 'thrum mesh "
                    "repair' flips it.",
                    name, use));
  }
  throw Error(
      fmt::format("The surface of '{}' is not closed ({}), so it has no interior that could {}. 'thrum mesh "
                  "info' shows where; 'thrum mesh repair' fixes what it can.",
                  name, reason, use));
}

std::string to_text(const MeshReport& report)
{
  std::string text;
  const Out out = std::back_inserter(text);
  describe_size(out, report);
  const std::size_t before = text.size();
  describe_faults(out, report);
  if (text.size() == before) text += "  no faults\n";
  const auto append_use = [&out](const char* use, bool fit, const char* otherwise) {
    fmt::format_to(out, "{}: {}\n", use, fit ? "yes" : otherwise);
  };
  append_use("mass properties", report.usable_for_mass,
             "no, the surface must be watertight and face outwards");
  append_use("distance field", report.usable_for_distance,
             "only with signs by winding number, or after repair");
  append_use("tetrahedra", report.usable_for_tetrahedra,
             "only through a distance field with signs by winding number, or after repair");
  return text;
}

}  // namespace thrum::mesh
