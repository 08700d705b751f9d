// SPDX-License-Identifier: MIT
// How a body answers impacts. The defaults are for things that a person can lift; scene files name each of
// them.
#pragma once

#include <cstdint>

#include "thrum/base/vec.h"

namespace thrum::vibration {

/// How vibration becomes a kick.
enum class KickRule : std::uint8_t {
  automatic,  ///< micro_collisions, as exact as the time budget allows; exchange where modes are missing
  peak_displacement,  ///< largest displacement in the step / step [Coevoet20, eq. 11-12]
  peak_velocity,      ///< largest outward speed of the surface, whatever the step
  exchange,           ///< surface and body trade momentum at that moment, each with its own effective mass
  micro_collisions    ///< modes and bodies together with one-sided contacts at a fraction of a millisecond
};

/// How a kick enters the rigid simulation.
enum class KickForm : std::uint8_t {
  speed,   ///< as a separation speed wanted from the solver, in b of [Coevoet20, eq. 2]
  impulse  ///< as an impulse through the effective mass [Coevoet20, eq. 17-19]
};

/// What becomes of the vibration at the end of a step.
enum class VibrationAfterStep : std::uint8_t {
  keep,  ///< it goes on ringing; a later impact adds its energy, and is answered from rest
  reset  ///< each impact finds the body at rest
};

struct MicroSettings {
  double step = 4e-5;            ///< [s]; usual 1e-5 to 1e-4
  int sweeps = 6;                ///< over the closed contacts in each, before Newton's method takes over
  double steps_per_impact = 10;  ///< substeps in the contact time of an impact; shorter ones than `step`
  bool tail_modes = true;        ///< stand for modes above the highest at an impact too short for them
  bool friction = true;          ///< resting bodies rub
};

struct ResponseSettings {
  KickRule rule = KickRule::automatic;
  KickForm form = KickForm::speed;  ///< of peak_displacement, peak_velocity; the other two give impulses
  VibrationAfterStep vibration_after_step = VibrationAfterStep::keep;

  // What counts.
  double min_impulse = 0.02;  ///< of an impact; smaller ones do nothing [N s]
  double min_speed = 0.02;    ///< of approach; slower ones do nothing [m/s]
  double min_kick = 1e-3;     ///< slower ones are left out [m/s]
  double max_offset = 0.05;   ///< of a contact from the surface, as a share of its size; others are left out

  double max_gap = 5e-4;  ///< of a contact that counts as resting [m]

  /// For which the vibration is followed after an impact; not peak_displacement. 0: kDefaultWindow, or the
  /// period of the lowest mode where that is longer: what stands beside the impact is thrown only when the
  /// surface swings back (response_window() in response_context.h) [s].
  double window = 0;
  double contact_radius = 0.01;  ///< radius of curvature at contacts, for the duration of impacts [m]
  /// Of one response with KickRule::automatic, which saves what does not change its kicks in the mean; where
  /// that is not enough, it takes longer and says so [s].
  double time_budget = 2e-3;
  bool limit_energy = true;  ///< kicks never exceed what the impacts lost
  bool tangential = false;   ///< kicks across the normal too
  MicroSettings micro;

  // [Coevoet20] to the letter; only with peak_displacement.
  bool paper_filter = false;  ///< coefficients of James and Pai, sampled at pi / (2 w_max)
};

/// The paper's choices: eq. 10-13 with its filter and sampling, restarted in each step, no account of energy.
/// Sets these five and leaves all others as they are.
inline void apply_coevoet2020(ResponseSettings& settings)
{
  settings.rule = KickRule::peak_displacement;
  settings.form = KickForm::speed;
  settings.vibration_after_step = VibrationAfterStep::reset;
  settings.limit_energy = false;
  settings.paper_filter = true;
}

[[nodiscard]] inline ResponseSettings coevoet2020()
{
  ResponseSettings settings;
  apply_coevoet2020(settings);
  return settings;
}

// How waves grow weaker with distance in large bodies: the attenuated response [Coevoet20, section 4.4],
// whose equations are in attenuation.h.

enum class WaveDistance : std::uint8_t {
  geodesic,  ///< along the surface
  euclidean  ///< straight, for flat ground
};

struct AttenuationSettings {
  bool full = false;           ///< eq. 14; otherwise C r^-beta
  double C = 1;                ///< [m^beta]; 0.4 to 1 plausible, 1 to 2 exaggerated
  double alpha = 0.048;        ///< absorption [1/m]
  double beta = 1;             ///< 0 rods, 0.5 shells, 1 volumes
  double r0 = 0.033;           ///< of eq. 14 [m]
  double min_distance = 0.25;  ///< nearer points count as that far off [m]
  bool average = false;        ///< the mean motion of all upward vertices instead of that of the struck place
  WaveDistance distance = WaveDistance::geodesic;
  bool arrival_delay = false;  ///< kicks arrive after distance / wave speed
  double wave_speed = 0;       ///< 0: that of Rayleigh waves in the material [m/s]
};

/// Eq. 14 or its simple form at distance r [m].
[[nodiscard]] double attenuation(const AttenuationSettings& settings, double r);

}  // namespace thrum::vibration
