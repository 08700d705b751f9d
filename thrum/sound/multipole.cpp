// SPDX-License-Identifier: MIT
#include "thrum/sound/multipole.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

/// Relative to the squared length of a column. Smaller ones do not change the residual of smooth bodies; with
/// 1e-6 the monopole that is left in an oscillating sphere at k a = 0.05 becomes audible.
constexpr double kRidge = 1e-11;
/// Points of the surface are at least so far from the centre of the expansion [m].
constexpr double kMinRadius = 1e-9;

}  // namespace

// Normal equations: the Gram matrix is half the work of a factorisation by reflections and, with the columns
// scaled, its squared condition is what the ridge cuts off anyway.
Eigen::VectorXcd fit_fields(const FieldMatrix& fields, const Eigen::VectorXd& velocity)
{
  const Eigen::Index count = fields.cols();
  const Eigen::VectorXd scale =
      fields.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).cwiseInverse();
  FieldMatrix gram = FieldMatrix::Zero(count, count);
  gram.selfadjointView<Eigen::Lower>().rankUpdate(fields.adjoint());
  for (Eigen::Index j = 0; j < count; ++j) {
    for (Eigen::Index i = j; i < count; ++i) gram(i, j) *= scale[i] * scale[j];
    gram(j, j) += kRidge;
  }
  const Eigen::VectorXcd right = scale.asDiagonal() * (fields.adjoint() * velocity.cast<Complex>());
  // A ridge below the rounding of the Gram matrix may leave it indefinite: then a larger one.
  for (double ridge = kRidge; ridge < 1; ridge *= 100) {
    const Eigen::LLT<FieldMatrix> factor(gram);
    if (factor.info() == Eigen::Success) return scale.asDiagonal() * factor.solve(right);
    gram.diagonal().array() += 99 * ridge;
  }
  return Eigen::VectorXcd::Zero(count);
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

// Far away h_n(k r) is i^(n+1) exp(-i k r) / (k r).
ModeFarField fit_multipoles(const SurfacePoints& fitted, const SurfacePoints& check, Index mode, double omega,
                            const MultipoleFit& fit)
{
  const double k = omega / fit.air.sound_speed();
  int order = std::min(fit.max_order, static_cast<int>(std::ceil(k * fit.radius)) + 4);
  while (order > 0 && 2 * harmonic_count(order) > fitted.size()) --order;
  const Eigen::VectorXcd x =
      fit_fields(multipole_fields(fitted, fit.centre, order, k, fit.air), weighted_velocity(fitted, mode));
  ModeFarField result;
  result.order = order;
  result.unknowns = harmonic_count(order);
  result.residual = relative_residual(multipole_fields(check, fit.centre, order, k, fit.air), x,
                                      weighted_velocity(check, mode));
  result.coefficients.resize(harmonic_count(order));
  Complex phase(0, 1);
  for (int n = 0, index = 0; n <= order; ++n, phase *= Complex(0, 1)) {
    for (int m = -n; m <= n; ++m, ++index) result.coefficients[index] = x[index] * phase / k;
  }
  return result;
}

}  // namespace thrum::sound
