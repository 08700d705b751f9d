// SPDX-License-Identifier: MIT
#include "thrum/sim/checkpoint.h"

#include <fmt/format.h>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"

namespace thrum::sim {

namespace {

using base::append_bytes;
using base::ByteReader;

constexpr std::string_view kMagic = "THRUMCHK";
constexpr std::uint32_t kVersion = 5;

// One description of the bytes for both directions: visit(stream, value) for each value in order.
struct Writer {
  std::string& out;
  template <class T>
  void number(T& value)
  {
    if constexpr (std::is_same_v<T, bool>) {
      append_bytes(out, static_cast<std::uint8_t>(value));
    } else {
      append_bytes(out, value);
    }
  }
  template <class T>
  void list(std::vector<T>& values, std::size_t)
  {
    append_bytes(out, static_cast<std::uint64_t>(values.size()));
  }
};

struct Reader {
  ByteReader& in;
  template <class T>
  void number(T& value)
  {
    if constexpr (std::is_same_v<T, bool>) {
      value = in.read<std::uint8_t>("flag") != 0;
    } else {
      value = in.read<T>("number");
    }
  }
  template <class T>
  void list(std::vector<T>& values, std::size_t min_bytes)
  {
    const auto count = in.read<std::uint64_t>("number of elements");
    in.require(count, min_bytes, "elements");
    values.resize(static_cast<std::size_t>(count));
  }
};

template <class Stream>
void vec(Stream& s, Vec3& v)
{
  for (int k = 0; k < 3; ++k) s.number(v[k]);
}

template <class Stream, class Tag>
void id(Stream& s, base::Id<Tag>& value)
{
  s.number(value.slot);
  s.number(value.generation);
}

template <class Stream>
void body(Stream& s, model::BodyState& b)
{
  vec(s, b.X_wb.position);
  for (int k = 0; k < 4; ++k) s.number(b.X_wb.rotation.coeffs()[k]);
  vec(s, b.velocity);
  vec(s, b.angular_velocity);
  vec(s, b.force);
  vec(s, b.torque);
  s.number(b.still_time);
  s.number(b.asleep);
}

template <class Stream>
void patch(Stream& s, model::ContactPatch& p)
{
  s.number(p.a);
  s.number(p.b);
  s.number(p.part_a);
  s.number(p.part_b);
  vec(s, p.normal);
  s.number(p.count);
  for (model::ContactPoint& point : p.points) {
    vec(s, point.position);
    for (double* value : {&point.depth, &point.normal_impulse, &point.warm_impulse, &point.normal_speed,
                          &point.requested_speed, &point.allowed_energy}) {
      s.number(*value);
    }
    s.number(point.feature_a);
    s.number(point.feature_b);
    s.number(point.is_new);
    s.number(point.bounced);
  }
  vec(s, p.friction_impulse);
  vec(s, p.warm_friction);
  s.number(p.warm_twist);
  vec(s, p.warm_rolling);
}

template <class Stream>
void visit_checkpoint(Stream& s, Checkpoint& c)
{
  s.number(c.steps_done);
  s.number(c.recording_length);
  s.number(c.source_hash.low);
  s.number(c.source_hash.high);
  s.number(c.state.time);
  s.number(c.state.step);
  s.number(c.state.last_step);
  s.number(c.state.random_state);
  s.list(c.state.bodies, 100);
  for (model::BodyState& b : c.state.bodies) body(s, b);
  s.list(c.state.body_ids, 8);
  for (model::BodyId& b : c.state.body_ids) id(s, b);
  s.list(c.state.joint_ids, 8);
  for (model::JointId& j : c.state.joint_ids) id(s, j);
  s.list(c.state.joints, 100);
  for (model::JointState& j : c.state.joints) {
    for (double& impulse : j.warm_impulse) s.number(impulse);
    vec(s, j.impulse);
    vec(s, j.angular_impulse);
  }
  s.list(c.state.patches, 100);
  for (model::ContactPatch& p : c.state.patches) patch(s, p);
  s.list(c.state.modal_states, 20);
  for (model::ModalState& ring : c.state.modal_states) {
    id(s, ring.body);
    for (std::vector<double>* values : {&ring.q, &ring.v}) {
      s.list(*values, 8);
      for (double& value : *values) s.number(value);
    }
  }
  s.list(c.state.pending_kicks, 68);
  for (model::PendingKick& kick : c.state.pending_kicks) {
    id(s, kick.body);
    s.number(kick.time);
    vec(s, kick.impulse);
    vec(s, kick.arm_b);
    s.number(kick.energy);
  }
}

}  // namespace

std::string checkpoint_bytes(const Checkpoint& checkpoint)
{
  std::string payload;
  Writer writer{payload};
  Checkpoint copy = checkpoint;
  visit_checkpoint(writer, copy);
  std::string out(kMagic);
  append_bytes(out, kVersion);
  append_bytes(out, base::crc32(std::as_bytes(std::span(payload))));
  return out + payload;
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::filesystem::path& name)
{
  ByteReader in(bytes, name);
  if (bytes.substr(0, kMagic.size()) != kMagic) in.fail("other bytes", "a checkpoint of thrum");
  in.seek(kMagic.size());
  const auto version = in.read<std::uint32_t>("version");
  if (version != kVersion) in.fail(fmt::format("version {}", version), fmt::format("version {}", kVersion));
  const auto checksum = in.read<std::uint32_t>("checksum");
  if (base::crc32(std::as_bytes(std::span(bytes.substr(in.position())))) != checksum) {
    in.fail("bytes that do not fit their checksum", "a whole checkpoint");
  }
  Checkpoint checkpoint;
  Reader reader{in};
  visit_checkpoint(reader, checkpoint);
  for (const model::ContactPatch& p : checkpoint.state.patches) {
    const auto count = checkpoint.state.bodies.size();
    if (p.count > p.points.size() || static_cast<std::size_t>(p.a) >= count ||
        static_cast<std::size_t>(p.b) >= count) {
      in.fail("a contact of bodies that are not there", "a sound state");
    }
  }
  return checkpoint;
}

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint)
{
  base::write_file(file, std::string_view(checkpoint_bytes(checkpoint)));
}

Checkpoint read_checkpoint(const std::filesystem::path& file)
{
  const std::string bytes = base::read_text_file(file);
  return parse_checkpoint(bytes, file);
}

}  // namespace thrum::sim
