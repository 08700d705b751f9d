// SPDX-License-Identifier: MIT
// The camera of a picture.
#pragma once

#include "thrum/base/vec.h"

namespace thrum::media {

/// Unit vectors of the picture's axes in world coordinates.
struct CameraAxes {
  Vec3 right;
  Vec3 up;
  Vec3 forward;
};

/// Looks from `eye` to `target`, z up.
struct Camera {
  Vec3 eye{0, -3, 1};          ///< [m]
  Vec3 target = Vec3::Zero();  ///< [m]
  double field_of_view = 0.5;  ///< from the top to the bottom of the picture [rad]

  [[nodiscard]] CameraAxes axes() const;
  /// The projection of the point: pixels from the left and from the top, in a picture of this size.
  [[nodiscard]] Vec2 project(const Vec3& point, int width, int height) const;
};

/// A camera that looks along -`from` and sees the whole box, with `aspect` = width / height and a margin.
[[nodiscard]] Camera frame_box(const Box3& box, double aspect, const Vec3& from = {0.55, -1.0, 0.62},
                               double margin = 0.08);

/// The aspect ratio that the field of view of scenes refers to, width / height.
inline constexpr double kDefaultAspect = 16.0 / 9;

/// The field of view from top to bottom [rad] of a picture with `aspect` = width / height that shows what one
/// with the reference aspect ratio shows: a narrower one shows more above and below rather than less at the
/// sides.
[[nodiscard]] double fit_field_of_view(double field_of_view, double aspect);

}  // namespace thrum::media
