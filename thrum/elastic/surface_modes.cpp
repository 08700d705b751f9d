// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"
#include "thrum/base/progress.h"
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

struct FilledSurface {
  tets::MeshStuffingResult filling;
  double refined_from = 0;  // [m]; 0: the first lattice was fine enough
};

FilledSurface fill_surface(const mesh::TriangleMesh& surface, const FillDesc& fill,
                           const ModalAnalysisDesc& desc)
{
  const std::string& name = desc.name;
  const double volume = mesh::require_closed(surface, name, "ring").volume;
  const distance::MeshDistance distance(surface);
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
  const FilledSurface filled = fill_surface(surface, fill, desc);
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

base::Hash128 surface_modal_key(const mesh::TriangleMesh& surface, const FillDesc& fill,
                                const ModalAnalysisDesc& desc, const ModalVersions& versions)
{
  base::Hasher hasher;
  hasher.add(versions.fill);
  hasher.add(surface.vertices).add(surface.triangles).add(fill.spacing).add(fill.max_tetrahedra);
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
