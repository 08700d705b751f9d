// SPDX-License-Identifier: MIT
// The same eigenproblem by the Spectra library: implicitly restarted Lanczos, one vector at a time. The
// simple alternative to block_lanczos.h, kept for comparison.
#pragma once

#include "thrum/numerics/block_lanczos.h"
#include "thrum/numerics/generalised_eigen.h"

namespace thrum::numerics {

[[nodiscard]] GeneralisedEigenResult solve_with_spectra(const ShiftInvertOperator& op,
                                                        const GeneralisedEigenDesc& desc);

}  // namespace thrum::numerics
