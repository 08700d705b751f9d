// SPDX-License-Identifier: MIT
#include "thrum/media/base64.h"

#include <cstddef>
#include <cstdint>

namespace thrum::media {

std::string base64(std::string_view bytes)
{
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    // Three bytes are four digits of six bits; the end is padded with '='.
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      bits = (bits << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= count ? kDigits[(bits >> (18 - 6 * k)) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace thrum::media
