// SPDX-License-Identifier: MIT
// Reads a binary file front to back, never past its end; errors name the byte offset.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>

#include "thrum/base/error.h"

namespace thrum::base {

enum class ByteOrder { little, big };

/// Reads a number from bytes in the given order, at any alignment. The machine itself is little-endian (x86,
/// ARM, wasm).
template <class T>
[[nodiscard]] T number_from_bytes(const char* bytes, ByteOrder order)
{
  static_assert(std::is_arithmetic_v<T>);
  char turned[sizeof(T)];
  if (order == ByteOrder::big) {
    for (std::size_t i = 0; i < sizeof(T); ++i) turned[i] = bytes[sizeof(T) - 1 - i];
    bytes = turned;
  }
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Appends the bytes of a number.
template <class T>
void append_bytes(std::string& out, T value, ByteOrder order = ByteOrder::little)
{
  static_assert(std::is_arithmetic_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if (order == ByteOrder::big) {
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  }
  out.append(bytes, sizeof(T));
}

class ByteReader {
 public:
  /// Keeps a view of `bytes` and a reference to `file`; both must outlive the reader.
  ByteReader(std::string_view bytes, const std::filesystem::path& file, ByteOrder order = ByteOrder::little)
      : bytes_(bytes), file_(file), order_(order)
  {
  }

  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - at_; }
  [[nodiscard]] ByteOrder order() const { return order_; }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  void set_order(ByteOrder order) { order_ = order; }
  /// A sentence that ends every message: what to do when the file is damaged.
  void set_advice(std::string advice) { advice_ = std::move(advice); }
  void seek(std::size_t position) { at_ = position < bytes_.size() ? position : bytes_.size(); }

  /// Throws InputError when fewer than `count` items of `size` bytes are left.
  void require(std::uint64_t count, std::size_t size, const char* what) const
  {
    if (count > remaining() / size) {
      fail(fmt::format("{} bytes to the end of the file", remaining()),
           fmt::format("{} {} of {} bytes", count, what, size));
    }
  }
  template <class T>
  [[nodiscard]] T read(const char* what)
  {
    require(1, sizeof(T), what);
    const T value = number_from_bytes<T>(bytes_.data() + at_, order_);
    at_ += sizeof(T);
    return value;
  }
  /// The next `count` bytes.
  [[nodiscard]] std::string_view take(std::uint64_t count, const char* what)
  {
    require(count, 1, what);
    const std::string_view part = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return part;
  }

  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    if (!advice_.empty()) expected += ". " + advice_;
    throw InputError({file_, 0, 0, static_cast<std::ptrdiff_t>(at_)}, std::move(found), std::move(expected));
  }

 private:
  std::string_view bytes_;
  const std::filesystem::path& file_;
  ByteOrder order_;
  std::string advice_;
  std::size_t at_ = 0;
};

}  // namespace thrum::base
