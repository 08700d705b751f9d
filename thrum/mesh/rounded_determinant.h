// SPDX-License-Identifier: MIT
// The determinant of three vectors in doubles, with what its rounding error is relative to: the filter in
// front of predicates that are evaluated exactly [Shewchuk 1997, section 4.3].
#pragma once

#include <cmath>
#include <limits>

#include "thrum/base/vec.h"

namespace thrum::mesh {

inline constexpr double kHalfUlp = std::numeric_limits<double>::epsilon() / 2;

/// Three differences of points, each rounded once: the error is at most this times the size of the terms.
inline constexpr double kOrientation3dBound = (7 + 56 * kHalfUlp) * kHalfUlp;

struct RoundedDeterminant {
  double value = 0;  ///< det[u, v, w]
  double size = 0;   ///< sum of the sizes of its terms
};

[[nodiscard]] inline RoundedDeterminant rounded_determinant(const Vec3& u, const Vec3& v, const Vec3& w)
{
  const double yz = v.y() * w.z(), zy = v.z() * w.y();
  const double zx = v.z() * w.x(), xz = v.x() * w.z();
  const double xy = v.x() * w.y(), yx = v.y() * w.x();
  return {u.x() * (yz - zy) + u.y() * (zx - xz) + u.z() * (xy - yx),
          std::abs(u.x()) * (std::abs(yz) + std::abs(zy)) + std::abs(u.y()) * (std::abs(zx) + std::abs(xz)) +
              std::abs(u.z()) * (std::abs(xy) + std::abs(yx))};
}

/// Sign of det[b - a, c - a, d - a]; 0: the error bound does not decide.
[[nodiscard]] inline int rounded_orientation_3d(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d)
{
  const RoundedDeterminant det = rounded_determinant(b - a, c - a, d - a);
  if (det.value > kOrientation3dBound * det.size) return 1;
  if (det.value < -kOrientation3dBound * det.size) return -1;
  return 0;
}

}  // namespace thrum::mesh
