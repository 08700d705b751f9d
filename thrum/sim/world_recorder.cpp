// SPDX-License-Identifier: MIT
#include "thrum/sim/world_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/model/modal_model.h"
#include "thrum/sim/display_mesh.h"

namespace thrum::sim {

namespace {

std::array<float, 3> floats(const Vec3& v)
{
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

// Vertices as they are stored, so that a mesh is known again after it was read.
base::Hash128 stored_hash(const mesh::TriangleMesh& mesh)
{
  std::vector<float> vertices;
  vertices.reserve(3 * mesh.vertices.size());
  for (const Vec3& v : mesh.vertices) {
    for (const double x : v) vertices.push_back(static_cast<float>(x));
  }
  return base::Hasher().add(vertices).add(mesh.triangles).finish();
}

base::Hash128 stored_hash(const RecordedMode& mode)
{
  return base::Hasher().add(mode.mesh).add(mode.number).add(mode.displacements).finish();
}

}  // namespace

WorldRecorder::WorldRecorder(World& world, const std::filesystem::path& file, WorldRecorderDesc desc)
    : world_(world), desc_(std::move(desc)), writer_(file, header())
{
  world_.add_observer(*this);
}

WorldRecorder::WorldRecorder(World& world, const std::filesystem::path& file, std::uint64_t length,
                             const Recording& before, WorldRecorderDesc desc)
    : world_(world), desc_(std::move(desc)), writer_(file, length, before)
{
  list_known(before);
  world_.add_observer(*this);
}

WorldRecorder::~WorldRecorder()
{
  world_.remove_observer(*this);
}

std::int32_t WorldRecorder::mesh_number(const std::shared_ptr<const mesh::TriangleMesh>& mesh, bool& is_new)
{
  is_new = false;
  const auto [number, is_new_pointer] = meshes_.try_emplace(mesh, mesh_count_);
  if (!is_new_pointer) return number->second;
  const auto [known, is_new_mesh] = mesh_hashes_.try_emplace(stored_hash(*mesh), mesh_count_);
  number->second = known->second;
  is_new = is_new_mesh;
  if (is_new) ++mesh_count_;
  return number->second;
}

RecordedBody WorldRecorder::describe(model::BodyId id, std::shared_ptr<const mesh::TriangleMesh>& new_mesh)
{
  const model::BodyProperties& body = world_.desc_of(id);
  BodyLook look;
  if (desc_.look) look = desc_.look(id);
  if (!look.mesh) look.mesh = display_mesh(at(world_.model().shapes, body.shape));
  bool is_new = false;
  const std::int32_t mesh = mesh_number(look.mesh, is_new);
  if (is_new) new_mesh = look.mesh;
  numbers_[id] = static_cast<std::int32_t>(poses_.size());
  poses_.emplace_back();
  RecordedBody recorded;
  recorded.name = body.name;
  recorded.mesh = mesh;
  recorded.colour = look.colour;
  recorded.motion = body.motion;
  recorded.mass = body.motion == model::Motion::dynamic ? body.mass : 0;
  recorded.id = id;
  return recorded;
}

RecordingHeader WorldRecorder::header()
{
  RecordingHeader header;
  header.notes = desc_.notes;
  header.has_bending = world_.desc().stepper == StepperKind::flexible;
  for (const model::BodyId id : world_.bodies()) {
    std::shared_ptr<const mesh::TriangleMesh> mesh;
    header.bodies.push_back(describe(id, mesh));
    if (mesh) header.meshes.push_back(*mesh);
  }
  for (std::size_t j = 0; j < world_.model().joints.size(); ++j) {
    if (!is_link(j)) continue;
    links_[world_.state().joint_ids[j]] = static_cast<std::int32_t>(header.links.size());
    header.links.push_back(describe_link(world_.model().joints[j]));
  }
  return header;
}

void WorldRecorder::list_known(const Recording& before)
{
  for (const mesh::TriangleMesh& mesh : before.header.meshes)
    mesh_hashes_.try_emplace(stored_hash(mesh), mesh_count_++);
  for (std::size_t m = 0; m < before.header.modes.size(); ++m)
    mode_hashes_.try_emplace(stored_hash(before.header.modes[m]), static_cast<std::int32_t>(m));
  std::size_t present = 0;
  for (const RecordedBody& body : before.header.bodies) {
    numbers_[body.id] = static_cast<std::int32_t>(poses_.size());
    poses_.push_back(before.frames.empty() ? RecordedPose{} : before.frames.back().poses[poses_.size()]);
    if (body.end_frame != kNoFrame) continue;
    if (!body.modes.empty()) {
      BendingBody& bending = bending_bodies_[numbers_[body.id]];
      for (const std::int32_t mode : body.modes)
        bending.modes.push_back(at(before.header.modes, mode).number);
    }
    ++present;
    if (!world_.contains(body.id)) {
      throw Error(fmt::format("The recording has the body '{}' ({}), which the world does not have.",
                              body.name, to_string(body.id)));
    }
  }
  if (present != world_.bodies().size()) {
    throw Error(fmt::format("The world has {} bodies, but the recording ends with {}.",
                            world_.bodies().size(), present));
  }
  // Links are listed in the order in which their joints were added.
  std::vector<std::int32_t> open;
  for (std::size_t i = 0; i < before.header.links.size(); ++i) {
    if (before.header.links[i].end_frame == kNoFrame) open.push_back(static_cast<std::int32_t>(i));
  }
  std::size_t next = 0;
  for (std::size_t j = 0; j < world_.model().joints.size(); ++j) {
    if (is_link(j) && next < open.size()) links_[world_.state().joint_ids[j]] = open[next++];
  }
}

std::int32_t WorldRecorder::number_of(model::BodyId id) const
{
  const auto found = numbers_.find(id);
  if (found == numbers_.end())
    throw Error(fmt::format("The body {} was never in the world that is recorded.", to_string(id)));
  return found->second;
}

model::BodyId WorldRecorder::numbered(model::BodyId id) const
{
  if (!id.valid()) return {};
  return {static_cast<std::uint32_t>(number_of(id)), 0};
}

void WorldRecorder::body_added(model::BodyId id)
{
  std::shared_ptr<const mesh::TriangleMesh> mesh;
  const RecordedBody body = describe(id, mesh);
  if (mesh) writer_.add_mesh(*mesh);
  writer_.add_body(body, world_.state().time);
}

void WorldRecorder::body_removed(model::BodyId id)
{
  writer_.remove_body(number_of(id), world_.state().time);
}

void WorldRecorder::after_step(const StepView& /*view*/, StepActions& /*actions*/)
{
  if (world_.desc().reports.events) {
    for (model::ContactEvent event : world_.events()) {
      event.a = numbered(event.a);
      event.b = numbered(event.b);
      events_.push_back(event);
    }
  }
  for (model::ResponseEvent event : world_.responses()) {
    event.a = numbered(event.a);
    event.b = numbered(event.b);
    responses_.push_back(event);
  }
}

// Strings and springs are drawn; other joints are not.
bool WorldRecorder::is_link(std::size_t joint) const
{
  const model::JointKind kind = world_.model().joints[joint].kind;
  return (kind == model::JointKind::distance || kind == model::JointKind::spring) &&
         world_.contains(world_.state().joint_ids[joint]);
}

RecordedLink WorldRecorder::describe_link(const model::Joint& joint) const
{
  const auto in_shape = [&](model::BodyIndex body, const Pose& X_bj) {
    return floats(body == model::kNone ? X_bj.position
                                       : at(world_.model().bodies, body).X_bs.point_to_local(X_bj.position));
  };
  return {number_of(world_.id_of(joint.a)),
          joint.b == model::kNone ? model::kNone : number_of(world_.id_of(joint.b)),
          in_shape(joint.a, joint.X_aj), in_shape(joint.b, joint.X_bj)};
}

void WorldRecorder::update_links()
{
  if (links_.empty() && world_.model().joints.empty()) return;
  for (auto link = links_.begin(); link != links_.end();) {
    if (world_.contains(link->first)) {
      ++link;
    } else {
      writer_.remove_link(link->second);
      link = links_.erase(link);
    }
  }
  for (std::size_t j = 0; j < world_.model().joints.size(); ++j) {
    if (!is_link(j) || links_.contains(world_.state().joint_ids[j])) continue;
    links_[world_.state().joint_ids[j]] = writer_.add_link(describe_link(world_.model().joints[j]));
  }
}

RecordedFrame WorldRecorder::take_frame(FrameContacts contacts)
{
  update_links();
  RecordedFrame frame;
  frame.time = world_.state().time;
  frame.kinetic_energy = world_.kinetic_energy();
  frame.potential_energy = world_.potential_energy();
  frame.vibration_energy = world_.vibration_energy();
  frame.contact_energy = world_.contact_energy();
  frame.state_hash = world_.hash().low;
  for (const model::BodyId id : world_.bodies())
    at(poses_, number_of(id)) = RecordedPose::of(world_.shape_pose(id));
  frame.poses = poses_;
  frame.has_contacts = contacts != FrameContacts::none && world_.desc().reports.contacts;
  if (frame.has_contacts) {
    // Contacts of a pair follow each other.
    std::array<model::BodyId, 2> pair;
    std::array<std::int32_t, 2> numbers{};
    for (const model::Contact& contact : world_.contacts()) {
      if (!(contact.normal_impulse > 0) || (contacts == FrameContacts::impacts && !contact.is_new)) continue;
      const Vec3 impulse = contact.normal_impulse * contact.normal + contact.friction_impulse;
      if (pair != std::array{contact.a, contact.b}) {
        pair = {contact.a, contact.b};
        numbers = {number_of(contact.a), number_of(contact.b)};
      }
      frame.contacts.push_back(
          {numbers[0], numbers[1], floats(contact.position), floats(impulse), contact.is_new ? 1u : 0u});
    }
  }
  frame.events = std::exchange(events_, {});
  frame.responses = std::exchange(responses_, {});
  if (writer_.has_bending()) frame.bends = take_bends();
  return frame;
}

WorldRecorder::BendingModel& WorldRecorder::bending_model(
    const std::shared_ptr<const model::ModalModel>& model)
{
  const auto [found, is_new] = bending_models_.try_emplace(model);
  BendingModel& bending = found->second;
  if (!is_new) return bending;
  const Index vertices = model->vertex_count();
  bending.peaks = VecX::Zero(model->mode_count());
  bending.modes.assign(at(model->mode_count()), -1);
  bending.size = mesh::bounding_box(model->surface).diagonal().norm();
  for (Index m = 0; m < model->mode_count(); ++m) {
    for (Index v = 0; v < vertices; ++v)
      bending.peaks[m] = std::max(bending.peaks[m], model->shapes.col(m).segment<3>(3 * v).norm());
  }
  return bending;
}

std::int32_t WorldRecorder::mode_number(const std::shared_ptr<const model::ModalModel>& model, Index mode)
{
  BendingModel& bending = bending_model(model);
  std::int32_t& number = at(bending.modes, mode);
  if (number >= 0) return number;
  bool is_new = false;
  const std::shared_ptr<const mesh::TriangleMesh> surface(model, &model->surface);
  RecordedMode recorded;
  recorded.mesh = mesh_number(surface, is_new);
  if (is_new) writer_.add_mesh(*surface);
  recorded.number = static_cast<std::int32_t>(mode);
  for (const double x : model->shapes.col(mode))
    recorded.displacements.push_back(static_cast<float>(x / bending.peaks[mode]));
  const auto [known, is_new_mode] = mode_hashes_.try_emplace(stored_hash(recorded), -1);
  if (is_new_mode) known->second = writer_.add_mode(recorded);
  number = known->second;
  return number;
}

// A mode that can be seen for the first time is added to those of its body. A body whose modes are all too
// weak to be seen is straight.
std::vector<RecordedBend> WorldRecorder::take_bends()
{
  constexpr double kStraight = 0.1;  // of what can be seen, so that a body is not straight all at once
  std::vector<RecordedBend> bends;
  for (const model::ModalState& vibration : world_.state().modal_states) {
    const std::int32_t number = number_of(vibration.body);
    BendingBody& body = bending_bodies_[number];
    const std::shared_ptr<const model::ModalModel> modes = world_.modes_of(vibration.body);
    if (!body.model) body.model = modes;
    // Amplitudes of other modes than those recorded cannot be shown.
    if (!modes || body.model != modes) continue;
    BendingModel& model = bending_model(body.model);
    const Index count = std::min<Index>(count_of(vibration.q), body.model->mode_count());
    const auto amplitude = [&](Index mode) {
      return mode < count ? model.peaks[mode] * at(vibration.q, mode) : 0.0;
    };
    for (Index m = 0; m < count && body.modes.size() < kMaxBendModes; ++m) {
      const auto mode = static_cast<std::int32_t>(m);
      if (!(std::abs(amplitude(m)) > kVisibleBend * model.size) ||
          std::find(body.modes.begin(), body.modes.end(), mode) != body.modes.end())
        continue;
      writer_.add_mode_of_body(number, mode_number(body.model, m));
      body.modes.push_back(mode);
    }
    RecordedBend bend{number, {}};
    float largest = 0;
    for (const std::int32_t mode : body.modes) {
      bend.amplitudes.push_back(static_cast<float>(amplitude(mode)));
      largest = std::max(largest, std::abs(bend.amplitudes.back()));
    }
    const auto is_finite = [](float x) {
      return std::isfinite(x);
    };
    if (largest > kStraight * kVisibleBend * model.size &&
        std::all_of(bend.amplitudes.begin(), bend.amplitudes.end(), is_finite))
      bends.push_back(std::move(bend));
  }
  std::sort(bends.begin(), bends.end(),
            [](const RecordedBend& a, const RecordedBend& b) { return a.body < b.body; });
  return bends;
}

void WorldRecorder::add_frame(FrameContacts contacts)
{
  writer_.add(take_frame(contacts));
}

void WorldRecorder::finish()
{
  writer_.finish(world_.hash());
}

}  // namespace thrum::sim
