// SPDX-License-Identifier: MIT
// How accurate the modes of a filled surface shall be, and what several fillings say about their errors.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

struct QualityLevel {
  double max_error;  ///< of the frequencies asked for
  double max_cells;  ///< quadratic ones
};

[[nodiscard]] QualityLevel level_of(Quality quality);

/// The largest error among the modes that can be heard.
[[nodiscard]] double worst_error(const model::ModalModel& model);

/// The difference of each frequency to that of a coarser filling, times `share`: what is left of the error.
/// For modes that the coarser one has not, the largest of the others.
[[nodiscard]] VecX errors_by_difference(const VecX& coarse, const VecX& fine, double share);

/// Of cubic elements: what is left of the difference to `ratio` times fewer of them. The error falls with
/// about their number, since notches and locking are where they are added.
[[nodiscard]] double share_of_difference(double ratio);

}  // namespace thrum::elastic
