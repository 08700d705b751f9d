// SPDX-License-Identifier: MIT
// How a time grows with the size of a scene.
#pragma once

#include <vector>

namespace thrum::bench {

struct Growth {
  double count = 0;
  double seconds = 0;
};

/// Slope of the straight line nearest to the logarithms: 1 for a time proportional to the count.
[[nodiscard]] double growth_exponent(const std::vector<Growth>& sizes);

}  // namespace thrum::bench
