// SPDX-License-Identifier: MIT
#include "thrum/elastic/element_mesh.h"

#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/elastic/lagrange_element.h"
#include "thrum/tets/monomial_moments.h"

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
      mesh.nodes.push_back(0.5 * (mesh.nodes[at(a)] + mesh.nodes[at(b)]));
    }
    mesh.connectivity[slot.slot] = static_cast<Index>(mesh.nodes.size() - 1);
  }
}

// Numbers the edges (N = 2) or faces (N = 3) of all elements: for each element and each of its parts, in the
// order of `parts`, an index into `list`.
template <std::size_t N, std::size_t Count>
std::vector<std::array<Index, Count>> number_parts(const ElementMesh& mesh,
                                                   const std::array<std::array<int, N>, Count>& parts,
                                                   std::vector<std::array<Index, N>>& list)
{
  const auto corners_of = [&](std::size_t e, std::size_t part) {
    std::array<Index, N> corners;
    for (std::size_t k = 0; k < N; ++k) corners[k] = mesh.element(e)[parts[part][k]];
    std::sort(corners.begin(), corners.end());
    return corners;
  };
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    for (std::size_t part = 0; part < Count; ++part) list.push_back(corners_of(e, part));
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  std::vector<std::array<Index, Count>> numbers(mesh.element_count());
  for (std::size_t e = 0; e < mesh.element_count(); ++e)
    for (std::size_t part = 0; part < Count; ++part)
      numbers[e][part] =
          static_cast<Index>(std::lower_bound(list.begin(), list.end(), corners_of(e, part)) - list.begin());
  return numbers;
}

constexpr std::array<std::array<int, 3>, 4> kElementFaces = {{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};

// Nodes of a face of a quartic element are closest to one of its corners each; they are numbered in the order
// of those, as the nodes of an edge are in the order of its ends.
void add_lagrange_nodes(ElementMesh& mesh)
{
  const int p = degree_of(mesh.kind);
  const auto& nodes = LagrangeBasis::of(p).nodes();
  const auto per_edge = static_cast<Index>(p - 1);
  const auto per_face = static_cast<Index>(p == 3 ? 1 : 3);
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::array<Index, 3>> faces;
  const auto edge_numbers = number_parts(mesh, kElementEdges, edges);
  const auto face_numbers = number_parts(mesh, kElementFaces, faces);
  const auto first_edge_node = static_cast<Index>(mesh.corner_count);
  const Index first_face_node = first_edge_node + per_edge * count_of(edges);
  const Index first_inside = first_face_node + per_face * count_of(faces);
  for (const auto& edge : edges) mesh.edges.insert(mesh.edges.end(), at(per_edge), edge);
  for (const auto& face : faces) mesh.faces.insert(mesh.faces.end(), at(per_face), face);
  mesh.nodes.resize(at(first_inside) + (p == 4 ? mesh.element_count() : 0));
  const auto per_element = nodes.size();
  for (std::size_t e = 0; e < mesh.element_count(); ++e) {
    Index* list = mesh.connectivity.data() + e * per_element;
    std::size_t next = 4;
    for (std::size_t k = 0; k < 6; ++k) {
      const bool forward = list[kElementEdges[k][0]] < list[kElementEdges[k][1]];
      for (Index n = 0; n < per_edge; ++n)
        list[next++] = first_edge_node + per_edge * edge_numbers[e][k] + (forward ? n : per_edge - 1 - n);
    }
    for (std::size_t f = 0; f < 4; ++f) {
      const auto& face = faces[at(face_numbers[e][f])];
      for (Index n = 0; n < per_face; ++n) {
        const auto rank = std::find(face.begin(), face.end(), list[kElementFaces[f][at(n)]]) - face.begin();
        list[next++] =
            first_face_node + per_face * face_numbers[e][f] + (per_face == 1 ? 0 : static_cast<Index>(rank));
      }
    }
    if (p == 4) {
      list[next++] = first_inside + static_cast<Index>(e);
      mesh.insides.push_back({list[0], list[1], list[2], list[3]});
    }
    for (std::size_t k = 4; k < per_element; ++k) {
      Vec3 position = Vec3::Zero();
      for (std::size_t c = 0; c < 4; ++c) position += nodes[k][c] * mesh.nodes[at(list[c])] / p;
      mesh.nodes[at(list[k])] = position;
    }
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

  const auto per_element = at(nodes_of(kind));
  result.connectivity.assign(per_element * mesh.tetrahedra.size(), 0);
  for (std::size_t e = 0; e < mesh.tetrahedra.size(); ++e)
    std::copy(mesh.tetrahedra[e].begin(), mesh.tetrahedra[e].end(),
              result.connectivity.begin() + static_cast<std::ptrdiff_t>(e * per_element));
  if (kind == ElementKind::tet10) add_mid_edge_nodes(result);
  if (degree_of(kind) > 2) add_lagrange_nodes(result);
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
    const auto& edge = kElementEdges[at(node - 4)];
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
  ElementMesh result = build_element_mesh(cells.mesh(), tetrahedron_of(cells.degree()));
  result.cut_of.assign(cells.mesh().tetrahedra.size(), -1);
  const std::vector<double> whole = tets::whole_monomial_moments(tets::kMaxMonomialDegree);
  for (std::size_t e = 0; e < result.cut_of.size(); ++e) {
    const tets::CellMoments* moments = cells.moments(e);
    if (moments == nullptr) continue;
    result.cut_of[e] = count_of(result.cuts);
    result.cuts.push_back(cut_element(*moments));
    const std::span<const double> monomials = cells.monomial_moments(e);
    for (std::size_t m = 0; m < monomials.size(); ++m)
      result.cuts.back().monomials.push_back(monomials[m] + kCutStabilisation * (whole[m] - monomials[m]));
  }
  return result;
}

VecX shape_functions(ElementKind kind, const Vec4& at)
{
  if (degree_of(kind) > 2) return LagrangeBasis::of(degree_of(kind)).shape(at);
  if (kind == ElementKind::tet4) return at;
  VecX n(10);
  for (int c = 0; c < 4; ++c) n[c] = at[c] * (2 * at[c] - 1);
  for (int k = 0; k < 6; ++k)
    n[4 + k] = 4 * at[kElementEdges[static_cast<std::size_t>(k)][0]] *
               at[kElementEdges[static_cast<std::size_t>(k)][1]];
  return n;
}

NodeElements elements_around_nodes(const ElementMesh& mesh)
{
  const auto per_element = at(nodes_of(mesh.kind));
  NodeElements around;
  around.first.assign(mesh.nodes.size() + 1, 0);
  for (const Index n : mesh.connectivity) ++around.first[at(n) + 1];
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
