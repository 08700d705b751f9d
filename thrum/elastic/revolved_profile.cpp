// SPDX-License-Identifier: MIT
#include "thrum/elastic/revolved_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <span>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/mesh/mass_properties.h"

namespace thrum::elastic {

namespace {

// Vertices this close (share of the size of the body) are at the same height or distance: files with seven
// digits are read.
constexpr double kTolerance = 3e-6;
// How unequal the angles between the vertices of a ring may be.
constexpr double kAngleTolerance = 1e-3;
constexpr std::size_t kMinRing = 6;
constexpr double kFullTurn = 2 * std::numbers::pi;

struct Ring {
  Vec2 at = Vec2::Zero();  // distance from the axis, height
  std::size_t count = 0;   // vertices; 1 on the axis
};

class Recognition {
 public:
  Recognition(const mesh::TriangleMesh& surface, const Vec3& axis) : surface_(surface)
  {
    Eigen::Index least = 0;
    axis.cwiseAbs().minCoeff(&least);
    profile_.axes.col(2) = axis.normalized();
    profile_.axes.col(0) = axis.cross(Vec3::Unit(least)).normalized();
    profile_.axes.col(1) = profile_.axes.col(2).cross(profile_.axes.col(0));
    tolerance_ = kTolerance * mesh::bounding_box(surface).sizes().norm();
  }

  std::optional<RevolvedProfile> run()
  {
    if (!find_rings() || !join_rings() || !trace_outline() || !fit_volume()) return std::nullopt;
    return std::move(profile_);
  }

 private:
  // Groups of equal height have their centre on the axis; in each, vertices of equal distance are a ring.
  bool find_rings()
  {
    std::vector<std::pair<double, Index>> heights;
    std::vector<bool> used(surface_.vertices.size(), false);
    for (const Triangle& t : surface_.triangles)
      for (const Index v : t) used[at(v)] = true;
    for (std::size_t v = 0; v < surface_.vertices.size(); ++v)
      if (used[v])
        heights.emplace_back(profile_.axes.col(2).dot(surface_.vertices[v]), static_cast<Index>(v));
    std::sort(heights.begin(), heights.end());
    ring_of_.assign(surface_.vertices.size(), -1);
    for (std::size_t first = 0; first < heights.size();) {
      std::size_t end = first + 1;
      while (end < heights.size() && heights[end].first - heights[end - 1].first < tolerance_) ++end;
      if (!add_height(std::span(heights).subspan(first, end - first), first == 0)) return false;
      first = end;
    }
    return true;
  }

  bool add_height(std::span<const std::pair<double, Index>> group, bool is_first)
  {
    Vec3 centre = Vec3::Zero();
    double height = 0;
    for (const auto& [h, v] : group) {
      centre += surface_.vertices[at(v)] / static_cast<double>(group.size());
      height += h / static_cast<double>(group.size());
    }
    if (is_first) profile_.origin = centre - height * profile_.axes.col(2);
    const Vec3 off = centre - profile_.origin - height * profile_.axes.col(2);
    if (off.norm() > tolerance_) return false;
    std::vector<std::pair<double, Index>> radii;
    for (const auto& [h, v] : group) radii.emplace_back(across(v).norm(), v);
    std::sort(radii.begin(), radii.end());
    for (std::size_t first = 0; first < radii.size();) {
      std::size_t end = first + 1;
      while (end < radii.size() && radii[end].first - radii[end - 1].first < tolerance_) ++end;
      if (!add_ring(std::span(radii).subspan(first, end - first), height)) return false;
      first = end;
    }
    return true;
  }

  [[nodiscard]] Vec2 across(Index v) const
  {
    return profile_.axes.leftCols<2>().transpose() * (surface_.vertices[at(v)] - profile_.origin);
  }

  bool add_ring(std::span<const std::pair<double, Index>> group, double height)
  {
    std::vector<double> angles;
    double radius = 0;
    for (const auto& [r, v] : group) {
      ring_of_[at(v)] = count_of(rings_);
      const Vec2 p = across(v);
      angles.push_back(std::atan2(p.y(), p.x()));
      radius += r / static_cast<double>(group.size());
    }
    if (radius < tolerance_) {
      rings_.push_back({Vec2(0, height), 1});
      return group.size() == 1;
    }
    rings_.push_back({Vec2(radius, height), group.size()});
    if (group.size() < kMinRing) return false;
    std::sort(angles.begin(), angles.end());
    const double step = kFullTurn / static_cast<double>(angles.size());
    for (std::size_t k = 1; k < angles.size(); ++k)
      if (std::abs(angles[k] - angles[k - 1] - step) > kAngleTolerance * step) return false;
    return true;
  }

  // Rings are neighbours where a triangle has vertices of both; a triangle within one is part of a disc.
  bool join_rings()
  {
    std::set<std::pair<Index, Index>> pairs;
    for (const Triangle& t : surface_.triangles) {
      std::array<Index, 3> r = {ring_of_[at(t[0])], ring_of_[at(t[1])], ring_of_[at(t[2])]};
      std::sort(r.begin(), r.end());
      if (r[0] != r[1] && r[1] != r[2]) return false;
      if (r[0] != r[2]) pairs.insert({r[0], r[2]});
      if (r[0] == r[2]) discs_.insert(r[0]);
    }
    for (const Index ring : discs_) {
      pairs.insert({ring, count_of(rings_)});
      rings_.push_back({Vec2(0, rings_[at(ring)].at.y()), 1});
    }
    neighbours_.resize(rings_.size());
    for (const auto& [a, b] : pairs) {
      neighbours_[at(a)].push_back(b);
      neighbours_[at(b)].push_back(a);
    }
    for (std::size_t r = 0; r < rings_.size(); ++r)
      if (neighbours_[r].size() != (rings_[r].count == 1 ? 1U : 2U)) return false;
    return true;
  }

  bool trace_outline()
  {
    Index start = 0;
    for (std::size_t r = 0; r < rings_.size(); ++r)
      if (rings_[r].count == 1) start = static_cast<Index>(r);
    Index before = -1;
    Index ring = start;
    do {
      order_.push_back(ring);
      const auto& next = neighbours_[at(ring)];
      const Index ahead = next.size() == 1    ? (before < 0 ? next[0] : -1)
                          : next[0] == before ? next[1]
                                              : next[0];
      before = ring;
      ring = ahead;
    } while (ring >= 0 && ring != start);
    return order_.size() == rings_.size();
  }

  static double volume_of(const std::vector<Vec2>& outline)
  {
    double volume = 0;
    for (std::size_t k = 0; k < outline.size(); ++k) {
      const Vec2& p = outline[k];
      const Vec2& q = outline[(k + 1) % outline.size()];
      volume += (q.y() - p.y()) * (p.x() * p.x() + p.x() * q.x() + q.x() * q.x());
    }
    return std::numbers::pi / 3 * volume;
  }

  // A polygon has the area of a circle with a smaller radius.
  bool fit_volume()
  {
    constexpr double kMaxMismatch = 0.01;
    const double volume = mesh::signed_volume(surface_);
    std::vector<Vec2> through;
    for (const Index r : order_) {
      const Ring& ring = rings_[at(r)];
      through.push_back(ring.at);
      const double angle = kFullTurn / static_cast<double>(ring.count);
      const double factor = ring.count == 1 ? 1 : std::sqrt(std::sin(angle) / angle);
      profile_.outline.emplace_back(factor * ring.at.x(), ring.at.y());
    }
    if (volume_of(through) < 0) {
      std::reverse(through.begin(), through.end());
      std::reverse(profile_.outline.begin(), profile_.outline.end());
    }
    const double ratio = volume / volume_of(profile_.outline);
    if (!(std::abs(ratio - 1) < kMaxMismatch)) return false;
    for (Vec2& p : profile_.outline) p.x() *= std::sqrt(ratio);
    profile_.volume = volume;
    profile_.facet_deficit = std::max(0.0, 1 - volume / volume_of(through));
    return true;
  }

  const mesh::TriangleMesh& surface_;
  RevolvedProfile profile_;
  double tolerance_ = 0;
  std::vector<Ring> rings_;
  std::vector<Index> ring_of_;
  std::set<Index> discs_;
  std::vector<std::vector<Index>> neighbours_;
  std::vector<Index> order_;
};

}  // namespace

std::optional<RevolvedProfile> revolved_profile(const mesh::TriangleMesh& surface)
{
  const mesh::PrincipalAxes principal = mesh::principal_axes(mesh::solid_mass_properties(surface).inertia);
  constexpr double kMaxDifference = 0.02;  // of moments across the axis
  for (int k = 0; k < 3; ++k) {
    const double a = principal.moments[(k + 1) % 3];
    const double b = principal.moments[(k + 2) % 3];
    if (std::abs(a - b) > kMaxDifference * std::max(a, b)) continue;
    const Vec3 axis = principal.rotation.col(k);
    // Rings of different numbers of vertices leave the principal axis a little off; bodies mostly stand along
    // an axis of their file.
    Eigen::Index main = 0;
    axis.cwiseAbs().maxCoeff(&main);
    for (const Vec3& direction : {Vec3(Vec3::Unit(main)), axis})
      if (auto profile = Recognition(surface, direction).run()) return profile;
  }
  return std::nullopt;
}

}  // namespace thrum::elastic
