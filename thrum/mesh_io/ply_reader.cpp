// SPDX-License-Identifier: MIT
// PLY, text and binary in both byte orders. Elements and properties that are not x y z or the corners of
// faces are skipped, whatever their types.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/face_collector.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/ply_header.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io {

namespace {

using ply::bytes_of;
using ply::Element;
using ply::Header;
using ply::PlyType;
using ply::Property;
using ply::Role;

// A value of any type as a double: exact, since all of them have at most 53 bits.
double value_from_bytes(const char* bytes, PlyType type, base::ByteOrder order)
{
  switch (type) {
    case PlyType::int8:
      return static_cast<double>(number_from_bytes<std::int8_t>(bytes, order));
    case PlyType::uint8:
      return static_cast<double>(number_from_bytes<std::uint8_t>(bytes, order));
    case PlyType::int16:
      return static_cast<double>(number_from_bytes<std::int16_t>(bytes, order));
    case PlyType::uint16:
      return static_cast<double>(number_from_bytes<std::uint16_t>(bytes, order));
    case PlyType::int32:
      return static_cast<double>(number_from_bytes<std::int32_t>(bytes, order));
    case PlyType::uint32:
      return static_cast<double>(number_from_bytes<std::uint32_t>(bytes, order));
    case PlyType::float32:
      return static_cast<double>(number_from_bytes<float>(bytes, order));
    case PlyType::float64:
      return number_from_bytes<double>(bytes, order);
  }
  return 0;
}

// The source of values, text or bytes, with the same interface.
class TextValues {
 public:
  explicit TextValues(const TextScanner& scan) : scan_(scan) {}
  double value(PlyType)
  {
    // "nan" and "inf" may appear in properties that are not read; as coordinates they are rejected by the
    // caller.
    scan_.skip_space();
    if (!scan_.at_end() &&
        (scan_.peek() == 'n' || scan_.peek() == 'N' || scan_.peek() == 'i' || scan_.peek() == 'I')) {
      scan_.word();
      return std::numeric_limits<double>::quiet_NaN();
    }
    return scan_.number("a value");
  }
  void skip(const Property& property, std::uint64_t count)
  {
    for (std::uint64_t i = 0; i < count; ++i) value(property.type);
  }
  // The minimum number of bytes of a value: one digit and a blank.
  [[nodiscard]] static std::size_t min_bytes(PlyType) { return 2; }
  // The last value of a file may have no blank behind it.
  [[nodiscard]] std::size_t remaining() const { return scan_.remaining() + 1; }
  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    scan_.fail(std::move(found), std::move(expected));
  }

 private:
  TextScanner scan_;
};

class BinaryValues {
 public:
  explicit BinaryValues(const base::ByteReader& reader) : reader_(reader) {}
  double value(PlyType type)
  {
    return value_from_bytes(reader_.take(bytes_of(type), "bytes of a value").data(), type, reader_.order());
  }
  void skip(const Property& property, std::uint64_t count)
  {
    reader_.require(count, bytes_of(property.type), "values");
    reader_.seek(reader_.position() + static_cast<std::size_t>(count) * bytes_of(property.type));
  }
  [[nodiscard]] static std::size_t min_bytes(PlyType type) { return bytes_of(type); }
  [[nodiscard]] std::size_t remaining() const { return reader_.remaining(); }
  [[nodiscard]] base::ByteReader& reader() { return reader_; }
  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    reader_.fail(std::move(found), std::move(expected));
  }

 private:
  base::ByteReader reader_;
};

template <class Values>
class BodyReader {
 public:
  BodyReader(const Header& header, Values values, const std::filesystem::path& name)
      : header_(header), values_(std::move(values)), name_(name)
  {
    for (const Element& element : header.elements) {
      if (element.name == "vertex") vertex_count_ = static_cast<double>(element.count);
    }
  }

  MeshFile read()
  {
    for (const Element& element : header_.elements) {
      check_count_fits(element);
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element);
      } else if (element.name == "tristrips") {
        read_strips(element);
      } else {
        skip_element(element);
      }
    }
    if (!has_vertices_) throw InputError({name_}, "no element \"vertex\"", "the vertices of a mesh");
    faces_.finish(file_.mesh, file_.notes);
    return std::move(file_);
  }

 private:
  // Rejects a count that the rest of the file cannot contain, before any allocation or loop.
  void check_count_fits(const Element& element) const
  {
    std::size_t min_bytes = 0;
    for (const Property& p : element.properties)
      min_bytes += Values::min_bytes(p.list_count ? *p.list_count : p.type);
    if (min_bytes == 0) return;
    const std::uint64_t max_count = values_.remaining() / min_bytes;
    if (element.count > max_count) {
      throw InputError({name_, element.header_line},
                       fmt::format("{} of {}, and {} bytes of data for them", element.count,
                                   quoted_text(element.name), values_.remaining()),
                       fmt::format("at most {}: each takes at least {} bytes", max_count, min_bytes));
    }
  }

  std::uint64_t list_size(const Property& property)
  {
    const double size = values_.value(*property.list_count);
    const std::size_t max_count = values_.remaining() / Values::min_bytes(property.type);
    if (!(size >= 0) || size != std::floor(size) || size > static_cast<double>(max_count)) {
      values_.fail(fmt::format("a list of {} values", size),
                   fmt::format("an integer, at most {} up to the end of the file", max_count));
    }
    return static_cast<std::uint64_t>(size);
  }

  void skip_property(const Property& property)
  {
    values_.skip(property, property.list_count ? list_size(property) : 1);
  }

  void skip_element(const Element& element)
  {
    file_.notes.push_back(
        fmt::format("{} elements {} were skipped.", element.count, quoted_text(element.name)));
    if (element.properties.empty()) return;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      for (const Property& property : element.properties) skip_property(property);
    }
  }

  void add_vertex(const Vec3& p)
  {
    if (!p.allFinite()) {
      values_.fail(fmt::format("vertex {} at ({}, {}, {})", file_.mesh.vertices.size(), p.x(), p.y(), p.z()),
                   "finite coordinates");
    }
    file_.mesh.vertices.push_back(p);
  }

  void read_vertices(const Element& element)
  {
    int axes = 0;
    for (const Property& p : element.properties) axes += p.role != Role::other;
    if (axes != 3)
      throw InputError({name_, element.header_line}, "vertices without x, y or z",
                       "the properties x, y and z");
    if (has_vertices_) throw InputError({name_, element.header_line}, "a second element \"vertex\"", "one");
    if (element.count > static_cast<std::uint64_t>(std::numeric_limits<Index>::max())) {
      throw InputError({name_, element.header_line}, fmt::format("{} vertices", element.count),
                       "less than 2^31");
    }
    has_vertices_ = true;
    file_.mesh.vertices.reserve(static_cast<std::size_t>(element.count));
    if (read_vertices_in_bulk(element)) return;
    for (std::uint64_t i = 0; i < element.count; ++i) {
      Vec3 p = Vec3::Zero();
      for (const Property& property : element.properties) {
        if (property.role == Role::other) {
          skip_property(property);
        } else {
          p[static_cast<int>(property.role) - static_cast<int>(Role::x)] = values_.value(property.type);
        }
      }
      add_vertex(p);
    }
  }

  // Binary vertices without lists are records of one size: the coordinates are at fixed offsets.
  bool read_vertices_in_bulk(const Element& element)
  {
    if constexpr (std::is_same_v<Values, BinaryValues>) {
      std::size_t stride = 0;
      std::array<std::size_t, 3> offset{};
      std::array<PlyType, 3> type{};
      for (const Property& property : element.properties) {
        if (property.list_count) return false;
        if (property.role != Role::other) {
          const auto axis = at(property.role) - at(Role::x);
          offset[axis] = stride;
          type[axis] = property.type;
        }
        stride += bytes_of(property.type);
      }
      base::ByteReader& reader = values_.reader();
      for (std::uint64_t i = 0; i < element.count; ++i) {
        const char* const record = reader.take(stride, "bytes of a vertex").data();
        Vec3 p;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          p[static_cast<int>(axis)] = value_from_bytes(record + offset[axis], type[axis], reader.order());
        }
        add_vertex(p);
      }
      return true;
    }
    return false;
  }

  void read_faces(const Element& element)
  {
    bool has_corners = false;
    for (const Property& p : element.properties) has_corners |= p.role == Role::corners;
    if (!has_corners) {
      throw InputError({name_, element.header_line}, "faces without the list \"vertex_indices\"",
                       "a list of corners");
    }
    faces_.reserve(faces_.size() + static_cast<std::size_t>(element.count));
    for (std::uint64_t i = 0; i < element.count; ++i) {
      for (const Property& property : element.properties) {
        if (property.role == Role::corners) {
          read_corners(property, 0);
          if (corners_.size() < 3) {
            values_.fail(fmt::format("face {} of {} corners", i, corners_.size()), "three corners or more");
          }
          faces_.add_polygon(corners_);
        } else {
          skip_property(property);
        }
      }
    }
  }

  // Corners are checked against the count in the header, so that the position of an invalid one is known.
  void read_corners(const Property& property, double min_index)
  {
    const std::uint64_t size = list_size(property);
    corners_.clear();
    for (std::uint64_t k = 0; k < size; ++k) {
      const double index = values_.value(property.type);
      if (!(index >= min_index && index < vertex_count_) || index != std::floor(index)) {
        values_.fail(fmt::format("vertex number {}", index), fmt::format("0 to {}", vertex_count_ - 1));
      }
      corners_.push_back(static_cast<Index>(index));
    }
  }

  static constexpr double kNextStrip = -1;

  // Triangle strips as in the scans of the Stanford repository: -1 starts the next strip.
  void read_strips(const Element& element)
  {
    for (std::uint64_t i = 0; i < element.count && !element.properties.empty(); ++i) {
      for (const Property& property : element.properties) {
        if (property.role == Role::corners) {
          read_corners(property, kNextStrip);
          add_strip();
        } else {
          skip_property(property);
        }
      }
    }
  }

  void add_strip()
  {
    std::size_t first = 0;
    for (std::size_t k = 0; k < corners_.size(); ++k) {
      if (corners_[k] < 0) {
        first = k + 1;
      } else if (k >= first + 2) {
        const bool odd = (k - first) % 2 == 1;
        faces_.add_triangle(corners_[odd ? k - 1 : k - 2], corners_[odd ? k - 2 : k - 1], corners_[k]);
      }
    }
  }

  const Header& header_;
  Values values_;
  const std::filesystem::path& name_;
  MeshFile file_;
  FaceCollector faces_;
  std::vector<Index> corners_;
  bool has_vertices_ = false;
  double vertex_count_ = 0;
};

}  // namespace

MeshFile read_ply(std::string_view bytes, const std::filesystem::path& name)
{
  TextScanner scan(bytes, name);
  const Header header = ply::read_header(scan);
  if (header.encoding == PlyEncoding::ascii) return BodyReader(header, TextValues(scan), name).read();
  base::ByteReader reader(
      bytes, name,
      header.encoding == PlyEncoding::big_endian ? base::ByteOrder::big : base::ByteOrder::little);
  reader.seek(scan.position());
  return BodyReader(header, BinaryValues(reader), name).read();
}

}  // namespace thrum::mesh_io
