// SPDX-License-Identifier: MIT
#include "thrum/sim/support_regions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "thrum/base/index.h"
#include "thrum/collision/queries.h"

namespace thrum::sim {

namespace {

/// Surface faces down when its normal is within 60 degrees of gravity.
constexpr double kMinDownCosine = 0.5;
/// Boxes are rounded to this share of the margin.
constexpr double kRounding = 0.1;

using Cell = std::array<std::int64_t, 3>;

/// Whatever else there is, near enough to matter.
class NearbyShapes {
 public:
  NearbyShapes(const World& world, model::BodyId id, const Box3& box, double near) : near_(near)
  {
    for (std::size_t b = 0; b < world.model().bodies.size(); ++b) {
      const auto index = static_cast<model::BodyIndex>(b);
      const model::BodyId other = world.id_of(index);
      if (!world.exists(index) || other == id) continue;
      const collision::PreparedShape& shape = world.shapes()[at(world.model().bodies[b].shape)];
      const Pose X_ws = world.shape_pose(other);
      if (!shape.unbounded && box.squaredExteriorDistance(X_ws.position) > std::pow(shape.radius + near, 2))
        continue;
      shapes_.push_back({&shape, X_ws});
    }
  }

  [[nodiscard]] bool is_touched(const Vec3& p) const
  {
    return std::any_of(shapes_.begin(), shapes_.end(), [&](const auto& other) {
      return collision::closest_point(*other.first, other.second, p).distance <= near_;
    });
  }

 private:
  double near_;
  std::vector<std::pair<const collision::PreparedShape*, Pose>> shapes_;
};

/// Points of a triangle no farther from each other than `spacing`, its corners among them.
template <class Visit>
void sample_triangle(const std::array<Vec3, 3>& corners, double spacing, Visit&& visit)
{
  double longest = 0;
  for (std::size_t k = 0; k < 3; ++k) longest = std::max(longest, (corners[k] - corners[(k + 1) % 3]).norm());
  const int parts = std::max(1, static_cast<int>(std::ceil(longest / spacing)));
  for (int i = 0; i <= parts; ++i) {
    for (int j = 0; i + j <= parts; ++j) {
      const double u = static_cast<double>(i) / parts, v = static_cast<double>(j) / parts;
      visit((1 - u - v) * corners[0] + u * corners[1] + v * corners[2]);
    }
  }
}

/// Joins cells that touch each other and takes them out of the map: the box of all points in them.
Box3 extract_connected_box(std::map<Cell, Box3>& cells)
{
  Box3 box;
  std::vector<Cell> open{cells.begin()->first};
  while (!open.empty()) {
    const Cell at = open.back();
    open.pop_back();
    const auto found = cells.find(at);
    if (found == cells.end()) continue;
    box.extend(found->second);
    cells.erase(found);
    for (std::int64_t x = -1; x <= 1; ++x)
      for (std::int64_t y = -1; y <= 1; ++y)
        for (std::int64_t z = -1; z <= 1; ++z) open.push_back({at[0] + x, at[1] + y, at[2] + z});
  }
  return box;
}

}  // namespace

std::vector<Box3> find_support_regions(const World& world, model::BodyId id, const mesh::TriangleMesh& mesh,
                                       const SupportRegionDesc& desc)
{
  const Pose X_ws = world.shape_pose(id);
  const Vec3 gravity = world.desc().gravity;
  if (mesh.triangles.empty() || !(gravity.norm() > 0)) return {};
  const Vec3 down_s = X_ws.direction_to_local(gravity.normalized());
  const double size = mesh::bounding_box(mesh).diagonal().norm();
  Box3 box_w;
  for (const Vec3& v : mesh.vertices) box_w.extend(X_ws.point(v));
  const NearbyShapes others(world, id, box_w, desc.contact_distance * size);

  // Points that touch, in cells as wide as the points are apart.
  const double spacing = desc.sample_spacing * size;
  std::map<Cell, Box3> cells;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 area = mesh::area_vector(mesh, t);
    if (!(area.dot(down_s) > kMinDownCosine * area.norm())) continue;
    sample_triangle({mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)}, spacing, [&](const Vec3& p) {
      if (!others.is_touched(X_ws.point(p))) return;
      Cell cell;
      for (std::size_t k = 0; k < 3; ++k) cell[k] = static_cast<std::int64_t>(std::floor(p[k] / spacing));
      cells[cell].extend(p);
    });
  }
  const double margin = std::max(desc.margin * size, desc.min_margin);
  const double grid = kRounding * margin;
  std::vector<Box3> places;
  while (!cells.empty()) {
    Box3 box = extract_connected_box(cells);
    box.min() = grid * ((box.min().array() - margin) / grid).floor().matrix();
    box.max() = grid * ((box.max().array() + margin) / grid).ceil().matrix();
    places.push_back(box);
  }
  return places;
}

bool step_to_rest(World& world, std::span<const model::BodyId> ids, const RestDesc& desc)
{
  const rigid::SleepSettings& sleep = world.desc().sleep;
  const double speed = sleep.speed * world.desc().length_scale;
  double still = 0;
  for (double time = 0; still < desc.still_time; time += desc.step) {
    if (time > desc.max_time) return false;
    world.step(desc.step);
    const bool all = std::all_of(ids.begin(), ids.end(), [&](model::BodyId id) {
      const model::BodyState& body = world.body(id);
      return world.desc_of(id).motion == model::Motion::fixed ||
             (body.velocity.norm() < speed && body.angular_velocity.norm() < sleep.angular_speed);
    });
    still = all ? still + desc.step : 0;
  }
  return true;
}

}  // namespace thrum::sim
