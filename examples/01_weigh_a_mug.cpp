// SPDX-License-Identifier: MIT
// Makes a mug, weighs it in ceramic, and measures how far its centre of mass is from the nearest wall.
#include <fmt/format.h>

#include "thrum/geometry/mass_properties.h"
#include "thrum/geometry/mesh_distance.h"
#include "thrum/geometry/mesh_io.h"
#include "thrum/geometry/tableware.h"

int main()
{
  namespace geometry = thrum::geometry;
  const geometry::TriangleMesh mug = geometry::generate(geometry::MugDesc{});
  const geometry::MassProperties body = geometry::solid_mass_properties(mug, 2700);
  fmt::print("a mug of {:.0f} g\n", 1000 * body.mass);

  const geometry::MeshDistance distance(mug);
  fmt::print("its centre of mass is in the air, {:.1f} mm from the nearest wall\n",
             1000 * distance.signed_distance(body.center).distance);
  geometry::write_mesh("mug.glb", mug);
}
