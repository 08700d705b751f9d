// SPDX-License-Identifier: MIT
// Drops a box in a world of two bodies, listens to its impacts, and compares the first with free fall.
#include <fmt/format.h>

#include <cmath>

#include "thrum/sim/world.h"

int main()
{
  namespace sim = thrum::sim;
  namespace model = thrum::model;
  const double height = 1.0;  // of the lower face [m]
  sim::World world;
  world.set_surface(model::kDefaultSurface, {.restitution = 0.3, .friction = 0.5});
  sim::BodyDesc ground;
  ground.shape = world.add_shape({model::Plane{}});
  ground.motion = model::Motion::fixed;
  world.add_body(ground);
  sim::BodyDesc falling;
  falling.shape = world.add_shape({model::Box{{0.2, 0.2, 0.2}}});
  falling.X_ws.position = {0, 0, height + 0.2};
  falling.density = 700;
  const model::BodyId box = world.add_body(falling);
  double first = 0;
  for (int i = 0; i < 240; ++i) {
    world.step(1.0 / 240);
    for (const model::ContactEvent& event : world.events()) {
      if (event.kind != model::ContactEventKind::hit) continue;
      fmt::print("{:.3f} s: hits at {:.2f} m/s\n", event.time, event.speed);
      if (first == 0) first = event.speed;
    }
  }
  const double expected = std::sqrt(2 * 9.81 * height);
  fmt::print("free fall says {:.2f} m/s; it lies at {:.3f} m\n", expected, world.body(box).X_wb.position.z());
  return std::abs(first / expected - 1) < 0.05 ? 0 : 1;
}
