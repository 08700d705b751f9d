// SPDX-License-Identifier: MIT
// Settings that a scene gives and that nothing reads: those of a stepper that is not chosen, of another rule
// of the response, of a listener without sound.
//
//   scenes/tower.json:9:14: stepper.impulse is not used: stepper.kind is constraint. Choose the stepper ...
//
// A scene may have settings for several steppers, between which `--set stepper.kind` chooses. So a setting of
// the file is not reported where the command line made the choice, nor beside settings of the chosen stepper.
// One that was given on the command line itself is always reported.
#pragma once

#include <string>
#include <vector>

#include "thrum/scene/scene_file.h"

namespace thrum::scene {

/// Full sentences, each with the place in the file or the --set.
[[nodiscard]] std::vector<std::string> unused_settings(const SceneDesc& scene);

}  // namespace thrum::scene
