// SPDX-License-Identifier: MIT
// The largest displacement of what rests on a body, [Coevoet20, eq. 11-13], for the rule peak_displacement.
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {

// Of eq. 11 in a step: k = 1 ... h / T.
std::size_t ModalResponse::paper_samples(double step, double T)
{
  return static_cast<std::size_t>(std::max(1.0, std::floor(step / T)));
}

// The corners whose motion eq. 11 asks for: contacts that share a vertex and a normal share its motion, and
// most are the same, in the same order, as in the step before.
void ModalResponse::find_corners(const ResponseContext& r)
{
  bool are_same = resting_places_.size() == r.resting.size();
  resting_places_.resize(r.resting.size());
  for (std::size_t k = 0; k < r.resting.size(); ++k) {
    RestingPlace& place = resting_places_[k];
    const Index triangle = points_[r.resting[k]]->point.triangle;
    const Vec3& normal = r.contact(r.resting[k]).normal;
    if (place.triangle == triangle && place.normal == normal) continue;
    are_same = false;
    place = {triangle, normal};
  }
  if (are_same) {
    for (Corner& corner : corners_) corner.is_new = false;
    return;
  }
  corner_indices_.resize(r.resting.size());
  std::size_t count = 0;
  for (std::size_t k = 0; k < r.resting.size(); ++k) {
    const Vec3& normal = r.contact(r.resting[k]).normal;
    const auto is = [&](const Corner& corner, Index vertex) {
      return corner.vertex == vertex && corner.normal == normal;
    };
    const auto triangle = at(points_[r.resting[k]]->point.triangle);
    for (std::size_t c = 0; c < 3; ++c) {
      const Index vertex = model_->surface.triangles[triangle][c];
      std::size_t& corner = corner_of_vertex_[at(vertex)];
      if (corner >= count || !is(corners_[corner], vertex)) {
        corner = count++;
        if (count > corners_.size()) {
          corners_.push_back({vertex, normal, true});
        } else if (is(corners_[corner], vertex)) {
          corners_[corner].is_new = false;
        } else {
          corners_[corner] = {vertex, normal, true};
        }
      }
      corner_indices_[k][c] = corner;
    }
  }
  corners_.resize(count);
  corner_peaks_.resize(count);
}

// Eq. 10 and 11 as printed: the impulse is a force over the first sample, in the coefficients of James and
// Pai, the largest value is taken at the samples, at each corner of the triangle, and eq. 13 weighs the
// three.
void ModalResponse::paper_peaks(const ResponseContext& r, const VecX& mode_impulse)
{
  find_corners(r);
  corner_rows_.resize(corners_.size());
  for (std::size_t k = 0; k < corners_.size(); ++k) {
    if (!corners_[k].is_new) continue;
    const SurfaceMap::VertexShapes shapes = map_.vertex_shapes(corners_[k].vertex);
    const Vec3& n = corners_[k].normal;
    Eigen::Map<Eigen::VectorXf>(corner_rows_.row_to_fill(k).data(), shapes.cols()) =
        (n.x() * shapes.row(0) + n.y() * shapes.row(1) + n.z() * shapes.row(2)).transpose().cast<float>();
  }
  const double T = paper_filter_->step();
  row_ = mode_impulse / T;
  paper_filter_->run(row_, corner_rows_, paper_samples(r.input.step, T), corner_peaks_);
  interpolate_corners(r);
}

// The same with the exact motion and the largest value between samples.
void ModalResponse::displacement_peaks(const ResponseContext& r, const ModeState& state)
{
  find_corners(r);
  resting_columns_.resize(r.rows.cols(), static_cast<Eigen::Index>(corners_.size()));
  for (std::size_t k = 0; k < corners_.size(); ++k)
    resting_columns_.col(static_cast<Eigen::Index>(k)) =
        map_.vertex_shapes(corners_[k].vertex).transpose() * corners_[k].normal;
  search_.sample(modes_, state, r.input.step);
  corner_peaks_.clear();
  for (const Peak& peak : search_.max_displacement(resting_columns_)) corner_peaks_.push_back(peak.value);
  interpolate_corners(r);
}

// [Coevoet20, eq. 13].
void ModalResponse::interpolate_corners(const ResponseContext& r)
{
  for (std::size_t k = 0; k < r.resting.size(); ++k) {
    const Vec3& weights = points_[r.resting[k]]->point.barycentric;
    const auto& [a, b, c] = corner_indices_[k];
    peaks_[k].value = weights.dot(Vec3(corner_peaks_[a], corner_peaks_[b], corner_peaks_[c]));
  }
}

}  // namespace thrum::vibration
