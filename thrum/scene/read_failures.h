// SPDX-License-Identifier: MIT
// What is in doubt after mistakes were found in a scene file.
//
// Mistakes in keys and mistakes in what the values mean are reported together. Some of the latter only follow
// from the former: a body whose "shap" was not read has no shape, and the materials of a list
// called "materals" are unknown. Those are not reported until the first mistake is fixed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "thrum/scene/mistakes.h"

namespace thrum::scene {

class ReadFailures {
 public:
  explicit ReadFailures(std::vector<Mistake> mistakes) : mistakes_(std::move(mistakes)) {}

  /// Whether the key of the object at `object` may be there and was not read: its value is wrong, or an
  /// unknown key stands beside it that may be meant for it.
  [[nodiscard]] bool may_hide(const ValueLocation& object, const std::string& key) const;

  /// Whether a list of the scene ("bodies") may hold names that were not read.
  [[nodiscard]] bool may_hide_names(const std::string& list) const;

 private:
  std::vector<Mistake> mistakes_;
};

}  // namespace thrum::scene
