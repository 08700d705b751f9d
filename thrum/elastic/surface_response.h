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

}  // namespace thrum::elastic
