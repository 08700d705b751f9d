// SPDX-License-Identifier: MIT
// How the parts of a scene name each other. An index is a position in the arrays of SceneModel and SceneState and is used
// inside a step; an id is what a user keeps between steps.
#pragma once

#include <cstdint>

namespace thrum::model {

using ShapeIndex = std::int32_t;    ///< into SceneModel::shapes
using SurfaceIndex = std::int32_t;  ///< into SceneModel::surfaces
using BodyIndex = std::int32_t;     ///< into SceneModel::bodies and SceneState::bodies
using JointIndex = std::int32_t;    ///< into SceneModel::joints and SceneState::joints

using ShapeId = ShapeIndex;
using SurfaceId = SurfaceIndex;
using BodyId = BodyIndex;
using JointId = JointIndex;

inline constexpr std::int32_t kNone = -1;  ///< names nothing; as a joint's second body it means the world

}  // namespace thrum::model
