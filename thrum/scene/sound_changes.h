// SPDX-License-Identifier: MIT
// Changes of materials and bodies that are heard without simulating again, as of thrum sound --set:
//
//   materials.ceramic.gain=2       materials.ceramic.alpha=20       bodies.mug.gain=0.5
//   bodies.box.material=wood       bodies.box.sound=true
//   material_pairs.steel,wood.roughness=2e-6
//
// A body that was silent, or had no material, rings when it is given one: its contacts are in the recording
// as those of all others. Masses and motion stay as they were simulated.
#pragma once

#include <string>
#include <vector>

#include "thrum/scene/sound_notes.h"

namespace thrum::scene {

/// Whether a setting is of a material, a pair of materials or a body.
[[nodiscard]] bool is_sound_change(const std::string& setting);

/// Applies those settings, and leaves the others. The name of a repeated body stands for all that it made.
/// Throws Error, which lists what is wrong with each.
void apply_sound_changes(SoundNotes& notes, const std::vector<std::string>& settings);

}  // namespace thrum::scene
