// SPDX-License-Identifier: MIT
// Finished pictures in one call: a mesh coloured by a quantity, or a distance field on a plane, with a
// legend.
//
//   const Image plate_image = picture_of_mesh(plate, distance, {.title = "distance", .unit = "m"});
//   write_png("plate.png", plate_image);
//   write_png("field.png", picture_of_slice(field, slice_of_box(box, 1), {.title = "depth", .unit = "m"}));
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "thrum/media/colour_map.h"
#include "thrum/media/image.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::media {

struct PictureDesc {
  int width = 960;                                 ///< [pixel]
  int height = 540;                                ///< [pixel]
  std::string title = {};                          ///< above the legend
  std::string unit = {};                           ///< after the title, in brackets
  std::optional<ColourMap> map = std::nullopt;     ///< default: diverging for slices, sequential for meshes
  std::optional<ValueRange> range = std::nullopt;  ///< default: all finite values
  bool iso_lines = false;                          ///< lines of equal value; slices always have them
  double iso_spacing = 0;                          ///< 0: a round step that gives about fifteen
  bool legend = true;
  bool ground = true;
  Vec3 from{0.55, -1.0, 0.62};  ///< direction from the centre to the viewer
};

/// One value per vertex; a value that is not finite is drawn grey.
[[nodiscard]] Image picture_of_mesh(const mesh::TriangleMesh& mesh, std::span<const double> scalar,
                                    const PictureDesc& desc = {});

/// In a plain colour.
[[nodiscard]] Image picture_of_mesh(const mesh::TriangleMesh& mesh, const PictureDesc& desc = {});

/// A rectangle in space: its middle, and half its sides, which point right and up in the picture.
struct SlicePlane {
  Vec3 centre = Vec3::Zero();  ///< [m]
  Vec3 half_right{1, 0, 0};    ///< [m]
  Vec3 half_up{0, 0, 1};       ///< [m]
};

/// The middle plane of a box across `axis` (0, 1, 2), with a margin on every side.
[[nodiscard]] SlicePlane slice_of_box(const Box3& box, int axis, double margin = 0.15);

/// The values of `function` on the plane, the whole rectangle inside the picture, with lines of equal value
/// and a stronger line at zero. The function is called from many threads at once.
[[nodiscard]] Image picture_of_slice(const std::function<double(const Vec3&)>& function,
                                     const SlicePlane& plane, const PictureDesc& desc = {});

/// A colour bar with round numbers at the right edge.
void draw_legend(Image& image, ColourMap map, const ValueRange& range, const std::string& title);

}  // namespace thrum::media
