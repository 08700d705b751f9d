// SPDX-License-Identifier: MIT
// Reading Gmsh .msh 2.2 and 4.1, text and binary.
#include <fmt/format.h>

#include <cstdint>
#include <map>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/msh_numbers.h"
#include "thrum/mesh_io/msh_sections.h"
#include "thrum/mesh_io/tetrahedral_file_builder.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"
#include "thrum/mesh_io/text_scanner.h"

namespace thrum::mesh_io {

namespace {

using msh::BinaryNumbers;
using msh::SectionReader;
using msh::TextNumbers;

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
      scan_.fail("an unknown first line", "\"$MeshFormat\" as the first line of a .msh file");
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
        scan_.fail(quoted_text(section), "a section such as $Nodes");
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
    // All versions 2.x are the same for what is read here; 4.0 has another order of numbers and was replaced
    // within a year.
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
      base::ByteReader reader(bytes_, name_);
      reader.seek(scan_.position());
      const auto one = reader.read<std::int32_t>("the number 1");
      constexpr std::int32_t kOneByteSwapped = 0x01000000;
      if (one != 1 && one != kOneByteSwapped)
        reader.fail(fmt::format("the number {}", one), "1 in one of the byte orders");
      order_ = one == 1 ? base::ByteOrder::little : base::ByteOrder::big;
      scan_.advance(sizeof one);
    }
    expect_end("$MeshFormat");
  }

  void expect_end(std::string_view section)
  {
    const std::string expected = fmt::format("$End{}", section.substr(1));
    const std::string_view found = scan_.next_word();
    if (found != expected)
      scan_.fail(found.empty() ? "the end of the file" : quoted_text(found), quoted_text(expected));
  }

  void skip_section(std::string_view section)
  {
    const std::string end = fmt::format("$End{}", section.substr(1));
    while (!scan_.at_end()) {
      if (scan_.rest_of_line() == end) return;
    }
    scan_.fail("the end of the file", quoted_text(end));
  }

  void read_physical_names()
  {
    // "3 1 "x"" takes at least six bytes, in binary files too: this section is always text.
    const std::size_t count = scan_.next_count("physical names", 6);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t dimension = scan_.next_integer("a dimension");
      const std::int64_t tag = scan_.integer("a physical tag");
      const std::string_view text = scan_.rest_of_line();
      const std::size_t open = text.find('"');
      const std::size_t close = text.rfind('"');
      if (open == std::string_view::npos || open == close)
        scan_.fail(quoted_text(text), "a name between quotes");
      if (dimension == 3) {
        builder_.name_region({RegionTag::Kind::physical, tag},
                             std::string(text.substr(open + 1, close - open - 1)));
      }
    }
  }

  // Calls `work` with a reader of the numbers that follow and skips past them.
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
    base::ByteReader reader(bytes_, name_, order_);
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
  base::ByteOrder order_ = base::ByteOrder::little;
};

}  // namespace

TetrahedralMeshFile read_msh(std::string_view bytes, const std::filesystem::path& name)
{
  return MshReader(bytes, name).read();
}

}  // namespace thrum::mesh_io
