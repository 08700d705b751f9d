// SPDX-License-Identifier: MIT
// The trilinear interpolant of a cell and its gradient, the inner loop of every distance field.
#pragma once

#include <bit>
#include <cstddef>

#include "thrum/base/simd.h"
#include "thrum/distance/distance_field.h"

namespace thrum::distance {

/// The cell with its lowest corner at `corner`: z runs fastest, `stride_y` and `stride_x` floats lead to the
/// next row and plane. (fx, fy, fz) in [0, 1] is the position in the cell; `scale` is 1 / spacing for the
/// gradient and 1 for the value.
///
/// With v_yz the values interpolated along x and d_yz the differences along x,
///
///     value = v interpolated along y, then z       dv/dx = d interpolated along y, then z
///     dv/dz = difference of v along z, at y        dv/dy = difference of v along y, interpolated along z,
///
/// which is four interpolations at a time: the corners of a face, then (d, v) at both z, then (dv/dx, v,
/// dv/dy).
[[nodiscard]] inline FieldSample interpolate(const float* corner, std::ptrdiff_t stride_x,
                                             std::ptrdiff_t stride_y, float fx, float fy, float fz,
                                             base::simd::Float4 scale)
{
  using base::simd::all;
  using base::simd::Float4;
  const float* next = corner + stride_x;
  const Float4 x0 = base::simd::load_pairs(corner, corner + stride_y);
  const Float4 x1 = base::simd::load_pairs(next, next + stride_y);
  const Float4 d = x1 - x0;
  const Float4 v = x0 + all(fx) * d;

  const Float4 y0 = __builtin_shufflevector(d, v, 0, 1, 4, 5);  // d_00 d_01 v_00 v_01
  const Float4 y1 = __builtin_shufflevector(d, v, 2, 3, 6, 7);  // d_10 d_11 v_10 v_11
  const Float4 slope = y1 - y0;
  const Float4 along = y0 + all(fy) * slope;

  const Float4 z0 = __builtin_shufflevector(along, slope, 0, 2, 6, 6);  // d_0 v_0 dy_0
  const Float4 z1 = __builtin_shufflevector(along, slope, 1, 3, 7, 7);  // d_1 v_1 dy_1
  const Float4 rise = z1 - z0;
  const Float4 result = z0 + all(fz) * rise;  // dv/dx v dv/dy

  const Float4 ordered = __builtin_shufflevector(result, rise, 0, 2, 5, 1) * scale;
  return std::bit_cast<FieldSample>(ordered);
}

}  // namespace thrum::distance
