// SPDX-License-Identifier: MIT
// Two hierarchies at once: which triangles of two posed meshes may touch.
#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"

namespace thrum::mesh {

namespace {

constexpr int kWidth = Bvh::kWidth;

struct CentredBox {
  Vec3 centre;  // in its own hierarchy's axes [m]
  Vec3 half;    // [m]
};

CentredBox child_box(const Bvh& bvh, const Bvh::Node& node, int lane)
{
  const Vec3 lower(node.lower[0][lane], node.lower[1][lane], node.lower[2][lane]);
  const Vec3 upper(node.upper[0][lane], node.upper[1][lane], node.upper[2][lane]);
  return {bvh.unit_origin() + 0.5 * bvh.unit_length() * (lower + upper),
          0.5 * bvh.unit_length() * (upper - lower)};
}

// The traversal, in a's axes.
struct PairWalk {
  const Bvh& a;
  const Bvh& b;
  const Bvh::PairCallback& callback;
  double margin;
  Mat3 rotation;      // b's axes to a's
  Mat3 abs_rotation;  // its absolute values
  Vec3 position;

  // Separating axes of two boxes: the three of each. The nine products of edges are left out; they would
  // discard few more pairs at two and a half times the cost.
  [[nodiscard]] bool boxes_near(const CentredBox& x, const CentredBox& y) const
  {
    const Vec3 between = rotation * y.centre + position - x.centre;
    const Vec3 reach = x.half + abs_rotation * y.half;
    if ((between.cwiseAbs().array() > reach.array() + margin).any()) return false;
    const Vec3 between_b = rotation.transpose() * between;
    const Vec3 reach_b = y.half + abs_rotation.transpose() * x.half;
    return (between_b.cwiseAbs().array() <= reach_b.array() + margin).all();
  }

  bool packets(Index ia, Index ib) const
  {
    const Bvh::Packet& pa = a.packets()[at(ia)];
    const Bvh::Packet& pb = b.packets()[at(ib)];
    Box3 box_b[kWidth];
    for (int k = 0; k < kWidth; ++k) {
      if (pb.triangle[k] < 0) continue;
      for (const auto* corner : {&pb.a, &pb.b, &pb.c}) {
        box_b[k].extend(rotation * Vec3((*corner)[0][k], (*corner)[1][k], (*corner)[2][k]) + position);
      }
    }
    for (int i = 0; i < kWidth; ++i) {
      if (pa.triangle[i] < 0) continue;
      Box3 box;
      for (const auto* corner : {&pa.a, &pa.b, &pa.c})
        box.extend(Vec3((*corner)[0][i], (*corner)[1][i], (*corner)[2][i]));
      // Rounding of the pose must not lose a pair that just touches.
      const double reach = margin + (a.unit_length() + b.unit_length()) * Bvh::kTieRelative;
      box.min().array() -= reach;
      box.max().array() += reach;
      for (int k = 0; k < kWidth; ++k) {
        if (pb.triangle[k] < 0 || !box.intersects(box_b[k])) continue;
        if (!callback(pa.triangle[i], pb.triangle[k])) return false;
      }
    }
    return true;
  }

  // Children are nodes (>= 0) or packets (~packet). The one with the larger box is expanded when both are
  // nodes.
  bool visit(Index ca, const CentredBox& box_a, Index cb, const CentredBox& box_b) const
  {
    if (ca < 0 && cb < 0) return packets(~ca, ~cb);
    const bool open_a = cb < 0 || (ca >= 0 && box_a.half.squaredNorm() >= box_b.half.squaredNorm());
    const Bvh& opened = open_a ? a : b;
    const Bvh::Node& node = opened.nodes()[at(open_a ? ca : cb)];
    for (int lane = 0; lane < kWidth; ++lane) {
      if (node.child[lane] == Bvh::kNoChild) continue;
      const CentredBox child = child_box(opened, node, lane);
      if (!boxes_near(open_a ? child : box_a, open_a ? box_b : child)) continue;
      const bool more =
          open_a ? visit(node.child[lane], child, cb, box_b) : visit(ca, box_a, node.child[lane], child);
      if (!more) return false;
    }
    return true;
  }
};

CentredBox root_box(const Bvh& bvh)
{
  return {bvh.bounds().center(), 0.5 * bvh.bounds().sizes()};
}

}  // namespace

bool Bvh::for_each_near_pair(const Bvh& a, const Pose& X_wa, const Bvh& b, const Pose& X_wb, double margin,
                             const PairCallback& callback)
{
  const Pose X_ab = X_wa.inverse() * X_wb;
  const Mat3 rotation = X_ab.rotation.toRotationMatrix();
  const PairWalk walk{a, b, callback, margin, rotation, rotation.cwiseAbs(), X_ab.position};
  return walk.visit(0, root_box(a), 0, root_box(b));
}

void Bvh::overlapping_pairs(const Bvh& a, const Pose& X_wa, const Bvh& b, const Pose& X_wb, double margin,
                            std::vector<TrianglePair>& out)
{
  out.clear();
  const Pose X_ab = X_wa.inverse() * X_wb;
  const auto corners = [](const TriangleMesh& mesh, Index triangle) {
    const std::size_t t = at(triangle);
    return std::array<Vec3, 3>{mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
  };
  for_each_near_pair(a, X_wa, b, X_wb, margin, [&](Index ta, Index tb) {
    std::array<Vec3, 3> moved = corners(b.mesh(), tb);
    for (Vec3& v : moved) v = X_ab.point(v);
    if (squared_distance_of_triangles(corners(a.mesh(), ta), moved) <= margin * margin)
      out.push_back({ta, tb});
    return true;
  });
  std::sort(out.begin(), out.end());
}

}  // namespace thrum::mesh
