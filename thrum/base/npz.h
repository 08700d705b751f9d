// SPDX-License-Identifier: MIT
// Arrays of numbers in NumPy's files, for baked data and for other programs.
//
//   NpzWriter file("plate.npz");
//   file.add("frequencies", std::span<const double>(frequencies));
//   file.add("shapes", std::span<const float>(shapes), {modes, vertices, 3});
//   file.add_text("material", "steel");
//   file.commit();
//
//   const NpzFile read = read_npz("plate.npz");
//   std::span<const double> f = read.at("frequencies").as<double>({kAnySize});
//
// An .npz is a zip of .npy files, written here without compression: as numpy.savez does. It is written under
// a temporary name and renamed, and holds no dates, so the same arrays give the same bytes. Reading trusts
// nothing: counts are compared with the size of the file before memory is allocated, checksums are verified,
// and errors name the byte offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "thrum/base/atomic_file.h"

namespace thrum::base {

enum class DType { float64, float32, int64, int32, uint8, text };

/// "float64" and so on, NumPy's names.
[[nodiscard]] std::string_view name_of(DType type);

template <class T>
[[nodiscard]] constexpr DType dtype_of()
{
  if constexpr (std::is_same_v<T, double>)
    return DType::float64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::float32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::int64;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::int32;
  else {
    static_assert(std::is_same_v<T, std::uint8_t>, "arrays hold double, float, int64, int32 or uint8");
    return DType::uint8;
  }
}

/// Matches any size where a size is expected.
inline constexpr std::size_t kAnySize = static_cast<std::size_t>(-1);

/// An array in row-major order; text is a single text or a list of them.
struct NpyArray {
  DType type = DType::float64;
  std::vector<std::size_t> shape;  ///< empty for a single number
  std::vector<std::byte> data;     ///< numbers, little-endian
  std::vector<std::string> texts;  ///< for DType::text, UTF-8
  std::string name;                ///< "plate.npz: frequencies", for messages

  /// The numbers. Throws Error when the type differs, or the shape is not as expected (kAnySize matches any).
  template <class T>
  [[nodiscard]] std::span<const T> as() const
  {
    require_type(dtype_of<T>());
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as(const std::vector<std::size_t>& expected_shape) const
  {
    require_shape(expected_shape);
    return as<T>();
  }

  /// The single text; throws Error when it is not one.
  [[nodiscard]] const std::string& text() const;

  /// Number of elements.
  [[nodiscard]] std::size_t size() const;

 private:
  void require_type(DType expected) const;
  void require_shape(const std::vector<std::size_t>& expected) const;
};

class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path);

  /// An empty shape means one row of all the values. The product of the shape must be the number of values.
  template <class T>
  void add(std::string_view name, std::span<const T> values, std::vector<std::size_t> shape = {})
  {
    if (shape.empty()) shape = {values.size()};
    add_raw(name, dtype_of<T>(), std::as_bytes(values), values.size(), shape);
  }
  template <class T>
  void add(std::string_view name, const std::vector<T>& values, std::vector<std::size_t> shape = {})
  {
    add(name, std::span<const T>(values), std::move(shape));
  }
  /// A single number.
  void add(std::string_view name, double value);
  void add(std::string_view name, std::int64_t value);
  void add_text(std::string_view name, std::string_view text);
  void add_texts(std::string_view name, std::span<const std::string> texts);

  /// Writes the table of contents and gives the file its name.
  void commit();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum = 0;
    std::uint32_t size = 0;
    std::uint32_t offset = 0;
  };
  void add_raw(std::string_view name, DType type, std::span<const std::byte> data, std::size_t count,
               const std::vector<std::size_t>& shape);
  void add_entry(std::string_view name, std::string_view header, std::span<const std::byte> data);
  void add_unicode(std::string_view name, std::span<const std::string> texts,
                   const std::vector<std::size_t>& shape);

  AtomicFile file_;
  std::vector<Entry> entries_;
};

class NpzFile {
 public:
  [[nodiscard]] bool contains(std::string_view name) const { return arrays_.count(std::string(name)) == 1; }
  /// Throws Error, listing the arrays in the file, when there is no such array.
  [[nodiscard]] const NpyArray& at(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, NpyArray>& arrays() const { return arrays_; }

 private:
  friend NpzFile parse_npz(std::span<const std::byte>, const std::filesystem::path&);
  std::string file_;
  std::map<std::string, NpyArray> arrays_;
};

/// Throws Error when the file cannot be read and InputError, with the byte, when it is not a valid .npz.
[[nodiscard]] NpzFile read_npz(const std::filesystem::path& path);

/// The same from memory; `path` is only used in messages.
[[nodiscard]] NpzFile parse_npz(std::span<const std::byte> bytes, const std::filesystem::path& path);

/// One .npy file, from memory. `offset` is its position in `path`, for messages.
[[nodiscard]] NpyArray parse_npy(std::span<const std::byte> bytes, const std::filesystem::path& path,
                                 std::size_t offset = 0);
[[nodiscard]] NpyArray read_npy(const std::filesystem::path& path);

/// The CRC-32 of zip files (polynomial 0xEDB88320); `before` continues an earlier one.
[[nodiscard]] std::uint32_t crc32(std::span<const std::byte> data, std::uint32_t before = 0);

}  // namespace thrum::base
