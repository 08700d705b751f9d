// SPDX-License-Identifier: MIT
#include "thrum/distance/distance_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/simd.h"

namespace thrum::distance {

GridFrame grid_around(const Box3& box, const DistanceFieldDesc& desc, int multiple)
{
  if (desc.spacing < 0 || !std::isfinite(desc.spacing) || (desc.spacing == 0 && desc.resolution < 1)) {
    throw Error(fmt::format(
        "A distance field needs a positive spacing or resolution; found spacing {} and resolution {}.",
        desc.spacing, desc.resolution));
  }
  if (!(desc.band >= 1) || !(desc.padding >= 1)) {
    throw Error(
        fmt::format("A distance field needs a band and a padding of at least one cell; found {} and {}.",
                    desc.band, desc.padding));
  }
  GridFrame frame;
  const double longest = box.sizes().maxCoeff();
  frame.spacing = desc.spacing > 0 ? desc.spacing : longest / desc.resolution;
  if (!(frame.spacing > 0)) {
    throw Error(
        "The mesh has no extent, so a resolution gives no cell size: set the spacing of the distance field.");
  }
  double nodes = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    const double cells = box.sizes()[static_cast<int>(d)] / frame.spacing + 2 * desc.padding;
    const double rounded = multiple * std::ceil(cells / multiple);
    nodes *= rounded + 1;
    frame.cells[d] = rounded < std::numeric_limits<int>::max() ? static_cast<int>(rounded) : 0;
  }
  if (nodes > std::numeric_limits<std::int32_t>::max()) {
    throw Error(fmt::format(
        "A spacing of {} m gives a grid of {:.3g} nodes; the maximum is 2^31. Use a larger spacing.",
        frame.spacing, nodes));
  }
  frame.origin = box.center() - 0.5 * frame.spacing * Vec3(frame.cells[0], frame.cells[1], frame.cells[2]);
  return frame;
}

FieldSample extend_outside(const FieldSample& nearest, const Vec3& offset)
{
  const double size = std::sqrt(offset.squaredNorm() + static_cast<double>(nearest.value) * nearest.value);
  if (!(size > 0)) return nearest;
  const double value = std::copysign(size, nearest.value);
  const auto along = [&](int d) {
    // Along an axis on which the point was clamped, the nearest point does not move.
    const double inner = offset[d] == 0 ? nearest.value * nearest.gradient[at(d)] : 0;
    return static_cast<float>((offset[d] + inner) / value);
  };
  // In one piece, as it will be read.
  return std::bit_cast<FieldSample>(
      base::simd::Float4{along(0), along(1), along(2), static_cast<float>(value)});
}

}  // namespace thrum::distance
