// SPDX-License-Identifier: MIT
// What each mode of a body radiates in every direction, computed once and cached.
//
//   const RadiationMap map = bake_radiation_cached(modes, {}, cache);
//   std::vector<std::complex<double>> amplitudes(map.mode_count());
//   map.amplitudes(departure_b, amplitudes);
//
// A mode whose velocity is q'(t) = Re u(t), u ~ exp(i w t), has the pressure
//
//     p(t) = Re( A(d) u(t - r/c) ) / r                                                                   (1)
//
// far away at distance r from `centre` in direction d; A [Pa m / (kg^1/2 m/s)] is complex and is stored as
// spherical harmonics. docs/methods/radiation.md has the equations of the methods.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "thrum/base/cache.h"
#include "thrum/model/modal_model.h"
#include "thrum/sound/air.h"

namespace thrum::sound {

enum class RadiationMethod {
  multipole,           ///< one centre; for compact bodies
  equivalent_sources,  ///< one centre, sources inside, or sources on the surface: what fits
};

struct RadiationDesc {
  RadiationMethod method = RadiationMethod::equivalent_sources;
  Air air = {};
  double max_residual = 0.5;   ///< a mode that misses more radiates by the scalar formula
  int max_order = 24;          ///< of the stored harmonics, and of the multipoles
  int max_sources = 250;       ///< equivalent sources; two unknowns each
  double tolerance = 0.05;     ///< sources are added until the residual is below
  int points_per_unknown = 3;  ///< of the surface, at least
};

/// Names of how a mode came out.
enum class ModeRadiationKind : std::uint8_t {
  multipole,
  equivalent_sources,
  surface_sources,
  scalar,  ///< the fit missed too much or is louder than can be: scalar_radiation()
};

/// The far field of all modes.
struct RadiationMap {
  Vec3 centre = Vec3::Zero();  ///< distances and directions are from here, in the axes of the model [m]
  std::vector<int> orders;     ///< of the harmonics, by mode
  /// By mode: harmonics 0 ... harmonic_count(order) - 1 [Pa m / (kg^1/2 m/s)].
  std::vector<std::vector<std::complex<float>>> coefficients;
  /// By mode: how much of the surface's normal velocity the fitted field misses, as a ratio of root mean
  /// squares at points that were not fitted. The error bar: 0.1 is about 1 dB.
  std::vector<double> residuals;
  std::vector<int> unknowns;             ///< by mode: how many were fitted
  std::vector<ModeRadiationKind> kinds;  ///< by mode
  bool from_cache = false;

  [[nodiscard]] std::size_t mode_count() const { return orders.size(); }
  /// A of (1) for all modes in a direction, unit, in the axes of the model.
  void amplitudes(const Vec3& direction, std::span<std::complex<double>> out) const;
  /// Root mean square of |A| over all directions.
  [[nodiscard]] double mean_amplitude(std::size_t mode) const;
};

/// Throws Error when the model has no closed surface with an inside or a setting makes no sense. The modes
/// are computed in parallel; the result does not depend on the number of threads.
[[nodiscard]] RadiationMap bake_radiation(const model::ModalModel& model, const RadiationDesc& desc = {});

/// The same from the cache, under a key of surface, shapes, frequencies and settings.
[[nodiscard]] RadiationMap bake_radiation_cached(const model::ModalModel& model, const RadiationDesc& desc,
                                                 const base::Cache& cache);

}  // namespace thrum::sound
