// SPDX-License-Identifier: MIT
#include "thrum/numerics/sparse_factorisation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/numerics/factorisation_backend.h"

namespace thrum::numerics {

namespace {

/// Below this many unknowns Eigen's column-by-column factorisation is faster than setting up supernodes.
constexpr Eigen::Index kMinSupernodalSize = 1500;

/// Right-hand sides that share one pass over the factor.
constexpr int kRightHandSides = 8;

#ifdef THRUM_HAS_CHOLMOD
constexpr bool kHasCholmod = true;
#else
constexpr bool kHasCholmod = false;
#endif

FactorisationBackend choose(const FactorisationDesc& desc, Eigen::Index n)
{
  if (desc.backend != FactorisationBackend::automatic) return desc.backend;
  if (!kHasCholmod || n < kMinSupernodalSize) return FactorisationBackend::eigen_ldlt;
  return desc.kind == MatrixKind::positive_definite ? FactorisationBackend::cholmod_supernodal
                                                    : FactorisationBackend::cholmod_simplicial;
}

std::unique_ptr<SparseFactorisation::Backend> make(FactorisationBackend backend)
{
  if (!has_backend(backend)) {
    throw Error(
        fmt::format("This build of thrum has no {}: install libsuitesparse-dev and configure again, "
                    "or choose the backend 'automatic'.",
                    to_string(backend)));
  }
#ifdef THRUM_HAS_CHOLMOD
  if (backend != FactorisationBackend::eigen_ldlt)
    return make_cholmod_backend(backend == FactorisationBackend::cholmod_supernodal);
#endif
  return make_eigen_backend();
}

void require_finite(const SparseMatrix& A)
{
  const double* values = A.valuePtr();
  for (Eigen::Index k = 0; k < A.nonZeros(); ++k) {
    if (!std::isfinite(values[k])) throw Error("The matrix to factor contains a number that is not finite.");
  }
}

}  // namespace

SparseFactorisation::SparseFactorisation() = default;
SparseFactorisation::~SparseFactorisation() = default;
SparseFactorisation::SparseFactorisation(SparseFactorisation&&) noexcept = default;
SparseFactorisation& SparseFactorisation::operator=(SparseFactorisation&&) noexcept = default;

FactorisationResult SparseFactorisation::factor(const SparseMatrix& A, const FactorisationDesc& desc)
{
  const FactorisationResult analysed = analyse(A, desc);
  return analysed.ok() ? numeric(A) : analysed;
}

FactorisationResult SparseFactorisation::factor_once(SparseMatrix&& A, const FactorisationDesc& desc)
{
  const FactorisationResult ordered = order(A, desc);
  if (!ordered.ok() || size_ == 0) return ordered.ok() ? numeric(A) : ordered;
  require_finite(A);
  const VecX diagonal = A.diagonal();
  int failed_column = -1;
  try {
    const bool stopped = !backend_->factor_once(std::move(A), failed_column);
    return check_pivots(diagonal, stopped, failed_column);
  } catch (const std::bad_alloc&) {
    return {.status = FactorisationStatus::out_of_memory, .backend = backend_->which()};
  }
}

FactorisationResult SparseFactorisation::analyse(const SparseMatrix& A, const FactorisationDesc& desc)
{
  const FactorisationResult ordered = order(A, desc);
  if (!ordered.ok()) return ordered;
  pattern_starts_.assign(A.outerIndexPtr(), A.outerIndexPtr() + A.cols() + 1);
  pattern_rows_.assign(A.innerIndexPtr(), A.innerIndexPtr() + A.nonZeros());
  return ordered;
}

FactorisationResult SparseFactorisation::order(const SparseMatrix& A, const FactorisationDesc& desc)
{
  factored_ = false;
  pattern_starts_.clear();
  pattern_rows_.clear();
  if (A.rows() != A.cols())
    throw Error(fmt::format("The matrix to factor is {} x {}; it must be square.", A.rows(), A.cols()));
  if (!A.isCompressed()) throw Error("The matrix to factor must be compressed: call makeCompressed() first.");
  if (desc.kind == MatrixKind::indefinite && desc.backend == FactorisationBackend::cholmod_supernodal)
    throw Error(
        "cholmod_supernodal factors positive definite matrices only; choose 'automatic' for indefinite "
        "ones.");

  const FactorisationBackend backend = choose(desc, A.rows());
  if (backend_ == nullptr || backend_->which() != backend) backend_ = make(backend);
  size_ = static_cast<Index>(A.rows());
  kind_ = desc.kind;
  pivot_tolerance_ = desc.pivot_tolerance;
  // Nothing to order or to factor, and the libraries do not accept empty matrices.
  if (size_ == 0) {
    backend_ = make(FactorisationBackend::eigen_ldlt);
    return {};
  }
  try {
    backend_->analyse(A, desc);
  } catch (const std::bad_alloc&) {
    return {.status = FactorisationStatus::out_of_memory, .backend = backend};
  }
  return {.backend = backend};
}

SparseFactorisation SparseFactorisation::same_pattern() const
{
  if (backend_ == nullptr) throw Error("There is no pattern to share before the first factorisation.");
  SparseFactorisation other;
  other.backend_ = backend_->same_pattern();
  other.pattern_starts_ = pattern_starts_;
  other.pattern_rows_ = pattern_rows_;
  other.pivot_tolerance_ = pivot_tolerance_;
  other.kind_ = kind_;
  other.size_ = size_;
  return other;
}

FactorisationResult SparseFactorisation::refactor(const SparseMatrix& A)
{
  factored_ = false;
  const bool same = backend_ != nullptr && A.isCompressed() && A.rows() == size_ && A.cols() == size_ &&
                    pattern_starts_.size() == at(size_) + 1 && at(A.nonZeros()) == pattern_rows_.size() &&
                    std::equal(pattern_starts_.begin(), pattern_starts_.end(), A.outerIndexPtr()) &&
                    std::equal(pattern_rows_.begin(), pattern_rows_.end(), A.innerIndexPtr());
  if (!same)
    throw Error("refactor() needs the pattern of the matrix given to factor(); call factor() for a new one.");
  return numeric(A);
}

FactorisationResult SparseFactorisation::numeric(const SparseMatrix& A)
{
  require_finite(A);
  if (size_ == 0) {
    factored_ = true;
    return {.backend = backend_->which()};
  }
  int failed_column = -1;
  try {
    const bool stopped = !backend_->factor(A, failed_column);
    return check_pivots(A.diagonal(), stopped, failed_column);
  } catch (const std::bad_alloc&) {
    return {.status = FactorisationStatus::out_of_memory, .backend = backend_->which()};
  }
}

// What the factor is, or at which pivot it failed; `stopped`: the backend did not go beyond `failed_column`.
FactorisationResult SparseFactorisation::check_pivots(const VecX& diagonal, bool stopped, int failed_column)
{
  FactorisationResult result{.backend = backend_->which()};
  const FactorisationStatus bad_pivot = kind_ == MatrixKind::positive_definite
                                            ? FactorisationStatus::not_positive_definite
                                            : FactorisationStatus::singular;
  // The backends stop at an exact zero (or a negative pivot) only; the same relative test for all of them
  // finds pivots that are zero up to rounding.
  const std::vector<int>& order = backend_->permutation();
  const std::vector<double>& pivots = backend_->pivots();
  const int checked = stopped ? std::max(failed_column, 0) : size_;
  for (int k = 0; k < checked; ++k) {
    const double pivot = pivots[at(k)];
    const double scale = std::abs(diagonal[order[at(k)]]);
    const double size = kind_ == MatrixKind::positive_definite ? pivot : std::abs(pivot);
    if (!(size > pivot_tolerance_ * scale)) {
      stopped = true;
      failed_column = k;
      break;
    }
  }
  if (stopped) {
    result.status = bad_pivot;
    if (failed_column >= 0 && failed_column < size_) result.pivot = order[at(failed_column)];
    return result;
  }
  factored_ = true;
  result.factor_entries = backend_->factor_entries();
  result.flops = backend_->flops();
  result.memory = backend_->memory();
  return result;
}

void SparseFactorisation::require_factor(Eigen::Index rows) const
{
  if (!has_factor()) throw Error("There is no factor to solve with: the last factorisation was not ok.");
  if (rows != size_) throw Error(fmt::format("The right-hand side has {} rows, the matrix {}.", rows, size_));
}

void SparseFactorisation::solve(Eigen::Ref<VecX> x) const
{
  require_factor(x.size());
  if (size_ == 0) return;
  const std::vector<int>& order = backend_->permutation();
  VecX y(size_);
  for (Index k = 0; k < size_; ++k) y[k] = x[order[at(k)]];
  backend_->lower(y.data(), 1);
  if (backend_->has_diagonal()) y.array() /= Eigen::Map<const VecX>(backend_->pivots().data(), size_).array();
  backend_->upper(y.data(), 1);
  for (Index k = 0; k < size_; ++k) x[order[at(k)]] = y[k];
}

void SparseFactorisation::solve_many(Eigen::Ref<MatX> X) const
{
  require_factor(X.rows());
  if (size_ == 0) return;
  const std::vector<int>& order = backend_->permutation();
  const std::vector<double>& pivots = backend_->pivots();
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> Y;
  for (Eigen::Index first = 0; first < X.cols();) {
    // The widest block of 8, 4, 2 or 1 columns that is left.
    int width = kRightHandSides;
    while (width > X.cols() - first) width /= 2;
    Y.resize(size_, width);
    for (Index k = 0; k < size_; ++k) Y.row(k) = X.row(order[at(k)]).segment(first, width);
    backend_->lower(Y.data(), width);
    if (backend_->has_diagonal()) {
      for (Index k = 0; k < size_; ++k) Y.row(k) /= pivots[at(k)];
    }
    backend_->upper(Y.data(), width);
    for (Index k = 0; k < size_; ++k) X.row(order[at(k)]).segment(first, width) = Y.row(k);
    first += width;
  }
}

void SparseFactorisation::solve_half(Eigen::Ref<VecX> x) const
{
  require_factor(x.size());
  if (kind_ != MatrixKind::positive_definite)
    throw Error("Half solves need a matrix factored as positive definite.");
  const std::vector<int>& order = backend_->permutation();
  VecX y(size_);
  for (Index k = 0; k < size_; ++k) y[k] = x[order[at(k)]];
  backend_->lower(y.data(), 1);
  if (backend_->has_diagonal())
    y.array() /= Eigen::Map<const VecX>(backend_->pivots().data(), size_).array().sqrt();
  x = y;
}

void SparseFactorisation::solve_half_transposed(Eigen::Ref<VecX> x) const
{
  require_factor(x.size());
  if (kind_ != MatrixKind::positive_definite)
    throw Error("Half solves need a matrix factored as positive definite.");
  const std::vector<int>& order = backend_->permutation();
  VecX y = x;
  if (backend_->has_diagonal())
    y.array() /= Eigen::Map<const VecX>(backend_->pivots().data(), size_).array().sqrt();
  backend_->upper(y.data(), 1);
  for (Index k = 0; k < size_; ++k) x[order[at(k)]] = y[k];
}

std::optional<Inertia> SparseFactorisation::inertia() const
{
  if (!has_factor()) return std::nullopt;
  Inertia inertia;
  for (const double pivot : backend_->pivots()) ++(pivot > 0 ? inertia.positive : inertia.negative);
  return inertia;
}

const std::vector<int>& SparseFactorisation::permutation() const
{
  if (backend_ == nullptr) throw Error("There is no elimination order before the first factorisation.");
  return backend_->permutation();
}

std::string_view SparseFactorisation::backend_name() const
{
  return backend_ == nullptr ? "none" : to_string(backend_->which());
}

bool has_backend(FactorisationBackend backend)
{
  return kHasCholmod || backend == FactorisationBackend::automatic ||
         backend == FactorisationBackend::eigen_ldlt;
}

std::string_view to_string(FactorisationBackend backend)
{
  switch (backend) {
    case FactorisationBackend::automatic:
      return "automatic";
    case FactorisationBackend::eigen_ldlt:
      return "eigen_ldlt";
    case FactorisationBackend::cholmod_simplicial:
      return "cholmod_simplicial";
    case FactorisationBackend::cholmod_supernodal:
      return "cholmod_supernodal";
  }
  return "unknown";
}

std::string_view to_string(FactorisationStatus status)
{
  switch (status) {
    case FactorisationStatus::ok:
      return "ok";
    case FactorisationStatus::not_positive_definite:
      return "not positive definite";
    case FactorisationStatus::singular:
      return "singular";
    case FactorisationStatus::out_of_memory:
      return "out of memory";
  }
  return "unknown";
}

}  // namespace thrum::numerics
