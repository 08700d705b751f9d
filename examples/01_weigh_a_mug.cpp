// SPDX-License-Identifier: MIT
// Makes a mug, weighs it in ceramic, and measures how far its centre of mass is from the nearest wall.
#include <fmt/format.h>

#include "thrum/distance/mesh_distance.h"
#include "thrum/mesh/mass_properties.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/shapes/tableware.h"

using namespace thrum;

int main()
{
  const mesh::TriangleMesh mug = shapes::generate(shapes::MugDesc{});
  const mesh::MassProperties body = mesh::solid_mass_properties(mug, 2700);
  fmt::print("a mug of {:.0f} g\n", 1000 * body.mass);

  const distance::MeshDistance distance(mug);
  fmt::print("its centre of mass is in the air, {:.1f} mm from the nearest wall\n",
             1000 * distance.signed_distance(body.center).distance);
  mesh_io::write_mesh("mug.glb", mug);
}
