// SPDX-License-Identifier: MIT
// The free motion of a list of modes by any time, and the greatest speed and displacement that it reaches at points of
// the surface, found between the samples.
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"

namespace thrum::vibration {

/// Amplitudes and their speeds, one entry a mode. Modes have unit mass.
struct ModeState {
  VecX q;  ///< [kg^1/2 m]
  VecX v;  ///< [kg^1/2 m/s]

  [[nodiscard]] static ModeState at_rest(Eigen::Index modes)
  {
    return {VecX::Zero(modes), VecX::Zero(modes)};
  }
};

/// (q'^2 + w^2 q^2)/2 over all modes [J].
[[nodiscard]] double energy(const elastic::ModeList& modes, const ModeState& state);

/// The exact free motion over `time` [s].
void advance(const elastic::ModeList& modes, double time, ModeState& state);

struct Peak {
  double value = 0;  ///< [m/s] or [m]
  double time = 0;   ///< after the start [s]
};

/// Greatest values of f . q'(t) or |f . q(t)| for 0 <= t <= window, f a row of surface_response.h.
///
/// All modes are sampled kSamplesPerPeriod times in the shortest period. Between two samples the motion is the quintic
/// that takes the value, slope and curvature of both, which is right to 1e-6 of the sum of the modes' amplitudes; each
/// interval that could hold the greatest value, by a bound on the curvature, is searched.
class PeakSearch {
 public:
  static constexpr double kSamplesPerPeriod = 12;

  /// Samples the free motion from `state` on. Throws Error when `window` would take more than kMostSamples.
  void sample(const elastic::ModeList& modes, const ModeState& state, double window);

  /// Greatest outward speed f . q' at each row of `rows` (points x modes).
  [[nodiscard]] std::vector<Peak> greatest_speed(const MatX& rows) const;
  /// Greatest |f . q| likewise.
  [[nodiscard]] std::vector<Peak> greatest_displacement(const MatX& rows) const;

  static constexpr std::size_t kMostSamples = 100'000;

 private:
  [[nodiscard]] std::vector<Peak> search(const MatX& rows, const MatX& values, const MatX& slopes,
                                         const MatX& curvatures, const VecX& curvature_bound,
                                         bool both_signs) const;

  double spacing_ = 0;  ///< [s]
  MatX q_, v_, a_, j_;  ///< modes x samples: amplitude and its derivatives
  VecX speed_;          ///< greatest |q'| that each mode can still reach
  VecX omegas_;
};

}  // namespace thrum::vibration
