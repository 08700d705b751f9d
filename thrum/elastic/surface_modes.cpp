// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <span>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/block_modes.h"
#include "thrum/elastic/cut_modes.h"
#include "thrum/elastic/delaunay_modes.h"
#include "thrum/elastic/fill_quality.h"
#include "thrum/elastic/fitted_body.h"
#include "thrum/elastic/modal_cache.h"
#include "thrum/elastic/revolved_modes.h"
#include "thrum/elastic/revolved_profile.h"
#include "thrum/elastic/sheet_body.h"
#include "thrum/elastic/supports.h"
#include "thrum/mesh/mesh_report.h"
#include "thrum/mesh/mesh_topology.h"
#include "thrum/mesh/sheet.h"
#include "thrum/mesh/wall.h"
#include "thrum/tets/block_tets.h"
#include "thrum/tets/delaunay_fill.h"
#include "thrum/tets/mesh_stuffing.h"
#include "thrum/tets/netgen.h"

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
constexpr double kMinSheetGrowth = 1.4;  // of the number of elements
// Of the largest number of elements: halving leaves more of them than the longest edge tells.
constexpr double kMaxOvershoot = 2;
// Errors fall at least with these powers of the edges: between the two coarsest sheets, which do not resolve
// the shortest waves yet, and from there on (docs/methods/sheets.md).
constexpr double kFirstOrder = 1.5;
constexpr double kNextOrder = 2;
constexpr double kSmallStep = 1.15;  // a refinement by less than this is not worth it
// With more triangles than this a sheet is not refined only to find its error.
constexpr Index kMaxComparedTriangles = 3000;
// Wedges need not be narrower than this many thicknesses, and at folds they cannot.
constexpr double kMinEdge = 2.5;
// e^2/(R t) from which curved walls lock noticeably; the first sheet is that fine with up to so many
// triangles.
constexpr double kMaxLockingRatio = 0.5;
// One wedge through the thickness does not follow the shear near a free rim, which is about a thickness
// wide: twisting modes of a strip of width w are too high by 0.03 t/w (2.4 % at w = 2 t, 1.1 at 3, 0.5 at 6,
// 0.26 at 10, against tetrahedra and Saint-Venant's section), which finer wedges do not change.
constexpr double kRimError = 0.03;
constexpr double kRimErrorOfBars = 0.05;  // below kBarWidth thicknesses
constexpr double kBarWidth = 3;
// Closed solids that are narrower, in thicknesses, are filled in other ways.
constexpr double kMinWallWidth = 15;
constexpr double kMaxFirstTriangles = 1500;

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

// Makes the wedges with edges of at most a length [m].
using MakeSheet = std::function<ElementBody(double)>;

struct SheetRun {
  ModalAnalysisResult result;
  Index elements = 0;
  double longest = 0;  // edge [m]
};

// The longest edge of the lower triangles of wedges.
double longest_edge(const ElementMesh& wedges)
{
  double longest = 0;
  for (std::size_t e = 0; e < wedges.element_count(); ++e)
    for (std::size_t k = 0; k < 3; ++k)
      longest = std::max(
          longest,
          (wedges.nodes[at(wedges.element(e)[k])] - wedges.nodes[at(wedges.element(e)[(k + 1) % 3])]).norm());
  return longest;
}

SheetRun run_sheet(ElementBody& body, const ModalAnalysisDesc& desc)
{
  SheetRun run;
  run.elements = static_cast<Index>(body.elements.element_count());
  run.longest = longest_edge(body.elements);
  run.result = analyse_elements(body, desc);
  return run;
}

// Replaces `run` by one with shorter edges and sets its errors. False when there is none: too few edges are
// long enough to be halved, so that the difference would say little, at a fold none may be, or there would be
// more than `max_elements`, since long narrow triangles are halved across as well.
bool refine_sheet(const MakeSheet& make, double edge, double max_elements, const ModalAnalysisDesc& desc,
                  SheetRun& run)
{
  try {
    ElementBody body = make(edge);
    const auto count = static_cast<double>(body.elements.element_count());
    if (count < kMinSheetGrowth * run.elements || count > max_elements) return false;
    // A first pair is compared with no finer one yet.
    const double order = run.result.model.frequency_errors.size() == 0 ? kFirstOrder : kNextOrder;
    SheetRun finer = run_sheet(body, desc);
    if (!finer.result.ok()) return false;
    finer.result.model.frequency_errors = errors_by_difference(
        matched_frequencies(run.result.model, finer.result.model), finer.result.model.frequencies,
        1 / (std::pow(static_cast<double>(finer.elements) / run.elements, 0.5 * order) - 1));
    run = std::move(finer);
    return true;
  } catch (const base::Stopped&) {
    throw;
  } catch (const Error&) {
    return false;
  }
}

// The width of a strip between its free rims [m]; without rims it has no end.
double width_between_rims(const mesh::TriangleMesh& surface)
{
  double rims = 0;
  mesh::for_each_edge(mesh::edge_uses(surface), [&](std::span<const mesh::EdgeUse> uses) {
    if (uses.size() == 1)
      rims += (surface.vertices[at(uses[0].high)] - surface.vertices[at(uses[0].low)]).norm();
  });
  return rims > 0 ? 2 * mesh::area(surface) / rims : std::numeric_limits<double>::infinity();
}

// What both of two sheets miss near their rims, as a share of the frequency.
double rim_error(double width, double thickness)
{
  return (width < kBarWidth * thickness ? kRimErrorOfBars : kRimError) * thickness / width;
}

// What a sheet is made of: how it becomes wedges, its middle or one side, and how thick it is [m].
struct Sheet {
  MakeSheet make;
  const mesh::TriangleMesh& surface;
  double thickness;
  bool is_closed = false;  // a solid, which can be filled in other ways
};

// The first sheet is compared with a coarser one, or with a finer one if the surface has no fewer triangles.
// Each next one is finer than the one before, until the difference between the two is small enough.
// None for a solid that would take too many of them, or whose error they cannot state.
std::optional<ModalAnalysisResult> analyse_wedges(const Sheet& sheet, const FillDesc& fill,
                                                  const ModalAnalysisDesc& desc)
{
  const double width = width_between_rims(sheet.surface);
  if (sheet.is_closed && width < kMinWallWidth * sheet.thickness) return std::nullopt;
  const QualityLevel level = level_of(fill.quality);
  // Halving edges leaves triangles of about a quarter of the square of the longest edge allowed.
  const auto edge_for = [area = mesh::area(sheet.surface)](double triangles) {
    return std::sqrt(4 * area / triangles);
  };
  const double finest = std::max(edge_for(level.max_cells / kWedgeCost), kMinEdge * sheet.thickness);
  const bool given = fill.spacing > 0;
  // The first edges are those at which curved walls begin to lock, if they are not too many.
  const double curved =
      std::sqrt(kMaxLockingRatio / std::max(largest_locking_ratio(sheet.surface, sheet.thickness, 1),
                                            std::numeric_limits<double>::min()));
  const double first =
      given ? fill.spacing
            : std::max(finest,
                       std::min({edge_for(kFirstTriangles), std::max(curved, edge_for(kMaxFirstTriangles))}));

  const double max_elements =
      given ? std::numeric_limits<double>::infinity() : kMaxOvershoot * level.max_cells / kWedgeCost;
  ElementBody coarse = sheet.make(kSheetCoarsening * first);
  if (sheet.is_closed && static_cast<double>(coarse.elements.element_count()) > max_elements)
    return std::nullopt;
  SheetRun run = run_sheet(coarse, desc);
  if (!run.result.ok()) return std::move(run.result);
  if (!refine_sheet(sheet.make, first, max_elements, desc, run) && run.elements <= kMaxComparedTriangles)
    (void)refine_sheet(sheet.make, run.longest / kSheetRefinement, max_elements, desc, run);
  if (sheet.is_closed && run.result.model.frequency_errors.size() == 0) return std::nullopt;
  while (!given && worst_error(run.result.model) > level.max_error && run.longest > kSmallStep * finest)
    if (!refine_sheet(sheet.make, std::max(finest, run.longest / kSheetRefinement), max_elements, desc, run))
      break;
  if (run.result.model.frequency_errors.size() > 0)
    run.result.model.frequency_errors.array() += rim_error(width, sheet.thickness);
  else if (desc.estimate_errors)
    run.result.hints.emplace_back(
        "Its errors are not known: there is no other sheet to compare it with. Give it a smaller --spacing.");
  add_error_warning(desc, run.result.model);
  const double locking = largest_locking_ratio(sheet.surface, sheet.thickness, run.longest);
  if (locking > kMaxLockingRatio)
    run.result.hints.push_back(
        fmt::format("Where it is curved, e^2/(R t) is up to {:.2g} (edges of {:.3g} m, thickness {:.3g} m); "
                    "above {} wedges "
                    "are too stiff by 1 % and more, which the stated errors show.",
                    locking, run.longest, sheet.thickness, kMaxLockingRatio));
  return std::move(run.result);
}

ModalAnalysisResult analyse_sheet(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                  const ModalAnalysisDesc& desc)
{
  const auto make = [&](double edge) {
    return sheet_body(surface, fill.thickness, edge, desc);
  };
  // As it is, so that narrow bends are told before layers.
  (void)make(std::numeric_limits<double>::infinity());
  mesh::require_layers_apart(surface, fill.thickness);
  return *analyse_wedges({make, surface, fill.thickness}, fill, desc);
}

// A closed solid that is a thin wall, in wedges between its two sides.
std::optional<ModalAnalysisResult> analyse_wall_surface(const mesh::TriangleMesh& surface,
                                                        const FillDesc& fill, const ModalAnalysisDesc& desc)
{
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || !desc.supports.empty() ||
      desc.materials.size() != 1)
    return std::nullopt;
  const double max_triangles = level_of(fill.quality).max_cells / kWedgeCost;
  if (static_cast<double>(surface.triangles.size()) > 3 * max_triangles) return std::nullopt;
  const std::optional<mesh::Wall> wall = mesh::find_wall(surface);
  if (!wall || static_cast<double>(wall->side.triangles.size()) > max_triangles) return std::nullopt;
  const auto make = [&](double edge) {
    return wall_body(surface, *wall, edge, desc);
  };
  try {
    std::optional<ModalAnalysisResult> result =
        analyse_wedges({make, wall->side, wall->thickness, true}, fill, desc);
    if (!result) return std::nullopt;
    // Frequencies of a wall go with its thickness, and so does its volume.
    result->model.frequency_errors.array() += std::abs(wall->volume_error);
    result->hints.push_back(
        fmt::format("It is a wall of about {:.3g} m, filled with wedges (--fill auto).", wall->thickness));
    return result;
  } catch (const base::Stopped&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // a wedge is folded over
  }
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
                                                         const FillDesc& fill, const ModalAnalysisDesc& desc,
                                                         bool must_converge)
{
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || desc.materials.size() != 1)
    return std::nullopt;
  (void)mesh::require_closed(surface, desc.name, "ring");
  return analyse_blocks(surface, fill, desc, must_converge);
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
          "Tetrahedra that keep each triangle of '{}' ({} of them) would be too many: it has very "
          "many, or long narrow ones on curved parts. Use --fill cut, --quality fine or a spacing.",
          desc.name, surface.triangles.size()));
    return result;
  }
  if (fill.method != FillMethod::automatic || fill.spacing > 0 || desc.materials.size() != 1)
    return std::nullopt;
  try {
    if (auto kept = analyse_delaunay(surface, fill, desc)) return kept;
  } catch (const tets::SurfaceNotKept&) {
  }
  // Cut cells of the first lattice suffice for compact solids, whatever their triangles.
  if (auto coarse = analyse_cut_coarsely(surface, fill, desc)) return coarse;
  try {
    return analyse_remeshed(surface, fill, desc);
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

// Tetrahedra by Netgen, whose facets on curved parts are its own.
ModalAnalysisResult analyse_netgen_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                           const ModalAnalysisDesc& desc)
{
  // A regular tetrahedron with edges e has the volume e^3/(6 sqrt 2); a wall one edge wide has about three of
  // them over each e^2.
  constexpr double kAreaShare = 3;
  constexpr double kMaxVolumeError = 1e-3;
  const double volume = mesh::require_closed(surface, desc.name, "ring").volume;
  const double count = level_of(fill.quality).max_cells / 2;
  const double edge = fill.spacing > 0 ? fill.spacing
                                       : std::max(std::cbrt(6 * std::numbers::sqrt2 * volume / count),
                                                  std::sqrt(kAreaShare * mesh::area(surface) / count));
  const mesh::TetrahedralMesh mesh =
      tets::tetrahedralise_with_netgen(surface, {.edge = edge, .stop = desc.progress.stop});
  ElementBody body = fitted_body(surface, mesh, edge, desc);
  ModalAnalysisResult result = analyse_elements(body, desc);
  const double difference = mesh::volume(mesh) / volume - 1;
  if (std::abs(difference) > kMaxVolumeError)
    result.model.warnings.push_back(fmt::format(
        "Netgen's tetrahedra hold {:+.2g} % of the volume of the surface more or less, which is not "
        "part of the stated errors. Use a smaller spacing, or --fill auto.",
        100 * difference));
  add_error_warning(desc, result.model);
  return result;
}

}  // namespace

double default_spacing(const mesh::TriangleMesh& surface, double volume, ElementKind element)
{
  return std::max(mesh::bounding_box(surface).sizes().maxCoeff() / tets::kDefaultCells,
                  tets::spacing_for(
                      volume, element == ElementKind::tet10 ? kDefaultQuadraticCount : kDefaultLinearCount));
}

namespace {

ModalAnalysisResult analyse_filled_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                           const ModalAnalysisDesc& desc)
{
  if (fill.thickness > 0) return analyse_sheet(surface, fill, desc);
  if (fill.grid) {
    (void)mesh::require_closed(surface, desc.name, "ring");
    return analyse_modes(tets::tetrahedralise_blocks(surface, *fill.grid), desc);
  }
  if (fill.method == FillMethod::stuffing || desc.element != ElementKind::tet10)
    return analyse_stuffed_surface(surface, fill, desc, distance::SignMethod::automatic);
  if (fill.method == FillMethod::netgen) return analyse_netgen_surface(surface, fill, desc);
  try {
    if (auto round = analyse_round_surface(surface, fill, desc)) return std::move(*round);
    if (auto blocks = analyse_block_surface(surface, fill, desc, true)) return std::move(*blocks);
    if (auto wall = analyse_wall_surface(surface, fill, desc)) return std::move(*wall);
    if (auto kept = analyse_kept_surface(surface, fill, desc)) return std::move(*kept);
    if (auto blocks = analyse_block_surface(surface, fill, desc, false)) return std::move(*blocks);
    return analyse_cut_surface(surface, fill, desc);
  } catch (const tets::CrossingSurface&) {
    ModalAnalysisResult result =
        analyse_stuffed_surface(surface, fill, desc, distance::SignMethod::winding_number);
    result.model.warnings.emplace_back(
        "The surface crosses itself, so it was filled with fitted tetrahedra, which cut off sharp edges: "
        "frequencies may be off by several percent more than stated. Where parts cross each other, 'thrum "
        "mesh "
        "repair --unite' makes one surface of them; where a part crosses itself, it has to be mended first.");
    return result;
  }
}

}  // namespace

ModalAnalysisResult analyse_surface_modes(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                          const ModalAnalysisDesc& desc)
{
  if (surface.triangles.empty())
    throw Error(fmt::format("'{}' has no triangles: the mesh is empty.", desc.name));
  // Elements larger than the body are so ill-conditioned that modes come out at any pitch.
  const double size = mesh::bounding_box(surface).sizes().maxCoeff();
  if (fill.spacing > size) {
    throw Error(fmt::format(
        "The spacing is {:.3g} m, but '{}' is only {:.3g} m large; use a fraction of that, or leave "
        "it out.",
        fill.spacing, desc.name, size));
  }
  ModalAnalysisResult result = analyse_filled_surface(surface, fill, desc);
  cover_changed_order(result.model);
  return result;
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
