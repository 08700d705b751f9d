// SPDX-License-Identifier: MIT
// A fixed filter over a row of samples, in vectors.
#pragma once

#include <cstddef>
#include <span>

namespace thrum::sound {

/// out[n] = sum over k of weights[k] samples[n + k], for each n of `out`; samples has out.size() +
/// weights.size() - 1 values. Each sum takes weights 0, 8, 16 ..., then 1, 9, 17 ... and so on, one product
/// at a time, so that the bits depend neither on where a row is cut nor on the processor.
void filter_row(const double* samples, std::span<const double> weights, std::span<double> out);

}  // namespace thrum::sound
