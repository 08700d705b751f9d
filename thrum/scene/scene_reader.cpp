// SPDX-License-Identifier: MIT
// Reading a scene file and what it includes.
//
// A file is parsed, changed by --set when it is the first, its parameters are resolved (its own values,
// replaced by those that the including file gives), expressions are replaced by their values, included files
// are read, and then its own entries: lists go on where the included files ended, single settings replace
// theirs.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "thrum/base/atomic_file.h"
#include "thrum/scene/expressions.h"
#include "thrum/scene/scene_checks.h"
#include "thrum/scene/scene_file.h"
#include "thrum/scene/scene_settings.h"
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

constexpr std::size_t kMaxFileBytes = 64 << 20;  ///< of a scene [bytes]
constexpr int kMaxIncludeDepth = 16;

// Where the lists of a scene end before a file is read.
struct ListSizes {
  explicit ListSizes(const SceneDesc& s)
      : shapes(s.shapes.size()),
        materials(s.materials.size()),
        pairs(s.material_pairs.size()),
        bodies(s.bodies.size()),
        joints(s.joints.size()),
        impulses(s.impulses.size()),
        forces(s.forces.size())
  {
  }
  std::size_t shapes, materials, pairs, bodies, joints, impulses, forces;
};

class Reader {
 public:
  explicit Reader(std::vector<std::string> settings) : settings_(std::move(settings)) {}

  SceneDesc read(std::string_view text, const std::filesystem::path& name)
  {
    for (const std::string& setting : settings_) hasher_.add(setting);
    read_text(text, name, {}, {}, 0);
    check_scene(scene_, mistakes_);
    if (!mistakes_.empty()) {
      name_subjects(scene_, mistakes_);
      throw SceneError(sorted_mistakes());
    }
    scene_.source_hash = hasher_.finish();
    return std::move(scene_);
  }

 private:
  // File after file as they were read, and down each of them.
  std::vector<Mistake> sorted_mistakes()
  {
    const auto rank = [&](const Mistake& m) {
      const auto file = std::find(scene_.files.begin(), scene_.files.end(), m.place.file);
      return std::tuple(file - scene_.files.begin(), m.place.line, m.place.column);
    };
    std::stable_sort(mistakes_.begin(), mistakes_.end(),
                     [&](const Mistake& a, const Mistake& b) { return rank(a) < rank(b); });
    return std::move(mistakes_);
  }

  void read_text(std::string_view text, const std::filesystem::path& name, const Parameters& given,
                 const std::optional<ValueLocation>& from, int depth)
  {
    scene_.files.push_back(name);
    hasher_.add(text);
    JsonValue root = parse_json(text, name);
    if (depth == 0) {
      apply_settings(root);
    }
    ReadContext context(name, mistakes_);
    if (root.object() == nullptr) return context.fail(root, "an object in braces");
    const Parameters parameters = resolve_parameters(root, given, from, context);
    const JsonValue resolved = evaluate(without_parameters(root), parameters, context);
    if (const JsonValue* include = resolved.find("include")) read_includes(*include, context, depth);
    const std::size_t first = scene_.bodies.size();
    std::vector<IncludeEntry> kept = std::move(scene_.include);
    scene_table().read(resolved, scene_, context);
    note_flexible_place(resolved, context);
    note_given_settings(resolved, context);
    if (depth > 0) scene_.include = std::move(kept);
    for (std::size_t i = first; i < scene_.bodies.size(); ++i) {
      if (scene_.bodies[i].name.empty()) scene_.bodies[i].name = fmt::format("body{}", i);
    }
  }

  // The settings of the library have no place of their own.
  void note_flexible_place(const JsonValue& root, ReadContext& context)
  {
    const JsonValue* stepper = root.find("stepper");
    const JsonValue* flexible = stepper == nullptr ? nullptr : stepper->find("flexible");
    if (flexible == nullptr) return;
    const auto outer = context.enter("stepper");
    const auto inner = context.enter("flexible");
    scene_.flexible_place = context.place(*flexible);
  }

  void note_given_settings(const JsonValue& root, ReadContext& context)
  {
    for (const JsonMember& member : *root.object()) {
      if (member.key == "bodies" && member.value.array() != nullptr) {
        const auto scope = context.enter(member.key);
        for (std::size_t i = 0; i < member.value.array()->size(); ++i) {
          const auto inner = context.enter(i);
          for (const JsonMember& of_body : object_of((*member.value.array())[i]))
            if (of_body.key == "rings") note_given(of_body, context);
        }
      }
      for (const char* key : {"stepper", "sleep", "response", "listener", "sound", "outputs"})
        if (member.key == key) note_given(member, context);
    }
  }
  // A later file replaces the value of an earlier one.
  void note_given(const JsonMember& member, ReadContext& context)
  {
    const auto scope = context.enter(member.key);
    const ValueLocation place = context.place(member.value.line() == 0 ? 0 : member.line, member.column);
    const bool is_of_body = place.path.starts_with("bodies");
    std::erase_if(scene_.given_settings, [&](const ValueLocation& other) {
      return other.path == place.path && (!is_of_body || other.file == place.file);
    });
    scene_.given_settings.push_back(place);
    for (const JsonMember& inner : object_of(member.value)) note_given(inner, context);
  }
  static const JsonObject& object_of(const JsonValue& value)
  {
    static const JsonObject none;
    return value.object() == nullptr ? none : *value.object();
  }

  // All that is wrong with the settings is reported at once.
  void apply_settings(JsonValue& root)
  {
    std::string wrong;
    for (const std::string& setting : settings_) {
      try {
        apply_setting(root, setting);
      } catch (const Error& error) {
        wrong += (wrong.empty() ? "" : "\n") + std::string(error.what());
      }
    }
    if (!wrong.empty()) throw Error(wrong);
  }

  static JsonValue without_parameters(const JsonValue& root)
  {
    JsonObject members;
    for (const JsonMember& member : *root.object()) {
      if (member.key != "parameters") members.push_back(member);
    }
    return JsonValue(std::move(members), root.line(), root.column());
  }

  // The file's own values, in its order, each replaced by the given one; later ones may use earlier ones.
  Parameters resolve_parameters(const JsonValue& root, const Parameters& given,
                                const std::optional<ValueLocation>& from, ReadContext& context)
  {
    Parameters result;
    std::vector<std::string> known;
    const JsonValue* own = root.find("parameters");
    if (own != nullptr && own->object() == nullptr) {
      const auto scope = context.enter("parameters");
      context.fail(*own, "an object of names and values");
    }
    if (own != nullptr && own->object() != nullptr) {
      const auto scope = context.enter("parameters");
      for (const JsonMember& member : *own->object()) {
        const auto inner = context.enter(member.key);
        known.push_back(member.key);
        const auto other =
            std::find_if(given.begin(), given.end(), [&](const auto& g) { return g.key == member.key; });
        JsonMember resolved = member;
        resolved.value = other != given.end() ? other->value : evaluate(member.value, result, context);
        result.push_back(std::move(resolved));
      }
    }
    for (const JsonMember& member : given) {
      if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
      ValueLocation place = from.value_or(ValueLocation{});
      place.line = member.line;
      place.column = member.column;
      place.path += "." + member.key;
      context.fail(place,
                   fmt::format("is not a parameter of the included file; {}.",
                               known.empty() ? "it has none"
                                             : fmt::format("its parameters are {}", fmt::join(known, ", "))),
                   nearest_name(member.key, known));
    }
    return result;
  }

  void read_includes(const JsonValue& include, ReadContext& context, int depth)
  {
    const auto scope = context.enter("include");
    if (include.array() == nullptr) return;  // the table of the scene reports it
    std::vector<Mistake> reported_later;
    for (std::size_t i = 0; i < include.array()->size(); ++i) {
      const auto inner = context.enter(i);
      IncludeEntry entry;
      ReadContext quiet(context.place(include).file, reported_later);
      include_table().read((*include.array())[i], entry, quiet);
      if (!reported_later.empty() || entry.file.path.empty()) continue;
      read_include(entry, (*include.array())[i], context, depth);
    }
  }

  void read_include(const IncludeEntry& entry, const JsonValue& value, ReadContext& context, int depth)
  {
    if (depth >= kMaxIncludeDepth) {
      return context.fail(context.place(value),
                          fmt::format("is more than {} files deep. Do files include each other in a circle?",
                                      kMaxIncludeDepth));
    }
    std::string text;
    try {
      text = base::read_text_file(entry.file.path, kMaxFileBytes);
    } catch (const Error& error) {
      return context.fail(entry.file.place, fmt::format("cannot be read: {}", error.what()));
    }
    const ListSizes before(scene_);
    ValueLocation place = context.place(value);
    place.path += ".parameters";
    const Parameters given = entry.parameters.object() != nullptr ? *entry.parameters.object() : Parameters{};
    try {
      read_text(text, entry.file.path, given, place, depth + 1);
    } catch (const InputError& error) {
      // Not JSON: reported with what else is wrong.
      const SourceLocation& at = error.location();
      return context.fail(
          {at.file, at.line, at.column, {}},
          fmt::format("is not valid JSON here: found {}, expected {}.", error.found(), error.expected()));
    }
    apply_include(entry, before);
  }

  // Names and places of what an included file brought.
  void apply_include(const IncludeEntry& entry, const ListSizes& before)
  {
    const Pose X{entry.position, entry.rotation};
    const auto add_prefix = [&](std::string& name) {
      if (!name.empty()) name = entry.prefix + name;
    };
    const auto own_material = [&](NameRef& ref) {
      for (std::size_t i = before.materials; i < scene_.materials.size(); ++i) {
        if (scene_.materials[i].name == ref.name) return add_prefix(ref.name);
      }
    };
    for (std::size_t i = before.materials; i < scene_.materials.size(); ++i)
      own_material(scene_.materials[i].base);
    for (std::size_t i = before.pairs; i < scene_.material_pairs.size(); ++i) {
      own_material(scene_.material_pairs[i].a);
      own_material(scene_.material_pairs[i].b);
    }
    for (std::size_t i = before.bodies; i < scene_.bodies.size(); ++i) {
      BodyEntry& body = scene_.bodies[i];
      add_prefix(body.name);
      add_prefix(body.shape.name);
      for (NameRef& shape : body.shapes) add_prefix(shape.name);
      own_material(body.material);
      body.X_wf = X * body.X_wf;
    }
    for (std::size_t i = before.materials; i < scene_.materials.size(); ++i)
      add_prefix(scene_.materials[i].name);
    for (std::size_t i = before.shapes; i < scene_.shapes.size(); ++i) add_prefix(scene_.shapes[i].name);
    for (std::size_t i = before.joints; i < scene_.joints.size(); ++i) {
      add_prefix(scene_.joints[i].a.name);
      add_prefix(scene_.joints[i].b.name);
      scene_.joints[i].X_wf = X * scene_.joints[i].X_wf;
    }
    for (std::size_t i = before.impulses; i < scene_.impulses.size(); ++i) {
      add_prefix(scene_.impulses[i].body.name);
      scene_.impulses[i].impulse = X.direction(scene_.impulses[i].impulse);
    }
    for (std::size_t i = before.forces; i < scene_.forces.size(); ++i) {
      add_prefix(scene_.forces[i].body.name);
      for (Vec3& force : scene_.forces[i].forces) force = X.direction(force);
    }
  }

  std::vector<std::string> settings_;
  SceneDesc scene_;
  std::vector<Mistake> mistakes_;
  base::Hasher hasher_;
};

}  // namespace

SceneDesc read_scene(const std::filesystem::path& file, const ReadSceneDesc& desc)
{
  return Reader(desc.settings).read(base::read_text_file(file, kMaxFileBytes), file);
}

SceneDesc parse_scene(std::string_view text, const std::filesystem::path& name, const ReadSceneDesc& desc)
{
  return Reader(desc.settings).read(text, name);
}

}  // namespace thrum::scene
