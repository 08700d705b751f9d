// SPDX-License-Identifier: MIT
// Shared by the readers of tetrahedral files: nodes with arbitrary numbers, regions by their tags, and
// clean-up.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "thrum/mesh_io/tetrahedral_mesh_io.h"

namespace thrum::mesh_io {

/// The tag of a region in a file. `kind` separates tags of different meaning.
struct RegionTag {
  enum class Kind { none, physical, volume, attribute } kind = Kind::none;
  std::int64_t tag = 0;
  friend auto operator<=>(const RegionTag&, const RegionTag&) = default;
};

class TetrahedralFileBuilder {
 public:
  void reserve_nodes(std::size_t count);
  void reserve_tetrahedra(std::size_t count) { mesh_.tetrahedra.reserve(count); }
  void add_node(std::int64_t tag, const Vec3& position);
  /// Call after the last node. Returns a tag that was given twice, if there is one.
  [[nodiscard]] std::optional<std::int64_t> close_nodes();
  /// The vertex of a tag, or nothing.
  [[nodiscard]] std::optional<Index> vertex(std::int64_t tag) const;
  void add_tetrahedron(const Tetrahedron& vertices, RegionTag region);
  void name_region(RegionTag region, std::string name) { names_[region] = std::move(name); }
  void note(std::string text) { notes_.push_back(std::move(text)); }
  /// Flips negative tetrahedra, removes unused nodes, numbers the regions.
  [[nodiscard]] TetrahedralMeshFile finish();

 private:
  struct Tagged {
    std::int64_t tag;
    Index vertex;
  };
  void flip_negative();
  void remove_unused();
  void number_regions();

  mesh::TetrahedralMesh mesh_;
  std::vector<Tagged> tags_;  // sorted by tag once closed
  bool consecutive_ = true;   // tag i is vertex i - first: no search is needed
  std::vector<RegionTag> regions_;
  std::map<RegionTag, std::string> names_;
  std::vector<std::string> notes_;
};

}  // namespace thrum::mesh_io
