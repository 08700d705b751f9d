// SPDX-License-Identifier: MIT
// What the flexible stepper has done and where its energy is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "thrum/model/ids.h"

namespace thrum::flexible {

/// Where the energy of a group is, and the work that finding it took.
struct GroupReport {
  std::uint64_t substeps = 0;
  std::uint64_t sweeps = 0;
  std::uint64_t newton_solves = 0;  ///< substeps on which sweeps were slow
  std::uint64_t newton_steps = 0;   ///< in them
  std::uint64_t shortened = 0;      ///< substeps that were halved because sweeps did not converge
  std::uint64_t culled = 0;         ///< substeps without friction, which could not be seen
  std::uint64_t unsolved = 0;       ///< substeps that ended with a residual above the tolerance
  double max_residual = 0;      ///< largest change of a force in the last sweep, share of the largest force
  double contact_energy = 0;    ///< stored in contacts at the end [J]
  double held_mode_energy = 0;  ///< energy of modes when they were held [J]
  double tail_mode_energy = 0;  ///< by modes above the highest [J]
  std::uint64_t active_modes = 0;  ///< summed over the substeps
};

/// What contacts and joints did to the modes of a body during a slice: U^T f, held over each substep. All
/// modes that take part in contact, also those that were held.
struct ModalForces {
  model::BodyId body;
  std::vector<double> durations;  ///< of the substeps [s]
  std::vector<double> forces;     ///< substep by substep, by mode [kg^1/2 m/s^2]
};

/// Of all slices since the stepper was made, except `groups.contact_energy` and `modal_forces`: of the last.
struct FlexibleReport {
  GroupReport groups;
  std::vector<ModalForces> modal_forces;  ///< of bodies with ElasticBody::records_forces
  /// Bodies that others hold between them: the most of their shortest waves that were in the place.
  std::map<model::BodyId, double> held_waves;
  std::uint64_t slices = 0;
  int max_contacts = 0;  ///< of a group
};

}  // namespace thrum::flexible
