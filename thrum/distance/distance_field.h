// SPDX-License-Identifier: MIT
// Shared by the three stored forms of a signed distance: the description they are built from, the samples
// they return and the frame of their grid. The forms, all negative inside, trilinear within a cell:
//
//   form                     memory grows with    samples per second (torus, 128 cells)
//   SignedDistanceField      surface              90 million; used by collision
//   UniformDistanceField     volume               50 million
//   OctreeDistanceField      surface, adaptive     9 million
//
// At 128 cells a flat torus takes about 4 MB in each form; blocks and octree pay off on larger or finer
// grids.
//
// [Guendelman03, sec. 2] leaves the choice between a uniform grid and an octree to "speed or memory";
// benchmarks/geometry measures all three.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>

#include "thrum/base/vec.h"
#include "thrum/distance/mesh_distance.h"

namespace thrum::distance {

struct DistanceFieldDesc {
  int resolution = 128;  ///< cells along the longest side of the mesh; used when spacing is 0
  double spacing = 0;    ///< side of a cell [m]; 0: from the resolution
  double band = 3;       ///< minimum width of the fine region on each side of the surface, in cells
  double padding = 4;    ///< empty cells around the mesh
};

/// Value and gradient at a point, 16 bytes.
struct alignas(16) FieldSample {
  std::array<float, 3> gradient =
      {};           ///< of the interpolant; close to a unit vector away from the medial axis
  float value = 0;  ///< signed distance [m]

  [[nodiscard]] Vec3 direction() const { return {gradient[0], gradient[1], gradient[2]}; }
};

/// Bounds of the signed distance over a region [m].
struct DistanceRange {
  double lower = 0;
  double upper = 0;
};

/// The interface that the three forms share.
template <class Field>
concept DistanceField = requires(const Field& field, const Vec3& p, std::span<const Vec3> points,
                                 std::span<FieldSample> samples)
{
  {
    field.value(p)
    } -> std::same_as<double>;
  {
    field.sample(p)
    } -> std::same_as<FieldSample>;
  {
    field.sample(points, samples)
    } -> std::same_as<void>;
  {
    field.bounds()
    } -> std::same_as<Box3>;
  {
    field.memory_bytes()
    } -> std::same_as<std::size_t>;
};

/// A grid of cubic cells. Node (i, j, k) is at origin + spacing (i, j, k).
struct GridFrame {
  Vec3 origin = Vec3::Zero();  ///< [m]
  double spacing = 1;          ///< [m]
  std::array<int, 3> cells = {0, 0, 0};

  [[nodiscard]] Vec3 node(int i, int j, int k) const { return origin + spacing * Vec3(i, j, k); }
  [[nodiscard]] Box3 bounds() const { return {origin, node(cells[0], cells[1], cells[2])}; }
};

/// The grid around a box: padded, centred, and each side a multiple of `multiple` cells. Throws Error when
/// the description is invalid (spacing or resolution not positive) or the grid would have more than 2^31
/// nodes.
[[nodiscard]] GridFrame grid_around(const Box3& box, const DistanceFieldDesc& desc, int multiple);

/// A sample outside the grid from the sample at the nearest point of the grid, `offset` = p - nearest [m].
/// The grid's box is convex and contains the mesh, so |p - m|^2 >= |offset|^2 + |nearest - m|^2 for every
/// point m of it: sqrt(offset^2 + value^2), with the sign of value, is the minimum possible distance, and it
/// is continuous.
[[nodiscard]] FieldSample extend_outside(const FieldSample& nearest, const Vec3& offset);

}  // namespace thrum::distance
