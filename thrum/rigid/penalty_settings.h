// SPDX-License-Identifier: MIT
// How the penalty stepper works [Lecture13, spring based response].
#pragma once

#include <optional>

namespace thrum::rigid {

struct PenaltySettings {
  /// Of the spring at each contact point [N/m]. Default: such that a contact at one point lasts
  /// `contact_time`, k = m (pi / contact_time)^2 with the reduced mass m of the two bodies.
  std::optional<double> stiffness = {};
  double contact_time = 0.004;  ///< of a bounce at one point without damping [s]
  /// Of the damper at each contact, 1: critical. Default: what gives the restitution of the two surfaces.
  std::optional<double> damping_ratio = {};
  double max_damping_ratio = 5;  ///< for surfaces with little restitution; 5 leaves 0.01
  /// Of the friction spring, as a share of the springs along the normal. A ball that is struck across the
  /// normal has 7/2 of the mobility, so that 2/7 gives both directions the same period.
  double friction_stiffness = 2.0 / 7;
  double friction_damping_ratio = 1;  ///< of the friction spring, 1: critical
  int substeps_per_contact = 10;      ///< in half a period of the stiffest contact; an explicit rule needs 2
  int max_substeps = 2000;            ///< of a slice
  int iterations = 50;                ///< sweeps at most over all contacts in a substep
  double push_out_share = 0.2;        ///< of the overlap that no spring was pressed by, removed in a slice
  double max_push_out = 0.05;         ///< at most this share of the length scale is removed in a slice
};

}  // namespace thrum::rigid
