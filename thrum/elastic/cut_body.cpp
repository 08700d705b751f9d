// SPDX-License-Identifier: MIT
#include "thrum/elastic/cut_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/surface_refinement.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/supports.h"
#include "thrum/tets/cut_cells.h"

namespace thrum::elastic {

namespace {

// Nodes this far beyond the limit of a half space are on it (share of the spacing): lattice planes are not
// exactly where they were asked for.
constexpr double kOnPlane = 1e-5;
// Springs are this much stiffer than a layer of material one spacing thick.
constexpr double kSpringStiffness = 1e4;
// Springs are integrated over triangles of at most this share of the spacing.
constexpr double kSpringTriangle = 0.34;

using Polygon = std::vector<Vec3>;

// The part of a polygon with normal . x <= offset.
Polygon clipped(const Polygon& polygon, const Vec3& normal, double offset)
{
  Polygon kept;
  for (std::size_t k = 0; k < polygon.size(); ++k) {
    const Vec3& a = polygon[k];
    const Vec3& b = polygon[(k + 1) % polygon.size()];
    const double at_a = normal.dot(a) - offset;
    const double at_b = normal.dot(b) - offset;
    if (at_a <= 0) kept.push_back(a);
    if ((at_a <= 0) != (at_b <= 0)) kept.push_back((at_a * b - at_b * a) / (at_a - at_b));
  }
  return kept;
}

Polygon clipped(Polygon polygon, const model::Selection& where)
{
  if (where.kind == model::SelectionKind::half_space) return clipped(polygon, where.normal, where.offset);
  for (int axis = 0; axis < 3 && !polygon.empty(); ++axis) {
    polygon = clipped(polygon, Vec3::Unit(axis), where.box.max()[axis]);
    polygon = clipped(polygon, -Vec3::Unit(axis), -where.box.min()[axis]);
  }
  return polygon;
}

// The triangles of the surface that may be in the selection, divided finely.
struct NearSurface {
  distance::RefinedSurface refined;
  std::vector<Index> triangles;  // of the whole surface, for each parent
};

NearSurface near_selection(const mesh::TriangleMesh& surface, const model::Selection& where, double longest)
{
  NearSurface near;
  mesh::TriangleMesh part;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    Polygon polygon;
    for (const Index v : surface.triangles[t]) polygon.push_back(surface.vertices[at(v)]);
    polygon = clipped(std::move(polygon), where);
    for (std::size_t k = 2; k < polygon.size(); ++k) {
      const Index first = count_of(part.vertices);
      for (const Vec3& p : {polygon[0], polygon[k - 1], polygon[k]}) part.vertices.push_back(p);
      part.triangles.push_back({first, first + 1, first + 2});
      near.triangles.push_back(static_cast<Index>(t));
    }
  }
  if (!part.triangles.empty()) near.refined = distance::split_long_edges(part, longest);
  return near;
}

// Adds springs on the surface within a support; returns their area [m^2].
double add_springs(const tets::CutCells& cells, const mesh::TriangleMesh& surface,
                   const model::Support& support, double young, ElementMesh& elements)
{
  const NearSurface near = near_selection(surface, support.where, kSpringTriangle * cells.spacing());
  const mesh::TriangleMesh& mesh = near.refined.mesh;
  elements.springs.resize(elements.element_count());
  double total = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const double area = 0.5 * mesh::area_vector(mesh, t).norm();
    if (!(area > 0)) continue;
    total += area;
    // The three middles of the edges: exact for quadratic functions.
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 p =
          0.5 * (mesh.vertices[at(mesh.triangles[t][k])] + mesh.vertices[at(mesh.triangles[t][(k + 1) % 3])]);
      const tets::CutCells::Place place = cells.find(p, near.triangles[at(near.refined.parent[t])]);
      const VecX shape = shape_functions(elements.kind, place.at);
      auto& list = elements.springs[at(place.tetrahedron)];
      if (list.empty() || list.back().axes != support.fixed)
        list.push_back({support.fixed, kSpringStiffness * young / cells.spacing(),
                        MatX::Zero(shape.size(), shape.size())});
      list.back().areas += area / 3 * shape * shape.transpose();
    }
  }
  return total;
}

[[noreturn]] void reject_support(const model::Support& support, const mesh::TriangleMesh& surface)
{
  const Box3 box = mesh::bounding_box(surface);
  throw Error(fmt::format(
      "The support '{}' holds no part of the body, which reaches from ({:.4g}, {:.4g}, {:.4g}) to ({:.4g}, "
      "{:.4g}, {:.4g}) m. Move the limit.",
      to_text(support), box.min().x(), box.min().y(), box.min().z(), box.max().x(), box.max().y(),
      box.max().z()));
}

void check_support(const model::Support& support)
{
  if (support.where.kind == model::SelectionKind::region || support.where.kind == model::SelectionKind::nodes)
    throw Error(fmt::format(
        "The support '{}' is a part of a tetrahedral mesh, but the body is a surface. Use a limit such as "
        "'z<0.01' or a box.",
        to_text(support)));
  if (!support.fixed[0] && !support.fixed[1] && !support.fixed[2])
    throw Error(fmt::format("The support at '{}' fixes no axis. Choose x, y or z, or remove the support.",
                            to_text(support.where)));
}

// Lattice faces in the limit of the first half space.
const model::Support* aligned_support(const ModalAnalysisDesc& desc)
{
  for (const model::Support& support : desc.supports)
    if (support.where.kind == model::SelectionKind::half_space && support.where.normal.norm() > 0)
      return &support;
  return nullptr;
}

using Plane = tets::CutCellsDesc::Plane;

// The face of a box that cuts the part of the body in it off from the rest: across the axis along which that
// part is thinnest. The outward normal; none when the box contains the body.
std::optional<Plane> cutting_face(const Box3& box, const Box3& body)
{
  const Box3 part = box.intersection(body);
  if (part.isEmpty()) return std::nullopt;
  std::optional<Plane> face;
  double thinnest = std::numeric_limits<double>::infinity();
  for (int axis = 0; axis < 3; ++axis) {
    const bool above = box.max()[axis] < body.max()[axis];
    const bool below = box.min()[axis] > body.min()[axis];
    if (above == below || part.sizes()[axis] >= thinnest) continue;
    thinnest = part.sizes()[axis];
    face = above ? Plane{Vec3::Unit(axis), box.max()[axis]} : Plane{-Vec3::Unit(axis), -box.min()[axis]};
  }
  return face;
}

// The limit of the first half space, or else the cutting face of the first box.
std::optional<Plane> lattice_plane(const ModalAnalysisDesc& desc, const Box3& body)
{
  if (const model::Support* aligned = aligned_support(desc)) {
    const double length = aligned->where.normal.norm();
    return Plane{aligned->where.normal / length, aligned->where.offset / length};
  }
  for (const model::Support& support : desc.supports)
    if (support.where.kind == model::SelectionKind::box)
      if (const auto face = cutting_face(support.where.box, body)) return face;
  return std::nullopt;
}

// Holds all nodes of the elements below the plane whose material lies in the box; true when there are any.
bool hold_elements(const ElementMesh& elements, const model::Support& support, const Plane& plane,
                   double tolerance, std::vector<std::array<bool, 3>>& held)
{
  bool found = false;
  for (std::size_t e = 0; e < elements.element_count(); ++e) {
    const Index* nodes = elements.element(e);
    Vec3 centre = Vec3::Zero();
    double highest = -std::numeric_limits<double>::infinity();
    const CutElement* cut = elements.cut(e);
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3& p = elements.nodes[at(nodes[k])];
      highest = std::max(highest, plane.normal.dot(p));
      centre += (cut != nullptr ? cut->firsts[k] / cut->volume : 0.25) * p;
    }
    if (highest > plane.offset + tolerance || !support.where.box.contains(centre)) continue;
    found = true;
    for (std::size_t k = 0; k < at(nodes_of(elements.kind)); ++k)
      for (std::size_t axis = 0; axis < 3; ++axis) held[at(nodes[k])][axis] |= support.fixed[axis];
  }
  return found;
}

// Whether the lattice has faces where a box ends.
bool is_cut_off_by(const model::Support& support, const std::optional<Plane>& plane, const Box3& body,
                   double tolerance)
{
  if (!plane || support.where.kind != model::SelectionKind::box) return false;
  const auto face = cutting_face(support.where.box, body);
  return face && face->normal == plane->normal && std::abs(face->offset - plane->offset) <= tolerance;
}

void add_supports(const tets::CutCells& cells, const mesh::TriangleMesh& surface,
                  const ModalAnalysisDesc& desc, const std::optional<Plane>& plane, ElementBody& body)
{
  if (desc.supports.empty()) return;
  ElementMesh& elements = body.elements;
  body.held.assign(elements.nodes.size(), {false, false, false});
  const model::Support* aligned = aligned_support(desc);
  for (const model::Support& support : desc.supports) {
    model::Selection where = support.where;
    if (&support == aligned) {
      double lowest = std::numeric_limits<double>::infinity();
      for (const Vec3& v : surface.vertices) lowest = std::min(lowest, where.normal.dot(v));
      where.offset += kOnPlane * cells.spacing() * where.normal.norm();
      if (lowest > where.offset) reject_support(support, surface);
    } else if (is_cut_off_by(support, plane, mesh::bounding_box(surface), kOnPlane * cells.spacing()) &&
               hold_elements(elements, support, *plane, kOnPlane * cells.spacing(), body.held)) {
      continue;
    } else if (where.kind != model::SelectionKind::everything) {
      const double area = add_springs(cells, surface, support, desc.materials.front().young, elements);
      if (!(area > 0)) reject_support(support, surface);
    }
    const std::vector<bool> chosen = select_nodes(elements, {}, where);
    for (std::size_t n = 0; n < chosen.size(); ++n)
      for (std::size_t axis = 0; axis < 3; ++axis) body.held[n][axis] |= chosen[n] && support.fixed[axis];
  }
  const bool all_held = std::all_of(body.held.begin(), body.held.end(),
                                    [](const std::array<bool, 3>& h) { return h[0] && h[1] && h[2]; });
  if (all_held) throw Error("The supports fix every node of the body, so nothing can vibrate.");
}

}  // namespace

tets::CutCells supported_cells(const distance::MeshDistance& surface, double spacing, int degree,
                               const ModalAnalysisDesc& desc, const tets::CutCells::Advance& advance)
{
  for (const model::Support& support : desc.supports) check_support(support);
  const std::optional<Plane> plane = lattice_plane(desc, mesh::bounding_box(surface.bvh().mesh()));
  tets::CutCells cells(surface, {.spacing = spacing, .plane = plane, .degree = degree, .advance = advance});
  check_connected(cells.mesh());
  return cells;
}

ElementBody cut_body(const distance::MeshDistance& surface, const tets::CutCells& cells,
                     const ModalAnalysisDesc& desc)
{
  const mesh::TriangleMesh& given = surface.bvh().mesh();
  const std::optional<Plane> plane = lattice_plane(desc, mesh::bounding_box(given));
  ElementBody body;
  body.elements = build_element_mesh(cells);
  body.element_name = std::string(name_of(body.elements.kind));
  distance::RefinedSurface refined = distance::split_long_edges(given, cells.spacing());
  std::vector<Index> triangle_of(refined.mesh.vertices.size(), -1);
  for (std::size_t t = 0; t < refined.mesh.triangles.size(); ++t)
    for (const Index v : refined.mesh.triangles[t]) triangle_of[at(v)] = refined.parent[t];
  for (std::size_t v = 0; v < refined.mesh.vertices.size(); ++v) {
    if (triangle_of[v] < 0) {  // a vertex without a triangle does not move
      body.surface_weights.add_vertex(std::span<const Index>(), std::span<const double>());
      continue;
    }
    const tets::CutCells::Place place = cells.find(refined.mesh.vertices[v], triangle_of[v]);
    const Index* nodes = body.elements.element(at(place.tetrahedron));
    const VecX shape = shape_functions(body.elements.kind, place.at);
    body.surface_weights.add_vertex(std::span(nodes, at(shape.size())),
                                    std::span(shape.data(), at(shape.size())));
  }
  body.surface = std::move(refined.mesh);
  add_supports(cells, given, desc, plane, body);
  return body;
}

}  // namespace thrum::elastic
