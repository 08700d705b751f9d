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

// Six points and two vectors of samples at a time: twelve sums hide the latency of an addition, and
// the amplitudes are read once for six points. The modes of a sample are added in the same order by all of
// them and without fused operations, so the result has the same bits with vectors of 4, 8 or 16 floats.
constexpr std::size_t kPoints = 6;
constexpr std::size_t kSmallVector = 4;
constexpr std::size_t kLargeVector = 16;

#define THRUM_INLINE inline __attribute__((always_inline))

template <std::size_t kLanes>
struct FloatVector {
  using type __attribute__((vector_size(kLanes * sizeof(float)), aligned(4), may_alias)) = float;
  using bits __attribute__((vector_size(kLanes * sizeof(float)))) = std::int32_t;
};

/// Modes x samples; the samples of a mode are `stride` apart from those of the next, a whole number of
/// kLargeVector.
struct Amplitudes {
  const float* values;
  std::size_t modes;
  std::size_t stride;
};

// Raises the peaks to |sum_m f_m q_m[k]| for the samples from `begin` to `end`, a whole number of vectors.
template <std::size_t kCount, std::size_t kLanes, std::size_t kVectors>
THRUM_INLINE void raise_peaks(const float* const* rows, const Amplitudes& q, std::size_t begin,
                              std::size_t end, typename FloatVector<kLanes>::type* peak)
{
  using V = typename FloatVector<kLanes>::type;
  using Bits = typename FloatVector<kLanes>::bits;
  for (std::size_t k = begin; k < end; k += kVectors * kLanes) {
    V sum[kCount][kVectors] = {};
    const float* samples = q.values + k;
    for (std::size_t m = 0; m < q.modes; ++m, samples += q.stride) {
      V sample[kVectors];
      for (std::size_t v = 0; v < kVectors; ++v)
        sample[v] = *reinterpret_cast<const V*>(samples + v * kLanes);
#pragma GCC unroll 6
      for (std::size_t p = 0; p < kCount; ++p)
        for (std::size_t v = 0; v < kVectors; ++v) sum[p][v] += rows[p][m] * sample[v];
    }
#pragma GCC unroll 6
    for (std::size_t p = 0; p < kCount; ++p) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const V magnitude = (V)((Bits)sum[p][v] & 0x7fffffff);
        peak[p] = magnitude > peak[p] ? magnitude : peak[p];
      }
    }
  }
}

// Halves of a vector against each other, until one float is left. In memory, a float after the other, it took
// a fifth of all time.
template <std::size_t kLanes>
THRUM_INLINE float max_lane(const typename FloatVector<kLanes>::type& v)
{
  if constexpr (kLanes == 1) {
    return v[0];
  } else {
    using Half = typename FloatVector<kLanes / 2>::type;
    Half low, high;
    __builtin_memcpy(&low, &v, sizeof(Half));
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof(Half), sizeof(Half));
    return max_lane<kLanes / 2>(low > high ? low : high);
  }
}

template <std::size_t kCount, std::size_t kLanes>
THRUM_INLINE void group_peaks(const SurfaceRows& rows, std::size_t first, const Amplitudes& q, double* peaks)
{
  using V = typename FloatVector<kLanes>::type;
  const float* row[kCount];
  V peak[kCount];
  for (std::size_t p = 0; p < kCount; ++p) {
    row[p] = rows.row(first + p);
    peak[p] = V{};
  }
  const std::size_t pairs = q.stride / (2 * kLanes) * (2 * kLanes);
  raise_peaks<kCount, kLanes, 2>(row, q, 0, pairs, peak);
  raise_peaks<kCount, kLanes, 1>(row, q, pairs, q.stride, peak);
  for (std::size_t p = 0; p < kCount; ++p) peaks[p] = max_lane<kLanes>(peak[p]);
}

template <std::size_t kLanes>
THRUM_INLINE void all_peaks(const SurfaceRows& rows, const Amplitudes& q, std::span<double> peaks)
{
  std::size_t i = 0;
  for (; i + kPoints <= rows.size(); i += kPoints) group_peaks<kPoints, kLanes>(rows, i, q, &peaks[i]);
  const std::size_t left = rows.size() - i;
  if (left >= 4) group_peaks<4, kLanes>(rows, i, q, &peaks[i]);
  i += left >= 4 ? 4 : 0;
  if (left % 4 >= 2) group_peaks<2, kLanes>(rows, i, q, &peaks[i]);
  i += left % 4 >= 2 ? 2 : 0;
  if (left % 2 == 1) group_peaks<1, kLanes>(rows, i, q, &peaks[i]);
}

// amplitudes[m][k] = drive_m unit[m][k].
template <std::size_t kLanes>
THRUM_INLINE void scale_amplitudes(const VecX& drive, const Amplitudes& unit, float* amplitudes)
{
  using V = typename FloatVector<kLanes>::type;
  for (std::size_t m = 0; m < unit.modes; ++m) {
    const auto scale = static_cast<float>(drive[static_cast<Eigen::Index>(m)]);
    const float* from = unit.values + m * unit.stride;
    float* to = amplitudes + m * unit.stride;
    for (std::size_t k = 0; k < unit.stride; k += kLanes)
      *reinterpret_cast<V*>(to + k) = scale * *reinterpret_cast<const V*>(from + k);
  }
}

#if defined(__x86_64__)
#define THRUM_VECTORS_OF_16 __attribute__((target("avx512f")))
#define THRUM_VECTORS_OF_8 __attribute__((target("avx2")))
THRUM_VECTORS_OF_16 void all_peaks_16(const SurfaceRows& rows, const Amplitudes& q, std::span<double> peaks)
{
  all_peaks<16>(rows, q, peaks);
}
THRUM_VECTORS_OF_8 void all_peaks_8(const SurfaceRows& rows, const Amplitudes& q, std::span<double> peaks)
{
  all_peaks<8>(rows, q, peaks);
}
THRUM_VECTORS_OF_16 void scale_amplitudes_16(const VecX& drive, const Amplitudes& unit, float* amplitudes)
{
  scale_amplitudes<16>(drive, unit, amplitudes);
}
THRUM_VECTORS_OF_8 void scale_amplitudes_8(const VecX& drive, const Amplitudes& unit, float* amplitudes)
{
  scale_amplitudes<8>(drive, unit, amplitudes);
}
#undef THRUM_VECTORS_OF_16
#undef THRUM_VECTORS_OF_8
const bool has_vectors_of_16 = __builtin_cpu_supports("avx512f") != 0;
const bool has_vectors_of_8 = __builtin_cpu_supports("avx2") != 0;
#endif

void find_peaks(const SurfaceRows& rows, const Amplitudes& q, std::span<double> peaks)
{
#if defined(__x86_64__)
  if (has_vectors_of_16) return all_peaks_16(rows, q, peaks);
  if (has_vectors_of_8) return all_peaks_8(rows, q, peaks);
#endif
  all_peaks<kSmallVector>(rows, q, peaks);
}

void find_amplitudes(const VecX& drive, const Amplitudes& unit, float* amplitudes)
{
#if defined(__x86_64__)
  if (has_vectors_of_16) return scale_amplitudes_16(drive, unit, amplitudes);
  if (has_vectors_of_8) return scale_amplitudes_8(drive, unit, amplitudes);
#endif
  scale_amplitudes<kSmallVector>(drive, unit, amplitudes);
}

#undef THRUM_INLINE

std::size_t whole_vectors(std::size_t samples)
{
  return (samples + kLargeVector - 1) / kLargeVector * kLargeVector;
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
    : modes_(at(model.shapes.cols()))
{
  values_.reserve(modes_ * probes.size());
  for (const SurfaceProbe& probe : probes) add(surface_row(model, probe));
}

void SurfaceRows::add(const VecX& row)
{
  THRUM_ASSERT(at(row.size()) == modes_);
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
  find_peaks(rows, {amplitudes_.data(), bank.size(), stride}, peaks);
}

RestartedPeakDisplacement::RestartedPeakDisplacement(const ModeList& modes, double step, FilterInput input,
                                                     std::size_t samples)
    : bank_(modes, step, input)
{
  prepare(samples);
}

// A run of another length computes the unit responses again, with zeros after its last sample: the steps of a
// simulation are all of one length.
void RestartedPeakDisplacement::prepare(std::size_t samples)
{
  if (samples == samples_) return;
  samples_ = samples;
  stride_ = whole_vectors(samples);
  unit_.assign(bank_.size() * stride_, 0.0F);
  amplitudes_.resize(unit_.size());
  bank_.reset();
  bank_.drive(VecX::Ones(static_cast<Eigen::Index>(bank_.size())));
  bank_.run_into(unit_.data(), stride_, samples);
}

void RestartedPeakDisplacement::run(const VecX& drive, const SurfaceRows& rows, std::size_t samples,
                                    std::span<double> peaks)
{
  THRUM_ASSERT(rows.modes() == bank_.size());
  THRUM_ASSERT(peaks.size() == rows.size());
  prepare(samples);
  find_amplitudes(drive, {unit_.data(), bank_.size(), stride_}, amplitudes_.data());
  find_peaks(rows, {amplitudes_.data(), bank_.size(), stride_}, peaks);
}

}  // namespace thrum::elastic
