// SPDX-License-Identifier: MIT
// Versions of the computations whose results are cached on disk. They are part of the keys of the cache, so
// raising one makes all older entries of that kind misses.
//
// Raise the version whenever the code changes a result beyond rounding. tests/elastic/modal_version_test.cpp
// compares small results with those that were recorded for the version, and fails when they differ and the
// version does not.
#pragma once

namespace thrum::elastic {

struct ModalVersions {
  int fill = 13;     ///< from a surface to elements: lattice, cuts, grids, degree, default spacing
  int assembly = 2;  ///< from tetrahedra to stiffness and mass
  int solve = 1;     ///< from the matrices to modes: eigenproblem, damping, error estimate
};
inline constexpr ModalVersions kModalVersions{};

}  // namespace thrum::elastic
