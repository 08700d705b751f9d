// SPDX-License-Identifier: MIT
// A pan falls on one end of a table that rings, and the cup at the other end is kicked.
#include <cstdio>

#include "thrum/thrum.h"
using namespace thrum;

int main()
{
  sim::World world;
  const auto surface = std::make_shared<mesh::TriangleMesh>(
      shapes::make_table({.top_thickness = 0.05, .leg_thickness = 0.08, .apron_height = 0}));
  const auto top = world.add_shape({model::Mesh{surface, nullptr}});
  const auto disc = world.add_shape({model::Cylinder{.radius = 0.06, .half_length = 0.03}});
  const Pose left{{-0.5, 0, 1.2}, Quat::Identity()}, right{{0.5, 0, 0.77}, Quat::Identity()};
  const auto table = world.add_body({.name = "table", .shape = top, .motion = model::Motion::fixed});
  world.add_body({.name = "pan", .shape = disc, .X_ws = left, .mass = 2.0});
  const auto cup = world.add_body({.name = "cup", .shape = disc, .X_ws = right, .mass = 0.3});

  // The table rings with the modes of wood, held at its feet.
  const auto wood = elastic::MaterialLibrary::builtin().get("wood");
  sim::Responder responder;
  responder.add_body(world, table, elastic::modal_model(*surface, wood, {"z<0.01"}, {.spacing = 0.04}), {});
  world.add_observer(responder);

  for (int i = 0; i < 100; ++i) {
    world.step(0.01);
    for (const model::ResponseEvent& event : world.responses())
      if (event.kind == model::ResponseKind::kicked && event.b == cup)
        std::printf("%.2f s: the cup is kicked with %.2f m/s\n", event.time, event.speed);
  }
}
