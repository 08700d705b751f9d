// SPDX-License-Identifier: MIT
// Loops over the modes of a body that run once in an interval or a step, in vectors. Each mode takes the same
// operations on every processor, without fused products, so that the bits are the same too.
#pragma once

#include <array>
#include <cstddef>

namespace thrum::sound {

constexpr double kMaxSmallDecay = 0.01;  ///< of a step

/// exp(-x) of each x = decays[m] step <= kMaxSmallDecay by its series; what is left out is below 2e-13.
void small_decay_factors(const double* decays, double step, double* factors, std::size_t count);

/// One complex number a mode.
struct ComplexRow {
  double* re;
  double* im;
};
struct ConstComplexRow {
  const double* re;
  const double* im;
};
/// out[m] = factors[m] in[m], and with the factors to the power ModalBank::kInterval.
void multiply(const double* factors, ConstComplexRow in, ComplexRow out, std::size_t count);
void multiply_by_power(const double* factors, ConstComplexRow in, ComplexRow out, std::size_t count);

/// 1 / s^2 of s = -(decays[m] + extra[m]) + i omegas[m].
void inverse_squares(const double* decays, const double* extra, const double* omegas, ComplexRow out,
                     std::size_t count);

/// monotone_slope() of each mode at the middle one of three points that are `left` and `right` apart.
void monotone_slopes(const double* before, const double* here, const double* after, double left, double right,
                     double* slopes, std::size_t count);

using FourRows = std::array<const double*, 4>;
using FourWeights = std::array<double, 4>;
/// sums[m] += sum over k of weights[k] rows[k][m].
void add_weighted(const FourRows& rows, const FourWeights& weights, double* sums, std::size_t count);

}  // namespace thrum::sound
