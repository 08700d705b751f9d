// SPDX-License-Identifier: MIT
// Places of grid lines along one axis, close together where small cells are needed.
#pragma once

#include <vector>

namespace thrum::tets {

/// How fast cells may grow with the distance from an interval that needs small ones.
inline constexpr double kCellGrowth = 1.5;

/// `planes` are ascending [m], `sizes` the largest cell in each interval between two of them [m]. At a
/// distance d from an interval that needs cells of s, cells are at most s + kCellGrowth d, and all are
/// `scale` times as large, but for the rounding to a whole number in each interval. Throws Error where there
/// would be more than kMaxBlockCells lines, or a size is not positive.
[[nodiscard]] std::vector<double> graded_lines(const std::vector<double>& planes,
                                               const std::vector<double>& sizes, double scale);

}  // namespace thrum::tets
