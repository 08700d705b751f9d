// SPDX-License-Identifier: MIT
// Thick-restart block Lanczos for the largest eigenvalues theta of A = S^-1 M, which is symmetric in the
// inner product of M.
//
// The basis V (M-orthonormal) and the next block Q satisfy
//
//     A V = V T + Q B E^T,                                                                              (1)
//
// E the last columns of the identity. With T s = theta s, the Ritz vector V s has the residual |B E^T s|. One
// step takes W = A Q, makes it orthogonal to V and Q, and splits W = Q' B'. A restart keeps the best Ritz
// vectors as the new V, with T = diag(theta), and the same Q: (1) still holds but for the shape of T, which
// is therefore kept dense [Wu and Simon, SIAM J. Matrix Anal. Appl. 22, 2000].
//
// Every block of right-hand sides shares one pass over the factor, and a block of p vectors finds eigenvalues
// of multiplicity p at once.
//
// Departure from the literature: no partial reorthogonalisation. W is first made orthogonal to the last two
// blocks, as (1) says, and then once to everything, which costs two matrix products with V; next to the
// triangular solves they are cheap, and no estimate of lost orthogonality is needed.
#pragma once

#include <functional>

#include "thrum/base/random.h"
#include "thrum/base/vec.h"
#include "thrum/numerics/block_products.h"
#include "thrum/numerics/generalised_eigen.h"

namespace thrum::numerics {

/// A = S^-1 M on the complement of the deflated vectors.
struct ShiftInvertOperator {
  const SymmetricProduct* mass = nullptr;
  const SparseFactorisation* shifted = nullptr;
  MatX deflated;       ///< M-orthonormal, n x k
  MatX mass_deflated;  ///< M times them

  /// X <- (I - N N^T M) X.
  void deflate(Eigen::Ref<MatX> X) const;
  /// X <- A X.
  void apply(MatX& X) const;
};

class BlockLanczos {
 public:
  BlockLanczos(const ShiftInvertOperator& op, const GeneralisedEigenDesc& desc);

  /// Runs to convergence and, if requested, probes for missed eigenvalues.
  GeneralisedEigenResult run();

 private:
  /// Ritz values (descending), their vectors and residuals.
  struct Ritz {
    VecX theta;
    MatX vectors;         // of T, a column each
    VecX residuals;       // relative
    Index requested = 0;  // how many of the leading ones are needed
    Index converged = 0;  // leading ones that meet the tolerance
    bool complete = false;
  };

  void reserve(Index columns);
  void start();
  void expand();
  void orthogonalise(MatX& W, MatX& coefficients, Index from);
  MatX normalise(MatX& W);
  void replace_by_random(MatX& W, Index column);
  [[nodiscard]] Ritz solve_projected() const;
  void restart(const Ritz& ritz, Index keep);
  [[nodiscard]] bool saturated(const Ritz& found) const;
  [[nodiscard]] bool probe(const Ritz& found);
  [[nodiscard]] double eigenvalue(double theta) const { return desc_.shift + 1 / theta; }
  [[nodiscard]] bool report(std::string_view stage, double fraction) const;
  [[nodiscard]] bool iterate(Ritz& ritz);
  void collect(const Ritz& ritz, GeneralisedEigenResult& result);

  const ShiftInvertOperator& op_;
  const GeneralisedEigenDesc& desc_;
  Index size_ = 0;             // unknowns
  Index complement_size_ = 0;  // dimension of the complement of the deflated vectors
  Index block_ = 0;            // columns of Q
  Index max_basis_size_ = 0;   // columns of V before a restart
  Index dimension_ = 0;        // columns of V; Q follows them in basis_
  Index occupied_ = 0;         // columns of basis_ to which a new block must be orthogonal
  MatX basis_;
  MatX projected_;       // T
  MatX residual_block_;  // B
  bool fresh_restart_ = false;
  Index solves_ = 0;
  Index restarts_ = 0;
  base::Random random_;
};

}  // namespace thrum::numerics
