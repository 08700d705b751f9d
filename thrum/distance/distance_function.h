// SPDX-License-Identifier: MIT
// The interface between a mesher and a shape: its signed distance, for many points at a time.
#pragma once

#include <functional>
#include <span>

#include "thrum/base/vec.h"

namespace thrum::distance {

/// Writes the signed distance [m] of points[i] to distances[i]: negative inside, positive outside.
///
/// The zero set is the surface. Away from it the value may be smaller in magnitude than the true distance,
/// but never larger: |d(p) - d(q)| <= |p - q|. An implicit function with a larger slope must be divided by
/// its maximum slope first.
using DistanceFunction = std::function<void(std::span<const Vec3> points, std::span<double> distances)>;

/// Wraps a function of one point.
template <class F>
[[nodiscard]] DistanceFunction pointwise(F distance)
{
  return [distance](std::span<const Vec3> points, std::span<double> distances) {
    for (std::size_t i = 0; i < points.size(); ++i) distances[i] = distance(points[i]);
  };
}

}  // namespace thrum::distance
