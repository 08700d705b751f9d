// SPDX-License-Identifier: MIT
// The lengths of BoyseDesc for two bodies.
#pragma once

#include "thrum/collision/boyse.h"

namespace thrum::collision {

struct BoyseScale {
  double tolerance = 0;  ///< [m]
  double max_depth = 0;  ///< [m]
};

[[nodiscard]] inline BoyseScale scale_of(const BoyseSurface& a, const BoyseSurface& b, const BoyseDesc& desc)
{
  const double size = std::min(a.bounds().sizes().maxCoeff(), b.bounds().sizes().maxCoeff());
  return {desc.tolerance > 0 ? desc.tolerance : 1e-7 * size,
          desc.max_depth > 0 ? desc.max_depth : 1e-3 * size};
}

}  // namespace thrum::collision
