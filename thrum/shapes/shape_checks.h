// SPDX-License-Identifier: MIT
// Checks of the descriptions, shared by the shape generators.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "thrum/base/error.h"

namespace thrum::shapes {

inline constexpr int kMaxSegments =
    20000;  ///< along one direction of a shape: more indicates a wrong edge length

/// Of one shape: more take minutes and gigabytes, and indicate a wrong edge length as well.
inline constexpr double kMaxTriangles = 10e6;
inline constexpr double kTypicalTriangles = 20e3;  ///< of a detailed shape

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

/// Rejects an edge length at which a surface of that area [m^2] would have too many triangles, and suggests a
/// better one. An edge length of 0 is always accepted.
inline void check_triangle_count(double area, double edge_length)
{
  // An equilateral triangle of edge e has the area sqrt(3)/4 e^2.
  const double of_unit_edge = std::sqrt(3.0) / 4;
  if (edge_length <= 0 || area <= kMaxTriangles * of_unit_edge * edge_length * edge_length) return;
  const auto edge_for = [&](double triangles) {
    return std::sqrt(area / (of_unit_edge * triangles));
  };
  throw Error(
      fmt::format("An edge length of {:.3g} m gives this shape about {:.2g} triangles; the maximum is "
                  "{:.0e}. Use {:.2g} m for about {:.0f} triangles; the minimum is {:.2g} m.",
                  edge_length, area / (of_unit_edge * edge_length * edge_length), kMaxTriangles,
                  edge_for(kTypicalTriangles), kTypicalTriangles, edge_for(kMaxTriangles)));
}

/// The number of pieces of about `edge_length` in `length`; at least `min_count`. An edge length of 0 gives
/// `min_count`.
[[nodiscard]] inline int segment_count(double length, double edge_length, int min_count = 1)
{
  if (edge_length <= 0) return min_count;
  const double count = std::round(length / edge_length);
  if (count > kMaxSegments) {
    throw Error(fmt::format(
        "An edge length of {} m divides a length of {} m into more than {} pieces. Use a longer one.",
        edge_length, length, kMaxSegments));
  }
  return std::max(min_count, static_cast<int>(count));
}

}  // namespace thrum::shapes
