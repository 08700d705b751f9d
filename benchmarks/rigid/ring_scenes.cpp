// SPDX-License-Identifier: MIT
#include "benchmarks/rigid/ring_scenes.h"

#include <fmt/format.h>

#include <random>

#include "tests/sim/linked_circles.h"
#include "thrum/shapes/shapes.h"

namespace thrum::bench {

namespace {

// Layers of side x side rings, turned any way, so far apart that none can touch another.
void add_layers(RingScene& scene, int count, int side, double bottom, unsigned seed = 1)
{
  std::mt19937 random(seed);
  const auto uniform = [&] {
    return 2.0 * static_cast<double>(random()) / 4294967295.0 - 1.0;
  };
  constexpr double kPitch = 2 * (kMajorRadius + kMinorRadius) + 0.08;
  for (int i = 0; i < count; ++i) {
    const int layer = i / (side * side);
    const int row = i / side % side;
    const int column = i % side;
    const Vec3 position((column - 0.5 * (side - 1)) * kPitch, (row - 0.5 * (side - 1)) * kPitch,
                        bottom + kPitch * layer);
    // Directions in a cube that lie in the ball are evenly spread.
    Vec4 q;
    do {
      q = Vec4(uniform(), uniform(), uniform(), uniform());
    } while (q.squaredNorm() > 1 || q.squaredNorm() < 0.01);
    q.normalize();
    scene.rings.push_back({position, Quat(q[0], q[1], q[2], q[3])});
  }
}

std::string seed_name(unsigned seed)
{
  return seed == 1 ? "" : fmt::format(", seed {}", seed);
}

}  // namespace

mesh::TriangleMesh ring_mesh()
{
  shapes::TorusDesc desc;
  desc.major_radius = kMajorRadius;
  desc.minor_radius = kMinorRadius;
  desc.major_segments = 25;
  desc.minor_segments = 10;
  return shapes::generate(desc);
}

RingScene rings_in_box(int count, unsigned seed)
{
  RingScene scene;
  scene.name = fmt::format("rings {} in a box", count) + seed_name(seed);
  scene.half_width = 5;
  add_layers(scene, count, 7, 0.75, seed);
  return scene;
}

RingScene rings_in_narrow_box(int count)
{
  RingScene scene;
  scene.name = fmt::format("rings {} in a narrow box", count);
  scene.half_width = 2.3;
  add_layers(scene, count, 3, 0.75);
  return scene;
}

RingScene rings_on_poles(int count, unsigned seed)
{
  RingScene scene;
  scene.name = fmt::format("rings {} on poles", count) + seed_name(seed);
  scene.half_width = 5;
  for (int i = 0; i < 25; ++i) {
    scene.poles.push_back({{2.0 * (i % 5 - 2), 2.0 * (i / 5 - 2), 2.0}, 0.1, 2.0});
  }
  add_layers(scene, count, 7, 4.8, seed);
  return scene;
}

int linked_pairs(const std::vector<Pose>& rings)
{
  int count = 0;
  for (std::size_t i = 0; i < rings.size(); ++i) {
    for (std::size_t j = i + 1; j < rings.size(); ++j)
      count += test::are_linked(rings[i], rings[j], kMajorRadius) ? 1 : 0;
  }
  return count;
}

}  // namespace thrum::bench
