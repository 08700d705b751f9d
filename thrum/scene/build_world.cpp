// SPDX-License-Identifier: MIT
#include "thrum/scene/build_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "thrum/base/index.h"
#include "thrum/elastic/material_library.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/scene/body_changes.h"
#include "thrum/scene/collision_groups.h"
#include "thrum/scene/instances.h"
#include "thrum/scene/scene_checks.h"
#include "thrum/sim/support_regions.h"

namespace thrum::scene {

namespace {

// The palette for bodies without a colour of their own; its colours differ in print as well [Okabe and Ito].
const std::vector<Colour>& palette()
{
  static const std::vector<Colour> colours = {
      {0.34f, 0.55f, 0.72f}, {0.88f, 0.62f, 0.30f}, {0.42f, 0.66f, 0.50f}, {0.80f, 0.45f, 0.42f},
      {0.62f, 0.53f, 0.74f}, {0.85f, 0.78f, 0.46f}, {0.45f, 0.70f, 0.75f}, {0.72f, 0.58f, 0.50f}};
  return colours;
}
const Colour kFixedColour{0.74f, 0.75f, 0.77f};

/// A place that holds a body reaches at least this share of the spacing of its tetrahedra, so that it holds
/// some of their corners.
constexpr double kMinSupportReach = 0.25;

struct SceneMaterial {
  model::Material elastic;
  model::Surface surface;
  model::SurfaceId id = model::kDefaultSurface;
  std::optional<Colour> colour;
  double gain = 1;  ///< of sound
  model::Roughness roughness = {};
};

class Builder {
 public:
  Builder(const SceneDesc& scene, const base::ProgressDesc& progress) : scene_(scene), progress_(progress)
  {
    built_.world = sim::World(scene.world);
  }

  BuiltScene build()
  {
    add_materials();
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) add_bodies(scene_.bodies[i], i);
    for (const JointEntry& joint : scene_.joints) add_joint(joint);
    add_script();
    std::stable_sort(built_.changes.begin(), built_.changes.end(), [](const auto& a, const auto& b) {
      return std::pair(a.time, !a.removes) < std::pair(b.time, !b.removes);
    });
    throw_mistakes();
    add_response();
    throw_mistakes();
    return std::move(built_);
  }

 private:
  void throw_mistakes()
  {
    if (mistakes_.empty()) return;
    name_subjects(scene_, mistakes_);
    throw SceneError(mistakes_);
  }

  void add_materials()
  {
    for (const MaterialEntry& entry : scene_.materials) {
      SceneMaterial material = entry.base.name.empty() ? SceneMaterial{} : material_of(entry.base.name);
      if (entry.base.name.empty()) material.elastic = default_material();
      material.elastic.name = entry.name;
      material.elastic.density = entry.density.value_or(material.elastic.density);
      material.elastic.young = entry.young.value_or(material.elastic.young);
      material.elastic.poisson = entry.poisson.value_or(material.elastic.poisson);
      if (entry.alpha || entry.beta) {
        material.elastic.damping = {
            model::DampingKind::rayleigh, entry.alpha.value_or(0), entry.beta.value_or(0), 0, {}};
      }
      material.elastic.contact_damping = entry.contact_damping.value_or(material.elastic.contact_damping);
      material.surface.restitution = entry.restitution.value_or(material.surface.restitution);
      material.surface.friction = entry.friction.value_or(material.surface.friction);
      material.surface.rolling_friction = entry.rolling_friction.value_or(material.surface.rolling_friction);
      material.surface.spinning_friction =
          entry.spinning_friction.value_or(material.surface.spinning_friction);
      material.roughness.height = entry.roughness.value_or(material.roughness.height);
      material.roughness.exponent = entry.roughness_exponent.value_or(material.roughness.exponent);
      if (entry.colour) material.colour = entry.colour;
      material.gain = entry.gain.value_or(material.gain);
      material.id = built_.world.add_surface(material.surface);
      materials_[entry.name] = material;
    }
    for (const MaterialPair& pair : scene_.material_pairs) {
      const SceneMaterial a = material_of(pair.a.name);
      const SceneMaterial b = material_of(pair.b.name);
      if (const auto surface = pair.surface()) built_.world.set_surface_pair(a.id, b.id, *surface);
      if (pair.roughness || pair.roughness_exponent)
        built_.roughness_pairs.push_back(
            {a.elastic.name, b.elastic.name, pair.roughness, pair.roughness_exponent});
    }
  }

  static model::Material default_material()
  {
    return {.name = "default", .density = 1000, .young = 1e9, .poisson = 0.3};
  }

  SceneMaterial material_of(const std::string& name)
  {
    const auto found = materials_.find(name);
    if (found != materials_.end()) return found->second;
    SceneMaterial material;
    const elastic::MaterialLibrary& library = elastic::MaterialLibrary::builtin();
    material.elastic = name.empty() ? default_material() : library.get(name);
    if (!name.empty()) material.roughness = library.roughness_of(name);
    material.id = built_.world.add_surface(material.surface);
    return materials_[name] = material;
  }

  struct ShapeHandle {
    model::ShapeId id;
    std::size_t mesh = 0;
  };

  // Each shape is made once for moving bodies and once for fixed ones.
  ShapeHandle shape_of(const SceneShape& shape, bool moving, const ValueLocation& place)
  {
    const auto key = std::pair(&shape, moving);
    const auto found = shapes_.find(key);
    if (found != shapes_.end()) return found->second;
    return shapes_[key] = add_shape([&] { return build_shape(shape, moving); }, place);
  }

  template <class Build>
  ShapeHandle add_shape(Build&& build, const ValueLocation& place)
  {
    ShapeHandle known;
    try {
      BuiltShape made = build();
      known.id = built_.world.add_shape(std::move(made.shape));
      known.mesh = built_.meshes.size();
      built_.meshes.push_back(std::move(made.mesh));
    } catch (const SceneError&) {
      throw;
    } catch (const Error& error) {
      ValueLocation shape_place = place;
      shape_place.path += ".shape";
      mistakes_.push_back({shape_place, fmt::format("cannot be built: {}", error.what())});
    }
    return known;
  }

  const SceneShape* find_shape(const std::string& name) const
  {
    for (const ShapeEntry& entry : scene_.shapes) {
      if (entry.name == name) return &entry.shape;
    }
    return nullptr;
  }

  void add_bodies(const BodyEntry& entry, std::size_t number)
  {
    const SceneMaterial material = material_of(entry.material.name);
    const std::vector<std::string> names = instance_names(entry);
    const std::vector<Pose> poses = instance_poses(entry, scene_.seed, number);
    const std::vector<Vec3> scales = instance_scales(entry, scene_.seed, number);
    std::vector<const SceneShape*> shapes;
    if (entry.shape.object) shapes.push_back(&*entry.shape.object);
    if (!entry.shape.name.empty()) shapes.push_back(find_shape(entry.shape.name));
    for (const NameRef& name : entry.shapes) shapes.push_back(find_shape(name.name));
    const bool moving = entry.desc.motion != model::Motion::fixed;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const SceneShape& described = *shapes[i % shapes.size()];
      const ShapeHandle shape =
          scales.empty() ? shape_of(described, moving, entry.place)
                         : add_shape([&] { return build_scaled(described, scales[i], moving); }, entry.place);
      if (!shape.id.valid()) return;
      sim::BodyDesc desc = entry.desc;
      desc.name = names[i];
      desc.shape = shape.id;
      desc.X_ws = poses[i];
      desc.surface = material.id;
      desc.density = entry.density.value_or(material.elastic.density);
      desc.velocity = entry.X_wf.direction(entry.desc.velocity);
      desc.angular_velocity = entry.X_wf.direction(entry.desc.angular_velocity);
      if (!entry.group.names.empty()) desc.collision_group = group_bits(groups_, entry.group.names);
      if (entry.collides_with) desc.collides_with = group_bits(groups_, entry.collides_with->names);
      const std::size_t body = built_.ids.size();
      try {
        add_body(body, desc, instance_presence(entry, i));
      } catch (const Error& error) {
        mistakes_.push_back({entry.place, fmt::format("cannot be built: {}", error.what())});
        return;
      }
      numbers_[names[i]] = body;
      Colour colour = moving ? palette()[body % palette().size()] : kFixedColour;
      if (material.colour) colour = *material.colour;
      if (entry.colour) colour = *entry.colour;
      if (entry.rings) ringing_.push_back({body, &*entry.rings});
      built_.visuals.push_back({names[i], shape.mesh, colour});
      built_.materials.push_back(material.elastic);
      built_.sounds.push_back({entry.sound && !entry.material.name.empty(), entry.rings, entry.gain,
                               material.gain, material.roughness});
    }
  }

  void add_body(std::size_t body, const sim::BodyDesc& desc, const Presence& presence)
  {
    if (is_due(presence.from, 0, scene_.step)) {
      built_.ids.push_back(built_.world.add_body(desc));
    } else {
      built_.world.check_body(desc);
      built_.ids.emplace_back();
      built_.late_bodies[body].desc = desc;
      built_.changes.push_back({presence.from, body, false});
    }
    if (std::isfinite(presence.until)) built_.changes.push_back({presence.until, body, true});
  }

  void add_joint(const JointEntry& entry)
  {
    const auto a = numbers_.find(entry.a.name);
    const auto b = numbers_.find(entry.b.name);
    if (a == numbers_.end() || (b == numbers_.end() && !entry.b.name.empty())) return;
    LateJoint joint{entry, a->second, {}, false};
    if (!entry.b.name.empty()) joint.b = b->second;
    const model::BodyId id_a = built_.ids[joint.a];
    const model::BodyId id_b = joint.b ? built_.ids[*joint.b] : model::BodyId{};
    if (!id_a.valid() || (joint.b && !id_b.valid())) {
      built_.late_joints.push_back(std::move(joint));
      return;
    }
    try {
      built_.add_joint(entry, id_a, id_b);
    } catch (const Error& error) {
      mistakes_.push_back({entry.place, fmt::format("cannot be built: {}", error.what())});
    }
  }

  void add_script()
  {
    for (const ImpulseEntry& entry : scene_.impulses) {
      const auto body = numbers_.find(entry.body.name);
      if (body == numbers_.end()) continue;
      built_.impulses.push_back({body->second, entry.time, entry.impulse, entry.position});
    }
    std::stable_sort(built_.impulses.begin(), built_.impulses.end(),
                     [](const auto& a, const auto& b) { return a.time < b.time; });
    for (const ForceEntry& entry : scene_.forces) {
      const auto body = numbers_.find(entry.body.name);
      if (body == numbers_.end()) continue;
      built_.forces.push_back({body->second, entry.times, entry.forces, entry.position});
    }
  }

  // Vibration then acts within the solution of contacts instead of a response.
  [[nodiscard]] bool is_flexible() const { return scene_.world.stepper == sim::StepperKind::flexible; }

  // Bodies that ring get their modes; all others give their modulus.
  void add_response()
  {
    if (!is_flexible() && scene_.response.body.method == vibration::ResponseMethod::none) return;
    std::erase_if(ringing_, [](const RingingBody& body) {
      return body.rings->method == vibration::ResponseMethod::none;
    });
    if (ringing_.empty() && !is_flexible()) return;
    if (!is_flexible()) built_.responder = std::make_shared<sim::Responder>(scene_.response.responder);
    for (std::size_t b = 0; b < built_.materials.size(); ++b) {
      const model::Material& m = built_.materials[b];
      const double modulus = m.young / (1 - m.poisson * m.poisson);
      if (built_.ids[b].valid() && is_flexible()) {
        built_.world.set_elastic(built_.ids[b], {modulus, {}});
      } else if (built_.ids[b].valid()) {
        built_.responder->set_modulus(built_.ids[b], modulus);
      } else {
        built_.late_bodies.at(b).modulus = modulus;
      }
    }
    const std::map<std::size_t, std::vector<Box3>> standing = find_support_boxes();
    if (!mistakes_.empty()) return;
    std::map<std::pair<const RingsEntry*, std::size_t>, std::shared_ptr<const model::ModalModel>> known;
    for (const auto& [b, rings] : ringing_) {
      const auto places = standing.find(b);
      try {
        // Bodies of one entry share their modes, unless each stands in its own way.
        std::shared_ptr<const model::ModalModel> own;
        auto& modal = places == standing.end() ? known[{rings, built_.visuals[b].mesh}] : own;
        if (!modal)
          modal = modes_of(*rings, built_.visuals[b].name, *built_.meshes[built_.visuals[b].mesh],
                           built_.materials[b],
                           places == standing.end() ? std::span<const Box3>() : places->second, progress_);
        vibration::BodyResponseDesc desc = scene_.response.body;
        desc.method = rings->method.value_or(desc.method);
        desc.attenuation = rings->attenuation.settings;
        if (rings->attenuation.fit && desc.method != vibration::ResponseMethod::modal)
          desc.attenuation = fitted_attenuation(*modal, desc, up_in_shape(b), scene_.step);
        make_ring(b, modal, desc);
        store_modes(built_.visuals[b].name, modal);
      } catch (const base::Stopped&) {
        throw;
      } catch (const Error& error) {
        mistakes_.push_back({rings->place, fmt::format("cannot work: {}", error.what())});
      }
    }
    if (built_.responder) built_.world.add_observer(*built_.responder);
  }

  void make_ring(std::size_t body, const std::shared_ptr<const model::ModalModel>& modal,
                 const vibration::BodyResponseDesc& desc)
  {
    if (built_.ids[body].valid() && is_flexible()) {
      const model::Material& m = built_.materials[body];
      built_.world.set_elastic(built_.ids[body],
                               {m.young / (1 - m.poisson * m.poisson), modal, scene_.sound.has_value()});
      return;
    }
    if (built_.ids[body].valid()) {
      built_.responder->add_body(built_.world, built_.ids[body], modal, desc);
      return;
    }
    LateBody& late = built_.late_bodies.at(body);
    sim::Responder::check_model(at(built_.world.shapes(), built_.world.index_of(late.desc.shape)), *modal,
                                late.desc.name);
    late.modes = modal;
    late.response = desc;
  }

  // Where the bodies stand that are held by what they stand on: the world is run until they are at rest, and
  // put back. What is not at rest in time, or stands on nothing, is a mistake of the scene.
  std::map<std::size_t, std::vector<Box3>> find_support_boxes()
  {
    std::vector<model::BodyId> ids;
    for (const RingingBody& body : ringing_) {
      if (body.rings->supports == SupportKind::contacts) ids.push_back(built_.ids[body.number]);
    }
    std::map<std::size_t, std::vector<Box3>> standing;
    if (ids.empty()) return standing;
    const model::SceneState start = built_.world.save();
    const bool moves = std::any_of(ids.begin(), ids.end(), [&](model::BodyId id) {
      return built_.world.desc_of(id).motion != model::Motion::fixed;
    });
    const bool rest = !moves || sim::step_to_rest(built_.world, ids, {.step = scene_.step});
    for (const RingingBody& body : ringing_) {
      if (body.rings->supports != SupportKind::contacts) continue;
      const std::size_t b = body.number;
      // Fitted elements have nodes only so far apart; cut cells hold any part exactly.
      const double fitted = body.rings->fill == RingsFill::stuffing ? body.rings->spacing : 0;
      const double cell = body.rings->grid ? body.rings->grid->maxCoeff() : fitted;
      std::vector<Box3> places =
          sim::find_support_regions(built_.world, built_.ids[b], *built_.meshes[built_.visuals[b].mesh],
                                    {.min_margin = kMinSupportReach * cell});
      if (places.empty() || !rest) {
        mistakes_.push_back(
            {body.rings->place,
             fmt::format(
                 "has \"supports\": \"contacts\", but '{}' {}. Put it on another body, or use \"clamp\".",
                 built_.visuals[b].name, rest ? "stands on nothing" : "does not come to rest")});
      }
      standing[b] = std::move(places);
    }
    built_.world.restore(start);
    return standing;
  }

  Vec3 up_in_shape(std::size_t body) const
  {
    const Pose X_ws = built_.ids[body].valid() ? built_.world.shape_pose(built_.ids[body])
                                               : built_.late_bodies.at(body).desc.X_ws;
    return X_ws.direction_to_local(-scene_.world.gravity);
  }

  void store_modes(const std::string& name, const std::shared_ptr<const model::ModalModel>& modal)
  {
    const std::size_t slash = name.rfind('/');
    const bool repeated =
        slash != std::string::npos && name.find_first_not_of("0123456789", slash + 1) == std::string::npos;
    const auto shared = built_.modes.emplace(repeated ? name.substr(0, slash) : name, modal).first;
    if (shared->second != modal) built_.modes.emplace(name, modal);
  }

  const SceneDesc& scene_;
  const base::ProgressDesc& progress_;
  BuiltScene built_;
  struct RingingBody {
    std::size_t number;
    const RingsEntry* rings;
  };
  std::vector<RingingBody> ringing_;
  const std::vector<std::string> groups_ = group_names(scene_);
  std::map<std::string, SceneMaterial> materials_;
  std::map<std::pair<const SceneShape*, bool>, ShapeHandle> shapes_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

BuiltScene build_world(const SceneDesc& scene, const base::ProgressDesc& progress)
{
  return Builder(scene, progress).build();
}

}  // namespace thrum::scene
