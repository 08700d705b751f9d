// SPDX-License-Identifier: MIT
// The zip container: local header + data for each entry, then the table of contents (central directory) with
// an end record. Only what NumPy needs: stored entries, no encryption, files below 4 GB.
#include "thrum/base/npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>

#include "thrum/base/error.h"
#include "thrum/base/npy_format.h"

namespace thrum::base {
namespace {

constexpr std::uint32_t kLocalMagic = 0x04034b50;
constexpr std::uint32_t kCentralMagic = 0x02014b50;
constexpr std::uint32_t kEndMagic = 0x06054b50;
constexpr std::size_t kLocalSize = 30;    ///< fixed part of a local header [byte]
constexpr std::size_t kCentralSize = 46;  ///< fixed part of an entry of the table of contents [byte]
constexpr std::size_t kEndSize = 22;      ///< fixed part of the end record [byte]
constexpr std::size_t kMaxCommentSize = 65535;
constexpr std::uint16_t kVersion = 20;  ///< zip 2.0
constexpr std::uint16_t kNameIsUtf8 = 0x800;
/// 1 January 1980, the earliest date zip can store: files carry no dates
constexpr std::uint16_t kFirstDay = 0x21;
constexpr std::uint64_t kMaxZipSize = std::numeric_limits<std::uint32_t>::max();

/// Appends little-endian numbers to a buffer.
class Packer {
 public:
  Packer& u16(std::size_t v) { return put(v, 2); }
  Packer& u32(std::size_t v) { return put(v, 4); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Packer& put(std::size_t v, int count)
  {
    for (int i = 0; i < count; ++i) text_.push_back(static_cast<char>(v >> (8 * i) & 0xff));
    return *this;
  }
  std::string text_;
};

std::size_t number_at(std::span<const std::byte> bytes, std::size_t at, int count)
{
  std::size_t value = 0;
  for (int i = count - 1; i >= 0; --i) {
    value = value << 8 | std::to_integer<std::size_t>(bytes[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

/// Tables for eight bytes at a time: table[k][b] is the checksum of byte b followed by k zeros.
constexpr std::array<std::array<std::uint32_t, 256>, 8> make_crc_tables()
{
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    tables[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k) {
    for (std::size_t b = 0; b < 256; ++b) {
      tables[k][b] = tables[k - 1][b] >> 8 ^ tables[0][tables[k - 1][b] & 0xff];
    }
  }
  return tables;
}
constexpr auto kCrc = make_crc_tables();

/// Where an entry lies, from the table of contents.
struct Place {
  std::string name;
  std::size_t method = 0;
  std::size_t flags = 0;
  std::uint32_t checksum = 0;
  std::size_t packed = 0;  ///< bytes in the file
  std::size_t size = 0;    ///< bytes of the array
  std::size_t offset = 0;  ///< of the local header
  std::size_t listed = 0;  ///< offset of its entry in the table of contents
};

InputError bad(const std::filesystem::path& path, std::size_t at, std::string found, std::string expected)
{
  return {{path, 0, 0, static_cast<std::ptrdiff_t>(at)}, std::move(found), std::move(expected)};
}

std::vector<Place> read_contents(std::span<const std::byte> bytes, const std::filesystem::path& path)
{
  // The end record is at the end of the file, followed only by a comment.
  if (bytes.size() < kEndSize) throw bad(path, 0, "a file too short for a zip", "an .npz file");
  std::size_t end = bytes.size() - kEndSize;
  const std::size_t lowest = end > kMaxCommentSize ? end - kMaxCommentSize : 0;
  while (number_at(bytes, end, 4) != kEndMagic) {
    if (end == lowest) throw bad(path, 0, "no end of a zip archive (a truncated file?)", "an .npz file");
    --end;
  }
  const std::size_t count = number_at(bytes, end + 10, 2);
  std::size_t at = number_at(bytes, end + 16, 4);
  if (count == 0xffff || at == kMaxZipSize) throw bad(path, end, "a zip64 archive", "an archive below 4 GB");

  std::vector<Place> places;
  for (std::size_t i = 0; i < count; ++i) {
    if (at > end || end - at < kCentralSize || number_at(bytes, at, 4) != kCentralMagic) {
      throw bad(path, at, "a broken table of contents", fmt::format("entry {} of {}", i + 1, count));
    }
    const std::size_t name_length = number_at(bytes, at + 28, 2);
    const std::size_t skipped = number_at(bytes, at + 30, 2) + number_at(bytes, at + 32, 2);
    if (end - at - kCentralSize < name_length + skipped) {
      throw bad(path, at, "a broken table of contents", fmt::format("entry {} of {}", i + 1, count));
    }
    Place p;
    p.listed = at;
    p.flags = number_at(bytes, at + 8, 2);
    p.method = number_at(bytes, at + 10, 2);
    p.checksum = static_cast<std::uint32_t>(number_at(bytes, at + 16, 4));
    p.packed = number_at(bytes, at + 20, 4);
    p.size = number_at(bytes, at + 24, 4);
    p.offset = number_at(bytes, at + 42, 4);
    p.name.assign(reinterpret_cast<const char*>(bytes.data()) + at + kCentralSize, name_length);
    places.push_back(std::move(p));
    at += kCentralSize + name_length + skipped;
  }
  return places;
}

/// The bytes of one entry, checked against its length and checksum.
std::span<const std::byte> entry_data(std::span<const std::byte> bytes, const Place& p,
                                      const std::filesystem::path& path)
{
  if ((p.flags & 1) != 0)
    throw bad(path, p.listed, fmt::format("encrypted array '{}'", p.name), "a plain one");
  if (p.method != 0) {
    throw bad(path, p.listed, fmt::format("compressed array '{}'", p.name),
              "an uncompressed one (numpy.savez, not savez_compressed)");
  }
  if (p.offset > bytes.size() || bytes.size() - p.offset < kLocalSize ||
      number_at(bytes, p.offset, 4) != kLocalMagic) {
    throw bad(path, p.listed, fmt::format("array '{}' at a wrong offset", p.name),
              "an offset inside the file");
  }
  const std::size_t header =
      kLocalSize + number_at(bytes, p.offset + 26, 2) + number_at(bytes, p.offset + 28, 2);
  const std::size_t available = bytes.size() - p.offset;
  if (header > available || p.packed != p.size || p.size > available - header) {
    throw bad(path, p.listed, fmt::format("{} bytes of array '{}'", p.size, p.name),
              "as many as the file holds");
  }
  const std::span<const std::byte> data = bytes.subspan(p.offset + header, p.size);
  if (crc32(data) != p.checksum) {
    throw bad(path, p.offset, fmt::format("array '{}' with a wrong checksum (a damaged file?)", p.name),
              fmt::format("checksum {:08x}", p.checksum));
  }
  return data;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> data, std::uint32_t before)
{
  std::uint32_t c = ~before;
  while (data.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, data.data(), 8);
    word ^= c;
    c = 0;
    for (std::size_t k = 0; k < 8; ++k) c ^= kCrc[7 - k][word >> (8 * k) & 0xff];
    data = data.subspan(8);
  }
  for (const std::byte b : data) c = kCrc[0][(c ^ std::to_integer<std::uint32_t>(b)) & 0xff] ^ c >> 8;
  return ~c;
}

std::string_view name_of(DType type)
{
  constexpr std::array<std::string_view, 6> names{"float64", "float32", "int64", "int32", "uint8", "text"};
  return names[static_cast<std::size_t>(type)];
}

const std::string& NpyArray::text() const
{
  require_type(DType::text);
  require_shape({});
  return texts.front();
}

std::size_t NpyArray::size() const
{
  return type == DType::text ? texts.size() : data.size() / detail::size_of(type);
}

void NpyArray::require_type(DType expected) const
{
  if (type == expected) return;
  throw Error(fmt::format("{}: found {}, expected {}.", name, name_of(type), name_of(expected)));
}

void NpyArray::require_shape(const std::vector<std::size_t>& expected) const
{
  bool equal = shape.size() == expected.size();
  for (std::size_t i = 0; equal && i < shape.size(); ++i)
    equal = expected[i] == kAnySize || expected[i] == shape[i];
  if (equal) return;
  std::string text;
  for (const std::size_t n : expected)
    text += (text.empty() ? "" : ", ") + (n == kAnySize ? "any" : std::to_string(n));
  throw Error(fmt::format("{}: found shape ({}), expected ({}).", name, fmt::join(shape, ", "), text));
}

NpzWriter::NpzWriter(const std::filesystem::path& path) : file_(path) {}

void NpzWriter::add_entry(std::string_view name, std::string_view header, std::span<const std::byte> data)
{
  const std::string file_name = fmt::format("{}.npy", name);
  const std::size_t size = header.size() + data.size();
  if (name.empty() || file_name.size() > kMaxCommentSize) throw Error("An array in an .npz needs a name.");
  for (const Entry& e : entries_) {
    if (e.name == file_name) throw Error(fmt::format("The array '{}' was already added.", name));
  }
  if (file_.size() + size + kLocalSize + file_name.size() > kMaxZipSize || entries_.size() >= 0xfffe) {
    throw Error(
        fmt::format("The array '{}' would make the file larger than 4 GB, which .npz does not hold.", name));
  }
  const std::uint32_t checksum = crc32(data, crc32(std::as_bytes(std::span(header))));
  entries_.push_back(
      {file_name, checksum, static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(file_.size())});
  Packer p;
  p.u32(kLocalMagic).u16(kVersion).u16(kNameIsUtf8).u16(0).u16(0).u16(kFirstDay);
  p.u32(checksum).u32(size).u32(size).u16(file_name.size()).u16(0);
  file_.write(p.text());
  file_.write(file_name);
  file_.write(header);
  file_.write(data);
}

void NpzWriter::add_raw(std::string_view name, DType type, std::span<const std::byte> data, std::size_t count,
                        const std::vector<std::size_t>& shape)
{
  std::size_t product = 1;
  for (const std::size_t n : shape) product *= n;
  if (product != count) {
    throw Error(fmt::format("The array '{}' has {} values, but its shape is ({}).", name, count,
                            fmt::join(shape, ", ")));
  }
  add_entry(name, detail::make_npy_header(detail::descr_of(type), shape), data);
}

void NpzWriter::add(std::string_view name, double value)
{
  add_entry(name, detail::make_npy_header(detail::descr_of(DType::float64), {}),
            std::as_bytes(std::span(&value, 1)));
}

void NpzWriter::add(std::string_view name, std::int64_t value)
{
  add_entry(name, detail::make_npy_header(detail::descr_of(DType::int64), {}),
            std::as_bytes(std::span(&value, 1)));
}

void NpzWriter::add_unicode(std::string_view name, std::span<const std::string> texts,
                            const std::vector<std::size_t>& shape)
{
  // Fixed width: that of the longest text, at least one.
  std::vector<std::u32string> points;
  std::size_t width = 1;
  for (const std::string& text : texts) {
    points.push_back(detail::decode_utf8(text));
    width = std::max(width, points.back().size());
  }
  std::u32string all;
  for (std::u32string& p : points) all += p + std::u32string(width - p.size(), U'\0');
  add_entry(name, detail::make_npy_header(fmt::format("<U{}", width), shape), std::as_bytes(std::span(all)));
}

void NpzWriter::add_text(std::string_view name, std::string_view text)
{
  const std::string one(text);
  add_unicode(name, std::span(&one, 1), {});
}

void NpzWriter::add_texts(std::string_view name, std::span<const std::string> texts)
{
  add_unicode(name, texts, {texts.size()});
}

void NpzWriter::commit()
{
  const std::size_t start = file_.size();
  for (const Entry& e : entries_) {
    Packer p;
    p.u32(kCentralMagic).u16(kVersion).u16(kVersion).u16(kNameIsUtf8).u16(0).u16(0).u16(kFirstDay);
    p.u32(e.checksum).u32(e.size).u32(e.size).u16(e.name.size());
    p.u16(0).u16(0).u16(0).u16(0).u32(0).u32(e.offset);
    file_.write(p.text());
    file_.write(e.name);
  }
  const std::size_t length = file_.size() - start;
  if (file_.size() > kMaxZipSize)
    throw Error("The file would be larger than 4 GB, which .npz does not hold.");
  Packer p;
  p.u32(kEndMagic).u16(0).u16(0).u16(entries_.size()).u16(entries_.size()).u32(length).u32(start).u16(0);
  file_.write(p.text());
  file_.commit();
}

const NpyArray& NpzFile::at(std::string_view name) const
{
  const auto found = arrays_.find(std::string(name));
  if (found != arrays_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, array] : arrays_) names.push_back(known);
  throw Error(
      fmt::format("{}: there is no array '{}'; the file contains: {}.", file_, name, fmt::join(names, ", ")));
}

NpzFile parse_npz(std::span<const std::byte> bytes, const std::filesystem::path& path)
{
  NpzFile result;
  result.file_ = path.string();
  std::size_t total = 0;
  for (const Place& p : read_contents(bytes, path)) {
    const std::span<const std::byte> data = entry_data(bytes, p, path);
    // Entries that overlap could require far more memory than the size of the file.
    total += data.size();
    if (total > bytes.size()) throw bad(path, p.listed, "arrays that overlap", "arrays one after the other");
    if (!p.name.ends_with(".npy"))
      throw bad(path, p.listed, fmt::format("entry '{}'", p.name), "names ending in .npy");
    const std::string name = p.name.substr(0, p.name.size() - 4);
    NpyArray array = parse_npy(data, path, static_cast<std::size_t>(data.data() - bytes.data()));
    array.name = fmt::format("{}: {}", path.string(), name);
    if (!result.arrays_.emplace(name, std::move(array)).second) {
      throw bad(path, p.listed, fmt::format("array '{}' twice", name), "different names");
    }
  }
  return result;
}

NpzFile read_npz(const std::filesystem::path& path)
{
  return parse_npz(read_file(path), path);
}

}  // namespace thrum::base
