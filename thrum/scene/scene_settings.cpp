// SPDX-License-Identifier: MIT
#include "thrum/scene/scene_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "thrum/base/counted.h"
#include "thrum/scene/mistakes.h"

namespace thrum::scene {

namespace {

constexpr std::size_t kMaxPathSteps = 32;  ///< steps

// "a.b[2].c" as a, b, [2], c; indices keep their bracket.
std::vector<std::string> steps_of(const std::string& path, const std::string& setting)
{
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == '.') {
      steps.emplace_back();
    } else if (c == '[') {
      steps.emplace_back("[");
    } else if (c != ']') {
      steps.back() += c;
    }
  }
  for (const std::string& step : steps) {
    if (step.empty() || step == "[" || steps.size() > kMaxPathSteps) {
      throw Error(fmt::format(
          "--set {}: \"{}\" is not a path. Write keys and indices, such as bodies[0].mass.", setting, path));
    }
  }
  return steps;
}

JsonValue value_of(const std::string& text)
{
  try {
    const JsonValue parsed = parse_json(text, "--set");
    return JsonValue(parsed.data(), 0, 0);
  } catch (const InputError&) {
    return JsonValue(text, 0, 0);
  }
}

// A copy of `value` in which what the steps lead to is replaced.
JsonValue replaced(const JsonValue& value, const std::vector<std::string>& steps, std::size_t at,
                   const JsonValue& replacement, const std::string& setting)
{
  if (at == steps.size()) return replacement;
  const std::string& step = steps[at];
  std::vector<std::string> known;
  if (const JsonArray* list = value.array()) {
    JsonArray changed = *list;
    std::size_t index = changed.size();
    if (step.front() == '[') {
      std::from_chars(step.data() + 1, step.data() + step.size(), index);
    } else {
      for (std::size_t i = 0; i < changed.size(); ++i) {
        const JsonValue* name = changed[i].find("name");
        if (name == nullptr || name->string() == nullptr) continue;
        known.push_back(*name->string());
        if (*name->string() == step) index = i;
      }
    }
    if (index < changed.size()) {
      changed[index] = replaced(changed[index], steps, at + 1, replacement, setting);
      return JsonValue(std::move(changed), value.line(), value.column());
    }
    const std::string nearest = nearest_name(step, known);
    throw Error(
        fmt::format("--set {}: \"{}\" is not in the list, which has {}. Write an index such as "
                    "[0], or the name of "
                    "an element.{}",
                    setting, step, base::counted(changed.size(), "element"),
                    nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest)));
  }
  // "sound": true is an object with all defaults.
  const bool is_true = value.boolean() != nullptr && *value.boolean();
  if (value.object() == nullptr && !value.is_null() && !is_true) {
    throw Error(fmt::format("--set {}: what stands before \"{}\" is {}, which has no keys.", setting, step,
                            value.describe()));
  }
  JsonObject changed = value.object() == nullptr ? JsonObject() : *value.object();
  for (JsonMember& member : changed) {
    if (member.key != step) continue;
    member.value = replaced(member.value, steps, at + 1, replacement, setting);
    return JsonValue(std::move(changed), value.line(), value.column());
  }
  // A key that is not there yet, with objects for the keys after it.
  changed.push_back({step, 0, 0, replaced(JsonValue(), steps, at + 1, replacement, setting)});
  return JsonValue(std::move(changed), value.line(), value.column());
}

}  // namespace

void apply_setting(JsonValue& root, const std::string& setting)
{
  const std::size_t equals = setting.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(fmt::format("--set {}: expected path=value, such as duration=2.", setting));
  }
  root = replaced(root, steps_of(setting.substr(0, equals), setting), 0, value_of(setting.substr(equals + 1)),
                  setting);
}

}  // namespace thrum::scene
