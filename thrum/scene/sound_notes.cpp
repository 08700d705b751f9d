// SPDX-License-Identifier: MIT
#include "thrum/scene/sound_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/scene/sound_changes.h"
#include "thrum/sound/excitation.h"

namespace thrum::scene {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Vec3& v)
{
  return {v.x(), v.y(), v.z()};
}

Vec3 vec3_of(const Json& json)
{
  return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()};
}

std::optional<Vec3> optional_vec3(const Json& json, const char* key)
{
  if (!json.contains(key)) return {};
  return vec3_of(json.at(key));
}

std::optional<double> optional_number(const Json& json, const char* key)
{
  if (!json.contains(key)) return {};
  return json.at(key).get<double>();
}

Json json_of(const model::Material& m)
{
  return {{"name", m.name},
          {"density", m.density},
          {"young", m.young},
          {"poisson", m.poisson},
          {"damping", static_cast<int>(m.damping.kind)},
          {"alpha", m.damping.alpha},
          {"beta", m.damping.beta},
          {"loss_factor", m.damping.loss_factor},
          {"decays", m.damping.decays},
          {"contact_damping", m.contact_damping}};
}

model::Material material_of(const Json& json)
{
  model::Material m;
  m.name = json.at("name");
  m.density = json.at("density");
  m.young = json.at("young");
  m.poisson = json.at("poisson");
  m.damping.kind = static_cast<model::DampingKind>(json.at("damping").get<int>());
  m.damping.alpha = json.at("alpha");
  m.damping.beta = json.at("beta");
  m.damping.loss_factor = json.at("loss_factor");
  m.damping.decays = json.at("decays").get<std::vector<double>>();
  m.contact_damping = json.at("contact_damping");
  return m;
}

Json json_of(const RingsEntry& rings)
{
  Json json = {{"file", rings.file.path.string()},
               {"modes", rings.modes},
               {"clamp", rings.clamp},
               {"spacing", rings.spacing},
               {"thickness", rings.thickness},
               {"fill", static_cast<int>(rings.fill)},
               {"quality", static_cast<int>(rings.quality)}};
  if (rings.grid) json["grid"] = json_of(*rings.grid);
  return json;
}

RingsEntry rings_of(const Json& json)
{
  RingsEntry rings;
  rings.file.path = json.at("file").get<std::string>();
  rings.modes = json.at("modes");
  rings.clamp = json.at("clamp");
  rings.spacing = json.at("spacing");
  rings.thickness = json.value("thickness", 0.0);
  rings.fill = static_cast<RingsFill>(json.value("fill", 0));
  rings.quality = static_cast<RingsQuality>(json.value("quality", static_cast<int>(RingsQuality::normal)));
  rings.grid = optional_vec3(json, "grid");
  return rings;
}

// With the keys of scene files, so that their reader reads it back.
Json json_of(const SoundEntry& sound)
{
  const sound::SynthesisSettings& s = sound.synthesis;
  const char* radiations[] = {"scalar", "multipole", "equivalent_sources"};
  Json json = {{"sample_rate", s.sample_rate},
               {"min_frequency", s.min_frequency},
               {"max_frequency", s.max_frequency},
               {"modes", s.modes},
               {"diffuse_modes", s.diffuse_modes},
               {"max_tetrahedra", s.max_tetrahedra},
               {"radiation", radiations[at(s.radiation)]},
               {"contact_damping_scale", s.contact_damping_scale},
               {"rolling", s.rolling},
               {"acceleration_noise", s.acceleration_noise},
               {"min_impact_speed", s.min_impact_speed},
               {"seed", s.seed},
               {"full_scale", sound.full_scale},
               {"normalise", sound.normalise},
               {"tail", sound.tail},
               {"impulse_duration", sound.impulse_duration},
               {"ground_reflection", sound.ground_reflection},
               {"air_absorption", sound.air_absorption},
               {"stems", sound.stems}};
  if (s.roughness) json["roughness"] = *s.roughness;
  return json;
}

Json json_of(const ListenerEntry& listener)
{
  const char* kinds[] = {"mono", "stereo", "microphones", "ambisonic", "binaural"};
  Json json = {{"kind", kinds[at(listener.kind)]}, {"spacing", listener.spacing}};
  if (!listener.hrtf.path.empty()) json["hrtf"] = std::filesystem::absolute(listener.hrtf.path).string();
  Json microphones = Json::array();
  for (const sound::Microphone& m : listener.microphones) {
    microphones.push_back({{"name", m.name},
                           {"position", json_of(m.position)},
                           {"pattern", m.pattern},
                           {"axis", json_of(m.axis)}});
  }
  if (!microphones.empty()) json["microphones"] = microphones;
  if (listener.position) json["position"] = json_of(*listener.position);
  if (listener.forward) json["forward"] = json_of(*listener.forward);
  if (!listener.body.empty()) json["body"] = listener.body;
  Json path = Json::array();
  for (const ListenerKey& key : listener.path) {
    Json of_key = {{"time", key.time}, {"position", json_of(key.position)}};
    if (key.forward) of_key["forward"] = json_of(*key.forward);
    path.push_back(of_key);
  }
  if (!path.empty()) json["path"] = path;
  return json;
}

// Mistakes in the words of the option that made them; a note of the recording has no file of its own.
std::string describe_mistakes(const SceneError& error, const std::vector<std::string>& settings)
{
  std::string text;
  for (const Mistake& mistake : error.mistakes()) {
    std::string option;
    for (const std::string& setting : settings) {
      const std::string path = setting.substr(0, setting.find('='));
      if (mistake.place.path.starts_with(path) || path.starts_with(mistake.place.path)) option = setting;
    }
    text += text.empty() ? "" : "\n";
    text += option.empty() ? "The settings of sound in the recording: " : fmt::format("--set {}: ", option);
    text += fmt::format("{} {}", mistake.place.path, mistake.message);
    if (!mistake.nearest.empty()) text += fmt::format(" Did you mean \"{}\"?", mistake.nearest);
  }
  return text;
}

}  // namespace

namespace {

// The modes of a body that take part in contact.
void note_simulated_modes(const BuiltScene& built, std::size_t body, SoundBodyNote& note)
{
  if (built.world.desc().stepper != sim::StepperKind::flexible) return;
  const auto late = built.late_bodies.find(body);
  const std::shared_ptr<const model::ModalModel> model =
      late != built.late_bodies.end() ? late->second.modes : built.world.modes_of(built.ids[body]);
  const auto entry = std::find_if(built.modes.begin(), built.modes.end(),
                                  [&](const auto& known) { return model && known.second == model; });
  if (entry == built.modes.end()) return;
  const double highest = built.world.desc().flexible.max_frequency;
  note.simulated_modes = static_cast<int>(std::count_if(model->frequencies.begin(), model->frequencies.end(),
                                                        [&](double f) { return f <= highest; }));
  if (note.simulated_modes > 0) note.simulated_file = "modes/" + modes_file_name(entry->first);
}

}  // namespace

std::string modes_file_name(std::string body)
{
  std::replace(body.begin(), body.end(), '/', '_');
  return body + ".npz";
}

void check_same_run(const std::filesystem::path& folder, const std::string& recorded)
{
  const sound::ExcitationReader reader(folder / "contacts");
  if (reader.is_cut_short()) return;  // before the first contact
  const auto& contacts = reader.run();
  if ((contacts ? base::to_hex(*contacts) : "") == recorded) return;
  throw Error(fmt::format(
      "The contacts and the recording in {} are of different runs, so the sound would not fit the "
      "motion. Run the scene again.",
      folder.string()));
}

SoundNotes sound_notes(const SceneDesc& scene, const BuiltScene& built)
{
  SoundNotes notes;
  notes.sound = scene.sound.value_or(SoundEntry{});
  notes.listener = scene.listener;
  for (std::size_t i = 0; i < built.visuals.size(); ++i) {
    SoundBodyNote& note = notes.bodies[built.visuals[i].name];
    const BodySound& sound = built.sounds[i];
    note = {sound.sounds, built.materials[i],  sound.rings,     {}, 0,
            sound.gain,   sound.material_gain, sound.roughness, {}};
    note_simulated_modes(built, i, note);
  }
  notes.roughness_pairs = built.roughness_pairs;
  for (const ScriptedImpulse& impulse : built.impulses) {
    notes.impulses.push_back(
        {built.visuals[impulse.body].name, impulse.time, impulse.impulse, impulse.position_s});
  }
  return notes;
}

std::string sound_notes_text(const SoundNotes& notes)
{
  Json bodies = Json::object();
  for (const auto& [name, body] : notes.bodies) {
    Json json = {{"sounds", body.sounds},
                 {"material", json_of(body.material)},
                 {"roughness", body.roughness.height},
                 {"roughness_exponent", body.roughness.exponent}};
    if (body.gain != 1) json["gain"] = body.gain;
    if (body.material_gain != 1) json["material_gain"] = body.material_gain;
    if (body.rings) json["rings"] = json_of(*body.rings);
    if (body.simulated_modes > 0) {
      json["simulated_file"] = body.simulated_file;
      json["simulated_modes"] = body.simulated_modes;
    }
    bodies[name] = json;
  }
  Json impulses = Json::array();
  for (const SoundImpulseNote& impulse : notes.impulses) {
    Json json = {{"body", impulse.body}, {"time", impulse.time}, {"impulse", json_of(impulse.impulse)}};
    if (impulse.position_s) json["position"] = json_of(*impulse.position_s);
    impulses.push_back(json);
  }
  const Json scene = {{"sound", json_of(notes.sound)}, {"listener", json_of(notes.listener)}};
  Json pairs = Json::array();
  for (const sound::RoughnessPair& pair : notes.roughness_pairs) {
    Json json = {{"a", pair.a}, {"b", pair.b}};
    if (pair.height) json["roughness"] = *pair.height;
    if (pair.exponent) json["roughness_exponent"] = *pair.exponent;
    pairs.push_back(json);
  }
  const Json note = {
      {"scene", scene}, {"bodies", bodies}, {"roughness_pairs", pairs}, {"impulses", impulses}};
  return note.dump(-1, ' ', false, Json::error_handler_t::replace);
}

SoundNotes parse_sound_notes(std::string_view text, const std::vector<std::string>& settings)
{
  SoundNotes notes;
  std::string scene_text;
  try {
    const Json note = Json::parse(text);
    scene_text = note.at("scene").dump();
    for (const auto& [name, json] : note.at("bodies").items()) {
      SoundBodyNote& body = notes.bodies[name];
      body.sounds = json.at("sounds");
      body.material = material_of(json.at("material"));
      if (json.contains("rings")) body.rings = rings_of(json.at("rings"));
      body.simulated_file = json.value("simulated_file", "");
      body.simulated_modes = json.value("simulated_modes", 0);
      body.gain = json.value("gain", 1.0);
      body.material_gain = json.value("material_gain", 1.0);
      // Recordings of before had one roughness for all, in their settings.
      body.roughness.height = json.value("roughness", body.roughness.height);
      body.roughness.exponent = json.value("roughness_exponent", body.roughness.exponent);
    }
    for (const Json& json : note.value("roughness_pairs", Json::array())) {
      notes.roughness_pairs.push_back({json.at("a"), json.at("b"), optional_number(json, "roughness"),
                                       optional_number(json, "roughness_exponent")});
    }
    for (const Json& json : note.at("impulses")) {
      notes.impulses.push_back(
          {json.at("body"), json.at("time"), vec3_of(json.at("impulse")), optional_vec3(json, "position")});
    }
  } catch (const Json::exception& failure) {
    throw Error(fmt::format("The notes on sound of the recording cannot be read: {}. Run the scene again.",
                            failure.what()));
  }
  try {
    std::vector<std::string> of_scene;
    for (const std::string& setting : settings)
      if (!is_sound_change(setting)) of_scene.push_back(setting);
    const SceneDesc scene = parse_scene(scene_text, "", {.settings = of_scene});
    notes.sound = scene.sound.value_or(SoundEntry{});
    notes.listener = scene.listener;
  } catch (const SceneError& error) {
    throw Error(describe_mistakes(error, settings));
  }
  apply_sound_changes(notes, settings);
  return notes;
}

}  // namespace thrum::scene
