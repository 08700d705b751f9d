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
#include "thrum/mesh/section_change.h"
#include "thrum/mesh/self_intersections.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/edge_bisection.h"
#include "thrum/tets/small_parts.h"

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
  double section_change = 0;
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
    even.section_change = mesh::largest_section_change(surface, even.surface);
    return even;
  } catch (const Error&) {
    return std::nullopt;  // edges of more than two triangles, or no volume is left
  }
}

// Quadratic elements in a coarse mesh; if their error is too large, cubic ones in it; if that is, cubic ones
// where the elements that have most of the error are bisected, until there are too many.
//
// What a small part stands on gives way within about the width of the part, and elements that are larger
// there are too stiff, alike in every degree: neither stress jumps nor the degree show it. Elements at such
// roots are therefore halved from one mesh to the next, and what changes more than expected is a part of the
// error.
class Climb {
 public:
  Climb(const Filler& filler, const QualityLevel& level)
      : filler_(filler),
        level_(level),
        max_quadratic_(kElementShare * level.max_cells),
        max_cubic_(level.max_cells / kCubicCost)
  {
  }

  std::optional<ModalAnalysisResult> run(double spacing)
  {
    mesh_ = filler_.fill(spacing, max_quadratic_ / kPerVertex);
    if (element_count(mesh_) > max_quadratic_) return std::nullopt;
    begin_at_roots();
    while (!analyse() && refine()) {
    }
    if (has_roots_ && !is_compared_ && best_->ok())
      best_->model.frequency_errors = best_->model.frequency_errors.cwiseMax(kNotCompared);
    return std::move(best_);
  }

 private:
  // Elements at a root over the width of the part, in the first mesh: as small as two meshes allow, and up to
  // kRoomyShare so that there is room for smaller elements where stress jumps ask for them.
  static constexpr double kFinestShare = 1;
  static constexpr double kRoomyShare = 2;
  static constexpr double kCoarsestShare = 8;
  static constexpr double kShareStep = 1.5;
  static constexpr double kRootRatio = 2;  // of the sizes in two meshes
  // Errors at a notch fall with the power 1.09 of the size, so that 1/(2^1.09 - 1) of the difference is left.
  static constexpr double kRootShare = 1.1;
  // Stated where there were too many elements for a second mesh.
  static constexpr double kNotCompared = 0.1;

  void begin_at_roots()
  {
    has_roots_ = !tets::find_roots(mesh_).empty();
    if (!has_roots_) return;
    const double most = element_count(mesh_) < max_cubic_ / kMinGrowth ? max_cubic_ : max_quadratic_;
    if (!find_share(kRoomyShare, most / kMinGrowth)) find_share(kCoarsestShare, most);
    tets::refine_at_roots(mesh_, share_);
  }

  // The smallest elements at roots with which the next mesh has at most so many.
  bool find_share(double coarsest, double max_elements)
  {
    for (share_ = kFinestShare; share_ < coarsest; share_ *= kShareStep) {
      mesh::TetrahedralMesh next = mesh_;
      tets::refine_at_roots(next, share_);
      tets::refine_at_roots(next, share_ / kRootRatio);
      if (element_count(next) <= max_elements) return true;
    }
    return false;
  }

  // The frequencies that a mesh and its errors predict for ever smaller elements.
  static VecX predicted(const model::ModalModel& model)
  {
    return model.frequencies.array() * (1 - model.frequency_errors.array() / kErrorMargin);
  }

  // Adds by how much the mesh before predicts higher frequencies than this one: what neither stress jumps nor
  // the degree showed there. What they did show is gone, or is in the errors of this mesh.
  void compare(std::optional<ModalAnalysisResult>& before, ModalAnalysisResult& now)
  {
    std::optional<ModalAnalysisResult> prediction;
    if (has_roots_) {
      const VecX found = predicted(now.model);
      prediction = now;
      prediction->model.frequencies = found;
      if (before) {
        VecX coarse = matched_frequencies(before->model, now.model);
        const Eigen::Index count = std::min(coarse.size(), found.size());
        coarse.head(count) = coarse.head(count).cwiseMax(found.head(count));
        now.model.frequency_errors += errors_by_difference(coarse, found, kRootShare);
        is_compared_ = true;
      }
    }
    before = std::move(prediction);
    if (!best_ || has_roots_ || worst_error(now.model) < worst_error(best_->model)) best_ = now;
  }

  [[nodiscard]] bool is_good() const
  {
    return (is_compared_ || !has_roots_) && worst_error(best_->model) <= level_.max_error;
  }

  // True when the mesh is good enough, or the last.
  bool analyse()
  {
    ModalAnalysisResult quadratic = filler_.analyse(mesh_, 2, &element_errors_);
    if (!quadratic.ok()) {
      if (!best_) best_ = std::move(quadratic);
      return true;
    }
    compare(last_quadratic_, quadratic);
    if (is_good()) return true;
    if (element_count(mesh_) > max_cubic_) return false;
    ModalAnalysisResult cubic = filler_.analyse(mesh_, 3);
    if (!cubic.ok()) return true;
    cubic.model.frequency_errors = errors_by_difference(matched_frequencies(quadratic.model, cubic.model),
                                                        cubic.model.frequencies, kDegreeShare);
    compare(last_cubic_, cubic);
    return is_good();
  }

  // False when there is no finer mesh.
  bool refine()
  {
    const double before = element_count(mesh_);
    const double limit = before <= max_cubic_ ? max_cubic_ : max_quadratic_;
    const double wanted = worst_error(best_->model) / (kAimBelow * level_.max_error);
    mesh::TetrahedralMesh rooted = mesh_;
    if (has_roots_) tets::refine_at_roots(rooted, share_ /= kRootRatio);
    if (element_count(rooted) > (is_compared_ ? limit : max_quadratic_)) return false;
    const double growth = std::min({wanted, kMaxGrowth, limit / element_count(rooted)});
    mesh::TetrahedralMesh finer = mesh_;
    if (growth >= kMinGrowth) {
      tets::bisect_tetrahedra(finer, bisections(element_errors_, growth / kMatchingElements));
      if (has_roots_) tets::refine_at_roots(finer, share_);
    } else if (is_compared_ || !has_roots_) {
      return false;
    }
    const bool fits = growth >= kMinGrowth && (!has_roots_ || element_count(finer) <= limit);
    mesh_ = fits ? std::move(finer) : std::move(rooted);
    return element_count(mesh_) > before;
  }

  const Filler& filler_;
  const QualityLevel& level_;
  const double max_quadratic_;
  const double max_cubic_;
  mesh::TetrahedralMesh mesh_;
  bool has_roots_ = false;
  bool is_compared_ = false;
  double share_ = 0;
  std::vector<double> element_errors_;
  std::optional<ModalAnalysisResult> best_, last_quadratic_, last_cubic_;
};

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
    result = Climb(filler, level)
                 .run(spacing_for(volume, mesh::area(surface), std::min(kFirstElements, level.max_cells)));
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
  std::optional<ModalAnalysisResult> result = Climb(filler, level).run(edge);
  if (!result) return std::nullopt;
  result->model.frequency_errors.array() += even->error + even->section_change + remeshing_error(curved);
  add_error_warning(desc, result->model);
  result->hints.push_back(fmt::format(
      "Its {} triangles were replaced by {} for tetrahedra of degree {} that keep them and its sharp edges; "
      "the inertia differs by {:.2g} %, and sections may change frequencies by {:.2g} %.",
      surface.triangles.size(), even->surface.triangles.size(), result->model.element == "tet20" ? 3 : 2,
      100 * even->error, 100 * even->section_change));
  return result;
}

}  // namespace thrum::elastic
