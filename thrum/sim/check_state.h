// SPDX-License-Identifier: MIT
// Whether a state that comes from outside, as from a checkpoint, fits a scene. A step trusts its state: an
// index out of range would be a crash, a NaN would spread to every body.
#pragma once

#include "thrum/model/scene.h"

namespace thrum::sim {

/// Largest number that a state may hold, in SI units. Far beyond all that is simulated, and small enough that
/// a step from it stays finite: the tests step from states with one number of this size (1e30 overflows
/// within three steps).
inline constexpr double kMaxStateNumber = 1e15;

/// Throws Error, with the path of the field, its value and what was expected, unless `state` can be the next
/// state of a scene with these bodies and joints. Every field that visit_state.h lists is checked: a new
/// number of type double must be finite, a new integer has no rule yet and is rejected until check_state.cpp
/// gets one.
void check_state(const model::SceneState& state, const std::vector<model::BodyId>& body_ids,
                 const std::vector<model::JointId>& joint_ids);

}  // namespace thrum::sim
