// SPDX-License-Identifier: MIT
// A small built-in font of 5 x 7 dots, for the numbers beside a colour bar. ASCII only; anything else is a
// '?'.
#pragma once

#include <string_view>

#include "thrum/media/image.h"

namespace thrum::media {

/// Width and height of a line of text [pixel].
[[nodiscard]] int text_width(std::string_view text, int scale = 2);
[[nodiscard]] int text_height(int scale = 2);

/// Draws a line of text with its top left corner at (x, y); a dot is `scale` pixels wide.
void draw_text(Image& image, int x, int y, std::string_view text, const Colour& colour, int scale = 2);

}  // namespace thrum::media
