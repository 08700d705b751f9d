// SPDX-License-Identifier: MIT
#include "thrum/elastic/assembly.h"

#include <algorithm>
#include <cstddef>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/elastic/lagrange_element.h"
#include "thrum/elastic/tetrahedron_element.h"
#include "thrum/elastic/wedge_element.h"

namespace thrum::elastic {

namespace {

// Nodes per chunk of a thread: a few milliseconds of work at most.
constexpr std::size_t kNodesPerChunk = 512;

// The data of an element for the assembly, computed once.
struct PreparedElement {
  TetrahedronGeometry geometry;
  LameConstants lame;
  double density = 0;
  const CutElement* cut = nullptr;
};

std::vector<WedgeElement> prepare_wedges(const ElementMesh& mesh)
{
  if (mesh.kind != ElementKind::wedge15) return {};
  std::vector<WedgeElement> wedges(mesh.element_count());
  base::parallel_for(wedges.size(), [&](std::size_t e) {
    std::array<Vec3, 6> corners;
    for (std::size_t k = 0; k < 6; ++k) corners[k] = mesh.nodes[at(mesh.element(e)[k])];
    wedges[e] = WedgeElement(corners);
  });
  return wedges;
}

// The integrals of all elements of degree three and four, in two large blocks: the memory of many small ones
// is not given back to the system, which needs it for the factor (a tenth of the peak).
class LagrangeIntegrals {
 public:
  explicit LagrangeIntegrals(const ElementMesh& mesh);

  [[nodiscard]] bool empty() const { return products_.empty(); }
  [[nodiscard]] Mat3 gradient_products(std::size_t e, int a, int b) const
  {
    const Mat3& g = products_[e * pairs_ + LagrangeElement::index(a, b)];
    return a <= b ? g : Mat3(g.transpose());
  }
  [[nodiscard]] double mass(std::size_t e, int a, int b) const
  {
    return masses_[e * pairs_ + LagrangeElement::index(a, b)];
  }

 private:
  std::size_t pairs_ = 0;
  std::vector<Mat3> products_;
  std::vector<double> masses_;
};

LagrangeIntegrals::LagrangeIntegrals(const ElementMesh& mesh)
{
  const int degree = degree_of(mesh.kind);
  if (degree < 3) return;
  const int last = nodes_of(mesh.kind) - 1;
  pairs_ = LagrangeElement::index(last, last) + 1;
  products_.resize(mesh.element_count() * pairs_);
  masses_.resize(products_.size());
  base::parallel_for(mesh.element_count(), [&](std::size_t e) {
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[at(mesh.element(e)[k])];
    };
    const CutElement* cut = mesh.cut(e);
    const LagrangeElement element(
        degree, tetrahedron_geometry(node(0), node(1), node(2), node(3)),
        cut != nullptr ? std::span<const double>(cut->monomials) : std::span<const double>());
    std::ranges::copy(element.all_products(), products_.begin() + static_cast<std::ptrdiff_t>(e * pairs_));
    std::ranges::copy(element.all_masses(), masses_.begin() + static_cast<std::ptrdiff_t>(e * pairs_));
  });
}

std::vector<PreparedElement> prepare_elements(const ElementMesh& mesh,
                                              std::span<const model::Material> materials)
{
  std::vector<LameConstants> lame;
  for (const model::Material& material : materials) lame.push_back(lame_constants(material));
  std::vector<PreparedElement> elements(mesh.element_count());
  base::parallel_for(elements.size(), [&](std::size_t e) {
    const Index* n = mesh.element(e);
    const auto node = [&](int k) -> const Vec3& {
      return mesh.nodes[at(n[k])];
    };
    const auto region = at(mesh.region(e));
    PreparedElement& element = elements[e];
    if (mesh.kind != ElementKind::wedge15)
      element.geometry = tetrahedron_geometry(node(0), node(1), node(2), node(3));
    element.lame = lame[region];
    element.density = materials[region].density;
    element.cut = mesh.cut(e);
  });
  return elements;
}

// Neighbours of each node with an index not below its own, sorted: the node columns of a lower triangle.
struct NodePattern {
  std::vector<std::size_t> first;
  std::vector<Index> neighbours;
};

void later_neighbours(const ElementMesh& mesh, const NodeElements& around, std::size_t node,
                      std::vector<Index>& found)
{
  const int per_element = nodes_of(mesh.kind);
  found.clear();
  for (Index k = around.first[node]; k < around.first[node + 1]; ++k) {
    const Index* n = mesh.element(at(around.elements[at(k)]));
    for (int b = 0; b < per_element; ++b)
      if (n[b] >= static_cast<Index>(node)) found.push_back(n[b]);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
}

NodePattern node_pattern(const ElementMesh& mesh, const NodeElements& around)
{
  const std::size_t nodes = mesh.nodes.size();
  const base::Chunks chunks = base::Chunks::of(nodes, kNodesPerChunk);
  // Each chunk of nodes lists its own neighbours; the lists are then concatenated.
  std::vector<std::vector<Index>> lists(chunks.size());
  NodePattern pattern;
  pattern.first.assign(nodes + 1, 0);
  base::parallel_for_chunks(
      nodes,
      [&](std::size_t begin, std::size_t end) {
        std::vector<Index>& list = lists[begin / chunks.grain];
        std::vector<Index> found;
        for (std::size_t node = begin; node < end; ++node) {
          later_neighbours(mesh, around, node, found);
          list.insert(list.end(), found.begin(), found.end());
          pattern.first[node + 1] = found.size();
        }
      },
      kNodesPerChunk);
  for (std::size_t node = 0; node < nodes; ++node) pattern.first[node + 1] += pattern.first[node];
  pattern.neighbours.reserve(pattern.first[nodes]);
  for (const std::vector<Index>& list : lists)
    pattern.neighbours.insert(pattern.neighbours.end(), list.begin(), list.end());
  return pattern;
}

// Column starts of both matrices. In the column of (node, axis) the stiffness has the free axes of every
// later neighbour, and of the node itself from `axis` on; the mass has the same axis of each.
void set_patterns(const NodePattern& pattern, AssembledSystem& system)
{
  const std::vector<Index>& index = system.unknowns.index;
  const Index n = system.unknowns.count;
  std::vector<int> stiffness_entries(at(n), 0);
  std::vector<int> mass_entries(at(n), 0);
  const std::size_t nodes = pattern.first.size() - 1;
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Index column = index[3 * node + axis];
      if (column == FreeUnknowns::kHeld) continue;
      int stiffness = 0;
      int mass = 0;
      for (std::size_t k = pattern.first[node]; k < pattern.first[node + 1]; ++k) {
        const auto other = at(pattern.neighbours[k]);
        for (std::size_t b = other == node ? axis : 0; b < 3; ++b)
          stiffness += index[3 * other + b] != FreeUnknowns::kHeld ? 1 : 0;
        mass += index[3 * other + axis] != FreeUnknowns::kHeld ? 1 : 0;
      }
      stiffness_entries[at(column)] = stiffness;
      mass_entries[at(column)] = mass;
    }
  }
  const auto allocate = [n](numerics::SparseMatrix& matrix, const std::vector<int>& entries) {
    matrix.resize(n, n);
    int total = 0;
    for (Index c = 0; c < n; ++c) {
      matrix.outerIndexPtr()[c] = total;
      total += entries[at(c)];
    }
    matrix.outerIndexPtr()[n] = total;
    matrix.resizeNonZeros(total);
  };
  allocate(system.stiffness, stiffness_entries);
  allocate(system.mass, mass_entries);
}

// The blocks of one node, gathered over its elements.
struct NodeBlocks {
  std::vector<Mat3> stiffness;
  std::vector<double> mass;
};

void add_springs(std::span<const ElementSprings> springs, int a, int b, Mat3& block)
{
  for (const ElementSprings& s : springs)
    for (int axis = 0; axis < 3; ++axis)
      if (s.axes[at(axis)]) block(axis, axis) += s.stiffness * s.areas(a, b);
}

void gather_blocks(const ElementMesh& mesh, const NodeElements& around,
                   std::span<const PreparedElement> elements, std::span<const WedgeElement> wedges,
                   const LagrangeIntegrals& lagrange, const NodePattern& pattern, std::size_t node,
                   NodeBlocks& blocks)
{
  const Index* begin = pattern.neighbours.data() + pattern.first[node];
  const Index* end = pattern.neighbours.data() + pattern.first[node + 1];
  blocks.stiffness.assign(at(end - begin), Mat3::Zero());
  blocks.mass.assign(at(end - begin), 0.0);
  const int per_element = nodes_of(mesh.kind);
  for (Index k = around.first[node]; k < around.first[node + 1]; ++k) {
    const auto e = at(around.elements[at(k)]);
    const int a = around.local[at(k)];
    const Index* n = mesh.element(e);
    const PreparedElement& element = elements[e];
    for (int b = 0; b < per_element; ++b) {
      if (n[b] < static_cast<Index>(node)) continue;
      const auto at = static_cast<std::size_t>(std::lower_bound(begin, end, n[b]) - begin);
      if (!wedges.empty()) {
        blocks.stiffness[at] += stiffness_block(element.lame, wedges[e].gradient_products(a, b));
        blocks.mass[at] += element.density * wedges[e].mass(a, b);
        continue;
      }
      if (!lagrange.empty()) {
        blocks.stiffness[at] += stiffness_block(element.lame, lagrange.gradient_products(e, a, b));
        blocks.mass[at] += element.density * lagrange.mass(e, a, b);
        if (!mesh.springs.empty()) add_springs(mesh.springs[e], a, b, blocks.stiffness[at]);
        continue;
      }
      Mat3 products = Mat3::Zero();
      if (element.cut != nullptr)
        add_gradient_products(*element.cut, element.geometry, a, b, 1.0, products);
      else
        add_gradient_products(mesh.kind, element.geometry, a, b, 1.0, products);
      blocks.stiffness[at] += stiffness_block(element.lame, products);
      const double unit = element.cut != nullptr
                              ? element.cut->masses[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]
                              : unit_mass(mesh.kind, a, b);
      blocks.mass[at] += element.density * element.geometry.volume * unit;
      if (!mesh.springs.empty()) add_springs(mesh.springs[e], a, b, blocks.stiffness[at]);
    }
  }
}

void write_columns(const NodePattern& pattern, const NodeBlocks& blocks, std::size_t node,
                   AssembledSystem& system)
{
  const std::vector<Index>& index = system.unknowns.index;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Index column = index[3 * node + axis];
    if (column == FreeUnknowns::kHeld) continue;
    int at = system.stiffness.outerIndexPtr()[column];
    int mass_at = system.mass.outerIndexPtr()[column];
    for (std::size_t k = 0; k < blocks.mass.size(); ++k) {
      const auto other = static_cast<std::size_t>(pattern.neighbours[pattern.first[node] + k]);
      for (std::size_t b = other == node ? axis : 0; b < 3; ++b) {
        const Index row = index[3 * other + b];
        if (row == FreeUnknowns::kHeld) continue;
        // The block couples this node (rows) to the other (columns); its transpose belongs below the
        // diagonal.
        system.stiffness.innerIndexPtr()[at] = row;
        system.stiffness.valuePtr()[at++] =
            blocks.stiffness[k](static_cast<Eigen::Index>(axis), static_cast<Eigen::Index>(b));
      }
      const Index mass_row = index[3 * other + axis];
      if (mass_row == FreeUnknowns::kHeld) continue;
      system.mass.innerIndexPtr()[mass_at] = mass_row;
      system.mass.valuePtr()[mass_at++] = blocks.mass[k];
    }
  }
}

}  // namespace

FreeUnknowns free_unknowns(std::size_t node_count, std::span<const std::array<bool, 3>> held)
{
  FreeUnknowns unknowns;
  unknowns.index.assign(3 * node_count, FreeUnknowns::kHeld);
  for (std::size_t node = 0; node < node_count; ++node)
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (held.empty() || !held[node][axis]) unknowns.index[3 * node + axis] = unknowns.count++;
  return unknowns;
}

AssembledSystem assemble(const ElementMesh& mesh, std::span<const model::Material> materials,
                         std::span<const std::array<bool, 3>> held)
{
  AssembledSystem system;
  system.unknowns = free_unknowns(mesh.nodes.size(), held);
  const NodeElements around = elements_around_nodes(mesh);
  const NodePattern pattern = node_pattern(mesh, around);
  set_patterns(pattern, system);

  const std::vector<PreparedElement> elements = prepare_elements(mesh, materials);
  const std::vector<WedgeElement> wedges = prepare_wedges(mesh);
  const LagrangeIntegrals lagrange(mesh);
  base::parallel_for_chunks(
      mesh.nodes.size(),
      [&](std::size_t begin, std::size_t end) {
        NodeBlocks blocks;
        for (std::size_t node = begin; node < end; ++node) {
          gather_blocks(mesh, around, elements, wedges, lagrange, pattern, node, blocks);
          write_columns(pattern, blocks, node, system);
        }
      },
      kNodesPerChunk);
  return system;
}

MatX expand_to_nodes(const FreeUnknowns& unknowns, const Eigen::Ref<const MatX>& free_values)
{
  MatX all = MatX::Zero(static_cast<Eigen::Index>(unknowns.index.size()), free_values.cols());
  for (Eigen::Index column = 0; column < all.cols(); ++column)
    for (Eigen::Index row = 0; row < all.rows(); ++row) {
      const Index from = unknowns.index[at(row)];
      if (from != FreeUnknowns::kHeld) all(row, column) = free_values(from, column);
    }
  return all;
}

}  // namespace thrum::elastic
