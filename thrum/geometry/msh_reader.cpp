// SPDX-License-Identifier: MIT
// Reading Gmsh .msh 2.2 and 4.1, text and binary.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/geometry/byte_reader.h"
#include "thrum/geometry/file_bytes.h"
#include "thrum/geometry/tetrahedral_file_builder.h"
#include "thrum/geometry/tetrahedral_mesh_io.h"
#include "thrum/geometry/text_scanner.h"

namespace thrum::geometry {

namespace {

// Nodes of each element type of Gmsh, 0 where there is no such type. Types 4, 11, 29, 30, 31 are tetrahedra
// of order 1 to 5; in all of them the first four nodes are the corners.
constexpr std::array<int, 32> kElementNodes = {0, 2,  3,  4,  4, 8,  6,  5,  3,  6,  9, 10, 27, 18, 14, 1,
                                               8, 20, 15, 13, 9, 10, 12, 15, 15, 21, 4, 5,  6,  20, 35, 56};
constexpr int kTetrahedron = 4;

std::size_t nodes_of(std::int64_t type)
{
  if (type < 0 || type >= static_cast<std::int64_t>(kElementNodes.size())) return 0;
  return static_cast<std::size_t>(kElementNodes[static_cast<std::size_t>(type)]);
}

bool is_tetrahedron(std::int64_t type)
{
  return type == kTetrahedron || type == 11 || type == 29 || type == 30 || type == 31;
}

// The numbers of a section as text or as bytes, behind the same calls.
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
  explicit BinaryNumbers(ByteReader& reader) : reader_(reader) {}
  std::int64_t integer(const char* what) { return reader_.read<std::int32_t>(what); }
  std::int64_t tag(const char* what)
  {
    const auto value = reader_.read<std::uint64_t>(what);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() - 1);
    if (value > kMost) fail(fmt::format("{} {}", what, value), "a number below 2^63");
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
  ByteReader& reader_;
};

// The sections with numbers. One class for both encodings; the version decides on the layout.
template <class Numbers>
class SectionReader {
 public:
  SectionReader(Numbers& numbers, TetrahedralFileBuilder& builder,
                std::map<std::int64_t, std::int64_t>& physical)
      : numbers_(numbers), builder_(builder), physical_of_volume_(physical)
  {
  }

  // A count that the rest of the file can hold.
  std::size_t checked(std::int64_t count, std::size_t least_bytes, const char* what) const
  {
    const std::size_t most = numbers_.remaining() / least_bytes + 1;
    if (count < 0 || static_cast<std::uint64_t>(count) > most) {
      numbers_.fail(fmt::format("{} {}", count, what),
                    fmt::format("at most {} to the end of the file", most));
    }
    return static_cast<std::size_t>(count);
  }

  Vec3 point()
  {
    const double x = numbers_.real("the x of a node");
    const double y = numbers_.real("the y of a node");
    return {x, y, numbers_.real("the z of a node")};
  }

  void close_nodes()
  {
    if (const auto twice = builder_.close_nodes())
      numbers_.fail(fmt::format("node {} twice", *twice), "each node once");
  }

  Index vertex()
  {
    const std::int64_t tag = v4_ ? numbers_.tag("a node number") : numbers_.integer("a node number");
    const auto found = builder_.vertex(tag);
    if (!found) numbers_.fail(fmt::format("node number {} in an element", tag), "a node of the file");
    return *found;
  }

  void add_element(std::int64_t type, RegionTag region)
  {
    const std::size_t nodes = nodes_of(type);
    if (!is_tetrahedron(type)) {
      for (std::size_t k = 0; k < nodes; ++k)
        static_cast<void>(v4_ ? numbers_.tag("node") : numbers_.integer("node"));
      ++other_elements_;
      return;
    }
    Tetrahedron corners{};
    for (Index& corner : corners) corner = vertex();
    for (std::size_t k = 4; k < nodes; ++k) static_cast<void>(vertex());
    if (nodes > 4) ++curved_;
    builder_.add_tetrahedron(corners, region);
  }

  std::int64_t known_type()
  {
    const std::int64_t type = numbers_.integer("an element type");
    if (nodes_of(type) == 0) numbers_.fail(fmt::format("element type {}", type), "a type from 1 to 31");
    return type;
  }

  // --- version 2.2 ---

  void nodes_v2(std::size_t count)
  {
    builder_.reserve_nodes(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t tag = numbers_.integer("a node number");
      builder_.add_node(tag, point());
    }
    close_nodes();
  }

  RegionTag tags_v2(std::int64_t count)
  {
    RegionTag region;
    const std::size_t tags = checked(count, Numbers::kIntegerBytes, "tags");
    for (std::size_t k = 0; k < tags; ++k) {
      const std::int64_t tag = numbers_.integer("a tag");
      if (k == 0 && tag != 0) region = {RegionTag::Kind::physical, tag};
      if (k == 1 && region.kind == RegionTag::Kind::none) region = {RegionTag::Kind::volume, tag};
    }
    return region;
  }

  void elements_v2_text(std::size_t count)
  {
    for (std::size_t i = 0; i < count; ++i) {
      static_cast<void>(numbers_.integer("an element number"));
      const std::int64_t type = known_type();
      const RegionTag region = tags_v2(numbers_.integer("a number of tags"));
      add_element(type, region);
    }
    say_what_was_passed_over();
  }

  void elements_v2_binary(std::size_t count)
  {
    std::size_t done = 0;
    while (done < count) {
      const std::int64_t type = known_type();
      const std::size_t block =
          checked(numbers_.integer("elements in a block"), Numbers::kIntegerBytes, "elements");
      const std::int64_t tags = numbers_.integer("a number of tags");
      if (block == 0 || block > count - done) {
        numbers_.fail(fmt::format("a block of {} elements", block), fmt::format("1 to {}", count - done));
      }
      for (std::size_t i = 0; i < block; ++i) {
        static_cast<void>(numbers_.integer("an element number"));
        add_element(type, tags_v2(tags));
      }
      done += block;
    }
    say_what_was_passed_over();
  }

  // --- version 4.1 ---

  void entities_v4()
  {
    std::array<std::size_t, 4> counts{};
    for (std::size_t& n : counts) n = checked(numbers_.tag("entities"), 4 * Numbers::kRealBytes, "entities");
    for (std::size_t dimension = 0; dimension < 4; ++dimension) {
      for (std::size_t i = 0; i < counts[dimension]; ++i) read_entity(dimension);
    }
  }

  void read_entity(std::size_t dimension)
  {
    const std::int64_t tag = numbers_.integer("an entity tag");
    // A point has its place, the others their bounding box, which may be empty and then infinite.
    const int reals = dimension == 0 ? 3 : 6;
    for (int k = 0; k < reals; ++k) static_cast<void>(numbers_.real("a coordinate"));
    const std::size_t groups =
        checked(numbers_.tag("physical groups"), Numbers::kIntegerBytes, "physical groups");
    for (std::size_t k = 0; k < groups; ++k) {
      const std::int64_t group = numbers_.integer("a physical group");
      if (dimension == 3 && k == 0) physical_of_volume_[tag] = std::abs(group);
    }
    if (dimension == 0) return;
    const std::size_t sides =
        checked(numbers_.tag("bounding entities"), Numbers::kIntegerBytes, "bounding entities");
    for (std::size_t k = 0; k < sides; ++k) static_cast<void>(numbers_.integer("a bounding entity"));
  }

  void nodes_v4()
  {
    const std::size_t blocks = checked(numbers_.tag("blocks"), Numbers::kIntegerBytes, "blocks");
    const std::size_t total = checked(numbers_.tag("nodes"), 3 * Numbers::kRealBytes, "nodes");
    static_cast<void>(numbers_.tag("least tag"));
    static_cast<void>(numbers_.tag("greatest tag"));
    builder_.reserve_nodes(total);
    std::vector<std::int64_t> tags;
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::int64_t dimension = numbers_.integer("a dimension");
      static_cast<void>(numbers_.integer("an entity tag"));
      const std::int64_t parametric = numbers_.integer("a flag");
      if (dimension < 0 || dimension > 3) numbers_.fail(fmt::format("dimension {}", dimension), "0 to 3");
      const std::size_t count = checked(numbers_.tag("nodes in a block"), 3 * Numbers::kRealBytes, "nodes");
      tags.clear();
      for (std::size_t i = 0; i < count; ++i) tags.push_back(numbers_.tag("a node number"));
      for (const std::int64_t tag : tags) {
        builder_.add_node(tag, point());
        const std::int64_t parameters = parametric != 0 ? dimension : 0;
        for (std::int64_t k = 0; k < parameters; ++k) static_cast<void>(numbers_.real("a parameter"));
      }
    }
    close_nodes();
  }

  void elements_v4()
  {
    const std::size_t blocks = checked(numbers_.tag("blocks"), Numbers::kIntegerBytes, "blocks");
    static_cast<void>(checked(numbers_.tag("elements"), 2 * Numbers::kTagBytes, "elements"));
    static_cast<void>(numbers_.tag("least tag"));
    static_cast<void>(numbers_.tag("greatest tag"));
    for (std::size_t b = 0; b < blocks; ++b) {
      static_cast<void>(numbers_.integer("a dimension"));
      const std::int64_t entity = numbers_.integer("an entity tag");
      const std::int64_t type = known_type();
      const std::size_t count =
          checked(numbers_.tag("elements in a block"), 2 * Numbers::kTagBytes, "elements");
      const auto group = physical_of_volume_.find(entity);
      const RegionTag region = group != physical_of_volume_.end()
                                   ? RegionTag{RegionTag::Kind::physical, group->second}
                                   : RegionTag{RegionTag::Kind::volume, entity};
      for (std::size_t i = 0; i < count; ++i) {
        static_cast<void>(numbers_.tag("an element number"));
        add_element(type, region);
      }
    }
    say_what_was_passed_over();
  }

  void set_v4(bool v4) { v4_ = v4; }

 private:
  void say_what_was_passed_over()
  {
    if (other_elements_ > 0) {
      builder_.note(fmt::format("{} elements that are no tetrahedra were passed over.", other_elements_));
    }
    if (curved_ > 0)
      builder_.note(fmt::format("{} tetrahedra of higher order kept their four corners only.", curved_));
  }

  Numbers& numbers_;
  TetrahedralFileBuilder& builder_;
  std::map<std::int64_t, std::int64_t>& physical_of_volume_;
  bool v4_ = false;
  std::size_t other_elements_ = 0;
  std::size_t curved_ = 0;
};

class MshReader {
 public:
  MshReader(std::string_view bytes, const std::filesystem::path& name)
      : bytes_(bytes), name_(name), scan_(bytes, name)
  {
  }

  TetrahedralMeshFile read()
  {
    scan_.skip_space();
    if (scan_.word() != "$MeshFormat")
      scan_.fail("another beginning", "\"$MeshFormat\" as the first line of a .msh file");
    read_format();
    bool has_nodes = false;
    bool has_elements = false;
    for (;;) {
      scan_.skip_space();
      if (scan_.at_end()) break;
      const std::string_view section = scan_.word();
      if (section == "$PhysicalNames") {
        read_physical_names();
      } else if (section == "$Entities") {
        if (v4_) read_numbers([](auto& reader) { reader.entities_v4(); });
      } else if (section == "$Nodes") {
        if (has_nodes) scan_.fail("a second section $Nodes", "one");
        has_nodes = true;
        read_nodes();
      } else if (section == "$Elements") {
        if (!has_nodes) scan_.fail("$Elements before $Nodes", "$Nodes first");
        if (has_elements) scan_.fail("a second section $Elements", "one");
        has_elements = true;
        read_elements();
      } else if (!section.starts_with("$")) {
        scan_.fail(in_quotes(section), "a section such as $Nodes");
      } else {
        skip_section(section);
        continue;
      }
      expect_end(section);
    }
    if (!has_elements) scan_.fail("no section $Elements", "the elements of a mesh");
    return builder_.finish();
  }

 private:
  void read_format()
  {
    const double version = scan_.next_number("the version");
    const std::int64_t binary = scan_.integer("0 for text or 1 for binary");
    const std::int64_t data_size = scan_.integer("the size of a number");
    // Version 2.x are alike for what is read here; 4.0 has another order of numbers and was given up by Gmsh
    // in a year.
    constexpr double kLastV2 = 2.2;
    constexpr double kV4 = 4.1;
    v4_ = version == kV4;
    if (!v4_ && !(version >= 2 && version <= kLastV2))
      scan_.fail(fmt::format("version {}", version), "2.2 or 4.1");
    if (binary != 0 && binary != 1) scan_.fail(fmt::format("file type {}", binary), "0 (text) or 1 (binary)");
    if (data_size != 8) scan_.fail(fmt::format("numbers of {} bytes", data_size), "8");
    binary_ = binary == 1;
    if (binary_) {
      scan_.next_line();
      ByteReader reader(bytes_, name_);
      reader.seek(scan_.position());
      const auto one = reader.read<std::int32_t>("a one");
      constexpr std::int32_t kOneOtherOrder = 0x01000000;
      if (one != 1 && one != kOneOtherOrder)
        reader.fail(fmt::format("the number {}", one), "1 in one of the byte orders");
      order_ = one == 1 ? ByteOrder::little : ByteOrder::big;
      scan_.advance(sizeof one);
    }
    expect_end("$MeshFormat");
  }

  void expect_end(std::string_view section)
  {
    const std::string expected = fmt::format("$End{}", section.substr(1));
    const std::string_view found = scan_.next_word();
    if (found != expected)
      scan_.fail(found.empty() ? "the end of the file" : in_quotes(found), in_quotes(expected));
  }

  void skip_section(std::string_view section)
  {
    const std::string end = fmt::format("$End{}", section.substr(1));
    while (!scan_.at_end()) {
      if (scan_.rest_of_line() == end) return;
    }
    scan_.fail("the end of the file", in_quotes(end));
  }

  void read_physical_names()
  {
    // "3 1 "x"" takes six bytes at the least, in binary files too: this section is always text.
    const std::size_t count = scan_.next_count("physical names", 6);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t dimension = scan_.next_integer("a dimension");
      const std::int64_t tag = scan_.integer("a physical tag");
      const std::string_view text = scan_.rest_of_line();
      const std::size_t open = text.find('"');
      const std::size_t close = text.rfind('"');
      if (open == std::string_view::npos || open == close)
        scan_.fail(in_quotes(text), "a name between quotes");
      if (dimension == 3) {
        builder_.name_region({RegionTag::Kind::physical, tag},
                             std::string(text.substr(open + 1, close - open - 1)));
      }
    }
  }

  // Calls `work` with a reader of the numbers that follow and moves on behind them.
  template <class Work>
  void read_numbers(Work&& work)
  {
    if (!binary_) {
      TextNumbers numbers(scan_);
      SectionReader section(numbers, builder_, physical_of_volume_);
      section.set_v4(v4_);
      work(section);
      return;
    }
    ByteReader reader(bytes_, name_, order_);
    scan_.next_line();
    reader.seek(scan_.position());
    BinaryNumbers numbers(reader);
    SectionReader section(numbers, builder_, physical_of_volume_);
    section.set_v4(v4_);
    work(section);
    scan_.advance(reader.position() - scan_.position());
  }

  void read_nodes()
  {
    if (v4_) {
      read_numbers([](auto& section) { section.nodes_v4(); });
      return;
    }
    const std::size_t count = scan_.next_count("nodes", binary_ ? 28 : 8);
    read_numbers([count](auto& section) { section.nodes_v2(count); });
  }

  void read_elements()
  {
    if (v4_) {
      read_numbers([](auto& section) { section.elements_v4(); });
      return;
    }
    const std::size_t count = scan_.next_count("elements", 8);
    const bool binary = binary_;
    read_numbers([count, binary](auto& section) {
      if (binary) {
        section.elements_v2_binary(count);
      } else {
        section.elements_v2_text(count);
      }
    });
  }

  std::string_view bytes_;
  const std::filesystem::path& name_;
  TextScanner scan_;
  TetrahedralFileBuilder builder_;
  std::map<std::int64_t, std::int64_t> physical_of_volume_;
  bool v4_ = false;
  bool binary_ = false;
  ByteOrder order_ = ByteOrder::little;
};

}  // namespace

TetrahedralMeshFile read_msh(std::string_view bytes, const std::filesystem::path& name)
{
  return MshReader(bytes, name).read();
}

}  // namespace thrum::geometry
