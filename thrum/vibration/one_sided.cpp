// SPDX-License-Identifier: MIT
#include "thrum/vibration/one_sided.h"

#include <limits>
#include <utility>

namespace thrum::vibration {

VecX solve_one_sided(MatX A, const VecX& b, int& unsolved, const OneSidedDesc& desc)
{
  if (b.size() == 1) return (b / A(0, 0)).cwiseMax(0.0);
  A.diagonal() *= 1 + desc.regularisation;
  const numerics::ComplementarityBounds bounds{
      VecX::Zero(b.size()), VecX::Constant(b.size(), std::numeric_limits<double>::infinity())};
  numerics::ComplementarityResult pivoted;
  pivoted.x = VecX::Zero(b.size());
  pivoted.residual = std::numeric_limits<double>::infinity();
  if (desc.pivoting.iterations > 0) {
    pivoted = numerics::solve_by_pivoting(A, b, bounds, {}, desc.pivoting);
    if (pivoted.ok()) return std::move(pivoted.x);
  }
  numerics::ComplementarityResult swept = numerics::solve_by_sweeps(A, b, bounds, pivoted.x, desc.sweeps);
  if (!swept.ok()) ++unsolved;
  return std::move((swept.residual <= pivoted.residual ? swept : pivoted).x);
}

}  // namespace thrum::vibration
