// SPDX-License-Identifier: MIT
// Damping of modes by what the body touches [Zheng11, section 5.3], and how it runs between the steps.
//
// A contact of normal force c and friction mu is a damper at its point. Mode m with the displacement U of the
// point gets the damping
//
//     C = gamma c U^T (mu I + (1 - mu) n n^T) U,                                                 (18, 20)
//
// summed over the contacts, and its amplitude decays by C / 2 faster. gamma stands both in (20) and in the
// text before it; it is applied once. c is a force, so that the damping does not depend on the step. C is
// limited to w / 2: beyond, a contact pins the mode, and the diagonal of the damping matrix is not an
// approximation any more.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sound/sound_model.h"

namespace thrum::sound {

/// Adds the damping C of a contact to each mode [1/s]; `normal` unit, `force` [N], `gamma` in
/// kg / (N s) of mass-normalised shapes.
void add_contact_damping(const PointShapes& shapes, const Vec3& normal, double force, double friction,
                         double gamma, std::span<double> damping);

/// C / 2, limited to w / 4 [1/s].
[[nodiscard]] double contact_decay(double damping, double omega);

/// The slope at the middle one of three points of a monotone curve (Fritsch and Carlson, in the harmonic form
/// of Brodlie), from the two secants and the two lengths: 0 at an extremum, so that a curve through values
/// >= 0 stays >= 0.
[[nodiscard]] inline double monotone_slope(double left_secant, double right_secant, double left, double right)
{
  const double product = left_secant * right_secant;
  const double share = (left + 2 * right) / (3 * (left + right));
  // No branch, so that a loop over modes becomes one over vectors.
  const double divisor = product > 0 ? share * right_secant + (1 - share) * left_secant : 1;
  return (product > 0 ? product : 0) / divisor;
}

/// Of y0, y1, s0 and s1 in the cubic below.
[[nodiscard]] std::array<double, 4> cubic_coefficients(double h, double x);

/// The cubic from (0, y0) to (h, y1) with slopes s0 and s1, at x.
[[nodiscard]] double cubic(double y0, double y1, double s0, double s1, double h, double x);

}  // namespace thrum::sound
