// SPDX-License-Identifier: MIT
// A running world from a scene.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "thrum/base/progress.h"
#include "thrum/mesh/triangle_mesh.h"
#include "thrum/model/material.h"
#include "thrum/scene/scene_file.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"
#include "thrum/sound/synthesis.h"

namespace thrum::scene {

/// How a body looks. Meshes are shared by bodies of one shape.
struct BodyVisual {
  std::string name;
  std::size_t mesh = 0;  ///< index into BuiltScene::meshes
  Colour colour{0.8f, 0.8f, 0.8f};
};

/// Whether a body is heard, and where its modes come from.
struct BodySound {
  bool sounds = true;               ///< it has a material and the scene has sound
  std::optional<RingsEntry> rings;  ///< none: modes of the free body
  double gain = 1;                  ///< of the body alone
  double material_gain = 1;
  model::Roughness roughness = {};  ///< of its material
};

/// Scripted actions on a body, by number instead of name.
struct ScriptedImpulse {
  std::size_t body = 0;
  double time = 0;                 ///< [s]
  Vec3 impulse = Vec3::Zero();     ///< [N s]
  std::optional<Vec3> position_s;  ///< in shape axes; default: the centre of mass [m]
};
struct ScriptedForce {
  std::size_t body = 0;
  std::vector<double> times;       ///< [s]
  std::vector<Vec3> forces;        ///< [N]
  std::optional<Vec3> position_s;  ///< in shape axes; default: the centre of mass [m]

  /// Straight lines between the values, none before the first and after the last.
  [[nodiscard]] Vec3 at(double time) const;
};

/// A body that appears, or is removed, while the scene runs.
struct BodyChange {
  double time = 0;  ///< [s]
  std::size_t body = 0;
  bool removes = false;
};

/// A body that is not in the world from the beginning, with what makes it ring.
struct LateBody {
  sim::BodyDesc desc;
  double modulus = 0;                              ///< for the response to impacts [Pa]
  std::shared_ptr<const model::ModalModel> modes;  ///< empty: it does not ring
  vibration::BodyResponseDesc response;
};

/// A joint of a body that is not in the world from the beginning.
struct LateJoint {
  JointEntry entry;
  std::size_t a = 0;
  std::optional<std::size_t> b;  ///< default: the world
  bool is_added = false;
};

/// Bodies are numbered in the order of the scene, those that appear later included.
struct BuiltScene {
  std::shared_ptr<sim::Responder> responder;  ///< empty: nothing rings
  sim::World world;
  std::vector<BodyVisual> visuals;                                ///< by number
  std::vector<std::shared_ptr<const mesh::TriangleMesh>> meshes;  ///< in shape axes; a plane has no triangles
  std::vector<model::Material> materials;                         ///< by number: elastic properties
  std::vector<BodySound> sounds;                                  ///< by number
  std::vector<sound::RoughnessPair> roughness_pairs;              ///< of materials, by name
  std::vector<ScriptedImpulse> impulses;                          ///< by time
  std::vector<ScriptedForce> forces;
  /// Of the bodies that ring, by name; repeated bodies of one shape share the model under NAME without the
  /// number.
  std::map<std::string, std::shared_ptr<const model::ModalModel>> modes;
  std::vector<model::BodyId> ids;               ///< by number; none: it has not appeared yet
  std::vector<BodyChange> changes;              ///< by time; of those at one time, removals first
  std::size_t changes_done = 0;                 ///< of these
  std::map<std::size_t, LateBody> late_bodies;  ///< by number
  std::vector<LateJoint> late_joints;

  /// Adds and removes the bodies whose time has come, between the steps of length `h` that end and begin at
  /// `time`. Bodies are added where the scene puts them. Returns whether there were any.
  bool apply_changes(double time, double h);
  [[nodiscard]] bool has_changes(double time, double h) const;
  /// Applies the changes at `time`, applies the script in the step from `time` to `time` + `h`, then
  /// takes the step.
  void step(double time, double h);
  /// The frame of the joint is the same in the world for both bodies, where they are now.
  void add_joint(const JointEntry& entry, model::BodyId a, model::BodyId b);
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
