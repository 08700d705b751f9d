// SPDX-License-Identifier: MIT
// How far kicks are from a reference, in three numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace thrum::bench {

struct Score {
  double bias = 1;           ///< geometric mean of the ratios
  double median = 1;         ///< factor by which the median body is off, either way
  double percentile_90 = 1;  ///< likewise, worst tenth
};

/// Of kick / reference.
inline Score score_of(const std::vector<double>& ratios)
{
  Score score;
  double sum = 0;
  std::vector<double> factors;
  for (const double r : ratios) {
    sum += std::log(r);
    factors.push_back(std::max(r, 1 / r));
  }
  std::sort(factors.begin(), factors.end());
  score.bias = std::exp(sum / static_cast<double>(ratios.size()));
  score.median = factors[factors.size() / 2];
  score.percentile_90 = factors[factors.size() * 9 / 10];
  return score;
}

}  // namespace thrum::bench
