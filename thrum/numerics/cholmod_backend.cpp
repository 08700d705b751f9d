// SPDX-License-Identifier: MIT
#include <cholmod.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/numerics/blas_threads.h"
#include "thrum/numerics/factorisation_backend.h"
#include "thrum/numerics/supernodal_cholesky.h"
#include "thrum/numerics/supernodal_kernels.h"

namespace thrum::numerics {

namespace {

/// Below this many operations the set-up of CHOLMOD's dense products costs more than they do.
constexpr double kMaxSmallFactorFlops = 2e8;

// A view of the lower triangle for CHOLMOD, which only reads it.
cholmod_sparse view_of(const SparseMatrix& A)
{
  cholmod_sparse view{};
  view.nrow = at(A.rows());
  view.ncol = at(A.cols());
  view.nzmax = at(A.nonZeros());
  view.p = const_cast<int*>(A.outerIndexPtr());
  view.i = const_cast<int*>(A.innerIndexPtr());
  view.x = const_cast<double*>(A.valuePtr());
  view.stype = -1;
  view.itype = CHOLMOD_INT;
  view.xtype = CHOLMOD_REAL;
  view.dtype = CHOLMOD_DOUBLE;
  view.sorted = 1;
  view.packed = 1;
  return view;
}

// The lower triangle of A with its unknowns in another order; rows of a column are not sorted.
struct PermutedLower {
  std::vector<int> starts;
  std::vector<int> rows;
  std::vector<double> values;

  PermutedLower(const SparseMatrix& A, const std::vector<int>& permutation)
      : starts(at(A.cols()) + 1, 0), rows(at(A.nonZeros())), values(at(A.nonZeros()))
  {
    std::vector<int> place(permutation.size());
    for (std::size_t k = 0; k < permutation.size(); ++k) place[at(permutation[k])] = static_cast<int>(k);
    const auto for_each = [&](auto&& use) {
      for (int c = 0; c < A.cols(); ++c)
        for (int k = A.outerIndexPtr()[c]; k < A.outerIndexPtr()[c + 1]; ++k) {
          if (A.innerIndexPtr()[k] < c) continue;
          const auto [column, row] = std::minmax(place[at(A.innerIndexPtr()[k])], place[at(c)]);
          use(column, row, A.valuePtr()[k]);
        }
    };
    for_each([&](int column, int, double) { ++starts[at(column) + 1]; });
    for (std::size_t c = 1; c < starts.size(); ++c) starts[c] += starts[c - 1];
    std::vector<int> next(starts.begin(), starts.end() - 1);
    for_each([&](int column, int row, double value) {
      const auto k = at(next[at(column)]++);
      rows[k] = row;
      values[k] = value;
    });
  }

  [[nodiscard]] cholmod_sparse view()
  {
    cholmod_sparse view{};
    view.nrow = view.ncol = starts.size() - 1;
    view.nzmax = rows.size();
    view.p = starts.data();
    view.i = rows.data();
    view.x = values.data();
    view.stype = -1;
    view.itype = CHOLMOD_INT;
    view.xtype = CHOLMOD_REAL;
    view.dtype = CHOLMOD_DOUBLE;
    view.packed = 1;
    return view;
  }
};

class CholmodBackend final : public SparseFactorisation::Backend {
 public:
  explicit CholmodBackend(bool supernodal) : supernodal_(supernodal)
  {
    cholmod_start(&common_);
    common_.print = 0;
    common_.error_handler = nullptr;
    common_.quick_return_if_not_posdef = 1;
    common_.supernodal = supernodal ? CHOLMOD_SUPERNODAL : CHOLMOD_SIMPLICIAL;
    common_.final_ll = supernodal ? 1 : 0;
    common_.final_asis = 0;
    common_.final_super = supernodal ? 1 : 0;
    common_.final_pack = 1;
    common_.final_monotonic = 1;
  }
  ~CholmodBackend() override
  {
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }
  CholmodBackend(const CholmodBackend&) = delete;
  CholmodBackend& operator=(const CholmodBackend&) = delete;

  FactorisationBackend which() const override
  {
    return supernodal_ ? FactorisationBackend::cholmod_supernodal : FactorisationBackend::cholmod_simplicial;
  }

  void analyse(const SparseMatrix& A, const FactorisationDesc& desc) override
  {
    const OneBlasThread one;
    cholmod_free_factor(&factor_, &common_);
    common_.nmethods = 1;
    common_.postorder = 1;
    common_.method[0].ordering = CHOLMOD_AMD;
    std::vector<int> given;
    if (desc.ordering == FillOrdering::given) {
      require_permutation(desc.permutation, A.rows());
      given = desc.permutation;
      common_.method[0].ordering = CHOLMOD_GIVEN;
    } else if (desc.ordering == FillOrdering::natural) {
      common_.method[0].ordering = CHOLMOD_NATURAL;
      common_.postorder = supernodal_ ? 1 : 0;
    } else if (desc.ordering == FillOrdering::nested_dissection) {
      common_.method[0].ordering = CHOLMOD_METIS;
    }
    cholmod_sparse view = view_of(A);
    factor_ = cholmod_analyze_p(&view, given.empty() ? nullptr : given.data(), nullptr, 0, &common_);
    if (factor_ == nullptr) throw std::bad_alloc();
    const int* order = static_cast<const int*>(factor_->Perm);
    permutation_.assign(order, order + A.rows());
    // The symbolic statistics come from the analysis; a later numeric factorisation does not change them.
    flops_ = common_.fl;
    entries_ = common_.lnz;
    small_.reset();
    if (supernodal_ && flops_ < kMaxSmallFactorFlops && has_wide_kernels())
      small_ = std::make_shared<const SupernodalCholesky>(supernodes(), A, permutation_);
  }

  std::unique_ptr<Backend> same_pattern() const override
  {
    auto other = std::make_unique<CholmodBackend>(supernodal_);
    other->factor_ = cholmod_copy_factor(factor_, &other->common_);
    if (other->factor_ == nullptr) throw std::bad_alloc();
    other->permutation_ = permutation_;
    other->flops_ = flops_;
    other->entries_ = entries_;
    other->small_ = small_;
    return other;
  }

  bool factor(const SparseMatrix& A, int& failed_column) override
  {
    if (small_ != nullptr) return factor_small(A, failed_column);
    const OneBlasThread one;
    cholmod_sparse view = view_of(A);
    return finish(cholmod_factorize(&view, factor_, &common_), failed_column);
  }

  // cholmod_factorize() makes two permuted copies of A, of which it keeps one, beside A itself.
  bool factor_once(SparseMatrix&& A, int& failed_column) override
  {
    if (!supernodal_ || small_ != nullptr) return factor(A, failed_column);
    const OneBlasThread one;
    PermutedLower permuted(A, permutation_);
    SparseMatrix().swap(A);
    cholmod_sparse view = permuted.view();
    double no_shift[2] = {0, 0};
    return finish(cholmod_super_numeric(&view, nullptr, no_shift, factor_, &common_), failed_column);
  }

  void lower(double* X, int columns) const override
  {
    if (supernodal_) return solve_lower(supernodes(), X, columns);
    solve_lower(columns_of_factor(), X, columns);
  }
  void upper(double* X, int columns) const override
  {
    if (supernodal_) return solve_upper(supernodes(), X, columns);
    solve_upper(columns_of_factor(), X, columns);
  }

  double factor_entries() const override
  {
    return supernodal_ ? static_cast<double>(factor_->xsize) : entries_;
  }
  double flops() const override { return flops_; }
  double memory() const override
  {
    const double n = static_cast<double>(permutation_.size());
    if (supernodal_) {
      return static_cast<double>(factor_->xsize) * sizeof(double) +
             static_cast<double>(factor_->ssize + 3 * factor_->nsuper) * sizeof(int) + 2 * n * sizeof(int);
    }
    return entries_ * (sizeof(double) + sizeof(int)) + 6 * n * sizeof(int);
  }
  bool has_diagonal() const override { return !supernodal_; }

 private:
  bool finish(int done, int& failed_column)
  {
    if (done == 0 && common_.status != CHOLMOD_NOT_POSDEF) throw std::bad_alloc();
    const bool success = common_.status != CHOLMOD_NOT_POSDEF && factor_->minor == factor_->n;
    failed_column = success ? -1 : static_cast<int>(factor_->minor);
    read_pivots(success ? static_cast<int>(factor_->n) : std::max(failed_column, 0));
    return success;
  }

  bool factor_small(const SparseMatrix& A, int& failed_column)
  {
    // Memory for the numbers, as CHOLMOD would allocate it.
    if (factor_->x == nullptr && cholmod_change_factor(CHOLMOD_REAL, 1, 1, 1, 1, factor_, &common_) == 0)
      throw std::bad_alloc();
    failed_column = small_->factor(supernodes(), A, {static_cast<double*>(factor_->x), factor_->xsize});
    read_pivots(failed_column < 0 ? static_cast<int>(factor_->n) : failed_column);
    return failed_column < 0;
  }

  void read_pivots(int valid)
  {
    const int n = static_cast<int>(factor_->n);
    pivots_.assign(at(n), 0.0);
    const double* values = static_cast<const double*>(factor_->x);
    if (values == nullptr) return;
    if (supernodal_ && factor_->is_super) {
      const SupernodalFactor L = supernodes();
      widest_ = 0;
      for (int s = 0; s < L.supernodes; ++s) {
        const int height = L.row[s + 1] - L.row[s];
        widest_ = std::max(widest_, height);
        for (int c = 0; c < L.column[s + 1] - L.column[s]; ++c) {
          const int j = L.column[s] + c;
          const double diagonal = values[L.value[s] + static_cast<std::ptrdiff_t>(c) * height + c];
          if (j < valid) pivots_[at(j)] = diagonal * diagonal;
        }
      }
    } else if (!supernodal_ && !factor_->is_super) {
      const int* start = static_cast<const int*>(factor_->p);
      const int* count = static_cast<const int*>(factor_->nz);
      begin_.resize(at(n));
      end_.resize(at(n));
      for (int j = 0; j < n; ++j) {
        // CHOLMOD keeps D where the unit diagonal of L would be.
        begin_[at(j)] = start[j] + 1;
        end_[at(j)] = start[j] + count[j];
        if (j < valid) pivots_[at(j)] = values[start[j]];
      }
    }
  }

  SupernodalFactor supernodes() const
  {
    return {static_cast<int>(factor_->n),
            static_cast<int>(factor_->nsuper),
            widest_,
            static_cast<const int*>(factor_->super),
            static_cast<const int*>(factor_->pi),
            static_cast<const int*>(factor_->px),
            static_cast<const int*>(factor_->s),
            static_cast<const double*>(factor_->x)};
  }
  ColumnFactor columns_of_factor() const
  {
    return {static_cast<int>(factor_->n), begin_.data(), end_.data(), static_cast<const int*>(factor_->i),
            static_cast<const double*>(factor_->x)};
  }

  bool supernodal_;
  cholmod_common common_{};
  cholmod_factor* factor_ = nullptr;
  double flops_ = 0;
  double entries_ = 0;
  int widest_ = 0;
  std::vector<int> begin_;
  std::vector<int> end_;
  std::shared_ptr<const SupernodalCholesky>
      small_;  ///< for a small positive definite matrix; shared by equal patterns
};

}  // namespace

std::unique_ptr<SparseFactorisation::Backend> make_cholmod_backend(bool supernodal)
{
  return std::make_unique<CholmodBackend>(supernodal);
}

}  // namespace thrum::numerics
