// SPDX-License-Identifier: MIT
// The mixed linear complementarity problem with bounds [Coevoet20, eq. 3]: find x with
//
//     w = A x - b,      lo <= x <= hi,      x_i = lo_i  where w_i > 0,
//                                           x_i = hi_i  where w_i < 0,
//                                           w_i = 0     where lo_i < x_i < hi_i.
//
// A is symmetric positive definite (for redundant contacts semidefinite), a bound may be infinite (a joint
// has none, a contact has lo = 0). Rows of friction have bounds that follow another row: |x_i| <= mu_i
// x_normal(i).
//
// Two methods, which must agree: sweeps that are cheap, can be stopped at any time and warm-started from the
// last step's solution; and pivoting, which ends with the exact solution and is not affected by large mass
// ratios, for islands up to a few hundred rows.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::numerics {

/// Bounds of each row; a bound may be infinite.
struct ComplementarityBounds {
  VecX lo;
  VecX hi;
  /// For friction: the row of the normal force, or -1. Empty: no row has friction. lo and hi of such rows are
  /// not read.
  std::vector<Index> normal_row = {};
  VecX friction = {};  ///< mu_i >= 0; read where normal_row is set
};

enum class ComplementarityStatus {
  solved,
  iteration_limit,  ///< x is the best so far and within its bounds; see `residual`
};

struct ComplementarityResult {
  ComplementarityStatus status = ComplementarityStatus::solved;
  VecX x;
  /// Largest |x_i - clamp(x_i - w_i / A_ii)| sqrt(A_ii), relative to the largest |b_i| / sqrt(A_ii).
  /// Dimensionless.
  double residual = 0;
  int iterations = 0;  ///< sweeps, or pivots of sets

  [[nodiscard]] bool ok() const { return status == ComplementarityStatus::solved; }
};

struct SweepDesc {
  int iterations = 1000;
  double tolerance = 1e-9;  ///< on `residual`
  double relaxation = 1;    ///< between 0 and 2; above 1 is over-relaxation, which often needs fewer sweeps
};

struct PivotDesc {
  int iterations = 500;           ///< pivots for one set of bounds
  int friction_iterations = 100;  ///< how often the bounds of friction are updated from the normal forces
  double tolerance = 1e-9;        ///< on `residual`
};

/// Projected Gauss-Seidel: each row is solved for its own unknown and clamped, one after the other. `start`
/// may be empty (zero). Converges for positive definite A; linearly, and slowly when A is ill-conditioned.
/// Throws Error for sizes that do not match, lo > hi, a diagonal that is not positive, or numbers that are
/// not finite.
[[nodiscard]] ComplementarityResult solve_by_sweeps(const MatX& A, const VecX& b,
                                                    const ComplementarityBounds& bounds,
                                                    const VecX& start = {}, const SweepDesc& desc = {});

/// Matrix-free A: its diagonal, its product with the current x row by row, and the update after a change of
/// one unknown. Contacts keep the velocities of the bodies up to date this way.
struct ComplementarityRows {
  VecX diagonal;
  std::function<double(Index row)> product;              ///< (A x)_row for the x of all changes so far
  std::function<void(Index row, double change)> update;  ///< x_row has changed by that much
};

/// The same sweeps with A given by its rows. `start` must be the x that product() already includes.
[[nodiscard]] ComplementarityResult solve_by_sweeps(const ComplementarityRows& A, const VecX& b,
                                                    const ComplementarityBounds& bounds, const VecX& start,
                                                    const SweepDesc& desc = {});

/// Block principal pivoting [Judice92]: guess which rows are free, solve them, and exchange all wrong rows at
/// once; when the number of wrong rows stops falling, exchange one at a time by the largest index, which
/// terminates for every positive definite A [Murty74].
[[nodiscard]] ComplementarityResult solve_by_pivoting(const MatX& A, const VecX& b,
                                                      const ComplementarityBounds& bounds,
                                                      const VecX& start = {}, const PivotDesc& desc = {});

/// The residual defined above for any x within its bounds.
[[nodiscard]] double complementarity_residual(const MatX& A, const VecX& b,
                                              const ComplementarityBounds& bounds, const VecX& x);

[[nodiscard]] std::string_view to_string(ComplementarityStatus status);

}  // namespace thrum::numerics
