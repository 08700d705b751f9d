// SPDX-License-Identifier: MIT
// 0 <= x  perpendicular to  A x - b >= 0, for the impulses of contacts that act at the same moment.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/numerics/complementarity.h"

namespace thrum::vibration {

struct OneSidedDesc {
  /// Share of the diagonal that is added to it: contacts of one flat face have a block that is nearly singular.
  double regularisation = 1e-9;
  numerics::PivotDesc pivoting = {};  ///< none with 0 iterations
  numerics::SweepDesc sweeps = {};    ///< from where pivoting ended, when it reached its limit
};

/// Where neither method reaches its tolerance the better of the two results is taken and `unsolved` counts it.
[[nodiscard]] VecX solve_one_sided(MatX A, const VecX& b, int& unsolved, const OneSidedDesc& desc = {});

}  // namespace thrum::vibration
