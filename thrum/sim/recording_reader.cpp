// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"
#include "thrum/sim/recording.h"
#include "thrum/sim/recording_format.h"

namespace thrum::sim {

namespace {

using base::ByteReader;

std::string read_text(ByteReader& in)
{
  const auto size = in.read<std::uint32_t>("length of a text");
  return std::string(in.take(size, "letters"));
}

template <class T, std::size_t N>
void read_array(ByteReader& in, std::array<T, N>& out)
{
  for (T& value : out) value = in.read<T>("number");
}

Vec3 read_point(ByteReader& in)
{
  Vec3 p;
  for (int k = 0; k < 3; ++k) p[k] = in.read<float>("coordinate");
  return p;
}

mesh::TriangleMesh read_mesh(ByteReader& in)
{
  mesh::TriangleMesh mesh;
  const auto vertices = in.read<std::uint32_t>("number of vertices");
  const auto triangles = in.read<std::uint32_t>("number of triangles");
  in.require(vertices, 12, "vertices");
  mesh.vertices.reserve(vertices);
  for (std::uint32_t i = 0; i < vertices; ++i) {
    mesh.vertices.push_back(read_point(in));
    if (!mesh.vertices.back().allFinite()) in.fail("a vertex that is not finite", "numbers");
  }
  in.require(triangles, 12, "triangles");
  mesh.triangles.resize(triangles);
  for (Triangle& t : mesh.triangles) {
    read_array(in, t);
    for (const Index v : t) {
      if (v < 0 || static_cast<std::uint32_t>(v) >= vertices)
        in.fail(fmt::format("vertex {}", v), "one that is there");
    }
  }
  return mesh;
}

void check_body(const ByteReader& in, std::int32_t id, std::size_t bodies)
{
  if (id < 0 || at(id) >= bodies) in.fail(fmt::format("body {}", id), "one that is there");
}

// Events name bodies by their numbers in the header.
model::BodyId read_body(ByteReader& in, std::size_t bodies)
{
  const auto number = in.read<std::int32_t>("body");
  check_body(in, number, bodies);
  return {static_cast<std::uint32_t>(number), 0};
}

RecordedBody read_recorded_body(ByteReader& in)
{
  RecordedBody body;
  body.name = read_text(in);
  body.mesh = in.read<std::int32_t>("mesh of a body");
  read_array(in, body.colour);
  const auto motion = in.read<std::uint32_t>("motion of a body");
  if (motion > static_cast<std::uint32_t>(model::Motion::fixed))
    in.fail(fmt::format("motion {}", motion), "0 to 2");
  body.motion = static_cast<model::Motion>(motion);
  body.mass = in.read<double>("mass of a body");
  body.id = model::BodyId::unpack(in.read<std::uint64_t>("id of a body"));
  return body;
}

void check_mesh(const ByteReader& in, const RecordedBody& body, std::size_t meshes)
{
  if (body.mesh < 0 || at(body.mesh) >= meshes)
    in.fail(fmt::format("mesh {} of a body", body.mesh), fmt::format("one of {}", meshes));
}

RecordedLink read_link(ByteReader& in, std::size_t bodies)
{
  RecordedLink link;
  link.a = in.read<std::int32_t>("body");
  link.b = in.read<std::int32_t>("body");
  check_body(in, link.a, bodies);
  if (link.b != model::kNone) check_body(in, link.b, bodies);
  read_array(in, link.point_a);
  read_array(in, link.point_b);
  return link;
}

RecordingHeader read_header(ByteReader& in)
{
  RecordingHeader header;
  const auto notes = in.read<std::uint32_t>("number of notes");
  for (std::uint32_t i = 0; i < notes; ++i) {
    std::string name = read_text(in);
    header.notes.emplace_back(std::move(name), read_text(in));
  }
  const auto bodies = in.read<std::uint32_t>("number of bodies");
  in.require(bodies, 40, "bodies");
  for (std::uint32_t i = 0; i < bodies; ++i) header.bodies.push_back(read_recorded_body(in));
  const auto meshes = in.read<std::uint32_t>("number of meshes");
  for (std::uint32_t i = 0; i < meshes; ++i) header.meshes.push_back(read_mesh(in));
  for (const RecordedBody& body : header.bodies) check_mesh(in, body, header.meshes.size());
  const auto links = in.read<std::uint32_t>("number of links");
  in.require(links, 32, "links");
  for (std::uint32_t i = 0; i < links; ++i) header.links.push_back(read_link(in, header.bodies.size()));
  return header;
}

// What was removed was there until now.
template <class Recorded>
void end_at(const ByteReader& in, std::vector<Recorded>& all, std::int32_t number, std::uint64_t frame,
            const char* what)
{
  if (number < 0 || at(number) >= all.size() || at(all, number).end_frame != kNoFrame)
    in.fail(fmt::format("the end of {} {}", what, number), "one that is there");
  at(all, number).end_frame = frame;
}

RecordedMode read_mode(ByteReader& in, const std::vector<mesh::TriangleMesh>& meshes)
{
  RecordedMode mode;
  mode.mesh = in.read<std::int32_t>("mesh of a mode");
  if (mode.mesh < 0 || at(mode.mesh) >= meshes.size())
    in.fail(fmt::format("mesh {} of a mode", mode.mesh), fmt::format("one of {}", meshes.size()));
  mode.number = in.read<std::int32_t>("number of a mode");
  const std::size_t count = 3 * at(meshes, mode.mesh).vertices.size();
  in.require(count, sizeof(float), "displacements");
  mode.displacements.resize(count);
  for (float& x : mode.displacements) {
    x = in.read<float>("displacement");
    if (!(std::abs(x) <= kMaxModeDisplacement)) in.fail(fmt::format("a displacement of {}", x), "at most 1");
  }
  return mode;
}

void read_mode_of_body(ByteReader& in, RecordingHeader& header)
{
  const auto number = in.read<std::int32_t>("body");
  check_body(in, number, header.bodies.size());
  const auto mode = in.read<std::int32_t>("mode");
  if (mode < 0 || at(mode) >= header.modes.size())
    in.fail(fmt::format("mode {}", mode), fmt::format("one of {}", header.modes.size()));
  RecordedBody& body = at(header.bodies, number);
  if (body.modes.size() >= kMaxBendModes)
    in.fail(fmt::format("another mode of body {}", number), fmt::format("at most {}", kMaxBendModes));
  if (!body.modes.empty() && at(header.modes, mode).mesh != header.shown_mesh(body))
    in.fail(fmt::format("modes of two meshes for body {}", number), "all of one mesh");
  body.modes.push_back(mode);
}

void read_change(ByteReader& in, RecordingHeader& header, std::uint64_t frame)
{
  const auto kind = in.read<std::uint8_t>("kind of a change");
  const auto last = header.has_bending ? RecordedChange::mode_of_body_added : RecordedChange::link_removed;
  if (kind > static_cast<std::uint8_t>(last))
    in.fail(fmt::format("change {}", kind), fmt::format("0 to {}", static_cast<int>(last)));
  switch (static_cast<RecordedChange>(kind)) {
    case RecordedChange::mesh_added:
      header.meshes.push_back(read_mesh(in));
      return;
    case RecordedChange::body_added: {
      RecordedBody body = read_recorded_body(in);
      check_mesh(in, body, header.meshes.size());
      body.first_frame = frame;
      body.appears_at = in.read<double>("time");
      header.bodies.push_back(std::move(body));
      return;
    }
    case RecordedChange::link_added:
      header.links.push_back(read_link(in, header.bodies.size()));
      header.links.back().first_frame = frame;
      return;
    case RecordedChange::body_removed: {
      const auto number = in.read<std::int32_t>("body");
      end_at(in, header.bodies, number, frame, "body");
      at(header.bodies, number).removed_at = in.read<double>("time");
      return;
    }
    case RecordedChange::link_removed:
      end_at(in, header.links, in.read<std::int32_t>("link"), frame, "link");
      return;
    case RecordedChange::mode_added:
      header.modes.push_back(read_mode(in, header.meshes));
      return;
    case RecordedChange::mode_of_body_added:
      read_mode_of_body(in, header);
      return;
  }
}

void read_changes(ByteReader& in, Recording& recording)
{
  const auto frame = in.read<std::uint64_t>("number of a frame");
  if (frame != recording.frames.size()) {
    in.fail(fmt::format("changes before frame {}", frame),
            fmt::format("those before frame {}", recording.frames.size()));
  }
  while (in.remaining() > 0) read_change(in, recording.header, frame);
}

// Frames before a body appeared get its first pose.
void complete_poses(Recording& recording)
{
  const std::vector<RecordedBody>& bodies = recording.header.bodies;
  for (std::size_t f = 0; f < recording.frames.size(); ++f) {
    std::vector<RecordedPose>& poses = recording.frames[f].poses;
    const std::size_t known = poses.size();
    poses.resize(bodies.size());
    for (std::size_t b = known; b < bodies.size(); ++b) {
      if (bodies[b].first_frame < recording.frames.size())
        poses[b] = recording.frames[bodies[b].first_frame].poses[b];
    }
  }
}

model::ContactEvent read_event(ByteReader& in, std::size_t bodies)
{
  model::ContactEvent event;
  const auto kind = in.read<std::uint32_t>("kind of an event");
  if (kind > static_cast<std::uint32_t>(model::ContactEventKind::end))
    in.fail(fmt::format("event {}", kind), "0 to 3");
  event.kind = static_cast<model::ContactEventKind>(kind);
  event.time = in.read<double>("time");
  event.a = read_body(in, bodies);
  event.b = read_body(in, bodies);
  event.position = read_point(in);
  event.normal = read_point(in);
  event.speed = in.read<float>("speed");
  event.impulse = in.read<float>("impulse");
  return event;
}

model::ResponseEvent read_response(ByteReader& in, std::size_t bodies)
{
  model::ResponseEvent event;
  const auto kind = in.read<std::uint32_t>("kind of a response");
  if (kind > static_cast<std::uint32_t>(model::ResponseKind::kicked))
    in.fail(fmt::format("response {}", kind), "0 or 1");
  event.kind = static_cast<model::ResponseKind>(kind);
  event.step = in.read<std::uint64_t>("step");
  event.time = in.read<double>("time");
  event.a = read_body(in, bodies);
  const auto b = in.read<std::int32_t>("body");
  if (b != model::kNone) check_body(in, b, bodies);
  event.b.slot = static_cast<std::uint32_t>(b);
  event.position = read_point(in);
  event.normal = read_point(in);
  event.speed = in.read<float>("speed");
  event.energy = in.read<float>("energy");
  return event;
}

void read_contacts(ByteReader& in, std::uint32_t count, std::size_t bodies, std::vector<RecordedContact>& out)
{
  std::array<float, 3> low, size;
  read_array(in, low);
  read_array(in, size);
  const auto largest = in.read<float>("impulse");
  in.require(count, 20, "contacts");
  out.resize(count);
  for (RecordedContact& contact : out) {
    const auto a = in.read<std::uint32_t>("body");
    contact.is_new = (a & kNewContact) != 0 ? 1 : 0;
    contact.a = static_cast<std::int32_t>(a & ~kNewContact);
    contact.b = in.read<std::int32_t>("body");
    check_body(in, contact.a, bodies);
    check_body(in, contact.b, bodies);
    for (std::size_t k = 0; k < 3; ++k) {
      contact.position[k] =
          low[k] + size[k] * (static_cast<float>(in.read<std::uint16_t>("place")) / kPositionSteps);
    }
    for (float& x : contact.impulse)
      x = largest * (static_cast<float>(in.read<std::int16_t>("impulse")) / kImpulseSteps);
  }
}

void read_bends(ByteReader& in, const RecordingHeader& header, std::vector<RecordedBend>& out)
{
  const auto count = in.read<std::uint32_t>("number of bent bodies");
  std::int32_t before = -1;
  for (std::uint32_t i = 0; i < count; ++i) {
    RecordedBend bend;
    bend.body = in.read<std::int32_t>("body");
    check_body(in, bend.body, header.bodies.size());
    const std::size_t modes = at(header.bodies, bend.body).modes.size();
    if (bend.body <= before || modes == 0)
      in.fail(fmt::format("body {}, bent", bend.body), "one with modes, in ascending order");
    before = bend.body;
    in.require(modes, sizeof(float), "amplitudes");
    bend.amplitudes.resize(modes);
    for (float& x : bend.amplitudes) {
      x = in.read<float>("amplitude");
      if (!std::isfinite(x)) in.fail("an amplitude that is not finite", "numbers");
    }
    out.push_back(std::move(bend));
  }
}

// `poses` are those of the frame before, and become those of this one.
RecordedFrame read_frame(ByteReader& in, const RecordingHeader& header, std::vector<RecordedPose>& poses)
{
  RecordedFrame frame;
  frame.time = in.read<double>("time");
  frame.kinetic_energy = in.read<double>("energy");
  frame.potential_energy = in.read<double>("energy");
  frame.state_hash = in.read<std::uint64_t>("hash");
  const auto changed = in.read<std::uint32_t>("number of poses");
  const auto contacts = in.read<std::uint32_t>("number of contacts");
  const auto events = in.read<std::uint32_t>("number of events");
  const auto responses = in.read<std::uint32_t>("number of responses");
  for (std::uint32_t i = 0; i < changed; ++i) {
    const auto body = in.read<std::uint32_t>("body");
    if (body >= poses.size()) in.fail(fmt::format("body {}", body), fmt::format("one of {}", poses.size()));
    read_array(in, poses[body].position);
    read_array(in, poses[body].rotation);
  }
  frame.poses = poses;
  frame.has_contacts = contacts != kContactsOmitted;
  if (frame.has_contacts && contacts > 0) read_contacts(in, contacts, poses.size(), frame.contacts);
  in.require(events, 52, "events");
  for (std::uint32_t i = 0; i < events; ++i) frame.events.push_back(read_event(in, poses.size()));
  in.require(responses, 60, "responses");
  for (std::uint32_t i = 0; i < responses; ++i) frame.responses.push_back(read_response(in, poses.size()));
  if (header.has_bending) {
    read_bends(in, header, frame.bends);
    frame.vibration_energy = in.read<double>("energy");
    frame.contact_energy = in.read<double>("energy");
  }
  return frame;
}

}  // namespace

Recording parse_recording(std::string_view bytes, const std::filesystem::path& name)
{
  ByteReader in(bytes, name);
  in.set_advice("Run the scene again to record it.");
  if (bytes.substr(0, kRecordingMagic.size()) != kRecordingMagic)
    in.fail("other bytes", "a recording of thrum");
  in.seek(kRecordingMagic.size());
  const auto version = in.read<std::uint32_t>("version");
  if (version != kRecordingVersion && version != kBendingVersion) {
    in.fail(fmt::format("version {}", version),
            fmt::format("version {} or {}", kRecordingVersion, kBendingVersion));
  }
  Recording recording;
  std::vector<RecordedPose> poses;
  bool has_header = false;
  std::size_t valid_end = in.position();
  while (in.remaining() >= kChunkHeaderSize && !recording.complete) {
    const auto kind = in.read<std::uint32_t>("kind of a chunk");
    const auto size = in.read<std::uint32_t>("size of a chunk");
    const auto checksum = in.read<std::uint32_t>("checksum");
    if (size > in.remaining()) break;
    const std::string_view payload = in.take(size, "bytes of a chunk");
    if (base::crc32(std::as_bytes(std::span(payload)), kind) != checksum) break;
    ByteReader chunk(payload, name);
    if (kind == kHeaderChunk && !has_header) {
      recording.header = read_header(chunk);
      recording.header.has_bending = version == kBendingVersion;
      poses.resize(recording.header.bodies.size());
      has_header = true;
    } else if (kind == kChangesChunk && has_header) {
      read_changes(chunk, recording);
      poses.resize(recording.header.bodies.size());
    } else if (kind == kFramesChunk && has_header) {
      while (chunk.remaining() > 0) recording.frames.push_back(read_frame(chunk, recording.header, poses));
    } else if (kind == kEndChunk && has_header) {
      recording.final_hash.low = chunk.read<std::uint64_t>("hash");
      recording.final_hash.high = chunk.read<std::uint64_t>("hash");
      recording.complete = true;
    } else {
      in.fail(fmt::format("a chunk of kind {:08x}", kind), "frames, changes, or the end");
    }
    valid_end = in.position();
  }
  if (!has_header) in.fail("no whole description of the scene", "one at the beginning");
  recording.lost_bytes = bytes.size() - valid_end;
  complete_poses(recording);
  return recording;
}

Recording read_recording(const std::filesystem::path& file)
{
  const std::string bytes = base::read_text_file(file);
  return parse_recording(bytes, file);
}

bool is_complete_recording(const std::filesystem::path& file)
{
  constexpr auto kEndSize = static_cast<std::streamoff>(kChunkHeaderSize + sizeof(base::Hash128));
  std::ifstream in(file, std::ios::binary);
  std::uint32_t kind = 0;
  in.seekg(-kEndSize, std::ios::end);
  in.read(reinterpret_cast<char*>(&kind), sizeof(kind));
  return in && kind == kEndChunk;
}

}  // namespace thrum::sim
