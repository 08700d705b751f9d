// SPDX-License-Identifier: MIT
#include "thrum/scene/value_codecs.h"
#include "thrum/base/index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thrum::scene {

namespace {

constexpr double kUnitTolerance = 1e-3;  ///< how far a written quaternion may be from unit length
constexpr double kMaxExactInteger = 9.007199254740992e15;  ///< 2^53: beyond, doubles skip whole numbers

bool inside(double x, const Bounds& b)
{
  return (b.max_excluded ? x < b.max : x <= b.max) && (b.min_excluded ? x > b.min : x >= b.min);
}

bool read_whole(const JsonValue& value, double max, double& out, const ValueRule& rule, ReadContext& context)
{
  const double* number = value.number();
  if (number != nullptr && *number == std::floor(*number) && std::abs(*number) <= max &&
      inside(*number, rule.bounds)) {
    out = *number;
    return true;
  }
  context.fail(value, describe_rule("a whole number", rule), "", rule.hint);
  return false;
}

// Fixed-length lists of numbers, into `out`.
bool read_numbers(const JsonValue& value, double* out, std::size_t count, const ValueRule& rule,
                  ReadContext& context)
{
  const JsonArray* list = value.array();
  const std::string expected = describe_rule(fmt::format("a list of {} numbers, each", count), rule);
  if (list == nullptr || list->size() != count) {
    const bool bounded = std::isfinite(rule.bounds.min) || std::isfinite(rule.bounds.max);
    context.fail(value, bounded ? expected
                                : fmt::format("a list of {} numbers{}", count,
                                              rule.unit.empty() ? "" : " [" + rule.unit + "]"));
    return false;
  }
  bool fit = true;
  for (std::size_t i = 0; i < count; ++i) {
    const auto scope = context.enter(i);
    fit = read_value((*list)[i], out[i], rule, context) && fit;
  }
  return fit;
}

}  // namespace

std::string describe_rule(const std::string& noun, const ValueRule& rule)
{
  const Bounds& b = rule.bounds;
  std::string text = noun;
  if (std::isfinite(b.min) && std::isfinite(b.max)) {
    text += b.min_excluded || b.max_excluded
                ? fmt::format(" {} {} and {} {}", b.min_excluded ? "above" : "of at least", b.min,
                              b.max_excluded ? "below" : "at most", b.max)
                : fmt::format(" from {} to {}", b.min, b.max);
  } else if (std::isfinite(b.min)) {
    text += fmt::format(" {} {}", b.min_excluded ? "above" : "of at least", b.min);
  } else if (std::isfinite(b.max)) {
    text += fmt::format(" {} {}", b.max_excluded ? "below" : "of at most", b.max);
  }
  if (!rule.unit.empty()) text += fmt::format(" [{}]", rule.unit);
  return text;
}

ReadContext::Scope ReadContext::enter(const std::string& key)
{
  const std::size_t length = path_.size();
  path_ += (path_.empty() ? "" : ".") + key;
  return {*this, length};
}

ReadContext::Scope ReadContext::enter(std::size_t index)
{
  const std::size_t length = path_.size();
  path_ += fmt::format("[{}]", index);
  return {*this, length};
}

ValueLocation ReadContext::place(std::size_t line, std::size_t column) const
{
  return {file_, line, column, path_};
}

void ReadContext::fail(const JsonValue& value, const std::string& expected, const std::string& nearest,
                       const std::string& hint)
{
  // An expression that is still there could not be evaluated, and that was reported already.
  if (value.string() != nullptr && value.string()->starts_with('=')) return;
  fail(place(value),
       fmt::format("is {}; it must be {}.{}{}", value.describe(), expected, hint.empty() ? "" : " ", hint),
       nearest);
}

void ReadContext::fail(const ValueLocation& place, const std::string& message, const std::string& nearest)
{
  mistakes_.push_back({place, message, nearest});
}

void ReadContext::fail_overridden(const JsonMember& member, const std::string& preset_key,
                                  const JsonValue& preset, const std::string& value_of_preset)
{
  fail(place(member.line, member.column),
       fmt::format("is {}, but \"{}\": {}{} sets it to {}. Remove one of the two.", member.value.describe(),
                   preset_key, preset.describe(),
                   preset.line() > 0 ? fmt::format(" on line {}", preset.line()) : "", value_of_preset));
}

void ReadContext::fail_key(const JsonMember& member, const std::vector<std::string>& known)
{
  fail(place(member.line, member.column),
       known.empty() ? "is not a key of this object, which has none."
                     : fmt::format("is not a key of this object. Its keys are {}.", fmt::join(known, ", ")),
       nearest_name(member.key, known));
  mistakes_.back().unknown_key = true;
}

bool read_value(const JsonValue& value, double& out, const ValueRule& rule, ReadContext& context)
{
  if (value.number() != nullptr && inside(*value.number(), rule.bounds)) {
    out = *value.number();
    return true;
  }
  context.fail(value, describe_rule("a number", rule), "", rule.hint);
  return false;
}

bool read_value(const JsonValue& value, int& out, const ValueRule& rule, ReadContext& context)
{
  double whole = 0;
  if (!read_whole(value, std::numeric_limits<int>::max(), whole, rule, context)) return false;
  out = static_cast<int>(whole);
  return true;
}

bool read_value(const JsonValue& value, std::uint64_t& out, const ValueRule& rule, ReadContext& context)
{
  double whole = 0;
  ValueRule positive = rule;
  positive.bounds.min = std::max(positive.bounds.min, 0.0);
  if (!read_whole(value, kMaxExactInteger, whole, positive, context)) return false;
  out = static_cast<std::uint64_t>(whole);
  return true;
}

bool read_value(const JsonValue& value, bool& out, const ValueRule&, ReadContext& context)
{
  if (value.boolean() == nullptr) {
    context.fail(value, "true or false");
    return false;
  }
  out = *value.boolean();
  return true;
}

bool read_value(const JsonValue& value, std::string& out, const ValueRule& rule, ReadContext& context)
{
  const std::string* text = value.string();
  if (!rule.choices.empty() &&
      (text == nullptr || std::find(rule.choices.begin(), rule.choices.end(), *text) == rule.choices.end())) {
    context.fail(value, fmt::format("one of {}", fmt::join(rule.choices, ", ")),
                 text != nullptr ? nearest_name(*text, rule.choices) : "");
    return false;
  }
  if (text == nullptr) {
    context.fail(value, "text in quotes");
    return false;
  }
  out = *text;
  return true;
}

bool read_value(const JsonValue& value, Vec2& out, const ValueRule& rule, ReadContext& context)
{
  Vec2 read;
  if (!read_numbers(value, read.data(), 2, rule, context)) return false;
  out = read;
  return true;
}

bool read_value(const JsonValue& value, Vec3& out, const ValueRule& rule, ReadContext& context)
{
  Vec3 read;
  if (!read_numbers(value, read.data(), 3, rule, context)) return false;
  out = read;
  return true;
}

bool read_value(const JsonValue& value, Mat3& out, const ValueRule& rule, ReadContext& context)
{
  const std::size_t count = value.array() == nullptr ? 0 : value.array()->size();
  if (count != 3 && count != 6) {
    context.fail(value, "a list of 3 numbers [xx, yy, zz] or of 6 [xx, yy, zz, xy, xz, yz]");
    return false;
  }
  std::array<double, 6> m{};
  if (!read_numbers(value, m.data(), count, rule, context)) return false;
  out << m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2];
  return true;
}

bool read_value(const JsonValue& value, std::array<int, 3>& out, const ValueRule& rule, ReadContext& context)
{
  if (value.array() == nullptr || value.array()->size() != 3) {
    context.fail(value, describe_rule("a list of 3 whole numbers, each", rule));
    return false;
  }
  bool fit = true;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto scope = context.enter(i);
    fit = read_value((*value.array())[i], out[i], rule, context) && fit;
  }
  return fit;
}

// [w, x, y, z], or {"axis": [x, y, z], "degrees": a}.
bool read_value(const JsonValue& value, Quat& out, const ValueRule& rule, ReadContext& context)
{
  if (value.object() != nullptr) {
    const JsonValue* axis = value.find("axis");
    const JsonValue* degrees = value.find("degrees");
    Vec3 a = Vec3::Zero();
    double angle = 0;
    if (axis == nullptr || degrees == nullptr || value.object()->size() != 2) {
      context.fail(value, "an object with the two keys \"axis\" and \"degrees\"");
      return false;
    }
    if (!read_value(*axis, a, {}, context) || !read_value(*degrees, angle, {}, context)) return false;
    if (!(a.norm() > 0)) {
      context.fail(context.place(*axis), "has an axis of zero length. Give it a direction.");
      return false;
    }
    out = Quat(Eigen::AngleAxisd(angle * std::numbers::pi / 180, a.normalized()));
    return true;
  }
  Vec4 q;
  if (value.array() == nullptr || value.array()->size() != 4) {
    context.fail(value, "a quaternion [w, x, y, z], or {\"axis\": [x, y, z], \"degrees\": a}");
    return false;
  }
  if (!read_numbers(value, q.data(), 4, {.unit = rule.unit}, context)) return false;
  if (!(q.norm() > 0)) {
    context.fail(context.place(value), "is a quaternion of length 0. For no rotation write [1, 0, 0, 0].");
    return false;
  }
  if (std::abs(q.norm() - 1) > kUnitTolerance) {
    context.fail(
        context.place(value),
        fmt::format("is a quaternion of length {:.4g}; rotations have length 1. Divide it by {:.6g}.",
                    q.norm(), q.norm()));
    return false;
  }
  out = Quat(q[0], q[1], q[2], q[3]).normalized();
  return true;
}

bool read_value(const JsonValue& value, Colour& out, const ValueRule&, ReadContext& context)
{
  const std::string* text = value.string();
  const bool form = text != nullptr && text->size() == 7 && text->front() == '#' &&
                    text->find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (!form) {
    context.fail(value, "a colour such as \"#c0392b\"");
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    const std::string digits = text->substr(at(1 + 2 * k), 2);
    out[k] = static_cast<float>(std::stoi(digits, nullptr, 16)) / 255.0f;
  }
  return true;
}

bool read_value(const JsonValue& value, FileName& out, const ValueRule& rule, ReadContext& context)
{
  std::string text;
  if (!read_value(value, text, rule, context)) return false;
  out.place = context.place(value);
  out.path = std::filesystem::path(text).is_absolute() ? std::filesystem::path(text)
                                                       : out.place.file.parent_path() / text;
  return true;
}

bool read_value(const JsonValue& value, NameRef& out, const ValueRule& rule, ReadContext& context)
{
  if (!read_value(value, out.name, rule, context)) return false;
  out.place = context.place(value);
  return true;
}

bool read_value(const JsonValue& value, NameList& out, const ValueRule& rule, ReadContext& context)
{
  if (value.string() != nullptr) {
    out.names.assign(1, {});
    return read_value(value, out.names.front(), rule, context);
  }
  if (value.array() == nullptr) {
    context.fail(value, "a name in quotes, or a list of names");
    return false;
  }
  return read_value(value, out.names, rule, context);
}

bool read_value(const JsonValue& value, JsonValue& out, const ValueRule&, ReadContext& context)
{
  if (value.object() == nullptr) {
    context.fail(value, "an object in braces");
    return false;
  }
  out = value;
  return true;
}

}  // namespace thrum::scene
