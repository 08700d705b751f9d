// SPDX-License-Identifier: MIT
#include "thrum/geometry/mesh_stuffing.h"

namespace thrum::geometry {

DistanceFunction distance_to(const MeshDistance& mesh)
{
  return [&mesh](std::span<const Vec3> points, std::span<double> distances) {
    Index hint = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const SignedPoint answer = mesh.signed_distance(points[i], hint);
      distances[i] = answer.distance;
      hint = answer.surface.triangle;
    }
  };
}

MeshStuffingResult tetrahedralise(const MeshDistance& mesh, const MeshStuffingDesc& desc)
{
  MeshStuffingResult result;
  const Box3& bounds = mesh.bvh().bounds();
  result.spacing = desc.spacing == 0 ? bounds.sizes().maxCoeff() / kDefaultCells : desc.spacing;
  result.stuffing = stuff_isosurface({.distance = distance_to(mesh),
                                      .bounds = bounds,
                                      .spacing = result.spacing,
                                      .grading = desc.grading,
                                      .smallest_piece = desc.smallest_piece});
  if (desc.report) result.resolution = check_resolution(mesh.bvh(), result.stuffing.mesh, result.spacing);
  return result;
}

}  // namespace thrum::geometry
