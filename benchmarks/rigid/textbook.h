// SPDX-License-Identifier: MIT
// Textbook cases that take more than a screen: what rolls over meshes, and dominoes.
#pragma once

#include "thrum/sim/world.h"

namespace thrum::bench {

/// How far a torus mesh of so many vertices rolls down a slope of 10 degrees in 3 s [m].
[[nodiscard]] double way_of_rolling_mesh(int vertices, const sim::WorldDesc& desc, double h);
/// Of a polygon with its radius and inertia, which loses speed at every vertex [m].
[[nodiscard]] double way_of_rolling_polygon(int vertices);

/// Of the wave in a row of 14 dominoes [m/s].
[[nodiscard]] double speed_of_dominoes(const sim::WorldDesc& desc, double h);

struct RolledSphere {
  double speed = 0;  ///< mean, of a sphere that begins with 3 m/s [m/s]
  double hop = 0;    ///< largest change of its height [m]
};
/// For 1 s over a level floor that is cut into triangles.
[[nodiscard]] RolledSphere roll_over_triangles(const sim::WorldDesc& desc, double h);

}  // namespace thrum::bench
