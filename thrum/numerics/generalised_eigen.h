// SPDX-License-Identifier: MIT
// The lowest eigenpairs of K x = lambda M x, K symmetric positive semidefinite, M symmetric positive
// definite.
//
//   const GeneralisedEigenResult modes = solve_generalised_eigen(K, M, {.count = 20});
//   if (!modes.ok()) ...                      // a value, not an exception
//
// Shift-invert: with one factorisation of S = K - shift M the operator A = S^-1 M has the eigenvalues
// theta = 1/(lambda - shift), the lowest lambda being the largest theta, which a Krylov method finds first.
// For a singular K the shift is a small negative number, and the known null space is given so that it need
// not be found again.
#pragma once

#include <functional>
#include <limits>
#include <string_view>

#include "thrum/base/vec.h"
#include "thrum/numerics/sparse_factorisation.h"

namespace thrum::numerics {

enum class EigenMethod {
  block_lanczos,  ///< our own, see block_lanczos.h
  spectra,        ///< implicitly restarted Lanczos of the Spectra library, one vector at a time
  dense,          ///< all eigenvalues by Eigen; for small matrices and for tests
  automatic,      ///< dense where that is faster, else block_lanczos
};

enum class EigenVerification {
  none,
  probe,  ///< a fresh random block, orthogonal to what was found, must find no lower eigenvalue (the default)
  sturm,  ///< the probe, and then a count of the eigenvalues below the highest one by a second, indefinite
          ///< factorisation
};

enum class EigenStatus {
  ok,
  factorisation_failed,  ///< K - shift M is not positive definite or too big; see `factorisation`
  not_converged,         ///< the eigenpairs found so far are returned, with their residuals
  modes_missed,          ///< the Sturm count differs; see `expected_count`
  cancelled,
};

/// Passed to the progress callback; returning false from it stops the work.
struct EigenProgress {
  std::string_view stage;  ///< "factorise", "iterate", "verify"
  double fraction = 0;     ///< of the stage, an estimate in [0, 1]
};

struct GeneralisedEigenDesc {
  Index count = 20;  ///< how many, at most; the null space is not counted. 0: all below `below`
  /// Only eigenvalues below this one. With a count of 0 they are counted first, by the inertia of K - below
  /// M.
  double below = std::numeric_limits<double>::infinity();
  double shift = 0;  ///< must be below every eigenvalue
  /// Vectors x with K x = 0 (n x k, any basis), left out of the result. Empty: K is definite.
  MatX null_space = {};
  EigenMethod method = EigenMethod::automatic;
  EigenVerification verification = EigenVerification::probe;
  /// |A x - theta x| / theta in the norm of M. The eigenvalue's own error is about its square.
  double tolerance = 1e-8;
  Index block_size = 0;      ///< 0: chosen by the count
  Index max_basis_size = 0;  ///< basis kept at once; 0: chosen by the count
  Index max_restarts = 60;
  FactorisationDesc factorisation = {};
  std::function<bool(const EigenProgress&)> progress = {};
};

struct GeneralisedEigenResult {
  EigenStatus status = EigenStatus::ok;
  VecX values;                ///< ascending
  MatX vectors;               ///< n x values.size(), M-orthonormal
  VecX residuals;             ///< |A x - theta x| / theta of each, in the norm of M
  Index converged = 0;        ///< how many of them meet the tolerance
  Index expected_count = -1;  ///< by the Sturm count; -1: not counted
  bool verified = false;
  EigenMethod method = EigenMethod::block_lanczos;  ///< the one that was used
  Index solves = 0;                                 ///< right-hand sides
  Index restarts = 0;
  FactorisationResult factorisation;

  [[nodiscard]] bool ok() const { return status == EigenStatus::ok; }
};

/// Only the lower triangles are read. Throws Error for matrices of different size, a negative count, a count
/// of 0 without a bound, or a null space of the wrong length.
[[nodiscard]] GeneralisedEigenResult solve_generalised_eigen(const SparseMatrix& K, const SparseMatrix& M,
                                                             const GeneralisedEigenDesc& desc = {});

/// The same; the matrices are freed as soon as they are not needed, before the factor is made.
[[nodiscard]] GeneralisedEigenResult solve_generalised_eigen(SparseMatrix&& K, SparseMatrix&& M,
                                                             const GeneralisedEigenDesc& desc = {});

[[nodiscard]] std::string_view to_string(EigenStatus status);

}  // namespace thrum::numerics
