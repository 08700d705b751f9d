// SPDX-License-Identifier: MIT
#include "benchmarks/rigid/ring_world.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace thrum::bench {

double max_penetration(const sim::World& world)
{
  double max_depth = 0;
  for (const model::ContactPatch& patch : world.state().patches) {
    for (const model::ContactPoint& point : patch.active()) max_depth = std::max(max_depth, point.depth);
  }
  return max_depth;
}

RingWorld make_ring_world(const RingScene& scene, const sim::WorldDesc& desc)
{
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface,
                    {0, scene.friction, scene.rolling_friction, scene.rolling_friction});
  const auto add_fixed = [&](model::ShapeId shape, const Pose& pose) {
    sim::BodyDesc body;
    body.shape = shape;
    body.X_ws = pose;
    body.motion = model::Motion::fixed;
    world.add_body(body);
  };
  add_fixed(world.add_shape({model::Plane{}}), Pose{});
  if (scene.half_width > 0) {
    const double w = scene.half_width;
    const model::ShapeId wall = world.add_shape({model::Box{{0.5, w + 1, 30}}});
    for (int k = 0; k < 4; ++k) {
      const Quat turned(Eigen::AngleAxisd(k * std::acos(0.0), Vec3::UnitZ()));
      add_fixed(wall, {turned * Vec3(w + 0.5, 0, 30), turned});
    }
  }
  for (const PoleBody& pole : scene.poles) {
    add_fixed(world.add_shape({model::Cylinder{pole.radius, pole.half_length}}),
              {pole.position, Quat::Identity()});
  }
  const model::ShapeId ring =
      world.add_shape({model::Mesh{std::make_shared<mesh::TriangleMesh>(ring_mesh()), nullptr}});
  const std::size_t first = world.state().bodies.size();
  for (const Pose& pose : scene.rings) {
    sim::BodyDesc body;
    body.shape = ring;
    body.X_ws = pose;
    body.mass = kRingMass;
    world.add_body(body);
  }
  return {std::move(world), first};
}

sim::WorldDesc ring_world_desc()
{
  sim::WorldDesc desc;
  desc.reports = {false, false, false};  // not needed here
  desc.threads = 1;                      // as Bullet, and the CPU time of the others would not count
  desc.sleep.enabled = false;
  return desc;
}

}  // namespace thrum::bench
