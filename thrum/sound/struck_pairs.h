// SPDX-License-Identifier: MIT
// By how much pairs of bodies that strike each other in one step give way by their modes: (2) of
// synthesis.cpp.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

namespace thrum::sound {

/// All impacts between two bodies in a step.
struct StruckPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  double along_diagonal = 0;                       ///< sum J_i^2 A_ii [J]
  double along_approach = 0;                       ///< sum J_i v_i [J]
  std::vector<std::complex<double>> modes_a = {};  ///< what the impulses make of the modes of a [kg^1/2 m/s]
  std::vector<std::complex<double>> modes_b = {};

  [[nodiscard]] double rigid() const { return std::max(along_diagonal, along_approach); }  ///< X [J]
};

/// The factor of the impulses of each pair, from 0 to 1. The modes get at most an eighth of the sum of
/// rigid().
[[nodiscard]] std::vector<double> yielding_factors(const std::vector<StruckPair>& pairs);

}  // namespace thrum::sound
