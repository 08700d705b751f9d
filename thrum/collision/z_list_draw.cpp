// SPDX-License-Identifier: MIT
// Scan conversion of the faces of z_list.h.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/collision/z_list.h"

namespace thrum::collision {

namespace {

Vec3 area_vector_of(const Vec3 (&corner)[3])
{
  return (corner[1] - corner[0]).cross(corner[2] - corner[0]);
}

}  // namespace

void ZListBuffer::draw(bool of_b, bool swept, double reach, ZListSampling sampling)
{
  for (const Drawn& face : of_b ? drawn_b_ : drawn_a_) {
    Entry entry;
    entry.face = face.face;
    entry.of_b = of_b;
    const double up = area_vector_of(face.corner)[2];
    entry.facing = static_cast<std::int8_t>(up > 0 ? 1 : (up < 0 ? -1 : 0));
    if (sampling == ZListSampling::centre) {
      draw_centres(face, entry);
    } else {
      draw_covered(face, swept, reach, entry);
    }
  }
}

// Every pixel that the face, grown by `reach`, touches, with the depths that it may have there: those of its
// plane over the grown pixel, within those of the face.
void ZListBuffer::draw_covered(const Drawn& face, bool swept, double reach, Entry entry)
{
  const auto column_at = [&](double x) {
    return static_cast<int>(std::clamp((x - region_.min()[0]) / pixel_, 0.0, columns_ - 1.0));
  };
  const auto row_at = [&](double y) {
    return static_cast<int>(std::clamp((y - region_.min()[1]) / pixel_, 0.0, rows_ - 1.0));
  };
  const Vec3 n = area_vector_of(face.corner);
  const bool tilted = !swept && n[2] != 0;
  const double slope_x = tilted ? -n[0] / n[2] : 0;
  const double slope_y = tilted ? -n[1] / n[2] : 0;
  const double half_rise = (0.5 * pixel_ + reach) * (std::abs(slope_x) + std::abs(slope_y)) + reach;
  const int last_row = row_at(face.box.max()[1]);
  for (int row = row_at(face.box.min()[1]); row <= last_row; ++row) {
    const double y0 = region_.min()[1] + row * pixel_ - reach;
    const double y1 = y0 + pixel_ + 2 * reach;
    double left = face.box.min()[0];
    double right = face.box.max()[0];
    if (!swept) {
      // The part of the outline between y0 and y1.
      double low = right;
      double high = left;
      for (int k = 0; k < 3; ++k) {
        const Vec3& p = face.corner[k];
        const Vec3& q = face.corner[(k + 1) % 3];
        if (std::max(p[1], q[1]) < y0 || std::min(p[1], q[1]) > y1) continue;
        const double dy = q[1] - p[1];
        for (const double y : {y0, y1}) {
          const double s = dy != 0 ? std::clamp((y - p[1]) / dy, 0.0, 1.0) : (y == y0 ? 0.0 : 1.0);
          const double x = p[0] + s * (q[0] - p[0]);
          low = std::min(low, x);
          high = std::max(high, x);
        }
      }
      if (low > high) continue;
      left = low - reach;
      right = high + reach;
    }
    const int last_column = column_at(right);
    for (int column = column_at(left); column <= last_column; ++column) {
      entry.low = face.box.min()[2];
      entry.high = face.box.max()[2];
      if (tilted) {
        const double z = face.corner[0][2] +
                         slope_x * (region_.min()[0] + (column + 0.5) * pixel_ - face.corner[0][0]) +
                         slope_y * (0.5 * (y0 + y1) - face.corner[0][1]);
        entry.low = std::max(entry.low, z - half_rise);
        entry.high = std::min(entry.high, z + half_rise);
      }
      put(column, row, entry);
    }
  }
}

// The pixels whose centres the face covers, with its depth there.
void ZListBuffer::draw_centres(const Drawn& face, Entry entry)
{
  const Vec3 n = area_vector_of(face.corner);
  if (n[2] == 0) return;
  const double slope_x = -n[0] / n[2];
  const double slope_y = -n[1] / n[2];
  const auto first_centre = [&](double x, int axis) {
    return static_cast<int>(std::ceil(std::max((x - region_.min()[axis]) / pixel_ - 0.5, 0.0)));
  };
  const auto last_centre = [&](double x, int axis, int count) {
    return static_cast<int>(std::floor(std::min((x - region_.min()[axis]) / pixel_ - 0.5, count - 1.0)));
  };
  const int last_row = last_centre(face.box.max()[1], 1, rows_);
  for (int row = first_centre(face.box.min()[1], 1); row <= last_row; ++row) {
    const double y = region_.min()[1] + (row + 0.5) * pixel_;
    double left = face.box.max()[0];
    double right = face.box.min()[0];
    for (int k = 0; k < 3; ++k) {
      const Vec3& p = face.corner[k];
      const Vec3& q = face.corner[(k + 1) % 3];
      if (std::max(p[1], q[1]) < y || std::min(p[1], q[1]) > y || p[1] == q[1]) continue;
      const double x = p[0] + (y - p[1]) / (q[1] - p[1]) * (q[0] - p[0]);
      left = std::min(left, x);
      right = std::max(right, x);
    }
    const int last_column = last_centre(right, 0, columns_);
    for (int column = first_centre(left, 0); column <= last_column; ++column) {
      const double x = region_.min()[0] + (column + 0.5) * pixel_;
      entry.low = entry.high =
          face.corner[0][2] + slope_x * (x - face.corner[0][0]) + slope_y * (y - face.corner[0][1]);
      put(column, row, entry);
    }
  }
}

// Entries outside the region are clipped away, and those of b in pixels that a does not touch.
void ZListBuffer::put(int column, int row, const Entry& entry)
{
  if (entry.high < region_.min()[2] || entry.low > region_.max()[2]) return;
  const std::size_t pixel = at(row) * at(columns_) + at(column);
  if (entry.of_b && touched_[pixel] == 0) return;
  touched_[pixel] = 1;
  stamps_.push_back({static_cast<std::uint32_t>(pixel), entry});
}

}  // namespace thrum::collision
