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

namespace {

// A shape function as a sum of products of two barycentric coordinates: L (2 L - 1) = L^2 - L (rest) at
// corners, 4 L_p L_q at the middles of edges.
struct PairTerm {
  int pair;
  double weight;
};

std::vector<PairTerm> pair_terms(int node)
{
  if (node >= 4) {
    const auto& edge = kElementEdges[static_cast<std::size_t>(node - 4)];
    return {{tets::pair_index(edge[0], edge[1]), 4.0}};
  }
  std::vector<PairTerm> terms = {{tets::pair_index(node, node), 1.0}};
  for (int k = 0; k < 4; ++k)
    if (k != node) terms.push_back({tets::pair_index(node, k), -1.0});
  return terms;
}

CutElement cut_element(const tets::CellMoments& moments)
{
  static const tets::CellMoments kWhole = tets::whole_moments();
  static const std::array<std::vector<PairTerm>, 10> kTerms = [] {
    std::array<std::vector<PairTerm>, 10> all;
    for (std::size_t a = 0; a < 10; ++a) all[a] = pair_terms(static_cast<int>(a));
    return all;
  }();
  tets::CellMoments stabilised = moments;
  for (std::size_t k = 0; k < stabilised.quads.size(); ++k)
    stabilised.quads[k] += kCutStabilisation * (kWhole.quads[k] - moments.quads[k]);
  CutElement cut;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      cut.seconds[i][j] = stabilised.pair(static_cast<int>(i), static_cast<int>(j));
      cut.firsts[i] += cut.seconds[i][j];
      cut.volume += cut.seconds[i][j];
    }
  for (std::size_t a = 0; a < 10; ++a)
    for (std::size_t b = a; b < 10; ++b) {
      double sum = 0;
      for (const PairTerm& x : kTerms[a])
        for (const PairTerm& y : kTerms[b]) sum += x.weight * y.weight * stabilised.quad(x.pair, y.pair);
      cut.masses[a][b] = cut.masses[b][a] = sum;
    }
  return cut;
}

}  // namespace

ElementMesh build_element_mesh(const tets::CutCells& cells)
{
  ElementMesh result = build_element_mesh(cells.mesh(), ElementKind::tet10);
  result.cut_of.assign(cells.mesh().tetrahedra.size(), -1);
  for (std::size_t e = 0; e < result.cut_of.size(); ++e) {
    const tets::CellMoments* moments = cells.moments(e);
    if (moments == nullptr) continue;
    result.cut_of[e] = static_cast<Index>(result.cuts.size());
    result.cuts.push_back(cut_element(*moments));
  }
  return result;
}

std::array<double, 10> quadratic_shape(const Vec4& at)
{
  std::array<double, 10> n{};
  for (int c = 0; c < 4; ++c) n[static_cast<std::size_t>(c)] = at[c] * (2 * at[c] - 1);
  for (std::size_t k = 0; k < 6; ++k) n[4 + k] = 4 * at[kElementEdges[k][0]] * at[kElementEdges[k][1]];
  return n;
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
