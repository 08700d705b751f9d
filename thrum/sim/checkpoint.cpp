// SPDX-License-Identifier: MIT
#include "thrum/sim/checkpoint.h"

#include <fmt/format.h>

#include "thrum/base/atomic_file.h"
#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/base/npz.h"
#include "thrum/model/visit_state.h"

namespace thrum::sim {

namespace {

using base::append_bytes;
using base::ByteReader;

constexpr std::string_view kMagic = "THRUMCHK";
constexpr std::uint32_t kVersion = 7;

// Both directions walk the fields that visit_state.h lists.
struct Writer : model::NumberVisitor {
  std::string& out;
  explicit Writer(std::string& bytes) : out(bytes) {}

  template <class T>
  void number(T value)
  {
    if constexpr (std::is_same_v<T, bool>) {
      append_bytes(out, static_cast<std::uint8_t>(value));
    } else {
      append_bytes(out, value);
    }
  }
  template <class T>
  void list(const std::vector<T>& values)
  {
    append_bytes(out, static_cast<std::uint64_t>(values.size()));
  }
};

// Bytes of an element that holds empty lists only.
template <class T>
std::size_t min_size()
{
  std::string bytes;
  Writer writer(bytes);
  const T element{};
  model::visit_numbers(element, writer);
  return bytes.size();
}

struct Reader : model::NumberVisitor {
  ByteReader& in;
  explicit Reader(ByteReader& bytes) : in(bytes) {}

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
  void list(std::vector<T>& values)
  {
    const auto count = in.read<std::uint64_t>("number of elements");
    in.require(count, min_size<T>(), "elements");
    values.resize(static_cast<std::size_t>(count));
  }
};

constexpr const char* kAdvice = "Run the scene again without --resume.";

[[noreturn]] void reject(const std::filesystem::path& name, const std::string& sentence)
{
  throw Error(fmt::format("{} {} {}", name.string(), sentence, kAdvice));
}

// `c` is const for writing.
template <class Stream, class AnyCheckpoint>
void visit_checkpoint(Stream& s, AnyCheckpoint& c)
{
  s.number(c.steps_done);
  s.number(c.recording_length);
  s.number(c.source_hash.low);
  s.number(c.source_hash.high);
  model::visit_numbers(c.state, s);
}

}  // namespace

std::string checkpoint_bytes(const Checkpoint& checkpoint)
{
  std::string payload;
  Writer writer(payload);
  visit_checkpoint(writer, checkpoint);
  std::string out(kMagic);
  append_bytes(out, kVersion);
  append_bytes(out, base::crc32(std::as_bytes(std::span(payload))));
  return out + payload;
}

Checkpoint parse_checkpoint(std::string_view bytes, const std::filesystem::path& name)
{
  ByteReader in(bytes, name);
  in.set_advice(kAdvice);
  if (bytes.substr(0, kMagic.size()) != kMagic) reject(name, "is not a checkpoint of thrum.");
  in.seek(kMagic.size());
  const auto version = in.read<std::uint32_t>("version");
  if (version != kVersion)
    reject(name, fmt::format("has version {} of the format, and this program reads version {}.", version,
                             kVersion));
  const auto checksum = in.read<std::uint32_t>("checksum");
  if (base::crc32(std::as_bytes(std::span(bytes.substr(in.position())))) != checksum) {
    reject(name, "is damaged: its bytes do not have its checksum.");
  }
  Checkpoint checkpoint;
  Reader reader(in);
  visit_checkpoint(reader, checkpoint);
  if (in.remaining() > 0) reject(name, fmt::format("is damaged: {} bytes follow its end.", in.remaining()));
  for (const auto* patches : {&checkpoint.state.patches, &checkpoint.state.sensor_patches}) {
    for (const model::ContactPatch& p : *patches) {
      const auto count = checkpoint.state.bodies.size();
      if (p.count > p.points.size() || at(p.a) >= count || at(p.b) >= count) {
        reject(name, "is damaged: it has a contact of a body that it does not have.");
      }
    }
  }
  for (const model::PairReference& pair : checkpoint.state.references) {
    const auto count = checkpoint.state.bodies.size();
    if (at(pair.a) >= count || at(pair.b) >= count)
      reject(name, "is damaged: it has a pair with a body that it does not have.");
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
