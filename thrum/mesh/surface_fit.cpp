// SPDX-License-Identifier: MIT
#include "thrum/mesh/surface_fit.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"

namespace thrum::mesh {

namespace {

constexpr int kRounds = 5;
// Triangles around a vertex whose normals differ by less are flat [rad].
constexpr double kFlat = 1e-3;

struct Corner {
  double area = 0;             // of the triangles around it [m^2]
  Vec3 normal = Vec3::Zero();  // times twice the area
  double volume = 0;           // between them and the surface, outside positive [m^3]
};

// The volume between a triangle and the surface: the gap is quadratic over it, so that the mean over the
// middles of its edges is exact.
double gap_volume(const TriangleMesh& mesh, std::size_t t, const Bvh& surface)
{
  const Vec3 twice_area = area_vector(mesh, t);
  const double norm = twice_area.norm();
  if (!(norm > 0)) return 0;
  double gap = 0;
  for (int k = 0; k < 3; ++k) {
    const Vec3 p = 0.5 * (mesh.corner(t, k) + mesh.corner(t, (k + 1) % 3));
    gap += (p - surface.closest_point(p).point).dot(twice_area) / norm;
  }
  return gap / 3 * norm / 2;
}

std::vector<Corner> measure(const TriangleMesh& mesh, const std::vector<double>& gaps)
{
  std::vector<Corner> corners(mesh.vertices.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 twice_area = area_vector(mesh, t);
    for (const Index v : mesh.triangles[t]) {
      corners[at(v)].area += twice_area.norm() / 2;
      corners[at(v)].normal += twice_area;
      corners[at(v)].volume += gaps.empty() ? 0 : gaps[t];
    }
  }
  return corners;
}

std::vector<Index> curved_vertices(const TriangleMesh& mesh, const std::vector<Index>& movable)
{
  const std::vector<Corner> corners = measure(mesh, {});
  std::vector<std::uint8_t> is_curved(mesh.vertices.size(), 0);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 twice_area = area_vector(mesh, t);
    for (const Index v : mesh.triangles[t]) {
      const Vec3& normal = corners[at(v)].normal;
      if (twice_area.cross(normal).norm() > kFlat * twice_area.norm() * normal.norm()) is_curved[at(v)] = 1;
    }
  }
  std::vector<Index> curved;
  std::copy_if(movable.begin(), movable.end(), std::back_inserter(curved),
               [&](Index v) { return is_curved[at(v)] != 0; });
  return curved;
}

}  // namespace

void fit_to_surface(TriangleMesh& mesh, const std::vector<Index>& movable, const Bvh& surface)
{
  const std::vector<Index> curved = curved_vertices(mesh, movable);
  if (curved.empty()) return;
  // Each vertex moves by the mean gap of the triangles around it.
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> gaps(mesh.triangles.size());
    base::parallel_for(gaps.size(), [&](std::size_t t) { gaps[t] = gap_volume(mesh, t, surface); });
    const std::vector<Corner> corners = measure(mesh, gaps);
    for (const Index v : curved) {
      const Corner& c = corners[at(v)];
      if (c.normal.norm() > 0) mesh.vertices[at(v)] -= c.volume / c.area * c.normal.normalized();
    }
  }
  // What is left, mostly along sharp edges that are curved, is shared by all of them.
  const double volume = signed_volume(surface.mesh());
  for (int round = 0; round < 2; ++round) {
    const std::vector<Corner> corners = measure(mesh, {});
    double rate = 0;
    for (const Index v : curved) rate += corners[at(v)].normal.norm() / 6;
    const double offset = (volume - signed_volume(mesh)) / rate;
    for (const Index v : curved) mesh.vertices[at(v)] += offset * corners[at(v)].normal.normalized();
  }
}

}  // namespace thrum::mesh
