// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "thrum/base/error.h"
#include "thrum/elastic/material_library.h"

namespace thrum::scene {

namespace {

constexpr const char* kMaterials = "materials.";
constexpr const char* kBodies = "bodies.";
constexpr const char* kPairs = "material_pairs.";
constexpr const char* kNoMaterial = "default";  ///< what bodies without a material are made of

const std::vector<std::string>& material_keys()
{
  static const std::vector<std::string> keys = {
      "gain",  "alpha",   "beta",      "contact_damping",   "density",
      "young", "poisson", "roughness", "roughness_exponent"};
  return keys;
}

const std::vector<std::string>& pair_keys()
{
  static const std::vector<std::string> keys = {"roughness", "roughness_exponent"};
  return keys;
}

const std::vector<std::string>& body_keys()
{
  static const std::vector<std::string> keys = {"gain", "material", "sound"};
  return keys;
}

enum class ChangeOf { material, pair, body };

/// What can be said of each.
struct ChangeKind {
  const char* prefix;
  const char* name;
  const char* example;
  const std::vector<std::string>& keys;
};

ChangeKind kind_of(ChangeOf of)
{
  if (of == ChangeOf::material) return {kMaterials, "material", "materials.steel.gain=2", material_keys()};
  if (of == ChangeOf::pair)
    return {kPairs, "pair of materials", "material_pairs.steel,wood.roughness=2e-6", pair_keys()};
  return {kBodies, "body", "bodies.mug.material=glass", body_keys()};
}

/// "bodies.mug.gain=2" as its parts.
struct Change {
  std::string setting;
  ChangeOf of = ChangeOf::body;
  std::string name;
  std::string key;
  std::string value;
};

std::string hint(const std::string& word, const std::vector<std::string>& known)
{
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest);
}

// Names may have dots: the key is what follows the last.
Change parse_change(const std::string& setting)
{
  Change change;
  change.setting = setting;
  change.of = setting.starts_with(kMaterials) ? ChangeOf::material
              : setting.starts_with(kPairs)   ? ChangeOf::pair
                                              : ChangeOf::body;
  const ChangeKind kind = kind_of(change.of);
  const std::size_t equals = setting.find('=');
  const std::string path = setting.substr(0, equals);
  const std::size_t begin = path.find('.') + 1;
  const std::size_t dot = path.rfind('.');
  if (equals == std::string::npos || dot <= begin || dot + 1 == path.size()) {
    throw Error(fmt::format("--set {}: expected {}{}.KEY=VALUE, such as {}.", setting, kind.prefix,
                            change.of == ChangeOf::pair ? "A,B" : "NAME", kind.example));
  }
  change.name = path.substr(begin, dot - begin);
  change.key = path.substr(dot + 1);
  change.value = setting.substr(equals + 1);
  if (std::find(kind.keys.begin(), kind.keys.end(), change.key) == kind.keys.end()) {
    throw Error(fmt::format(
        "--set {}: \"{}\" of a {} cannot be changed without simulating again; what can be is {}.{}", setting,
        change.key, kind.name, fmt::join(kind.keys, ", "), hint(change.key, kind.keys)));
  }
  return change;
}

// A scene of this thing alone, read with the rules of scene files.
SceneDesc parsed(const Change& change, const nlohmann::ordered_json& scene)
{
  const std::string list = kind_of(change.of).prefix;
  const std::string path = list.substr(0, list.size() - 1) + "[0]." + change.key;
  try {
    return parse_scene(scene.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace), "",
                       {.settings = {path + "=" + change.value}});
  } catch (const SceneError& error) {
    std::string text;
    for (const Mistake& mistake : error.mistakes()) {
      text += fmt::format("{}--set {}: {} {}", text.empty() ? "" : "\n", change.setting, change.key,
                          mistake.message);
      if (!mistake.nearest.empty()) text += fmt::format(" Did you mean \"{}\"?", mistake.nearest);
    }
    throw Error(text);
  }
}

class Changer {
 public:
  explicit Changer(SoundNotes& notes) : notes_(notes) {}

  void change_material(const Change& change)
  {
    const std::string name = known_material(change.name, change);
    const SceneDesc scene = parsed(change, {{"materials", {{{"name", name}}}}});
    const MaterialEntry& entry = scene.materials.front();
    for (auto& [body_name, body] : notes_.bodies) {
      if (body.material.name != name) continue;
      apply(entry, body);
      const bool changes_modes =
          change.key != "gain" && change.key != "contact_damping" && !change.key.starts_with("roughness");
      if (changes_modes) warn_of_fixed_modes(change, body_name, body);
    }
    // For bodies that are given this material.
    changes_[name].push_back(entry);
  }

  // What was said of the pair before stays, but for this value.
  void change_pair(const Change& change)
  {
    const std::size_t comma = change.name.find(',');
    if (comma == std::string::npos) {
      throw Error(fmt::format("--set {}: expected two materials with a comma between, such as {}.",
                              change.setting, kind_of(ChangeOf::pair).example));
    }
    const std::string a = known_material(change.name.substr(0, comma), change);
    const std::string b = known_material(change.name.substr(comma + 1), change);
    nlohmann::ordered_json scene = {{"material_pairs", {{{"a", a}, {"b", b}}}}};
    for (const std::string& name : std::set<std::string>{a, b})
      scene["materials"].push_back({{"name", name}});
    const MaterialPair entry = parsed(change, scene).material_pairs.front();
    auto& pairs = notes_.roughness_pairs;
    auto known = std::find_if(pairs.begin(), pairs.end(), [&](const sound::RoughnessPair& pair) {
      return std::minmax(pair.a, pair.b) == std::minmax(a, b);
    });
    if (known == pairs.end()) known = pairs.insert(pairs.end(), {.a = a, .b = b});
    if (entry.roughness) known->height = entry.roughness;
    if (entry.roughness_exponent) known->exponent = entry.roughness_exponent;
  }

  void change_body(const Change& change)
  {
    const std::vector<std::string> names = bodies_called(change);
    nlohmann::ordered_json scene = {{"bodies", {{{"shape", {{"kind", "sphere"}}}}}}};
    for (const std::string& material : materials()) scene["materials"].push_back({{"name", material}});
    const BodyEntry entry = parsed(change, scene).bodies.front();
    for (const std::string& name : names) {
      SoundBodyNote& body = notes_.bodies.at(name);
      if (change.key == "gain") body.gain = entry.gain;
      if (change.key == "sound") set_sound(change, name, entry.sound, body);
      if (change.key == "material") set_material(change, name, entry.material.name, body);
      if (change.key != "gain" && body.sounds) notes_.given_modes.push_back(name);
    }
  }

  /// After all changes: a material of which no body is made, and roughness that one of the scene replaces.
  void warn_of_unused(const Change& change)
  {
    if (change.key.starts_with("roughness") && notes_.sound.synthesis.roughness) {
      notes_.warnings.push_back(
          fmt::format("--set {}: nothing changes, because sound.roughness is {:g} for all materials.",
                      change.setting, *notes_.sound.synthesis.roughness));
    }
    const std::size_t comma = change.of == ChangeOf::pair ? change.name.find(',') : std::string::npos;
    warn_of_unused_material(change, change.name.substr(0, comma));
    if (comma != std::string::npos) warn_of_unused_material(change, change.name.substr(comma + 1));
  }

 private:
  void warn_of_unused_material(const Change& change, const std::string& said)
  {
    const std::string name = known_material(said, change);
    std::set<std::string> used;
    for (const auto& [body_name, body] : notes_.bodies)
      if (body.material.name != kNoMaterial) used.insert(body.material.name);
    if (used.contains(name)) return;
    notes_.warnings.push_back(
        fmt::format("--set {}: no body of the run is made of \"{}\", so nothing changes.{}", change.setting,
                    name, used.empty() ? "" : fmt::format(" They are of {}.", fmt::join(used, ", "))));
  }

  // Those of the bodies, and those of the library.
  [[nodiscard]] std::vector<std::string> materials() const
  {
    std::set<std::string> names;
    for (const std::string& name : elastic::MaterialLibrary::builtin().names()) names.insert(name);
    for (const auto& [name, body] : notes_.bodies)
      if (body.material.name != kNoMaterial) names.insert(body.material.name);
    return {names.begin(), names.end()};
  }

  // An alias of the library stands for the name.
  [[nodiscard]] std::string known_material(const std::string& name, const Change& change) const
  {
    const std::vector<std::string> known = materials();
    if (std::find(known.begin(), known.end(), name) != known.end()) return name;
    if (const model::Material* material = elastic::MaterialLibrary::builtin().find(name))
      return material->name;
    throw Error(
        fmt::format("--set {}: no body of the run is made of \"{}\", and the library has no such material.{}",
                    change.setting, name, hint(name, known)));
  }

  static void apply(const MaterialEntry& entry, SoundBodyNote& body)
  {
    model::Material& material = body.material;
    const bool changes_modes = entry.density || entry.young || entry.poisson;
    if (changes_modes) {
      body.modes_material.reset();
    } else if (!body.modes_material) {
      body.modes_material = material;
    }
    material.density = entry.density.value_or(material.density);
    material.young = entry.young.value_or(material.young);
    material.poisson = entry.poisson.value_or(material.poisson);
    material.contact_damping = entry.contact_damping.value_or(material.contact_damping);
    body.roughness.height = entry.roughness.value_or(body.roughness.height);
    body.roughness.exponent = entry.roughness_exponent.value_or(body.roughness.exponent);
    body.material_gain = entry.gain.value_or(body.material_gain);
    if (!entry.alpha && !entry.beta) return;
    const bool is_rayleigh = material.damping.kind == model::DampingKind::rayleigh;
    material.damping = {model::DampingKind::rayleigh,
                        entry.alpha.value_or(is_rayleigh ? material.damping.alpha : 0),
                        entry.beta.value_or(is_rayleigh ? material.damping.beta : 0),
                        0,
                        {}};
  }

  [[nodiscard]] std::vector<std::string> bodies_called(const Change& change) const
  {
    std::vector<std::string> names, known;
    for (const auto& [name, body] : notes_.bodies) {
      known.push_back(name);
      if (const std::size_t slash = name.rfind('/'); slash != std::string::npos)
        known.push_back(name.substr(0, slash));
      if (name == change.name || name.starts_with(change.name + "/")) names.push_back(name);
    }
    if (names.empty()) {
      throw Error(fmt::format("--set {}: no body of the run is called \"{}\".{}", change.setting, change.name,
                              hint(change.name, known)));
    }
    return names;
  }

  static void set_sound(const Change& change, const std::string& name, bool sounds, SoundBodyNote& body)
  {
    if (sounds && body.material.name == kNoMaterial) {
      throw Error(fmt::format(
          "--set {}: body \"{}\" has no material, from which its modes would follow. Give it one, "
          "such as --set bodies.{}.material=wood.",
          change.setting, name, change.name));
    }
    body.sounds = sounds;
  }

  void set_material(const Change& change, const std::string& name, const std::string& wanted,
                    SoundBodyNote& body)
  {
    const std::string material = known_material(wanted, change);
    const auto other = std::find_if(notes_.bodies.begin(), notes_.bodies.end(), [&](const auto& entry) {
      return entry.second.material.name == material;
    });
    warn_of_fixed_modes(change, name, body);
    // One that was silent for want of a material is heard from now on.
    if (body.material.name == kNoMaterial) body.sounds = true;
    if (other != notes_.bodies.end()) {
      body.material_gain = other->second.material_gain;
      body.roughness = model::Roughness(other->second.roughness);
      body.material = model::Material(other->second.material);
      body.modes_material = std::optional(other->second.modes_material);
    } else {
      body.material_gain = 1;
      body.roughness = elastic::MaterialLibrary::builtin().roughness_of(material);
      body.material = elastic::MaterialLibrary::builtin().get(material);
      body.modes_material.reset();
      for (const MaterialEntry& entry : changes_[material]) apply(entry, body);
    }
  }

  void warn_of_fixed_modes(const Change& change, const std::string& name, const SoundBodyNote& body)
  {
    const bool from_file = body.rings && !body.rings->file.path.empty();
    if (!body.sounds || (!from_file && body.simulated_modes == 0)) return;
    notes_.warnings.push_back(fmt::format(
        "--set {}: the {} of body \"{}\" {}, with their own frequencies and damping, and stay as they are.",
        change.setting, from_file ? "modes" : fmt::format("lowest {} modes", body.simulated_modes), name,
        from_file ? "come from a file" : "were part of the simulation"));
  }

  SoundNotes& notes_;
  std::map<std::string, std::vector<MaterialEntry>> changes_;  ///< by material, in their order
};

}  // namespace

bool is_sound_change(const std::string& setting)
{
  return setting.starts_with(kMaterials) || setting.starts_with(kPairs) || setting.starts_with(kBodies);
}

// Materials first, so that it does not matter whether a body gets one before or after it is changed; then
// what bodies are made of, before whether they are heard.
void apply_sound_changes(SoundNotes& notes, const std::vector<std::string>& settings)
{
  std::vector<Change> changes;
  std::string wrong;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      wrong += (wrong.empty() ? "" : "\n") + std::string(error.what());
    }
  };
  for (const std::string& setting : settings)
    if (is_sound_change(setting)) attempt([&] { changes.push_back(parse_change(setting)); });
  const auto rank = [](const Change& change) {
    return change.of != ChangeOf::body ? 0 : change.key == "material" ? 1 : 2;
  };
  std::stable_sort(changes.begin(), changes.end(),
                   [&](const Change& a, const Change& b) { return rank(a) < rank(b); });
  Changer changer(notes);
  for (const Change& change : changes) {
    attempt([&] {
      if (change.of == ChangeOf::material) changer.change_material(change);
      if (change.of == ChangeOf::pair) changer.change_pair(change);
      if (change.of == ChangeOf::body) changer.change_body(change);
    });
  }
  if (!wrong.empty()) throw Error(wrong);
  for (const Change& change : changes)
    if (change.of != ChangeOf::body) changer.warn_of_unused(change);
}

}  // namespace thrum::scene
