// SPDX-License-Identifier: MIT
// The questions that every shape generator asks of its description.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "thrum/base/error.h"

namespace thrum::geometry {

inline constexpr int kMostPieces =
    20000;  ///< along one direction of a shape: more is a mistake in the edge length

inline void require_positive(double value, std::string_view what)
{
  if (!(value > 0) || !std::isfinite(value))
    throw Error(fmt::format("The {} is {}; it must be positive.", what, value));
}

inline void require_not_negative(double value, std::string_view what)
{
  if (!(value >= 0) || !std::isfinite(value)) {
    throw Error(fmt::format("The {} is {}; it must be zero or positive.", what, value));
  }
}

/// How many pieces of about `edge_length` make up `length`; at least `fewest`. An edge length of 0 gives
/// `fewest`.
[[nodiscard]] inline int pieces(double length, double edge_length, int fewest = 1)
{
  if (edge_length <= 0) return fewest;
  const double count = std::round(length / edge_length);
  if (count > kMostPieces) {
    throw Error(fmt::format("An edge length of {} m cuts a length of {} m into more than {} pieces.",
                            edge_length, length, kMostPieces));
  }
  return std::max(fewest, static_cast<int>(count));
}

}  // namespace thrum::geometry
