// SPDX-License-Identifier: MIT
// How far kicks are from a reference, in three numbers, and models with fewer modes to compare.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "thrum/model/modal_model.h"

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

/// The lowest modes of a model.
inline std::shared_ptr<const model::ModalModel> lowest(const model::ModalModel& model, Index count)
{
  auto few = std::make_shared<model::ModalModel>(model);
  few->frequencies.conservativeResize(count);
  few->decays.conservativeResize(count);
  few->shapes.conservativeResize(Eigen::NoChange, count);
  return few;
}

}  // namespace thrum::bench
