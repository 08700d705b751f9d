// SPDX-License-Identifier: MIT
// Distance fields: building, sampling, and a comparison of the three stored forms.
#include <fmt/format.h>

#include "benchmarks/geometry/bench_meshes.h"
#include "benchmarks/harness.h"
#include "thrum/distance/octree_distance_field.h"
#include "thrum/distance/signed_distance_field.h"
#include "thrum/distance/uniform_distance_field.h"

namespace thrum::bench {
namespace {

using namespace distance;
using namespace mesh;

constexpr int kTriangles = 10000;
constexpr std::size_t kSamples = 200000;
constexpr double kNear = 0.01;  // about a cell of the field

template <DistanceField Field>
double samples_per_second(const Field& field, const std::vector<Vec3>& points)
{
  std::vector<FieldSample> samples(points.size());
  const double seconds = min_cpu_seconds(
      [&] {
        field.sample(points, samples);
        do_not_optimize(samples.front());
      },
      10);
  return static_cast<double>(points.size()) / seconds;
}

}  // namespace

THRUM_BENCHMARK(geometry, distance_field_build)
{
  const TriangleMesh mesh = wavy_torus(kTriangles);
  // Everything from the triangles on: hierarchy, normals, field.
  const double measured =
      min_cpu_seconds([&] { do_not_optimize(SignedDistanceField(MeshDistance(mesh)).memory_bytes()); }, 3);
  const MeshDistance exact(mesh);
  const GridFrame frame = SignedDistanceField(exact).frame();
  const double naive = min_cpu_seconds(
      [&] {
        for (int i = 0; i <= frame.cells[0]; ++i) {
          for (int j = 0; j <= frame.cells[1]; ++j) {
            for (int k = 0; k <= frame.cells[2]; ++k)
              do_not_optimize(exact.signed_distance(frame.node(i, j, k)).distance);
          }
        }
      },
      1);
  report.row({.name = "distance field, 10k triangles, 128 cells, narrow band",
              .figure = measured,
              .unit = "s",
              .target = 0.5,
              .baseline = "exact distance at every node of the grid (by the same hierarchy)",
              .baseline_value = naive});
}

THRUM_BENCHMARK(geometry, distance_field_sample)
{
  const TriangleMesh mesh = wavy_torus(kTriangles);
  const MeshDistance exact(mesh);
  const SignedDistanceField field(exact);
  const std::vector<Vec3> points = points_near_surface(mesh, kSamples, kNear);
  const double measured = samples_per_second(field, points);
  const double naive = min_cpu_seconds(
      [&] {
        for (const Vec3& p : points) {
          const SignedPoint s = exact.signed_distance(p);
          do_not_optimize(exact.surface_normal(p, s));
        }
      },
      2);
  report.row({.name = "value + gradient near the surface, random order",
              .figure = measured * 1e-6,
              .unit = "million/s",
              .target = 80,
              .better = Better::higher,
              .baseline = "closest point + pseudonormal",
              .baseline_value = static_cast<double>(kSamples) / naive * 1e-6});

  // The vertices of another body's mesh, in the order of that mesh, as in collision detection.
  std::vector<Vec3> vertices;
  const TriangleMesh other = wavy_torus(60000);
  for (const Vec3& v : other.vertices) vertices.push_back(1.005 * v);
  report.row({.name = "value + gradient near the surface, in mesh order",
              .figure = samples_per_second(field, vertices) * 1e-6,
              .unit = "million/s",
              .target = 80,
              .better = Better::higher});
}

THRUM_BENCHMARK(geometry, distance_field_forms)
{
  // Guendelman03 leaves uniform grid or octree to "speed or memory": both, compared with the blocks.
  const TriangleMesh mesh = wavy_torus(kTriangles);
  const MeshDistance exact(mesh);
  const std::vector<Vec3> points = points_near_surface(mesh, kSamples, kNear);
  const SignedDistanceField blocks(exact);
  const UniformDistanceField uniform(exact);
  const OctreeDistanceField octree(exact);
  const auto row = [&](const char* name, const auto& field) {
    report.row({.name = fmt::format("speed of the {} form", name),
                .figure = samples_per_second(field, points) * 1e-6,
                .unit = "million/s",
                .better = Better::higher});
    report.row({.name = fmt::format("memory of the {} form", name),
                .figure = static_cast<double>(field.memory_bytes()) * 1e-6,
                .unit = "MB",
                .baseline = "uniform grid",
                .baseline_value = static_cast<double>(uniform.memory_bytes()) * 1e-6});
  };
  row("blocked", blocks);
  row("uniform", uniform);
  row("octree", octree);
}

}  // namespace thrum::bench
