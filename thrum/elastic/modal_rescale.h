// SPDX-License-Identifier: MIT
// The modes of the same body in another size, density or stiffness, exactly and without a new solve.
#pragma once

#include "thrum/model/modal_model.h"

namespace thrum::elastic {

/// The same factors for all regions of the body; anything else, such as another Poisson's ratio, needs a new
/// solve.
struct RescaleDesc {
  double size = 1;     ///< all lengths times this
  double density = 1;  ///< all densities times this
  double young = 1;    ///< all Young's moduli times this
};

/// Throws Error for a factor that is not finite and positive.
[[nodiscard]] model::ModalModel rescaled(const model::ModalModel& model, const RescaleDesc& desc);

}  // namespace thrum::elastic
