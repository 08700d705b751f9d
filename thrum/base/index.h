// SPDX-License-Identifier: MIT
// Meshes, bodies and matrices number their parts with signed indices; containers want std::size_t.
//
//   mesh.vertices[at(triangle[0])]      at(state.bodies, patch.a).velocity      count_of(mesh.triangles)
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "thrum/base/vec.h"

namespace thrum::base {

/// What can number the elements of a container without a conversion of its own: a signed number or an
/// enumerator.
template <class T>
concept ElementNumber = std::signed_integral<T> || std::is_enum_v<T>;

/// Converts a number that is known not to be negative to an index into a container.
[[nodiscard]] constexpr std::size_t at(ElementNumber auto i)
{
  return static_cast<std::size_t>(i);
}

/// The element at an index that is known to be valid.
template <class Container>
[[nodiscard]] constexpr decltype(auto) at(Container&& elements, ElementNumber auto i)
{
  return elements[at(i)];
}

/// The number of elements, as the signed number that counts them.
template <class Container>
[[nodiscard]] constexpr Index count_of(const Container& elements)
{
  return static_cast<Index>(elements.size());
}

}  // namespace thrum::base

namespace thrum {
using base::at;
using base::count_of;
}  // namespace thrum
