// SPDX-License-Identifier: MIT
#include "tests/fuzz/readers.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/fuzz/chunk_checksums.h"
#include "tests/fuzz/zip_checksums.h"
#include "tests/support/full_world.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/elastic/modal_file.h"
#include "thrum/media/viewer_data.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/mesh_io/tetrahedral_mesh_io.h"
#include "thrum/scene/located_json.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_file.h"
#include "thrum/sim/checkpoint.h"
#include "thrum/sim/recording.h"

namespace thrum::fuzz {

namespace {

void require(bool condition, const char* what)
{
  if (condition) return;
  std::fprintf(stderr, "invalid result: %s\n", what);
  std::abort();
}

void check(const mesh_io::MeshFile& file)
{
  mesh::check_indices(file.mesh);
  require(file.parts.empty() || file.parts.size() == file.mesh.triangles.size(), "a part per triangle");
  for (const Index p : file.parts)
    require(p >= 0 && static_cast<std::size_t>(p) < file.part_names.size(), "part");
}

void check(const mesh_io::TetrahedralMeshFile& file)
{
  const mesh::TetrahedralMesh& mesh = file.mesh;
  for (const Tetrahedron& t : mesh.tetrahedra) {
    for (const Index v : t) require(v >= 0 && static_cast<std::size_t>(v) < mesh.vertices.size(), "corner");
  }
  for (const Vec3& p : mesh.vertices) require(p.allFinite(), "finite");
  require(mesh.regions.empty() || mesh.regions.size() == mesh.tetrahedra.size(), "a region per tetrahedron");
  for (const Index r : mesh.regions)
    require(r >= 0 && static_cast<std::size_t>(r) < mesh.region_names.size(), "region");
}

// Two files in one: TetGen's are separated by a line "%".
void check_tetgen(std::string_view bytes)
{
  const std::size_t cut = bytes.find("%\n");
  const std::string_view node = bytes.substr(0, cut);
  const std::string_view ele = cut == std::string_view::npos ? std::string_view() : bytes.substr(cut + 2);
  check(mesh_io::read_tetgen(node, "fuzz.node", ele, "fuzz.ele"));
}

std::span<const std::byte> bytes_of(std::string_view text)
{
  return std::as_bytes(std::span(text));
}

// An array has as many values as its shape requires.
void check_npz(std::string_view bytes)
{
  const base::NpzFile file = base::parse_npz(bytes_of(fix_zip_checksums(std::string(bytes))), "fuzz.npz");
  for (const auto& [name, array] : file.arrays()) {
    std::size_t product = 1;
    for (const std::size_t n : array.shape) product *= n;
    require(array.size() == product, "as many values as the shape requires");
  }
}

void check_modal(std::string_view bytes)
{
  const std::string sound = fix_zip_checksums(std::string(bytes));
  const model::ModalModel model = elastic::parse_modal_file(bytes_of(sound), "fuzz.npz");
  mesh::check_indices(model.surface);
  const auto vertices = static_cast<Eigen::Index>(model.surface.vertices.size());
  require(model.decays.size() == model.frequencies.size(), "a decay per mode");
  require(model.shapes.rows() == 3 * vertices && model.shapes.cols() == model.frequencies.size(), "shapes");
  require(model.shapes.allFinite() && model.frequencies.allFinite() && model.decays.allFinite(), "finite");
  require(model.node_count >= 0 && model.element_count >= 0 && model.rigid_mode_count >= 0, "counts");
}

// Every value has a position in the text, and a description.
void check_json(const scene::JsonValue& value, int depth)
{
  require(depth <= scene::kMaxNesting + 1, "depth");
  require(value.line() >= 1 && value.column() >= 1, "a position");
  require(!value.describe().empty(), "words");
  if (const scene::JsonArray* array = value.array()) {
    for (const scene::JsonValue& element : *array) check_json(element, depth + 1);
  }
  if (const scene::JsonObject* object = value.object()) {
    for (const scene::JsonMember& member : *object) {
      require(value.find(member.key) == &member.value, "each key once");
      check_json(member.value, depth + 1);
    }
  }
}

// Every accepted recording can be displayed: all indices of bodies and meshes are valid.
void check_recording(std::string_view bytes)
{
  const sim::Recording recording = sim::parse_recording(fix_chunk_checksums(std::string(bytes)), "fuzz");
  const std::size_t bodies = recording.header.bodies.size();
  for (const sim::RecordedBody& body : recording.header.bodies)
    require(static_cast<std::size_t>(body.mesh) < recording.header.meshes.size(), "mesh");
  for (const sim::RecordedMode& mode : recording.header.modes) {
    require(static_cast<std::size_t>(mode.mesh) < recording.header.meshes.size(), "mesh of a mode");
    require(mode.displacements.size() ==
                3 * recording.header.meshes[static_cast<std::size_t>(mode.mesh)].vertices.size(),
            "a displacement for each vertex");
  }
  for (const sim::RecordedLink& link : recording.header.links) {
    require(static_cast<std::size_t>(link.a) < bodies &&
                (link.b < 0 || static_cast<std::size_t>(link.b) < bodies),
            "bodies of a link");
  }
  for (const sim::RecordedFrame& frame : recording.frames) {
    require(frame.poses.size() == bodies, "a pose for each body");
    for (const sim::RecordedBend& bend : frame.bends) {
      require(static_cast<std::size_t>(bend.body) < bodies, "a bent body");
      const mesh::TriangleMesh bent =
          sim::bent_mesh(recording.header, static_cast<std::size_t>(bend.body), frame);
      for (const Vec3& v : bent.vertices) require(v.allFinite(), "finite");
    }
    for (const sim::RecordedContact& c : frame.contacts) {
      require(static_cast<std::size_t>(c.a) < bodies && static_cast<std::size_t>(c.b) < bodies,
              "bodies of a contact");
    }
  }
  require(!media::viewer_data({{.recording = &recording}}).empty(), "a page");
}

// The worlds that checkpoints are restored into; restore() sets all that a step depends on.
testing::FullWorld& world_for(sim::StepperKind stepper)
{
  static testing::FullWorld constraint(sim::StepperKind::constraint);
  static testing::FullWorld impulse(sim::StepperKind::impulse);
  return stepper == sim::StepperKind::constraint ? constraint : impulse;
}

// A state that is accepted can be stepped from. One that is refused, or that the step gives up on, has a
// message.
void check_checkpoint(std::string_view bytes)
{
  const sim::Checkpoint checkpoint =
      sim::parse_checkpoint(fix_checkpoint_checksum(std::string(bytes)), "fuzz");
  for (const auto stepper : {sim::StepperKind::constraint, sim::StepperKind::impulse}) {
    sim::World& world = world_for(stepper).world;
    world.restore(checkpoint.state);
    for (int i = 0; i < 2; ++i) world.step(testing::FullWorld::kStep);
    require(world.state().step - checkpoint.state.step >= 2, "two steps");
  }
}

}  // namespace

std::vector<std::string> generated_seeds(std::string_view reader)
{
  std::vector<std::string> seeds;
  if (reader != "checkpoint") return seeds;
  for (const auto stepper : {sim::StepperKind::constraint, sim::StepperKind::impulse}) {
    sim::Checkpoint checkpoint;
    checkpoint.state = testing::FullWorld(stepper).state_after_impact();
    checkpoint.steps_done = checkpoint.state.step;
    seeds.push_back(sim::checkpoint_bytes(checkpoint));
  }
  return seeds;
}

bool read_and_check(std::string_view reader, std::string_view bytes)
{
  try {
    if (reader == "npz") {
      check_npz(bytes);
    } else if (reader == "modal") {
      check_modal(bytes);
    } else if (reader == "json") {
      check_json(scene::parse_json(bytes, "fuzz.json"), 1);
    } else if (reader == "scene") {
      require(scene::parse_scene(bytes, "fuzz.json").duration > 0, "a duration");
    } else if (reader == "recording") {
      check_recording(bytes);
    } else if (reader == "checkpoint") {
      check_checkpoint(bytes);
    } else if (reader == "msh") {
      check(mesh_io::read_msh(bytes, "fuzz.msh"));
    } else if (reader == "tetgen") {
      check_tetgen(bytes);
    } else if (reader == "gltf") {
      check(mesh_io::read_gltf(bytes, "fuzz.glb", {}));
    } else if (reader == "obj") {
      check(mesh_io::read_obj(bytes, "fuzz.obj"));
    } else if (reader == "ply") {
      check(mesh_io::read_ply(bytes, "fuzz.ply"));
    } else if (reader == "stl") {
      check(mesh_io::read_stl(bytes, "fuzz.stl"));
    } else {
      require(false, "no such reader");
    }
  } catch (const scene::SceneError& error) {
    // One sentence for each error.
    require(std::string_view(error.what()).size() > 10, "a message");
    return false;
  } catch (const Error& error) {
    // The message must fit one or two lines of a terminal, whatever the file contains.
    constexpr std::size_t kMaxMessageLength = 600;
    require(std::string_view(error.what()).size() < kMaxMessageLength, "a short message");
    return false;
  }
  return true;
}

}  // namespace thrum::fuzz
