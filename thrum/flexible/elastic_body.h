// SPDX-License-Identifier: MIT
// What a body is made of, for the flexible stepper.
#pragma once

#include <memory>

#include "thrum/model/modal_model.h"

namespace thrum::flexible {

struct ElasticBody {
  double modulus = 0;  ///< E / (1 - nu^2); 0: that of hard wood [Pa]
  /// In the axes of its shape; empty: a rigid body, of which only the places of contact yield.
  std::shared_ptr<const model::ModalModel> modes = {};
  /// FlexibleReport::modal_forces has the forces on its modes, for the sound of it.
  bool records_forces = false;
};

}  // namespace thrum::flexible
