// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"

namespace thrum::elastic {

namespace {

// Samples processed together: four registers of four floats. Two points at a time fill eight of the sixteen
// registers with sums, enough to hide the latency of an addition, and read the amplitudes once.
constexpr std::size_t kBlock = 16;
constexpr std::size_t kPoints = 2;

using Block = Eigen::Array<float, kBlock, 1>;

// Maximum |sum_m f_m q_m[k]| over one block of samples, for two points.
void block_peak(const std::array<const float*, kPoints>& row, const float* amplitudes, std::size_t modes,
                std::size_t stride, std::array<float, kPoints>& peaks)
{
  Block first = Block::Zero();
  Block second = Block::Zero();
  for (std::size_t m = 0; m < modes; ++m) {
    const Block q = Eigen::Map<const Block>(amplitudes + m * stride);
    first += row[0][m] * q;
    second += row[1][m] * q;
  }
  peaks[0] = std::max(peaks[0], first.abs().maxCoeff());
  peaks[1] = std::max(peaks[1], second.abs().maxCoeff());
}

}  // namespace

VecX surface_row(const model::ModalModel& model, const SurfaceProbe& probe)
{
  const auto triangles = static_cast<Index>(model.surface.triangles.size());
  if (probe.point.triangle < 0 || probe.point.triangle >= triangles) {
    throw Error(
        fmt::format("Surface triangle {} was requested, but the modal model '{}' has {} triangles; check "
                    "that it belongs to this mesh.",
                    probe.point.triangle, model.name, triangles));
  }
  VecX row = VecX::Zero(model.shapes.cols());
  if (row.size() == 0) return row;
  const Triangle& corners = model.surface.triangles[static_cast<std::size_t>(probe.point.triangle)];
  for (std::size_t c = 0; c < 3; ++c) {
    row += probe.point.barycentric[static_cast<Eigen::Index>(c)] *
           (probe.direction.transpose() * model.shapes.middleRows<3>(3 * corners[c])).transpose();
  }
  return row;
}

SurfaceRows::SurfaceRows(const model::ModalModel& model, std::span<const SurfaceProbe> probes)
    : modes_(static_cast<std::size_t>(model.shapes.cols()))
{
  values_.reserve(modes_ * probes.size());
  for (const SurfaceProbe& probe : probes) add(surface_row(model, probe));
}

void SurfaceRows::add(const VecX& row)
{
  THRUM_ASSERT(static_cast<std::size_t>(row.size()) == modes_);
  const std::size_t first = values_.size();
  values_.resize(first + modes_);
  Eigen::Map<Eigen::VectorXf>(values_.data() + first, row.size()) = row.cast<float>();
}

// The amplitudes of all samples are computed first, modes side by side, then multiplied with the rows a block
// of samples at a time: for 20 modes, 41 points and 16 samples the product is 13,000 multiplications and
// stays in the first-level cache. Single precision doubles the width; the amplitudes themselves are advanced
// in double.
void PeakDisplacement::run(ModalFilterBank& bank, const SurfaceRows& rows, std::size_t samples,
                           std::span<double> peaks)
{
  THRUM_ASSERT(rows.modes() == bank.size());
  THRUM_ASSERT(peaks.size() == rows.size());
  const std::size_t stride = (samples + kBlock - 1) / kBlock * kBlock;
  // Entries past the last sample stay zero and so never are the maximum.
  amplitudes_.assign(bank.size() * stride, 0.0F);
  bank.run_into(amplitudes_.data(), stride, samples);
  for (std::size_t i = 0; i < rows.size(); i += kPoints) {
    // The last of an odd number is paired with itself.
    const std::size_t other = std::min(i + 1, rows.size() - 1);
    std::array<float, kPoints> peak{};
    for (std::size_t k = 0; k < stride; k += kBlock)
      block_peak({rows.row(i), rows.row(other)}, amplitudes_.data() + k, bank.size(), stride, peak);
    peaks[i] = peak[0];
    peaks[other] = peak[1];
  }
}

}  // namespace thrum::elastic
