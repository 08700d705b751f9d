// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/block_modes.h"
#include "thrum/elastic/cut_modes.h"
#include "thrum/elastic/delaunay_modes.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/elastic/revolved_modes.h"
#include "thrum/elastic/revolved_profile.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/tets/block_tets.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/mesh_stuffing.h"

namespace thrum::elastic {

namespace {

// The default lattice: a 24th of the length, but no more tetrahedra than this. A solid cube has 20,000 of
// them at a 12th of its edge, where quadratic elements have an error of 0.01 %; at a 24th its factor would
// not fit into the memory.
constexpr double kDefaultQuadraticCount = 20e3;
constexpr double kDefaultLinearCount = 100e3;

// The first sheet, how much coarser the one is that it is compared with, the refinement from one to the next,
// and how many cut cells a wedge takes the time of.
constexpr double kFirstTriangles = 400;
constexpr double kSheetCoarsening = 2;
constexpr double kSheetRefinement = 1.6;
constexpr double kWedgeCost = 3;
constexpr double kSmallStep = 1.15;  // a refinement by less than this is not worth it
// With more triangles than this a sheet is not refined only to find its error.
constexpr Index kMaxComparedTriangles = 3000;
// Wedges need not be narrower than this many thicknesses, and at folds they cannot.
constexpr double kMinEdge = 2.5;

struct FilledSurface {
  tets::MeshStuffingResult filling;
  double refined_from = 0;  // [m]; 0: the first lattice was fine enough
};

FilledSurface fill_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                           const ModalAnalysisDesc& desc, distance::SignMethod sign)
{
  const std::string& name = desc.name;
  const double volume = mesh::require_closed(surface, name, "ring").volume;
  const distance::MeshDistance distance(surface, sign);
  const double requested = fill.spacing > 0 ? fill.spacing : default_spacing(surface, volume, desc.element);
  FilledSurface result;
  result.filling = fill.spacing > 0
                       ? tets::tetrahedralise(distance, {.spacing = requested})
                       : tets::tetrahedralise_walls(distance, {.spacing = requested}, fill.max_tetrahedra);
  if (result.filling.spacing < requested) result.refined_from = requested;
  if (result.filling.stuffing.mesh.tetrahedra.empty()) {
    throw Error(
        fmt::format("No part of '{}' is thick enough for a spacing of {:.3g} m; use a spacing of {:.3g} m.",
                    name, result.filling.spacing, result.filling.resolution.spacing));
  }
  return result;
}

// Invalid tetrahedra are often caused by details that the lattice cannot resolve, so the error reports those
// too.
ModalAnalysisResult analyse_filled(const mesh::TetrahedralMesh& mesh, const ModalAnalysisDesc& desc,
                                   const std::string& unresolved)
{
  try {
    return analyse_modes(mesh, desc);
  } catch (const base::Stopped&) {
    throw;
  } catch (const Error& error) {
    if (unresolved.empty()) throw;
    throw Error(fmt::format("{}\n{}", error.what(), unresolved));
  }
}

double longest_edge(const mesh::TriangleMesh& mesh)
{
  double longest = 0;
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k)
      longest = std::max(longest, (mesh.vertices[at(t[k])] - mesh.vertices[at(t[(k + 1) % 3])]).norm());
  return longest;
}

struct SheetRun {
  ModalAnalysisResult result;
  Index elements = 0;
  double longest = 0;  // edge [m]
};

SheetRun run_sheet(const mesh::TriangleMesh& surface, double thickness, double edge,
                   const ModalAnalysisDesc& desc)
{
  ElementBody body = sheet_body(surface, thickness, edge, desc);
  SheetRun run;
  run.elements = static_cast<Index>(body.elements.element_count());
  run.longest = longest_edge(body.surface);
  run.result = analyse_elements(body, desc);
  return run;
}

// Replaces `run` by one with shorter edges and sets its errors. False when there is none: no edge is long
// enough to be halved, or at a fold none may be.
bool refine_sheet(const mesh::TriangleMesh& surface, double thickness, double edge,
                  const ModalAnalysisDesc& desc, SheetRun& run)
{
  try {
    SheetRun finer = run_sheet(surface, thickness, edge, desc);
    if (finer.elements <= run.elements || !finer.result.ok()) return false;
    finer.result.model.frequency_errors =
        errors_by_difference(run.result.model.frequencies, finer.result.model.frequencies,
                             1 / (static_cast<double>(finer.elements) / run.elements - 1));
    run = std::move(finer);
    return true;
  } catch (const base::Stopped&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

// The first sheet is compared with a coarser one, or with a finer one if the surface has no fewer triangles.
// Each next one is finer than the one before, until the difference between the two is small enough.
ModalAnalysisResult analyse_sheet(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                  const ModalAnalysisDesc& desc)
{
  const QualityLevel level = level_of(fill.quality);
  // Halving edges leaves triangles of about a quarter of the square of the longest edge allowed.
  const auto edge_for = [area = mesh::area(surface)](double triangles) {
    return std::sqrt(4 * area / triangles);
  };
  const double finest = std::max(edge_for(level.max_cells / kWedgeCost), kMinEdge * fill.thickness);
  const bool given = fill.spacing > 0;
  const double first = given ? fill.spacing : std::max(finest, edge_for(kFirstTriangles));

  SheetRun run = run_sheet(surface, fill.thickness, kSheetCoarsening * first, desc);
  if (!run.result.ok()) return std::move(run.result);
  if (!refine_sheet(surface, fill.thickness, first, desc, run) && run.elements <= kMaxComparedTriangles)
    (void)refine_sheet(surface, fill.thickness, run.longest / kSheetRefinement, desc, run);
  while (!given && worst_error(run.result.model) > level.max_error && run.longest > kSmallStep * finest)
    if (!refine_sheet(surface, fill.thickness, std::max(finest, run.longest / kSheetRefinement), desc, run))
      break;
  add_error_warning(desc, run.result.model);
  return std::move(run.result);
}

// A profile instead of a lattice, where the error of its facets is small enough.
std::optional<ModalAnalysisResult> analyse_round_surface(const mesh::TriangleMesh& surface,
                                                         const FillDesc& fill, const ModalAnalysisDesc& desc)
{
  constexpr double kMaxFacetShare = 0.5;  // of the error allowed
  constexpr double kTriangleCost = 4;     // a triangle of a profile in cut cells
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || !desc.supports.empty() ||
      desc.materials.size() != 1)
    return std::nullopt;
  (void)mesh::require_closed(surface, desc.name, "ring");
  const QualityLevel level = level_of(fill.quality);
  const std::optional<RevolvedProfile> profile = revolved_profile(surface);
  if (!profile || facet_error(*profile) > kMaxFacetShare * level.max_error) return std::nullopt;
  std::optional<ModalAnalysisResult> result = analyse_revolved(
      surface, *profile,
      {.max_error = (1 - kMaxFacetShare) * level.max_error, .max_triangles = level.max_cells / kTriangleCost},
      desc);
  if (result) add_error_warning(desc, result->model);
  return result;
}

// A grid along the faces instead of a lattice.
std::optional<ModalAnalysisResult> analyse_block_surface(const mesh::TriangleMesh& surface,
                                                         const FillDesc& fill, const ModalAnalysisDesc& desc)
{
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || desc.materials.size() != 1)
    return std::nullopt;
  (void)mesh::require_closed(surface, desc.name, "ring");
  return analyse_blocks(surface, fill, desc);
}

// Tetrahedra that keep the surface; nothing where cut cells are to be used instead.
std::optional<ModalAnalysisResult> analyse_kept_surface(const mesh::TriangleMesh& surface,
                                                        const FillDesc& fill, const ModalAnalysisDesc& desc)
{
  if (fill.method == FillMethod::delaunay) {
    if (desc.materials.size() != 1) throw Error("A surface is filled with one material only.");
    std::optional<ModalAnalysisResult> result = analyse_delaunay(surface, fill, desc);
    if (!result)
      throw Error(fmt::format(
          "'{}' has {} triangles, too many for tetrahedra that keep each of them. Use --fill cut, "
          "--quality fine, a spacing, or a mesh with fewer triangles.",
          desc.name, surface.triangles.size()));
    return result;
  }
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || desc.materials.size() != 1)
    return std::nullopt;
  try {
    return analyse_delaunay(surface, fill, desc);
  } catch (const tets::SurfaceNotKept&) {
    return std::nullopt;
  }
}

ModalAnalysisResult analyse_stuffed_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                            const ModalAnalysisDesc& desc, distance::SignMethod sign)
{
  const FilledSurface filled = fill_surface(surface, fill, desc, sign);
  std::string unresolved = tets::describe(filled.filling.resolution);
  while (unresolved.ends_with('\n')) unresolved.pop_back();
  ModalAnalysisResult result = analyse_filled(filled.filling.stuffing.mesh, desc, unresolved);
  if (!unresolved.empty()) result.model.warnings.push_back(unresolved);
  if (filled.refined_from > 0)
    result.hints.push_back(
        fmt::format("The walls are thinner than a lattice of {:.3g} m resolves, so {:.3g} m was used. Set a "
                    "coarser spacing for a faster analysis.",
                    filled.refined_from, filled.filling.spacing));
  return result;
}

}  // namespace

double default_spacing(const mesh::TriangleMesh& surface, double volume, ElementKind element)
{
  return std::max(mesh::bounding_box(surface).sizes().maxCoeff() / tets::kDefaultCells,
                  tets::spacing_for(
                      volume, element == ElementKind::tet10 ? kDefaultQuadraticCount : kDefaultLinearCount));
}

ModalAnalysisResult analyse_surface_modes(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                          const ModalAnalysisDesc& desc)
{
  if (fill.thickness > 0) return analyse_sheet(surface, fill, desc);
  if (fill.grid) {
    (void)mesh::require_closed(surface, desc.name, "ring");
    return analyse_modes(tets::tetrahedralise_blocks(surface, *fill.grid), desc);
  }
  if (fill.method == FillMethod::stuffing || desc.element != ElementKind::tet10)
    return analyse_stuffed_surface(surface, fill, desc, distance::SignMethod::automatic);
  try {
    if (auto round = analyse_round_surface(surface, fill, desc)) return std::move(*round);
    if (auto blocks = analyse_block_surface(surface, fill, desc)) return std::move(*blocks);
    if (auto kept = analyse_kept_surface(surface, fill, desc)) return std::move(*kept);
    return analyse_cut_surface(surface, fill, desc);
  } catch (const tets::CrossingSurface&) {
    ModalAnalysisResult result =
        analyse_stuffed_surface(surface, fill, desc, distance::SignMethod::winding_number);
    result.model.warnings.emplace_back(
        "The surface crosses itself, so it was filled with fitted tetrahedra, which cut off sharp edges: "
        "frequencies may be off by several percent more than stated. Unite its parts first.");
    return result;
  }
}

base::Hash128 surface_modal_key(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                const ModalAnalysisDesc& desc, const ModalVersions& versions)
{
  base::Hasher hasher;
  hasher.add(versions.fill);
  hasher.add(surface.vertices)
      .add(surface.triangles)
      .add(fill.spacing)
      .add(fill.max_tetrahedra)
      .add(fill.method)
      .add(fill.quality)
      .add(fill.thickness);
  if (fill.grid) hasher.add(*fill.grid);
  if (fill.spacing == 0) hasher.add(kDefaultQuadraticCount).add(kDefaultLinearCount);
  add_to_hash(hasher, desc, versions);
  return hasher.finish();
}

ModalAnalysisResult analyse_surface_modes_cached(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                                 const ModalAnalysisDesc& desc, const base::Cache& cache)
{
  return load_or_analyse(cache, surface_modal_key(surface, fill, desc),
                         [&] { return analyse_surface_modes(surface, fill, desc); });
}

std::shared_ptr<const model::ModalModel> modal_model(const mesh::TriangleMesh& surface,
                                                     const model::Material& material,
                                                     const std::vector<std::string>& clamps,
                                                     const FillDesc& fill)
{
  ModalAnalysisDesc desc;
  desc.name = material.name;
  desc.materials = {material};
  for (const std::string& clamp : clamps) desc.supports.push_back({parse_selection(clamp)});
  ModalAnalysisResult result = analyse_surface_modes_cached(surface, fill, desc);
  if (!result.ok()) throw Error(describe_failure(result));
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

}  // namespace thrum::elastic
