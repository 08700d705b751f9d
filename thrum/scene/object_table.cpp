// SPDX-License-Identifier: MIT
#include "thrum/scene/object_table.h"
#include "thrum/base/index.h"

#include <fmt/format.h>

#include <algorithm>

namespace thrum::scene {

std::vector<std::string> TableBase::keys() const
{
  std::vector<std::string> names;
  for (const FieldInfo& field : fields_) names.push_back(field.rule.key);
  return names;
}

std::vector<std::string> TableBase::kind_names() const
{
  std::vector<std::string> names;
  for (const TableFunction& kind : kinds_) names.push_back(kind().name());
  return names;
}

bool TableBase::check_keys(const JsonValue& value, ReadContext& context, bool kind_is_known) const
{
  if (value.object() == nullptr) {
    context.fail(value, "an object in braces");
    return false;
  }
  const std::vector<std::string> known = keys();
  for (const JsonMember& member : *value.object()) {
    if (kind_is_known && member.key == "kind") continue;
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const auto scope = context.enter(member.key);
    context.fail_key(member, known);
  }
  for (const FieldInfo& field : fields_) {
    if (!field.rule.required || value.find(field.rule.key) != nullptr) continue;
    const auto scope = context.enter(field.rule.key);
    if (!field.rule.choices.empty()) {
      context.fail(context.place(value),
                   fmt::format("is missing. Write one of {}.", fmt::join(field.rule.choices, ", ")));
      continue;
    }
    const std::string unit = field.rule.unit.empty() ? "" : fmt::format(" [{}]", field.rule.unit);
    context.fail(context.place(value),
                 fmt::format("is missing. Add \"{}\": {}{}.", field.rule.key, field.rule.doc, unit));
  }
  return true;
}

std::optional<std::size_t> TableBase::choose_kind(const JsonValue& value, ReadContext& context) const
{
  const std::vector<std::string> known = kind_names();
  if (value.object() == nullptr) {
    context.fail(value, fmt::format("an object with the key \"kind\": one of {}", fmt::join(known, ", ")));
    return std::nullopt;
  }
  const auto scope = context.enter("kind");
  const JsonValue* kind = value.find("kind");
  if (kind == nullptr) {
    context.fail(context.place(value), fmt::format("is missing. Write one of {}.", fmt::join(known, ", ")));
    return std::nullopt;
  }
  std::string name;
  const auto other = std::find_if(aliases_.begin(), aliases_.end(), [&](const auto& pair) {
    return kind->string() != nullptr && pair.first == *kind->string();
  });
  if (other != aliases_.end()) {
    name = other->second;
  } else if (!read_value(*kind, name, {.choices = known}, context)) {
    return std::nullopt;
  }
  return at(std::find(known.begin(), known.end(), name) - known.begin());
}

}  // namespace thrum::scene
