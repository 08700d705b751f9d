// SPDX-License-Identifier: MIT
// The header of an .npy file as data: what npz.cpp writes and npy_format.cpp reads.
//
//   \x93NUMPY  major minor  header length (2 or 4 bytes)
//   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//
// padded with spaces and a line feed to a multiple of 64 bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/npz.h"

namespace thrum::base::detail {

/// The header, magic and padding included. `descr` is NumPy's, for example "<f8".
[[nodiscard]] std::string make_npy_header(std::string_view descr, const std::vector<std::size_t>& shape);

/// NumPy's descr of a type of numbers.
[[nodiscard]] std::string_view descr_of(DType type);

/// Bytes of one number.
[[nodiscard]] std::size_t size_of(DType type);

/// Text in UTF-8 to four-byte code points and back; invalid sequences become U+FFFD.
[[nodiscard]] std::u32string decode_utf8(std::string_view text);
[[nodiscard]] std::string encode_utf8(std::u32string_view text);

}  // namespace thrum::base::detail
