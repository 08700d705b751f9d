// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/ply_header.h"

#include <fmt/format.h>

#include <array>

#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io::ply {

namespace {

std::optional<PlyType> type_from_word(std::string_view word)
{
  constexpr std::array<std::array<std::string_view, 2>, 8> kNames = {{{"char", "int8"},
                                                                      {"uchar", "uint8"},
                                                                      {"short", "int16"},
                                                                      {"ushort", "uint16"},
                                                                      {"int", "int32"},
                                                                      {"uint", "uint32"},
                                                                      {"float", "float32"},
                                                                      {"double", "float64"}}};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (word == kNames[i][0] || word == kNames[i][1]) return static_cast<PlyType>(i);
  }
  return std::nullopt;
}

Role role_of(const Element& element, const Property& property)
{
  if (element.name == "vertex" && !property.list_count) {
    if (property.name == "x") return Role::x;
    if (property.name == "y") return Role::y;
    if (property.name == "z") return Role::z;
  }
  const bool holds_faces = element.name == "face" || element.name == "tristrips";
  if (holds_faces && property.list_count &&
      (property.name == "vertex_indices" || property.name == "vertex_index")) {
    return Role::corners;
  }
  return Role::other;
}

PlyType read_type(TextScanner& scan)
{
  const std::string_view word = scan.word();
  const auto type = type_from_word(word);
  if (!type)
    scan.fail(fmt::format("the type {}", quoted_text(word)),
              "char, uchar, short, ushort, int, uint, float or double");
  return *type;
}

void read_property(TextScanner& scan, Header& header)
{
  if (header.elements.empty()) scan.fail("a property", "an element before its properties");
  Property property;
  TextScanner ahead = scan;
  if (ahead.word() == "list") {
    scan.word();
    property.list_count = read_type(scan);
    if (*property.list_count == PlyType::float32 || *property.list_count == PlyType::float64) {
      scan.fail("a list counted by floating-point numbers", "an integer type");
    }
  }
  property.type = read_type(scan);
  property.name = scan.word();
  Element& element = header.elements.back();
  property.role = role_of(element, property);
  for (const Property& other : element.properties) {
    if (property.role != Role::other && other.role == property.role) {
      scan.fail(fmt::format("a second property {}", quoted_text(property.name)), "each property once");
    }
  }
  element.properties.push_back(std::move(property));
}

void read_format(TextScanner& scan, Header& header)
{
  const std::string_view word = scan.word();
  if (word == "ascii") {
    header.encoding = PlyEncoding::ascii;
  } else if (word == "binary_little_endian") {
    header.encoding = PlyEncoding::little_endian;
  } else if (word == "binary_big_endian") {
    header.encoding = PlyEncoding::big_endian;
  } else {
    scan.fail(fmt::format("the format {}", quoted_text(word)),
              "ascii, binary_little_endian or binary_big_endian");
  }
}

}  // namespace

std::size_t bytes_of(PlyType type)
{
  constexpr std::array<std::size_t, 8> kTypeBytes = {1, 1, 2, 2, 4, 4, 4, 8};
  return kTypeBytes[at(type)];
}

Header read_header(TextScanner& scan)
{
  if (scan.word() != "ply") scan.fail("an unknown first line", "\"ply\" as the first line of a PLY file");
  scan.next_line();
  Header header;
  bool format_known = false;
  for (;;) {
    if (scan.at_end()) scan.fail("the end of the file", "\"end_header\"");
    const std::string_view keyword = scan.word();
    if (keyword == "format") {
      read_format(scan, header);
      format_known = true;
    } else if (keyword == "element") {
      Element element;
      element.name = scan.word();
      element.header_line = scan.line();
      const std::int64_t count = scan.integer("an element count");
      if (count < 0) scan.fail(fmt::format("the count {}", count), "a count of 0 or more");
      element.count = static_cast<std::uint64_t>(count);
      header.elements.push_back(std::move(element));
    } else if (keyword == "property") {
      read_property(scan, header);
    } else if (keyword == "end_header") {
      scan.next_line();
      break;
    } else if (keyword != "comment" && keyword != "obj_info" && !keyword.empty()) {
      scan.fail(quoted_text(keyword), "format, element, property, comment or end_header");
    }
    scan.next_line();
  }
  if (!format_known) scan.fail("no \"format\" line in the header", "for example \"format ascii 1.0\"");
  return header;
}

}  // namespace thrum::mesh_io::ply
