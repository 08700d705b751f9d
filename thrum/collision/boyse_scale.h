// SPDX-License-Identifier: MIT
// The lengths of BoyseDesc for two bodies.
#pragma once

#include "thrum/collision/boyse.h"

namespace thrum::collision {

/// Defaults of the tolerance and of the largest depth, as shares of the size of the smaller body.
inline constexpr double kTouchShare = 1e-7;
inline constexpr double kDepthShare = 1e-3;

struct BoyseScale {
  double tolerance = 0;  ///< [m]
  double max_depth = 0;  ///< [m]
};

[[nodiscard]] inline BoyseScale scale_of(const BoyseSurface& a, const BoyseSurface& b, const BoyseDesc& desc)
{
  const double size = std::min(a.bounds().sizes().maxCoeff(), b.bounds().sizes().maxCoeff());
  return {desc.tolerance > 0 ? desc.tolerance : kTouchShare * size,
          desc.max_depth > 0 ? desc.max_depth : kDepthShare * size};
}

}  // namespace thrum::collision
