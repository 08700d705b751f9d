// SPDX-License-Identifier: MIT
#include "thrum/elastic/fill_quality.h"

#include <algorithm>
#include <cmath>

namespace thrum::elastic {

QualityLevel level_of(Quality quality)
{
  switch (quality) {
    case Quality::draft:
      return {0.05, 6e3};
    case Quality::normal:
      return {0.01, 25e3};
    case Quality::fine:
      return {0.002, 120e3};
  }
  return {};
}

double worst_error(const model::ModalModel& model)
{
  constexpr double kMaxAudibleFrequency = 20e3;
  double worst = 0;
  for (Eigen::Index k = 0; k < model.frequency_errors.size(); ++k)
    if (k == 0 || model.frequencies[k] < kMaxAudibleFrequency)
      worst = std::max(worst, model.frequency_errors[k]);
  return worst;
}

double share_of_difference(double ratio)
{
  constexpr double kMargin = 1.25;
  return kMargin / (ratio - 1);
}

VecX errors_by_difference(const VecX& coarse, const VecX& fine, double share)
{
  constexpr double kSmallestError = 1e-5;
  const Eigen::Index count = std::min(coarse.size(), fine.size());
  VecX errors = VecX::Constant(fine.size(), 0);
  double largest = kSmallestError;
  for (Eigen::Index k = 0; k < count; ++k) {
    errors[k] = std::max(kSmallestError, share * std::abs(coarse[k] / fine[k] - 1));
    largest = std::max(largest, errors[k]);
  }
  for (Eigen::Index k = count; k < fine.size(); ++k) errors[k] = largest;
  return errors;
}

}  // namespace thrum::elastic
