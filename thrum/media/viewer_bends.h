// SPDX-License-Identifier: MIT
// How bodies bend, in the form in which a page stores it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "thrum/sim/recording.h"

namespace thrum::media {

/// For each mesh that bends: its modes as morph targets, and the amplitudes of its bodies in each frame from
/// the first to the last in which they are bent. An empty list when nothing bends.
[[nodiscard]] nlohmann::json bends_of(const sim::Recording& recording);

}  // namespace thrum::media
