// SPDX-License-Identifier: MIT
// Modal displacement at points of the surface: many points over many samples as one small matrix product.
//
// A point on triangle (i, j, k) with barycentric weights (a, b, c) moves along n by
//
//     d = n^T (a U_i + b U_j + c U_k) q = f q,                                   [Coevoet20, eq. 9 and 11-13]
//
// where f is a row with one entry per mode. The transpose maps an impulse at the point to the modes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/mesh/surface_point.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

/// A point on the surface of a modal model and a direction.
struct SurfaceProbe {
  mesh::SurfacePoint point;
  Vec3 direction = Vec3::UnitZ();  ///< unit, in the axes of the model
};

/// f of above [kg^(-1/2)]; j f are the modal impulses of an impulse j along the direction. Throws Error for a
/// triangle that the model does not have.
[[nodiscard]] VecX surface_row(const model::ModalModel& model, const SurfaceProbe& probe);

/// The rows of several points, kept as floats in the layout of the product.
class SurfaceRows {
 public:
  explicit SurfaceRows(std::size_t modes) : modes_(modes) {}
  SurfaceRows(const model::ModalModel& model, std::span<const SurfaceProbe> probes);

  void add(const VecX& row);
  /// Keeps the first `count` rows, or adds rows of zeros.
  void resize(std::size_t count) { values_.resize(count * modes_); }
  [[nodiscard]] std::span<float> row_to_fill(std::size_t point)
  {
    return {values_.data() + point * modes_, modes_};
  }
  void clear() { values_.clear(); }
  [[nodiscard]] std::size_t size() const { return modes_ == 0 ? 0 : values_.size() / modes_; }
  [[nodiscard]] std::size_t modes() const { return modes_; }
  [[nodiscard]] const float* row(std::size_t point) const { return values_.data() + point * modes_; }

 private:
  std::size_t modes_;
  std::vector<float> values_;
};

/// Runs a filter bank over the samples of one rigid step and returns the maximum |d| at each point, without
/// storing d. Keeps its scratch memory, so that one object can be reused for many steps.
class PeakDisplacement {
 public:
  /// `peaks` has one entry per row [m]. The bank is left at the end of the last sample.
  void run(ModalFilterBank& bank, const SurfaceRows& rows, std::size_t samples, std::span<double> peaks);

 private:
  std::vector<float> amplitudes_;
};

/// The same for modes that are at rest before each run: an impulse r then moves mode m by r_m g_m[k], and the
/// unit responses g are computed once. For the filter that [Coevoet20, section 4.5] restarts in every step.
class RestartedPeakDisplacement {
 public:
  /// A run of `samples` samples is prepared here, one of another length when it comes. Throws Error as
  /// ModalFilterBank does.
  RestartedPeakDisplacement(const ModeList& modes, double step, FilterInput input, std::size_t samples = 0);

  /// Maximum |d| at each row over `samples` samples after `drive`, the input of the filters at the first
  /// sample. `peaks` has one entry per row [m].
  void run(const VecX& drive, const SurfaceRows& rows, std::size_t samples, std::span<double> peaks);
  [[nodiscard]] double step() const { return bank_.step(); }  ///< between samples [s]

 private:
  void prepare(std::size_t samples);

  ModalFilterBank bank_;
  std::size_t samples_ = 0;
  std::size_t stride_ = 0;   ///< of unit_, whole vectors
  std::vector<float> unit_;  ///< modes x stride_: response to 1
  std::vector<float> amplitudes_;
};

}  // namespace thrum::elastic
