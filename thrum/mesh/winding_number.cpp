// SPDX-License-Identifier: MIT
#include "thrum/mesh/winding_number.h"
#include "thrum/base/index.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thrum::mesh {

namespace {

constexpr int kWidth = Bvh::kWidth;
constexpr double kFourPi = 4 * std::numbers::pi;
// As in the other traversals: at most three children on the stack for each of at most 56 levels.
constexpr int kStackSize = 3 * 56 + kWidth;

Vec3 lane_corner(const double (&corner)[3][kWidth], int lane)
{
  return {corner[0][lane], corner[1][lane], corner[2][lane]};
}

}  // namespace

// With omega the solid angle [Van Oosterom and Strackee 1983],
//
//   tan(omega / 2) = a . (b x c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|).                        (1)
double triangle_winding(const Vec3& a, const Vec3& b, const Vec3& c)
{
  const double la = a.norm(), lb = b.norm(), lc = c.norm();
  const double numerator = a.dot(b.cross(c));
  const double denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
  return numerator == 0 ? 0 : 2 * std::atan2(numerator, denominator) / kFourPi;
}

WindingNumber::WindingNumber(const Bvh& bvh) : bvh_(&bvh), far_(bvh.nodes().size() * kWidth)
{
  // The triangles below each child, gathered from the packets upwards: children come after their parents.
  std::vector<std::vector<Index>> below(bvh.nodes().size());
  const TriangleMesh& mesh = bvh.mesh();
  for (std::size_t i = bvh.nodes().size(); i-- > 0;) {
    for (int lane = 0; lane < kWidth; ++lane) {
      const Index child = bvh.nodes()[i].child[lane];
      if (child == Bvh::kNoChild) continue;
      std::vector<Index> triangles;
      if (child >= 0) {
        triangles = std::move(below[base::at(child)]);
      } else {
        for (const Index t : bvh.packets()[base::at(~child)].triangle) {
          if (t >= 0) triangles.push_back(t);
        }
      }

      Expansion& far = far_[i * kWidth + base::at(lane)];
      double total = 0;
      Vec3 plain = Vec3::Zero();
      for (const Index t : triangles) {
        const auto s = base::at(t);
        const Vec3 centroid = (mesh.corner(s, 0) + mesh.corner(s, 1) + mesh.corner(s, 2)) / 3;
        const double area = area_vector(mesh, s).norm();
        far.centre += area * centroid;
        plain += centroid;
        total += area;
      }
      far.centre = total > 0 ? Vec3(far.centre / total) : Vec3(plain / static_cast<double>(triangles.size()));
      for (const Index t : triangles) {
        const auto s = base::at(t);
        const Vec3 area = 0.5 * area_vector(mesh, s);
        const Vec3 centroid = (mesh.corner(s, 0) + mesh.corner(s, 1) + mesh.corner(s, 2)) / 3;
        far.dipole += area;
        far.moment += area * (centroid - far.centre).transpose();
        for (int k = 0; k < 3; ++k)
          far.radius = std::max(far.radius, (mesh.corner(s, k) - far.centre).norm());
      }
      below[i].insert(below[i].end(), triangles.begin(), triangles.end());
    }
  }
}

double WindingNumber::at(const Vec3& p, double opening) const
{
  double sum = 0;
  Index stack[kStackSize];
  stack[0] = 0;
  int top = 1;
  while (top > 0) {
    const Index entry = stack[--top];
    if (entry < 0) {
      const Bvh::Packet& packet = bvh_->packets()[base::at(~entry)];
      for (int lane = 0; lane < kWidth; ++lane) {
        if (packet.triangle[lane] < 0) continue;
        sum += triangle_winding(lane_corner(packet.a, lane) - p, lane_corner(packet.b, lane) - p,
                                lane_corner(packet.c, lane) - p);
      }
      continue;
    }
    const Bvh::Node& node = bvh_->nodes()[base::at(entry)];
    for (int lane = 0; lane < kWidth; ++lane) {
      if (node.child[lane] == Bvh::kNoChild) continue;
      const Expansion& far = far_[base::at(entry) * kWidth + base::at(lane)];
      const Vec3 r = far.centre - p;
      const double rr = r.squaredNorm();
      if (rr <= opening * opening * far.radius * far.radius) {
        stack[top++] = node.child[lane];
        continue;
      }
      // With D the dipole and M its first moment, the solid angle is
      //   D . r / r^3 + tr(M) / r^3 - 3 r . M r / r^5 + O((radius / r)^2).                               (2)
      const double cubed = rr * std::sqrt(rr);
      sum += (far.dipole.dot(r) + far.moment.trace() - 3 * r.dot(far.moment * r) / rr) / (kFourPi * cubed);
    }
  }
  return sum;
}

double exact_winding_number(const TriangleMesh& mesh, const Vec3& p)
{
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    sum += triangle_winding(mesh.corner(t, 0) - p, mesh.corner(t, 1) - p, mesh.corner(t, 2) - p);
  }
  return sum;
}

}  // namespace thrum::mesh
