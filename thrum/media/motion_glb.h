// SPDX-License-Identifier: MIT
// A recorded run as an animated GLB: a node for each body, meshes shared by equal bodies, one animation.
#pragma once

#include <string>

#include "thrum/media/shaded_mesh.h"
#include "thrum/sim/recording.h"

namespace thrum::media {

struct MotionGlbDesc {
  double crease_angle = kCreaseAngle;  ///< faces that meet at a larger angle keep a sharp edge [rad]
  bool impulses = false;               ///< the strongest contact impulses of each frame as arrows
  bool ground = true;                  ///< a square under everything where the scene has a plane
};

/// The bytes of the file. z up becomes y up by the root node.
[[nodiscard]] std::string motion_glb(const sim::Recording& recording, const MotionGlbDesc& desc = {});

/// The ground for a plane, which has no triangles: a square in z = 0 that extends well beyond all bodies.
/// Empty when no body is a plane.
[[nodiscard]] mesh::TriangleMesh ground_square(const sim::Recording& recording);

}  // namespace thrum::media
