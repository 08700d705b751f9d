// SPDX-License-Identifier: MIT
#include "benchmarks/rigid/growth.h"

#include <cmath>

namespace thrum::bench {

double growth_exponent(const std::vector<Growth>& sizes)
{
  double x = 0;
  double y = 0;
  for (const Growth& size : sizes) {
    x += std::log(size.count) / static_cast<double>(sizes.size());
    y += std::log(size.seconds) / static_cast<double>(sizes.size());
  }
  double across = 0;
  double along = 0;
  for (const Growth& size : sizes) {
    across += (std::log(size.count) - x) * (std::log(size.seconds) - y);
    along += (std::log(size.count) - x) * (std::log(size.count) - x);
  }
  return across / along;
}

void report_growth(Report& report, const std::string& slope_name, const std::string& step_name,
                   const std::vector<Growth>& sizes, double max_exponent)
{
  Row slope;
  slope.name = slope_name;
  slope.figure = growth_exponent(sizes);
  slope.unit = "log-log slope";
  slope.target = max_exponent;
  report.row(slope);
  Row step;
  step.name = step_name;
  step.figure = 1e3 * sizes.back().seconds;
  step.unit = "ms";
  report.row(step);
}

}  // namespace thrum::bench
