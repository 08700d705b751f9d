// SPDX-License-Identifier: MIT
// What sweeps do to one patch, in the fastest form that the processor has.
//
// The rows of a patch fill eight lanes (contact_patch.h). Processors with AVX2 work on all eight at once, and
// on the three components of a vector of doubles at once; others on four, and on two. Both forms do the same
// additions and multiplications in the same order, and none of them fused, so that they give the same bits:
// tests/rigid/patch_kernels_test.cpp. With AVX2 visits take 38 % fewer instructions (wall of 1,012 bricks).
//
// The equations stand once, in patch_kernels.inc, written with the functions of patch_lanes_portable.inc or
// patch_lanes_avx2.inc.
#pragma once

#include "thrum/rigid/contact_patch.h"

namespace thrum::rigid {

/// How far a gap may close in a substep.
struct BiasValues {
  RowReal inverse_h = 0;     ///< [1/s]
  RowReal inverse_slop = 0;  ///< [1/m]
};

struct PatchKernels {
  /// Solves all rows of a patch for the velocities of its bodies and adds to `lambda`. Gives the largest
  /// change of speed that any row asked for [m/s].
  RowReal (*solve)(const SolverPatch& p, const PatchMasses& m, const PatchRecord& record, Rows& lambda,
                   Vec3& rolling_impulse, SolverBody& A, SolverBody& B, const SweepValues& s);
  /// Gives the bodies the impulses `change` on the rows.
  void (*apply)(const SolverPatch& p, const PatchMasses& m, SolverBody& A, SolverBody& B, const Rows& change);
  /// What the rows want in a substep, from where the bodies are now.
  void (*set_bias)(SolverPatch& p, const SolverBody& A, const SolverBody& B, const BiasValues& s);
};

/// The fastest form for this processor.
[[nodiscard]] const PatchKernels& patch_kernels();
[[nodiscard]] const PatchKernels& portable_patch_kernels();
/// Null where the processor has no AVX2.
[[nodiscard]] const PatchKernels* avx2_patch_kernels();

}  // namespace thrum::rigid
