// SPDX-License-Identifier: MIT
#include "thrum/tets/graded_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/tets/block_tets.h"

namespace thrum::tets {

namespace {

// The size of cells at each plane: that of the intervals beside it, or what is allowed at a distance from
// others.
std::vector<double> sizes_at_planes(const std::vector<double>& planes, const std::vector<double>& sizes)
{
  std::vector<double> at(planes.size());
  for (std::size_t p = 0; p < planes.size(); ++p)
    at[p] = std::min(sizes[p > 0 ? p - 1 : 0], sizes[std::min(p, sizes.size() - 1)]);
  for (std::size_t p = 1; p < planes.size(); ++p)
    at[p] = std::min(at[p], at[p - 1] + kCellGrowth * (planes[p] - planes[p - 1]));
  for (std::size_t p = planes.size() - 1; p-- > 0;)
    at[p] = std::min(at[p], at[p + 1] + kCellGrowth * (planes[p + 1] - planes[p]));
  return at;
}

// Between two planes cells grow from both ends up to the largest of them. How many of them there are up to a
// place, the integral of 1/size, is a logarithm, linear in the middle, and a logarithm again.
struct Interval {
  Interval(double length, double max_size, double at_start, double at_end)
      : length_(length), max_size_(max_size), at_start_(at_start), at_end_(at_end)
  {
    const double meet =
        std::clamp((at_end - at_start + kCellGrowth * length) / (2 * kCellGrowth), 0.0, length);
    grown_ = std::clamp((max_size - at_start) / kCellGrowth, 0.0, meet);
    shrinking_ = std::clamp(length - (max_size - at_end) / kCellGrowth, meet, length);
    first_ = std::log1p(kCellGrowth * grown_ / at_start) / kCellGrowth;
    middle_ = (shrinking_ - grown_) / max_size;
    last_ = std::log1p(kCellGrowth * (length - shrinking_) / at_end) / kCellGrowth;
  }
  [[nodiscard]] double cells() const { return first_ + middle_ + last_; }
  // Where there are so many before.
  [[nodiscard]] double place(double cells_before) const
  {
    if (cells_before <= first_) return at_start_ * std::expm1(kCellGrowth * cells_before) / kCellGrowth;
    if (cells_before <= first_ + middle_) return grown_ + (cells_before - first_) * max_size_;
    return length_ - at_end_ * std::expm1(kCellGrowth * (cells() - cells_before)) / kCellGrowth;
  }

 private:
  double length_, max_size_, at_start_, at_end_;
  double grown_, shrinking_;      // where the middle begins and ends
  double first_, middle_, last_;  // cells in each part
};

}  // namespace

std::vector<double> graded_lines(const std::vector<double>& planes, const std::vector<double>& sizes,
                                 double scale)
{
  if (!(scale > 0) || !(*std::min_element(sizes.begin(), sizes.end()) > 0))
    throw Error(
        fmt::format("Cells of a grid are {} times as large as its parts need; it must be positive.", scale));
  const std::vector<double> at_plane = sizes_at_planes(planes, sizes);
  std::vector<double> lines = {planes.front()};
  for (std::size_t i = 0; i + 1 < planes.size(); ++i) {
    const Interval interval(planes[i + 1] - planes[i], sizes[i], at_plane[i], at_plane[i + 1]);
    const double count = std::max(1.0, std::round(interval.cells() / scale));
    if (!(count <= kMaxBlockCells)) throw Error(fmt::format("A grid of {} cells has too many.", count));
    for (int line = 1; line < static_cast<int>(count); ++line)
      lines.push_back(planes[i] + interval.place(interval.cells() * line / count));
    lines.push_back(planes[i + 1]);
  }
  return lines;
}

}  // namespace thrum::tets
