// SPDX-License-Identifier: MIT
// The kinds of finite elements.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace thrum::elastic {

enum class ElementKind {
  tet4,     ///< linear: cheap per node, far too stiff in bending
  tet10,    ///< quadratic
  wedge15,  ///< quadratic, for sheets only
  tet20,    ///< cubic (lagrange_element.h)
  tet35,    ///< quartic
};

namespace detail {
struct ElementFacts {
  int nodes;
  int degree;
  std::string_view name;
};
inline constexpr std::array<ElementFacts, 5> kElementFacts = {
    {{4, 1, "tet4"}, {10, 2, "tet10"}, {15, 2, "wedge15"}, {20, 3, "tet20"}, {35, 4, "tet35"}}};
}  // namespace detail

[[nodiscard]] constexpr int nodes_of(ElementKind kind)
{
  return detail::kElementFacts[static_cast<std::size_t>(kind)].nodes;
}
[[nodiscard]] constexpr int degree_of(ElementKind kind)
{
  return detail::kElementFacts[static_cast<std::size_t>(kind)].degree;
}
[[nodiscard]] constexpr std::string_view name_of(ElementKind kind)
{
  return detail::kElementFacts[static_cast<std::size_t>(kind)].name;
}
/// The tetrahedron of a degree from 1 to 4.
[[nodiscard]] constexpr ElementKind tetrahedron_of(int degree)
{
  return degree <= 1   ? ElementKind::tet4
         : degree == 2 ? ElementKind::tet10
         : degree == 3 ? ElementKind::tet20
                       : ElementKind::tet35;
}

}  // namespace thrum::elastic
