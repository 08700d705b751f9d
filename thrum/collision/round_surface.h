// SPDX-License-Identifier: MIT
// A closed mesh that bends gently everywhere, as contact sees it: the distance to the smooth surface that the
// triangles stand for, on a grid with gradients, and balls inside that together hold the surface.
//
//      _______         The facets of a round mesh are an artefact of meshing: a tube of ten sides that
//    /  ( o )  \       rests on another one would sit on flats, tip over ridges and never come to rest.
//   | ( o )( o ) |     So each facet is bent to the normals at its corners. The grid holds values and
//    \_( o )( o )/     gradients, so that the normal changes gradually from cell to cell; that of the
//                      trilinear value alone jumps by the cell over the radius, 11 degrees for a cell of a
//                      fifth of it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "thrum/base/simd.h"
#include "thrum/base/vec.h"
#include "thrum/distance/distance_field.h"
#include "thrum/distance/mesh_distance.h"

namespace thrum::collision {

/// A ball inside the surface, and how far from its centre the piece of surface that it stands for reaches.
struct InnerBall {
  Vec3 centre = Vec3::Zero();  ///< [m]
  double radius = 0;           ///< the largest that fits inside [m]
  double reach = 0;            ///< [m]
};

/// Four balls side by side.
struct FourBalls {
  base::simd::Lanes3<base::simd::Float4> centre;  ///< [m]
};

class RoundSurface {
 public:
  /// `thickness` is twice the largest depth inside [m]; the mesh must be closed.
  RoundSurface(const distance::MeshDistance& mesh, double thickness);

  /// Distance to the smooth surface and its gradient, continuous both; carried on in a straight line outside
  /// the grid.
  [[nodiscard]] distance::FieldSample sample(const Vec3& p) const;
  [[nodiscard]] std::span<const InnerBall> balls() const { return balls_; }
  /// For each of another surface's balls, turned by R and moved by t into these axes: the square of its
  /// centre's distance from a box that holds this surface, which is no nearer [m^2].
  void squared_box_distances(const RoundSurface& other, const Mat3& R, const Vec3& t,
                             std::vector<float>& squares) const;
  /// Balls next to a ball.
  [[nodiscard]] std::span<const Index> neighbours(std::size_t ball) const
  {
    return std::span(neighbours_)
        .subspan(neighbour_begin_[ball], neighbour_begin_[ball + 1] - neighbour_begin_[ball]);
  }
  /// By how much sample() may exceed the distance [m].
  [[nodiscard]] double excess() const { return kExcess * frame_.spacing; }
  [[nodiscard]] double spacing() const { return frame_.spacing; }
  /// Of the smooth surface, which bulges beyond the triangles.
  [[nodiscard]] const Box3& bounds() const { return bounds_; }

 private:
  static constexpr double kExcess = 0.1;
  void fill_grid(const distance::MeshDistance& mesh);
  void bound_bent_facets(const distance::MeshDistance& mesh);
  void find_neighbours();
  void pack_balls();
  void place_balls(const distance::MeshDistance& mesh, double thickness);
  [[nodiscard]] std::size_t node(int i, int j, int k) const
  {
    return static_cast<std::size_t>((i * (frame_.cells[1] + 1) + j) * (frame_.cells[2] + 1) + k);
  }

  distance::GridFrame frame_;
  double inverse_spacing_ = 1;
  std::vector<distance::FieldSample> nodes_;  ///< z runs fastest
  std::vector<InnerBall> balls_;
  std::vector<FourBalls> four_balls_;  ///< the same, the last one repeated
  std::vector<std::size_t> neighbour_begin_;
  std::vector<Index> neighbours_;
  Box3 bounds_;
  Vec3 middle_ = Vec3::Zero();  ///< of the bounds [m]
  Vec3 half_ = Vec3::Zero();    ///< half of their size [m]
};

}  // namespace thrum::collision
