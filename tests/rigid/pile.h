// SPDX-License-Identifier: MIT
// Bodies that touch, without shapes: body 0 is the ground.
#pragma once

#include <algorithm>

#include "thrum/model/scene.h"

namespace thrum::rigid::testing {

inline constexpr double kStep = 1.0 / 60;  ///< [s]

struct Pile {
  model::SceneModel model;
  model::SceneState state;

  explicit Pile(std::size_t bodies)
  {
    model.bodies.resize(bodies + 1);
    model.bodies[0].motion = model::Motion::fixed;
    state.bodies.resize(model.bodies.size());
  }
  void touch(model::BodyIndex a, model::BodyIndex b, const Vec3& normal = Vec3::UnitZ(), double depth = 0)
  {
    model::ContactPatch patch;
    patch.a = a;
    patch.b = b;
    patch.normal = normal;
    patch.count = 1;
    patch.points[0].depth = patch.points[0].reference_depth = depth;
    state.patches.push_back(patch);
  }
  void rests_on(model::BodyIndex body, model::BodyIndex support)
  {
    const double up = body > support ? 1 : -1;
    touch(std::min(body, support), std::max(body, support), {0, 0, up});
  }
};

}  // namespace thrum::rigid::testing
