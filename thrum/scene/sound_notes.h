// SPDX-License-Identifier: MIT
// What the sound of a run needs beside its motion and its contacts, as a note of the recording: materials,
// where modes come from, the listener and the settings. With it `thrum sound` works from the recording alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/scene/build_world.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {

struct SoundBodyNote {
  bool sounds = true;
  model::Material material;
  std::optional<RingsEntry> rings;
  /// Of the flexible stepper: the file of its modes, in the folder of the run, of which the lowest take part
  /// in contact. Empty: none does.
  std::string simulated_file;
  int simulated_modes = 0;
  double gain = 1;  ///< of the body alone
  double material_gain = 1;
  model::Roughness roughness = {};
  /// That its modes are computed and cached with, where damping alone was changed since.
  std::optional<model::Material> modes_material = {};
};

struct SoundImpulseNote {
  std::string body;
  double time = 0;                 ///< [s]
  Vec3 impulse = Vec3::Zero();     ///< world [N s]
  std::optional<Vec3> position_s;  ///< in shape axes; default: the centre of mass [m]
};

struct SoundNotes {
  SoundEntry sound;
  ListenerEntry listener;
  std::map<std::string, SoundBodyNote> bodies;        ///< by name
  std::vector<sound::RoughnessPair> roughness_pairs;  ///< of materials, by name
  std::vector<SoundImpulseNote> impulses;             ///< by time
  std::vector<std::string> given_modes;  ///< bodies that were given a material or sound afterwards
  std::vector<std::string> warnings;     ///< settings that change less than they seem to
};

/// Throws Error when the contacts in the folder of a run are of another run than its recording, of which
/// `recorded` is the note "run".
void check_same_run(const std::filesystem::path& folder, const std::string& recorded);

/// Of the modes of a body, in the folder "modes" of a run.
[[nodiscard]] std::string modes_file_name(std::string body);
[[nodiscard]] SoundNotes sound_notes(const SceneDesc& scene, const BuiltScene& built);
[[nodiscard]] std::string sound_notes_text(const SoundNotes& notes);
/// `settings` as of --set change the values of "sound" and "listener", and those of materials and bodies that
/// are heard only (sound_changes.h). Throws Error for a text that is no note, and for settings that are
/// wrong, which it names.
[[nodiscard]] SoundNotes parse_sound_notes(std::string_view text,
                                           const std::vector<std::string>& settings = {});

}  // namespace thrum::scene
