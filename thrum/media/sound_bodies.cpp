// SPDX-License-Identifier: MIT
#include "thrum/media/sound_bodies.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
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
  desc.materials = {note.material};
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
  return std::make_shared<const model::ModalModel>(std::move(result.model));
}

// What two bodies must have in common to share a model.
std::string model_key(std::int32_t mesh, const scene::SoundBodyNote& note)
{
  scene::SoundNotes one;
  one.bodies["body"] = note;
  return fmt::format("{} {}", mesh, scene::sound_notes_text(one));
}

}  // namespace

SoundBodies find_sound_bodies(const sim::RecordingHeader& header, const scene::SoundNotes& notes,
                              const base::ProgressDesc& progress)
{
  SoundBodies result;
  std::map<std::string, std::shared_ptr<const sound::SoundModel>> models;
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
      model = std::make_shared<const sound::SoundModel>(modes, mesh, note.material, settings);
    }
    sounding.model = model;
    Vec3 centre = Vec3::Zero();
    if (model->modal_model() != nullptr) {
      centre = model->modal_model()->centre_of_mass;
    } else if (!mesh.vertices.empty()) {
      centre = mesh::bounding_box(mesh).center();
    }
    result.centres.push_back(centre);
  }
  return result;
}

}  // namespace thrum::media
