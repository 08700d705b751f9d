// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/gltf_buffers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "thrum/base/byte_reader.h"
#include "thrum/base/error.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kGlbMagic = 0x46546c67;  // "glTF"
constexpr std::uint32_t kJsonChunk = 0x4e4f534a;
constexpr std::uint32_t kBinaryChunk = 0x004e4942;

enum ComponentType { kByte = 5120, kUnsignedByte, kShort, kUnsignedShort, kUnsignedInt = 5125, kFloat };

std::size_t component_bytes(int type)
{
  switch (type) {
    case kByte:
    case kUnsignedByte:
      return 1;
    case kShort:
    case kUnsignedShort:
      return 2;
    case kUnsignedInt:
    case kFloat:
      return 4;
    default:
      return 0;
  }
}

int base64_digit(char c)
{
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

// Nothing when a character is no base64 digit.
std::optional<std::string> from_base64(std::string_view text)
{
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    have += 6;
    if (have >= 8) {
      have -= 8;
      bytes += static_cast<char>((bits >> have) & 0xff);
    }
  }
  return bytes;
}

std::string percent_decoded(const std::string& uri)
{
  std::string text;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    const auto hex = [&](std::size_t k) {
      const char c = k < uri.size() ? uri[k] : 'x';
      if (c >= '0' && c <= '9') return c - '0';
      if (c >= 'a' && c <= 'f') return c - 'a' + 10;
      if (c >= 'A' && c <= 'F') return c - 'A' + 10;
      return -1;
    };
    if (uri[i] == '%' && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
      text += static_cast<char>(16 * hex(i + 1) + hex(i + 2));
      i += 2;
    } else {
      text += uri[i];
    }
  }
  return text;
}

}  // namespace

double Accessor::value(std::size_t element, std::size_t component) const
{
  const char* const at = data + element * stride + component * component_bytes(component_type);
  const auto fraction = [this](double v, double max_value) {
    return normalized ? std::max(v / max_value, -1.0) : v;
  };
  switch (component_type) {
    case kByte:
      return fraction(number_from_bytes<std::int8_t>(at, base::ByteOrder::little), 127);
    case kUnsignedByte:
      return fraction(number_from_bytes<std::uint8_t>(at, base::ByteOrder::little), 255);
    case kShort:
      return fraction(number_from_bytes<std::int16_t>(at, base::ByteOrder::little), 32767);
    case kUnsignedShort:
      return fraction(number_from_bytes<std::uint16_t>(at, base::ByteOrder::little), 65535);
    case kUnsignedInt:
      return number_from_bytes<std::uint32_t>(at, base::ByteOrder::little);
    default:
      return static_cast<double>(number_from_bytes<float>(at, base::ByteOrder::little));
  }
}

GltfBuffers::GltfBuffers(std::string_view bytes, const std::filesystem::path& name,
                         const std::filesystem::path& folder)
    : name_(&name), total_bytes_(bytes.size())
{
  const std::string_view text = bytes.starts_with("glTF") ? split_glb(bytes) : bytes;
  try {
    root_ = Json::parse(text);
  } catch (const Json::parse_error& error) {
    // The parser's own message may quote any amount of the file; the position is enough.
    fail(fmt::format("invalid JSON from byte {} on", error.byte), "a glTF file");
  } catch (const Json::exception&) {
    fail("invalid JSON: a number is too big", "a glTF file");
  }
  if (!root_.is_object()) fail("JSON that is not an object", "a glTF file");
  const Json& asset = root_.contains("asset") ? root_["asset"] : Json();
  const std::string version = asset.is_object() ? this->text(asset, "version") : "";
  if (!version.starts_with("2.")) fail(fmt::format("glTF version {}", quoted_text(version)), "2.0");
  load_buffers(folder);
}

std::string_view GltfBuffers::split_glb(std::string_view bytes)
{
  base::ByteReader reader(bytes, *name_);
  if (reader.read<std::uint32_t>("magic number") != kGlbMagic)
    reader.fail("an unknown file start", "\"glTF\"");
  const auto version = reader.read<std::uint32_t>("version");
  if (version != 2) reader.fail(fmt::format("version {}", version), "version 2 of GLB");
  const auto length = reader.read<std::uint32_t>("length");
  if (length > bytes.size()) {
    reader.fail(fmt::format("a file of {} bytes", bytes.size()),
                fmt::format("{} bytes, the length in its header", length));
  }
  std::string_view json;
  while (reader.remaining() >= 8) {
    const auto chunk_bytes = reader.read<std::uint32_t>("chunk length");
    const auto type = reader.read<std::uint32_t>("chunk type");
    const std::string_view chunk = reader.take(chunk_bytes, "bytes of a chunk");
    if (type == kJsonChunk && json.empty()) json = chunk;
    if (type == kBinaryChunk && !has_binary_chunk_) {
      binary_chunk_ = chunk;
      has_binary_chunk_ = true;
    }
  }
  if (json.empty()) reader.fail("no JSON chunk", "one");
  return json;
}

void GltfBuffers::load_buffers(const std::filesystem::path& folder)
{
  const Json& list = this->list("buffers");
  owned_.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::uint64_t expected = size_in(list[i], "byteLength", 0);
    const std::string uri = text(list[i], "uri");
    if (uri.empty()) {
      if (i != 0 || !has_binary_chunk_)
        fail(fmt::format("buffer {} without a uri", i), "a uri or a binary chunk");
      buffers_.push_back(binary_chunk_);
    } else {
      owned_[i] = load_uri(uri, folder);
      total_bytes_ += owned_[i].size();
      buffers_.push_back(owned_[i]);
    }
    if (buffers_[i].size() < expected) {
      fail(fmt::format("{} bytes in buffer {}", buffers_[i].size(), i),
           fmt::format("{} bytes, its byteLength", expected));
    }
    buffers_[i] = buffers_[i].substr(0, static_cast<std::size_t>(expected));
  }
}

std::string GltfBuffers::load_uri(const std::string& uri, const std::filesystem::path& folder) const
{
  if (uri.starts_with("data:")) {
    constexpr std::string_view kMark = ";base64,";
    const std::size_t mark = uri.find(kMark);
    const auto bytes = mark == std::string::npos
                           ? std::nullopt
                           : from_base64(std::string_view(uri).substr(mark + kMark.size()));
    if (!bytes) fail(fmt::format("the buffer {}", quoted_text(uri)), "data in base64");
    return *bytes;
  }
  const std::filesystem::path path = percent_decoded(uri);
  if (folder.empty())
    fail(fmt::format("the external buffer {}", quoted_text(uri)), "buffers inside the file");
  // A mesh may only name files in or below its own folder.
  const bool leaves = path.is_absolute() || uri.find("://") != std::string::npos ||
                      std::any_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (leaves)
    fail(fmt::format("the buffer {}", quoted_text(uri)), "a file in or below the folder of the .gltf");
  const FileBytes file(folder / path);
  return std::string(file.view());
}

const Json& GltfBuffers::list_in(const Json& object, const char* key) const
{
  static const Json kNone = Json::array();
  if (!object.is_object()) fail(fmt::format("a value of type {}", object.type_name()), "an object");
  const auto found = object.find(key);
  if (found == object.end()) return kNone;
  if (!found->is_array()) fail(fmt::format("\"{}\" of type {}", key, found->type_name()), "an array");
  return *found;
}

std::optional<std::size_t> GltfBuffers::index(const Json& object, const char* key, std::size_t size,
                                              std::optional<std::size_t> otherwise) const
{
  if (!object.is_object()) fail(fmt::format("a value of type {}", object.type_name()), "an object");
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  return checked_index(*found, key, size);
}

std::size_t GltfBuffers::checked_index(const Json& value, const char* what, std::size_t size) const
{
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= size) {
    fail(fmt::format("\"{}\" {}", what, value.is_number() ? value.dump() : value.type_name()),
         fmt::format("an integer below {}", size));
  }
  return value.get<std::size_t>();
}

std::string GltfBuffers::text(const Json& object, const char* key) const
{
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end()) return "";
  if (!found->is_string()) fail(fmt::format("\"{}\" of type {}", key, found->type_name()), "a string");
  return found->get<std::string>();
}

std::uint64_t GltfBuffers::size_in(const Json& object, const char* key, std::uint64_t otherwise) const
{
  // Any size up to 2^53 is kept exactly by every JSON writer.
  constexpr std::size_t kMaxSize = std::size_t{1} << 53;
  return index(object, key, kMaxSize, static_cast<std::size_t>(otherwise)).value();
}

Accessor GltfBuffers::accessor(std::size_t number, std::size_t components) const
{
  const Json& json = list("accessors").at(number);
  if (json.is_object() && json.contains("sparse")) {
    fail(fmt::format("the sparse accessor {}", number), "dense accessors: export without sparse accessors");
  }
  const std::string expected = components == 1 ? "SCALAR" : fmt::format("VEC{}", components);
  const std::string type = text(json, "type");
  if (type != expected) fail(fmt::format("accessor {} of type {}", number, quoted_text(type)), expected);

  Accessor result;
  result.component_type = static_cast<int>(size_in(json, "componentType", 0) & 0xffff);
  const std::size_t size = component_bytes(result.component_type) * components;
  if (size == 0)
    fail(fmt::format("accessor {} of component type {}", number, result.component_type), "5120 to 5126");
  result.floating = result.component_type == kFloat;
  const auto normalized = json.find("normalized");
  result.normalized = normalized != json.end() && normalized->is_boolean() && normalized->get<bool>();

  const auto view_number = index(json, "bufferView", list("bufferViews").size());
  if (!view_number) fail(fmt::format("accessor {} without a bufferView", number), "one");
  const Json& view = list("bufferViews")[*view_number];
  const auto buffer_number = index(view, "buffer", buffers_.size());
  if (!buffer_number) fail(fmt::format("bufferView {} without a buffer", *view_number), "one");
  const std::string_view buffer = buffers_[*buffer_number];

  // All sizes are below 2^53, so sums cannot overflow; the product is avoided by dividing.
  const std::uint64_t view_begin = size_in(view, "byteOffset", 0);
  const std::uint64_t view_bytes = size_in(view, "byteLength", 0);
  const std::uint64_t begin = size_in(json, "byteOffset", 0);
  const std::uint64_t stride = size_in(view, "byteStride", size);
  const std::uint64_t count = size_in(json, "count", 0);
  if (view_begin + view_bytes > buffer.size()) {
    fail(fmt::format("bufferView {} to byte {}", *view_number, view_begin + view_bytes),
         fmt::format("at most the {} bytes of buffer {}", buffer.size(), *buffer_number));
  }
  if (stride < size) fail(fmt::format("a stride of {} bytes", stride), fmt::format("at least {}", size));
  const bool fits =
      count == 0 || (begin + size <= view_bytes && (count - 1) <= (view_bytes - begin - size) / stride);
  if (!fits) {
    fail(fmt::format("accessor {} of {} elements from byte {}, each {} bytes", number, count, begin, size),
         fmt::format("elements within the {} bytes of bufferView {}", view_bytes, *view_number));
  }
  result.data = buffer.data() + view_begin + begin;
  result.count = static_cast<std::size_t>(count);
  result.stride = static_cast<std::size_t>(stride);
  return result;
}

void GltfBuffers::fail(std::string found, std::string expected) const
{
  throw InputError({*name_}, std::move(found), std::move(expected));
}

void GltfBuffers::fail_at_key(const char* key, std::size_t found, std::size_t expected) const
{
  fail(fmt::format("\"{}\" with {} numbers", key, found), fmt::format("{}", expected));
}

std::string glb_from_chunks(std::string json, std::string binary)
{
  json.resize((json.size() + 3) / 4 * 4, ' ');
  binary.resize((binary.size() + 3) / 4 * 4, '\0');
  const std::size_t total = 12 + 8 + json.size() + (binary.empty() ? 0 : 8 + binary.size());
  if (total > std::numeric_limits<std::uint32_t>::max()) {
    throw Error("The mesh is too big for one GLB file, which is limited to 4 GB. Write it as PLY.");
  }
  std::string out;
  out.reserve(total);
  base::append_bytes(out, kGlbMagic);
  base::append_bytes(out, std::uint32_t{2});
  base::append_bytes(out, static_cast<std::uint32_t>(total));
  base::append_bytes(out, static_cast<std::uint32_t>(json.size()));
  base::append_bytes(out, kJsonChunk);
  out += json;
  if (!binary.empty()) {
    base::append_bytes(out, static_cast<std::uint32_t>(binary.size()));
    base::append_bytes(out, kBinaryChunk);
    out += binary;
  }
  return out;
}

}  // namespace thrum::mesh_io
