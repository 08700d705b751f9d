// SPDX-License-Identifier: MIT
// The inner loop of ModalBank: an interval of modes that ring without forces.
#pragma once

#include <cstddef>
#include <span>

namespace thrum::sound {

constexpr std::size_t kModesAtOnce = 8;  ///< FreeModes::count is a multiple of it
constexpr std::size_t kSumLanes = 8;     ///< sums of one sample, each over every eighth mode

/// One entry a mode in each list. y[n] = Re(w z p^n) satisfies y[n+1] = 2 Re(p) y[n] - |p|^2 y[n-1]. While a
/// load changes at the rate r, z + r / s^2 is what runs free.
struct FreeModes {
  double* re;  ///< z
  double* im;
  const double* pole_re;  ///< p
  const double* pole_im;
  const double* jump_re;  ///< p to the power `samples`
  const double* jump_im;
  const double* weight_re;  ///< w
  const double* weight_im;
  const double* rate;       ///< r; null: no load
  const double* square_re;  ///< 1 / s^2
  const double* square_im;
  std::size_t count;
  std::size_t samples;
  bool moves;  ///< z is moved to the end of the interval
};

/// Sets lanes[n kSumLanes ...] of each sample n to the sums of y[n]; returns what the load adds to the sum of
/// every sample, which is to be taken off. The bits do not depend on the processor.
[[nodiscard]] double ring_freely(const FreeModes& modes, double* lanes);

/// Of one sample.
[[nodiscard]] inline double sum_of_lanes(const double* lanes)
{
  static_assert(kSumLanes == 8);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/// Adds the sum of each sample, less `offset`, to `out`; an even number of samples.
void add_sums_of_lanes(const double* lanes, double offset, std::span<double> out);

}  // namespace thrum::sound
