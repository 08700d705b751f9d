// SPDX-License-Identifier: MIT
#include "thrum/scene/collision_groups.h"

#include <algorithm>

namespace thrum::scene {

std::vector<std::string> group_names(const SceneDesc& scene)
{
  std::vector<std::string> names = {kDefaultGroup};
  const auto add = [&](const NameRef& ref) {
    if (std::find(names.begin(), names.end(), ref.name) == names.end()) names.push_back(ref.name);
  };
  for (const NameRef& ref : scene.groups) add(ref);
  for (const BodyEntry& body : scene.bodies) {
    for (const NameRef& ref : body.group.names) add(ref);
  }
  return names;
}

std::uint32_t group_bits(const std::vector<std::string>& groups, std::span<const NameRef> names)
{
  std::uint32_t bits = 0;
  for (const NameRef& ref : names) {
    const auto found = std::find(groups.begin(), groups.end(), ref.name);
    if (found != groups.end()) bits |= std::uint32_t{1} << (found - groups.begin());
  }
  return bits;
}

}  // namespace thrum::scene
