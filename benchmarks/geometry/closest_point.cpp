// SPDX-License-Identifier: MIT
// Closest point queries of the hierarchy, compared with a search of all triangles.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "benchmarks/geometry/bench_meshes.h"
#include "benchmarks/harness.h"
#include "thrum/mesh/bvh.h"

namespace thrum::bench {
namespace {

using mesh::Bvh;

// "Near the surface" is up to a hundredth of the mesh size, about a cell of a 128^3 field.
constexpr double kNear = 0.01;

void linear_search(const mesh::TriangleMesh& mesh, const Vec3& p)
{
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    best = std::min(
        best, mesh::closest_point_on_triangle(p, mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2))
                  .squared_distance);
  }
  do_not_optimize(best);
}

}  // namespace

THRUM_BENCHMARK(geometry, closest_point)
{
  for (const int triangles : {1000, 15000, 200000}) {
    const mesh::TriangleMesh mesh = wavy_torus(triangles);
    const Bvh bvh(mesh);
    const std::vector<Vec3> points = points_near_surface(mesh, 20000, kNear);
    const double measured = min_cpu_seconds([&] {
      for (const Vec3& p : points) do_not_optimize(bvh.closest_point(p).distance);
    });
    const std::size_t few = 1 + 3000000 / mesh.triangles.size() / 10;
    const double naive = min_cpu_seconds(
        [&] {
          for (std::size_t i = 0; i < few; ++i) linear_search(mesh, points[i]);
        },
        3);
    Row row{.name = fmt::format("closest point near the surface, {}k triangles", triangles / 1000),
            .figure = measured / static_cast<double>(points.size()) * 1e6,
            .unit = "us",
            .target = triangles > 15000 ? 2.5 : 1.0,
            .baseline = "linear search",
            .baseline_value = naive / static_cast<double>(few) * 1e6};
    if (triangles == 15000) row.target_ratio = 50;
    report.row(row);
  }
}

THRUM_BENCHMARK(geometry, closest_point_warm)
{
  const mesh::TriangleMesh mesh = wavy_torus(15000);
  const Bvh bvh(mesh);
  const std::vector<Vec3> points = points_near_surface(mesh, 5000, kNear);
  std::vector<Index> hints;
  for (const Vec3& p : points) hints.push_back(bvh.closest_point(p + Vec3::Constant(0.002)).triangle);
  const double cold = min_cpu_seconds([&] {
    for (const Vec3& p : points) do_not_optimize(bvh.closest_point(p).distance);
  });
  const double warm = min_cpu_seconds([&] {
    for (std::size_t i = 0; i < points.size(); ++i) {
      do_not_optimize(
          bvh.closest_point(points[i], std::numeric_limits<double>::infinity(), hints[i]).distance);
    }
  });
  report.row({.name = "closest point with the last step's triangle, 15k",
              .figure = warm / static_cast<double>(points.size()) * 1e6,
              .unit = "us",
              .baseline = "without the hint",
              .baseline_value = cold / static_cast<double>(points.size()) * 1e6});
}

THRUM_BENCHMARK(geometry, ray)
{
  const mesh::TriangleMesh mesh = wavy_torus(15000);
  const Bvh bvh(mesh);
  const std::vector<Vec3> points = points_near_surface(mesh, 5000, kNear);
  const double measured = min_cpu_seconds([&] {
    for (const Vec3& p : points) do_not_optimize(bvh.first_hit({Vec3(0.1, 0.2, 2), p - Vec3(0.1, 0.2, 2)}).t);
  });
  report.row({.name = "first hit of a ray, 15k triangles",
              .figure = measured / static_cast<double>(points.size()) * 1e6,
              .unit = "us"});
}

THRUM_BENCHMARK(geometry, bvh_build)
{
  for (const int triangles : {15000, 200000}) {
    const mesh::TriangleMesh mesh = wavy_torus(triangles);
    Bvh bvh(mesh);
    const double build = min_cpu_seconds([&] { do_not_optimize(Bvh(mesh).bounds()); }, 3);
    const double refit = min_cpu_seconds([&] { bvh.refit(mesh.vertices); }, 3);
    report.row({.name = fmt::format("refit, {}k triangles", triangles / 1000),
                .figure = refit * 1e3,
                .unit = "ms",
                .baseline = "rebuild",
                .baseline_value = build * 1e3});
  }
}

}  // namespace thrum::bench
