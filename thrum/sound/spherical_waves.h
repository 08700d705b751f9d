// SPDX-License-Identifier: MIT
// Spherical harmonics and spherical Bessel functions, for sound fields about a centre.
//
// Harmonics are real and orthonormal, Y(n, m) at index n^2 + n + m, m < 0 for the sines. Time goes as
// exp(+i w t), so that a wave that leaves is h(k r) = j(k r) - i y(k r), Hankel's function of the second
// kind.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::sound {

using Complex = std::complex<double>;

/// How many harmonics there are up to an order.
[[nodiscard]] constexpr int harmonic_count(int order)
{
  return (order + 1) * (order + 1);
}

/// All harmonics up to `order` at a unit vector.
void harmonics(int order, const Vec3& direction, std::span<double> values);

/// The same, and their gradients along the unit sphere (at right angles to `direction`).
void harmonics(int order, const Vec3& direction, std::span<double> values, std::span<Vec3> gradients);

/// h_0(x) ... h_order(x) and their derivatives, x > 0.
void outgoing_waves(int order, double x, std::span<Complex> values, std::span<Complex> derivatives);

/// Directions and weights that integrate products of two harmonics up to `order` exactly over the sphere.
struct SphereRule {
  std::vector<Vec3> directions;
  std::vector<double> weights;  ///< they add up to 4 pi
};
[[nodiscard]] SphereRule sphere_rule(int order);

}  // namespace thrum::sound
