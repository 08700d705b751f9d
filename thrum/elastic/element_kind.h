// SPDX-License-Identifier: MIT
// The kinds of finite elements.
#pragma once

#include <string_view>

namespace thrum::elastic {

enum class ElementKind {
  tet4,     ///< linear: cheap per node, far too stiff in bending
  tet10,    ///< quadratic
  wedge15,  ///< quadratic, for sheets only
};

[[nodiscard]] constexpr int nodes_of(ElementKind kind)
{
  return kind == ElementKind::tet4 ? 4 : kind == ElementKind::tet10 ? 10 : 15;
}
[[nodiscard]] constexpr std::string_view name_of(ElementKind kind)
{
  return kind == ElementKind::tet4 ? "tet4" : kind == ElementKind::tet10 ? "tet10" : "wedge15";
}

}  // namespace thrum::elastic
