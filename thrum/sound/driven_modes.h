// SPDX-License-Identifier: MIT
// Modes that were part of the simulation, moved again under the forces that they felt there.
//
// A force that is held over a substep displaces a mode by f / w^2; about that place it oscillates freely.
// With z = x' - conj(s) x of the oscillation x = q - f / w^2 and s = -d + i w_d (modal_bank.h),
//
//     z' = s z,      and where the force changes by df      z += df / s.          (1)
//
// A mode radiates as well as the amplitude of its model says at its own frequency w. One that is moved
// slowly, as the high modes of a bent ruler are by what holds it, radiates less: by (W / w)^2 at the
// frequency W, as a dipole that is small beside the wavelength, which most modes are. So each is heard
// through
//
//     H(s) = s^2 / (s^2 + w s + w^2),      |H| = 1 at w and far above it, (W / w)^2 far below.      (2)
//
// A slow bend is silent.
//
// Forces that are held for more than a quarter of a period of a mode do not say how it rings: it follows them
// without. A ruler whose forces are known at 8 kHz rang with its modes above 2 kHz at each of their steps.
//
//   DrivenModes modes(list, 48000);
//   modes.set_forces(time, 1e-4, forces);     // held from then on; in order
//   modes.render(time, before, weights, out);
//
// Between samples and changes of force every mode moves exactly, at any rate. Modes are damped by their own
// decay alone: what contacts take from them is in the forces.
#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "thrum/elastic/modal_filter.h"

namespace thrum::sound {

class DrivenModes {
 public:
  using Complex = std::complex<double>;

  DrivenModes(const elastic::ModeList& modes, int sample_rate);

  [[nodiscard]] std::size_t size() const { return poles_.size(); }
  /// On each mode from `time` on, at least that of the last call, in a substep of the length `held` [s];
  /// modes beyond the list feel none.
  void set_forces(double time, double held, std::span<const double> forces);

  /// Adds samples from the time `begin` on, where the last call ended [s]. The weights of z change from the
  /// first to the second over the call. Returns false when there is nothing to be heard.
  bool render(double begin, std::span<const Complex> before, std::span<const Complex> weights,
              std::span<double> out);
  [[nodiscard]] std::span<const Complex> states() const { return z_; }

 private:
  struct Change {
    double time = 0;
    double held = 0;  ///< the shorter of the substeps before and after [s]
    std::vector<double> forces;
  };
  /// (2) at the sample rate, by the bilinear transform that is exact at w. All 0: above half the rate.
  struct HighPass {
    double gain = 0, a1 = 0, a2 = 0;
    double s1 = 0, s2 = 0;
  };
  void move(double duration);
  void apply(const Change& change);

  double step_;
  std::vector<Complex> poles_;
  std::vector<Complex> z_;
  std::vector<Complex> by_force_;  ///< 1 / s
  std::vector<HighPass> filters_;
  std::vector<double> forces_;
  std::deque<Change> changes_;
  double time_ = 0;
  double last_held_ = std::numeric_limits<double>::infinity();  ///< of the last call [s]
  bool moves_ = false;
  /// exp(s t) of all modes by t [kTurnStep]: substeps and samples have few different distances.
  std::map<std::int64_t, std::vector<Complex>> turns_;
};

}  // namespace thrum::sound
