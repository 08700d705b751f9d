// SPDX-License-Identifier: MIT
// Points of an arrangement of triangles whose corners lie on an integer grid, and exact predicates on them.
//
// Corners are integers of kGridBits bits. Where a line meets a plane, or two segments of one plane cross, the
// point is a ratio of integers and kept as such (homogeneous x, y, z, w with w > 0). Every point also carries
// its nearest doubles; a predicate is first evaluated on those with an error bound, and on integers only when
// the bound does not decide.
#pragma once

#include <array>
#include <set>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"
#include "thrum/mesh/big_integer.h"

namespace thrum::mesh {

using GridPoint = std::array<std::int64_t, 3>;

inline constexpr int kGridBits = 30;  ///< coordinates are 0 .. 2^30, so a plane's normal fits in 64 bits

/// n . x = offset, n pointing outwards.
struct GridPlane {
  std::array<std::int64_t, 3> normal{};
  Int128 offset = 0;

  [[nodiscard]] bool is_degenerate() const { return normal[0] == 0 && normal[1] == 0 && normal[2] == 0; }
  [[nodiscard]] Int128 height(const GridPoint& p) const;
};

[[nodiscard]] GridPlane plane_through(const GridPoint& a, const GridPoint& b, const GridPoint& c);

struct ExactPoint {
  std::array<BigInteger, 3> h;
  BigInteger w;
  Vec3 approximate = Vec3::Zero();  ///< in grid cells, each coordinate within kApproximation of the truth
  GridPoint grid{};                 ///< valid when on_grid
  bool on_grid = false;
};

[[nodiscard]] ExactPoint grid_point(const GridPoint& p);

/// Where the line a b meets the plane; a and b lie strictly on different sides.
[[nodiscard]] ExactPoint line_plane_intersection(const GridPoint& a, const GridPoint& b,
                                                 const GridPlane& plane);

/// Where the segments p q and r s of one plane cross; seen along `axis` they cross in their interiors.
[[nodiscard]] ExactPoint segment_intersection(const ExactPoint& p, const ExactPoint& q, const ExactPoint& r,
                                              const ExactPoint& s, int axis);

/// (i a + j b + k c) / (i + j + k) for positive weights.
[[nodiscard]] ExactPoint weighted_mean(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c,
                                       const std::array<int, 3>& weights);

/// Sign of the turn a, b, c seen against `axis` (0, 1, 2): +1 to the left in the plane of the two next axes.
[[nodiscard]] int orientation(const ExactPoint& a, const ExactPoint& b, const ExactPoint& c, int axis);

/// Sign of the height of p above the plane.
[[nodiscard]] int side(const GridPlane& plane, const ExactPoint& p);

/// Lexicographic: -1, 0, +1.
[[nodiscard]] int compare(const ExactPoint& a, const ExactPoint& b);

/// All points of an arrangement, each once.
class PointTable {
 public:
  PointTable() : index_(LessAt{this}) {}
  PointTable(const PointTable&) = delete;
  PointTable& operator=(const PointTable&) = delete;

  Index add(ExactPoint point);
  [[nodiscard]] const ExactPoint& operator[](Index i) const { return points_[at(i)]; }
  [[nodiscard]] std::size_t size() const { return points_.size(); }

 private:
  struct LessAt {
    const PointTable* table;
    bool operator()(Index a, Index b) const { return compare((*table)[a], (*table)[b]) < 0; }
  };
  std::vector<ExactPoint> points_;
  std::set<Index, LessAt> index_;
};

}  // namespace thrum::mesh
