// SPDX-License-Identifier: MIT
// STL, binary and text. An STL has no shared vertices: every triangle has its own three points, so points
// that are bitwise equal become one vertex here. Points that are only close are merged by repair.h.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io {

namespace {

constexpr std::size_t kHeaderBytes = 80;
constexpr std::size_t kTriangleBytes = 50;  // normal, three points, two unused bytes

// Numbers points in the order of their first appearance. Open addressing on the bits of the coordinates.
class PointNumbers {
 public:
  explicit PointNumbers(std::vector<Vec3>& points) : points_(points), table_(kFirstTableSize, kEmpty) {}

  Index number(const Vec3& given)
  {
    if (2 * points_.size() >= table_.size()) grow();
    // Adding zero turns -0 into +0, so that the two are one point.
    const Vec3 p = given + Vec3::Zero();
    std::size_t slot = slot_of(p);
    while (table_[slot] != kEmpty) {
      if (points_[at(table_[slot])] == p) return table_[slot];
      slot = (slot + 1) & (table_.size() - 1);
    }
    table_[slot] = count_of(points_);
    points_.push_back(p);
    return table_[slot];
  }

 private:
  static constexpr Index kEmpty = -1;
  static constexpr std::size_t kFirstTableSize = 64;

  [[nodiscard]] std::size_t slot_of(const Vec3& p) const
  {
    // Multiply and fold; the constant is 2^64 divided by the golden ratio.
    constexpr std::uint64_t kHashMultiplier = 0x9e3779b97f4a7c15;
    std::uint64_t h = 0;
    for (int k = 0; k < 3; ++k) {
      h = (h ^ std::bit_cast<std::uint64_t>(p[k])) * kHashMultiplier;
      h ^= h >> 29;
    }
    return static_cast<std::size_t>(h) & (table_.size() - 1);
  }
  void grow()
  {
    table_.assign(2 * table_.size(), kEmpty);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      std::size_t slot = slot_of(points_[i]);
      while (table_[slot] != kEmpty) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = static_cast<Index>(i);
    }
  }

  std::vector<Vec3>& points_;
  std::vector<Index> table_;
};

void note_welded_vertices(MeshFile& file)
{
  file.notes.push_back(fmt::format("{} triangle corners at equal points were merged to {} vertices.",
                                   3 * file.mesh.triangles.size(), file.mesh.vertices.size()));
}

MeshFile read_binary(std::string_view bytes, const std::filesystem::path& name)
{
  base::ByteReader reader(bytes, name);
  reader.seek(kHeaderBytes);
  const auto count = reader.read<std::uint32_t>("triangle count");
  reader.require(count, kTriangleBytes, "triangles");
  // Some programs append bytes to their triangles; bytes without any triangle are another format.
  if (count == 0 && reader.remaining() > 0) reader.fail("no triangles", "a binary or text STL file");
  MeshFile file;
  file.mesh.triangles.reserve(count);
  PointNumbers numbers(file.mesh.vertices);
  for (std::uint32_t t = 0; t < count; ++t) {
    const std::string_view record = reader.take(kTriangleBytes, "triangle");
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3 p;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        p[static_cast<int>(axis)] = static_cast<double>(
            number_from_bytes<float>(record.data() + 12 * (k + 1) + 4 * axis, base::ByteOrder::little));
      }
      if (!p.allFinite()) {
        reader.seek(reader.position() - kTriangleBytes);
        reader.fail(fmt::format("a corner ({}, {}, {}) in triangle {}", p.x(), p.y(), p.z(), t),
                    "finite coordinates");
      }
      triangle[k] = numbers.number(p);
    }
    file.mesh.triangles.push_back(triangle);
  }
  note_welded_vertices(file);
  if (reader.remaining() > 0) {
    file.notes.push_back(fmt::format("{} bytes after the last triangle were skipped.", reader.remaining()));
  }
  return file;
}

class TextReader {
 public:
  TextReader(std::string_view bytes, const std::filesystem::path& name)
      : scan_(bytes, name), numbers_(file_.mesh.vertices)
  {
  }

  MeshFile read()
  {
    scan_.skip_space();
    while (!scan_.at_end()) {
      read_solid();
      scan_.skip_space();
    }
    if (file_.part_names.size() < 2) file_.parts.clear();
    if (file_.part_names.size() == 1 && file_.part_names.front().empty()) file_.part_names.clear();
    if (file_.parts.empty() && !file_.part_names.empty()) file_.parts.assign(file_.mesh.triangles.size(), 0);
    note_welded_vertices(file_);
    return std::move(file_);
  }

 private:
  void expect(std::string_view word)
  {
    scan_.skip_space();
    const std::string_view found = scan_.word();
    if (found != word) {
      scan_.fail(found.empty() ? "the end of the file" : quoted_text(found), fmt::format("\"{}\"", word));
    }
  }

  void read_solid()
  {
    expect("solid");
    file_.part_names.emplace_back(scan_.rest_of_line());
    const auto part = static_cast<Index>(file_.part_names.size() - 1);
    for (;;) {
      const std::string_view word = scan_.next_word();
      if (word == "endsolid") {
        scan_.next_line();
        return;
      }
      if (word != "facet") {
        scan_.fail(word.empty() ? "the end of the file" : quoted_text(word), "\"facet\" or \"endsolid\"");
      }
      read_facet();
      file_.parts.push_back(part);
    }
  }

  void read_facet()
  {
    // The normal follows from the corners; some programs write "nan" for it.
    expect("normal");
    scan_.next_line();
    expect("outer");
    expect("loop");
    Triangle triangle{};
    for (Index& corner : triangle) {
      expect("vertex");
      Vec3 p;
      p.x() = scan_.number("the x of a vertex");
      p.y() = scan_.number("the y of a vertex");
      p.z() = scan_.number("the z of a vertex");
      corner = numbers_.number(p);
    }
    expect("endloop");
    expect("endfacet");
    file_.mesh.triangles.push_back(triangle);
  }

  TextScanner scan_;
  MeshFile file_;
  PointNumbers numbers_;
};

// Binary files may begin with "solid" too. The length decides: 84 bytes plus 50 for each triangle in the
// header.
bool is_binary(std::string_view bytes)
{
  if (bytes.size() >= kHeaderBytes + 4) {
    const std::uint64_t count =
        number_from_bytes<std::uint32_t>(bytes.data() + kHeaderBytes, base::ByteOrder::little);
    if (bytes.size() == kHeaderBytes + 4 + kTriangleBytes * count) return true;
  }
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes.substr(first, 5) != "solid") return true;
  // Text contains no zero byte; a binary file with a wrong length has one in its header or first numbers.
  constexpr std::size_t kProbeBytes = 512;
  return bytes.substr(0, kProbeBytes).find('\0') != std::string_view::npos;
}

float checked_float(double value)
{
  const auto narrow = static_cast<float>(value);
  if (!std::isfinite(narrow))
    throw Error(fmt::format("The coordinate {} does not fit the 32-bit floats of STL.", value));
  return narrow;
}

}  // namespace

MeshFile read_stl(std::string_view bytes, const std::filesystem::path& name)
{
  return is_binary(bytes) ? read_binary(bytes, name) : TextReader(bytes, name).read();
}

std::string write_stl(const mesh::TriangleMesh& mesh)
{
  check_indices(mesh);
  std::string out = "binary STL, metres, z up";
  out.resize(kHeaderBytes, ' ');
  out.reserve(kHeaderBytes + 4 + kTriangleBytes * mesh.triangles.size());
  base::append_bytes(out, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 normal = area_vector(mesh, t).stableNormalized();
    for (int k = 0; k < 3; ++k) base::append_bytes(out, static_cast<float>(normal[k]));
    for (int corner = 0; corner < 3; ++corner) {
      const Vec3 p = mesh.corner(t, corner);
      for (int k = 0; k < 3; ++k) base::append_bytes(out, checked_float(p[k]));
    }
    base::append_bytes(out, std::uint16_t{0});
  }
  return out;
}

std::string write_stl_ascii(const mesh::TriangleMesh& mesh)
{
  check_indices(mesh);
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  fmt::format_to(to, "solid mesh\n");
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 normal = area_vector(mesh, t).stableNormalized();
    fmt::format_to(to, "facet normal {} {} {}\nouter loop\n", normal.x(), normal.y(), normal.z());
    for (int corner = 0; corner < 3; ++corner) {
      const Vec3 p = mesh.corner(t, corner);
      fmt::format_to(to, "vertex {} {} {}\n", p.x(), p.y(), p.z());
    }
    fmt::format_to(to, "endloop\nendfacet\n");
  }
  fmt::format_to(to, "endsolid mesh\n");
  return {out.data(), out.size()};
}

}  // namespace thrum::mesh_io
