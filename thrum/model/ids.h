// SPDX-License-Identifier: MIT
// How the parts of a scene name each other. An index is a position in the arrays of SceneModel and SceneState
// and is used inside a step; an id is what a user keeps between steps, and stays the same when other parts
// are added or removed.
#pragma once

#include <cstdint>

#include "thrum/base/id.h"

namespace thrum::model {

using ShapeIndex = std::int32_t;    ///< into SceneModel::shapes
using SurfaceIndex = std::int32_t;  ///< into SceneModel::surfaces
using BodyIndex = std::int32_t;     ///< into SceneModel::bodies and SceneState::bodies
using JointIndex = std::int32_t;    ///< into SceneModel::joints and SceneState::joints

inline constexpr std::int32_t kNone = base::kNoIndex;  ///< as a joint's second body it means the world

using ShapeId = base::Id<struct ShapeTag>;
using SurfaceId = base::Id<struct SurfaceTag>;
using BodyId = base::Id<struct BodyTag>;
using JointId = base::Id<struct JointTag>;

inline constexpr SurfaceId kDefaultSurface{0, 0, 0};  ///< the surface that every scene has

}  // namespace thrum::model
