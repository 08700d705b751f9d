// SPDX-License-Identifier: MIT
#include "thrum/elastic/sheet_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <queue>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/surface_refinement.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/wedge_element.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/sheet.h"

namespace thrum::elastic {

namespace {

std::string place_text(const Vec3& p)
{
  return fmt::format("({:.4g}, {:.4g}, {:.4g}) m", p.x(), p.y(), p.z());
}

using EdgeKey = std::pair<Index, Index>;

EdgeKey edge_key(Index a, Index b)
{
  return {std::min(a, b), std::max(a, b)};
}

void check_one_part(const mesh::TriangleMesh& mesh)
{
  std::vector<Index> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index v) {
    while (parent[at(v)] != v) v = parent[at(v)] = parent[at(parent[at(v)])];
    return v;
  };
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 1; k < 3; ++k) parent[at(root(t[k]))] = root(t[0]);
  for (const Triangle& t : mesh.triangles)
    if (root(t[0]) != root(mesh.triangles[0][0]))
      throw Error(fmt::format(
          "The sheet has several parts that share no vertex, one of them at {}. Merge vertices at equal "
          "positions ('thrum mesh repair'), make one solid of parts that reach into each other ('thrum mesh "
          "repair --solidify T --unite'), or analyse each part separately.",
          place_text(mesh.vertices[at(t[0])])));
}

// Halves the longest edge of all, with both triangles at it, until none is longer than `longest`: each halved
// edge is the longest of its triangles, so that these do not become narrower [Rivara 1984]. `halved` has the
// edge of each new vertex.
mesh::TriangleMesh divided(mesh::TriangleMesh mesh, double longest, std::vector<EdgeKey>* halved = nullptr)
{
  std::map<EdgeKey, std::vector<std::size_t>> around;  // one or two triangles
  std::priority_queue<std::pair<double, EdgeKey>> queue;
  const auto add_edge = [&](Index a, Index b) {
    const double length = (mesh.vertices[at(a)] - mesh.vertices[at(b)]).norm();
    if (length > longest) queue.push({length, edge_key(a, b)});
  };
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const EdgeKey edge = edge_key(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]);
      if (around[edge].empty()) add_edge(edge.first, edge.second);
      around[edge].push_back(t);
    }
  while (!queue.empty()) {
    const EdgeKey edge = queue.top().second;
    queue.pop();
    const auto middle = count_of(mesh.vertices);
    mesh.vertices.push_back(0.5 * (mesh.vertices[at(edge.first)] + mesh.vertices[at(edge.second)]));
    if (halved != nullptr) halved->push_back(edge);
    const std::vector<std::size_t> cut = std::move(around[edge]);
    around.erase(edge);
    for (const std::size_t t : cut) {
      std::size_t k = 0;
      while (edge_key(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]) != edge) ++k;
      const Index a = mesh.triangles[t][k];
      const Index b = mesh.triangles[t][(k + 1) % 3];
      const Index c = mesh.triangles[t][(k + 2) % 3];
      const std::size_t other = mesh.triangles.size();
      mesh.triangles[t] = {a, middle, c};
      mesh.triangles.push_back({middle, b, c});
      auto& far = around[edge_key(b, c)];
      std::replace(far.begin(), far.end(), t, other);
      around[edge_key(a, middle)].push_back(t);
      around[edge_key(middle, b)].push_back(other);
      around[edge_key(middle, c)] = {t, other};
      add_edge(middle, c);
    }
    add_edge(edge.first, middle);
    add_edge(middle, edge.second);
  }
  return mesh;
}

// Numbers the edges of the triangles, three a triangle: 01 12 20.
std::vector<std::array<Index, 3>> number_edges(const mesh::TriangleMesh& mesh, std::vector<EdgeKey>& edges)
{
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) edges.push_back(edge_key(t[k], t[(k + 1) % 3]));
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  std::vector<std::array<Index, 3>> of_triangle(mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k)
      of_triangle[t][k] = static_cast<Index>(
          std::lower_bound(edges.begin(), edges.end(),
                           edge_key(mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3])) -
          edges.begin());
  return of_triangle;
}

// Nodes: lower and upper corners, middles of lower, upper and upright edges.
ElementMesh build_wedges(const mesh::TriangleMesh& mesh, const std::vector<Vec3>& lower,
                         const std::vector<Vec3>& upper)
{
  ElementMesh elements;
  elements.kind = ElementKind::wedge15;
  const auto vertices = count_of(mesh.vertices);
  for (const std::vector<Vec3>* offsets : {&lower, &upper})
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
      elements.nodes.push_back(mesh.vertices[v] + (*offsets)[v]);
  elements.corner_count = elements.nodes.size();
  std::vector<EdgeKey> edges;
  const auto of_triangle = number_edges(mesh, edges);
  const auto count = count_of(edges);
  const auto add_edge = [&](Index a, Index b) {
    elements.edges.push_back({a, b});
    elements.nodes.push_back(0.5 * (elements.nodes[at(a)] + elements.nodes[at(b)]));
  };
  for (const EdgeKey& e : edges) add_edge(e.first, e.second);
  for (const EdgeKey& e : edges) add_edge(e.first + vertices, e.second + vertices);
  for (Index v = 0; v < vertices; ++v) add_edge(v, v + vertices);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    for (const Index side : {0, 1})
      for (const Index v : mesh.triangles[t]) elements.connectivity.push_back(v + side * vertices);
    for (const Index side : {0, 1})
      for (const Index e : of_triangle[t]) elements.connectivity.push_back(2 * vertices + side * count + e);
    for (const Index v : mesh.triangles[t]) elements.connectivity.push_back(2 * vertices + 2 * count + v);
  }
  return elements;
}

void check_wedges(const ElementMesh& elements, double thickness)
{
  for (std::size_t e = 0; e < elements.element_count(); ++e) {
    std::array<Vec3, 6> corners;
    for (std::size_t k = 0; k < 6; ++k) corners[k] = elements.nodes[at(elements.element(e)[k])];
    bool turned = !WedgeElement(corners).is_positive();
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t l = (k + 1) % 3;
      turned = turned || (corners[l] - corners[k]).dot(corners[l + 3] - corners[k + 3]) <= 0;
    }
    if (turned)
      throw Error(fmt::format(
          "The sheet is bent more narrowly than its thickness of {:.3g} m allows at {}. Use a smaller "
          "thickness, or model it as a closed solid.",
          thickness, place_text(0.5 * (corners[0] + corners[3]))));
  }
}

// The triangle with nodes 0-2 or 3-5 of a wedge: the six shape functions of its face.
void add_face_weights(const ElementMesh& elements, std::size_t element, bool is_upper, const Vec3& at_corners,
                      SurfaceWeights& weights)
{
  const Index* nodes = elements.element(element);
  std::array<Index, 6> of{};
  std::array<double, 6> with{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double l = at_corners[static_cast<Eigen::Index>(k)];
    const double next = at_corners[static_cast<Eigen::Index>((k + 1) % 3)];
    of[k] = nodes[k + (is_upper ? 3 : 0)];
    with[k] = l * (2 * l - 1);
    of[k + 3] = nodes[k + (is_upper ? 9 : 6)];
    with[k + 3] = 4 * l * next;
  }
  weights.add_vertex(of, with);
}

}  // namespace

ElementBody sheet_body(const mesh::TriangleMesh& surface, double thickness, double longest,
                       const ModalAnalysisDesc& desc)
{
  mesh::check_indices(surface);
  if (surface.triangles.empty()) throw Error("The surface has no triangles.");
  if (!(thickness > 0) || !std::isfinite(thickness))
    throw Error(fmt::format("The thickness of the sheet is {} m; it must be positive.", thickness));
  mesh::require_sheet(surface);
  check_one_part(surface);
  ElementBody body;
  body.element_name = "wedge15";
  body.surface = divided(surface, longest);
  const std::vector<Vec3> upper = mesh::sheet_offsets(body.surface, thickness);
  std::vector<Vec3> lower;
  for (const Vec3& d : upper) lower.emplace_back(-d);
  body.elements = build_wedges(body.surface, lower, upper);
  check_wedges(body.elements, thickness);
  const std::size_t vertices = body.surface.vertices.size();
  const std::size_t first_middle = body.elements.nodes.size() - vertices;
  for (std::size_t v = 0; v < vertices; ++v)
    body.surface_weights.add_vertex(std::array{static_cast<Index>(first_middle + v)}, std::array{1.0});
  body.held = held_axes(body.elements, {}, desc.supports);
  return body;
}

ElementBody wall_body(const mesh::TriangleMesh& solid, const mesh::Wall& wall, double longest,
                      const ModalAnalysisDesc& desc)
{
  ElementBody body;
  body.element_name = "wedge15";
  std::vector<EdgeKey> halved;
  const mesh::TriangleMesh side = divided(wall.side, longest, &halved);
  std::vector<Vec3> across = wall.across;
  for (const EdgeKey& e : halved) across.emplace_back(0.5 * (across[at(e.first)] + across[at(e.second)]));
  // The side faces outwards, so that the other one is below it.
  body.elements = build_wedges(side, across, std::vector<Vec3>(side.vertices.size(), Vec3::Zero()));
  check_wedges(body.elements, wall.thickness);
  body.held = held_axes(body.elements, {}, desc.supports);
  // Points of the solid move as the closest point of either side does.
  const auto triangles = side.triangles.size();
  mesh::TriangleMesh sides = side;
  for (std::size_t v = 0; v < side.vertices.size(); ++v)
    sides.vertices.push_back(side.vertices[v] + across[v]);
  const auto vertices = count_of(side.vertices);
  for (const Triangle& t : side.triangles)
    sides.triangles.push_back({t[0] + vertices, t[1] + vertices, t[2] + vertices});
  const mesh::Bvh bvh(std::move(sides));
  body.surface = distance::split_long_edges(solid, longest).mesh;
  for (const Vec3& v : body.surface.vertices) {
    const mesh::ClosestPoint closest = bvh.closest_point(v);
    const bool is_upper = at(closest.triangle) < triangles;
    add_face_weights(body.elements, at(closest.triangle) - (is_upper ? 0 : triangles), is_upper,
                     closest.barycentric, body.surface_weights);
  }
  return body;
}

double largest_locking_ratio(const mesh::TriangleMesh& surface, double thickness, double longest)
{
  constexpr double kFold = 35 * std::numbers::pi / 180;
  constexpr double kLeftOut = 0.05;
  std::vector<Vec3> normals;
  std::map<EdgeKey, std::vector<std::size_t>> around;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    normals.push_back(mesh::area_vector(surface, t).normalized());
    for (std::size_t k = 0; k < 3; ++k)
      around[edge_key(surface.triangles[t][k], surface.triangles[t][(k + 1) % 3])].push_back(t);
  }
  // The curvature across an edge is its bend over the distance between the middles of its triangles across
  // it.
  std::vector<std::pair<double, double>> curvatures;  // [1/m], with the area
  double total = 0;
  for (const auto& [edge, triangles] : around) {
    if (triangles.size() != 2) continue;
    const double bend = std::acos(std::clamp(normals[triangles[0]].dot(normals[triangles[1]]), -1.0, 1.0));
    const Vec3 along = surface.vertices[at(edge.second)] - surface.vertices[at(edge.first)];
    const double area =
        (mesh::area_vector(surface, triangles[0]).norm() + mesh::area_vector(surface, triangles[1]).norm()) /
        6;
    const double distance = 2 * area / along.norm();
    total += area;
    curvatures.emplace_back(bend < kFold && distance > 0 ? bend / distance : 0, area);
  }
  std::sort(curvatures.rbegin(), curvatures.rend());
  double above = 0;
  for (const auto& [curvature, area] : curvatures) {
    above += area;
    if (above > kLeftOut * total) return longest * longest * curvature / thickness;
  }
  return 0;
}

}  // namespace thrum::elastic
