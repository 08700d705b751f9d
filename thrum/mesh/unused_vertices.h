// SPDX-License-Identifier: MIT
// Removes the vertices that no element uses, for triangles and tetrahedra alike.
#pragma once

#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/vec.h"

namespace thrum::mesh {

/// Removes from `vertices` those that no element names, in place and in order, and renumbers the elements.
/// Returns how many were removed. Every index of an element must be valid.
template <class Element>
std::size_t remove_unused_vertices(std::vector<Vec3>& vertices, std::vector<Element>& elements)
{
  constexpr Index kUnused = -1;
  std::vector<Index> number(vertices.size(), kUnused);
  for (const Element& element : elements)
    for (const Index v : element) number[at(v)] = 0;
  std::size_t kept = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] == kUnused) continue;
    number[v] = static_cast<Index>(kept);
    vertices[kept++] = vertices[v];
  }
  vertices.resize(kept);
  for (Element& element : elements)
    for (Index& v : element) v = number[at(v)];
  return number.size() - kept;
}

}  // namespace thrum::mesh
