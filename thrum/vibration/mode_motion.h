// SPDX-License-Identifier: MIT
// The free motion of a list of modes by any time, and the largest speed and displacement that it reaches at
// points of the surface, found between the samples.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/vibration/surface_contact.h"

namespace thrum::vibration {

/// (q'^2 + w^2 q^2)/2 over all modes [J].
[[nodiscard]] double energy(const elastic::ModeList& modes, const ModeState& state);

/// The exact free motion over `time` [s].
void advance(const elastic::ModeList& modes, double time, ModeState& state);

/// The same, many times over: steps of one length and what is left of them, without a sine or an exponential.
/// It keeps its tables as long as the modes and the length of its steps stay the same.
class ModeIntegrator {
 public:
  void prepare(const elastic::ModeList& modes, double step);
  [[nodiscard]] double step() const { return step_; }
  /// One step [step()].
  void advance_step(const double* q, const double* v, double* q_next, double* v_next) const;
  /// The exact free motion over `time` [s].
  void advance(double time, ModeState& state);

 private:
  void small_step(double time, ModeState& state) const;

  double step_ = 0;
  bool series_ = false;  ///< holds for a step
  elastic::ModeList modes_;
  VecX qq_, qv_, vq_, vv_;  ///< one step
  MatX sine_;               ///< modes x terms: the series of sine(t) in t / step [s]
  VecX w2_, d2_;            ///< w^2, 2 d
  ModeState next_;
};

struct Peak {
  double value = 0;  ///< [m/s] or [m]
  double time = 0;   ///< after the start [s]
};

/// Largest values of f . q'(t) or |f . q(t)| for 0 <= t <= window, f a row of surface_response.h.
///
/// All modes are sampled kSamplesPerPeriod times in the shortest period. Between two samples the motion is
/// the quintic that takes the value, slope and curvature of both, which is right to 1e-6 of the sum of the
/// modes' amplitudes; each interval that could hold the largest value, by a bound on the curvature, is
/// searched. Which these are is found in single precision, with its rounding in the bound.
class PeakSearch {
 public:
  static constexpr double kSamplesPerPeriod = 12;

  /// Spaces between samples of `window` [s]. Throws Error when they would be more than kMaxSamples.
  [[nodiscard]] static Eigen::Index intervals(const elastic::ModeList& modes, double window);

  /// Samples the free motion from `state` on. Throws Error as intervals() does.
  void sample(const elastic::ModeList& modes, const ModeState& state, double window);

  /// Largest outward speed f . q' for each column f of `columns` (modes x points).
  [[nodiscard]] std::vector<Peak> max_speed(const MatX& columns);
  /// Largest |f . q| likewise.
  [[nodiscard]] std::vector<Peak> max_displacement(const MatX& columns);

  /// For motion from one peak to the next.
  [[nodiscard]] ModeIntegrator& integrator() { return integrator_; }

  static constexpr std::size_t kMaxSamples = 100'000;

 private:
  enum class Quantity : std::uint8_t { speed, displacement };
  struct Sample {
    double value = 0;
    double slope = 0;
    double curvature = 0;
  };
  [[nodiscard]] std::vector<Peak> search(const MatX& columns, Quantity what);
  [[nodiscard]] Sample at(const MatX& columns, Eigen::Index point, Eigen::Index k, Quantity what) const;
  void search_between_samples(const MatX& columns, Eigen::Index point, Quantity what, float margin,
                              Peak& best) const;

  ModeIntegrator integrator_;
  MatX q_, v_;    ///< modes x samples
  VecX speed_;    ///< largest |q'| that each mode can still reach
  VecX w2_, d2_;  ///< w^2, 2 d
  // For the search that only says where to look, in single precision.
  Eigen::MatrixXf columns_single_, motion_single_;
  Eigen::MatrixXf sampled_;  ///< samples x points
};

}  // namespace thrum::vibration
