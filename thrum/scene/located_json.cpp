// SPDX-License-Identifier: MIT
#include "thrum/scene/located_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "thrum/base/counted.h"

namespace thrum::scene {

JsonValue::JsonValue(Data data, std::size_t line, std::size_t column)
    : data_(std::move(data)), line_(line), column_(column)
{
}
JsonValue::JsonValue() = default;
JsonValue::~JsonValue() = default;
JsonValue::JsonValue(const JsonValue&) = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue& JsonValue::operator=(const JsonValue&) = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;

const JsonValue* JsonValue::find(std::string_view key) const
{
  if (object() == nullptr) return nullptr;
  for (const JsonMember& member : *object()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string JsonValue::describe() const
{
  if (is_null()) return "null";
  if (const bool* b = boolean()) return *b ? "true" : "false";
  if (const double* x = number()) return fmt::format("{}", *x);
  if (const std::string* s = string()) return fmt::format("\"{}\"", *s);
  if (const JsonArray* a = array())
    return a->empty() ? "an empty list" : "a list of " + base::counted(a->size(), "value");
  return object()->empty() ? "an empty object" : "an object with " + base::counted(object()->size(), "key");
}

namespace {

// A recursive-descent parser over the whole text; the position is kept as a byte offset and turned into line
// and column as values are made.
class Parser {
 public:
  Parser(std::string_view text, const std::filesystem::path& name) : text_(text), name_(name) {}

  JsonValue document()
  {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;
    skip_space();
    JsonValue result = value(0);
    skip_space();
    if (at_ < text_.size()) fail(found_here(), "nothing after the end of the value");
    return result;
  }

 private:
  struct Place {
    std::size_t line;
    std::size_t column;
  };

  [[nodiscard]] Place here() const { return {line_, at_ - line_start_ + 1}; }

  [[noreturn]] void fail_at(Place place, std::string found, std::string expected) const
  {
    throw InputError({name_, place.line, place.column}, std::move(found), std::move(expected));
  }
  [[noreturn]] void fail(std::string found, std::string expected) const
  {
    fail_at(here(), std::move(found), std::move(expected));
  }

  [[nodiscard]] std::string found_here() const
  {
    if (at_ >= text_.size()) return "the end of the file";
    const char c = text_[at_];
    if (c >= ' ' && c < 127) return fmt::format("'{}'", c);
    return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
  }

  [[nodiscard]] bool next_is(std::string_view word) const { return text_.substr(at_, word.size()) == word; }

  void step()
  {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }

  void skip_space()
  {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        step();
      } else if (next_is("//")) {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (next_is("/*")) {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment()
  {
    const Place start = here();
    at_ += 2;
    while (!next_is("*/")) {
      if (at_ >= text_.size()) fail_at(start, "a comment without an end", "\"*/\" after it");
      step();
    }
    at_ += 2;
  }

  JsonValue value(int depth)
  {
    if (depth > kMaxNesting) fail("deeper nesting", fmt::format("at most {} levels", kMaxNesting));
    const Place place = here();
    const auto made = [&](JsonValue::Data data) {
      return JsonValue(std::move(data), place.line, place.column);
    };
    if (at_ >= text_.size()) fail(found_here(), "a value");
    switch (text_[at_]) {
      case '{':
        return made(object(depth));
      case '[':
        return made(array(depth));
      case '"':
        return made(string());
      default:
        break;
    }
    if (word("true")) return made(true);
    if (word("false")) return made(false);
    if (word("null")) return made(nullptr);
    return made(number());
  }

  bool word(std::string_view expected)
  {
    if (!next_is(expected)) return false;
    at_ += expected.size();
    return true;
  }

  JsonObject object(int depth)
  {
    JsonObject members;
    ++at_;
    for (skip_space(); !next_is("}"); skip_space()) {
      const Place place = here();
      if (!next_is("\"")) fail(found_here(), "a key in double quotes, or '}'");
      std::string key = string();
      skip_space();
      if (!next_is(":")) fail(found_here(), fmt::format("':' after the key \"{}\"", key));
      ++at_;
      skip_space();
      members.push_back({std::move(key), place.line, place.column, value(depth + 1)});
      skip_space();
      if (next_is(",")) {
        ++at_;
      } else if (!next_is("}")) {
        fail(found_here(), "',' or '}'");
      }
    }
    ++at_;
    reject_duplicate_keys(members);
    return members;
  }

  // Sorted, so that an object of a million keys takes no million squared comparisons.
  void reject_duplicate_keys(const JsonObject& members) const
  {
    std::vector<const JsonMember*> sorted;
    sorted.reserve(members.size());
    for (const JsonMember& member : members) sorted.push_back(&member);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto* a, const auto* b) { return a->key < b->key; });
    const auto same = std::adjacent_find(sorted.begin(), sorted.end(),
                                         [](const auto* a, const auto* b) { return a->key == b->key; });
    if (same == sorted.end()) return;
    const JsonMember& first = **same;
    const JsonMember& again = **(same + 1);
    fail_at({again.line, again.column}, fmt::format("the key \"{}\" again", again.key),
            fmt::format("each key once; it stands on line {} already", first.line));
  }

  JsonArray array(int depth)
  {
    JsonArray elements;
    ++at_;
    for (skip_space(); !next_is("]"); skip_space()) {
      elements.push_back(value(depth + 1));
      skip_space();
      if (next_is(",")) {
        ++at_;
      } else if (!next_is("]")) {
        fail(found_here(), "',' or ']'");
      }
    }
    ++at_;
    return elements;
  }

  double number()
  {
    const Place place = here();
    const std::size_t start = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - first;
    };
    if (next_is("-")) ++at_;
    const bool leading_zero = next_is("0");
    const std::size_t whole = digits();
    if (leading_zero && whole > 1) fail_at(place, "a number that starts with 0", "no zeros in front");
    if (whole == 0) {
      at_ = start;
      fail(found_here(),
           "a value: a number, a text in double quotes, true, false, null, a list or an object");
    }
    if (next_is(".")) {
      ++at_;
      if (digits() == 0) fail(found_here(), "a digit after the point");
    }
    if (next_is("e") || next_is("E")) {
      ++at_;
      if (next_is("+") || next_is("-")) ++at_;
      if (digits() == 0) fail(found_here(), "a digit of the exponent");
    }
    double result = 0;
    const auto [end, error] = std::from_chars(text_.data() + start, text_.data() + at_, result);
    if (error != std::errc() || end != text_.data() + at_ || !std::isfinite(result)) {
      fail_at(place, fmt::format("the number {}", text_.substr(start, at_ - start)),
              "a number that a double can hold");
    }
    return result;
  }

  std::string string()
  {
    const Place start = here();
    std::string result;
    ++at_;
    while (!next_is("\"")) {
      if (at_ >= text_.size() || text_[at_] == '\n')
        fail_at(start, "text without a closing quote", "'\"' on the same line");
      if (static_cast<unsigned char>(text_[at_]) < ' ') fail(found_here(), "no control characters in text");
      if (text_[at_] == '\\') {
        escape(result);
      } else {
        result += text_[at_++];
      }
    }
    ++at_;
    return result;
  }

  void escape(std::string& result)
  {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    const Place place = here();
    ++at_;
    const std::size_t which = at_ < text_.size() ? kNames.find(text_[at_]) : std::string_view::npos;
    if (which != std::string_view::npos) {
      result += kValues[which];
      ++at_;
      return;
    }
    if (!next_is("u")) fail_at(place, "an unknown escape", R"(one of \" \\ \/ \b \f \n \r \t \uXXXX)");
    ++at_;
    std::uint32_t code = hex4(place);
    // Characters beyond the basic plane come as two halves.
    if (code >= 0xD800 && code < 0xDC00 && next_is("\\u")) {
      at_ += 2;
      const std::uint32_t low = hex4(place);
      if (low < 0xDC00 || low >= 0xE000) fail_at(place, "half of a character", "its second half after it");
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
      fail_at(place, "half of a character", "both halves");
    }
    append_utf8(result, code);
  }

  std::uint32_t hex4(Place place)
  {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(std::min(at_, text_.size()), 4);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() < 4 || end != digits.data() + 4) {
      fail_at(place, "an incomplete \\u escape", "four hexadecimal digits");
    }
    at_ += 4;
    return code;
  }

  static void append_utf8(std::string& out, std::uint32_t code)
  {
    const auto byte = [&](std::uint32_t value) {
      out += static_cast<char>(value);
    };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xC0 | (code >> 6U));
      byte(0x80 | (code & 0x3FU));
    } else if (code < 0x10000) {
      byte(0xE0 | (code >> 12U));
      byte(0x80 | ((code >> 6U) & 0x3FU));
      byte(0x80 | (code & 0x3FU));
    } else {
      byte(0xF0 | (code >> 18U));
      byte(0x80 | ((code >> 12U) & 0x3FU));
      byte(0x80 | ((code >> 6U) & 0x3FU));
      byte(0x80 | (code & 0x3FU));
    }
  }

  std::string_view text_;
  const std::filesystem::path& name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace

JsonValue parse_json(std::string_view text, const std::filesystem::path& name)
{
  return Parser(text, name).document();
}

}  // namespace thrum::scene
