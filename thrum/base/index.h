// SPDX-License-Identifier: MIT
// Meshes, bodies and matrices number their parts with signed 32-bit indices; containers want std::size_t.
//
//   mesh.vertices[at(triangle[0])]      at(state.bodies, patch.a).velocity
#pragma once

#include <cstddef>
#include <cstdint>

namespace thrum::base {

/// Converts a number that is known not to be negative to an index into a container.
[[nodiscard]] constexpr std::size_t at(std::int32_t i)
{
  return static_cast<std::size_t>(i);
}

/// The element at an index that is known to be valid.
template <class Container>
[[nodiscard]] constexpr decltype(auto) at(Container&& elements, std::int32_t i)
{
  return elements[static_cast<std::size_t>(i)];
}

}  // namespace thrum::base

namespace thrum {
using base::at;
}  // namespace thrum
