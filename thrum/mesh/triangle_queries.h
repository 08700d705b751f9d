// SPDX-License-Identifier: MIT
// Queries on one or two triangles: closest point, distance. Degenerate triangles are treated as the segment
// or the point that they are.
#pragma once

#include <array>
#include <cstdint>

#include "thrum/base/vec.h"

namespace thrum::mesh {

/// The part of a triangle that contains a point.
enum class Feature : std::uint8_t { vertex, edge, face };

struct TrianglePoint {
  Vec3 point;                   ///< [m]
  Vec3 barycentric;             ///< weights of the three corners, each in [0, 1], summing to 1
  double squared_distance = 0;  ///< from the query to the point [m^2]
  Feature feature = Feature::face;
  int local = 0;  ///< vertex: the corner 0..2; edge: k for the edge from corner k to corner k+1; face: 0
};

/// The point of the triangle (a, b, c) that is closest to p.
[[nodiscard]] TrianglePoint closest_point_on_triangle(const Vec3& p, const Vec3& a, const Vec3& b,
                                                      const Vec3& c);

/// Closest points of the segments p0 p1 and q0 q1, as parameters in [0, 1] and the squared distance [m^2].
struct SegmentPair {
  double s = 0;  ///< p0 + s (p1 - p0)
  double t = 0;  ///< q0 + t (q1 - q0)
  double squared_distance = 0;
};
[[nodiscard]] SegmentPair closest_points_of_segments(const Vec3& p0, const Vec3& p1, const Vec3& q0,
                                                     const Vec3& q1);

/// Squared distance of two triangles [m^2], zero when they touch or cross.
[[nodiscard]] double squared_distance_of_triangles(const std::array<Vec3, 3>& a,
                                                   const std::array<Vec3, 3>& b);

}  // namespace thrum::mesh
