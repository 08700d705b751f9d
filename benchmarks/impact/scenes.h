// SPDX-License-Identifier: MIT
// Bodies like those of [Forgue91, figs. 6 to 8]: a head, rings and balls over height fields.
#pragma once

#include "thrum/mesh/triangle_mesh.h"

namespace thrum::bench {

/// A ball of 2 around (rings - 1) triangles, stretched, with a nose and a chin: radius about 0.5 m.
[[nodiscard]] mesh::TriangleMesh head_mesh(int around, int rings);

/// A ring of 2 around tube triangles, 0.5 m in radius.
[[nodiscard]] mesh::TriangleMesh ring_mesh(int around, int tube);

/// Hills of 2 cells^2 triangles over a square of 4 m; open.
[[nodiscard]] mesh::TriangleMesh hills_mesh(int cells);

/// The Mandelbrot set as a height field, over the same square.
[[nodiscard]] mesh::TriangleMesh mandelbrot_mesh(int cells);

}  // namespace thrum::bench
