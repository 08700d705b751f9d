// SPDX-License-Identifier: MIT
#include "thrum/sound/equivalent_sources.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

constexpr double kDepth = 1.5;       ///< of a source, in distances between sources
constexpr double kOwnSide = 0.6;     ///< nearest surface / depth, below which another side is too near
constexpr double kShallower = 0.75;  ///< factor of the next try
constexpr int kTries = 30;

/// Numbers of points, each as far as possible from those before it.
std::vector<Index> farthest_points(const std::vector<Vec3>& points, int count)
{
  std::vector<Index> chosen;
  std::vector<double> nearest(points.size(), std::numeric_limits<double>::infinity());
  Index next = 0;
  while (std::ssize(chosen) < count && std::ssize(chosen) < std::ssize(points)) {
    chosen.push_back(next);
    const Vec3 last = at(points, next);
    double farthest = -1;
    for (Index i = 0; i < count_of(points); ++i) {
      double& near = at(nearest, i);
      near = std::min(near, (at(points, i) - last).squaredNorm());
      if (near > farthest) {
        farthest = near;
        next = i;
      }
    }
  }
  return chosen;
}

}  // namespace

SourceSet place_sources(const SurfacePoints& surface, const distance::MeshDistance& inside, int count)
{
  double area = 0;
  for (const double part : surface.areas) area += part;
  SourceSet sources;
  for (const Index i : farthest_points(surface.points, count)) {
    const Vec3& normal = at(surface.normals, i);
    double depth = kDepth * std::sqrt(area / count);
    for (int attempt = 0; attempt < kTries; ++attempt, depth *= kShallower) {
      const Vec3 place = at(surface.points, i) - depth * normal;
      if (inside.signed_distance(place).distance > -kOwnSide * depth) continue;
      sources.push_back({place, normal});
      break;
    }
  }
  return sources;
}

// With R = x - s, R = |R|, g = exp(-i k R)/R:
//   grad_x g = -g (i k + 1/R) R/R,
//   the dipole is a . grad_s g = g (i k + 1/R) a.R/R =: g B a.e, e = R/R, and its gradient by x
//   g [ (-B^2 - 1/R^2) (a.e) e + B (a - (a.e) e)/R ].
FieldMatrix source_fields(const SurfacePoints& surface, const SourceSet& sources, double wave_number,
                          const Air& air)
{
  const auto count = static_cast<Eigen::Index>(sources.size());
  const double impedance = wave_number * air.density() * air.sound_speed();
  FieldMatrix fields(surface.size(), 2 * count);
  for (Eigen::Index s = 0; s < count; ++s) {
    const EquivalentSource& source = sources[at(s)];
    for (Index i = 0; i < surface.size(); ++i) {
      const Vec3 arm = at(surface.points, i) - source.position;
      const double R = arm.norm();
      const double inverse = 1 / R;
      const double along = arm.dot(at(surface.normals, i)) * inverse;
      const double aligned = arm.dot(source.axis) * inverse;
      const double across = source.axis.dot(at(surface.normals, i)) - aligned * along;
      const double size = std::sqrt(at(surface.areas, i)) / impedance * inverse;
      const double phase = wave_number * R;
      const Complex factor(size * std::sin(phase), size * std::cos(phase));  // i g
      const Complex B(inverse, wave_number);
      fields(i, s) = -factor * B * along;
      fields(i, count + s) =
          factor * ((-B * B - inverse * inverse) * (aligned * along) + B * (across * inverse));
    }
  }
  return fields;
}

std::vector<Complex> far_amplitudes(const SourceSet& sources, const Eigen::VectorXcd& x, const Vec3& centre,
                                    double wave_number, std::span<const Vec3> directions)
{
  std::vector<Complex> sums(directions.size(), 0.0);
  const auto count = static_cast<Eigen::Index>(sources.size());
  for (Eigen::Index s = 0; s < count; ++s) {
    const EquivalentSource& source = sources[at(s)];
    const Complex monopole = x[s];
    const Complex dipole = Complex(0, wave_number) * x[count + s];
    const Vec3 arm = wave_number * (source.position - centre);
    for (std::size_t d = 0; d < directions.size(); ++d) {
      const double phase = directions[d].dot(arm);
      sums[d] +=
          Complex(std::cos(phase), std::sin(phase)) * (monopole + directions[d].dot(source.axis) * dipole);
    }
  }
  return sums;
}

ModeFarField fit_sources(std::span<const SourceSet> sets, std::span<const SurfacePoints> fitted,
                         const SurfacePoints& check, Index mode, double omega, const SourceFit& fit)
{
  const double k = omega / fit.air.sound_speed();
  ModeFarField best;
  best.kind = ModeRadiationKind::equivalent_sources;
  best.residual = 1;
  std::size_t best_set = 0;
  Eigen::VectorXcd best_x;
  for (std::size_t i = 0; i < sets.size() && !(best.residual < fit.tolerance); ++i) {
    const std::vector<Eigen::Index> counts = {2 * std::ssize(sets[i])};
    CheckedFit found =
        fit_checked(source_fields(fitted[i], sets[i], k, fit.air), weighted_velocity(fitted[i], mode),
                    source_fields(check, sets[i], k, fit.air), weighted_velocity(check, mode), counts);
    if (!(found.residual < best.residual)) continue;
    best.residual = found.residual;
    best.unknowns = static_cast<int>(found.x.size());
    best_set = i;
    best_x = std::move(found.x);
  }
  if (best_x.size() == 0) {
    best.coefficients = Eigen::VectorXcd::Zero(1);
    return best;
  }
  const int needed = static_cast<int>(std::ceil(k * fit.radius)) + 4;
  const SphereRule rule = sphere_rule(std::min(needed, 2 * fit.max_order));
  expand_far_field(rule, far_amplitudes(sets[best_set], best_x, fit.centre, k, rule.directions), needed,
                   fit.max_order, best);
  return best;
}

}  // namespace thrum::sound
