// SPDX-License-Identifier: MIT
// What can be changed about the sound of a run without simulating again.
#pragma once

#include <cstdint>
#include <optional>

namespace thrum::sound {

/// How the sound of a mode depends on the direction.
enum class SoundRadiation {
  scalar,              ///< not at all: scalar_radiation.h
  multipole,           ///< radiation_map.h, computed once for a body and cached
  equivalent_sources,  ///< likewise
};

struct SynthesisSettings {
  int sample_rate = 48000;       ///< [Hz]
  double min_frequency = 20;     ///< modes below are not heard [Hz]
  double max_frequency = 20000;  ///< modes above are left out [Hz]
  int modes = 60;                ///< of a body, at most, lowest first
  bool diffuse_modes = true;     ///< stand for those of a body beyond `modes`, up to max_frequency
  double max_tetrahedra = 20e3;  ///< about, of a body whose modes are computed
  SoundRadiation radiation = SoundRadiation::scalar;
  double contact_damping_scale = 1;  ///< of gamma of the materials; 1: as published
  /// Fluctuation of the force of every sliding contact, as a share of it, with an exponent of 0.5. None: that
  /// of the materials (roughness.h).
  std::optional<double> roughness = {};
  double rolling = 0.3;             ///< fluctuation of a rolling contact against that of a sliding one
  bool acceleration_noise = true;   ///< the click of a body that changes its speed
  double min_impact_speed = 0.005;  ///< slower contacts press without striking [m/s]
  std::uint64_t seed = 0;           ///< of the roughness
};

}  // namespace thrum::sound
