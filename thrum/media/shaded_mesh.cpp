// SPDX-License-Identifier: MIT
#include "thrum/media/shaded_mesh.h"

#include <cmath>
#include <map>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"

namespace thrum::media {

std::vector<std::array<Vec3, 3>> corner_normals(const mesh::TriangleMesh& mesh, double crease_angle)
{
  const double min_cosine = std::cos(crease_angle);
  std::vector<Vec3> areas(mesh.triangles.size());
  std::vector<double> sizes(mesh.triangles.size());
  std::vector<std::vector<std::uint32_t>> around(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    areas[t] = mesh::area_vector(mesh, t);
    sizes[t] = areas[t].norm();
    for (const Index v : mesh.triangles[t]) around[at(v)].push_back(static_cast<std::uint32_t>(t));
  }
  std::vector<std::array<Vec3, 3>> normals(mesh.triangles.size());
  base::parallel_for(mesh.triangles.size(), [&](std::size_t t) {
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3 sum = Vec3::Zero();
      for (const std::uint32_t other : around[at(mesh.triangles[t][k])]) {
        if (sizes[other] > 0 && areas[t].dot(areas[other]) >= min_cosine * sizes[t] * sizes[other])
          sum += areas[other];
      }
      normals[t][k] = (sum.squaredNorm() > 0 ? sum : areas[t]).normalized();
    }
  });
  return normals;
}

ShadedMesh shade_mesh(const mesh::TriangleMesh& mesh, double crease_angle)
{
  const std::vector<std::array<Vec3, 3>> normals = corner_normals(mesh, crease_angle);
  ShadedMesh shaded;
  std::map<std::pair<Index, std::array<float, 3>>, std::uint32_t> known;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!(mesh::area_vector(mesh, t).norm() > 0)) continue;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index v = mesh.triangles[t][k];
      const Vec3& unit = normals[t][k];
      const std::array<float, 3> n = {static_cast<float>(unit[0]), static_cast<float>(unit[1]),
                                      static_cast<float>(unit[2])};
      const auto [place, fresh] = known.try_emplace({v, n}, static_cast<std::uint32_t>(known.size()));
      if (fresh) {
        const Vec3& p = mesh.vertices[at(v)];
        for (int i = 0; i < 3; ++i) shaded.positions.push_back(static_cast<float>(p[i]));
        shaded.normals.insert(shaded.normals.end(), n.begin(), n.end());
      }
      shaded.corners.push_back(place->second);
    }
  }
  return shaded;
}

}  // namespace thrum::media
