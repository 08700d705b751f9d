// SPDX-License-Identifier: MIT
// First-order ambisonics in the AmbiX convention: channels in ACN order (W, Y, Z, X), SN3D normalisation.
//
// A plane wave of pressure p from azimuth a (to the left) and elevation e gives
//
//     W = p,  Y = p sin a cos e,  Z = p sin e,  X = p cos a cos e.
#pragma once

#include <array>

#include "thrum/base/vec.h"

namespace thrum::sound {

inline constexpr std::array<const char*, 4> kAmbisonicNames{"W", "Y", "Z", "X"};

/// Channels of a plane wave of unit pressure from a direction, unit, in the axes of the listener: x forward,
/// y left, z up.
[[nodiscard]] inline std::array<double, 4> ambisonic_gains(const Vec3& direction)
{
  return {1.0, direction.y(), direction.z(), direction.x()};
}

}  // namespace thrum::sound
