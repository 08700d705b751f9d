// SPDX-License-Identifier: MIT
// A scene as plain data, and reading it from a file.
//
//   const SceneDesc scene = read_scene("scenes/tower.json", {.settings = {"duration=2"}});
//   BuiltScene built = build_world(scene);
//
// docs/scene_reference.md lists every key; it and schemas/scene.schema.json are made from the tables that the
// reader uses. A file may include others and give them parameters: see scene_reader.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "thrum/base/colour.h"
#include "thrum/base/hash.h"
#include "thrum/model/joint.h"
#include "thrum/scene/located_json.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_names.h"
#include "thrum/scene/scene_shape.h"
#include "thrum/sim/responder.h"
#include "thrum/sim/world.h"
#include "thrum/sim/world_recorder.h"
#include "thrum/sound/listener.h"
#include "thrum/sound/synthesis_settings.h"
#include "thrum/vibration/body_response.h"

namespace thrum::scene {

struct ShapeEntry {
  std::string name;
  SceneShape shape;
  ValueLocation place;
};

/// Elastic and contact properties. What is not given comes from `base`.
struct MaterialEntry {
  std::string name;
  NameRef base;                   ///< a material of the library, or one listed before
  std::optional<double> density;  ///< [kg/m^3]
  std::optional<double> young;    ///< [Pa]
  std::optional<double> poisson;
  std::optional<double> alpha;            ///< Rayleigh damping by mass [1/s]
  std::optional<double> beta;             ///< and by stiffness [s]
  std::optional<double> contact_damping;  ///< gamma of sound/contact_damping.h
  std::optional<double> gain;             ///< of the sound of bodies of it
  std::optional<double> roughness;        ///< root mean square height [m]
  std::optional<double> roughness_exponent;
  std::optional<double> restitution;
  std::optional<double> friction;
  std::optional<double> rolling_friction;   ///< [m]
  std::optional<double> spinning_friction;  ///< [m]
  std::optional<Colour> colour;
  ValueLocation place;
};

/// What two materials do where they touch, instead of the smaller value of each; and how rough they are
/// together, instead of the sum of both. Of the coefficients, when any is given, the others are those of
/// model::Surface.
struct MaterialPair {
  NameRef a;
  NameRef b;
  std::optional<double> restitution;
  std::optional<double> friction;
  std::optional<double> rolling_friction;   ///< [m]
  std::optional<double> spinning_friction;  ///< [m]
  std::optional<double> roughness;          ///< root mean square height of both [m]
  std::optional<double> roughness_exponent;

  /// The coefficients; none when only the roughness is given.
  [[nodiscard]] std::optional<model::Surface> surface() const
  {
    const bool only_roughness = (roughness || roughness_exponent) && !restitution && !friction &&
                                !rolling_friction && !spinning_friction;
    if (only_roughness) return {};
    const model::Surface usual;
    return model::Surface{restitution.value_or(usual.restitution), friction.value_or(usual.friction),
                          rolling_friction.value_or(usual.rolling_friction),
                          spinning_friction.value_or(usual.spinning_friction)};
  }
};

// Ways to repeat a body.
struct GridRepeat {
  std::array<int, 3> count = {1, 1, 1};
  Vec3 spacing = Vec3(1, 1, 1);  ///< [m]
  bool centred = true;           ///< about the body's position in x and y; z always goes up from it
  bool random_rotation = false;  ///< each at random
};
struct StackRepeat {
  int count = 2;
  double spacing = 1;  ///< between neighbours, upwards [m]
  double twist = 0;    ///< of each against the one below, about z [degrees]
};
struct WallRepeat {
  int columns = 4;
  int rows = 4;
  Vec2 spacing = Vec2(1, 1);  ///< along x and along z [m]
  double stagger = 0.5;       ///< odd rows are shifted by this share of the spacing
};
struct PyramidRepeat {
  int rows = 4;               ///< the lowest has as many bodies
  Vec2 spacing = Vec2(1, 1);  ///< along x and along z [m]
};
struct AlongRepeat {
  std::vector<Vec3> points;  ///< corners of a path, relative to the body [m]
  int count = 2;             ///< evenly spaced, both ends included
  bool follow_path = false;  ///< x of each body follows the path
  double twist = 0;          ///< of each against the one before, about the path [degrees]
};
struct ScatterRepeat {
  int count = 10;
  Vec3 size = Vec3(1, 1, 1);    ///< of the box about the body's position [m]
  double min_spacing = 0;       ///< min distance between two positions, as far as there is room [m]
  bool random_rotation = true;  ///< any orientation
  std::optional<std::uint64_t>
      seed;  ///< of this scatter; default: the scene's seed and the place in the scene
};
struct RepeatDesc {
  std::variant<GridRepeat, StackRepeat, WallRepeat, PyramidRepeat, AlongRepeat, ScatterRepeat> data;
};

/// How waves grow weaker with distance.
struct AttenuationEntry {
  bool fit = false;  ///< C and beta, or alpha, beta and r0, and the least distance from the body's own modes
  vibration::AttenuationSettings settings;
};

/// What holds a body while it rings.
enum class SupportKind { clamp, contacts };

/// How a closed shape is filled, and how accurate its modes shall be (elastic/surface_modes.h).
enum class RingsFill { automatic, cut, stuffing, delaunay };
enum class RingsQuality { draft, normal, fine };

/// That a body rings, and how its modes are found.
struct RingsEntry {
  FileName file;   ///< a baked modal file; without it the modes are computed from the shape and the material
  int modes = 20;  ///< how many
  std::string clamp;                          ///< where it is held, in the words of elastic/supports.h
  SupportKind supports = SupportKind::clamp;  ///< contacts: also where it stands at its first rest
  double spacing = 0;                         ///< of the lattice of tetrahedra; 0: chosen by the size [m]
  double thickness = 0;                       ///< of a sheet on both sides of the shape; 0: a solid [m]
  RingsFill fill = RingsFill::automatic;
  RingsQuality quality = RingsQuality::normal;
  std::optional<Vec3> grid;                         ///< cells of a grid instead of the lattice, at most [m]
  std::optional<vibration::ResponseMethod> method;  ///< default: that of the scene
  AttenuationEntry attenuation;
  ValueLocation place;
};

struct BodyEntry {
  std::string name;
  ShapeRef shape;
  std::vector<NameRef> shapes;  ///< dealt out in turn when the body is repeated
  NameRef material;
  Vec3 position = Vec3::Zero();  ///< of the shape's origin [m]
  Quat rotation = Quat::Identity();
  std::optional<double> density;          ///< default: that of the material [kg/m^3]
  NameList group;                         ///< empty: kDefaultGroup (collision_groups.h)
  std::optional<NameList> collides_with;  ///< groups; default: all
  sim::BodyDesc desc;                     ///< all else; velocities in the axes of the file that holds it
  std::optional<Colour> colour;
  std::optional<RingsEntry> rings;
  bool sound = true;                 ///< whether it is heard, when the scene is
  double gain = 1;                   ///< of its sound
  std::optional<Vec2> scale_range;   ///< least and largest factor of lengths along each axis, at random
  std::vector<RepeatDesc> repeat;    ///< each repeats what the one before made
  double appears_at = 0;             ///< [s]; 0: it is there from the beginning
  std::optional<double> removed_at;  ///< [s]; default: it stays
  double appears_every = 0;          ///< time between repeated bodies, for both of these [s]
  Pose X_wf;                         ///< where the file that holds it was put
  ValueLocation place;
};

struct JointEntry {
  NameRef a;
  NameRef b;                           ///< without a name: the world
  Vec3 position = Vec3::Zero();        ///< in the world; for distance and spring: on a [m]
  std::optional<Vec3> position_on_b;   ///< distance and spring: on b [m]
  Vec3 axis = Vec3::UnitZ();           ///< of hinge and slider, in the world
  std::optional<Vec2> limits;          ///< [degrees] for a hinge, [m] otherwise
  std::optional<double> motor_speed;   ///< [rad/s] or [m/s]
  std::optional<double> motor_target;  ///< [degrees] for a hinge, [m] for a slider
  std::optional<double> length;        ///< distance and spring: rest length; default: as placed [m]
  model::JointDesc desc;               ///< all else
  Pose X_wf;                           ///< as for bodies
  ValueLocation place;
};

struct ImpulseEntry {
  NameRef body;
  double time = 0;               ///< [s]
  Vec3 impulse = Vec3::Zero();   ///< [N s]
  std::optional<Vec3> position;  ///< where, in shape axes; default: the centre of mass [m]
  ValueLocation place;
};

struct ForceEntry {
  NameRef body;
  std::vector<double> times;     ///< ascending [s]
  std::vector<Vec3> forces;      ///< at these times, straight lines between [N]
  std::optional<Vec3> position;  ///< as for impulses [m]
  ValueLocation place;
};

/// How bodies that ring answer impacts.
struct ResponseEntry {
  vibration::BodyResponseDesc
      body;  ///< of all that ring; attenuation, and maybe the method, are each body's own
  sim::ResponderDesc responder;
  ValueLocation place;
};

struct CameraEntry {
  std::optional<Vec3> eye;      ///< [m]
  std::optional<Vec3> target;   ///< [m]
  double field_of_view = 30;    ///< from top to bottom [degrees]
  Vec3 from{0.55, -1.0, 0.42};  ///< direction to look from, when there is no eye
  ValueLocation place;
};

/// Where a listener that moves is at a time.
struct ListenerKey {
  double time = 0;               ///< [s]
  Vec3 position = Vec3::Zero();  ///< [m]
  std::optional<Vec3> forward;   ///< default: that of the listener
};

struct ListenerEntry {
  std::optional<Vec3> position;   ///< default: where the camera is; with a body: its origin [m]
  std::optional<Vec3> forward;    ///< default: where the camera looks; with a body: its x axis
  std::string body;               ///< that it moves with; position and forward are then in its shape axes
  std::vector<ListenerKey> path;  ///< by time; empty: it stays where it is
  sound::ListenerKind kind = sound::ListenerKind::stereo;
  double spacing = 0.2;  ///< of the stereo pair [m]
  FileName hrtf;         ///< SOFA file of a binaural listener; default: the set of libmysofa
  std::vector<sound::Microphone> microphones;
  ValueLocation place;
};

/// That a run is heard, and how (sound/synthesis.h).
struct SoundEntry {
  sound::SynthesisSettings synthesis;
  double full_scale = 0;           ///< pressure that is written as 1.0; 0: the peak becomes 0.89 [Pa]
  double tail = 1;                 ///< heard after the end of the motion, at most [s]
  double impulse_duration = 5e-4;  ///< of scripted impulses [s]
  bool normalise = false;          ///< instead, full scale is chosen for a loudness of -18 LUFS
  bool stems = false;              ///< a file per body too
  double ground_reflection = 0.5;  ///< of pressure, by the plane of the scene; 0: none
  bool air_absorption = true;
  ValueLocation place;
};

struct OutputEntry {
  double frame_rate = 60;  ///< poses a second; 0: every step [1/s]
  sim::FrameContacts contacts = sim::FrameContacts::all;
  bool glb = true;
  bool csv = true;
  bool page = true;
  bool poster = true;
  double poster_time = -1;  ///< [s]; negative: the end
  int poster_width = 1280;  ///< [pixel]
  int poster_height = 720;  ///< [pixel]
};

/// An included file.
struct IncludeEntry {
  FileName file;
  JsonValue parameters;          ///< an object
  std::string prefix;            ///< in front of the names of its bodies, shapes and materials
  Vec3 position = Vec3::Zero();  ///< where its origin comes to lie [m]
  Quat rotation = Quat::Identity();
};

struct SceneDesc {
  std::string schema;
  JsonValue parameters;               ///< an object
  std::vector<IncludeEntry> include;  ///< of the first file
  std::string title;
  std::string description;
  double duration = 5;     ///< [s]
  double step = 1.0 / 60;  ///< [s]
  std::uint64_t seed = 0;  ///< of everything random
  sim::WorldDesc world;
  std::vector<NameRef> groups;  ///< of bodies, beside those that bodies name (collision_groups.h)
  ResponseEntry response;
  CameraEntry camera;
  ListenerEntry listener;
  std::optional<SoundEntry> sound;  ///< none: a run records no contacts and is silent
  OutputEntry outputs;
  std::vector<ShapeEntry> shapes;
  std::vector<MaterialEntry> materials;
  std::vector<MaterialPair> material_pairs;
  std::vector<BodyEntry> bodies;
  std::vector<JointEntry> joints;
  std::vector<ImpulseEntry> impulses;
  std::vector<ForceEntry> forces;
  ValueLocation place;           ///< of the braces about it all
  ValueLocation flexible_place;  ///< of stepper.flexible, in the last file that has it
  /// Of every key of stepper, sleep, response, listener, sound, outputs and the rings of bodies that a file
  /// or --set (line 0) gives.
  std::vector<ValueLocation> given_settings;

  std::vector<std::filesystem::path> files;  ///< read for this scene, the first is the scene itself
  base::Hash128 source_hash;                 ///< of all texts read and settings given
};

struct ReadSceneDesc {
  std::vector<std::string> settings;  ///< "path=value", as of --set
};

/// Throws SceneError with all mistakes found, or InputError when a file is not JSON at all.
[[nodiscard]] SceneDesc read_scene(const std::filesystem::path& file, const ReadSceneDesc& desc = {});
/// The same from memory; includes are looked for beside `name`.
[[nodiscard]] SceneDesc parse_scene(std::string_view text, const std::filesystem::path& name,
                                    const ReadSceneDesc& desc = {});

}  // namespace thrum::scene
