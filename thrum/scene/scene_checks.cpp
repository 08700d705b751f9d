// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "thrum/elastic/material_library.h"
#include "thrum/elastic/supports.h"
#include "thrum/rigid/shape_mass.h"
#include "thrum/scene/collision_groups.h"
#include "thrum/scene/instances.h"
#include "thrum/scene/read_failures.h"
#include "thrum/scene/sound_checks.h"

namespace thrum::scene {

namespace {

constexpr double kMaxSteps = 1e9;  ///< of one run

class Checker {
 public:
  Checker(const SceneDesc& scene, std::vector<Mistake>& mistakes)
      : scene_(scene), mistakes_(mistakes), read_failures_(mistakes)
  {
    materials_ = elastic::MaterialLibrary::builtin().names();
  }

  void run()
  {
    check_settings();
    for (const ShapeEntry& shape : scene_.shapes) {
      add_name(shapes_, shape.name, shape.place, "shape");
      check_shape(shape.shape, false);
    }
    std::vector<std::string> listed;
    for (const MaterialEntry& material : scene_.materials) {
      add_name(listed, material.name, material.place, "material");
      if (!material.base.name.empty()) check_reference(material.base, materials_, "material");
      materials_.push_back(material.name);
    }
    for (const MaterialPair& pair : scene_.material_pairs) {
      check_reference(pair.a, materials_, "material");
      check_reference(pair.b, materials_, "material");
    }
    for (const BodyEntry& body : scene_.bodies) check_body(body);
    check_actions();
  }

 private:
  // `message` follows the path of the key: "is ...", "has ...".
  void fail(const ValueLocation& place, const std::string& key, const std::string& message,
            const std::string& nearest = {})
  {
    ValueLocation there = place;
    if (!key.empty()) there.path += (there.path.empty() ? "" : ".") + key;
    mistakes_.push_back({there, message, nearest});
  }

  void add_name(std::vector<std::string>& names, const std::string& name, const ValueLocation& place,
                const char* what)
  {
    if (std::find(names.begin(), names.end(), name) != names.end() &&
        !read_failures_.may_hide(place, "name")) {
      fail(place, "name",
           fmt::format("is \"{}\", the name of another {} too. Give each its own name.", name, what));
    }
    names.push_back(name);
  }

  void check_reference(const NameRef& ref, const std::vector<std::string>& known, const char* what)
  {
    const bool library =
        &known == &materials_ && elastic::MaterialLibrary::builtin().find(ref.name) != nullptr;
    if (library || std::find(known.begin(), known.end(), ref.name) != known.end()) return;
    // A name that was not read, or that may stand in what was not read, has been reported.
    if (ref.place.file.empty() || read_failures_.may_hide_names(list_of(known))) return;
    const std::string nearest = nearest_name(ref.name, known);
    std::string message = fmt::format("is \"{}\", but no {} has that name", ref.name, what);
    if (known.empty()) {
      message += fmt::format("; the scene has no {} at all.", list_of(known));
    } else {
      message += nearest.empty() ? fmt::format(". An example is \"{}\".", known.front()) : ".";
    }
    fail(ref.place, "", message, nearest);
  }

  const char* list_of(const std::vector<std::string>& known) const
  {
    return &known == &shapes_ ? "shapes" : &known == &materials_ ? "materials" : "bodies";
  }

  void check_settings()
  {
    if (scene_.duration / scene_.step > kMaxSteps) {
      fail(scene_.place, "step",
           fmt::format(
               "is {} s, which makes {:.3g} steps in {} s; at most {:.0e} are allowed. Use a longer step "
               "or a shorter duration.",
               scene_.step, scene_.duration / scene_.step, scene_.duration, kMaxSteps));
    }
    if (scene_.camera.eye && scene_.camera.target && *scene_.camera.eye == *scene_.camera.target) {
      fail(scene_.camera.place, "eye", "is where the target is. Move one of the two.");
    }
    check_flexible();
    check_response();
    check_groups();
    check_sound(scene_, mistakes_);
  }

  void check_flexible()
  {
    const flexible::FlexibleSettings& settings = scene_.world.flexible;
    const ValueLocation& place = scene_.flexible_place;
    const auto is_read = [&](const char* key) {
      return !read_failures_.may_hide(place, key);
    };
    if (settings.max_step < settings.min_step && is_read("max_step") && is_read("min_step")) {
      fail(place, "max_step",
           fmt::format("is {:g} s and min_step {:g} s; max_step must be at least min_step.",
                       settings.max_step, settings.min_step));
    }
    if (settings.friction == flexible::FrictionSolver::staggered &&
        settings.contact != flexible::ContactLaw::hard && is_read("friction") && is_read("contact")) {
      fail(
          place, "friction",
          "is \"staggered\", which works only with \"contact\": \"hard\". Set that contact, or \"friction\": "
          "\"coupled\".");
    }
  }

  void check_response()
  {
    const vibration::BodyResponseDesc& body = scene_.response.body;
    const ValueLocation& place = scene_.response.place;
    if (body.max_modal_size >= body.min_wave_size)
      fail(place, "max_modal_size",
           fmt::format("is {} m and min_wave_size {} m; the first must be smaller.", body.max_modal_size,
                       body.min_wave_size));
    if (body.settings.paper_filter && body.settings.rule != vibration::KickRule::peak_displacement)
      fail(place, "paper_filter",
           "is true, which works only with \"rule\": \"peak_displacement\". Set that rule, or remove it.");
  }

  void check_groups()
  {
    groups_ = group_names(scene_);
    if (groups_.size() > kMaxGroups) {
      const NameRef* first = nullptr;
      const auto look = [&](const NameRef& ref) {
        if (first == nullptr && ref.name == groups_[kMaxGroups]) first = &ref;
      };
      for (const NameRef& ref : scene_.groups) look(ref);
      for (const BodyEntry& body : scene_.bodies) {
        for (const NameRef& ref : body.group.names) look(ref);
      }
      fail(first->place, "",
           fmt::format("is \"{}\", one group too many: the scene has {}, \"{}\" included, and at most {} are "
                       "allowed. Merge some.",
                       first->name, groups_.size(), kDefaultGroup, kMaxGroups));
    }
    for (const BodyEntry& body : scene_.bodies) {
      if (!body.collides_with) continue;
      for (const NameRef& ref : body.collides_with->names) check_group(ref);
    }
  }

  void check_group(const NameRef& ref)
  {
    if (ref.place.file.empty() || std::find(groups_.begin(), groups_.end(), ref.name) != groups_.end())
      return;
    const bool hidden = std::any_of(scene_.bodies.begin(), scene_.bodies.end(), [&](const BodyEntry& body) {
      return read_failures_.may_hide(body.place, "group");
    });
    if (hidden || read_failures_.may_hide_names("bodies") || read_failures_.may_hide(scene_.place, "groups"))
      return;
    fail(ref.place, "",
         fmt::format("is \"{}\", a group that no body is in. Give a body \"group\": \"{}\", or list the name "
                     "under \"groups\" of the scene.",
                     ref.name, ref.name),
         nearest_name(ref.name, groups_));
  }

  static bool is_ground(const SceneShape& shape)
  {
    return std::holds_alternative<PlaneShape>(shape.data) ||
           std::holds_alternative<HeightFieldShape>(shape.data);
  }

  static const char* ground_name(const SceneShape& shape)
  {
    return std::holds_alternative<PlaneShape>(shape.data) ? "plane" : "height field";
  }

  void check_shape(const SceneShape& shape, bool inside_compound)
  {
    if (const auto* file = std::get_if<FileShape>(&shape.data)) {
      std::error_code ignored;
      const bool read = !file->file.place.file.empty();
      if (read && !std::filesystem::is_regular_file(file->file.path, ignored)) {
        fail(file->file.place, "",
             fmt::format("names {}, where there is no file. Paths are relative to the scene file.",
                         file->file.path.string()));
      }
    }
    const auto* compound = std::get_if<CompoundShape>(&shape.data);
    if (inside_compound && (compound != nullptr || is_ground(shape))) {
      fail(shape.place, "",
           fmt::format("is a {}, which cannot be a part of a compound. Make it a body of its own.",
                       compound != nullptr ? "compound" : ground_name(shape)));
    } else if (compound != nullptr) {
      if (compound->parts.empty() && !read_failures_.may_hide(shape.place, "parts"))
        fail(shape.place, "parts", "is empty. A compound has at least one part.");
      for (const CompoundPartDesc& part : compound->parts) check_shape(part.shape, true);
    }
  }

  void check_rings(const BodyEntry& body, const RingsEntry& rings)
  {
    std::error_code ignored;
    if (!rings.file.path.empty() && !std::filesystem::is_regular_file(rings.file.path, ignored))
      fail(rings.file.place, "",
           fmt::format(
               "names {}, where there is no file. 'thrum modes' writes one; without \"file\" the modes are "
               "computed.",
               rings.file.path.string()));
    if (body.shape.object && is_ground(*body.shape.object))
      fail(rings.place, "",
           fmt::format("cannot be given to a {}, which has no end. Use a body of finite size, such as a box.",
                       ground_name(*body.shape.object)));
    if (!rings.file.path.empty() && rings.supports == SupportKind::contacts)
      fail(rings.place, "supports",
           "is \"contacts\", but the modes come from a file, which has its own supports. Remove \"file\" or "
           "\"supports\".");
    if (rings.grid && !(rings.grid->minCoeff() > 0))
      fail(rings.place, "grid", "has a size that is not positive. Write three lengths above 0 m.");
    const bool is_unbounded = body.shape.object && is_ground(*body.shape.object);
    if (!is_unbounded && rings.file.path.empty() && body.material.name.empty())
      fail(rings.place, "",
           "needs a material, from whose stiffness, density and damping its modes follow. Add \"material\", "
           "such "
           "as \"steel\" or \"wood\", or a \"file\" of modes.");
    if (rings.grid && rings.thickness > 0)
      fail(rings.place, "thickness", "is given together with \"grid\". Remove one of the two.");
    if (rings.grid && rings.spacing > 0)
      fail(rings.place, "grid", "is given together with \"spacing\". Remove one of the two.");
    if (rings.clamp.empty()) return;
    try {
      (void)elastic::parse_selections(rings.clamp);
    } catch (const Error& error) {
      fail(rings.place, "clamp",
           fmt::format("is \"{}\", which names no place: {} Write one such as \"z<0.01\".", rings.clamp,
                       error.what()));
    }
  }

  void check_body(const BodyEntry& body)
  {
    add_name(entry_names_, body.name, body.place, "body");
    const bool one = !body.shape.name.empty() || body.shape.object.has_value();
    const bool may_be_hidden =
        read_failures_.may_hide(body.place, "shape") || read_failures_.may_hide(body.place, "shapes");
    if (one == !body.shapes.empty() && !may_be_hidden) {
      fail(body.place, "shape",
           one ? "is given together with \"shapes\". Remove one of the two."
               : "is missing. Give the body a \"shape\", or \"shapes\" for repeated bodies.");
    }
    if (!body.shape.name.empty()) check_reference({body.shape.name, body.shape.place}, shapes_, "shape");
    for (const NameRef& shape : body.shapes) check_reference(shape, shapes_, "shape");
    if (body.shape.object) check_shape(*body.shape.object, false);
    if (body.scale_range && (*body.scale_range)[0] > (*body.scale_range)[1])
      fail(body.place, "scale_range", "has its min above its max. Write [min, max].");
    if (body.shape.object && is_ground(*body.shape.object) && body.desc.motion != model::Motion::fixed &&
        !read_failures_.may_hide(body.place, "motion")) {
      fail(body.place, "motion",
           fmt::format("must be \"fixed\": a {} cannot move.", ground_name(*body.shape.object)));
    }
    if (!body.material.name.empty()) check_reference(body.material, materials_, "material");
    if (body.rings) check_rings(body, *body.rings);
    check_inertia(body);
    check_presence(body);
    body_count_ += instance_count(body);
    if (body_count_ > kMaxBodies) {
      if (!reported_too_many_)
        fail(body.place, "repeat",
             fmt::format("makes {:.3g} bodies in all; at most {:.0e} are allowed.", body_count_, kMaxBodies));
      reported_too_many_ = true;
      return;
    }
    std::vector<std::string> names = instance_names(body);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (body.appears_at > 0 || body.appears_every > 0 || body.removed_at)
        presences_[names[i]] = instance_presence(body, i);
      if (body.desc.motion == model::Motion::fixed) fixed_.insert(names[i]);
      bodies_.push_back(std::move(names[i]));
    }
  }

  void check_inertia(const BodyEntry& body)
  {
    if (!body.desc.inertia) return;
    if (!body.desc.mass && !read_failures_.may_hide(body.place, "mass"))
      fail(body.place, "inertia", "is given without \"mass\". Give both, or leave both out.");
    const std::string mistake = rigid::find_inertia_mistake(*body.desc.inertia);
    if (!mistake.empty()) fail(body.place, "inertia", mistake);
  }

  void check_presence(const BodyEntry& body)
  {
    if (body.removed_at && !(*body.removed_at > body.appears_at)) {
      fail(body.place, "removed_at",
           fmt::format("is {} s, but the body appears at {} s. It must be later.", *body.removed_at,
                       body.appears_at));
    }
    if (body.appears_every > 0 && body.repeat.empty() && !read_failures_.may_hide(body.place, "repeat"))
      fail(body.place, "appears_every", "is given to one body. Add \"repeat\", or use \"appears_at\".");
    if (body.appears_at > 0 && body.rings && body.rings->supports == SupportKind::contacts) {
      fail(body.rings->place, "supports",
           "is \"contacts\", which is found before the run, but the body appears during it. Use \"clamp\".");
    }
  }

  [[nodiscard]] Presence presence_of(const std::string& name) const
  {
    const auto found = presences_.find(name);
    return found != presences_.end() ? found->second : Presence{};
  }

  // The places of a joint are those at which its bodies appear, so both appear at once, unless the earlier
  // one cannot move meanwhile.
  void check_joint_presence(const JointEntry& joint)
  {
    if (presences_.empty() || joint.b.name.empty()) return;
    const bool a_first = presence_of(joint.a.name).from <= presence_of(joint.b.name).from;
    const std::string& first = a_first ? joint.a.name : joint.b.name;
    const std::string& second = a_first ? joint.b.name : joint.a.name;
    const Presence early = presence_of(first);
    const Presence late = presence_of(second);
    if (early.from == late.from) return;
    if (late.from >= early.until) {
      fail(joint.place, "",
           fmt::format("joins \"{}\", which is removed at {} s, to \"{}\", which appears at {} s: "
                       "they are never there together. Change the times.",
                       first, early.until, second, late.from));
    } else if (fixed_.count(first) == 0) {
      fail(joint.place, "",
           fmt::format("joins \"{}\", which appears at {} s, to \"{}\", which appears at {} s: the "
                       "first may have moved by then. Let both appear at once, or fix the first.",
                       first, early.from, second, late.from));
    }
  }

  void check_action_times(const NameRef& body, const ValueLocation& place, const char* key, double first,
                          double last)
  {
    const Presence presence = presence_of(body.name);
    if (last >= presence.from && first < presence.until) return;
    const bool early = last < presence.from;
    fail(place, key,
         fmt::format("{} at {} s, but \"{}\" {} at {} s. Act on it while it is there.",
                     early ? "ends" : "begins", early ? last : first, body.name,
                     early ? "appears" : "is removed", early ? presence.from : presence.until));
  }

  void check_body_reference(const NameRef& ref)
  {
    if (sorted_.empty()) sorted_.insert(bodies_.begin(), bodies_.end());
    if (sorted_.count(ref.name) == 0) check_reference(ref, bodies_, "body");
  }

  void check_motor(const JointEntry& joint)
  {
    if (!joint.motor_target) return;
    if (joint.desc.kind != model::JointKind::hinge && joint.desc.kind != model::JointKind::slider &&
        !read_failures_.may_hide(joint.place, "kind"))
      fail(joint.place, "motor_target",
           "is given to a joint without a motor. Only hinges and sliders have one.");
    if (!joint.motor_speed && !read_failures_.may_hide(joint.place, "motor_speed"))
      fail(joint.place, "motor_target",
           "is given without \"motor_speed\", the max speed on the way. Add it.");
  }

  // Keys that this kind of joint does not read, and those without which it does nothing.
  void check_joint_keys(const JointEntry& joint)
  {
    using Kind = model::JointKind;
    if (read_failures_.may_hide(joint.place, "kind")) return;
    const bool has_ends = joint.desc.kind == Kind::distance || joint.desc.kind == Kind::spring;
    if (joint.length && !has_ends)
      fail(joint.place, "length", "is given, but only distance joints and springs have one. Remove it.");
    if (joint.position_on_b && !has_ends)
      fail(joint.place, "position_on_b",
           "is given, but only distance joints and springs have two ends. Use \"position\".");
    if (joint.desc.kind != Kind::spring) {
      if (joint.desc.stiffness > 0)
        fail(joint.place, "stiffness", "is given, but only springs have one. Remove it.");
      if (joint.desc.damping > 0)
        fail(joint.place, "damping", "is given, but only springs have one. Remove it.");
    } else if (!(joint.desc.stiffness > 0) && !(joint.desc.damping > 0) &&
               !read_failures_.may_hide(joint.place, "stiffness") &&
               !read_failures_.may_hide(joint.place, "damping")) {
      fail(joint.place, "stiffness",
           "is 0, and so is the damping: the spring has no force. Set one of them.");
    }
    if (joint.motor_speed && !(joint.desc.motor.max_force > 0) &&
        !read_failures_.may_hide(joint.place, "max_motor_force"))
      fail(joint.place, "motor_speed", "is given, but the motor has no force. Set \"max_motor_force\".");
  }

  void check_actions()
  {
    for (const JointEntry& joint : scene_.joints) {
      check_body_reference(joint.a);
      if (!joint.b.name.empty()) check_body_reference(joint.b);
      if (joint.a.name == joint.b.name && !joint.a.name.empty())
        fail(joint.place, "b",
             "is the same body as a. Name another, or leave it out to join the body to the world.");
      check_joint_presence(joint);
      check_motor(joint);
      check_joint_keys(joint);
      if (!(joint.axis.norm() > 0)) fail(joint.place, "axis", "has length zero. Give it a direction.");
      if (joint.limits && (*joint.limits)[0] > (*joint.limits)[1]) {
        fail(joint.place, "limits", "has its min above its max. Write [min, max].");
      }
    }
    for (const ImpulseEntry& impulse : scene_.impulses) {
      check_body_reference(impulse.body);
      check_action_times(impulse.body, impulse.place, "time", impulse.time, impulse.time);
    }
    for (const ForceEntry& force : scene_.forces) {
      check_body_reference(force.body);
      if (!force.times.empty())
        check_action_times(force.body, force.place, "times", force.times.front(), force.times.back());
      const bool may_be_hidden =
          read_failures_.may_hide(force.place, "times") || read_failures_.may_hide(force.place, "forces");
      if (force.times.size() != force.forces.size() && !may_be_hidden) {
        fail(force.place, "forces",
             fmt::format("has {} values, but there are {} times. Give one force for each time.",
                         force.forces.size(), force.times.size()));
      }
      if (!std::is_sorted(force.times.begin(), force.times.end())) {
        fail(force.place, "times", "goes back in time. Write the times in ascending order.");
      }
    }
  }

  const SceneDesc& scene_;
  std::vector<Mistake>& mistakes_;
  const ReadFailures read_failures_;
  std::vector<std::string> shapes_, materials_, entry_names_, bodies_;
  std::vector<std::string> groups_;
  std::set<std::string> sorted_, fixed_;
  std::map<std::string, Presence> presences_;  ///< of the bodies that are not always there
  double body_count_ = 0;
  bool reported_too_many_ = false;
};

}  // namespace

void check_scene(const SceneDesc& scene, std::vector<Mistake>& mistakes)
{
  Checker(scene, mistakes).run();
}

void name_subjects(const SceneDesc& scene, std::vector<Mistake>& mistakes)
{
  const auto name_of = [](const auto& entries, const ValueLocation& place) -> std::string {
    for (const auto& entry : entries) {
      const std::string& path = entry.place.path;
      if (entry.name.empty() || entry.place.file != place.file || !place.path.starts_with(path)) continue;
      if (place.path.size() == path.size() || place.path[path.size()] == '.') return entry.name;
    }
    return {};
  };
  const auto name = [&](Mistake& mistake, const char* list, const char* kind, const auto& entries) {
    if (!mistake.place.path.starts_with(list)) return;
    const std::string found = name_of(entries, mistake.place);
    if (!found.empty()) mistake.subject = fmt::format("{} \"{}\"", kind, found);
  };
  for (Mistake& mistake : mistakes) {
    name(mistake, "bodies[", "body", scene.bodies);
    name(mistake, "materials[", "material", scene.materials);
    name(mistake, "shapes[", "shape", scene.shapes);
  }
}

}  // namespace thrum::scene
