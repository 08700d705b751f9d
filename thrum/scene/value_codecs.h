// SPDX-License-Identifier: MIT
// How single values stand in a scene file: numbers, vectors, rotations, colours, names. Each is read,
// described for the JSON Schema, and shown as a default.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/colour.h"
#include "thrum/base/vec.h"
#include "thrum/scene/located_json.h"
#include "thrum/scene/mistakes.h"
#include "thrum/scene/scene_names.h"

namespace thrum::scene {

struct Bounds {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
  bool max_excluded = false;
};

[[nodiscard]] constexpr Bounds above(double min)
{
  return {min, std::numeric_limits<double>::infinity(), true};
}
[[nodiscard]] constexpr Bounds at_least(double min)
{
  return {min, std::numeric_limits<double>::infinity(), false};
}
[[nodiscard]] constexpr Bounds between(double min, double max)
{
  return {min, max, false};
}

/// What is known of a key beside its type.
struct ValueRule {
  std::string key = {};
  std::string unit = {};  ///< empty for numbers without one
  std::string doc = {};   ///< a sentence without its full stop
  Bounds bounds = {};
  bool required = false;
  std::vector<std::string> choices = {};  ///< the only words allowed; empty: any
  std::string hint = {};                  ///< what to do when the value is wrong: a whole sentence
};

/// Where the reader is, and what it has found wrong so far.
class ReadContext {
 public:
  ReadContext(std::filesystem::path file, std::vector<Mistake>& mistakes)
      : file_(std::move(file)), mistakes_(mistakes)
  {
  }

  /// Adds a key or an index to the path until it goes out of scope.
  class Scope {
   public:
    Scope(ReadContext& context, std::size_t length) : context_(context), length_(length) {}
    ~Scope() { context_.path_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ReadContext& context_;
    std::size_t length_;
  };
  [[nodiscard]] Scope enter(const std::string& key);
  [[nodiscard]] Scope enter(std::size_t index);

  [[nodiscard]] ValueLocation place(const JsonValue& value) const
  {
    return place(value.line(), value.column());
  }
  [[nodiscard]] ValueLocation place(std::size_t line, std::size_t column) const;

  /// The value is what it is; it must be `expected`. `hint` is a further sentence.
  void fail(const JsonValue& value, const std::string& expected, const std::string& nearest = {},
            const std::string& hint = {});
  void fail(const ValueLocation& place, const std::string& message, const std::string& nearest = {});
  /// `member` stands beside a preset that sets its key to `value_of_preset`.
  void fail_overridden(const JsonMember& member, const std::string& preset_key, const JsonValue& preset,
                       const std::string& value_of_preset);
  /// The key of `member`, whose scope was entered, is none of the known ones.
  void fail_key(const JsonMember& member, const std::vector<std::string>& known);

 private:
  std::filesystem::path file_;
  std::string path_;
  std::vector<Mistake>& mistakes_;
};

/// "a number above 0 [m]", "a whole number from 1 to 5".
[[nodiscard]] std::string describe_rule(const std::string& noun, const ValueRule& rule);

// Each returns whether the value was fit; otherwise the mistake is reported and `out` is unchanged.
bool read_value(const JsonValue& value, double& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, int& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, std::uint64_t& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, bool& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, std::string& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, Vec2& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, Vec3& out, const ValueRule& rule, ReadContext& context);
/// A symmetric matrix: [xx, yy, zz], or [xx, yy, zz, xy, xz, yz].
bool read_value(const JsonValue& value, Mat3& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, Quat& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, Colour& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, FileName& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, NameRef& out, const ValueRule& rule, ReadContext& context);
/// "name", or ["name", "name"].
bool read_value(const JsonValue& value, NameList& out, const ValueRule& rule, ReadContext& context);
/// Any object.
bool read_value(const JsonValue& value, JsonValue& out, const ValueRule& rule, ReadContext& context);
bool read_value(const JsonValue& value, std::array<int, 3>& out, const ValueRule& rule, ReadContext& context);

template <class T>
bool read_value(const JsonValue& value, std::optional<T>& out, const ValueRule& rule, ReadContext& context)
{
  T read{};
  if (!read_value(value, read, rule, context)) return false;
  out = std::move(read);
  return true;
}

template <class T>
bool read_value(const JsonValue& value, std::vector<T>& out, const ValueRule& rule, ReadContext& context)
{
  if (value.array() == nullptr) {
    context.fail(value, "a list");
    return false;
  }
  std::vector<T> read(value.array()->size());
  bool fit = true;
  for (std::size_t i = 0; i < read.size(); ++i) {
    const auto scope = context.enter(i);
    fit = read_value((*value.array())[i], read[i], rule, context) && fit;
  }
  if (fit) out = std::move(read);
  return fit;
}

/// The JSON Schema of a value of type T, and the same in a few words.
template <class T>
struct ValueTraits;

#define THRUM_VALUE_TRAITS(Type)                                 \
  template <>                                                    \
  struct ValueTraits<Type> {                                     \
    static nlohmann::ordered_json schema(const ValueRule& rule); \
    static std::string type(const ValueRule& rule);              \
    static std::string show(const Type& value);                  \
  }
THRUM_VALUE_TRAITS(double);
THRUM_VALUE_TRAITS(int);
THRUM_VALUE_TRAITS(std::uint64_t);
THRUM_VALUE_TRAITS(bool);
THRUM_VALUE_TRAITS(std::string);
THRUM_VALUE_TRAITS(Vec2);
THRUM_VALUE_TRAITS(Vec3);
THRUM_VALUE_TRAITS(Mat3);
THRUM_VALUE_TRAITS(Quat);
THRUM_VALUE_TRAITS(Colour);
THRUM_VALUE_TRAITS(FileName);
THRUM_VALUE_TRAITS(NameRef);
THRUM_VALUE_TRAITS(NameList);
THRUM_VALUE_TRAITS(JsonValue);
using ThreeCounts = std::array<int, 3>;
THRUM_VALUE_TRAITS(ThreeCounts);
#undef THRUM_VALUE_TRAITS

template <class T>
struct ValueTraits<std::optional<T>> {
  static nlohmann::ordered_json schema(const ValueRule& rule) { return ValueTraits<T>::schema(rule); }
  static std::string type(const ValueRule& rule) { return ValueTraits<T>::type(rule); }
  static std::string show(const std::optional<T>& value) { return value ? ValueTraits<T>::show(*value) : ""; }
};

template <class T>
struct ValueTraits<std::vector<T>> {
  static nlohmann::ordered_json schema(const ValueRule& rule)
  {
    return {{"type", "array"}, {"items", ValueTraits<T>::schema(rule)}};
  }
  static std::string type(const ValueRule& rule) { return "list, each: " + ValueTraits<T>::type(rule); }
  static std::string show(const std::vector<T>& values)
  {
    std::string text;
    for (const T& value : values) text += (text.empty() ? "" : ", ") + ValueTraits<T>::show(value);
    return values.empty() ? "" : "[" + text + "]";
  }
};

template <class T>
[[nodiscard]] nlohmann::ordered_json schema_of(const ValueRule& rule)
{
  return ValueTraits<T>::schema(rule);
}
template <class T>
[[nodiscard]] std::string type_of(const ValueRule& rule)
{
  return ValueTraits<T>::type(rule);
}
template <class T>
[[nodiscard]] std::string show_value(const T& value, const ValueRule&)
{
  return ValueTraits<T>::show(value);
}

}  // namespace thrum::scene
