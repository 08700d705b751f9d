// SPDX-License-Identifier: MIT
// Forces on modes as bytes of the file of contacts.
#pragma once

#include <string>
#include <vector>

#include "thrum/base/byte_reader.h"
#include "thrum/sound/excitation.h"

namespace thrum::sound {

/// `last` are those of the step before, none at the beginning of a chunk; they become those of this step.
void append_modal_forces(std::string& out, const std::vector<ModalForceSample>& forces,
                         std::vector<ModalForceSample>& last);
[[nodiscard]] std::vector<ModalForceSample> read_modal_forces(base::ByteReader& in,
                                                              std::vector<ModalForceSample>& last);

}  // namespace thrum::sound
