// SPDX-License-Identifier: MIT
#include "thrum/sound/radiating_surface.h"

#include <algorithm>
#include <array>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

/// Weights of the corners. The points beside the centroid lie towards another corner from triangle to
/// triangle.
Vec3 barycentric(PointPlace place, std::size_t triangle)
{
  if (place == PointPlace::centroid) return Vec3::Constant(1.0 / 3);
  Vec3 weights = Vec3::Constant(1.0 / 6);
  weights[static_cast<Eigen::Index>(triangle % 3)] = 2.0 / 3;
  return weights;
}

/// Triangles and the area that each of them stands for.
std::vector<std::pair<std::size_t, double>> chosen_triangles(const mesh::TriangleMesh& surface, Index count)
{
  std::vector<std::pair<std::size_t, double>> chosen;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const double area = 0.5 * mesh::area_vector(surface, t).norm();
    if (area > 0) chosen.emplace_back(t, area);
  }
  if (count_of(chosen) <= count) return chosen;
  // Equal steps along the sum of the areas.
  double total = 0;
  for (const auto& [t, area] : chosen) total += area;
  const double step = total / count;
  std::vector<std::pair<std::size_t, double>> some;
  double sum = 0;
  double next = 0.5 * step;
  for (const auto& [t, area] : chosen) {
    sum += area;
    double share = 0;
    for (; next < sum; next += step) share += step;
    if (share > 0) some.emplace_back(t, share);
  }
  return some;
}

}  // namespace

SurfacePoints sample_surface(const model::ModalModel& model, Index count, PointPlace place)
{
  const mesh::TriangleMesh& surface = model.surface;
  const auto triangles = chosen_triangles(surface, count);
  SurfacePoints result;
  result.velocities.resize(static_cast<Eigen::Index>(triangles.size()), model.mode_count());
  for (const auto& [t, area] : triangles) {
    const Vec3 weights = barycentric(place, t);
    const Vec3 normal = mesh::area_vector(surface, t).normalized();
    Vec3 point = Vec3::Zero();
    Eigen::RowVectorXd velocity = Eigen::RowVectorXd::Zero(model.mode_count());
    for (int k = 0; k < 3; ++k) {
      point += weights[k] * surface.corner(t, k);
      const Eigen::Index row = 3 * Eigen::Index{surface.triangles[t][at(k)]};
      velocity += weights[k] * (normal.transpose() * model.shapes.middleRows<3>(row));
    }
    result.velocities.row(static_cast<Eigen::Index>(result.points.size())) = velocity;
    result.points.push_back(point);
    result.normals.push_back(normal);
    result.areas.push_back(area);
  }
  return result;
}

}  // namespace thrum::sound
