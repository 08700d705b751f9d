// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/cut_body.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/elastic/revolved_modes.h"
#include "thrum/elastic/revolved_profile.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/tets/block_tets.h"
#include "thrum/tets/mesh_stuffing.h"

namespace thrum::elastic {

namespace {

// The default lattice: a 24th of the length, but no more tetrahedra than this. A solid cube has 20,000 of
// them at a 12th of its edge, where quadratic elements have an error of 0.01 %; at a 24th its factor would
// not fit into the memory.
constexpr double kDefaultQuadraticCount = 20e3;
constexpr double kDefaultLinearCount = 100e3;

// Stated errors of cut cells: fitted on one half of 20 bodies, tested on the other
// (docs/methods/modal_analysis.md). By the stress jumps, and at most by the difference to the lattice before.
constexpr double kErrorMargin = 1.5;
constexpr double kDifferenceMargin = 1.5 * kErrorMargin;
// Of the first lattice of cut cells, which takes about half a second.
constexpr double kFirstCells = 3e3;
// A lattice is at most this much finer than the one before, and not less than 1 / kSmallStep.
constexpr double kMaxRefinement = 0.45;
constexpr double kSmallStep = 1.15;

// The first sheet, how much coarser the one is that it is compared with, the refinement from one to the next,
// and how many cut cells a wedge takes the time of.
constexpr double kFirstTriangles = 400;
constexpr double kSheetCoarsening = 2;
constexpr double kSheetRefinement = 1.6;
constexpr double kWedgeCost = 3;
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

// Tetrahedra of a lattice that are at least partly inside: 12 a cube of the volume, and a layer of cubes that
// the surface passes through, of which this share of a spacing lies outside.
constexpr double kOutsideLayer = 0.6;

double cut_cell_count(double volume, double area, double spacing)
{
  return 12 * (volume / std::pow(spacing, 3) + kOutsideLayer * area / (spacing * spacing));
}

double cut_cell_spacing(double volume, double area, double count)
{
  double low = 0;
  double high = std::sqrt(area) + std::cbrt(volume);
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (cut_cell_count(volume, area, middle) > count ? low : high) = middle;
  }
  return high;
}

struct QualityLevel {
  double max_error;  // of the frequencies asked for
  double max_cells;
};

QualityLevel level_of(Quality quality)
{
  switch (quality) {
    case Quality::draft:
      return {0.05, 6e3};
    case Quality::normal:
      return {0.01, 25e3};
    case Quality::fine:
      return {0.002, 120e3};
  }
  return {};
}

// The largest error among the modes that can be heard.
double worst_error(const model::ModalModel& model)
{
  constexpr double kMaxAudibleFrequency = 20e3;
  double worst = 0;
  for (Eigen::Index k = 0; k < model.frequency_errors.size(); ++k)
    if (k == 0 || model.frequencies[k] < kMaxAudibleFrequency)
      worst = std::max(worst, model.frequency_errors[k]);
  return worst;
}

// What two meshes say about the error of the finer one: the part of the difference that is left when errors
// fall with the square of the size. In fact they fall faster, so that this is rather too much.
VecX errors_by_difference(const VecX& coarse, const VecX& fine, double ratio)
{
  constexpr double kSmallestError = 1e-5;
  const Eigen::Index count = std::min(coarse.size(), fine.size());
  VecX errors = VecX::Constant(fine.size(), 0);
  double largest = kSmallestError;
  for (Eigen::Index k = 0; k < count; ++k) {
    errors[k] = std::max(kSmallestError, std::abs(coarse[k] / fine[k] - 1) / (ratio * ratio - 1));
    largest = std::max(largest, errors[k]);
  }
  for (Eigen::Index k = count; k < fine.size(); ++k) errors[k] = largest;
  return errors;
}

// Shown at once on a terminal, since a lattice says nothing while it is cut.
void show_filling(const ModalAnalysisDesc& desc)
{
  base::ProgressDesc at_once = desc.progress;
  at_once.redraw_interval = 0;
  base::Progress progress(desc.name.empty() ? "filling" : "filling " + desc.name, 0, at_once);
  progress.advance();
}

// What two lattices say about the finer one limits what the stress jumps of that one say: in cells that are
// much wider than a curved wall is thick, the averages of strains at corners outside of the wall are wild.
void limit_errors(const VecX& coarse, double ratio, model::ModalModel& model)
{
  const VecX by_difference = errors_by_difference(coarse, model.frequencies, ratio);
  for (Eigen::Index k = 0; k < std::min(coarse.size(), model.frequency_errors.size()); ++k)
    model.frequency_errors[k] = std::min(model.frequency_errors[k], kDifferenceMargin * by_difference[k]);
}

// The first lattice is coarse; its errors say how much finer the next must be, until they are small enough
// or the number of cells reaches its limit.
ModalAnalysisResult analyse_cut_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                        const ModalAnalysisDesc& desc)
{
  show_filling(desc);
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  const double area = mesh::area(surface);
  const distance::MeshDistance distance(surface);
  const QualityLevel level = level_of(fill.quality);
  const double max_cells = std::min(level.max_cells, fill.max_tetrahedra);
  const double finest = cut_cell_spacing(volume, area, max_cells);
  double spacing =
      fill.spacing > 0 ? fill.spacing : cut_cell_spacing(volume, area, std::min(kFirstCells, max_cells));
  ModalAnalysisDesc run = desc;
  run.estimate_errors = desc.estimate_errors || fill.spacing == 0;
  VecX coarser;  // frequencies of the lattice before
  double coarser_spacing = spacing;
  for (;;) {
    ElementBody body = cut_body(distance, spacing, run);
    ModalAnalysisResult result = analyse_elements(body, run);
    result.model.frequency_errors *= kErrorMargin;
    if (coarser.size() > 0) limit_errors(coarser, coarser_spacing / spacing, result.model);
    const double error = worst_error(result.model);
    if (fill.spacing > 0 || !result.ok() || error <= level.max_error || spacing <= kSmallStep * finest) {
      add_error_warning(desc, result.model);
      return result;
    }
    // The error falls with about this power of the spacing.
    constexpr double kOrder = 2.5;
    constexpr double kAimBelow = 0.7;  // of the limit
    coarser = result.model.frequencies;
    coarser_spacing = spacing;
    const double factor = std::pow(kAimBelow * level.max_error / error, 1 / kOrder);
    spacing = std::max(finest, spacing * std::clamp(factor, kMaxRefinement, 1 / kSmallStep));
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
                             std::sqrt(static_cast<double>(finer.elements) / run.elements));
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
