// SPDX-License-Identifier: MIT
// Rays through a hierarchy.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/mesh/bvh_walk.h"

namespace thrum::mesh {

namespace {

using bvh_walk::Entry;
using bvh_walk::kFloatSlack;
using bvh_walk::Lanes;
using bvh_walk::load;

// A ray against boxes is rounded by up to this [unit lengths].
constexpr double kBoxSlack = 0x1p-18;

// A ray in the form of the watertight test [Woop, Benthin, Wald 2013, Watertight Ray/Triangle Intersection]:
// the axis along which the direction is longest becomes z, and a shear makes the direction (0, 0, 1).
struct ShearedRay {
  Vec3 origin;
  int kx, ky, kz;
  double sx, sy, sz;

  explicit ShearedRay(const Ray& ray) : origin(ray.origin)
  {
    ray.direction.cwiseAbs().maxCoeff(&kz);
    kx = (kz + 1) % 3;
    ky = (kx + 1) % 3;
    if (ray.direction[kz] < 0) std::swap(kx, ky);
    sz = 1 / ray.direction[kz];
    sx = ray.direction[kx] * sz;
    sy = ray.direction[ky] * sz;
  }
};

// The hit of lane k, if any, with t and barycentric coordinates. The signed areas of a shared edge are
// computed from the same numbers in both its triangles, so they are exact negatives and no ray slips between.
bool hit_lane(const Bvh::Packet& packet, int k, const ShearedRay& ray, double& t, Vec3& barycentric)
{
  const auto sheared = [&](const double(&corner)[3][Bvh::kWidth]) {
    const double x = corner[ray.kx][k] - ray.origin[ray.kx];
    const double y = corner[ray.ky][k] - ray.origin[ray.ky];
    const double z = corner[ray.kz][k] - ray.origin[ray.kz];
    return Vec3(x - ray.sx * z, y - ray.sy * z, ray.sz * z);
  };
  const Vec3 a = sheared(packet.a);
  const Vec3 b = sheared(packet.b);
  const Vec3 c = sheared(packet.c);
  const double u = c.x() * b.y() - c.y() * b.x();
  const double v = a.x() * c.y() - a.y() * c.x();
  const double w = b.x() * a.y() - b.y() * a.x();
  if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) return false;
  const double det = u + v + w;
  if (!(det != 0)) return false;
  barycentric = Vec3(u, v, w) / det;
  t = barycentric.dot(Vec3(a.z(), b.z(), c.z()));
  return true;
}

// The part of a ray within the bounds of a hierarchy, in its unit coordinates: boxes are tested from where it
// enters, near the mesh.
struct BoxRay {
  double enter = 0;  // t of the ray at the bounds
  double leave = 0;
  double per_unit = 0;  // t of one unit length
  Lanes from[3], inverse[3];

  BoxRay(const Bvh& bvh, const Ray& ray)
      : leave(ray.max_t), per_unit(bvh.unit_length() / ray.direction.norm())
  {
    const double slack = bvh.unit_length() * kBoxSlack;
    for (int d = 0; d < 3; ++d) {
      if (ray.direction[d] == 0) continue;
      const double t0 = (bvh.bounds().min()[d] - slack - ray.origin[d]) / ray.direction[d];
      const double t1 = (bvh.bounds().max()[d] + slack - ray.origin[d]) / ray.direction[d];
      enter = std::max(enter, std::min(t0, t1));
      leave = std::min(leave, std::max(t0, t1));
    }
    const Vec3 start = (ray.origin + enter * ray.direction - bvh.unit_origin()) / bvh.unit_length();
    const Vec3 direction = ray.direction.normalized();
    for (int d = 0; d < 3; ++d) {
      constexpr double kMinDirection = 1e-15;  // keeps 1 / direction and its products finite in float
      const double component =
          std::abs(direction[d]) > kMinDirection ? direction[d] : std::copysign(kMinDirection, direction[d]);
      from[d] = Lanes::Constant(static_cast<float>(start[d]));
      inverse[d] = Lanes::Constant(static_cast<float>(1 / component));
    }
  }

  [[nodiscard]] bool misses() const { return !(enter <= leave); }

  // A t of the ray as a bound for keys(), rounded up.
  [[nodiscard]] float limit(double t) const
  {
    return static_cast<float>(std::min((t - enter) / per_unit, 1e30)) * kFloatSlack +
           static_cast<float>(kBoxSlack);
  }

  // Where the ray enters the four boxes; infinity where it misses, or leaves before `limit`.
  [[nodiscard]] Lanes keys(const Bvh::Node& node, float limit) const
  {
    Lanes near = Lanes::Zero();
    Lanes far = Lanes::Constant(limit);
    for (int d = 0; d < 3; ++d) {
      const Lanes t0 = (load(node.lower[d]) - from[d]) * inverse[d];
      const Lanes t1 = (load(node.upper[d]) - from[d]) * inverse[d];
      near = near.max(t0.min(t1));
      far = far.min(t0.max(t1));
    }
    Lanes keys = near;
    for (int lane = 0; lane < Bvh::kWidth; ++lane) {
      const bool crossed = near[lane] <= far[lane] * kFloatSlack && node.child[lane] != Bvh::kNoChild;
      if (!crossed) keys[lane] = std::numeric_limits<float>::infinity();
    }
    return keys;
  }
};

}  // namespace

template <bool kAnyHit>
RayHit Bvh::trace(const Ray& ray) const
{
  RayHit best;
  const BoxRay boxes(*this, ray);
  if (boxes.misses()) return best;
  const ShearedRay sheared(ray);

  // A tie, as for distances, goes to the lower index: hits up to `slack` behind the best are compared.
  const double slack = kTieAbsolute * boxes.per_unit;
  const auto with_tie = [&](double t) {
    return t + kTieRelative * std::abs(t) + slack;
  };
  double limit_t = ray.max_t;
  float limit = boxes.limit(limit_t);
  Entry stack[bvh_walk::kStackSize];
  stack[0] = {0, 0};
  int top = 1;
  while (top > 0) {
    const Entry entry = stack[--top];
    if (!(entry.key <= limit)) continue;
    if (entry.child >= 0) {
      const Node& node = nodes_[at(entry.child)];
      bvh_walk::push_sorted(node, boxes.keys(node, limit), limit, stack, top);
      continue;
    }
    const Packet& packet = packets_[at(~entry.child)];
    for (int lane = 0; lane < kWidth; ++lane) {
      double t = 0;
      Vec3 barycentric;
      if (packet.triangle[lane] < 0 || !hit_lane(packet, lane, sheared, t, barycentric)) continue;
      if (!(t >= 0 && t <= ray.max_t && t <= limit_t)) continue;
      if (best.triangle < 0 || with_tie(t) < best.t || packet.triangle[lane] < best.triangle) {
        best = {t, packet.triangle[lane], barycentric};
        if constexpr (kAnyHit) return best;
        limit_t = with_tie(best.t);
        limit = boxes.limit(limit_t);
      }
    }
  }
  return best;
}

RayHit Bvh::first_hit(const Ray& ray) const
{
  return trace<false>(ray);
}

bool Bvh::any_hit(const Ray& ray) const
{
  return trace<true>(ray).found();
}

}  // namespace thrum::mesh
