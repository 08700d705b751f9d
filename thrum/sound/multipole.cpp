// SPDX-License-Identifier: MIT
#include "thrum/sound/multipole.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

/// Relative to the squared length of a column. Smaller ones do not change the residual of smooth bodies; with
/// 1e-6 the monopole that is left in an oscillating sphere at k a = 0.05 becomes audible.
constexpr double kRidge = 1e-11;
/// Likewise, of the fits that are compared: what the first leaves free between the points, the others hold.
constexpr std::array<double, 4> kRidges = {kRidge, 1e-8, 1e-6, 1e-4};
/// A fit with more columns or a larger ridge must miss less by this factor: rounding must not decide.
constexpr double kWorthwhile = 0.999;
/// Points of the surface are at least so far from the centre of the expansion [m].
constexpr double kMinRadius = 1e-9;

/// Normal equations: the Gram matrix is half the work of a factorisation by reflections and, with the columns
/// scaled, its squared condition is what the ridge cuts off anyway.
struct NormalEquations {
  Eigen::VectorXd scale;
  FieldMatrix gram;  ///< lower half, without a ridge
  Eigen::VectorXcd right;
};

NormalEquations normal_equations(const FieldMatrix& fields, const Eigen::VectorXd& velocity)
{
  const Eigen::Index count = fields.cols();
  NormalEquations result;
  result.scale = fields.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).cwiseInverse();
  result.gram = FieldMatrix::Zero(count, count);
  result.gram.selfadjointView<Eigen::Lower>().rankUpdate(fields.adjoint());
  for (Eigen::Index j = 0; j < count; ++j) {
    for (Eigen::Index i = j; i < count; ++i) result.gram(i, j) *= result.scale[i] * result.scale[j];
  }
  result.right = result.scale.asDiagonal() * (fields.adjoint() * velocity.cast<Complex>());
  return result;
}

}  // namespace

Eigen::VectorXcd fit_fields(const FieldMatrix& fields, const Eigen::VectorXd& velocity)
{
  NormalEquations equations = normal_equations(fields, velocity);
  equations.gram.diagonal().array() += kRidge;
  // A ridge below the rounding of the Gram matrix may leave it indefinite: then a larger one.
  for (double ridge = kRidge; ridge < 1; ridge *= 100) {
    const Eigen::LLT<FieldMatrix> factor(equations.gram);
    if (factor.info() == Eigen::Success) return equations.scale.asDiagonal() * factor.solve(equations.right);
    equations.gram.diagonal().array() += 99 * ridge;
  }
  return Eigen::VectorXcd::Zero(fields.cols());
}

// The factor of the first n columns is the corner of the factor of all, so that a smaller fit costs one
// back substitution.
CheckedFit fit_checked(const FieldMatrix& fields, const Eigen::VectorXd& velocity, const FieldMatrix& check,
                       const Eigen::VectorXd& wanted, std::span<const Eigen::Index> counts)
{
  const NormalEquations equations = normal_equations(fields, velocity);
  CheckedFit best;
  if (!(wanted.norm() > 0)) best.residual = 0;
  for (const double ridge : kRidges) {
    FieldMatrix gram = equations.gram;
    gram.diagonal().array() += ridge;
    const Eigen::LLT<FieldMatrix> factor(gram);
    if (factor.info() != Eigen::Success) continue;
    const FieldMatrix L = factor.matrixL();
    const Eigen::VectorXcd forward = L.triangularView<Eigen::Lower>().solve(equations.right);
    for (const Eigen::Index count : counts) {
      const Eigen::VectorXcd x =
          equations.scale.head(count).asDiagonal() *
          L.topLeftCorner(count, count).adjoint().triangularView<Eigen::Upper>().solve(forward.head(count));
      const double residual = relative_residual(check.leftCols(count), x, wanted);
      if (!(residual < kWorthwhile * best.residual)) continue;
      best.residual = residual;
      best.x = x;
    }
  }
  return best;
}

double relative_residual(const FieldMatrix& fields, const Eigen::VectorXcd& x,
                         const Eigen::VectorXd& velocity)
{
  const double size = velocity.norm();
  return size > 0 ? (fields * x - velocity).norm() / size : 0;
}

Eigen::VectorXd weighted_velocity(const SurfacePoints& surface, Index mode)
{
  Eigen::VectorXd velocity = surface.velocities.col(mode);
  for (Index i = 0; i < surface.size(); ++i) velocity[i] *= std::sqrt(at(surface.areas, i));
  return velocity;
}

// dp/dn = -i w rho v, so v = i (dp/dn) / (w rho), and w rho = k rho c.
FieldMatrix multipole_fields(const SurfacePoints& surface, const Vec3& centre, int order, double wave_number,
                             const Air& air)
{
  const int count = harmonic_count(order);
  std::vector<double> Y(at(count));
  std::vector<Vec3> gradients(at(count));
  std::vector<Complex> h(at(order + 1));
  std::vector<Complex> slopes(at(order + 1));
  FieldMatrix fields(surface.size(), count);
  for (Index i = 0; i < surface.size(); ++i) {
    const Vec3 arm = at(surface.points, i) - centre;
    const double r = std::max(arm.norm(), kMinRadius);
    const Vec3 direction = arm / r;
    const Vec3& normal = at(surface.normals, i);
    harmonics(order, direction, Y, gradients);
    outgoing_waves(order, wave_number * r, h, slopes);
    const double along = normal.dot(direction);
    const Complex factor =
        Complex(0, 1) * std::sqrt(at(surface.areas, i)) / (wave_number * air.density() * air.sound_speed());
    for (int n = 0, index = 0; n <= order; ++n) {
      for (int m = -n; m <= n; ++m, ++index) {
        const Complex slope = wave_number * at(slopes, n) * at(Y, index) * along +
                              at(h, n) / r * normal.dot(at(gradients, index));
        fields(i, index) = factor * slope;
      }
    }
  }
  return fields;
}

void expand_far_field(const SphereRule& rule, std::span<const Complex> values, int needed, int max_order,
                      ModeFarField& result)
{
  result.order = std::min(needed, max_order);
  result.coefficients = Eigen::VectorXcd::Zero(harmonic_count(result.order));
  Eigen::VectorXd Y(harmonic_count(result.order));
  double power = 0;
  for (std::size_t i = 0; i < rule.directions.size(); ++i) {
    harmonics(result.order, rule.directions[i], {Y.data(), static_cast<std::size_t>(Y.size())});
    result.coefficients += rule.weights[i] * values[i] * Y.cast<Complex>();
    power += rule.weights[i] * std::norm(values[i]);
  }
  const double kept = result.coefficients.squaredNorm();
  if (needed > max_order && kept > 0) result.coefficients *= std::sqrt(power / kept);
}

// Far away h_n(k r) is i^(n+1) exp(-i k r) / (k r). Near the centre h_n grows as r^-(n+1): on a body that is
// no ball the high orders live on the few points that are nearest to the centre, and fits of them are
// anything between these (10^8 times the velocity on a bar). Hence the choice of the order by what is missed
// there.
ModeFarField fit_multipoles(const SurfacePoints& fitted, const SurfacePoints& check, Index mode, double omega,
                            const MultipoleFit& fit)
{
  const double k = omega / fit.air.sound_speed();
  int order = std::min(fit.max_order, static_cast<int>(std::ceil(k * fit.radius)) + 4);
  while (order > 0 && 2 * harmonic_count(order) > fitted.size()) --order;
  std::vector<Eigen::Index> counts;
  for (int n = 0; n <= order; ++n) counts.push_back(harmonic_count(n));
  const CheckedFit best = fit_checked(
      multipole_fields(fitted, fit.centre, order, k, fit.air), weighted_velocity(fitted, mode),
      multipole_fields(check, fit.centre, order, k, fit.air), weighted_velocity(check, mode), counts);
  ModeFarField result;
  result.unknowns = static_cast<int>(best.x.size());
  result.residual = best.residual;
  while (harmonic_count(result.order) < result.unknowns) ++result.order;
  result.coefficients = Eigen::VectorXcd::Zero(harmonic_count(result.order));
  Complex phase(0, 1);
  for (int n = 0, index = 0; index < result.unknowns; ++n, phase *= Complex(0, 1)) {
    for (int m = -n; m <= n; ++m, ++index) result.coefficients[index] = best.x[index] * phase / k;
  }
  return result;
}

}  // namespace thrum::sound
