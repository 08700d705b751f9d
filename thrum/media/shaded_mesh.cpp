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
        shaded.sources.push_back(static_cast<std::uint32_t>(v));
        shaded.triangles.push_back(static_cast<std::uint32_t>(t));
      }
      shaded.corners.push_back(place->second);
    }
  }
  return shaded;
}

// The normal of a vertex is the direction of the sum A of the area vectors of its faces, as in
// corner_normals(). With edges e1, e2 of a face that change by a d1, a d2,
//
//     A(a) = sum_f (e1 + a d1) x (e2 + a d2),    A'(0) = sum_f d1 x e2 + e1 x d2,    dn = A'(0) / |A(0)|.
MorphTarget morph_target(const mesh::TriangleMesh& mesh, const ShadedMesh& shaded,
                         std::span<const float> displacements, double crease_angle)
{
  constexpr double kMaxTurn = 1e12;  // [1/m]
  const double min_cosine = std::cos(crease_angle);
  const auto moved = [&](Index v) -> Vec3 {
    return {displacements[3 * at(v)], displacements[3 * at(v) + 1], displacements[3 * at(v) + 2]};
  };
  std::vector<Vec3> areas, changes;
  std::vector<std::vector<std::uint32_t>> around(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [i, j, k] = mesh.triangles[t];
    const Vec3 e1 = at(mesh.vertices, j) - at(mesh.vertices, i);
    const Vec3 e2 = at(mesh.vertices, k) - at(mesh.vertices, i);
    areas.push_back(mesh::area_vector(mesh, t));
    changes.push_back((moved(j) - moved(i)).cross(e2) + e1.cross(moved(k) - moved(i)));
    for (const Index v : mesh.triangles[t]) around[at(v)].push_back(static_cast<std::uint32_t>(t));
  }
  MorphTarget target;
  for (std::size_t i = 0; i < shaded.sources.size(); ++i) {
    const std::size_t v = shaded.sources[i];
    const Vec3& own = areas[shaded.triangles[i]];
    Vec3 area = Vec3::Zero();
    Vec3 change = Vec3::Zero();
    for (const std::uint32_t other : around[v]) {
      if (!(own.dot(areas[other]) >= min_cosine * own.norm() * areas[other].norm())) continue;
      area += areas[other];
      change += changes[other];
    }
    const double size = area.norm();
    // Without a usable area the normal stays.
    const Vec3 dn = change.norm() < kMaxTurn * size ? Vec3(change / size) : Vec3(Vec3::Zero());
    for (int k = 0; k < 3; ++k) {
      target.positions.push_back(displacements[3 * v + at(k)]);
      target.normals.push_back(static_cast<float>(dn[k]));
    }
  }
  return target;
}

}  // namespace thrum::media
