// SPDX-License-Identifier: MIT
#include "thrum/elastic/surface_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::elastic {

namespace {

// Four points and two vectors of samples at a time: eight sums, enough to hide the latency of an addition,
// and the amplitudes are read once for four points. The modes of a sample are added in the same order by all
// of them and without fused operations, so the result has the same bits with vectors of four or eight floats.
constexpr std::size_t kPoints = 4;
constexpr std::size_t kSmallVector = 4;

#define THRUM_INLINE inline __attribute__((always_inline))

template <std::size_t kLanes>
struct FloatVector {
  using type __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias)) = float;
  using bits __attribute__((vector_size(kLanes * sizeof(float)))) = std::int32_t;
};

struct PointGroup {
  std::array<const float*, kPoints> row;
  std::array<float, kPoints> peak;
};

// Raises the peaks to |sum_m f_m q_m[k]| for the samples from `begin` to `end`, a whole number of vectors.
template <std::size_t kLanes, std::size_t kVectors>
THRUM_INLINE void raise_peaks(PointGroup& points, const float* amplitudes, std::size_t modes,
                              std::size_t stride, std::size_t begin, std::size_t end)
{
  using V = typename FloatVector<kLanes>::type;
  using Bits = typename FloatVector<kLanes>::bits;
  V peak[kPoints] = {};
  for (std::size_t k = begin; k < end; k += kVectors * kLanes) {
    V sum[kPoints][kVectors] = {};
    const float* q = amplitudes + k;
    for (std::size_t m = 0; m < modes; ++m, q += stride) {
      V sample[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v) sample[v] = *reinterpret_cast<const V*>(q + v * kLanes);
      for (std::size_t p = 0; p < kPoints; ++p)
        for (std::size_t v = 0; v < kVectors; ++v) sum[p][v] += points.row[p][m] * sample[v];
    }
    for (std::size_t p = 0; p < kPoints; ++p) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V magnitude = (V)((Bits)sum[p][v] & 0x7fffffff);
        peak[p] = magnitude > peak[p] ? magnitude : peak[p];
      }
    }
  }
  for (std::size_t p = 0; p < kPoints; ++p)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      points.peak[p] = std::max(points.peak[p], peak[p][lane]);
}

template <std::size_t kLanes>
THRUM_INLINE void all_peaks(const SurfaceRows& rows, const float* amplitudes, std::size_t stride,
                            std::span<double> peaks)
{
  const std::size_t whole = stride / (2 * kLanes) * (2 * kLanes);
  for (std::size_t i = 0; i < rows.size(); i += kPoints) {
    PointGroup points{};
    // A last group that is not full repeats its last point.
    for (std::size_t p = 0; p < kPoints; ++p) points.row[p] = rows.row(std::min(i + p, rows.size() - 1));
    raise_peaks<kLanes, 2>(points, amplitudes, rows.modes(), stride, 0, whole);
    raise_peaks<kSmallVector, 1>(points, amplitudes, rows.modes(), stride, whole, stride);
    for (std::size_t p = 0; p < kPoints && i + p < rows.size(); ++p) peaks[i + p] = points.peak[p];
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void all_peaks_wide(const SurfaceRows& rows, const float* amplitudes,
                                                    std::size_t stride, std::span<double> peaks)
{
  all_peaks<8>(rows, amplitudes, stride, peaks);
}
#endif

// `stride` is a multiple of kSmallVector.
void find_peaks(const SurfaceRows& rows, const float* amplitudes, std::size_t stride, std::span<double> peaks)
{
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") != 0;
  if (wide) {
    all_peaks_wide(rows, amplitudes, stride, peaks);
    return;
  }
#endif
  all_peaks<kSmallVector>(rows, amplitudes, stride, peaks);
}

#undef THRUM_INLINE

std::size_t whole_vectors(std::size_t samples)
{
  return (samples + kSmallVector - 1) / kSmallVector * kSmallVector;
}

}  // namespace

VecX surface_row(const model::ModalModel& model, const SurfaceProbe& probe)
{
  const auto triangles = count_of(model.surface.triangles);
  if (probe.point.triangle < 0 || probe.point.triangle >= triangles) {
    throw Error(
        fmt::format("Surface triangle {} was requested, but the modal model '{}' has {} triangles; check "
                    "that it belongs to this mesh.",
                    probe.point.triangle, model.name, triangles));
  }
  VecX row = VecX::Zero(model.shapes.cols());
  if (row.size() == 0) return row;
  const Triangle& corners = model.surface.triangles[at(probe.point.triangle)];
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
  const std::size_t count = size();
  resize(count + 1);
  Eigen::Map<Eigen::VectorXf>(row_to_fill(count).data(), row.size()) = row.cast<float>();
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
  const std::size_t stride = whole_vectors(samples);
  // Entries past the last sample stay zero and so never are the maximum.
  amplitudes_.assign(bank.size() * stride, 0.0F);
  bank.run_into(amplitudes_.data(), stride, samples);
  find_peaks(rows, amplitudes_.data(), stride, peaks);
}

RestartedPeakDisplacement::RestartedPeakDisplacement(const ModeList& modes, double step, FilterInput input,
                                                     std::size_t samples)
    : bank_(modes, step, input)
{
  extend(samples);
}

void RestartedPeakDisplacement::extend(std::size_t samples)
{
  if (samples <= known_) return;
  known_ = whole_vectors(samples);
  unit_.assign(bank_.size() * known_, 0.0F);
  bank_.reset();
  bank_.drive(VecX::Ones(static_cast<Eigen::Index>(bank_.size())));
  bank_.run_into(unit_.data(), known_, known_);
}

void RestartedPeakDisplacement::run(const VecX& drive, const SurfaceRows& rows, std::size_t samples,
                                    std::span<double> peaks)
{
  THRUM_ASSERT(rows.modes() == bank_.size());
  THRUM_ASSERT(peaks.size() == rows.size());
  extend(samples);
  const std::size_t stride = whole_vectors(samples);
  amplitudes_.resize(bank_.size() * stride);
  for (std::size_t m = 0; m < bank_.size(); ++m) {
    const auto scale = static_cast<float>(drive[static_cast<Eigen::Index>(m)]);
    float* q = amplitudes_.data() + m * stride;
    const float* unit = unit_.data() + m * known_;
    for (std::size_t k = 0; k < stride; ++k) q[k] = scale * unit[k];
    std::fill(q + samples, q + stride, 0.0F);
  }
  find_peaks(rows, amplitudes_.data(), stride, peaks);
}

}  // namespace thrum::elastic
