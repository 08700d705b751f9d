// SPDX-License-Identifier: MIT
#include "thrum/elastic/element_mesh.h"

#include <algorithm>

namespace thrum::elastic {

namespace {

// An edge as one sortable number, with the entry of the connectivity that receives its node.
struct EdgeSlot {
  std::uint64_t key;
  std::uint32_t slot;
};

std::uint64_t edge_key(Index a, Index b)
{
  const auto low = static_cast<std::uint64_t>(std::min(a, b));
  const auto high = static_cast<std::uint64_t>(std::max(a, b));
  return (low << 32) | high;
}

void add_mid_edge_nodes(ElementMesh& mesh)
{
  std::vector<EdgeSlot> slots;
  const std::size_t elements = mesh.element_count();
  slots.reserve(6 * elements);
  for (std::size_t e = 0; e < elements; ++e) {
    const Index* nodes = mesh.element(e);
    for (std::size_t k = 0; k < 6; ++k)
      slots.push_back({edge_key(nodes[kElementEdges[k][0]], nodes[kElementEdges[k][1]]),
                       static_cast<std::uint32_t>(10 * e + 4 + k)});
  }
  std::sort(slots.begin(), slots.end(), [](const EdgeSlot& a, const EdgeSlot& b) { return a.key < b.key; });

  std::uint64_t last = ~std::uint64_t{0};
  for (const EdgeSlot& slot : slots) {
    if (slot.key != last) {
      last = slot.key;
      const auto a = static_cast<Index>(slot.key >> 32);
      const auto b = static_cast<Index>(slot.key & 0xffffffffU);
      mesh.edges.push_back({a, b});
      mesh.nodes.push_back(
          0.5 * (mesh.nodes[static_cast<std::size_t>(a)] + mesh.nodes[static_cast<std::size_t>(b)]));
    }
    mesh.connectivity[slot.slot] = static_cast<Index>(mesh.nodes.size() - 1);
  }
}

}  // namespace

ElementMesh build_element_mesh(const mesh::TetrahedralMesh& mesh, ElementKind kind)
{
  ElementMesh result;
  result.kind = kind;
  result.nodes = mesh.vertices;
  result.corner_count = mesh.vertices.size();
  result.regions = mesh.regions;

  const auto per_element = static_cast<std::size_t>(nodes_of(kind));
  result.connectivity.assign(per_element * mesh.tetrahedra.size(), 0);
  for (std::size_t e = 0; e < mesh.tetrahedra.size(); ++e)
    std::copy(mesh.tetrahedra[e].begin(), mesh.tetrahedra[e].end(),
              result.connectivity.begin() + static_cast<std::ptrdiff_t>(e * per_element));
  if (kind == ElementKind::tet10) add_mid_edge_nodes(result);
  return result;
}

NodeElements elements_around_nodes(const ElementMesh& mesh)
{
  const auto per_element = static_cast<std::size_t>(nodes_of(mesh.kind));
  NodeElements around;
  around.first.assign(mesh.nodes.size() + 1, 0);
  for (const Index n : mesh.connectivity) ++around.first[static_cast<std::size_t>(n) + 1];
  for (std::size_t n = 0; n < mesh.nodes.size(); ++n) around.first[n + 1] += around.first[n];

  around.elements.resize(mesh.connectivity.size());
  around.local.resize(mesh.connectivity.size());
  std::vector<Index> next(around.first.begin(), around.first.end() - 1);
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(mesh.connectivity[i])]++);
    around.elements[at] = static_cast<Index>(i / per_element);
    around.local[at] = static_cast<std::uint8_t>(i % per_element);
  }
  return around;
}

}  // namespace thrum::elastic
