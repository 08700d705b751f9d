// SPDX-License-Identifier: MIT
// Changing a scene from the command line: --set stepper.constraint.iterations=4 --set
// bodies.tower.position=[0,0,1].
#pragma once

#include <string>

#include "thrum/scene/located_json.h"

namespace thrum::scene {

/// Sets the value under a path of keys, of indices in brackets, or of names of listed things. The last key is
/// made when it is not there. The value is JSON, or else a text. Throws Error when the path does not lead
/// anywhere.
void apply_setting(JsonValue& root, const std::string& setting);

}  // namespace thrum::scene
