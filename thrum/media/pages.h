// SPDX-License-Identifier: MIT
// Self-contained HTML pages that open from disk. web/ holds their sources; the build bundles and embeds them.
#pragma once

#include <string>
#include <string_view>

#include "thrum/model/modal_model.h"

namespace thrum::media {

/// The bundled page of that name, with a placeholder for the data; empty when thrum was built without pages.
[[nodiscard]] std::string_view page_template(std::string_view name);

/// The page of that name with its data. Throws Error when thrum was built without pages.
[[nodiscard]] std::string fill_page(std::string_view name, std::string_view json);

/// A page that shows the modes of a body in slow motion, with x y z displacement as red green blue
/// [Coevoet20, figure 2], and plays the sound of a strike where the user clicks. Throws Error when thrum was
/// built without pages.
[[nodiscard]] std::string modes_page(const model::ModalModel& model);

}  // namespace thrum::media
