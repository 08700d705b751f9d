// SPDX-License-Identifier: MIT
// Names in a scene file, each with the place where it stands.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "thrum/scene/mistakes.h"

namespace thrum::scene {

/// A folder or a file that a scene names, relative to the file that names it.
struct FileName {
  std::filesystem::path path;  ///< empty: none
  ValueLocation place;
};

/// The name of something listed elsewhere in the scene.
struct NameRef {
  std::string name;  ///< empty: none
  ValueLocation place;
};

/// Several names, or one.
struct NameList {
  std::vector<NameRef> names;
};

}  // namespace thrum::scene
