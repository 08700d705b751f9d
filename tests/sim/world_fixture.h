// SPDX-License-Identifier: MIT
// Small helpers for tests that build worlds.
#pragma once

#include "thrum/sim/world.h"

namespace thrum::sim::testing {

inline constexpr double kStep = 1.0 / 60;  ///< [s]

inline model::BodyId add_plane(World& world, const Quat& rotation = Quat::Identity())
{
  BodyDesc spec;
  spec.shape = world.add_shape({model::Plane{}});
  spec.motion = model::Motion::fixed;
  spec.X_ws.rotation = rotation;
  return world.add_body(spec);
}

inline model::BodyId add(World& world, const model::Shape& shape, const Vec3& position, double mass = 1,
                         const Quat& rotation = Quat::Identity())
{
  BodyDesc spec;
  spec.shape = world.add_shape(shape);
  spec.X_ws = {position, rotation};
  spec.mass = mass;
  return world.add_body(spec);
}

inline model::BodyId add_box(World& world, const Vec3& half, const Vec3& position, double mass = 1,
                             const Quat& rotation = Quat::Identity())
{
  return add(world, {model::Box{half}}, position, mass, rotation);
}

/// The four in turn.
inline model::Shape one_of_four(int i, const model::Box& box, const model::Sphere& ball,
                                const model::Capsule& capsule, const model::Cylinder& cylinder)
{
  switch (i % 4) {
    case 1:
      return {ball};
    case 2:
      return {capsule};
    case 3:
      return {cylinder};
    default:
      return {box};
  }
}

inline WorldDesc desc_without_sleep()
{
  WorldDesc desc;
  desc.sleep.enabled = false;
  return desc;
}

inline void run(World& world, double seconds, double h = kStep)
{
  const int steps = static_cast<int>(std::lround(seconds / h));
  for (int i = 0; i < steps; ++i) world.step(h);
}

}  // namespace thrum::sim::testing
