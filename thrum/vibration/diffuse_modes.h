// SPDX-License-Identifier: MIT
// Modes above the highest of a model, known in the mean only.
//
// A model of few modes ends below what a short impact excites. What is missing rings on in the body as a
// diffuse field and moves what rests on it: of a plate with 20 modes that an impact reaches with 60, the
// surface has sqrt(20 / 60) of its speed. Where a mode lies and what it moves is not known, but its
// statistics are [Lyon and DeJong, "Theory and Application of Statistical Energy Analysis", 1995]: the number
// of modes in a band, and that a mode is at each place a standing wave of the wavelength of its frequency
// with the mean square of the modes below it. Such modes are drawn here, the same for a body in every impact,
// so that they are reciprocal and keep the energy, and what rests near each other moves together.
#pragma once

#include <array>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/model/modal_model.h"

namespace thrum::vibration {

struct DiffuseMode {
  double omega = 0;                                          ///< [rad/s]
  double decay = 0;                                          ///< [1/s]
  std::array<Vec3, 2> waves = {Vec3::Zero(), Vec3::Zero()};  ///< wave vectors, across each other [rad/m]
  std::array<double, 2> phases = {0, 0};                     ///< [rad]

  /// What it moves a place over the root mean square of all modes there: mean 0, mean square 1.
  [[nodiscard]] double at(const Vec3& position) const;
};

class DiffuseModes {
 public:
  DiffuseModes() = default;
  /// None for a body with too few modes, or whose modes grow much denser with frequency: a chunky one, where
  /// the compliance of Hertz' contact is what the faster modes would add.
  DiffuseModes(const model::ModalModel& model, const elastic::ModeList& modes);

  /// Number of modes between the highest of the model and `max_omega`, at most kMaxCount.
  [[nodiscard]] std::size_t count_up_to(double max_omega) const;
  [[nodiscard]] const DiffuseMode& operator[](std::size_t i) const { return modes_[i]; }

  static constexpr std::size_t kMaxCount = 256;

 private:
  std::vector<DiffuseMode> modes_;  ///< ascending
};

/// Number of modes from which the means are taken: those above half of the highest frequency.
[[nodiscard]] Eigen::Index count_upper_modes(const elastic::ModeList& modes);
/// Whether these say something about the modes above the highest.
[[nodiscard]] bool is_tail_known(const elastic::ModeList& modes);
/// Mean of the squares of a row of shapes over these.
[[nodiscard]] double mean_upper_square(const elastic::ModeList& modes, const VecX& row);

}  // namespace thrum::vibration
