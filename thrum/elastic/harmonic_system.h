// SPDX-License-Identifier: MIT
// Stiffness and mass of a body of revolution for motions with n waves around the axis:
//
//     u_r = a(r, z) cos n t,   u_t = b(r, z) sin n t,   u_z = w(r, z) cos n t            (t: the angle)
//
// The unknowns of each node of the profile are a + b, a - b and w: on the axis the first vanishes unless the
// motion of the axis is possible (n = 1: a = -b; n = 0: w).
#pragma once

#include <vector>

#include "thrum/base/vec.h"
#include "thrum/elastic/profile_mesh.h"
#include "thrum/model/material.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::elastic {

struct HarmonicSystem {
  int waves = 0;
  numerics::SparseMatrix stiffness;  ///< lower triangles
  numerics::SparseMatrix mass;
  std::vector<Index> unknown;  ///< of component 3 node + k; -1: zero
  MatX rigid;                  ///< rigid motions, in the unknowns
  /// Of the lowest eigenvalue besides those of rigid motions, by the Rayleigh-Ritz method with polynomials.
  double lowest_estimate = 0;
};

[[nodiscard]] HarmonicSystem harmonic_system(const ProfileMesh& mesh, const model::Material& material,
                                             int waves);

}  // namespace thrum::elastic
