// SPDX-License-Identifier: MIT
// Numbers by which the parts of a scene name each other: positions in the arrays of SceneModel.
#pragma once

#include <cstdint>

namespace thrum::model {

using ShapeId = std::int32_t;    ///< index into SceneModel::shapes
using SurfaceId = std::int32_t;  ///< index into SceneModel::surfaces
using BodyId = std::int32_t;     ///< index into SceneModel::bodies and SceneState::bodies
using JointId = std::int32_t;    ///< index into SceneModel::joints and SceneState::joints

inline constexpr std::int32_t kNone = -1;  ///< names nothing; as a joint's second body it means the world

}  // namespace thrum::model
