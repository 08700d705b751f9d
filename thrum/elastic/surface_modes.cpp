// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/progress.h"
#include "thrum/elastic/cut_body.h"
#include "thrum/elastic/modal_cache.h"
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

// Of the first lattice of cut cells, which takes about half a second.
constexpr double kFirstCells = 3e3;
// A lattice is at most this much finer than the one before, and not less than 1 / kSmallStep.
constexpr double kMaxRefinement = 0.45;
constexpr double kSmallStep = 1.15;

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

// The first lattice is coarse; its errors say how much finer the next must be, until they are small enough
// or the number of cells reaches its limit.
ModalAnalysisResult analyse_cut_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                        const ModalAnalysisDesc& desc)
{
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
  for (;;) {
    ElementBody body = cut_body(distance, spacing, run);
    ModalAnalysisResult result = analyse_elements(body, run);
    const double error = worst_error(result.model);
    if (fill.spacing > 0 || !result.ok() || error <= level.max_error || spacing <= kSmallStep * finest) {
      add_error_warning(desc, result.model);
      return result;
    }
    // The error falls with about this power of the spacing.
    constexpr double kOrder = 2.5;
    constexpr double kAimBelow = 0.7;  // of the limit
    const double factor = std::pow(kAimBelow * level.max_error / error, 1 / kOrder);
    spacing = std::max(finest, spacing * std::clamp(factor, kMaxRefinement, 1 / kSmallStep));
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
  if (fill.grid) {
    (void)mesh::require_closed(surface, desc.name, "ring");
    return analyse_modes(tets::tetrahedralise_blocks(surface, *fill.grid), desc);
  }
  if (fill.method == FillMethod::stuffing || desc.element != ElementKind::tet10)
    return analyse_stuffed_surface(surface, fill, desc, distance::SignMethod::automatic);
  try {
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
      .add(fill.quality);
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
  desc.estimate_errors = false;
  for (const std::string& clamp : clamps) desc.supports.push_back({parse_selection(clamp)});
  ModalAnalysisResult result = analyse_surface_modes_cached(surface, fill, desc);
  if (!result.ok()) throw Error(describe_failure(result));
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

}  // namespace thrum::elastic
