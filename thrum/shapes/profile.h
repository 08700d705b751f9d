// SPDX-License-Identifier: MIT
// Plane outlines (r, z) for the lathe: drawing with lines and curves, validation and orientation, even
// subdivision.
#pragma once

#include <span>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::shapes {

/// Draws an outline as a polyline; curves are cut into kCurveSegments.
class ProfileDrawing {
 public:
  explicit ProfileDrawing(const Vec2& start) : points_{start} {}

  ProfileDrawing& line_to(const Vec2& end);

  /// Cubic Bezier curve with the two control points between the current point and `end`.
  ProfileDrawing& curve_to(const Vec2& control_a, const Vec2& control_b, const Vec2& end);

  /// Arc about `center` from the current point through `angle` [rad], counter-clockwise positive.
  ProfileDrawing& arc(const Vec2& center, double angle);

  [[nodiscard]] const std::vector<Vec2>& points() const { return points_; }

 private:
  std::vector<Vec2> points_;
};

inline constexpr int kCurveSegments = 16;

/// Twice the signed area: positive when counter-clockwise.
[[nodiscard]] double twice_area(std::span<const Vec2> polygon);

/// Whether no two edges of the closed polygon touch, except neighbours at their common point.
[[nodiscard]] bool is_simple_polygon(std::span<const Vec2> polygon);

/// A lathe's normalised outline: counter-clockwise, and when `on_axis`, from the axis to the axis.
struct OrderedProfile {
  std::vector<Vec2> points;
  bool on_axis = false;
};

/// Throws Error when the outline is not a simple polygon in r >= 0 or meets the axis in any other way than
/// along one edge.
[[nodiscard]] OrderedProfile ordered_profile(std::span<const Vec2> outline);

/// Cuts the profile into pieces of about edge_length. Corners (sharp turns) and the extremes of r and z stay;
/// tight curves get pieces that turn by at most 60 degrees, however long edge_length is.
[[nodiscard]] std::vector<Vec2> resampled(const OrderedProfile& profile, double edge_length);

}  // namespace thrum::shapes
