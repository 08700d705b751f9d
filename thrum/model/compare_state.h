// SPDX-License-Identifier: MIT
// Whether two states are the same to the last bit, and if not, where they differ first. Both look at every
// field (visit_state.h); doubles are compared by their bits, so 0.0 and -0.0 differ and a NaN equals itself.
#pragma once

#include <optional>
#include <string>

#include "thrum/base/hash.h"
#include "thrum/model/scene.h"

namespace thrum::model {

[[nodiscard]] base::Hash128 hash_of(const SceneState& state);

struct StateDifference {
  std::string field;  ///< "bodies[3].velocity.z"; "bodies.size" when the lengths of a list differ
  std::string a;      ///< its value in each, with all digits
  std::string b;

  /// "bodies[3].velocity.z: -0.1 and -0.2"
  [[nodiscard]] std::string text() const { return field + ": " + a + " and " + b; }
};

/// The first in the order of visit_fields(); empty when the two are the same.
[[nodiscard]] std::optional<StateDifference> first_difference(const SceneState& a, const SceneState& b);

}  // namespace thrum::model
