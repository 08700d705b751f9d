// SPDX-License-Identifier: MIT
// How two bodies behave where they touch. A pair takes the smaller value of each coefficient, as Guendelman03
// does, unless the scene lists that pair.
#pragma once

#include <algorithm>

#include "thrum/model/ids.h"

namespace thrum::model {

struct Surface {
  double restitution = 0.0;        ///< speed after / speed before a new contact, 0 to 1
  double friction = 0.5;           ///< Coulomb's coefficient
  double rolling_friction = 0.0;   ///< largest rolling torque per normal force [m]
  double spinning_friction = 0.0;  ///< largest torque about the normal per normal force, beyond Coulomb's [m]
};

/// The values for one pair of surfaces, in either order.
struct SurfacePair {
  SurfaceIndex a = kNone;
  SurfaceIndex b = kNone;
  Surface values;
};

[[nodiscard]] inline Surface min_coefficients(const Surface& a, const Surface& b)
{
  return {std::min(a.restitution, b.restitution), std::min(a.friction, b.friction),
          std::min(a.rolling_friction, b.rolling_friction),
          std::min(a.spinning_friction, b.spinning_friction)};
}

}  // namespace thrum::model
