// SPDX-License-Identifier: MIT
// How the schema and the reference page describe values.
#include <fmt/format.h>

#include <cmath>

#include "thrum/scene/value_codecs.h"

namespace thrum::scene {

using Json = nlohmann::ordered_json;

namespace {

Json with_bounds(Json schema, const Bounds& b)
{
  if (std::isfinite(b.min)) schema[b.min_excluded ? "exclusiveMinimum" : "minimum"] = b.min;
  if (std::isfinite(b.max)) schema[b.max_excluded ? "exclusiveMaximum" : "maximum"] = b.max;
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

Json ValueTraits<double>::schema(const ValueRule& rule)
{
  return with_bounds({{"type", "number"}}, rule.bounds);
}
std::string ValueTraits<double>::type(const ValueRule& rule)
{
  return describe_rule("number", {.bounds = rule.bounds});
}
std::string ValueTraits<double>::show(const double& value)
{
  return fmt::format("{:.6g}", value);
}

Json ValueTraits<int>::schema(const ValueRule& rule)
{
  return with_bounds({{"type", "integer"}}, rule.bounds);
}
std::string ValueTraits<int>::type(const ValueRule& rule)
{
  return describe_rule("whole number", {.bounds = rule.bounds});
}
std::string ValueTraits<int>::show(const int& value)
{
  return fmt::format("{}", value);
}

Json ValueTraits<std::uint64_t>::schema(const ValueRule&)
{
  return {{"type", "integer"}, {"minimum", 0}};
}
std::string ValueTraits<std::uint64_t>::type(const ValueRule&)
{
  return "whole number of at least 0";
}
std::string ValueTraits<std::uint64_t>::show(const std::uint64_t& value)
{
  return fmt::format("{}", value);
}

Json ValueTraits<bool>::schema(const ValueRule&)
{
  return {{"type", "boolean"}};
}
std::string ValueTraits<bool>::type(const ValueRule&)
{
  return "true or false";
}
std::string ValueTraits<bool>::show(const bool& value)
{
  return value ? "true" : "false";
}

Json ValueTraits<std::string>::schema(const ValueRule& rule)
{
  Json schema = {{"type", "string"}};
  if (!rule.choices.empty()) schema["enum"] = rule.choices;
  return schema;
}
std::string ValueTraits<std::string>::type(const ValueRule&)
{
  return "text";
}
std::string ValueTraits<std::string>::show(const std::string& value)
{
  return value;
}

Json ValueTraits<Vec2>::schema(const ValueRule& rule)
{
  return numbers_schema(2, rule);
}
std::string ValueTraits<Vec2>::type(const ValueRule&)
{
  return "[a, b]";
}
std::string ValueTraits<Vec2>::show(const Vec2& value)
{
  return fmt::format("[{:.6g}, {:.6g}]", value.x(), value.y());
}

Json ValueTraits<Vec3>::schema(const ValueRule& rule)
{
  return numbers_schema(3, rule);
}
std::string ValueTraits<Vec3>::type(const ValueRule&)
{
  return "[x, y, z]";
}
std::string ValueTraits<Vec3>::show(const Vec3& value)
{
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}]", value.x(), value.y(), value.z());
}

Json ValueTraits<Mat3>::schema(const ValueRule& rule)
{
  return {{"anyOf", {numbers_schema(3, rule), numbers_schema(6, rule)}}};
}
std::string ValueTraits<Mat3>::type(const ValueRule&)
{
  return "[xx, yy, zz] or [xx, yy, zz, xy, xz, yz]";
}
std::string ValueTraits<Mat3>::show(const Mat3& m)
{
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}, {:.6g}, {:.6g}, {:.6g}]", m(0, 0), m(1, 1), m(2, 2), m(0, 1),
                     m(0, 2), m(1, 2));
}

Json ValueTraits<ThreeCounts>::schema(const ValueRule& rule)
{
  return {{"type", "array"}, {"items", ValueTraits<int>::schema(rule)}, {"minItems", 3}, {"maxItems", 3}};
}
std::string ValueTraits<ThreeCounts>::type(const ValueRule&)
{
  return "[nx, ny, nz]";
}
std::string ValueTraits<ThreeCounts>::show(const ThreeCounts& value)
{
  return fmt::format("[{}, {}, {}]", value[0], value[1], value[2]);
}

Json ValueTraits<Quat>::schema(const ValueRule&)
{
  Json turned = {{"type", "object"},
                 {"properties", {{"axis", numbers_schema(3, {})}, {"degrees", {{"type", "number"}}}}},
                 {"required", {"axis", "degrees"}},
                 {"additionalProperties", false}};
  return {{"anyOf", {numbers_schema(4, {}), turned}}};
}
std::string ValueTraits<Quat>::type(const ValueRule&)
{
  return "[w, x, y, z] or {\"axis\": [x, y, z], \"degrees\": a}";
}
std::string ValueTraits<Quat>::show(const Quat& q)
{
  return fmt::format("[{:.6g}, {:.6g}, {:.6g}, {:.6g}]", q.w(), q.x(), q.y(), q.z());
}

Json ValueTraits<Colour>::schema(const ValueRule&)
{
  return {{"type", "string"}, {"pattern", "^#[0-9a-fA-F]{6}$"}};
}
std::string ValueTraits<Colour>::type(const ValueRule&)
{
  return "\"#rrggbb\"";
}
std::string ValueTraits<Colour>::show(const Colour& value)
{
  const base::Pixel p = base::to_pixel(value);
  return fmt::format("#{:02x}{:02x}{:02x}", p[0], p[1], p[2]);
}

Json ValueTraits<FileName>::schema(const ValueRule&)
{
  return {{"type", "string"}};
}
std::string ValueTraits<FileName>::type(const ValueRule&)
{
  return "file, relative to this one";
}
std::string ValueTraits<FileName>::show(const FileName& value)
{
  return value.path.string();
}

Json ValueTraits<JsonValue>::schema(const ValueRule&)
{
  return {{"type", "object"}};
}
std::string ValueTraits<JsonValue>::type(const ValueRule&)
{
  return "object";
}
std::string ValueTraits<JsonValue>::show(const JsonValue&)
{
  return "";
}

Json ValueTraits<NameRef>::schema(const ValueRule&)
{
  return {{"type", "string"}};
}
std::string ValueTraits<NameRef>::type(const ValueRule&)
{
  return "name";
}
std::string ValueTraits<NameRef>::show(const NameRef& value)
{
  return value.name;
}

Json ValueTraits<NameList>::schema(const ValueRule&)
{
  return {{"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
}
std::string ValueTraits<NameList>::type(const ValueRule&)
{
  return "name, or list of names";
}
std::string ValueTraits<NameList>::show(const NameList& value)
{
  return ValueTraits<std::vector<NameRef>>::show(value.names);
}

}  // namespace thrum::scene
