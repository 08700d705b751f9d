// SPDX-License-Identifier: MIT
#include "thrum/geometry/local_distance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/geometry/simd.h"

namespace thrum::geometry {

namespace {

using simd::all;
using simd::Float4;
using simd::Int4;
using Four3 = simd::Lanes3<Float4>;

constexpr std::size_t kLanes = 4;
// The candidates' radius grows by this part, for the rounding of the distances it is made of.
constexpr double kReachSlack = 1e-9;
// The same for distances in float.
constexpr float kFloatSlack = 1e-5f;

Four3 spread(const float (&v)[3])
{
  return {all(v[0]), all(v[1]), all(v[2])};
}

Float4 segment_distances(const Four3& r, const Four3& edge, Float4 inverse_squared_length)
{
  const Float4 s = simd::least(simd::most(dot(r, edge) * inverse_squared_length, all(0)), all(1));
  const Four3 left = r - s * edge;
  return dot(left, left);
}

void store(const Vec3& v, float (&out)[3])
{
  for (int d = 0; d < 3; ++d) out[d] = static_cast<float>(v[d]);
}

// A triangle spread over four lanes, to be compared with four points.
struct SpreadTriangle {
  Four3 a, ab, ac, bc, u, v;
  Float4 inverse_ab, inverse_ac, inverse_bc;

  template <class Candidate>
  explicit SpreadTriangle(const Candidate& c)
      : a(spread(c.a)),
        ab(spread(c.ab)),
        ac(spread(c.ac)),
        bc(ac - ab),
        u(spread(c.u)),
        v(spread(c.v)),
        inverse_ab(all(c.inverse_ab)),
        inverse_ac(all(c.inverse_ac)),
        inverse_bc(all(c.inverse_bc))
  {
  }

  [[nodiscard]] Float4 squared_distances(const Four3& p) const
  {
    const Four3 ap = p - a;
    const Float4 on_ab = segment_distances(ap, ab, inverse_ab);
    const Float4 on_ac = segment_distances(ap, ac, inverse_ac);
    const Float4 on_bc = segment_distances(ap - ab, bc, inverse_bc);
    const Float4 on_edges = simd::least(simd::least(on_ab, on_ac), on_bc);
    const Float4 s = dot(ap, u), t = dot(ap, v);
    const Float4 smallest = simd::least(simd::least(s, t), all(1) - s - t);
    const Four3 left = ap - s * ab - t * ac;
    return smallest >= all(0) ? simd::least(dot(left, left), on_edges) : on_edges;
  }
};

// Up to kMost points, lane by lane; the last point fills the rest.
struct PointLanes {
  static constexpr std::size_t kMost = 64;
  alignas(16) float x[kMost], y[kMost], z[kMost];
  std::size_t count = 0;

  void add(const Vec3& p)
  {
    THRUM_ASSERT(count < kMost);
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
    return {simd::load4(&x[i]), simd::load4(&y[i]), simd::load4(&z[i])};
  }
};

}  // namespace

bool LocalDistance::gather(const Bvh& bvh, const Vec3& centre, double radius, double distance_of_centre)
{
  const double reach = (std::abs(distance_of_centre) + 2 * radius) * (1 + kReachSlack);
  bvh.triangles_in_sphere(centre, reach, found_);
  if (found_.size() > kMostCandidates) return false;
  centre_ = centre;
  candidates_.clear();
  const auto inverse = [](const Vec3& edge) {
    return edge.squaredNorm() > 0 ? static_cast<float>(1 / edge.squaredNorm()) : 0.0f;
  };
  for (const Index t : found_) {
    const auto s = static_cast<std::size_t>(t);
    const Vec3 a = bvh.mesh().corner(s, 0) - centre;
    const Vec3 ab = bvh.mesh().corner(s, 1) - bvh.mesh().corner(s, 0);
    const Vec3 ac = bvh.mesh().corner(s, 2) - bvh.mesh().corner(s, 0);
    const Vec3 n = ab.cross(ac);
    const double nn = n.squaredNorm();
    const double inverse_nn = nn > 0 ? 1 / nn : std::numeric_limits<double>::quiet_NaN();
    Candidate candidate;
    store(a, candidate.a);
    store(ab, candidate.ab);
    store(ac, candidate.ac);
    store(ac.cross(n) * inverse_nn, candidate.u);
    store(n.cross(ab) * inverse_nn, candidate.v);
    candidate.inverse_ab = inverse(ab);
    candidate.inverse_ac = inverse(ac);
    candidate.inverse_bc = inverse(ac - ab);
    candidate.triangle = t;
    candidates_.push_back(candidate);
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
    const SpreadTriangle triangle(candidates_[n]);
    for (std::size_t i = 0; i < centres.count; i += kLanes) {
      const Float4 distance = triangle.squared_distances(centres.at(i));
      std::memcpy(&to_centres_[n * centres.count + i], &distance, sizeof(distance));
    }
  }

  // For each group those that can be closest to one of its points.
  for (std::size_t g = 0; g < groups.size(); ++g) {
    float least = std::numeric_limits<float>::infinity();
    for (std::size_t n = 0; n < candidates_.size(); ++n)
      least = std::min(least, to_centres_[n * centres.count + g]);
    const float reach = (std::sqrt(least) + 2 * static_cast<float>(groups[g].radius)) * (1 + kFloatSlack);
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
  alignas(16) float best[PointLanes::kMost];
  alignas(16) Index triangles[PointLanes::kMost];
  std::fill_n(best, lanes.count, std::numeric_limits<float>::infinity());
  std::fill_n(triangles, lanes.count, chosen_.front()->triangle);

  // The first of equals stays, and the candidates ascend.
  for (const Candidate* candidate : chosen_) {
    const SpreadTriangle triangle(*candidate);
    const Int4 index = {candidate->triangle, candidate->triangle, candidate->triangle, candidate->triangle};
    for (std::size_t i = 0; i < lanes.count; i += kLanes) {
      const Float4 distance = triangle.squared_distances(lanes.at(i));
      const Float4 before = simd::load4(&best[i]);
      Int4 named;
      std::memcpy(&named, &triangles[i], sizeof(named));
      named = distance < before ? index : named;
      const Float4 after = simd::least(distance, before);
      std::memcpy(&best[i], &after, sizeof(after));
      std::memcpy(&triangles[i], &named, sizeof(named));
    }
  }
  std::copy_n(triangles, points.size(), closest.begin());
}

}  // namespace thrum::geometry
