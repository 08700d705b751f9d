// SPDX-License-Identifier: MIT
#include "apps/thrum/mesh_commands.h"

namespace thrum::app {

void add_mesh_commands(CLI::App& app)
{
  CLI::App* mesh =
      app.add_subcommand("mesh", "Look at meshes, repair them, fill them, measure on them, make them");
  mesh->require_subcommand(1);
  add_mesh_shape(*mesh);
}

}  // namespace thrum::app
