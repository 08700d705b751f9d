// SPDX-License-Identifier: MIT
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <numeric>

#include "thrum/base/index.h"
#include "thrum/numerics/factorisation_backend.h"

namespace thrum::numerics {

namespace {

using Permutation = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int>;
using Ldlt = Eigen::SimplicialLDLT<SparseMatrix, Eigen::Upper, Eigen::NaturalOrdering<int>>;

// The ordering is applied here and Eigen gets the permuted upper triangle, which it then uses without a copy.
class EigenBackend final : public SparseFactorisation::Backend {
 public:
  FactorisationBackend which() const override { return FactorisationBackend::eigen_ldlt; }

  void analyse(const SparseMatrix& A, const FactorisationDesc& desc) override
  {
    const int n = static_cast<int>(A.rows());
    permutation_.resize(at(n));
    if (desc.ordering == FillOrdering::given) {
      require_permutation(desc.permutation, n);
      permutation_ = desc.permutation;
    } else if (desc.ordering == FillOrdering::natural) {
      std::iota(permutation_.begin(), permutation_.end(), 0);
    } else {
      // Eigen's minimum degree returns old indices by new position.
      Permutation order;
      SparseMatrix full;
      full = A.selfadjointView<Eigen::Lower>();
      Eigen::AMDOrdering<int>()(full, order);
      std::copy(order.indices().begin(), order.indices().end(), permutation_.begin());
    }
    old_to_new_.resize(n);
    for (int k = 0; k < n; ++k) old_to_new_.indices()[permutation_[at(k)]] = k;
    permute(A);
    ldlt_.analyzePattern(permuted_);
  }

  // Eigen's factors cannot be copied; the order is kept, and the elimination tree, which is cheap, is
  // computed again.
  std::unique_ptr<Backend> same_pattern() const override
  {
    auto other = std::make_unique<EigenBackend>();
    other->permutation_ = permutation_;
    other->old_to_new_ = old_to_new_;
    other->permuted_ = permuted_;
    if (permuted_.rows() > 0) other->ldlt_.analyzePattern(other->permuted_);
    return other;
  }

  bool factor(const SparseMatrix& A, int& failed_column) override
  {
    permute(A);
    ldlt_.factorize(permuted_);
    const VecX& d = ldlt_.vectorD();
    pivots_.assign(d.begin(), d.end());
    if (ldlt_.info() == Eigen::Success) return true;
    // Eigen stops at the first pivot that is exactly zero and leaves it in D.
    failed_column = static_cast<int>(std::find(pivots_.begin(), pivots_.end(), 0.0) - pivots_.begin());
    return false;
  }

  void lower(double* X, int columns) const override { solve_lower(columns_of(ldlt_), X, columns); }
  void upper(double* X, int columns) const override { solve_upper(columns_of(ldlt_), X, columns); }

  double factor_entries() const override
  {
    const ColumnFactor L = columns_of(ldlt_);
    return L.size + (L.size > 0 ? L.begin[L.size] : 0);
  }

  double flops() const override
  {
    const ColumnFactor L = columns_of(ldlt_);
    double total = 0;
    for (int j = 0; j < L.size; ++j) {
      const double below = L.end[j] - L.begin[j];
      total += below * (below + 2);
    }
    return total;
  }

  double memory() const override
  {
    return factor_entries() * (sizeof(double) + sizeof(int)) +
           static_cast<double>(permutation_.size()) * 2 * sizeof(int);
  }

 private:
  void permute(const SparseMatrix& A)
  {
    permuted_.resize(A.rows(), A.cols());
    permuted_.selfadjointView<Eigen::Upper>() = A.selfadjointView<Eigen::Lower>().twistedBy(old_to_new_);
  }

  static ColumnFactor columns_of(const Ldlt& ldlt)
  {
    const auto& L = ldlt.matrixL().nestedExpression();
    return {static_cast<int>(L.rows()), L.outerIndexPtr(), L.outerIndexPtr() + 1, L.innerIndexPtr(),
            L.valuePtr()};
  }

  Permutation old_to_new_;
  SparseMatrix permuted_;
  Ldlt ldlt_;
};

}  // namespace

std::unique_ptr<SparseFactorisation::Backend> make_eigen_backend()
{
  return std::make_unique<EigenBackend>();
}

}  // namespace thrum::numerics
