// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"
#include "thrum/sim/recording.h"
#include "thrum/sim/recording_format.h"

namespace thrum::sim {

using base::append_bytes;

namespace {

void append_text(std::string& out, const std::string& text)
{
  append_bytes(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

template <class T, std::size_t N>
void append_array(std::string& out, const std::array<T, N>& values)
{
  for (const T value : values) append_bytes(out, value);
}

void append_point(std::string& out, const Vec3& p)
{
  for (int k = 0; k < 3; ++k) append_bytes(out, static_cast<float>(p[k]));
}

// When, between whom, where and how fast: what a contact event and a response event have in common.
template <class Event>
void append_event_location(std::string& out, const Event& event)
{
  append_bytes(out, event.time);
  append_bytes(out, event.a.slot);
  append_bytes(out, event.b.slot);
  append_point(out, event.position);
  append_point(out, event.normal);
  append_bytes(out, static_cast<float>(event.speed));
}

void append_body(std::string& out, const RecordedBody& body)
{
  append_text(out, body.name);
  append_bytes(out, body.mesh);
  append_array(out, body.colour);
  append_bytes(out, static_cast<std::uint32_t>(body.motion));
  append_bytes(out, body.mass);
  append_bytes(out, body.id.packed());
}

void append_mesh(std::string& out, const mesh::TriangleMesh& mesh)
{
  append_bytes(out, static_cast<std::uint32_t>(mesh.vertices.size()));
  append_bytes(out, static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const Vec3& v : mesh.vertices) append_point(out, v);
  for (const Triangle& t : mesh.triangles) append_array(out, t);
}

void append_link(std::string& out, const RecordedLink& link)
{
  append_bytes(out, link.a);
  append_bytes(out, link.b);
  append_array(out, link.point_a);
  append_array(out, link.point_b);
}

void append_chunk(std::string& out, std::uint32_t kind, std::string_view payload)
{
  append_bytes(out, kind);
  append_bytes(out, static_cast<std::uint32_t>(payload.size()));
  append_bytes(out, base::crc32(std::as_bytes(std::span(payload)), kind));
  out += payload;
}

std::string header_bytes(const RecordingHeader& header)
{
  std::string out;
  append_bytes(out, static_cast<std::uint32_t>(header.notes.size()));
  for (const auto& [name, text] : header.notes) {
    append_text(out, name);
    append_text(out, text);
  }
  append_bytes(out, static_cast<std::uint32_t>(header.bodies.size()));
  for (const RecordedBody& body : header.bodies) append_body(out, body);
  append_bytes(out, static_cast<std::uint32_t>(header.meshes.size()));
  for (const mesh::TriangleMesh& mesh : header.meshes) append_mesh(out, mesh);
  append_bytes(out, static_cast<std::uint32_t>(header.links.size()));
  for (const RecordedLink& link : header.links) append_link(out, link);
  return out;
}

/// A contact in a recording: two bodies, of which the first carries whether the contact is new in its highest
/// bit, a place in the box of all of them, an impulse.
struct PackedContact {
  std::uint32_t a;
  std::uint32_t b;
  std::array<std::uint16_t, 3> place;
  std::array<std::int16_t, 3> impulse;
};
static_assert(sizeof(PackedContact) == 20 && std::has_unique_object_representations_v<PackedContact>);

// The nearest whole number, halves away from 0, as std::lround() without a call; 0 for what is not finite.
// Exact: a float and a half fit into a double.
int nearest_int(float x)
{
  constexpr float kLargest = 1e9F;
  if (!(std::abs(x) < kLargest)) return 0;
  return static_cast<int>(static_cast<double>(x) + (x < 0 ? -0.5 : 0.5));
}

// The box of the positions and the largest component of an impulse, then the contacts, each appended in one
// piece.
void append_contacts(std::string& out, const RecordedFrame& frame)
{
  if (!frame.has_contacts || frame.contacts.empty()) return;
  Eigen::AlignedBox3f box;
  float largest = 0;
  for (const RecordedContact& c : frame.contacts) {
    box.extend(Eigen::Vector3f(c.position[0], c.position[1], c.position[2]));
    for (const float x : c.impulse) largest = std::max(largest, std::abs(x));
  }
  for (int k = 0; k < 3; ++k) append_bytes(out, box.min()[k]);
  for (int k = 0; k < 3; ++k) append_bytes(out, box.sizes()[k]);
  append_bytes(out, largest);
  const Eigen::Vector3f sides = box.sizes();
  for (const RecordedContact& c : frame.contacts) {
    PackedContact packed{static_cast<std::uint32_t>(c.a) | (c.is_new != 0 ? kNewContact : 0u),
                         static_cast<std::uint32_t>(c.b),
                         {},
                         {}};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto d = static_cast<Eigen::Index>(k);
      const float place = sides[d] > 0 ? (c.position[k] - box.min()[d]) / sides[d] : 0.0f;
      packed.place[k] = static_cast<std::uint16_t>(nearest_int(place * kPositionSteps));
      const float impulse = largest > 0 ? c.impulse[k] / largest : 0.0f;
      packed.impulse[k] = static_cast<std::int16_t>(nearest_int(impulse * kImpulseSteps));
    }
    static_assert(std::endian::native == std::endian::little);
    std::array<char, sizeof packed> bytes;
    std::memcpy(bytes.data(), &packed, sizeof packed);
    out.append(bytes.data(), bytes.size());
  }
}

// Bodies that are bent, each with the amplitudes of all modes that it has so far.
void append_bends(std::string& out, const RecordedFrame& frame,
                  const std::vector<std::vector<std::int32_t>>& body_modes)
{
  append_bytes(out, static_cast<std::uint32_t>(frame.bends.size()));
  for (const RecordedBend& bend : frame.bends) {
    append_bytes(out, bend.body);
    for (std::size_t k = 0; k < at(body_modes, bend.body).size(); ++k)
      append_bytes(out, k < bend.amplitudes.size() ? bend.amplitudes[k] : 0.0f);
  }
}

// Equal to no pose, so that the first frame of a body holds it.
RecordedPose no_pose()
{
  RecordedPose pose;
  pose.rotation = {0, 0, 0, 0};
  return pose;
}

}  // namespace

RecordingWriter::RecordingWriter(const std::filesystem::path& file, const RecordingHeader& header)
    : file_(file)
{
  list_known(header);
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw Error(fmt::format("{} cannot be written: {}.", file.string(), std::strerror(errno)));
  std::string start(kRecordingMagic);
  append_bytes(start, has_bending_ ? kBendingVersion : kRecordingVersion);
  append_chunk(start, kHeaderChunk, header_bytes(header));
  write(start);
  // Modes are changes, also those that are known from the beginning.
  mode_meshes_.clear();
  for (const RecordedMode& mode : header.modes) add_mode(mode);
  for (std::size_t b = 0; b < header.bodies.size(); ++b) {
    body_modes_[b].clear();
    for (const std::int32_t mode : header.bodies[b].modes)
      add_mode_of_body(static_cast<std::int32_t>(b), mode);
  }
}

RecordingWriter::RecordingWriter(const std::filesystem::path& file, std::uint64_t length,
                                 const Recording& before)
    : file_(file), length_(length), frames_(before.frames.size())
{
  list_known(before.header);
  for (std::size_t b = 0; b < last_poses_.size() && !before.frames.empty(); ++b) {
    if (before.header.bodies[b].first_frame < before.frames.size())
      last_poses_[b] = before.frames.back().poses[b];
  }
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(length)) != 0 ||
      ::lseek(descriptor_, 0, SEEK_END) != static_cast<off_t>(length)) {
    const int reason = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Error(fmt::format("{} cannot be continued: {}.", file.string(), std::strerror(reason)));
  }
}

void RecordingWriter::list_known(const RecordingHeader& header)
{
  has_bending_ = header.has_bending;
  links_ = header.links.size();
  for (const mesh::TriangleMesh& mesh : header.meshes) mesh_sizes_.push_back(mesh.vertices.size());
  for (const RecordedMode& mode : header.modes) mode_meshes_.push_back(mode.mesh);
  for (const RecordedBody& body : header.bodies) body_modes_.push_back(body.modes);
  last_poses_.assign(header.bodies.size(), no_pose());
}

RecordingWriter::~RecordingWriter()
{
  if (descriptor_ >= 0) ::close(descriptor_);
}

void RecordingWriter::add(const RecordedFrame& frame)
{
  if (frame.poses.size() != last_poses_.size()) {
    throw Error(fmt::format("A frame for {} has {} poses, but the recording has {} bodies.", file_.string(),
                            frame.poses.size(), last_poses_.size()));
  }
  check_bends(frame);
  close_changes();
  std::vector<std::uint32_t> changed;
  for (std::size_t i = 0; i < frame.poses.size(); ++i) {
    if (!(frame.poses[i] == last_poses_[i])) changed.push_back(static_cast<std::uint32_t>(i));
  }
  append_bytes(buffer_, frame.time);
  append_bytes(buffer_, frame.kinetic_energy);
  append_bytes(buffer_, frame.potential_energy);
  append_bytes(buffer_, frame.state_hash);
  append_bytes(buffer_, static_cast<std::uint32_t>(changed.size()));
  append_bytes(buffer_,
               frame.has_contacts ? static_cast<std::uint32_t>(frame.contacts.size()) : kContactsOmitted);
  append_bytes(buffer_, static_cast<std::uint32_t>(frame.events.size()));
  append_bytes(buffer_, static_cast<std::uint32_t>(frame.responses.size()));
  for (const std::uint32_t i : changed) {
    append_bytes(buffer_, i);
    append_array(buffer_, frame.poses[i].position);
    append_array(buffer_, frame.poses[i].rotation);
  }
  append_contacts(buffer_, frame);
  for (const model::ContactEvent& event : frame.events) {
    append_bytes(buffer_, static_cast<std::uint32_t>(event.kind));
    append_event_location(buffer_, event);
    append_bytes(buffer_, static_cast<float>(event.impulse));
  }
  for (const model::ResponseEvent& event : frame.responses) {
    append_bytes(buffer_, static_cast<std::uint32_t>(event.kind));
    append_bytes(buffer_, event.step);
    append_event_location(buffer_, event);
    append_bytes(buffer_, static_cast<float>(event.energy));
  }
  if (has_bending_) {
    append_bends(buffer_, frame, body_modes_);
    append_bytes(buffer_, frame.vibration_energy);
    append_bytes(buffer_, frame.contact_energy);
  }
  last_poses_ = frame.poses;
  ++frames_;
  if (buffered_bytes() > kMaxBufferedBytes) flush();
}

std::int32_t RecordingWriter::add_mesh(const mesh::TriangleMesh& mesh)
{
  begin_change(RecordedChange::mesh_added);
  append_mesh(changes_, mesh);
  mesh_sizes_.push_back(mesh.vertices.size());
  return static_cast<std::int32_t>(mesh_sizes_.size()) - 1;
}

std::int32_t RecordingWriter::add_body(const RecordedBody& body, double time)
{
  if (body.mesh < 0 || at(body.mesh) >= mesh_sizes_.size()) {
    throw Error(fmt::format("Body '{}' of a recording has the mesh {}, but there are {}; add_mesh() first.",
                            body.name, body.mesh, mesh_sizes_.size()));
  }
  begin_change(RecordedChange::body_added);
  append_body(changes_, body);
  append_bytes(changes_, time);
  last_poses_.push_back(no_pose());
  body_modes_.emplace_back();
  return static_cast<std::int32_t>(last_poses_.size()) - 1;
}

std::int32_t RecordingWriter::add_link(const RecordedLink& link)
{
  begin_change(RecordedChange::link_added);
  append_link(changes_, link);
  return static_cast<std::int32_t>(links_++);
}

void RecordingWriter::remove_body(std::int32_t number, double time)
{
  begin_change(RecordedChange::body_removed);
  append_bytes(changes_, number);
  append_bytes(changes_, time);
}

void RecordingWriter::remove_link(std::int32_t number)
{
  begin_change(RecordedChange::link_removed);
  append_bytes(changes_, number);
}

// A chunk of changes begins with the number of the frame that they come before.
void RecordingWriter::begin_change(RecordedChange kind)
{
  if (changes_.empty()) append_bytes(changes_, frames_);
  append_bytes(changes_, static_cast<std::uint8_t>(kind));
}

void RecordingWriter::close_frames()
{
  if (buffer_.empty()) return;
  append_chunk(chunks_, kFramesChunk, buffer_);
  buffer_.clear();
}

// Frames come before the changes that were made after them.
void RecordingWriter::close_changes()
{
  if (changes_.empty()) return;
  close_frames();
  append_chunk(chunks_, kChangesChunk, changes_);
  changes_.clear();
}

void RecordingWriter::flush()
{
  close_changes();
  close_frames();
  write(chunks_);
  chunks_.clear();
}

void RecordingWriter::sync()
{
  flush();
  base::sync_file(descriptor_, file_);
  base::sync_folder_of(file_);
}

void RecordingWriter::finish(const base::Hash128& final_hash)
{
  flush();
  std::string payload;
  append_bytes(payload, final_hash.low);
  append_bytes(payload, final_hash.high);
  std::string chunk;
  append_chunk(chunk, kEndChunk, payload);
  write(chunk);
}

void RecordingWriter::write(std::string_view bytes)
{
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(fmt::format("{} cannot be written: {}.", file_.string(), std::strerror(errno)));
    bytes.remove_prefix(at(written));
    length_ += static_cast<std::uint64_t>(written);
  }
}

}  // namespace thrum::sim
