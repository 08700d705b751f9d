// SPDX-License-Identifier: MIT
// The header of a PLY file: which elements follow, how many, with which properties, and how they are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io::ply {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

[[nodiscard]] std::size_t bytes_of(PlyType type);

// How a property is used.
enum class Role { other, x, y, z, corners };

struct Property {
  std::string name;
  PlyType type = PlyType::float32;
  std::optional<PlyType> list_count;  // set for a list
  Role role = Role::other;
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::size_t header_line = 0;
  std::vector<Property> properties;
};

struct Header {
  PlyEncoding encoding = PlyEncoding::ascii;
  std::vector<Element> elements;
};

/// Leaves the scanner at the first byte of the data. Throws InputError with the invalid line.
[[nodiscard]] Header read_header(TextScanner& scan);

}  // namespace thrum::mesh_io::ply
