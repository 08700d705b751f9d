// SPDX-License-Identifier: MIT
// The same rows solved at once by pivoting [Coevoet20, eq. 2-3], for islands small enough for a dense matrix.
#pragma once

#include <span>

#include "thrum/rigid/constraint_settings.h"
#include "thrum/rigid/contact_rows.h"
#include "thrum/rigid/joint_rows.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// Solves patches and joint rows exactly and updates bodies and impulses. As in the paper, the friction
/// bounds come from a first solve of the normal rows alone; `rounds` more solves let them follow, and with a
/// cone the direction of sliding with them. Rows keep their impulses as the starting point. Rolling friction
/// is not among the rows. False, and nothing changed, when pivoting did not end.
[[nodiscard]] bool solve_directly(std::span<SolverPatch* const> patches, std::span<JointRow> joints,
                                  SolverBodies& bodies, double h, int rounds, FrictionCone cone);

}  // namespace thrum::rigid
