// SPDX-License-Identifier: MIT
// Modes as digital filters: all modes of a body advanced together by a fixed time step.
//
// Two banks with the same mode list:
//
//   ModalFilterBank   the two-term recurrence of [Coevoet20, eq. 10], for constant damping. Its
//                     input is an impulse, a force held over a sample, or the force of James and Pai
//                     (`dyrt`).
//
//   ModeStateBank     (q, q') advanced exactly, for damping that changes while the mode rings (contact
//                     damping), and wherever the velocity is needed.
//
// Shapes are mass-normalised, so modes have unit mass: an impulse j on a mode adds j to q'.
#pragma once

#include <cstddef>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/modal_model.h"

namespace thrum::elastic {

/// The frequency and decay of a list of modes.
struct ModeList {
  VecX omegas;  ///< undamped [rad/s]
  VecX decays;  ///< amplitude falls as exp(-decay t) [1/s]

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(omegas.size()); }
};

[[nodiscard]] ModeList mode_list(const model::ModalModel& model);

/// The input of a filter.
enum class FilterInput {
  impulse,  ///< x is an impulse at the sample [kg^1/2 m/s]; exact
  force,    ///< x is a force held until the next sample [kg^1/2 m/s^2]; exact
  dyrt,     ///< x is a force at the sample with the coefficient printed by James and Pai; not exact, for
            ///< comparison
};

/// Coefficients of q[k] = a1 q[k-1] - a2 q[k-2] + b1 x[k-1] + b2 x[k-2] for one mode.
struct FilterCoefficients {
  double a1 = 0;
  double a2 = 0;
  double c = 0;   ///< 1 - a1 + a2, to full precision
  double b1 = 0;  ///< [s] for an impulse, [s^2] for a force
  double b2 = 0;
};

/// `omega` and `decay` of the mode, `step` between samples [s]. Modes of any damping, over-damped ones
/// included; `dyrt` is printed for under-damped modes only and throws Error otherwise.
[[nodiscard]] FilterCoefficients filter_coefficients(double omega, double decay, double step,
                                                     FilterInput input);

/// The sampling time of [Coevoet20, section 4.2]: four samples in the shortest period [s].
[[nodiscard]] double coevoet_step(const ModeList& modes);

class ModalFilterBank {
 public:
  /// Throws Error for a step or a mode that is not finite and positive.
  ModalFilterBank(const ModeList& modes, double step, FilterInput input = FilterInput::impulse);

  /// Adds to the input of the current sample: one value per mode.
  void drive(const VecX& input);
  /// Advances to the next sample.
  void advance();
  /// `samples` times advance(); column k of the result holds the amplitudes after k + 1 samples.
  [[nodiscard]] MatX run(std::size_t samples);
  /// As run(), into rows of `row_stride` floats, one row per mode, for surface_response.h. At least `samples`
  /// wide.
  void run_into(float* rows, std::size_t row_stride, std::size_t samples);

  void reset();
  [[nodiscard]] VecX amplitudes() const;
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] double step() const { return step_; }

 private:
  std::size_t count_;
  double step_;
  // Structure of arrays, one entry per mode.
  std::vector<double> a2_, c_, b1_, b2_;
  std::vector<double> q_, r_;    // amplitude, and its change since the previous sample
  std::vector<double> x1_, x2_;  // inputs of this sample and the previous one
};

class ModeStateBank {
 public:
  ModeStateBank(const ModeList& modes, double step);

  /// Adds an impulse to each mode: q' += impulse.
  void apply_impulse(const VecX& impulse);
  void advance();
  /// Changes the damping from now on; q and q' are continuous, so no energy is added.
  void set_decays(const VecX& decays);

  void reset();
  [[nodiscard]] const VecX& amplitudes() const { return q_; }
  [[nodiscard]] const VecX& velocities() const { return v_; }
  /// (q'^2 + w^2 q^2)/2 over all modes [J].
  [[nodiscard]] double energy() const;

 private:
  VecX omegas_;
  double step_;
  VecX q_, v_;
  Eigen::Array<double, Eigen::Dynamic, 4> propagator_;  // columns qq, qv, vq, vv
};

}  // namespace thrum::elastic
