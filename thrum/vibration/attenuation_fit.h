// SPDX-License-Identifier: MIT
// The parameters of the attenuated response from the body's own modes [Coevoet20, section 5.3 and Figure 10].
//
//   const AttenuationSamples samples = sample_attenuation(model, {});       // how much arrives how far away
//   const AttenuationFit fit = fit_attenuation(samples.samples);            // eq. 14, and C r^-beta
//   AttenuatedResponse response(shared_model, settings, fit.simple.settings);
//
// Random places of the surface are struck; at other places the largest speed along the normal is divided by
// that of the struck place itself, so that the fitted factor belongs to the same modes that
// AttenuatedResponse takes the struck place's motion from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/modal_model.h"
#include "thrum/vibration/response_settings.h"

namespace thrum::vibration {

/// What one impact does at one other place.
struct AttenuationSample {
  double distance = 0;  ///< from the struck place [m]
  double ratio = 0;     ///< largest motion there over largest motion of the struck place
  Vec3 struck = Vec3::Zero();
  Vec3 receiver = Vec3::Zero();
};

enum class AttenuationMeasure : std::uint8_t {
  speed,        ///< largest outward speed, for the rules that know velocities
  displacement  ///< largest displacement either way, for peak_displacement [Coevoet20, eq. 11]
};

struct AttenuationSampleDesc {
  int impact_count = 32;    ///< places that are struck
  int probe_count = 48;     ///< points at which each impact is measured
  std::uint64_t seed = 1;   ///< of the places
  double window = 0.02;     ///< after the impact [s]
  double min_distance = 0;  ///< pairs nearer than this are left out; 0: the mean edge of the surface [m]
  AttenuationMeasure measure = AttenuationMeasure::speed;
  WaveDistance distance = WaveDistance::geodesic;
  bool average = false;  ///< divide by the mean over all impacts, as AttenuationSettings::average
  /// Only places whose normal is within 60 degrees of this; default: the whole surface.
  std::optional<Vec3> facing = std::nullopt;
};

/// How the response with these settings measures: its window, its distances, its mean. The paper's rule looks
/// at the displacement within one step of the simulation [s].
[[nodiscard]] AttenuationSampleDesc sample_desc(const ResponseSettings& settings,
                                                const AttenuationSettings& attenuation, double step);

struct AttenuationSamples {
  std::vector<AttenuationSample> samples;
  int held = 0;  ///< places left out because they hardly move: where the body is held
};

/// Throws Error for a model without modes or surface, and when no place faces the wanted way.
[[nodiscard]] AttenuationSamples sample_attenuation(const model::ModalModel& model,
                                                    const AttenuationSampleDesc& desc = {});

/// One curve through the samples.
struct AttenuationCurve {
  AttenuationSettings settings;  ///< ready for AttenuatedResponse
  /// Factor within which two thirds of the samples or more lie: exp of the root mean square of ln(sample /
  /// curve).
  double spread = 1;
};

struct AttenuationFit {
  AttenuationCurve full;    ///< eq. 14: alpha, beta, r0
  AttenuationCurve simple;  ///< C r^-beta
  std::size_t count = 0;    ///< samples used: those with a positive distance and ratio
};

/// Least squares of the logarithms with alpha, beta >= 0. Throws Error for fewer than kMinSamples usable
/// samples, or when all are equally far.
[[nodiscard]] AttenuationFit fit_attenuation(std::span<const AttenuationSample> samples);

/// `settings` with C and beta, or for eq. 14 alpha, beta and r0, and the least distance, from the fit.
[[nodiscard]] AttenuationSettings with_fit(AttenuationSettings settings, const AttenuationFit& fit);

inline constexpr std::size_t kMinSamples = 8;

}  // namespace thrum::vibration
