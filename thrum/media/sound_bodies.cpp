// SPDX-License-Identifier: MIT
#include "thrum/media/sound_bodies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/damping.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/elastic/supports.h"
#include "thrum/elastic/surface_modes.h"

namespace thrum::media {

namespace {

constexpr double kThinWallFactor = 3;                ///< more tetrahedra for a body that too few cannot fill
constexpr const char* kDefaultMaterial = "default";  ///< of bodies without a material: it has no damping

std::shared_ptr<const model::ModalModel> find_modes(const mesh::TriangleMesh& mesh,
                                                    const scene::SoundBodyNote& note, const std::string& name,
                                                    const sound::SynthesisSettings& settings,
                                                    const base::ProgressDesc& progress)
{
  const scene::RingsEntry rings = note.rings.value_or(scene::RingsEntry{});
  if (!rings.file.path.empty())
    return std::make_shared<const model::ModalModel>(elastic::read_modal_file(rings.file.path));
  elastic::ModalAnalysisDesc desc;
  desc.name = name;
  desc.materials = {note.modes_material.value_or(note.material)};
  if (!rings.clamp.empty()) {
    for (const model::Selection& where : elastic::parse_selections(rings.clamp))
      desc.supports.push_back({where, {true, true, true}});
  }
  desc.count = settings.modes;
  desc.below = settings.max_frequency;
  desc.estimate_errors = false;
  desc.progress = progress;
  elastic::FillDesc fill = {
      .spacing = rings.spacing, .max_tetrahedra = settings.max_tetrahedra, .grid = rings.grid};
  fill.thickness = rings.thickness;
  if (rings.fill == scene::RingsFill::stuffing) fill.method = elastic::FillMethod::stuffing;
  if (rings.quality == scene::RingsQuality::draft) fill.quality = elastic::Quality::draft;
  if (rings.quality == scene::RingsQuality::fine) fill.quality = elastic::Quality::fine;
  elastic::ModalAnalysisResult result;
  try {
    result = elastic::analyse_surface_modes_cached(mesh, fill, desc);
  } catch (const Error&) {
    // Thin walls need more.
    fill.max_tetrahedra = kThinWallFactor * settings.max_tetrahedra;
    result = elastic::analyse_surface_modes_cached(mesh, fill, desc);
  }
  if (!result.ok()) throw Error(elastic::describe_failure(result));
  if (note.modes_material) {
    result.model.decays = elastic::decays_of_modes(note.material.damping, result.model.frequencies);
    result.model.materials = {note.material};
  }
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

// The modes above a frequency [Hz].
std::shared_ptr<const model::ModalModel> modes_above(const model::ModalModel& model, double frequency)
{
  Eigen::Index first = 0;
  while (first < model.frequencies.size() && model.frequencies[first] <= frequency) ++first;
  const Eigen::Index count = model.frequencies.size() - first;
  auto above = std::make_shared<model::ModalModel>(model);
  above->frequencies = model.frequencies.tail(count);
  above->decays = model.decays.tail(count);
  above->shapes = model.shapes.rightCols(count);
  above->frequency_errors.resize(0);
  return above;
}

// Modes that were simulated are heard however low they are: a body that is held moves them at the frequencies
// of its free part.
std::shared_ptr<const sound::SoundModel> simulated_model(const std::filesystem::path& folder,
                                                         const mesh::TriangleMesh& mesh,
                                                         const scene::SoundBodyNote& note,
                                                         sound::SynthesisSettings settings)
{
  settings.min_frequency = 0;
  settings.modes = note.simulated_modes;
  settings.diffuse_modes = false;
  auto modes =
      std::make_shared<const model::ModalModel>(elastic::read_modal_file(folder / note.simulated_file));
  return std::make_shared<const sound::SoundModel>(std::move(modes), mesh, note.material, settings);
}

// Of bodies that were given modes in vain.
void warn_of_silent_kinds(const sim::RecordingHeader& header, const scene::SoundNotes& notes,
                          std::vector<std::string>& warnings)
{
  for (const sim::RecordedBody& body : header.bodies) {
    if (std::find(notes.given_modes.begin(), notes.given_modes.end(), body.name) == notes.given_modes.end())
      continue;
    const bool is_unbounded = header.meshes[at(body.mesh)].triangles.empty();
    if (!is_unbounded && body.motion != model::Motion::kinematic) continue;
    warnings.push_back(fmt::format("Body '{}' {} and stays silent; its material counts for what strikes it.",
                                   body.name,
                                   is_unbounded ? "is a plane or a height field" : "is kinematic"));
  }
}

// What two bodies must have in common to share a model.
std::string model_key(std::int32_t mesh, const scene::SoundBodyNote& note)
{
  scene::SoundNotes one;
  one.bodies["body"] = note;
  one.bodies["body"].gain = one.bodies["body"].material_gain = 1;
  one.bodies["body"].roughness = {};
  return fmt::format("{} {}", mesh, scene::sound_notes_text(one));
}

}  // namespace

SoundBodies find_sound_bodies(const std::filesystem::path& folder, const sim::RecordingHeader& header,
                              const scene::SoundNotes& notes, const base::ProgressDesc& progress)
{
  SoundBodies result;
  warn_of_silent_kinds(header, notes, result.warnings);
  std::map<std::string, std::shared_ptr<const sound::SoundModel>> models;
  std::map<std::string, std::shared_ptr<const sound::SoundModel>> simulated;  // by file
  const sound::SynthesisSettings& settings = notes.sound.synthesis;
  for (const sim::RecordedBody& body : header.bodies) {
    const mesh::TriangleMesh& mesh = header.meshes[at(body.mesh)];
    const auto found = notes.bodies.find(body.name);
    const scene::SoundBodyNote note = found != notes.bodies.end() ? found->second : scene::SoundBodyNote{};
    const bool moves = body.motion == model::Motion::dynamic;
    sound::SynthesisBody& sounding = result.bodies.emplace_back();
    sounding.name = body.name;
    sounding.mass = moves ? body.mass : 0;
    sounding.sounds = note.sounds && body.motion != model::Motion::kinematic;
    sounding.gain = note.gain * note.material_gain;
    sounding.material = note.material.name;
    sounding.roughness = note.roughness;
    if (note.sounds && note.simulated_modes > 0) {
      auto& known = simulated[note.simulated_file];
      try {
        if (!known) known = simulated_model(folder, mesh, note, settings);
        sounding.simulated = known;
      } catch (const Error& error) {
        result.warnings.push_back(fmt::format(
            "The modes of body '{}' that were simulated cannot be read, and its sound is made from "
            "the contacts of slices alone: {}",
            body.name, error.what()));
      }
    }
    auto& model = models[model_key(body.mesh, note)];
    if (!model) {
      std::shared_ptr<const model::ModalModel> modes;
      const bool rings = sounding.sounds && settings.modes > 0 && !mesh.triangles.empty() &&
                         note.material.name != kDefaultMaterial && note.material.young > 0;
      try {
        if (rings) modes = find_modes(mesh, note, body.name, settings, progress);
      } catch (const base::Stopped&) {
        throw;
      } catch (const Error& error) {
        result.warnings.push_back(
            fmt::format("Body '{}' has no modes and only clicks: {}", body.name, error.what()));
      }
      if (modes && sounding.simulated)
        modes = modes_above(*modes, sounding.simulated->modal_model()->frequencies[note.simulated_modes - 1]);
      model = std::make_shared<const sound::SoundModel>(modes, mesh, note.material, settings);
    }
    sounding.model = model;
    Vec3 centre = Vec3::Zero();
    if (sounding.simulated) {
      centre = sounding.simulated->modal_model()->centre_of_mass;
    } else if (model->modal_model() != nullptr) {
      centre = model->modal_model()->centre_of_mass;
    } else if (!mesh.vertices.empty()) {
      centre = mesh::bounding_box(mesh).center();
    }
    result.centres.push_back(centre);
  }
  return result;
}

}  // namespace thrum::media
