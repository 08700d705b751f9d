// SPDX-License-Identifier: MIT
// The questions that every shape generator asks of its description.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "thrum/base/error.h"

namespace thrum::shapes {

inline constexpr int kMaxSegments =
    20000;  ///< along one direction of a shape: more is a mistake in the edge length

/// Of one shape: more take minutes and fill gigabytes, and are a mistake in the edge length as well.
inline constexpr double kMaxTriangles = 10e6;
inline constexpr double kTypicalTriangles = 20e3;  ///< what a detailed shape has

inline void require_positive(double value, std::string_view what)
{
  if (!(value > 0) || !std::isfinite(value))
    throw Error(fmt::format("The {} is {}; it must be positive.", what, value));
}

inline void require_not_negative(double value, std::string_view what)
{
  if (!(value >= 0) || !std::isfinite(value)) {
    throw Error(fmt::format("The {} is {}; it must be zero or positive.", what, value));
  }
}

/// Refuses an edge length at which a surface of that area [m^2] would have too many triangles, and names a better one. An edge
/// length of 0 is always fit.
inline void check_triangle_count(double area, double edge_length)
{
  // An equilateral triangle of edge e has the area sqrt(3)/4 e^2.
  const double of_unit_edge = std::sqrt(3.0) / 4;
  if (edge_length <= 0 || area <= kMaxTriangles * of_unit_edge * edge_length * edge_length) return;
  const auto edge_for = [&](double triangles) {
    return std::sqrt(area / (of_unit_edge * triangles));
  };
  throw Error(fmt::format(
      "Edges of {:.3g} m would make about {:.2g} triangles of this shape; the maximum is {:.0e}. Edges of "
      "{:.2g} m make about {:.0f}, and {:.2g} m is the minimum.",
      edge_length, area / (of_unit_edge * edge_length * edge_length), kMaxTriangles,
      edge_for(kTypicalTriangles), kTypicalTriangles, edge_for(kMaxTriangles)));
}

/// How many pieces of about `edge_length` make up `length`; at least `min_count`. An edge length of 0 gives
/// `min_count`.
[[nodiscard]] inline int segment_count(double length, double edge_length, int min_count = 1)
{
  if (edge_length <= 0) return min_count;
  const double count = std::round(length / edge_length);
  if (count > kMaxSegments) {
    throw Error(fmt::format("An edge length of {} m cuts a length of {} m into more than {} pieces.",
                            edge_length, length, kMaxSegments));
  }
  return std::max(min_count, static_cast<int>(count));
}

}  // namespace thrum::shapes
