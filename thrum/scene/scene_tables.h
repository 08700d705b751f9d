// SPDX-License-Identifier: MIT
// The tables of a scene file: see object_table.h.
#pragma once

#include "thrum/scene/object_table.h"
#include "thrum/scene/scene_file.h"

namespace thrum::scene {

/// A table that is made once, when it is first asked for.
#define THRUM_TABLE(Type, function, ...)                \
  const ObjectTable<Type>& function()                   \
  {                                                     \
    static const ObjectTable<Type> table = __VA_ARGS__; \
    return table;                                       \
  }

// Rules that many keys have.
[[nodiscard]] inline ValueRule fraction(const char* key, const char* doc)
{
  return {.key = key, .doc = doc, .bounds = between(0, 1)};
}
[[nodiscard]] inline ValueRule non_negative(const char* key, const char* unit, const char* doc)
{
  return {.key = key, .unit = unit, .doc = doc, .bounds = at_least(0)};
}

[[nodiscard]] const ObjectTable<SceneDesc>& scene_table();
[[nodiscard]] const KindTable<SceneShape>& shape_table();
[[nodiscard]] const KindTable<RepeatDesc>& repeat_table();
[[nodiscard]] const ObjectTable<BodyEntry>& body_table();

[[nodiscard]] const ObjectTable<IncludeEntry>& include_table();

// Settings.
[[nodiscard]] std::vector<std::pair<std::string, vibration::ResponseMethod>> method_names();
[[nodiscard]] const ObjectTable<sim::WorldDesc>& stepper_table();
[[nodiscard]] const ObjectTable<rigid::SleepSettings>& sleep_table();
[[nodiscard]] const ObjectTable<ResponseEntry>& response_table();
[[nodiscard]] const ObjectTable<AttenuationEntry>& attenuation_table();
[[nodiscard]] const ObjectTable<CameraEntry>& camera_table();
[[nodiscard]] const ObjectTable<ListenerEntry>& listener_table();
[[nodiscard]] const ObjectTable<SoundEntry>& sound_table();
[[nodiscard]] const ObjectTable<OutputEntry>& output_table();

}  // namespace thrum::scene
