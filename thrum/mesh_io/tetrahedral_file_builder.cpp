// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/tetrahedral_file_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/mesh/unused_vertices.h"

namespace thrum::mesh_io {

void TetrahedralFileBuilder::reserve_nodes(std::size_t count)
{
  mesh_.vertices.reserve(count);
  tags_.reserve(count);
}

void TetrahedralFileBuilder::add_node(std::int64_t tag, const Vec3& position)
{
  if (!tags_.empty() && tag != tags_.back().tag + 1) consecutive_ = false;
  tags_.push_back({tag, count_of(mesh_.vertices)});
  mesh_.vertices.push_back(position);
}

std::optional<std::int64_t> TetrahedralFileBuilder::close_nodes()
{
  if (consecutive_) return std::nullopt;
  std::sort(tags_.begin(), tags_.end(), [](const Tagged& a, const Tagged& b) { return a.tag < b.tag; });
  const auto twice = std::adjacent_find(tags_.begin(), tags_.end(),
                                        [](const Tagged& a, const Tagged& b) { return a.tag == b.tag; });
  if (twice == tags_.end()) return std::nullopt;
  return twice->tag;
}

std::optional<Index> TetrahedralFileBuilder::vertex(std::int64_t tag) const
{
  if (tags_.empty() || tag < tags_.front().tag || tag > tags_.back().tag) return std::nullopt;
  if (consecutive_) return static_cast<Index>(tag - tags_.front().tag);
  const auto found = std::lower_bound(tags_.begin(), tags_.end(), tag,
                                      [](const Tagged& a, std::int64_t value) { return a.tag < value; });
  if (found->tag != tag) return std::nullopt;
  return found->vertex;
}

void TetrahedralFileBuilder::add_tetrahedron(const Tetrahedron& vertices, RegionTag region)
{
  mesh_.tetrahedra.push_back(vertices);
  regions_.push_back(region);
}

TetrahedralMeshFile TetrahedralFileBuilder::finish()
{
  flip_negative();
  remove_unused();
  number_regions();
  return {std::move(mesh_), std::move(notes_)};
}

void TetrahedralFileBuilder::flip_negative()
{
  std::size_t turned = 0;
  std::size_t flat = 0;
  for (std::size_t t = 0; t < mesh_.tetrahedra.size(); ++t) {
    const double size = six_times_volume(mesh_, t);
    if (size < 0) {
      std::swap(mesh_.tetrahedra[t][2], mesh_.tetrahedra[t][3]);
      ++turned;
    } else if (!(size > 0)) {
      ++flat;
    }
  }
  if (turned > 0) note(fmt::format("{} tetrahedra of negative volume were flipped.", turned));
  if (flat > 0) note(fmt::format("{} tetrahedra have no volume; they were kept.", flat));
}

// In the order of the file, so that node numbers stay recognisable.
void TetrahedralFileBuilder::remove_unused()
{
  const std::size_t unused = mesh::remove_unused_vertices(mesh_.vertices, mesh_.tetrahedra);
  if (unused > 0) note(fmt::format("{} nodes that no tetrahedron uses were removed.", unused));
}

void TetrahedralFileBuilder::number_regions()
{
  std::map<RegionTag, Index> numbers;
  for (const RegionTag& region : regions_) {
    const auto [place, fresh] = numbers.try_emplace(region, count_of(mesh_.region_names));
    if (fresh) {
      const auto named = names_.find(region);
      const bool has_name = named != names_.end() && !named->second.empty();
      switch (region.kind) {
        case RegionTag::Kind::none:
          mesh_.region_names.emplace_back("default");
          break;
        case RegionTag::Kind::physical:
          mesh_.region_names.push_back(has_name ? named->second : fmt::format("physical {}", region.tag));
          break;
        case RegionTag::Kind::volume:
          mesh_.region_names.push_back(fmt::format("volume {}", region.tag));
          break;
        case RegionTag::Kind::attribute:
          mesh_.region_names.push_back(fmt::format("region {}", region.tag));
          break;
      }
    }
    mesh_.regions.push_back(place->second);
  }
  // A single region without a name carries no information.
  if (numbers.size() == 1) {
    const RegionTag::Kind only = numbers.begin()->first.kind;
    if (only == RegionTag::Kind::none || only == RegionTag::Kind::volume) {
      mesh_.regions.clear();
      mesh_.region_names.clear();
    }
  }
}

}  // namespace thrum::mesh_io
