// SPDX-License-Identifier: MIT
#include "apps/thrum/mesh_commands.h"

namespace thrum::app {

void add_mesh_commands(CLI::App& app)
{
  CLI::App* mesh = app.add_subcommand("mesh", "Inspect, repair, fill, measure and generate meshes");
  mesh->require_subcommand(1);
  add_mesh_info(*mesh);
  add_mesh_repair(*mesh);
  add_mesh_shape(*mesh);
  add_mesh_tets(*mesh);
  add_mesh_sdf(*mesh);
  add_mesh_distance(*mesh);
}

}  // namespace thrum::app
