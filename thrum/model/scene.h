// SPDX-License-Identifier: MIT
// The two halves of a scene. A step reads SceneModel and writes SceneState, so `const` says which is which.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/model/body.h"
#include "thrum/model/contact.h"
#include "thrum/model/joint.h"
#include "thrum/model/shape.h"
#include "thrum/model/surface.h"

namespace thrum::model {

/// What is fixed while the scene runs.
struct SceneModel {
  Vec3 gravity{0, 0, -9.81};  ///< [m/s^2]
  double length_scale = 1.0;  ///< size of a usual body [m]; the geometric tolerances are fractions of it
  std::vector<Shape> shapes;
  std::vector<Surface> surfaces{Surface{}};
  std::vector<SurfacePair> surface_pairs;
  std::vector<BodyDesc> bodies;
  std::vector<JointDesc> joints;
};

/// What changes. Saved, restored and hashed as a whole.
struct SceneState {
  double time = 0.0;  ///< [s]
  std::uint64_t step = 0;
  double last_step =
      0.0;  ///< length of the last step [s]; impulses to start from are scaled by the new one's share of it
  std::uint64_t random_state = 0;
  std::vector<BodyState> bodies;
  std::vector<JointState> joints;
  std::vector<ContactPatch> patches;  ///< contact memory, ordered by bodies and parts
};

}  // namespace thrum::model
