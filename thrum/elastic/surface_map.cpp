// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

const mesh::TriangleMesh& checked_surface(const model::ModalModel& model)
{
  if (model.surface.triangles.empty())
    throw Error(fmt::format("The modal model '{}' has no surface, so nothing can touch it.", model.name));
  if (model.shapes.rows() != 3 * static_cast<Eigen::Index>(model.surface.vertices.size()) ||
      model.shapes.cols() != model.frequencies.size()) {
    throw Error(fmt::format(
        "The modal model '{}' has mode shapes for {} vertices and {} modes, but its surface has {} "
        "vertices and there are {} frequencies; is it the model of another mesh?",
        model.name, model.shapes.rows() / 3, model.shapes.cols(), model.surface.vertices.size(),
        model.frequencies.size()));
  }
  return model.surface;
}

}  // namespace

std::size_t SurfaceMap::CellHash::operator()(const Cell& cell) const
{
  // Odd constants of the golden ratio; the high bits of the last product depend on all of the input.
  std::uint64_t mixed = 0;
  for (const std::int64_t at : cell.at)
    mixed = (mixed ^ static_cast<std::uint64_t>(at)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32U));
}

SurfaceMap::SurfaceMap(std::shared_ptr<const model::ModalModel> model)
    : model_(std::move(model)),
      bvh_(checked_surface(*model_)),
      size_(bvh_.bounds().diagonal().norm()),
      grid_(kGrid * size_),
      cells_per_metre_(1 / grid_)
{
  constexpr std::size_t kUsualPoints = 256;
  points_.reserve(kUsualPoints);
  const Eigen::Index modes = model_->shapes.cols();
  vertex_shapes_.resize(at(model_->shapes.size()));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      vertex_shapes_.data(), model_->shapes.rows(), modes) = model_->shapes;
}

Vec3 SurfaceMap::cells_of(const Vec3& position) const
{
  // Places beyond the range of the grid are so far off that any of them will do.
  constexpr double kMaxCell = 1e15;
  return (position.array() * cells_per_metre_ + 0.5).floor().max(-kMaxCell).min(kMaxCell).matrix();
}

const MappedPoint& SurfaceMap::find(const Vec3& position)
{
  return find(position, cells_of(position)).mapped;
}

const MappedPoint& SurfaceMap::find(const Vec3& position, Hint& hint)
{
  const Vec3 cells = cells_of(position);
  const bool is_there = hint.entry != nullptr && hint.evictions == evictions_ && hint.cells == cells;
  if (!is_there || !position.allFinite()) {
    hint.entry = &find(position, cells);
    hint.cells = cells;
    hint.evictions = evictions_;
  }
  hint.entry->used = steps_;
  return hint.entry->mapped;
}

SurfaceMap::Entry& SurfaceMap::find(const Vec3& position, const Vec3& rounded_cells)
{
  if (!position.allFinite())
    throw Error("A contact of the ringing body is not at a finite place; the simulation has failed.");
  Cell cell;
  for (std::size_t k = 0; k < 3; ++k)
    cell.at[k] = static_cast<std::int64_t>(rounded_cells[static_cast<Eigen::Index>(k)]);
  Recent& recent = recent_[CellHash{}(cell) % kRecent];
  if (recent.entry != nullptr && recent.cell == cell) {
    recent.entry->used = steps_;
    return *recent.entry;
  }
  const auto [it, fresh] = points_.try_emplace(cell);
  it->second.used = steps_;
  recent = {cell, &it->second};
  if (!fresh) return it->second;
  ++searches_;
  const mesh::ClosestPoint closest = bvh_.closest_point(grid_ * rounded_cells);
  MappedPoint& mapped = it->second.mapped;
  mapped.point = {closest.triangle, closest.barycentric};
  mapped.distance = closest.distance;
  const Triangle& corners = model_->surface.triangles[at(closest.triangle)];
  mapped.shapes = closest.barycentric[0] * vertex_shapes(corners[0]) +
                  closest.barycentric[1] * vertex_shapes(corners[1]) +
                  closest.barycentric[2] * vertex_shapes(corners[2]);
  return it->second;
}

void SurfaceMap::evict_unused()
{
  ++steps_;
  if (points_.size() <= kMaxPoints) return;
  std::vector<std::uint64_t> ages;
  ages.reserve(points_.size());
  for (const auto& [cell, entry] : points_) ages.push_back(entry.used);
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  const std::uint64_t oldest = *middle;
  recent_ = {};
  ++evictions_;
  std::erase_if(
      points_, [&](const auto& item) { return item.second.used <= oldest && item.second.used + 1 < steps_; });
}

}  // namespace thrum::elastic
