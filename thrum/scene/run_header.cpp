// SPDX-License-Identifier: MIT
#include "thrum/scene/run_header.h"

#include <fmt/format.h>

#include "thrum/base/atomic_file.h"

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

sim::RecordingHeader recording_header(const SceneDesc& scene, const BuiltScene& built, const RunDesc& desc)
{
  sim::RecordingHeader header;
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
  for (std::size_t i = 0; i < built.visuals.size(); ++i) {
    const BodyVisual& visual = built.visuals[i];
    const model::BodyDesc& body = built.world.model().bodies[i];
    header.bodies.push_back({visual.name,
                             static_cast<std::int32_t>(visual.mesh),
                             {visual.colour[0], visual.colour[1], visual.colour[2]},
                             body.motion,
                             body.motion == model::Motion::dynamic ? body.mass : 0});
  }
  for (const auto& mesh : built.meshes) header.meshes.push_back(*mesh);
  for (const model::Joint& joint : built.world.model().joints) {
    if (joint.kind != model::JointKind::distance && joint.kind != model::JointKind::spring) continue;
    const auto in_shape = [&](model::BodyIndex id, const Pose& X_bj) {
      const Vec3 p =
          id == model::kNone
              ? X_bj.position
              : built.world.model().bodies[static_cast<std::size_t>(id)].X_bs.point_to_local(X_bj.position);
      return std::array<float, 3>{static_cast<float>(p.x()), static_cast<float>(p.y()),
                                  static_cast<float>(p.z())};
    };
    header.links.push_back({joint.a, joint.b, in_shape(joint.a, joint.X_aj), in_shape(joint.b, joint.X_bj)});
  }
  return header;
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
