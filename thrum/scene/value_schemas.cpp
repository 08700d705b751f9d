// SPDX-License-Identifier: MIT
// How the schema and the reference page tell of values.
#include <fmt/format.h>

#include <cmath>

#include "thrum/scene/value_codecs.h"

namespace thrum::scene {

using Json = nlohmann::ordered_json;

namespace {

Json with_bounds(Json schema, const Bounds& b)
{
  if (std::isfinite(b.lowest)) schema[b.lowest_excluded ? "exclusiveMinimum" : "minimum"] = b.lowest;
  if (std::isfinite(b.highest)) schema["maximum"] = b.highest;
  return schema;
}

Json numbers_schema(std::size_t count, const ValueRule& rule)
{
  return {{"type", "array"},
          {"items", with_bounds({{"type", "number"}}, rule.bounds)},
          {"minItems", count},
          {"maxItems", count}};
}

}  // namespace

Json Described<double>::schema(const ValueRule& rule)
{
  return with_bounds({{"type", "number"}}, rule.bounds);
}
std::string Described<double>::type(const ValueRule& rule)
{
  return in_words("number", {.bounds = rule.bounds});
}
std::string Described<double>::show(const double& value)
{
  return fmt::format("{:.6g}", value);
}

Json Described<int>::schema(const ValueRule& rule)
{
  return with_bounds({{"type", "integer"}}, rule.bounds);
}
std::string Described<int>::type(const ValueRule& rule)
{
  return in_words("whole number", {.bounds = rule.bounds});
}
std::string Described<int>::show(const int& value)
{
  return fmt::format("{}", value);
}

Json Described<std::uint64_t>::schema(const ValueRule&)
{
  return {{"type", "integer"}, {"minimum", 0}};
}
std::string Described<std::uint64_t>::type(const ValueRule&)
{
  return "whole number of at least 0";
}
std::string Described<std::uint64_t>::show(const std::uint64_t& value)
{
  return fmt::format("{}", value);
}

Json Described<bool>::schema(const ValueRule&)
{
  return {{"type", "boolean"}};
}
std::string Described<bool>::type(const ValueRule&)
{
  return "true or false";
}
std::string Described<bool>::show(const bool& value)
{
  return value ? "true" : "false";
}

Json Described<std::string>::schema(const ValueRule& rule)
{
  Json schema = {{"type", "string"}};
  if (!rule.choices.empty()) schema["enum"] = rule.choices;
  return schema;
}
std::string Described<std::string>::type(const ValueRule&)
{
  return "text";
}
std::string Described<std::string>::show(const std::string& value)
{
  return value;
}

Json Described<Vec2>::schema(const ValueRule& rule)
{
  return numbers_schema(2, rule);
}
std::string Described<Vec2>::type(const ValueRule&)
{
  return "[a, b]";
}
std::string Described<Vec2>::show(const Vec2& value)
{
  return fmt::format("[{:.6g}, {:.6g}]", value.x(), value.y());
}

Json Described<Vec3>::schema(const ValueRule& rule)
{
  return numbers_schema(3, rule);
}
std::string Described<Vec3>::type(const ValueRule&)
{
  return "[x, y, z]";
}
std::string Described<Vec3>::show(const Vec3& value)
{
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}]", value.x(), value.y(), value.z());
}

Json Described<ThreeCounts>::schema(const ValueRule& rule)
{
  return {{"type", "array"}, {"items", Described<int>::schema(rule)}, {"minItems", 3}, {"maxItems", 3}};
}
std::string Described<ThreeCounts>::type(const ValueRule&)
{
  return "[nx, ny, nz]";
}
std::string Described<ThreeCounts>::show(const ThreeCounts& value)
{
  return fmt::format("[{}, {}, {}]", value[0], value[1], value[2]);
}

Json Described<Quat>::schema(const ValueRule&)
{
  Json turned = {{"type", "object"},
                 {"properties", {{"axis", numbers_schema(3, {})}, {"degrees", {{"type", "number"}}}}},
                 {"required", {"axis", "degrees"}},
                 {"additionalProperties", false}};
  return {{"anyOf", {numbers_schema(4, {}), turned}}};
}
std::string Described<Quat>::type(const ValueRule&)
{
  return "[w, x, y, z] or {\"axis\": [x, y, z], \"degrees\": a}";
}
std::string Described<Quat>::show(const Quat& q)
{
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}, {:.6g}]", q.w(), q.x(), q.y(), q.z());
}

Json Described<Colour>::schema(const ValueRule&)
{
  return {{"type", "string"}, {"pattern", "^#[0-9a-fA-F]{6}$"}};
}
std::string Described<Colour>::type(const ValueRule&)
{
  return "\"#rrggbb\"";
}
std::string Described<Colour>::show(const Colour& value)
{
  const base::Pixel p = base::to_pixel(value);
  return fmt::format("#{:02x}{:02x}{:02x}", p[0], p[1], p[2]);
}

Json Described<FileName>::schema(const ValueRule&)
{
  return {{"type", "string"}};
}
std::string Described<FileName>::type(const ValueRule&)
{
  return "file, relative to this one";
}
std::string Described<FileName>::show(const FileName& value)
{
  return value.path.string();
}

Json Described<JsonValue>::schema(const ValueRule&)
{
  return {{"type", "object"}};
}
std::string Described<JsonValue>::type(const ValueRule&)
{
  return "object";
}
std::string Described<JsonValue>::show(const JsonValue&)
{
  return "";
}

Json Described<NameRef>::schema(const ValueRule&)
{
  return {{"type", "string"}};
}
std::string Described<NameRef>::type(const ValueRule&)
{
  return "name";
}
std::string Described<NameRef>::show(const NameRef& value)
{
  return value.name;
}

}  // namespace thrum::scene
