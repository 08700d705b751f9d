// SPDX-License-Identifier: MIT
// How the flexible stepper works [Zheng11].
#pragma once

#include <cstdint>

namespace thrum::flexible {

enum class ContactLaw : std::uint8_t {
  hertz,  ///< places of contact yield as Hertz says
  hard    ///< no indentation [Zheng11, eq. 5]: the modes alone yield
};

enum class FrictionSolver : std::uint8_t {
  coupled,   ///< friction and normal forces together, in a round cone
  staggered  ///< in turn, in a polygon [Zheng11]; with ContactLaw::hard only
};

struct FlexibleSettings {
  ContactLaw contact = ContactLaw::hertz;
  FrictionSolver friction = FrictionSolver::coupled;
  int friction_directions = 8;  ///< corners of the polygon of `staggered`
  double max_frequency = 5000;  ///< of the modes that take part in contact [Hz]
  double max_step = 1e-3;       ///< contacts are found again after this, and no substep is longer [s]
  double min_step = 1e-6;       ///< no substep is cut shorter [s]
  /// Substeps in a period of the highest mode that moves; dt = 1 / (6.5 f) in the paper.
  double steps_per_period = 6.5;
  double steps_per_impact = 10;     ///< substeps in Hertz' duration of an impact
  double min_impact_speed = 0.005;  ///< slower impacts cut no substep [m/s]
  /// A body whose surface is bent by more than this has its contacts found on the bent surface [rad].
  double deformed_slope = 0.05;
  double contact_radius = 0.01;  ///< radius of curvature where neither body is round [m]

  // Friction: a spring across the normal that slips.
  double friction_stiffness = 0.82;     ///< share of that along the normal; 2 (1 - nu) / (2 - nu) for nu 0.3
  double friction_damping_ratio = 0.3;  ///< 1: critical

  // Modes that are too quiet to matter stand where the forces hold them.
  bool adapt_modes = true;
  double excitation = 1e-5;    ///< change of the force, as a share of max(1 N, weight), that wakes a mode
  double quiet_energy = 1e-7;  ///< that wakes a mode; with a tenth of it, it stands again [J]

  /// Modes above `max_frequency` carry off what short impacts give them.
  bool tail_modes = true;

  int iterations = 200;  ///< sweeps over the contacts of a group in a substep, at most
  /// Sweeps that have not converged by then are followed by Newton's method on all forces; 0: it comes first.
  int sweeps_before_newton = 30;
  double tolerance = 1e-9;      ///< at which sweeps end: change of a force, as a share of the largest
  double push_out_share = 0.2;  ///< of the overlap that no contact has stored, removed in a slice
  double max_push_out = 0.05;   ///< share of the length scale that is removed in a slice, at most
  /// A contact that is pressed keeps its force when it is found with a gap of less than this share of the
  /// length scale.
  double gap_tolerance = 2e-5;
};

}  // namespace thrum::flexible
