// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "thrum/elastic/material_library.h"
#include "thrum/scene/scene_tables.h"

namespace thrum::scene {

namespace {

using Json = nlohmann::ordered_json;

std::string definition_name(const TableBase& table)
{
  std::string name = table.name();
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

Json reference_to(const std::string& definition)
{
  return {{"$ref", "#/definitions/" + definition}};
}

// Wherever a number or a boolean may stand, an expression may.
Json with_expressions(Json schema)
{
  for (auto& [key, value] : schema.items()) {
    if (value.is_object() || value.is_array()) value = with_expressions(value);
  }
  const auto type = schema.is_object() ? schema.find("type") : schema.end();
  if (type != schema.end() && (*type == "number" || *type == "integer" || *type == "boolean")) {
    return {{"anyOf", {schema, reference_to("expression")}}};
  }
  return schema;
}

Json field_schema(const FieldInfo& field)
{
  Json schema;
  if (field.tables.empty()) {
    schema = with_expressions(field.schema);
  } else {
    schema = reference_to(definition_name(field.tables.front()()));
    if (field.list) schema = {{"type", "array"}, {"items", schema}};
    if (field.or_name) schema = {{"anyOf", {{{"type", "string"}}, schema}}};
    if (field.or_flag) schema = {{"anyOf", {{{"type", "boolean"}}, schema}}};
  }
  // Older validators pass over what stands beside a reference.
  if (schema.contains("$ref")) schema = {{"allOf", {schema}}};
  std::string text = field.rule.doc;
  if (!field.rule.unit.empty()) text += " [" + field.rule.unit + "]";
  if (!field.default_text.empty()) text += "; default " + field.default_text;
  schema["description"] = text;
  return schema;
}

Json object_schema(const TableBase& table, bool is_kind)
{
  Json properties = Json::object();
  Json required = Json::array();
  if (is_kind) {
    properties["kind"] = {{"const", table.name()}};
    required.push_back("kind");
  }
  for (const FieldInfo& field : table.fields()) {
    properties[field.rule.key] = field_schema(field);
    if (field.rule.required) required.push_back(field.rule.key);
  }
  Json schema = {{"type", "object"}, {"description", table.doc()}, {"properties", properties}};
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  return schema;
}

// All tables that can be reached, each once, in the order in which they are met.
struct ReachableTable {
  const TableBase* table;
  bool is_kind;
};

void collect(const TableBase& table, bool is_kind, std::vector<ReachableTable>& all)
{
  const bool known =
      std::any_of(all.begin(), all.end(), [&](const ReachableTable& r) { return r.table == &table; });
  if (known) return;
  all.push_back({&table, is_kind});
  for (const FieldInfo& field : table.fields()) {
    for (const TableFunction& inner : field.tables) collect(inner(), false, all);
  }
  for (const TableFunction& kind : table.kinds()) collect(kind(), true, all);
}

Json kinds_schema(const TableBase& table)
{
  Json any = Json::array();
  for (const TableFunction& kind : table.kinds()) any.push_back(reference_to(definition_name(kind())));
  return {{"description", table.doc()}, {"oneOf", any}};
}

// A table of the reference page.
std::string field_row(const FieldInfo& field)
{
  std::string type = field.type_text;
  if (!field.tables.empty()) {
    const TableBase& inner = field.tables.front()();
    const std::string link = fmt::format("[{}](#{})", inner.name(), definition_name(inner));
    type = field.list      ? "list of " + link
           : field.or_name ? "name, or " + link
           : field.or_flag ? "true, false, or " + link
                           : link;
  }
  if (!field.rule.choices.empty()) type = fmt::format("`{}`", fmt::join(field.rule.choices, "`, `"));
  const std::string shown = field.rule.required          ? "required"
                            : field.default_text.empty() ? ""
                                                         : "`" + field.default_text + "`";
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", field.rule.key, type, field.rule.unit, shown,
                     field.rule.doc);
}

}  // namespace

std::string scene_schema()
{
  std::vector<ReachableTable> tables;
  collect(scene_table(), false, tables);
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "thrum scene"}};
  schema.update(object_schema(scene_table(), false));
  Json definitions = {{"expression",
                       {{"type", "string"},
                        {"pattern", "^="},
                        {"description", "an expression of parameters, such as \"=height / 2\""}}}};
  for (const ReachableTable& r : tables) {
    if (r.table == &scene_table()) continue;
    definitions[definition_name(*r.table)] =
        r.table->kinds().empty() ? object_schema(*r.table, r.is_kind) : kinds_schema(*r.table);
  }
  schema["definitions"] = definitions;
  return schema.dump(2) + "\n";
}

std::string scene_reference()
{
  std::vector<ReachableTable> tables;
  collect(scene_table(), false, tables);
  std::string page =
      "# Scene files: every key\n\n"
      "Made by `thrum schema --reference` from the tables that the reader uses; a test keeps it so.\n\n"
      "A scene is JSON with `//` and `/* */` comments. Lengths are in m, masses in kg, times in s, z is up; "
      "quaternions "
      "are `[w, x, y, z]`.\nA text that begins with `=` is an expression of the file's `parameters`: "
      "`\"=count * edge / "
      "2\"`.\n";
  page += fmt::format("\nMaterials of the library, for `material` and `base`: {}.\n",
                      fmt::join(elastic::MaterialLibrary::builtin().names(), ", "));
  for (const ReachableTable& r : tables) {
    page += fmt::format("\n<a id=\"{}\"></a>\n## {}\n\n{}\n", definition_name(*r.table), r.table->name(),
                        r.table->doc());
    if (!r.table->kinds().empty()) {
      page += "\nThe key `kind` chooses:";
      for (const TableFunction& kind : r.table->kinds()) {
        page += fmt::format(" [{}](#{})", kind().name(), definition_name(kind()));
      }
      page += ".\n";
      continue;
    }
    if (r.is_kind) page += fmt::format("\n`\"kind\": \"{}\"`\n", r.table->name());
    if (r.table->fields().empty()) continue;
    page += "\n| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const FieldInfo& field : r.table->fields()) page += field_row(field);
  }
  return page;
}

}  // namespace thrum::scene
