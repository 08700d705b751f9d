// SPDX-License-Identifier: MIT
#include "thrum/base/npy_format.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <optional>

#include "thrum/base/error.h"

namespace thrum::base {
namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kHeaderAlignment = 64;
constexpr std::size_t kMaxHeaderSize =
    1u << 16;  ///< a header with one descr and one shape needs a few hundred bytes
constexpr std::size_t kMaxDimensions = 32;  ///< NumPy's own limit
constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kMaxCodePoint = 0x10FFFF;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

/// Parses the header's text, a Python dictionary.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::filesystem::path& path, std::size_t offset)
      : text_(text), path_(path), offset_(offset)
  {
  }

  Header read()
  {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        header.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = truth();
        has_order = true;
      } else if (key == "shape") {
        header.shape = shape();
        has_shape = true;
      } else {
        fail(fmt::format("key '{}'", key), "descr, fortran_order or shape");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape)
      fail("an incomplete header", "descr, fortran_order and shape");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const
  {
    throw InputError({path_, 0, 0, static_cast<std::ptrdiff_t>(offset_ + at_)}, found, expected);
  }
  void skip_spaces()
  {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c)
  {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c)
  {
    if (!accept(c)) fail("an unexpected character in the header of an array", fmt::format("'{}'", c));
  }
  std::string quoted()
  {
    expect('\'');
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos) fail("a quote that is not closed", "a closing quote");
    std::string word(text_.substr(at_, end - at_));
    at_ = end + 1;
    return word;
  }
  bool truth()
  {
    skip_spaces();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    }
    fail("an unknown word", "True or False");
  }
  std::vector<std::size_t> shape()
  {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(number());
      if (sizes.size() > kMaxDimensions) fail("more than 32 dimensions", "at most 32");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  std::size_t number()
  {
    skip_spaces();
    const std::size_t start = at_;
    std::size_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      const auto digit = static_cast<std::size_t>(text_[at_] - '0');
      if (value > (std::numeric_limits<std::size_t>::max() - digit) / 10)
        fail("a size beyond 64 bits", "a size of at most 64 bits");
      value = 10 * value + digit;
      ++at_;
    }
    if (at_ == start) fail("no number", "a size");
    return value;
  }

  std::string_view text_;
  const std::filesystem::path& path_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

/// The product of the sizes, or nothing when it does not fit.
std::optional<std::size_t> product(const std::vector<std::size_t>& shape)
{
  for (const std::size_t n : shape) {
    if (n == 0) return 0;
  }
  std::size_t count = 1;
  for (const std::size_t n : shape) {
    if (count > std::numeric_limits<std::size_t>::max() / n) return std::nullopt;
    count *= n;
  }
  return count;
}

/// The number of characters of each text, from "U12" or "S12"; nothing for numbers.
std::optional<std::size_t> text_width(std::string_view descr, char kind)
{
  if (descr.size() < 3 || descr.size() > 9 || descr[1] != kind) return std::nullopt;
  std::size_t width = 0;
  for (const char c : descr.substr(2)) {
    if (c < '0' || c > '9') return std::nullopt;
    width = 10 * width + static_cast<std::size_t>(c - '0');
  }
  return width;
}

std::optional<DType> number_type(std::string_view descr)
{
  for (const DType type : {DType::float64, DType::float32, DType::int64, DType::int32, DType::uint8}) {
    if (descr == detail::descr_of(type)) return type;
  }
  return std::nullopt;
}

/// Cuts `data` into texts of `width` characters, four bytes each (U) or one (S); zeros at the end are
/// padding.
std::vector<std::string> unpack_texts(std::span<const std::byte> data, std::size_t count, std::size_t width,
                                      bool wide)
{
  std::vector<std::string> texts(count);
  const std::size_t stride = width * (wide ? 4 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const std::byte> one = data.subspan(i * stride, stride);
    if (wide) {
      std::u32string points(width, U'\0');
      if (!one.empty()) std::memcpy(points.data(), one.data(), one.size());
      while (!points.empty() && points.back() == 0) points.pop_back();
      texts[i] = detail::encode_utf8(points);
    } else {
      texts[i].assign(reinterpret_cast<const char*>(one.data()), one.size());
      while (!texts[i].empty() && texts[i].back() == '\0') texts[i].pop_back();
    }
  }
  return texts;
}

}  // namespace

namespace detail {

std::string_view descr_of(DType type)
{
  switch (type) {
    case DType::float64:
      return "<f8";
    case DType::float32:
      return "<f4";
    case DType::int64:
      return "<i8";
    case DType::int32:
      return "<i4";
    case DType::uint8:
      return "|u1";
    case DType::text:
      break;
  }
  return "";
}

std::size_t size_of(DType type)
{
  switch (type) {
    case DType::float64:
    case DType::int64:
      return 8;
    case DType::float32:
    case DType::int32:
      return 4;
    case DType::uint8:
    case DType::text:
      break;
  }
  return 1;
}

std::string make_npy_header(std::string_view descr, const std::vector<std::size_t>& shape)
{
  std::string sizes;
  for (const std::size_t n : shape) sizes += fmt::format("{}{}", n, shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string body = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  const std::size_t before = kMagic.size() + 4;
  const std::size_t padded =
      (before + body.size() + 1 + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment;
  body.append(padded - before - body.size() - 1, ' ');
  body += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00', static_cast<char>(body.size() & 0xff), static_cast<char>(body.size() >> 8)};
  return header + body;
}

std::u32string decode_utf8(std::string_view text)
{
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0x80                   ? 0
                     : lead >= 0xC2 && lead < 0xE0 ? 1
                     : lead >= 0xE0 && lead < 0xF0 ? 2
                     : lead >= 0xF0 && lead < 0xF5 ? 3
                                                   : -1;
    char32_t point = more <= 0 ? lead : lead & (0x3Fu >> more);
    bool valid = more >= 0;
    for (int k = 0; valid && k < more; ++k) {
      valid = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0u) == 0x80u;
      if (valid) point = (point << 6) | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
    }
    points.push_back(valid && point <= kMaxCodePoint ? point : kReplacement);
  }
  return points;
}

std::string encode_utf8(std::u32string_view points)
{
  std::string text;
  const auto put = [&text](char32_t byte) {
    text.push_back(static_cast<char>(byte));
  };
  for (char32_t p : points) {
    if (p > kMaxCodePoint || (p >= 0xD800 && p < 0xE000)) p = kReplacement;
    if (p < 0x80) {
      put(p);
    } else if (p < 0x800) {
      put(0xC0 | (p >> 6));
      put(0x80 | (p & 0x3F));
    } else if (p < 0x10000) {
      put(0xE0 | (p >> 12));
      put(0x80 | ((p >> 6) & 0x3F));
      put(0x80 | (p & 0x3F));
    } else {
      put(0xF0 | (p >> 18));
      put(0x80 | ((p >> 12) & 0x3F));
      put(0x80 | ((p >> 6) & 0x3F));
      put(0x80 | (p & 0x3F));
    }
  }
  return text;
}

}  // namespace detail

NpyArray parse_npy(std::span<const std::byte> bytes, const std::filesystem::path& path, std::size_t offset)
{
  const auto fail = [&](std::size_t at, const std::string& found, const std::string& expected) {
    return InputError({path, 0, 0, static_cast<std::ptrdiff_t>(offset + at)}, found, expected);
  };
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto byte_at = [&](std::size_t i) {
    return static_cast<std::size_t>(std::to_integer<unsigned>(bytes[i]));
  };

  // The fixed part: magic, version, length of the header.
  if (bytes.size() < 12 || std::string_view(text, kMagic.size()) != kMagic) {
    throw fail(0, "no NumPy array", "the bytes \\x93NUMPY");
  }
  const std::size_t version = byte_at(6);
  if (version < 1 || version > 3) throw fail(6, fmt::format("format version {}", version), "1, 2 or 3");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = byte_at(8) | byte_at(9) << 8;
  if (version > 1) length |= byte_at(10) << 16 | byte_at(11) << 24;
  if (length > kMaxHeaderSize || length > bytes.size() - start) {
    throw fail(8, fmt::format("a header of {} bytes", length), "a header that fits the file");
  }

  // The dictionary.
  const Header header = HeaderReader({text + start, length}, path, offset + start).read();
  if (header.fortran_order && header.shape.size() > 1) {
    throw fail(start, "an array in Fortran order", "C order (convert it with numpy.ascontiguousarray)");
  }
  const std::optional<DType> type = number_type(header.descr);
  const std::optional<std::size_t> wide = text_width(header.descr, 'U');
  const std::optional<std::size_t> narrow = text_width(header.descr, 'S');
  const bool little = !header.descr.starts_with('>');
  if (!little || (!type && !wide && !narrow)) {
    throw fail(start, fmt::format("element type '{}'", header.descr),
               "float64, float32, int64, int32, uint8 or text, little-endian");
  }

  // The data: as many bytes as the shape requires, checked before any memory is allocated.
  const std::span<const std::byte> data = bytes.subspan(start + length);
  const std::optional<std::size_t> count = product(header.shape);
  const std::size_t item = type ? detail::size_of(*type) : wide ? 4 * *wide : *narrow;
  const bool fits = count && (item == 0 ? *count <= data.size() : *count <= data.size() / item);
  if (!fits || *count * item != data.size()) {
    throw fail(start + length, fmt::format("{} bytes of data", data.size()),
               fmt::format("the size of shape ({}) of '{}'", fmt::join(header.shape, ", "), header.descr));
  }
  NpyArray array;
  array.name = path.string();
  array.shape = header.shape;
  array.type = type.value_or(DType::text);
  if (type) {
    array.data.assign(data.begin(), data.end());
  } else {
    array.texts = unpack_texts(data, *count, wide ? *wide : *narrow, wide.has_value());
  }
  return array;
}

NpyArray read_npy(const std::filesystem::path& path)
{
  return parse_npy(read_file(path), path);
}

}  // namespace thrum::base
