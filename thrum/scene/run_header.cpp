// SPDX-License-Identifier: MIT
#include "thrum/scene/run_header.h"

#include <fmt/format.h>

#include <map>

#include "thrum/base/atomic_file.h"
#include "thrum/scene/sound_notes.h"

namespace thrum::scene {

namespace {

void add_mesh_files(const SceneShape& shape, base::Hasher& hasher)
{
  if (const auto* file = std::get_if<FileShape>(&shape.data))
    hasher.add(base::read_text_file(file->file.path));
  if (const auto* compound = std::get_if<CompoundShape>(&shape.data)) {
    for (const CompoundPartDesc& part : compound->parts) add_mesh_files(part.shape, hasher);
  }
}

}  // namespace

sim::WorldRecorderDesc recorder_desc(const SceneDesc& scene, const BuiltScene& built, const RunDesc& desc)
{
  sim::WorldRecorderDesc header;
  const auto number = [](double x) {
    return fmt::format("{:.17g}", x);
  };
  // A scene that was not read from a file has no name.
  std::filesystem::path source = desc.scene_file;
  if (!source.empty()) source = std::filesystem::absolute(source).lexically_normal();
  header.notes = {{"scene", source.string()},
                  {"title", scene.title},
                  {"version", desc.version},
                  {"seed", std::to_string(scene.seed)},
                  {"step", number(scene.step)},
                  {"duration", number(scene.duration)},
                  {"source", base::to_hex(scene.source_hash)}};
  for (const std::string& setting : desc.reading.settings) header.notes.emplace_back("set", setting);
  const CameraEntry& camera = scene.camera;
  const auto vec = [&](const Vec3& v) {
    return fmt::format("{:.17g} {:.17g} {:.17g}", v.x(), v.y(), v.z());
  };
  if (camera.eye) header.notes.emplace_back("camera eye", vec(*camera.eye));
  if (camera.target) header.notes.emplace_back("camera target", vec(*camera.target));
  header.notes.emplace_back("camera from", vec(camera.from));
  header.notes.emplace_back("camera field of view", number(camera.field_of_view));
  if (scene.sound) {
    header.notes.emplace_back("sound", sound_notes_text(sound_notes(scene, built)));
    header.notes.emplace_back("run", base::to_hex(run_identity(scene, desc)));
  }
  // A body is looked up by its name while it is added, before the scene knows its id.
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < built.visuals.size(); ++i) numbers[built.visuals[i].name] = i;
  header.look = [&built, numbers = std::move(numbers)](model::BodyId id) -> sim::BodyLook {
    const BodyVisual& visual = built.visuals[numbers.at(built.world.desc_of(id).name)];
    return {built.meshes[visual.mesh], {visual.colour[0], visual.colour[1], visual.colour[2]}};
  };
  return header;
}

base::Hash128 run_identity(const SceneDesc& scene, const RunDesc& desc)
{
  const base::Hash128 files = dependency_hash(scene);
  base::Hasher hasher;
  hasher.add(files.low).add(files.high).add(desc.version).add(scene.seed).add(scene.step).add(scene.duration);
  for (const std::string& setting : desc.reading.settings) hasher.add(setting);
  return hasher.finish();
}

base::Hash128 dependency_hash(const SceneDesc& scene)
{
  base::Hasher hasher;
  hasher.add(scene.source_hash.low).add(scene.source_hash.high);
  for (const ShapeEntry& entry : scene.shapes) add_mesh_files(entry.shape, hasher);
  for (const BodyEntry& body : scene.bodies) {
    if (body.shape.object) add_mesh_files(*body.shape.object, hasher);
    if (body.rings && !body.rings->file.path.empty()) hasher.add(base::read_text_file(body.rings->file.path));
  }
  return hasher.finish();
}

}  // namespace thrum::scene
