// SPDX-License-Identifier: MIT
// Named tolerances, and comparisons relative to a stated scale.
//
// A bare 1e-12 says neither what is compared nor against what. Here a tolerance has a name, a unit, a meaning
// and the range in which changing it makes sense; a relative one (unit "1") is multiplied by the scale of the
// quantities at hand, which the caller states: the size of the mesh, the norm of the matrix, the speed of the
// impact.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace thrum::base {

struct Tolerance {
  std::string_view name;
  std::string_view unit;     ///< "1" when relative to a scale
  std::string_view meaning;  ///< one sentence
  double value = 0;
  double min_value = 0;  ///< typical range: below this nothing is gained
  double max_value = 0;  ///< above this results lose accuracy

  /// The absolute tolerance for quantities of this size.
  [[nodiscard]] constexpr double times(double scale) const { return value * (scale < 0 ? -scale : scale); }
};

inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

inline constexpr Tolerance kRoundoff{
    "roundoff",    "1",          "Two results of the same few operations in a different order.",
    64 * kEpsilon, 4 * kEpsilon, 1024 * kEpsilon};

inline constexpr Tolerance kLengthTolerance{
    "length", "1",   "Points closer than this fraction of the mesh's diagonal are the same point.",
    1e-9,     1e-12, 1e-6};

inline constexpr Tolerance kAreaTolerance{
    "area", "1",   "A triangle with less than this fraction of its longest edge squared has no area.",
    1e-12,  1e-15, 1e-8};

inline constexpr Tolerance kVolumeTolerance{
    "volume", "1",   "A tetrahedron with less than this fraction of its longest edge cubed is flat.",
    1e-12,    1e-15, 1e-7};

inline constexpr Tolerance kAngleTolerance{"angle", "rad", "Directions that differ by less are parallel.",
                                           1e-8,    1e-12, 1e-4};

inline constexpr Tolerance kUnitTolerance{
    "unit", "1", "How far the squared norm of a unit vector or quaternion may be from 1.", 1e-9, 1e-14, 1e-6};

inline constexpr Tolerance kSolveTolerance{
    "solve", "1", "Residual of a linear solve, relative to the right-hand side.", 1e-10, 1e-14, 1e-4};

inline constexpr Tolerance kSymmetryTolerance{
    "symmetry", "1",   "How far a symmetric matrix may be from its transpose, relative to its norm.",
    1e-10,      1e-15, 1e-6};

/// Every tolerance above, for the documentation and for the test of the ranges.
inline constexpr std::array kTolerances{kRoundoff,        kLengthTolerance,  kAreaTolerance,
                                        kVolumeTolerance, kAngleTolerance,   kUnitTolerance,
                                        kSolveTolerance,  kSymmetryTolerance};

/// |a - b| <= tolerance * scale. False when anything is not a number.
[[nodiscard]] inline bool nearly_equal(double a, double b, double scale,
                                       const Tolerance& tolerance = kRoundoff)
{
  return a == b || std::abs(a - b) <= tolerance.times(scale);
}

/// |value| <= tolerance * scale: zero within the tolerance for quantities of this size.
[[nodiscard]] inline bool nearly_zero(double value, double scale, const Tolerance& tolerance = kRoundoff)
{
  return std::abs(value) <= tolerance.times(scale);
}

/// |a - b| / max(|a|, |b|, scale): for reports. `scale` keeps the quotient meaningful near zero.
[[nodiscard]] inline double relative_difference(double a, double b, double scale = 0)
{
  if (a == b) return 0;
  return std::abs(a - b) / std::max({std::abs(a), std::abs(b), std::abs(scale)});
}

}  // namespace thrum::base
