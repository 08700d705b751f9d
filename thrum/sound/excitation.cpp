// SPDX-License-Identifier: MIT
#include "thrum/sound/excitation.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/npz.h"
#include "thrum/sound/modal_force_bytes.h"

namespace thrum::sound {

namespace {

using base::append_bytes;
using base::ByteReader;

constexpr std::string_view kMagic = "THRUMEXC";
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kModalForcesVersion = 2;   ///< the first with forces on modes
constexpr std::uint32_t kRunVersion = 3;           ///< the first with the identity of the run
constexpr std::uint32_t kStepsChunk = 0x50455453;  ///< "STEP"
constexpr std::size_t kChunkHeaderSize = 12;
// Steps are written out beyond both of these: what a file loses when its end is missing, and how often
// contacts that do not change are written in full.
constexpr std::size_t kMinChunkBytes = 1 << 16;
constexpr std::size_t kMinChunkSteps = 16;       ///< as long as if all contacts of the last step were new
constexpr std::size_t kMaxChunkBytes = 1 << 30;  ///< more is a damaged file
constexpr std::size_t kSearchedContacts = 32;
constexpr std::size_t kContactNameBytes = 16;  ///< two bodies and the key, at the beginning of a contact
constexpr std::uint8_t kSameContact = 0;
constexpr std::uint8_t kNewContact = 1;

void append_float(std::string& out, double x)
{
  append_bytes(out, static_cast<float>(x));
}

void append_point(std::string& out, const Vec3& p)
{
  for (int k = 0; k < 3; ++k) append_float(out, p[k]);
}

Vec3 read_point(ByteReader& in)
{
  Vec3 p;
  for (int k = 0; k < 3; ++k) p[k] = in.read<float>("coordinate");
  return p;
}

std::string contact_bytes(const ContactSample& c)
{
  std::string out;
  append_bytes(out, c.a);
  append_bytes(out, c.b);
  append_bytes(out, c.key);
  append_point(out, c.position);
  append_point(out, c.normal);
  append_float(out, c.normal_impulse);
  append_point(out, c.friction_impulse);
  append_point(out, c.slip);
  append_float(out, c.approach_speed);
  append_float(out, c.impact_delay);
  append_float(out, c.inverse_mass);
  append_float(out, c.friction);
  append_bytes(out, static_cast<std::uint8_t>((c.is_new ? 1 : 0) | (c.bounced ? 2 : 0)));
  return out;
}

ContactSample read_contact(ByteReader& in)
{
  ContactSample c;
  c.a = in.read<std::uint32_t>("number of a body");
  c.b = in.read<std::uint32_t>("number of a body");
  c.key = in.read<std::uint64_t>("key of a contact");
  c.position = read_point(in);
  c.normal = read_point(in);
  c.normal_impulse = in.read<float>("impulse");
  c.friction_impulse = read_point(in);
  c.slip = read_point(in);
  c.approach_speed = in.read<float>("speed");
  c.impact_delay = in.read<float>("delay");
  c.inverse_mass = in.read<float>("inverse mass");
  c.friction = in.read<float>("friction");
  const auto flags = in.read<std::uint8_t>("flags");
  c.is_new = (flags & 1) != 0;
  c.bounced = (flags & 2) != 0;
  return c;
}

bool is_same_point(const std::string& a, const std::string& b)
{
  return a.compare(0, kContactNameBytes, b, 0, kContactNameBytes) == 0;
}

std::uint32_t checksum(std::string_view payload)
{
  return base::crc32(std::as_bytes(std::span(payload)), kStepsChunk);
}

// Reads `size` bytes unless the file ends before.
std::string read_bytes(int descriptor, std::size_t size)
{
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

ExcitationWriter::ExcitationWriter(const std::filesystem::path& file, bool append, const base::Hash128& run)
    : file_(file)
{
  descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC) | O_CLOEXEC, 0644);
  if (descriptor_ < 0)
    throw Error(fmt::format("{} cannot be written: {}.", file.string(), std::strerror(errno)));
  if (append) return;
  std::string header(kMagic);
  append_bytes(header, kVersion);
  append_bytes(header, run.low);
  append_bytes(header, run.high);
  write(header);
}

ExcitationWriter::~ExcitationWriter()
{
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ExcitationWriter::add(const ExcitationStep& step)
{
  append_bytes(buffer_, step.time);
  append_bytes(buffer_, step.duration);
  append_bytes(buffer_, static_cast<std::uint32_t>(step.contacts.size()));
  append_bytes(buffer_, static_cast<std::uint32_t>(step.poses.size()));
  contacts_.clear();
  // Contacts keep their order from step to step, so each is looked for a few places on from the last found.
  std::size_t next = 0;
  for (const ContactSample& contact : step.contacts) {
    contacts_.push_back(contact_bytes(contact));
    const std::size_t end = std::min(next + kSearchedContacts, last_contacts_.size());
    std::size_t found = next;
    while (found < end && last_contacts_[found] != contacts_.back()) ++found;
    if (found >= end) {
      append_bytes(buffer_, kNewContact);
      buffer_ += contacts_.back();
      // One that has changed is most often in its old place.
      if (next < last_contacts_.size() && is_same_point(last_contacts_[next], contacts_.back())) ++next;
      continue;
    }
    append_bytes(buffer_, kSameContact);
    append_bytes(buffer_, static_cast<std::uint32_t>(found));
    next = found + 1;
  }
  for (const PoseSample& pose : step.poses) {
    append_bytes(buffer_, pose.body);
    append_point(buffer_, pose.X_ws.position);
    const Quat& q = pose.X_ws.rotation;
    for (const double x : {q.w(), q.x(), q.y(), q.z()}) append_float(buffer_, x);
  }
  append_modal_forces(buffer_, step.modal_forces, last_forces_);
  last_contacts_.swap(contacts_);
  const std::size_t whole_step =
      last_contacts_.empty() ? 0 : last_contacts_.size() * last_contacts_[0].size();
  if (buffer_.size() > std::max(kMinChunkBytes, kMinChunkSteps * whole_step)) flush();
}

// Each chunk stands alone: its first step refers to none before it.
void ExcitationWriter::flush()
{
  if (buffer_.empty()) return;
  std::string chunk;
  append_bytes(chunk, kStepsChunk);
  append_bytes(chunk, static_cast<std::uint32_t>(buffer_.size()));
  append_bytes(chunk, checksum(buffer_));
  write(chunk + buffer_);
  buffer_.clear();
  last_contacts_.clear();
  last_forces_.clear();
}

void ExcitationWriter::write(const std::string& bytes)
{
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(fmt::format("{} cannot be written: {}.", file_.string(), std::strerror(errno)));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

ExcitationReader::ExcitationReader(const std::filesystem::path& file) : file_(file)
{
  descriptor_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0)
    throw Error(fmt::format("{} cannot be read: {}.", file.string(), std::strerror(errno)));
  const std::string header = read_bytes(descriptor_, kMagic.size() + sizeof(kVersion));
  ByteReader in(header, file_);
  if (header.size() < kMagic.size() + sizeof(kVersion) || in.take(kMagic.size(), "mark") != kMagic) {
    ::close(descriptor_);
    in.seek(0);
    in.fail("another kind of file", "the contacts of a run, as 'thrum run' records them");
  }
  version_ = in.read<std::uint32_t>("version");
  if (version_ < 1 || version_ > kVersion) {
    ::close(descriptor_);
    in.fail(fmt::format("version {}", version_),
            fmt::format("version 1 to {}; run the scene again", kVersion));
  }
  if (version_ >= kRunVersion) read_run();
}

ExcitationReader::~ExcitationReader()
{
  if (descriptor_ >= 0) ::close(descriptor_);
}

// A file that ends before is one without steps.
void ExcitationReader::read_run()
{
  const std::string bytes = read_bytes(descriptor_, 2 * sizeof(std::uint64_t));
  cut_short_ = bytes.size() < 2 * sizeof(std::uint64_t);
  if (cut_short_) return;
  ByteReader in(bytes, file_);
  base::Hash128 run;
  run.low = in.read<std::uint64_t>("identity of the run");
  run.high = in.read<std::uint64_t>("identity of the run");
  if (run != base::Hash128{}) run_ = run;
}

bool ExcitationReader::read_chunk()
{
  const std::string header = read_bytes(descriptor_, kChunkHeaderSize);
  cut_short_ = !header.empty();
  if (header.size() < kChunkHeaderSize) return false;
  ByteReader in(header, file_);
  const auto kind = in.read<std::uint32_t>("kind");
  const auto size = in.read<std::uint32_t>("size");
  const auto sum = in.read<std::uint32_t>("checksum");
  if (kind != kStepsChunk || size > kMaxChunkBytes) return false;
  chunk_ = read_bytes(descriptor_, size);
  if (chunk_.size() < size || checksum(chunk_) != sum) {
    chunk_.clear();
    return false;
  }
  cut_short_ = false;
  at_ = 0;
  last_contacts_.clear();
  last_forces_.clear();
  return true;
}

std::optional<ExcitationStep> ExcitationReader::next()
{
  if (cut_short_) return {};
  if (at_ >= chunk_.size() && !read_chunk()) {
    chunk_.clear();
    at_ = 0;
    return {};
  }
  ByteReader in(chunk_, file_);
  in.seek(at_);
  ExcitationStep step;
  step.time = in.read<double>("time");
  step.duration = in.read<double>("duration");
  const auto contacts = in.read<std::uint32_t>("number of contacts");
  const auto poses = in.read<std::uint32_t>("number of poses");
  in.require(contacts, 5, "contacts");
  step.contacts.reserve(contacts);
  for (std::uint32_t i = 0; i < contacts; ++i) {
    if (in.read<std::uint8_t>("kind of a contact") == kNewContact) {
      step.contacts.push_back(read_contact(in));
      continue;
    }
    const auto index = in.read<std::uint32_t>("number of a contact");
    if (index >= last_contacts_.size()) in.fail(fmt::format("contact {}", index), "one that is there");
    step.contacts.push_back(last_contacts_[index]);
  }
  in.require(poses, 32, "poses");
  step.poses.resize(poses);
  for (PoseSample& pose : step.poses) {
    pose.body = in.read<std::uint32_t>("number of a body");
    pose.X_ws.position = read_point(in);
    double q[4];
    for (double& x : q) x = in.read<float>("rotation");
    // Not normalised: what is written again stays the same bit for bit.
    pose.X_ws.rotation = Quat(q[0], q[1], q[2], q[3]);
  }
  if (version_ >= kModalForcesVersion) step.modal_forces = read_modal_forces(in, last_forces_);
  at_ = in.position();
  last_contacts_ = step.contacts;
  return step;
}

void truncate_excitation(const std::filesystem::path& file, double time)
{
  // Steps begin on multiples of their length, up to rounding.
  constexpr double kRounding = 1e-9;
  const std::filesystem::path old = file.string() + ".old";
  std::filesystem::rename(file, old);
  ExcitationReader reader(old);
  ExcitationWriter writer(file, false, reader.run().value_or(base::Hash128{}));
  while (const auto step = reader.next()) {
    if (step->time >= time - kRounding) break;
    writer.add(*step);
  }
  writer.flush();
  std::filesystem::remove(old);
}

}  // namespace thrum::sound
