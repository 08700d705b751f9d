// SPDX-License-Identifier: MIT
#include "thrum/tets/mesh_stuffing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"

namespace thrum::tets {

namespace {

// A lattice of spacing s has about this many tetrahedra in each of volume / s^3 cubes.
constexpr double kTetrahedraPerCube = 12;

// Rejects the spacing before any memory is allocated. Open meshes have no volume to check.
void require_fillable(const mesh::TriangleMesh& mesh, double spacing)
{
  const double volume = signed_volume(mesh);
  const double count = kTetrahedraPerCube * volume / (spacing * spacing * spacing);
  if (count > kMaxTetrahedra) {
    throw Error(
        fmt::format("A spacing of {:.3g} m would fill this body with about {:.2g} tetrahedra; the maximum is "
                    "{:.2g}. Use a spacing of at least {:.3g} m.",
                    spacing, count, kMaxTetrahedra, spacing_for(volume, kMaxTetrahedra)));
  }
}

}  // namespace

distance::DistanceFunction distance_to(const distance::MeshDistance& mesh)
{
  return [&mesh](std::span<const Vec3> points, std::span<double> distances) {
    Index hint = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const distance::SignedPoint answer = mesh.signed_distance(points[i], hint);
      distances[i] = answer.distance;
      hint = answer.surface.triangle;
    }
  };
}

MeshStuffingResult tetrahedralise(const distance::MeshDistance& mesh, const MeshStuffingDesc& desc)
{
  MeshStuffingResult result;
  const Box3& bounds = mesh.bvh().bounds();
  result.spacing = desc.spacing == 0 ? bounds.sizes().maxCoeff() / kDefaultCells : desc.spacing;
  require_fillable(mesh.bvh().mesh(), result.spacing);
  result.stuffing = stuff_isosurface({.distance = distance_to(mesh),
                                      .bounds = bounds,
                                      .spacing = result.spacing,
                                      .grading = desc.grading,
                                      .min_piece_cells = desc.min_piece_cells});
  if (desc.report) result.resolution = check_resolution(mesh.bvh(), result.stuffing.mesh, result.spacing);
  return result;
}

double spacing_for(double volume, double tetrahedra)
{
  return std::cbrt(kTetrahedraPerCube * volume / tetrahedra);
}

MeshStuffingResult tetrahedralise_walls(const distance::MeshDistance& mesh, const MeshStuffingDesc& desc,
                                        double max_tetrahedra)
{
  THRUM_ASSERT(desc.report);
  MeshStuffingResult first = tetrahedralise(mesh, desc);
  if (first.resolution.resolved()) return first;
  MeshStuffingDesc finer = desc;
  finer.spacing = std::max(first.resolution.spacing_for_most_area,
                           spacing_for(signed_volume(mesh.bvh().mesh()), max_tetrahedra));
  return finer.spacing < first.spacing ? tetrahedralise(mesh, finer) : first;
}

}  // namespace thrum::tets
