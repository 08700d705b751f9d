// SPDX-License-Identifier: MIT
// Mode shapes as a picture: each mode at full amplitude, x y z displacement as red green blue [Coevoet20,
// figure 2].
#pragma once

#include "thrum/media/image.h"
#include "thrum/model/modal_model.h"

namespace thrum::media {

struct ModesPictureDesc {
  int modes = 4;  ///< number of modes, lowest first, in rows of `columns`
  int columns = 2;
  int width = 640;              ///< of one mode [pixel]
  int height = 400;             ///< of one mode [pixel]
  double amplitude = 1.0 / 14;  ///< full amplitude as a fraction of the body's size
};

/// Throws Error when the model has no modes.
[[nodiscard]] Image modes_picture(const model::ModalModel& model, const ModesPictureDesc& desc = {});

}  // namespace thrum::media
