// SPDX-License-Identifier: MIT
// How accurate the modes of a filled surface shall be, and what several fillings say about their errors.
#pragma once

#include "thrum/base/vec.h"
#include "thrum/elastic/surface_modes.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

struct QualityLevel {
  double max_error;  ///< of the frequencies asked for
  double max_cells;  ///< quadratic ones
};

[[nodiscard]] QualityLevel level_of(Quality quality);

/// The largest error among the modes that can be heard.
[[nodiscard]] double worst_error(const model::ModalModel& model);

/// The frequencies of a coarser filling that belong to the modes of a finer one of the same body, by their
/// shapes on its surface: modes may have changed places. Where the coarser one has no such mode among those
/// that were found, its highest frequency.
[[nodiscard]] VecX matched_frequencies(const model::ModalModel& coarse, const model::ModalModel& fine);

/// With these errors a mode may belong before others that are listed before it. The frequency of the k-th one
/// is then as low as the k-th smallest of all lower limits, which its error is made to cover.
void cover_changed_order(model::ModalModel& model);

/// The difference of each frequency to that of a coarser filling, times `share`: what is left of the error.
/// For modes that the coarser one has not, the largest of the others.
[[nodiscard]] VecX errors_by_difference(const VecX& coarse, const VecX& fine, double share);

/// At a right-angled notch the stress grows with the power 0.544 - 1 of the distance [Williams 1952], so that
/// with uniform elements of any degree w^2 errs with the power 2 x 0.544 of their size: this one of their
/// number.
inline constexpr double kUniformNotchOrder = 2 * 0.544 / 3;
/// Of a body without notches, where elements are too stiff in thin walls.
inline constexpr double kUniformWallOrder = 1;
/// Whether the surface has edges that are sharp (30 degrees or more) and turned inwards.
[[nodiscard]] bool has_notches(const mesh::TriangleMesh& surface);
/// Where elements are bisected at the notches, or fitted to them.
inline constexpr double kFittedNotchOrder = 2.0 / 3;

/// With which power of the number of cubic elements the error of each mode falls, from three sets of
/// frequencies: quadratic and cubic elements in the same cells, and cubic ones in fewer or more. Where cubic
/// elements are far better than quadratic ones the mode is smooth in the cells and the power is 1.25; where
/// they are not there are notches, and it is `notch_order`.
[[nodiscard]] VecX convergence_orders(const VecX& quadratic, const VecX& cubic, const VecX& other_cubic,
                                      double notch_order);

/// What is left of the difference to `ratio` times fewer cubic elements, for these powers, and a margin.
[[nodiscard]] VecX errors_by_order(const VecX& coarse, const VecX& fine, double ratio, const VecX& orders);

}  // namespace thrum::elastic
