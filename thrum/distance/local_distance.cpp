// SPDX-License-Identifier: MIT
#include "thrum/distance/local_distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/simd.h"

namespace thrum::distance {

namespace {

using base::simd::all;
using base::simd::Float4;
using base::simd::Int4;
using Four3 = base::simd::Lanes3<Float4>;

constexpr std::size_t kLanes = 4;
// Relative enlargement of the candidates' radius, for the rounding of the distances it is computed from.
constexpr double kReachSlack = 1e-9;
// The same for distances in float.
constexpr float kFloatSlack = 1e-5f;
// A triangle with a height below this fraction of its length is treated as an edge: in float the inner sides
// of its edges could not be distinguished.
constexpr double kFlat = 4e-6;

Four3 broadcast(const float (&v)[3])
{
  return {all(v[0]), all(v[1]), all(v[2])};
}

void store(const Vec3& v, float (&out)[3])
{
  for (int d = 0; d < 3; ++d) out[d] = static_cast<float>(v[d]);
}

// Squared distance of points at `along` on a line and `out` beside it from the segment 0..length of the line.
Float4 squared_segment_distances(Float4 along, Float4 out, Float4 length)
{
  const Float4 beyond = along - base::simd::min(base::simd::max(along, all(0)), length);
  return beyond * beyond + out * out;
}

// A triangle spread over four lanes, to be compared with four points.
struct BroadcastTriangle {
  Four3 a, x, y, z;
  Float4 ab, ac, bc, ac_x, ac_y, bc_x, bc_y;

  template <class Candidate>
  explicit BroadcastTriangle(const Candidate& c)
      : a(broadcast(c.a)),
        x(broadcast(c.x)),
        y(broadcast(c.y)),
        z(broadcast(c.z)),
        ab(all(c.ab)),
        ac(all(c.ac)),
        bc(all(c.bc)),
        ac_x(all(c.along_ac[0])),
        ac_y(all(c.along_ac[1])),
        bc_x(all(c.along_bc[0])),
        bc_y(all(c.along_bc[1]))
  {
  }

  // The height over the plane, and in the plane the distance to the nearest edge unless the projection is on
  // the inner side of all three.
  [[nodiscard]] Float4 squared_distances(const Four3& p) const
  {
    const Four3 ap = p - a;
    const Float4 px = dot(ap, x), py = dot(ap, y), height = dot(ap, z);
    const Float4 bx = px - ab;
    const Float4 out_of_ac = py * ac_x - px * ac_y;
    const Float4 out_of_bc = bx * bc_y - py * bc_x;
    const Float4 on_ab = squared_segment_distances(px, py, ab);
    const Float4 on_ac = squared_segment_distances(px * ac_x + py * ac_y, out_of_ac, ac);
    const Float4 on_bc = squared_segment_distances(bx * bc_x + py * bc_y, out_of_bc, bc);
    const Float4 on_edges = base::simd::min(base::simd::min(on_ab, on_ac), on_bc);
    const Float4 max_outside = base::simd::max(base::simd::max(out_of_ac, out_of_bc), -py);
    return height * height + (max_outside < all(0) ? all(0) : on_edges);
  }
};

Vec3 normalized_or(const Vec3& v, const Vec3& otherwise)
{
  const double length = v.norm();
  return length > 0 ? Vec3(v / length) : otherwise;
}

// Up to kMaxPoints points, lane by lane; the last point fills the rest.
struct PointLanes {
  static constexpr std::size_t kMaxPoints = 64;
  alignas(16) float x[kMaxPoints], y[kMaxPoints], z[kMaxPoints];
  std::size_t count = 0;

  void add(const Vec3& p)
  {
    THRUM_ASSERT(count < kMaxPoints);
    x[count] = static_cast<float>(p.x());
    y[count] = static_cast<float>(p.y());
    z[count] = static_cast<float>(p.z());
    ++count;
  }
  void fill_lanes()
  {
    for (; count % kLanes != 0; ++count) {
      x[count] = x[count - 1];
      y[count] = y[count - 1];
      z[count] = z[count - 1];
    }
  }
  [[nodiscard]] Four3 at(std::size_t i) const
  {
    return {base::simd::load4(&x[i]), base::simd::load4(&y[i]), base::simd::load4(&z[i])};
  }
};

}  // namespace

LocalDistance::LocalDistance(const mesh::Bvh& bvh) : bvh_(&bvh)
{
  const std::size_t count = bvh.mesh().triangles.size();
  frames_.reserve(count);
  for (std::size_t t = 0; t < count; ++t) frames_.push_back(local_frame(static_cast<Index>(t)));
}

LocalDistance::Candidate LocalDistance::local_frame(Index triangle) const
{
  const auto t = at(triangle);
  const Vec3 a = bvh_->mesh().corner(t, 0);
  const Vec3 ab = bvh_->mesh().corner(t, 1) - a;
  const Vec3 ac = bvh_->mesh().corner(t, 2) - a;
  const Vec3 x = normalized_or(ab, normalized_or(ac, Vec3::UnitX()));
  const Vec3 perpendicular = ac - ac.dot(x) * x;
  const double b = ab.norm();
  const bool flat = perpendicular.norm() <= kFlat * std::max(b, ac.norm());
  const Vec3 y = flat ? x.unitOrthogonal() : perpendicular.normalized();
  const Vec2 c(ac.dot(x), flat ? 0.0 : perpendicular.norm());
  const Vec2 bc = c - Vec2(b, 0);
  const auto store_edge = [](const Vec2& edge, float& length, float(&along)[2]) {
    length = static_cast<float>(edge.norm());
    const Vec2 direction = edge.norm() > 0 ? Vec2(edge / edge.norm()) : Vec2::UnitX();
    along[0] = static_cast<float>(direction.x());
    along[1] = static_cast<float>(direction.y());
  };
  Candidate candidate{};
  store(x, candidate.x);
  store(y, candidate.y);
  store(x.cross(y), candidate.z);
  candidate.ab = static_cast<float>(b);
  store_edge(c, candidate.ac, candidate.along_ac);
  store_edge(bc, candidate.bc, candidate.along_bc);
  candidate.triangle = triangle;
  return candidate;
}

bool LocalDistance::gather(const Vec3& centre, double radius, double distance_of_centre)
{
  const double reach = (std::abs(distance_of_centre) + 2 * radius) * (1 + kReachSlack);
  bvh_->triangles_in_sphere(centre, reach, found_);
  if (found_.size() > kMaxCandidates) return false;
  centre_ = centre;
  candidates_.clear();
  for (const Index t : found_) {
    const auto s = at(t);
    candidates_.push_back(frames_[s]);
    store(bvh_->mesh().corner(s, 0) - centre, candidates_.back().a);
  }
  return true;
}

void LocalDistance::closest_triangles(std::span<const Vec3> points, std::span<const Group> groups,
                                      std::span<Index> closest)
{
  // Every candidate against the centres of all groups.
  PointLanes centres;
  for (const Group& group : groups) centres.add(group.centre - centre_);
  centres.fill_lanes();
  to_centres_.resize(candidates_.size() * centres.count);
  for (std::size_t n = 0; n < candidates_.size(); ++n) {
    const BroadcastTriangle triangle(candidates_[n]);
    for (std::size_t i = 0; i < centres.count; i += kLanes) {
      const Float4 distance = triangle.squared_distances(centres.at(i));
      std::memcpy(&to_centres_[n * centres.count + i], &distance, sizeof(distance));
    }
  }

  // For each group those that can be closest to one of its points.
  for (std::size_t g = 0; g < groups.size(); ++g) {
    float min_squared = std::numeric_limits<float>::infinity();
    for (std::size_t n = 0; n < candidates_.size(); ++n)
      min_squared = std::min(min_squared, to_centres_[n * centres.count + g]);
    const float reach =
        (std::sqrt(min_squared) + 2 * static_cast<float>(groups[g].radius)) * (1 + kFloatSlack);
    chosen_.clear();
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      if (to_centres_[n * centres.count + g] <= reach * reach) chosen_.push_back(&candidates_[n]);
    }
    const std::size_t count = groups[g].last - groups[g].first;
    closest_in_group(points.subspan(groups[g].first, count), closest.subspan(groups[g].first, count));
  }
}

void LocalDistance::closest_in_group(std::span<const Vec3> points, std::span<Index> closest)
{
  PointLanes lanes;
  for (const Vec3& p : points) lanes.add(p - centre_);
  lanes.fill_lanes();
  alignas(16) float best[PointLanes::kMaxPoints];
  alignas(16) Index triangles[PointLanes::kMaxPoints];
  std::fill_n(best, lanes.count, std::numeric_limits<float>::infinity());
  std::fill_n(triangles, lanes.count, chosen_.front()->triangle);

  // Of equals the first is kept, and the candidates ascend.
  for (const Candidate* candidate : chosen_) {
    const BroadcastTriangle triangle(*candidate);
    const Int4 index = {candidate->triangle, candidate->triangle, candidate->triangle, candidate->triangle};
    for (std::size_t i = 0; i < lanes.count; i += kLanes) {
      const Float4 distance = triangle.squared_distances(lanes.at(i));
      const Float4 before = base::simd::load4(&best[i]);
      Int4 named;
      std::memcpy(&named, &triangles[i], sizeof(named));
      named = distance < before ? index : named;
      const Float4 after = base::simd::min(distance, before);
      std::memcpy(&best[i], &after, sizeof(after));
      std::memcpy(&triangles[i], &named, sizeof(named));
    }
  }
  std::copy_n(triangles, points.size(), closest.begin());
}

}  // namespace thrum::distance
