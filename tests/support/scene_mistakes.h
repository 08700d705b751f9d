// SPDX-License-Identifier: MIT
// What a scene's text is rejected for.
#pragma once

#include <string>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_file.h"

namespace thrum::support {

/// The message, or "none".
inline std::string mistakes_of(const std::string& text, const scene::ReadSceneDesc& desc = {})
{
  try {
    static_cast<void>(scene::parse_scene(text, "s.json", desc));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// The paths of the keys, in the order of the file.
inline std::vector<std::string> paths_of_mistakes(const std::string& text)
{
  std::vector<std::string> paths;
  try {
    static_cast<void>(scene::parse_scene(text, "s.json"));
  } catch (const scene::SceneError& error) {
    for (const scene::Mistake& mistake : error.mistakes()) paths.push_back(mistake.place.path);
  }
  return paths;
}

}  // namespace thrum::support
