// SPDX-License-Identifier: MIT
// How a time grows with the size of a scene.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/harness.h"

namespace thrum::bench {

struct Growth {
  double count = 0;
  double seconds = 0;
};

/// Slope of the straight line nearest to the logarithms: 1 for a time proportional to the count.
[[nodiscard]] double growth_exponent(const std::vector<Growth>& sizes);

/// What counts as linear: the steepest slope that is accepted.
constexpr double kMaxGrowthExponent = 1.15;

/// A row for the slope over all sizes and one for the time of a step at the last of them.
void report_growth(Report& report, const std::string& slope_name, const std::string& step_name,
                   const std::vector<Growth>& sizes, double max_exponent = kMaxGrowthExponent);

}  // namespace thrum::bench
