// SPDX-License-Identifier: MIT
// The two halves of a scene. A step reads SceneModel and writes SceneState, so `const` says which is which.
#pragma once

#include <cstdint>
#include <vector>

#include "thrum/base/index.h"
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
  double length_scale = 1.0;  ///< size of a typical body [m]; the geometric tolerances are fractions of it
  std::vector<Shape> shapes;
  std::vector<Surface> surfaces{Surface{}};
  std::vector<SurfacePair> surface_pairs;
  std::vector<BodyProperties> bodies;
  std::vector<Joint> joints;
};

/// The coefficients between two bodies: those listed for their pair of surfaces, or the smaller of each.
[[nodiscard]] inline Surface surface_between(const SceneModel& model, BodyIndex a, BodyIndex b)
{
  const SurfaceIndex sa = at(model.bodies, a).surface;
  const SurfaceIndex sb = at(model.bodies, b).surface;
  for (const SurfacePair& pair : model.surface_pairs) {
    if ((pair.a == sa && pair.b == sb) || (pair.a == sb && pair.b == sa)) return pair.values;
  }
  return min_coefficients(at(model.surfaces, sa), at(model.surfaces, sb));
}

/// How a body rings: amplitudes of its modes and their speeds.
struct ModalState {
  BodyId body = {};
  std::vector<double> q;  ///< [kg^1/2 m]
  std::vector<double> v;  ///< [kg^1/2 m/s]
};

/// A kick of the distant response that is still under way.
struct PendingKick {
  BodyId body = {};
  double time = 0;              ///< when it arrives [s]
  Vec3 impulse = Vec3::Zero();  ///< world [N s]
  Vec3 arm_b = Vec3::Zero();    ///< from the centre of mass to where it acts, in body axes [m]
  double energy = 0;            ///< that it may bring to the body; below 0: any [J]
};

/// What changes. Saved, restored, hashed and compared as a whole: visit_state.h lists the fields.
struct SceneState {
  double time = 0.0;  ///< [s]
  std::uint64_t step = 0;
  double last_step =
      0.0;  ///< length of the last step [s]; impulses to start from are scaled by the new one's share of it
  std::vector<BodyId> body_ids;  ///< of `bodies`, which are in the order in which they were added
  std::vector<BodyState> bodies;
  std::vector<JointId> joint_ids;  ///< of `joints`, likewise
  std::vector<JointState> joints;
  std::vector<ContactPatch> patches;         ///< contact memory, ordered by bodies and parts
  std::vector<PairReference> references;     ///< of pairs whose contacts may be kept, ordered by bodies
  std::vector<ContactPatch> sensor_patches;  ///< what overlaps sensors, ordered likewise; never solved
  std::vector<ModalState> modal_states;      ///< of bodies that ring at the moment
  std::vector<PendingKick> pending_kicks;    ///< in the order in which they were sent
};

}  // namespace thrum::model
