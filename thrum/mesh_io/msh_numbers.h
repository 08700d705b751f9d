// SPDX-License-Identifier: MIT
// The parts of a Gmsh file: numbers, as text or as bytes, and types of elements.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "thrum/base/byte_reader.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io::msh {

// Nodes of each element type of Gmsh, 0 where there is no such type. Types 4, 11, 29, 30, 31 are tetrahedra
// of order 1 to 5; in all of them the first four nodes are the corners.
inline constexpr std::array<int, 32> kElementNodes = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                                      10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                                      12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
inline constexpr int kTetrahedron = 4;

[[nodiscard]] inline std::size_t nodes_of(std::int64_t type)
{
  if (type < 0 || type >= static_cast<std::int64_t>(kElementNodes.size())) return 0;
  return at(kElementNodes[at(type)]);
}

[[nodiscard]] inline bool is_tetrahedron(std::int64_t type)
{
  return type == kTetrahedron || type == 11 || type == 29 || type == 30 || type == 31;
}

// The numbers of a section as text or as bytes, with the same interface.
class TextNumbers {
 public:
  explicit TextNumbers(TextScanner& scan) : scan_(scan) {}
  std::int64_t integer(const char* what) { return scan_.next_integer(what); }
  std::int64_t tag(const char* what) { return scan_.next_integer(what); }
  double real(const char* what) { return scan_.next_number(what); }
  // A digit and a blank.
  static constexpr std::size_t kIntegerBytes = 2;
  static constexpr std::size_t kTagBytes = 2;
  static constexpr std::size_t kRealBytes = 2;
  [[nodiscard]] std::size_t remaining() const { return scan_.remaining(); }
  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    scan_.fail(std::move(found), std::move(expected));
  }

 private:
  TextScanner& scan_;
};

class BinaryNumbers {
 public:
  explicit BinaryNumbers(base::ByteReader& reader) : reader_(reader) {}
  std::int64_t integer(const char* what) { return reader_.read<std::int32_t>(what); }
  std::int64_t tag(const char* what)
  {
    const auto value = reader_.read<std::uint64_t>(what);
    constexpr auto kMaxTag = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - 1);
    if (value > kMaxTag) fail(fmt::format("{} {}", what, value), "a number below 2^63");
    return static_cast<std::int64_t>(value);
  }
  double real(const char* what)
  {
    const double value = reader_.read<double>(what);
    if (!std::isfinite(value)) fail(fmt::format("{} {}", what, value), "a finite number");
    return value;
  }
  static constexpr std::size_t kIntegerBytes = 4;
  static constexpr std::size_t kTagBytes = 8;
  static constexpr std::size_t kRealBytes = 8;
  [[nodiscard]] std::size_t remaining() const { return reader_.remaining(); }
  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    reader_.fail(std::move(found), std::move(expected));
  }

 private:
  base::ByteReader& reader_;
};

}  // namespace thrum::mesh_io::msh
