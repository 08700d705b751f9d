// SPDX-License-Identifier: MIT
// A free body struck by a small hard ball, heard from one side.
//
//   const AudioBuffer hit = strike_body(model, {{.position = rim, .speed = 1}}, {});
//
// The ball arrives at a speed and leaves; the impulse follows from the masses and the restitution, the
// duration from Hertz' contact.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "thrum/sound/audio.h"
#include "thrum/sound/sound_model.h"

namespace thrum::sound {

struct Strike {
  double time = 0;                     ///< [s]
  Vec3 position = Vec3::Zero();        ///< the nearest point of the surface is struck [m]
  double speed = 1;                    ///< of the ball [m/s]
  std::optional<Vec3> direction = {};  ///< it flies in, into the surface; default: along its normal
};

struct StrikeDesc {
  SynthesisSettings settings = {};
  double striker_mass = 0.005;   ///< [kg]
  double striker_radius = 0.01;  ///< [m]
  model::Material striker = {.name = "steel", .density = 7850, .young = 2e11, .poisson = 0.29};
  double restitution = 0.5;
  double distance = 1;  ///< of the listener from the body [m]
  double duration = 2;  ///< of the sound, from 0 on [s]
};

/// One channel, without the time that the sound travels. Throws Error for a model without modes, and for
/// masses, radii, speeds and distances that are not positive.
[[nodiscard]] AudioBuffer strike_body(const std::shared_ptr<const SoundModel>& model,
                                      const std::vector<Strike>& strikes, const StrikeDesc& desc = {});

}  // namespace thrum::sound
