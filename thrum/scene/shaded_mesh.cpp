// SPDX-License-Identifier: MIT
#include "thrum/scene/shaded_mesh.h"

#include <array>
#include <cmath>
#include <map>

namespace thrum::scene {

ShadedMesh shade_mesh(const geometry::TriangleMesh& mesh, double crease_angle)
{
  const double least_cosine = std::cos(crease_angle);
  std::vector<Vec3> areas(mesh.triangles.size());
  std::vector<std::vector<std::uint32_t>> around(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    areas[t] = geometry::area_vector(mesh, t);
    for (const Index v : mesh.triangles[t])
      around[static_cast<std::size_t>(v)].push_back(static_cast<std::uint32_t>(t));
  }
  ShadedMesh shaded;
  std::map<std::pair<Index, std::array<float, 3>>, std::uint32_t> known;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!(areas[t].norm() > 0)) continue;
    for (const Index v : mesh.triangles[t]) {
      // The mean of the faces around that are turned little against this one, by their areas.
      Vec3 normal = Vec3::Zero();
      for (const std::uint32_t other : around[static_cast<std::size_t>(v)]) {
        const double both = areas[t].norm() * areas[other].norm();
        if (both > 0 && areas[t].dot(areas[other]) >= least_cosine * both) normal += areas[other];
      }
      const Vec3 unit = (normal.norm() > 0 ? normal : areas[t]).normalized();
      const std::array<float, 3> n = {static_cast<float>(unit[0]), static_cast<float>(unit[1]),
                                      static_cast<float>(unit[2])};
      const auto [place, fresh] = known.try_emplace({v, n}, static_cast<std::uint32_t>(known.size()));
      if (fresh) {
        const Vec3& p = mesh.vertices[static_cast<std::size_t>(v)];
        for (int k = 0; k < 3; ++k) shaded.positions.push_back(static_cast<float>(p[k]));
        shaded.normals.insert(shaded.normals.end(), n.begin(), n.end());
      }
      shaded.corners.push_back(place->second);
    }
  }
  return shaded;
}

}  // namespace thrum::scene
