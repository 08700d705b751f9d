// SPDX-License-Identifier: MIT
// The distant response behind another engine [Coevoet20, eq. 17-19]: a falling weight kicks a cup on a shelf.
#include <cstdio>

#include "thrum/thrum.h"
using namespace thrum;

int main()
{
  const auto board = shapes::generate(shapes::BoxDesc{.size = {1.2, 0.3, 0.04}});
  const auto wood = elastic::MaterialLibrary::builtin().get("wood");
  vibration::RingingBody shelf(elastic::modal_model(board, wood, {"x<-0.59", "x>0.59"}, {.spacing = 0.02}));
  // The host's bodies: the shelf, which is held at both ends, a weight above it and a cup on it.
  std::vector<vibration::HostBody> bodies = {{}, {.mass = 2.0}, {.mass = 0.2}};
  bodies[1].X_wb.position = {-0.3, 0, 0.2};
  bodies[2].X_wb.position = {0.3, 0, 0.02};
  for (double h = 0.01, top = 0.02, time = 0; time < 0.6; time += h) {
    const auto before = bodies;
    std::vector<vibration::HostContact> contacts;
    for (const int i : {1, 2}) {
      // The host's own step: gravity, a contact that lets nothing pass, positions up and down.
      double &z = bodies[i].X_wb.position.z(), &vz = bodies[i].velocity.z();
      vz -= 9.81 * h;
      z = std::max(top, z + h * vz);
      if (z > top) continue;
      contacts.push_back({.body = i, .position = bodies[i].X_wb.position, .impulse = -bodies[i].mass * vz});
      vz = 0;
    }
    // thrum: bodies before and after the step and its contacts in, impulses out.
    for (const auto& push : shelf.respond_and_apply(before, bodies, contacts, h).body_impulses)
      if (push.body == 2) std::printf("%.2f s: the cup is kicked with %.2f N s\n", time, push.impulse.z());
  }
}
