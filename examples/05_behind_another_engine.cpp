// SPDX-License-Identifier: MIT
// The distant response behind another engine [Coevoet20, eq. 17-19]: a weight falls on a shelf and kicks the
// cup on it.
#include <fmt/format.h>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/shapes/shapes.h"
#include "thrum/vibration/ringing_body.h"

int main()
{
  using namespace thrum;
  // Once: a wooden shelf about the origin, held at both ends.
  const auto board = shapes::generate(shapes::BoxDesc{.size = {1.2, 0.3, 0.04}});
  const auto wood = elastic::MaterialLibrary::builtin().get("wood");
  vibration::RingingBody shelf(elastic::modal_model(board, wood, {"x<-0.59", "x>0.59"}, {.spacing = 0.02}));
  // The host's bodies: the shelf, which does not move, a weight above it and a cup on it, which move up and
  // down.
  const double h = 0.01, top = 0.02, restitution = 0.15;
  std::vector<vibration::HostBody> bodies = {{},
                                             {.mass = 2.0, .X_wb = {{-0.3, 0, 0.2}, Quat::Identity()}},
                                             {.mass = 0.2, .X_wb = {{0.3, 0, top}, Quat::Identity()}}};
  for (int step = 0; step < 60; ++step) {
    std::vector<vibration::HostContact> contacts;
    for (const int i : {1, 2}) {
      // The host's own step: gravity, a contact that lets nothing pass, positions.
      Vec3 &position = bodies[i].X_wb.position, &velocity = bodies[i].velocity;
      bodies[i].position_before = position;
      bodies[i].velocity_before = velocity;
      const double speed = velocity.z() - 9.81 * h;
      const bool touches = position.z() + h * speed <= top, is_new = position.z() > top;
      velocity.z() = !touches ? speed : is_new ? -restitution * speed : 0;
      const double impulse = bodies[i].mass * (velocity.z() - speed);
      if (touches)
        contacts.push_back(
            {.body = i, .position = {position.x(), 0, top}, .impulse = impulse, .is_new = is_new});
      position.z() = std::max(top, position.z() + h * velocity.z());
    }
    // thrum: bodies before and after the step and its contacts in, impulses out.
    for (const vibration::BodyImpulse& push : shelf.respond(bodies, contacts, h).body_impulses) {
      bodies[push.body].velocity += push.impulse / bodies[push.body].mass;
      if (push.body == 2)
        fmt::print("{:.2f} s: the cup is kicked with {:.2f} N s\n", step * h, push.impulse.z());
    }
  }
}
