// SPDX-License-Identifier: MIT
#include "thrum/numerics/block_lanczos.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::numerics {

namespace {

// Columns whose component orthogonal to the others is smaller than this (relative to their norm) are
// dependent.
constexpr double kDependenceTolerance = 1e-10;
// A block whose Gram matrix has a larger spread than this is orthogonalised a second time.
constexpr double kMaxGramCondition = 1e6;
// When a pass removes more than this fraction of a column's squared norm, rounding error is large: one more
// pass.
constexpr double kReorthogonaliseFraction = 1e-4;
// A probe that finds a value this much (relatively) above the lowest accepted theta has found something new.
constexpr double kProbeMargin = 1e-6;
// Steps of a probe. A missed eigenvalue well inside the range shows after one; two are for those near its
// end.
constexpr Index kProbeSteps = 2;
// Values closer than this (relatively) are copies of one. As many copies as the block has vectors may hide
// more.
constexpr double kMultiplicityTolerance = 1e-6;
// How often a probe may restart the iteration.
constexpr int kMaxProbes = 8;
// A Ritz value of the probe with a residual below this is close to its eigenvalue.
constexpr double kProbeResidualTolerance = 1e-3;
// For "all below": the first value beyond the limit must be known to this accuracy before the others count as
// all.
constexpr double kLimitTolerance = 1e-2;
// A fixed seed: the same matrices give the same bits on every run.
constexpr std::uint64_t kSeed = 0x7468'7275'6d01;

// Blocks of four vectors are faster for a few modes, as fewer are wasted; blocks of eight for many modes, as
// each pass over the factor then serves more vectors (measured at 20,000 nodes).
constexpr Index kMaxSmallBlockModes = 48;
constexpr Index kSmallBlock = 4;
constexpr Index kLargeBlock = 8;

Index choose_block(const GeneralisedEigenDesc& desc, Index complement_size)
{
  const Index requested =
      desc.block_size > 0 ? desc.block_size : (desc.count <= kMaxSmallBlockModes ? kSmallBlock : kLargeBlock);
  return std::clamp<Index>(requested, 1, std::max<Index>(1, complement_size / 3));
}

}  // namespace

void ShiftInvertOperator::deflate(Eigen::Ref<MatX> X) const
{
  if (deflated.cols() > 0) subtract_product(deflated, transposed_product(mass_deflated, X), X);
}

void ShiftInvertOperator::apply(MatX& X) const
{
  MatX Y = *mass * X;
  shifted->solve_many(Y);
  // Rounding along the null space is amplified by 1/shift in every application, so it is removed each time.
  deflate(Y);
  X.swap(Y);
}

BlockLanczos::BlockLanczos(const ShiftInvertOperator& op, const GeneralisedEigenDesc& desc)
    : op_(op), desc_(desc), random_(kSeed)
{
  size_ = count_of(*op.mass);
  complement_size_ = size_ - static_cast<Index>(op.deflated.cols());
  block_ = choose_block(desc, complement_size_);
  // Enough that most runs never restart: about two and a half vectors a mode.
  const Index count = std::min(desc.count, complement_size_);
  const Index default_size =
      std::max<Index>(count + 10 * block_, static_cast<Index>(2.5 * static_cast<double>(count)));
  const Index first_guess = std::isfinite(desc.below) ? std::min<Index>(default_size, 200) : default_size;
  max_basis_size_ = desc.max_basis_size > 0 ? std::max(desc.max_basis_size, count + 3 * block_) : first_guess;
  max_basis_size_ = std::min(max_basis_size_, complement_size_ - block_);
  reserve(max_basis_size_ + 2 * block_);
}

void BlockLanczos::reserve(Index columns)
{
  if (basis_.cols() >= columns) return;
  basis_.conservativeResize(size_, columns);
  const Eigen::Index old = projected_.rows();
  projected_.conservativeResize(columns, columns);
  projected_.rightCols(columns - old).setZero();
  projected_.bottomRows(columns - old).setZero();
}

bool BlockLanczos::report(std::string_view stage, double fraction) const
{
  return !desc_.progress || desc_.progress({stage, std::clamp(fraction, 0.0, 1.0)});
}

void BlockLanczos::start()
{
  // One application smooths the random block, which saves a block of the basis.
  MatX W(size_, block_);
  for (Eigen::Index c = 0; c < W.cols(); ++c)
    for (Eigen::Index r = 0; r < W.rows(); ++r) W(r, c) = random_.uniform(-1, 1);
  op_.deflate(W);
  op_.apply(W);
  solves_ += block_;
  occupied_ = dimension_;
  MatX coefficients = MatX::Zero(occupied_, block_);
  orthogonalise(W, coefficients, 0);
  residual_block_ = normalise(W);
  basis_.middleCols(dimension_, block_) = W;
}

// Removes from W its part along the occupied columns of the basis and adds it to `coefficients`. The columns
// from `from` on are removed first, separately.
void BlockLanczos::orthogonalise(MatX& W, MatX& coefficients, Index from)
{
  if (occupied_ == 0) return;
  const auto V = basis_.leftCols(occupied_);
  const auto recent = basis_.middleCols(from, occupied_ - from);
  const MatX local = transposed_product(recent, *op_.mass * W);
  subtract_product(recent, local, W);
  coefficients.bottomRows(occupied_ - from) += local;

  constexpr int kMaxPasses = 3;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    const MatX mass_W = *op_.mass * W;
    const VecX squares = (W.array() * mass_W.array()).colwise().sum();
    const MatX C = transposed_product(V, mass_W);
    subtract_product(V, C, W);
    coefficients += C;
    const VecX removed = C.colwise().squaredNorm();
    if ((removed.array() <= kReorthogonaliseFraction * squares.array()).all()) break;
  }
}

void BlockLanczos::replace_by_random(MatX& W, Index column)
{
  MatX w(size_, 1);
  for (Eigen::Index r = 0; r < size_; ++r) w(r, 0) = random_.uniform(-1, 1);
  op_.deflate(w);
  op_.apply(w);
  ++solves_;
  constexpr int kPasses = 3;
  for (int pass = 0; pass < kPasses; ++pass) {
    const MatX mass_w = *op_.mass * w;
    const auto V = basis_.leftCols(occupied_);
    subtract_product(V, transposed_product(V, mass_w), w);
    for (Index c = 0; c < W.cols(); ++c)
      if (c != column) w -= W.col(c) * W.col(c).dot((*op_.mass * w).col(0));
    w /= std::sqrt(w.col(0).dot((*op_.mass * w).col(0)));
  }
  W.col(column) = w.col(0);
}

// W <- Q with W = Q B; returns B. Directions that W does not have are filled at random, with zero rows in B.
MatX BlockLanczos::normalise(MatX& W)
{
  MatX B = MatX::Identity(W.cols(), W.cols());
  constexpr int kPasses = 2;
  std::vector<Index> missing;
  for (int pass = 0; pass < kPasses; ++pass) {
    // The Gram matrix with unit diagonal, so that columns of different size do not hide one another.
    const MatX gram = transposed_product(W, *op_.mass * W);
    VecX scale = gram.diagonal().cwiseMax(0).cwiseSqrt();
    const double largest = scale.maxCoeff();
    for (double& s : scale) s = s > 0 ? s : std::max(largest, 1.0);
    const MatX unit = scale.cwiseInverse().asDiagonal() * gram * scale.cwiseInverse().asDiagonal();
    const Eigen::SelfAdjointEigenSolver<MatX> solver(unit);
    const VecX& values = solver.eigenvalues();

    VecX root = VecX::Zero(values.size());
    VecX inverse = VecX::Zero(values.size());
    for (Eigen::Index k = 0; k < values.size(); ++k) {
      if (values[k] > kDependenceTolerance * values.maxCoeff()) {
        root[k] = std::sqrt(values[k]);
        inverse[k] = 1 / root[k];
      } else if (pass == 0) {
        missing.push_back(static_cast<Index>(k));
      }
    }
    multiply_in_place(W, scale.cwiseInverse().asDiagonal() * solver.eigenvectors() * inverse.asDiagonal());
    B = root.asDiagonal() * solver.eigenvectors().transpose() * scale.asDiagonal() * B;
    if (pass == 0) {
      for (const Index k : missing) replace_by_random(W, k);
      const bool spread = values.maxCoeff() > kMaxGramCondition * std::max(values.minCoeff(), 0.0);
      if (spread && occupied_ > 0) {
        const auto V = basis_.leftCols(occupied_);
        subtract_product(V, transposed_product(V, *op_.mass * W), W);
      }
      for (const Index k : missing) B.row(k).setZero();
    }
  }
  return B;
}

void BlockLanczos::expand()
{
  MatX W = basis_.middleCols(dimension_, block_);
  op_.apply(W);
  solves_ += block_;

  occupied_ = dimension_ + block_;
  MatX coefficients = MatX::Zero(occupied_, block_);
  const Index recent = fresh_restart_ ? 0 : std::max<Index>(0, dimension_ - block_);
  orthogonalise(W, coefficients, recent);
  fresh_restart_ = false;

  // T gains the columns of this block; they are symmetric up to rounding.
  projected_.block(0, dimension_, occupied_, block_) = coefficients;
  projected_.block(dimension_, 0, block_, dimension_) = coefficients.topRows(dimension_).transpose();
  const MatX diagonal = coefficients.bottomRows(block_);
  projected_.block(dimension_, dimension_, block_, block_) = 0.5 * (diagonal + diagonal.transpose());

  residual_block_ = normalise(W);
  // From here on the block belongs to V.
  dimension_ = occupied_;
  basis_.middleCols(dimension_, block_) = W;
}

BlockLanczos::Ritz BlockLanczos::solve_projected() const
{
  Ritz ritz;
  const Eigen::SelfAdjointEigenSolver<MatX> solver(projected_.topLeftCorner(dimension_, dimension_));
  ritz.theta = solver.eigenvalues().reverse();
  ritz.vectors = solver.eigenvectors().rowwise().reverse();
  ritz.residuals = (residual_block_ * ritz.vectors.bottomRows(block_)).colwise().norm().transpose().array() /
                   ritz.theta.array().abs();

  // How many are requested: the count, or those below the limit.
  const Index max_count = std::min<Index>(desc_.count, dimension_);
  while (ritz.requested < max_count && ritz.theta[ritz.requested] > 0 &&
         eigenvalue(ritz.theta[ritz.requested]) < desc_.below)
    ++ritz.requested;
  while (ritz.converged < ritz.requested && ritz.residuals[ritz.converged] <= desc_.tolerance)
    ++ritz.converged;
  ritz.complete = ritz.converged == ritz.requested;
  if (ritz.requested < std::min(desc_.count, complement_size_)) {
    // Fewer than the count: then the next one must be known to lie beyond the limit.
    const bool next_is_past_limit = ritz.requested < dimension_ && std::isfinite(desc_.below) &&
                                    ritz.residuals[ritz.requested] < kLimitTolerance;
    ritz.complete = ritz.complete && next_is_past_limit;
  }
  return ritz;
}

void BlockLanczos::restart(const Ritz& ritz, Index keep)
{
  const MatX Q = basis_.middleCols(dimension_, block_);
  multiply_in_place(basis_.leftCols(dimension_), ritz.vectors.leftCols(keep));
  basis_.middleCols(keep, block_) = Q;
  projected_.setZero();
  projected_.topLeftCorner(keep, keep).diagonal() = ritz.theta.head(keep);
  dimension_ = keep;
  fresh_restart_ = true;
  ++restarts_;
}

// Iterates until the requested values have converged, the restarts are used up, or the caller requests a stop
// (false).
bool BlockLanczos::iterate(Ritz& ritz)
{
  Index next_look = dimension_ + block_;
  while (true) {
    expand();
    const bool full = dimension_ + 2 * block_ > std::min(max_basis_size_ + block_, complement_size_);
    if (dimension_ < next_look && !full) continue;

    ritz = solve_projected();
    const double fraction = static_cast<double>(ritz.converged) / std::max<Index>(ritz.requested, 1);
    const double grown = static_cast<double>(dimension_) / max_basis_size_;
    if (!report("iterate", std::max(fraction, 0.8 * std::min(grown, 1.0)))) return false;
    if (ritz.complete || dimension_ + block_ > complement_size_) return true;

    // A check costs the cube of the dimension, so large bases are checked less often.
    next_look = dimension_ + std::max<Index>(block_, dimension_ / 12 / block_ * block_);
    if (!full) continue;
    if (restarts_ >= desc_.max_restarts) return true;
    if (std::isfinite(desc_.below) && desc_.max_basis_size == 0 && 2 * ritz.requested > max_basis_size_) {
      // More values than estimated lie below the limit: continue in a larger basis.
      max_basis_size_ = std::min<Index>(2 * max_basis_size_, complement_size_ - block_);
      reserve(max_basis_size_ + 2 * block_);
      continue;
    }
    const Index extra = std::max<Index>(block_, (dimension_ - ritz.requested) / 2);
    restart(ritz, std::max<Index>(1, std::min(ritz.requested + extra, dimension_ - 2 * block_)));
    next_look = dimension_ + 2 * block_;
  }
}

// Whether some value was found as often as one block Krylov space can hold it.
bool BlockLanczos::saturated(const Ritz& found) const
{
  for (Index k = 0; k + block_ <= found.requested; ++k)
    if (found.theta[k] - found.theta[k + block_ - 1] <= kMultiplicityTolerance * found.theta[k]) return true;
  return false;
}

// The basis holds only the vectors found. Restarts from a random block in its complement; true when no lower
// eigenvalue is found. Where copies of a value may be missing the probe continues until its own largest value
// is known to lie below the ones found, or the basis is full.
bool BlockLanczos::probe(const Ritz& found)
{
  start();
  const Index steps =
      saturated(found) ? std::max(kProbeSteps, (max_basis_size_ - dimension_) / block_) : kProbeSteps;
  for (Index step = 0; step < steps && dimension_ + 2 * block_ <= complement_size_; ++step) {
    expand();
    if (step + 1 < kProbeSteps) continue;
    const Ritz now = solve_projected();
    for (Index k = 0; k < found.requested; ++k)
      if (now.theta[k] > found.theta[k] * (1 + kProbeMargin)) return false;
    if (found.requested >= dimension_) return true;
    const double next = now.theta[found.requested];
    const bool all_below = std::isfinite(desc_.below) && found.requested < desc_.count;
    if (all_below && next > 0 && eigenvalue(next) < desc_.below) return false;
    // A Ritz value grows towards its eigenvalue, so it is meaningful only once it has converged.
    const double residual = now.residuals[found.requested];
    const bool settled = residual < kProbeResidualTolerance;
    if (found.requested > 0 && settled && next * (1 + residual) < found.theta[found.requested - 1])
      return true;
  }
  return true;
}

// Rotates the basis to the requested Ritz vectors and copies them to the result.
void BlockLanczos::collect(const Ritz& ritz, GeneralisedEigenResult& result)
{
  restart(ritz, ritz.requested);
  --restarts_;
  result.values.resize(ritz.requested);
  for (Index k = 0; k < ritz.requested; ++k) result.values[k] = eigenvalue(ritz.theta[k]);
  result.vectors = basis_.leftCols(ritz.requested);
  result.residuals = ritz.residuals.head(ritz.requested);
  result.converged = ritz.converged;
}

GeneralisedEigenResult BlockLanczos::run()
{
  GeneralisedEigenResult result;
  result.method = EigenMethod::block_lanczos;
  const bool wants_probe = desc_.verification != EigenVerification::none;
  Ritz ritz;
  start();
  bool going = iterate(ritz);
  collect(ritz, result);
  for (int k = 0; going && ritz.complete && wants_probe && !result.verified && k < kMaxProbes; ++k) {
    going = report("verify", 0);
    result.verified = going && probe(ritz);
    if (!going || result.verified) break;
    // An eigenvalue was missed: converge again with it, starting from the current basis.
    going = iterate(ritz);
    collect(ritz, result);
  }
  const bool success = ritz.complete && (!wants_probe || result.verified);
  result.status = !going ? EigenStatus::cancelled : (success ? EigenStatus::ok : EigenStatus::not_converged);
  result.solves = solves_;
  result.restarts = restarts_;
  return result;
}

}  // namespace thrum::numerics
