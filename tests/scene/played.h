// SPDX-License-Identifier: MIT
// A scene file that is built and stepped, and how far its bodies moved.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/source_dir.h"
#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {

struct Played {
  BuiltScene built;
  std::vector<Pose> start;
  double step = 0;
  double time = 0;

  Played(const char* name, const std::vector<std::string>& settings)
      : Played(read_scene(support::source_dir() / "scenes" / name, {.settings = settings}))
  {
  }
  explicit Played(const SceneDesc& scene) : built(build_world(scene)), step(scene.step)
  {
    for (const model::BodyState& body : built.world.state().bodies) start.push_back(body.X_wb);
  }
  void play(double seconds)
  {
    const int steps = static_cast<int>(std::lround(seconds / step));
    for (int i = 0; i < steps; ++i) {
      built.step(time, step);
      time += step;
    }
  }
  [[nodiscard]] Vec3 moved(std::size_t i) const
  {
    return built.world.state().bodies[i].X_wb.position - start[i].position;
  }
  [[nodiscard]] double drift() const
  {
    double most = 0;
    for (std::size_t i = 0; i < start.size(); ++i) most = std::max(most, moved(i).norm());
    return most;
  }
  [[nodiscard]] std::size_t find(const std::string& name) const
  {
    const auto look = std::find_if(built.visuals.begin(), built.visuals.end(),
                                   [&](const BodyVisual& body) { return body.name == name; });
    return static_cast<std::size_t>(look - built.visuals.begin());
  }
};

}  // namespace thrum::scene
