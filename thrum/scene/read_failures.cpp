// SPDX-License-Identifier: MIT
#include "thrum/scene/read_failures.h"

#include <algorithm>
#include <string_view>

namespace thrum::scene {

namespace {

// "bodies[0].shape.radius" is at or below "bodies[0].shape", "bodies[0].shapes" is not.
bool is_at_or_below(std::string_view path, std::string_view top)
{
  if (!path.starts_with(top)) return false;
  return path.size() == top.size() || path[top.size()] == '.' || path[top.size()] == '[';
}

// The path of the object that holds the last key.
std::string_view parent_of(std::string_view path)
{
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

// What follows "LIST[12]" in a path; nothing when the path does not lead there.
bool is_below_element(std::string_view path, std::string_view list, std::string_view& rest)
{
  if (!path.starts_with(list) || path.size() == list.size() || path[list.size()] != '[') return false;
  const std::size_t close = path.find(']', list.size());
  if (close == std::string_view::npos) return false;
  rest = path.substr(close + 1);
  return true;
}

bool may_be_typo_of(const Mistake& mistake, std::string_view key)
{
  return mistake.unknown_key && (mistake.nearest.empty() || mistake.nearest == key);
}

}  // namespace

bool ReadFailures::may_hide(const ValueLocation& object, const std::string& key) const
{
  const std::string path = object.path.empty() ? key : object.path + "." + key;
  return std::any_of(mistakes_.begin(), mistakes_.end(), [&](const Mistake& mistake) {
    if (mistake.place.file != object.file) return false;
    return mistake.place.path == object.path || is_at_or_below(mistake.place.path, path) ||
           (parent_of(mistake.place.path) == object.path && may_be_typo_of(mistake, key));
  });
}

// Names are lost with the whole list, with a file that brings some of them, with an element that is no
// object, and with the keys that make names.
bool ReadFailures::may_hide_names(const std::string& list) const
{
  return std::any_of(mistakes_.begin(), mistakes_.end(), [&](const Mistake& mistake) {
    const std::string_view path = mistake.place.path;
    if (path == list || path.empty() || is_at_or_below(path, "include")) return true;
    if (parent_of(path).empty() && may_be_typo_of(mistake, list)) return true;
    std::string_view rest;
    if (!is_below_element(path, list, rest)) return false;
    return rest.empty() || is_at_or_below(rest, ".name") || is_at_or_below(rest, ".repeat") ||
           (parent_of(rest).empty() &&
            (may_be_typo_of(mistake, "name") || may_be_typo_of(mistake, "repeat")));
  });
}

}  // namespace thrum::scene
