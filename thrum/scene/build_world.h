// SPDX-License-Identifier: MIT
// A running world from a scene.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/progress.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/material.h"
#include "thrum/scene/scene_file.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"

namespace thrum::scene {

/// How a body looks. Meshes are shared by bodies of one shape.
struct BodyVisual {
  std::string name;
  std::size_t mesh = 0;  ///< index into BuiltScene::meshes
  Colour colour{0.8f, 0.8f, 0.8f};
};

/// Scripted actions on a body, by number instead of name.
struct ScriptedImpulse {
  model::BodyId body;
  double time = 0;                 ///< [s]
  Vec3 impulse = Vec3::Zero();     ///< [N s]
  Vec3 position_b = Vec3::Zero();  ///< in body axes [m]
};
struct ScriptedForce {
  model::BodyId body;
  std::vector<double> times;       ///< [s]
  std::vector<Vec3> forces;        ///< [N]
  Vec3 position_b = Vec3::Zero();  ///< in body axes [m]

  /// Straight lines between the values, none before the first and after the last.
  [[nodiscard]] Vec3 at(double time) const;
};

struct BuiltScene {
  std::shared_ptr<sim::Responder> responder;  ///< empty: nothing rings
  sim::World world;
  std::vector<BodyVisual> visuals;                                ///< by BodyId
  std::vector<std::shared_ptr<const mesh::TriangleMesh>> meshes;  ///< in shape axes; a plane has no triangles
  std::vector<model::Material> materials;                         ///< by BodyId: elastic properties
  std::vector<ScriptedImpulse> impulses;                          ///< by time
  std::vector<ScriptedForce> forces;
  /// Of the bodies that ring, by name; repeated bodies of one shape share the model under NAME without the
  /// number.
  std::map<std::string, std::shared_ptr<const model::ModalModel>> modes;

  /// Does what the script wants in the step from `time` to `time` + `h`, then takes the step.
  void step(double time, double h);
};

/// Throws SceneError for shapes that cannot be made, with the place in the file.
/// `progress` is for the modes that are not in the cache yet. Throws base::Stopped when asked to stop.
[[nodiscard]] BuiltScene build_world(const SceneDesc& scene, const base::ProgressDesc& progress = {
                                                                 .style = base::ProgressStyle::quiet});

/// The modes of a body that rings, from its file or from the shape and the material; computed ones are cached
/// on disk. It is held where its `clamp` says, and in the boxes `standing` (sim/support_regions.h). Throws
/// Error for what cannot ring.
[[nodiscard]] std::shared_ptr<const model::ModalModel> modes_of(
    const RingsEntry& rings, const std::string& name, const mesh::TriangleMesh& mesh,
    const model::Material& material, std::span<const Box3> standing = {},
    const base::ProgressDesc& progress = {.style = base::ProgressStyle::quiet});

/// The attenuation of `desc` with the values fitted to the body's own modes: struck and felt where the
/// surface faces `up` (in the axes of the model; zero: anywhere). `step` is that of the simulation [s].
[[nodiscard]] vibration::AttenuationSettings fitted_attenuation(const model::ModalModel& model,
                                                                const vibration::BodyResponseDesc& desc,
                                                                const Vec3& up, double step);

/// Shapes as contact sees them and as pictures show them.
struct BuiltShape {
  model::Shape shape;
  std::shared_ptr<const mesh::TriangleMesh> mesh;
};
/// `moving` shapes get a distance field when they are not convex.
[[nodiscard]] BuiltShape build_shape(const SceneShape& shape, bool moving);
/// The same with its lengths along x, y and z multiplied. Meshes and hulls only.
[[nodiscard]] BuiltShape build_scaled(const SceneShape& shape, const Vec3& factors, bool moving);

}  // namespace thrum::scene
