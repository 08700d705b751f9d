// SPDX-License-Identifier: MIT
#include "thrum/elastic/delaunay_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/distance/mesh_distance.h"
#include "thrum/elastic/cut_modes.h"
#include "thrum/elastic/element_analysis.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/elastic/fitted_body.h"
#include "thrum/elastic/mesh_checks.h"
#include "thrum/elastic/supports.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/remesh.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/edge_bisection.h"

namespace thrum::elastic {

namespace {

// Stated errors: of quadratic elements by stress jumps, of cubic ones by their difference to quadratic ones
// (docs/methods/constrained_delaunay.md).
constexpr double kErrorMargin = 1.5;
constexpr double kDegreeShare = 0.4;
// Of the first mesh, which takes about half a second, and how many times as many elements each next one has.
constexpr double kFirstElements = 3e3;
constexpr double kMaxGrowth = 3;
constexpr double kMinGrowth = 1.5;
// For faces to match, this many times as many elements are bisected as asked for.
constexpr double kMatchingElements = 1.3;
// The error aimed at, as a share of the limit.
constexpr double kAimBelow = 0.7;
// A cubic element takes the time and the memory of about this many quadratic ones.
constexpr double kCubicCost = 3.5;
// Elements that keep the surface may be this many times as many as cells of a lattice: none of them is cut.
constexpr double kElementShare = 1.5;
// Supports reach this far beyond their planes (share of the size of the body), so that nodes on them are
// held.
constexpr double kOnPlane = 1e-6;
// A closed surface has at least about this many tetrahedra for each of its triangles.
constexpr double kPerTriangle = 1.5;
// ... and for each of their vertices.
constexpr double kPerVertex = 2;
// Of a remeshed surface: edges over sqrt(R t), R the radius of curvature and t the thickness. Its facets
// stand off the curve by their square over R, and stiffness changes with the square of that over t: a round
// rod with edges of 0.6 has seven sides, and such a polygon of the same area is 0.2 % too high in bending.
double curved_length(Quality quality)
{
  switch (quality) {
    case Quality::draft:
      return 0.75;
    case Quality::normal:
      return 0.6;
    case Quality::fine:
      return 0.4;
  }
  return 0.4;
}
double remeshing_error(double curved_length)
{
  return 2e-3 * std::pow(curved_length / 0.6, 4);
}
// How far the inertia of a remeshed surface may be from that of the given one.
constexpr double kMaxInertiaError = 5e-3;

// The planes where supports end.
std::vector<tets::CuttingPlane> planes_of(const std::vector<model::Support>& supports, const Box3& body)
{
  std::vector<tets::CuttingPlane> planes;
  for (const model::Support& support : supports) {
    if (support.where.kind == model::SelectionKind::half_space)
      planes.push_back({support.where.normal, support.where.offset});
    if (support.where.kind != model::SelectionKind::box) continue;
    for (int axis = 0; axis < 3; ++axis)
      for (const double offset : {support.where.box.min()[axis], support.where.box.max()[axis]})
        if (offset > body.min()[axis] && offset < body.max()[axis])
          planes.push_back({Vec3::Unit(axis), offset});
  }
  return planes;
}

class Filler {
 public:
  // Shapes are kept at the vertices of `given`, which `surface` stands for, or of `surface` itself.
  Filler(const mesh::TriangleMesh& surface, const ModalAnalysisDesc& desc,
         const mesh::TriangleMesh* given = nullptr)
      : surface_(surface),
        given_(given),
        desc_(desc),
        planes_(planes_of(desc.supports, mesh::bounding_box(surface))),
        held_(widened(desc.supports, kOnPlane * mesh::bounding_box(surface).sizes().maxCoeff()))
  {
    check_materials({}, desc.materials);
  }

  [[nodiscard]] mesh::TetrahedralMesh fill(double spacing, double max_points = 2e6) const
  {
    mesh::TetrahedralMesh mesh =
        tets::fill_by_delaunay(surface_, {.spacing = spacing, .max_points = max_points, .planes = planes_})
            .mesh;
    check_mesh(mesh);
    return mesh;
  }

  // Quadratic elements also say where the error is.
  [[nodiscard]] ModalAnalysisResult analyse(const mesh::TetrahedralMesh& mesh, int degree,
                                            std::vector<double>* element_errors = nullptr) const
  {
    ElementBody body = body_of(mesh, degree);
    ModalAnalysisDesc run = desc_;
    run.estimate_errors = degree == 2;
    ModalAnalysisResult result = analyse_elements(body, run);
    if (degree == 2) result.model.frequency_errors *= kErrorMargin;
    if (element_errors) *element_errors = std::move(body.element_errors);
    return result;
  }

 private:
  [[nodiscard]] ElementBody body_of(const mesh::TetrahedralMesh& mesh, int degree) const
  {
    if (given_ != nullptr) {
      ModalAnalysisDesc held = desc_;
      held.supports = held_;
      return fitted_body(*given_, mesh, kSurfaceSpacing * mesh::bounding_box(*given_).sizes().maxCoeff(),
                         held, degree);
    }
    ElementBody body;
    body.elements = build_element_mesh(mesh, tetrahedron_of(degree));
    body.element_name = std::string(name_of(body.elements.kind));
    body.held = held_axes(body.elements, {}, held_);
    keep_surface(mesh, body);
    return body;
  }

  // The vertices of the given surface come first, in their order, as they do in the mesh.
  static void keep_surface(const mesh::TetrahedralMesh& mesh, ElementBody& body)
  {
    mesh::BoundarySurface boundary = mesh::boundary_surface(mesh);
    std::vector<Index> place(mesh.vertices.size(), -1);
    body.surface_nodes = boundary.nodes;
    std::sort(body.surface_nodes.begin(), body.surface_nodes.end());
    for (Index i = 0; i < count_of(body.surface_nodes); ++i) {
      const Index node = body.surface_nodes[at(i)];
      place[at(node)] = i;
      body.surface.vertices.push_back(mesh.vertices[at(node)]);
      body.surface_weights.add_vertex(std::array{node}, std::array{1.0});
    }
    for (Triangle t : boundary.surface.triangles) {
      for (Index& v : t) v = place[at(boundary.nodes[at(v)])];
      body.surface.triangles.push_back(t);
    }
  }

  // Points of a given surface are at most this share of its size apart.
  static constexpr double kSurfaceSpacing = 1.0 / 24;

  distance::MeshDistance surface_;
  const mesh::TriangleMesh* given_;
  const ModalAnalysisDesc& desc_;
  std::vector<tets::CuttingPlane> planes_;
  std::vector<model::Support> held_;
};

double element_count(const mesh::TetrahedralMesh& mesh)
{
  return static_cast<double>(mesh.tetrahedra.size());
}

// The edge of the tetrahedra of a volume, or of a layer of them below an area, whichever is longer.
double spacing_for(double volume, double area, double elements)
{
  constexpr double kPerCube = 7;    // tetrahedra in a cube of an edge
  constexpr double kPerSquare = 5;  // over a square of an edge
  return std::max(std::cbrt(kPerCube * volume / elements), std::sqrt(kPerSquare * area / elements));
}

struct Remeshed {
  mesh::TriangleMesh surface;
  double error = 0;  // of volume or inertia, whichever is larger, relative
};

std::optional<Remeshed> remeshed(const mesh::TriangleMesh& surface, double edge, double curved,
                                 double max_triangles)
{
  try {
    Remeshed even;
    even.surface =
        mesh::remesh(surface, {.edge_length = edge, .curved_length = curved, .max_triangles = max_triangles});
    const mesh::MassProperties before = mesh::solid_mass_properties(surface);
    const mesh::MassProperties after = mesh::solid_mass_properties(even.surface);
    even.error = std::max(std::abs(after.volume / before.volume - 1),
                          (after.inertia - before.inertia).norm() / before.inertia.norm());
    if (even.error > kMaxInertiaError || !mesh::self_intersections(even.surface, 1).empty())
      return std::nullopt;
    return even;
  } catch (const Error&) {
    return std::nullopt;  // edges of more than two triangles, or no volume is left
  }
}

bool is_better(const ModalAnalysisResult& a, const ModalAnalysisResult& b)
{
  return a.ok() && worst_error(a.model) < worst_error(b.model);
}

// Quadratic elements in a coarse mesh; if their error is too large, cubic ones in it; if that is, cubic ones
// where the elements that have most of the error are bisected, until there are too many.
std::optional<ModalAnalysisResult> climb(const Filler& filler, double spacing, const QualityLevel& level)
{
  mesh::TetrahedralMesh mesh = filler.fill(spacing, kElementShare * level.max_cells / kPerVertex);
  if (element_count(mesh) > kElementShare * level.max_cells) return std::nullopt;
  const double max_cubic = level.max_cells / kCubicCost;
  std::optional<ModalAnalysisResult> best;
  for (;;) {
    std::vector<double> element_errors;
    ModalAnalysisResult quadratic = filler.analyse(mesh, 2, &element_errors);
    if (!quadratic.ok()) return best ? std::move(best) : std::move(quadratic);
    if (!best || is_better(quadratic, *best)) best = quadratic;
    if (worst_error(best->model) <= level.max_error) return best;
    if (element_count(mesh) <= max_cubic) {
      ModalAnalysisResult cubic = filler.analyse(mesh, 3);
      cubic.model.frequency_errors = errors_by_difference(matched_frequencies(quadratic.model, cubic.model),
                                                          cubic.model.frequencies, kDegreeShare);
      if (is_better(cubic, *best)) best = std::move(cubic);
    }
    const double wanted = worst_error(best->model) / (kAimBelow * level.max_error);
    const double limit = element_count(mesh) <= max_cubic ? max_cubic : kElementShare * level.max_cells;
    const double growth = std::min({wanted, kMaxGrowth, limit / element_count(mesh)});
    if (wanted <= 1 / kAimBelow || growth < kMinGrowth) return best;
    const double before = element_count(mesh);
    tets::bisect_tetrahedra(mesh, bisections(element_errors, growth / kMatchingElements));
    if (element_count(mesh) <= before) return best;
  }
}

}  // namespace

std::optional<ModalAnalysisResult> analyse_delaunay(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                                    const ModalAnalysisDesc& desc)
{
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  QualityLevel level = level_of(fill.quality);
  level.max_cells = std::min(level.max_cells, fill.max_tetrahedra);
  if (fill.spacing == 0 &&
      kPerTriangle * static_cast<double>(surface.triangles.size()) > kElementShare * level.max_cells)
    return std::nullopt;
  const Filler filler(surface, desc);
  std::optional<ModalAnalysisResult> result;
  if (fill.spacing > 0)
    result = filler.analyse(filler.fill(fill.spacing), 2);
  else
    result = climb(
        filler, spacing_for(volume, mesh::area(surface), std::min(kFirstElements, level.max_cells)), level);
  if (!result) return std::nullopt;
  add_error_warning(desc, result->model);
  if (fill.spacing == 0)
    result->hints.push_back(fmt::format("Filled with {} tetrahedra of degree {} that keep the surface.",
                                        result->model.element_count,
                                        result->model.element == "tet20" ? 3 : 2));
  return result;
}

std::optional<ModalAnalysisResult> analyse_remeshed(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                                    const ModalAnalysisDesc& desc)
{
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  QualityLevel level = level_of(fill.quality);
  level.max_cells = std::min(level.max_cells, fill.max_tetrahedra);
  const double edge = spacing_for(volume, mesh::area(surface), std::min(kFirstElements, level.max_cells));
  const double curved = curved_length(fill.quality);
  // Half of the tetrahedra that are allowed may be at the surface.
  const std::optional<Remeshed> even =
      remeshed(surface, edge, curved, kElementShare * level.max_cells / (2 * kPerTriangle));
  if (!even) return std::nullopt;
  const Filler filler(even->surface, desc, &surface);
  std::optional<ModalAnalysisResult> result = climb(filler, edge, level);
  if (!result) return std::nullopt;
  result->model.frequency_errors.array() += even->error + remeshing_error(curved);
  add_error_warning(desc, result->model);
  result->hints.push_back(fmt::format(
      "Its {} triangles were replaced by {} for tetrahedra of degree {} that keep them and its sharp edges; "
      "the inertia differs by {:.2g} %.",
      surface.triangles.size(), even->surface.triangles.size(), result->model.element == "tet20" ? 3 : 2,
      100 * even->error));
  return result;
}

}  // namespace thrum::elastic
