// SPDX-License-Identifier: MIT
// Where a contact acts.
#pragma once

#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

/// The position of a contact is halfway between the two surfaces, and through a gap friction there has an
/// arm that is longer by half of it: a ball that met a floor obliquely got up to a quarter less spin than it
/// needs to roll. Against a body that does not yield a contact acts on the surface of the other, as it will
/// when the gap is closed. Two bodies that both yield need one place, or impulses would change their angular
/// momentum.
[[nodiscard]] inline Vec3 acting_place(const Vec3& position, double depth, const Vec3& n, const SolverBody& A,
                                       const SolverBody& B)
{
  if ((A.inverse_mass > 0) == (B.inverse_mass > 0)) return position;
  return position + (A.inverse_mass > 0 ? 0.5 : -0.5) * depth * n;
}

}  // namespace thrum::rigid
