// SPDX-License-Identifier: MIT
// Modes above the highest of a model, known in the mean only.
//
// The modes of a large body end long before what is heard: 60 of a table at 480 Hz, where a steel ball
// excites it up to 10 kHz. Where a mode above lies and what it moves is not known, but its statistics are
// [Lyon and DeJong, "Theory and Application of Statistical Energy Analysis", 1995]:
//
//     number of modes up to f        N(f) = n (f / f_n)^p,   p = log2(n / n_half),                        (1)
//     what they move at a place      <u u^T>, the mean over the modes of the upper half of the model,     (2)
//     and what they radiate          by their mean area and orders (scalar_radiation.h),
//
// with n modes up to f_n, n_half of them up to f_n / 2. The decay is that of the material. Such modes are
// drawn here, evenly in N, the same for a body in every impact. A mode is a standing wave
//
//     u(x) = <u u^T>^(1/2) w(x),   w_i = wave(k_i . x + phase_i),   |k_i|^2 = 8 pi N / S,                 (3)
//
// of the wave number that so many bending modes have on a surface S of two faces. The wave has a mean square
// of 1; its half periods are parabolas, which take a third of the time of cosines. Where there are more than
// kPerThirdOctave of them in a third of an octave, a mode stands for r of them: with sqrt(r) of what one
// moves, it has the sound energy of all, and takes as much from an impact.
//
// vibration/diffuse_modes.h has modes of the same kind for the response to impacts, one for each that is
// missing and none for chunky bodies, where the compliance of the contact is what they would add.
#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>

#include "thrum/model/modal_model.h"
#include "thrum/sound/scalar_radiation.h"

namespace thrum::sound {

class ModeTail {
 public:
  /// Of the first `count` modes of a model, up to `max_frequency` [Hz]. None when there are fewer than
  /// kMinModes, or none in the lower half.
  ModeTail(const model::ModalModel& model, Index count, const std::vector<ModeRadiation>& radiation,
           const model::Damping& damping, double max_frequency);

  static constexpr Index kMinModes = 20;
  static constexpr double kPerThirdOctave = 32;

  [[nodiscard]] std::size_t size() const { return omegas_.size(); }
  [[nodiscard]] const std::vector<double>& omegas() const { return omegas_; }          ///< ascending [rad/s]
  [[nodiscard]] const std::vector<double>& decays() const { return decays_; }          ///< [1/s]
  [[nodiscard]] const std::vector<double>& amplitudes() const { return amplitudes_; }  ///< r p / q'
  /// How many modes each stands for: r.
  [[nodiscard]] const std::vector<double>& counts() const { return counts_; }

  using Shapes = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;
  /// Displacement of a point by each, where the modes of the model displace it by the first columns of
  /// `shapes`; into its last columns.
  void add_shapes(const Vec3& position, Shapes& shapes) const;

 private:
  void add_modes(double from, double to, double lowest, double growth);
  void draw_waves(double surface);

  Index known_ = 0;        ///< modes of the model
  Index first_upper_ = 0;  ///< of them, of the upper half of the frequencies
  std::vector<double> omegas_, decays_, amplitudes_, counts_;
  std::vector<double> numbers_;  ///< N
  struct Waves {
    Eigen::ArrayXf x, y, z, phase;  ///< wave vectors [1/m], phases in cycles
  };
  std::array<Waves, 3> waves_;  ///< by component of w
  Eigen::ArrayXd weights_;      ///< sqrt(r), over the root mean square of a wave
};

}  // namespace thrum::sound
