// SPDX-License-Identifier: MIT
// Sound fields as sums of outgoing waves about a centre, and fitting fields to a vibrating surface.
#pragma once

#include <complex>
#include <span>

#include "thrum/sound/air.h"
#include "thrum/sound/radiating_surface.h"
#include "thrum/sound/radiation_map.h"
#include "thrum/sound/spherical_waves.h"

namespace thrum::sound {

/// The far field of one mode, see RadiationMap.
struct ModeFarField {
  int order = 0;
  Eigen::VectorXcd coefficients;
  double residual = 0;
  int unknowns = 0;
  ModeRadiationKind kind = ModeRadiationKind::multipole;
};

/// Normal velocity of fields, one a column, at the points of a surface, by -dp/dn / (i w rho): what the
/// surface would have to do to make the field. `area_weighted` multiplies each row by the root of its area.
using FieldMatrix = Eigen::MatrixXcd;

/// Amplitudes x for which fields * x is nearest to `velocity`: least squares, columns scaled to one length,
/// with a small ridge.
[[nodiscard]] Eigen::VectorXcd fit_fields(const FieldMatrix& fields, const Eigen::VectorXd& velocity);

/// A fit and what it misses.
struct CheckedFit {
  Eigen::VectorXcd x;  ///< of as many columns as are used, the first ones
  double residual =
      1;  ///< at the points of the check; 1 for none, which is better than a fit that misses more
};

/// Of fits with ridges of several sizes and with the first `counts` of the columns (ascending), the one that
/// misses least of `wanted` at points that were not fitted, whose fields are `check`. x has no entries when
/// none is better than silence.
[[nodiscard]] CheckedFit fit_checked(const FieldMatrix& fields, const Eigen::VectorXd& velocity,
                                     const FieldMatrix& check, const Eigen::VectorXd& wanted,
                                     std::span<const Eigen::Index> counts);

/// |fields x - velocity| / |velocity|; 0 for a surface at rest.
[[nodiscard]] double relative_residual(const FieldMatrix& fields, const Eigen::VectorXcd& x,
                                       const Eigen::VectorXd& velocity);

/// Area-weighted normal velocity of a mode.
[[nodiscard]] Eigen::VectorXd weighted_velocity(const SurfacePoints& surface, Index mode);

/// Area-weighted normal velocity of the outgoing waves h_n(k r) Y(n, m) about a centre.
[[nodiscard]] FieldMatrix multipole_fields(const SurfacePoints& surface, const Vec3& centre, int order,
                                           double wave_number, const Air& air);

/// Harmonics up to order `needed`, at most `max_order`, of a far field known in the directions of a rule.
/// Where they are cut off the power that is left out is given to the others.
void expand_far_field(const SphereRule& rule, std::span<const Complex> values, int needed, int max_order,
                      ModeFarField& result);

struct MultipoleFit {
  Vec3 centre = Vec3::Zero();
  double radius = 0;  ///< of the body about the centre [m]
  int max_order = 0;
  Air air = {};
};

/// Fits multipoles to a mode: of the orders up to k a + 4, at most max_order, those that miss least at the
/// points of `check`.
[[nodiscard]] ModeFarField fit_multipoles(const SurfacePoints& fitted, const SurfacePoints& check, Index mode,
                                          double omega, const MultipoleFit& fit);

}  // namespace thrum::sound
