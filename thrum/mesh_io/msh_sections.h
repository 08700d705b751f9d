// SPDX-License-Identifier: MIT
// The sections of a Gmsh file that hold numbers: nodes, elements, entities, in the layouts of 2.2 and 4.1.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/mesh_io/msh_numbers.h"
#include "thrum/mesh_io/tetrahedral_file_builder.h"

namespace thrum::mesh_io::msh {

// The sections with numbers. One class for both encodings; the version decides on the layout.
template <class Numbers>
class SectionReader {
 public:
  SectionReader(Numbers& numbers, TetrahedralFileBuilder& builder,
                std::map<std::int64_t, std::int64_t>& physical)
      : numbers_(numbers), builder_(builder), physical_of_volume_(physical)
  {
  }

  // A count that fits the rest of the file.
  std::size_t checked(std::int64_t count, std::size_t min_bytes, const char* what) const
  {
    const std::size_t max_count = numbers_.remaining() / min_bytes + 1;
    if (count < 0 || static_cast<std::uint64_t>(count) > max_count) {
      numbers_.fail(fmt::format("{} {}", count, what),
                    fmt::format("at most {} to the end of the file", max_count));
    }
    return at(count);
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
    note_skipped_elements();
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
    note_skipped_elements();
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
    // A point has its position, the others their bounding box, which is infinite when empty.
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
    static_cast<void>(numbers_.tag("minimum tag"));
    static_cast<void>(numbers_.tag("maximum tag"));
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
    static_cast<void>(numbers_.tag("minimum tag"));
    static_cast<void>(numbers_.tag("maximum tag"));
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
    note_skipped_elements();
  }

  void set_v4(bool v4) { v4_ = v4; }

 private:
  void note_skipped_elements()
  {
    if (other_elements_ > 0) {
      builder_.note(fmt::format("{} elements that are not tetrahedra were skipped.", other_elements_));
    }
    if (curved_ > 0)
      builder_.note(
          fmt::format("{} tetrahedra of higher order were reduced to their four corners.", curved_));
  }

  Numbers& numbers_;
  TetrahedralFileBuilder& builder_;
  std::map<std::int64_t, std::int64_t>& physical_of_volume_;
  bool v4_ = false;
  std::size_t other_elements_ = 0;
  std::size_t curved_ = 0;
};

}  // namespace thrum::mesh_io::msh
