// SPDX-License-Identifier: MIT
#include "benchmarks/rigid/scenes.h"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace thrum::bench {

BoxScene pyramid()
{
  BoxScene scene{"pyramid 210", {}, 0.5, 10};
  for (int row = 0; row < 20; ++row) {
    for (int i = 0; i < 20 - row; ++i) {
      scene.boxes.push_back({Vec3::Constant(0.5), {1.1 * (i + 0.5 * row), 0, 0.5 + row}, 1});
    }
  }
  return scene;
}

BoxScene tower(int count)
{
  BoxScene scene{fmt::format("tower {}", count), {}, 0.5, 10};
  for (int i = 0; i < count; ++i) scene.boxes.push_back({Vec3::Constant(0.5), {0, 0, 0.5 + i}, 1});
  return scene;
}

BoxScene wall()
{
  // Rows of 40 bricks, and between them rows of 39 with half a brick at either end, so that no end hangs
  // over.
  BoxScene scene{"wall 1012", {}, 0.5, 5};
  constexpr double pitch = 0.41;
  for (int row = 0; row < 25; ++row) {
    const bool shifted = row % 2 == 1;
    const double z = 0.1 + 0.2 * row;
    for (int i = 0; i < (shifted ? 39 : 40); ++i) {
      scene.boxes.push_back({{0.2, 0.1, 0.1}, {pitch * (i + (shifted ? 0.5 : 0.0)), 0, z}, 16});
    }
    if (!shifted) continue;
    for (const double x : {-0.25 * pitch, 39.25 * pitch})
      scene.boxes.push_back({{0.0975, 0.1, 0.1}, {x, 0, z}, 8});
  }
  return scene;
}

BoxScene heavy_on_ten(double heavy)
{
  BoxScene scene = tower(10);
  scene.name = fmt::format("{:.0f} kg on ten of 1 kg", heavy);
  scene.boxes.push_back({Vec3::Constant(0.5), {0, 0, 10.5}, heavy});
  return scene;
}

BoxScene separate(int count)
{
  BoxScene scene{fmt::format("{} separate boxes", count), {}, 0.5, 1};
  const int side = static_cast<int>(std::ceil(std::sqrt(count)));
  for (int i = 0; i < count; ++i) {
    scene.boxes.push_back({Vec3::Constant(0.5), {2.0 * (i % side), 2.0 * (i / side), 0.5}, 1});
  }
  return scene;
}

BoxScene falling(int count)
{
  constexpr int kLayers = 10;
  constexpr double kPitch = 2;  // more than the diagonal of a box
  BoxScene scene{fmt::format("{} falling boxes", count), {}, 0.5, 3};
  std::mt19937 random(1);
  const auto uniform = [&] {
    return 2.0 * static_cast<double>(random()) / 4294967295.0 - 1.0;
  };
  const int side = static_cast<int>(std::ceil(std::sqrt(1.0 * count / kLayers)));
  for (int i = 0; i < count; ++i) {
    const int layer = i / (side * side);
    const Vec3 position(kPitch * (i % side), kPitch * (i / side % side), 1 + kPitch * layer);
    const Quat rotation(Eigen::AngleAxisd(3 * uniform(), Vec3(uniform(), uniform(), 1.5).normalized()));
    scene.boxes.push_back({Vec3::Constant(0.5), position, 1, rotation});
  }
  return scene;
}

}  // namespace thrum::bench
