// SPDX-License-Identifier: MIT
// Tetrahedra by isosurface stuffing: the time for 100,000, and whether it is proportional to their number.
#include <cmath>

#include "benchmarks/geometry/bench_meshes.h"
#include "benchmarks/harness.h"
#include "thrum/tets/isosurface_stuffing.h"
#include "thrum/tets/mesh_stuffing.h"

namespace thrum::bench {

namespace {

// A torus whose tube is `cells` spacings thick.
tets::StuffingDesc torus(double cells)
{
  constexpr double kMajor = 0.5, kMinor = 0.2;
  return {.distance = distance::pointwise(
              [](const Vec3& p) { return std::hypot(std::hypot(p.x(), p.y()) - kMajor, p.z()) - kMinor; }),
          .bounds = Box3(Vec3(-kMajor - kMinor, -kMajor - kMinor, -kMinor),
                         Vec3(kMajor + kMinor, kMajor + kMinor, kMinor)),
          .spacing = 2 * kMinor / cells};
}

}  // namespace

THRUM_BENCHMARK(geometry, stuffing)
{
  struct Run {
    double seconds = 0;
    double tetrahedra = 0;
  };
  const auto run = [](double cells, int repeats) {
    Run r;
    r.seconds = min_cpu_seconds(
        [&] {
          const auto result = tets::stuff_isosurface(torus(cells));
          r.tetrahedra = static_cast<double>(result.mesh.tetrahedra.size());
        },
        repeats);
    return r;
  };
  const Run small = run(16, 5);
  const Run large = run(40, 2);
  report.row({.name = "stuffing, per 100,000 tetrahedra",
              .figure = small.seconds * 1e5 / small.tetrahedra,
              .unit = "s",
              .target = 2.0,
              .baseline = {},
              .target_ratio = {}});
  report.row({.name = "stuffing, time per tetrahedron at 15 times the number",
              .figure = large.seconds / large.tetrahedra / (small.seconds / small.tetrahedra),
              .unit = "x",
              .target = 1.5,
              .baseline = {},
              .target_ratio = {}});

  // From triangles, with the exact distance to them: 10,000 triangles, the hierarchy included, without the
  // report.
  Run mesh;
  const mesh::TriangleMesh triangles = wavy_torus(10'000);
  mesh.seconds = min_cpu_seconds(
      [&] {
        const auto result =
            tets::tetrahedralise(distance::MeshDistance(triangles), {.spacing = 0.025, .report = false});
        mesh.tetrahedra = static_cast<double>(result.stuffing.mesh.tetrahedra.size());
      },
      3);
  report.row({.name = "stuffing a mesh of 10k triangles, per 100,000 tetrahedra",
              .figure = mesh.seconds * 1e5 / mesh.tetrahedra,
              .unit = "s",
              .target = 2.0,
              .baseline = {},
              .target_ratio = {}});
}

}  // namespace thrum::bench
