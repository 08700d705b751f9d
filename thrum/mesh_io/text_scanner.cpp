// SPDX-License-Identifier: MIT
#include "thrum/mesh_io/text_scanner.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::mesh_io {

namespace {

bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

bool ends_word(char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// The general conversion, correctly rounded. Returns false when the number is too big; too small gives zero.
bool convert_exactly(const char* begin, const char* end, std::int64_t magnitude, double& value)
{
#if defined(__cpp_lib_to_chars)
  // from_chars does not accept a plus sign.
  const auto result = std::from_chars(*begin == '+' ? begin + 1 : begin, end, value);
  if (result.ec == std::errc::result_out_of_range) {
    if (magnitude > 0) return false;
    value = 0;
  }
#else
  static_cast<void>(magnitude);
  value = std::strtod(std::string(begin, end).c_str(), nullptr);
#endif
  return std::isfinite(value);
}

}  // namespace

const char* parse_decimal(const char* at, const char* end, double& value)
{
  const char* const begin = at;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;

  // Digits before and after the point as one integer; after 19 digits they may not fit and are only counted.
  constexpr int kMaxDigits = 19;
  std::uint64_t digits = 0;
  int significant = 0;
  bool any = false;
  std::int64_t exponent = 0;
  const auto take_digit = [&](char c) {
    any = true;
    if (significant < kMaxDigits) digits = 10 * digits + static_cast<std::uint64_t>(c - '0');
    if (digits != 0) ++significant;
  };
  for (; at != end && is_digit(*at); ++at) {
    take_digit(*at);
    if (significant > kMaxDigits) ++exponent;
  }
  if (at != end && *at == '.') {
    ++at;
    for (; at != end && is_digit(*at); ++at) {
      take_digit(*at);
      if (significant <= kMaxDigits) --exponent;
    }
  }
  if (!any) return begin;

  // The power of ten; "2e" is the number 2 followed by a letter.
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* p = at + 1;
    const bool down = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    if (p != end && is_digit(*p)) {
      constexpr std::int64_t kExponentLimit = 100000;
      std::int64_t power = 0;
      for (; p != end && is_digit(*p); ++p) {
        if (power < kExponentLimit) power = 10 * power + (*p - '0');
      }
      exponent += down ? -power : power;
      at = p;
    }
  }

  constexpr std::uint64_t kExactDigits = std::uint64_t{1} << 53;
  static constexpr std::array<double, 23> kPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (significant <= kMaxDigits && digits <= kExactDigits && exponent >= -22 && exponent <= 22) {
    const double whole = static_cast<double>(digits);
    const double size =
        exponent < 0 ? whole / kPowers[base::at(-exponent)] : whole * kPowers[base::at(exponent)];
    value = negative ? -size : size;
    return at;
  }
  if (digits == 0) {
    value = negative ? -0.0 : 0.0;
    return at;
  }
  return convert_exactly(begin, at, exponent + significant, value) ? at : begin;
}

void TextScanner::skip_space(char comment)
{
  for (; at_ != end_; ++at_) {
    if (comment != 0 && *at_ == comment) {
      while (at_ != end_ && *at_ != '\n') ++at_;
      if (at_ == end_) return;
    }
    if (*at_ == '\n') {
      ++line_;
    } else if (*at_ != ' ' && *at_ != '\t' && *at_ != '\r') {
      return;
    }
  }
}

std::string_view TextScanner::rest_of_line()
{
  skip_blanks();
  const char* const first = at_;
  while (at_ != end_ && *at_ != '\n') ++at_;
  const char* last = at_;
  while (last != first && ends_word(last[-1])) --last;
  next_line();
  return {first, at(last - first)};
}

std::string_view TextScanner::word()
{
  skip_blanks();
  const char* const first = at_;
  while (at_ != end_ && !ends_word(*at_)) ++at_;
  return {first, at(at_ - first)};
}

double TextScanner::number(const char* what)
{
  skip_blanks();
  double value = 0;
  const char* const after = parse_decimal(at_, end_, value);
  if (after == at_) fail_here(fmt::format("{} (a finite number)", what));
  at_ = after;
  return value;
}

std::int64_t TextScanner::integer(const char* what)
{
  skip_blanks();
  const char* p = at_;
  const bool negative = p != end_ && *p == '-';
  if (p != end_ && (*p == '-' || *p == '+')) ++p;
  if (p == end_ || !is_digit(*p)) fail_here(fmt::format("{} (an integer)", what));
  constexpr std::int64_t kLimit = (std::numeric_limits<std::int64_t>::max() - 9) / 10;
  std::int64_t value = 0;
  for (; p != end_ && is_digit(*p); ++p) {
    if (value > kLimit) fail_here(fmt::format("{} (an integer of at most 18 digits)", what));
    value = 10 * value + (*p - '0');
  }
  at_ = p;
  return negative ? -value : value;
}

std::size_t TextScanner::next_count(const char* what, std::size_t min_bytes)
{
  const std::int64_t count = next_integer(what);
  const std::size_t max_count = remaining() / min_bytes + 1;
  if (count < 0 || static_cast<std::uint64_t>(count) > max_count) {
    fail(fmt::format("{} {}", what, count),
         fmt::format("0 to {}, the maximum that the rest of the file can contain", max_count));
  }
  return at(count);
}

void TextScanner::fail(std::string found, std::string expected) const
{
  throw InputError({file_, line_}, std::move(found), std::move(expected));
}

void TextScanner::fail_here(std::string expected) const
{
  if (at_ == end_) fail("the end of the file", std::move(expected));
  if (*at_ == '\n') fail("the end of the line", std::move(expected));
  const char* last = at_;
  while (last != end_ && !ends_word(*last)) ++last;
  fail(quoted_text({at_, at(last - at_)}), std::move(expected));
}

}  // namespace thrum::mesh_io
