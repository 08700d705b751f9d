// SPDX-License-Identifier: MIT
// A ray caster for triangle meshes: one sun with soft shadows, a uniform sky with ambient occlusion, and a
// ground that fades into a neutral background. No display and no graphics driver is needed.
//
//   RenderScene scene;
//   scene.bodies.push_back({.mesh = &plate, .scalar = distance, .range = range_of(distance)});
//   write_png("plate.png", render(scene, frame_box(bounding_box(plate), 16.0 / 9), {}));
//
// Sample directions are fixed, so the same scene gives the same pixels on every run and for every number of
// threads.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/media/camera.h"
#include "thrum/media/colour_map.h"
#include "thrum/media/image.h"
#include "thrum/media/shaded_mesh.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::media {

/// One mesh with its colours: `vertex_colours` if given, else `scalar` through the map, else `colour`.
struct RenderBody {
  const mesh::TriangleMesh* mesh = nullptr;  ///< must outlive the call of render()
  Pose X_wb = {};
  Colour colour{0.80f, 0.78f, 0.74f};
  std::span<const double> scalar = {};  ///< one per vertex, or none
  ColourMap map = ColourMap::sequential;
  ValueRange range = {};
  double iso_spacing = 0;  ///< a line at each multiple, in the unit of `scalar`; 0: no lines
  std::span<const Colour> vertex_colours = {};  ///< one per vertex, or none
  double crease_angle = kCreaseAngle;           ///< faces that meet at a larger angle keep a sharp edge [rad]
};

struct RenderScene {
  std::vector<RenderBody> bodies;
  bool ground = true;
  double ground_height = -1e300;  ///< [m]; the default lies under the lowest vertex
};

struct RenderDesc {
  int width = 960;           ///< [pixel]
  int height = 540;          ///< [pixel]
  int samples = 2;           ///< rays per pixel and direction: 2 means 2 x 2
  double sun_radius = 0.10;  ///< angular radius of the sun: larger gives softer shadows [rad]
  Colour background{0.955f, 0.957f, 0.96f};
};

/// Throws Error when a body has no mesh or the number of its values is not the number of its vertices.
[[nodiscard]] Image render(const RenderScene& scene, const Camera& camera, const RenderDesc& desc = {});

}  // namespace thrum::media
