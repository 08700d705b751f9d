// SPDX-License-Identifier: MIT
#include "thrum/distance/surface_laplacian.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

/// Parts of this many vertices are not cut further.
constexpr std::ptrdiff_t kMinPartSize = 24;

using numerics::SparseMatrix;

}  // namespace

VertexTriangles vertex_triangles(const IntrinsicTriangulation& m)
{
  VertexTriangles around;
  around.start.assign(at(m.vertex_count) + 1, 0);
  for (const Index v : m.corners) ++around.start[at(v) + 1];
  std::partial_sum(around.start.begin(), around.start.end(), around.start.begin());
  around.edges.resize(m.corners.size());
  std::vector<Index> fill(around.start.begin(), around.start.end() - 1);
  for (Index h = 0; h < count_of(m.corners); ++h) around.edges[at(fill[at(m.corners[at(h)])]++)] = h;
  return around;
}

SurfaceLaplacian surface_laplacian(const IntrinsicTriangulation& m)
{
  SurfaceLaplacian result;
  const Index n = m.vertex_count;
  result.mass = VecX::Zero(n);
  VecX diagonal = VecX::Zero(n);

  // Each edge of each triangle goes into the column of its lower vertex (counting sort).
  struct Entry {
    Index row;
    double weight;
  };
  std::vector<Index> start(at(n) + 1, 0);
  const auto ends = [&m](Index h) {
    return std::minmax(m.corners[at(h)], m.corners[at(h % 3 == 2 ? h - 2 : h + 1)]);
  };
  const Index edges = count_of(m.corners);
  for (Index h = 0; h < edges; ++h) {
    const auto [low, high] = ends(h);
    if (low != high) ++start[at(low) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<Entry> entries(at(start.back()));
  std::vector<Index> fill(start.begin(), start.end() - 1);
  for (Index h = 0; h < edges; ++h) {
    const double weight = 0.5 * m.cotangents[at(h)];
    const auto [low, high] = ends(h);
    // A loop from a vertex to itself does not contribute to the energy.
    if (low == high) continue;
    entries[at(fill[at(low)]++)] = {high, weight};
    diagonal[low] += weight;
    diagonal[high] += weight;
    // A = l^2 / (2 (cot + cot)) over any edge l with the cotangents at its two ends; taken at edge 0 below.
  }
  for (Index t = 0; t < m.triangle_count(); ++t) {
    const double l = m.lengths[at(3 * t)];
    const double area = l * l / (2 * (m.cotangents[at(3 * t + 1)] + m.cotangents[at(3 * t + 2)]));
    for (Index k = 0; k < 3; ++k) result.mass[m.corners[at(3 * t + k)]] += area / 3;
  }

  // Sort the few entries of each column and add up those of the same row.
  SparseMatrix& L = result.stiffness;
  L.resize(n, n);
  L.resizeNonZeros(n + count_of(entries));
  int* outer = L.outerIndexPtr();
  int* inner = L.innerIndexPtr();
  double* values = L.valuePtr();
  int count = 0;
  for (Index v = 0; v < n; ++v) {
    outer[v] = count;
    inner[count] = v;
    values[count++] = diagonal[v];
    const auto first = entries.begin() + start[at(v)];
    const auto last = entries.begin() + start[at(v) + 1];
    std::stable_sort(first, last, [](const Entry& a, const Entry& b) { return a.row < b.row; });
    for (auto e = first; e != last; ++e) {
      if (e != first && e->row == inner[count - 1]) {
        values[count - 1] -= e->weight;
      } else {
        inner[count] = e->row;
        values[count++] = -e->weight;
      }
    }
  }
  outer[n] = count;
  L.resizeNonZeros(count);
  return result;
}

SparseMatrix SurfaceLaplacian::heat_matrix(double time) const
{
  SparseMatrix A = stiffness;
  const int* outer = A.outerIndexPtr();
  const int* inner = A.innerIndexPtr();
  double* values = A.valuePtr();
  const int n = static_cast<int>(A.cols());
  for (int j = 0; j < n; ++j) values[outer[j]] = mass[j];
  // Negative weights remain at open edges opposite to obtuse angles and at edges that could not be flipped.
  // Without them the matrix is an M-matrix: heat is positive everywhere and is computed without cancellation,
  // however small it is.
  for (int j = 0; j < n; ++j) {
    for (int k = outer[j] + 1; k < outer[j + 1]; ++k) {
      values[k] = std::min(0.0, time * values[k]);
      values[outer[j]] -= values[k];
      values[outer[inner[k]]] -= values[k];
    }
  }
  for (int j = 0; j < n; ++j)
    if (values[outer[j]] <= 0) values[outer[j]] = 1;
  return A;
}

SparseMatrix SurfaceLaplacian::cooled_heat_matrix(double time, const std::vector<char>& held) const
{
  SparseMatrix A = heat_matrix(time);
  for (Index j = 0; j < static_cast<Index>(A.cols()); ++j) {
    for (SparseMatrix::InnerIterator entry(A, j); entry; ++entry) {
      const bool is_held = held[at(j)] != 0 || held[at(static_cast<Index>(entry.row()))] != 0;
      if (is_held && entry.row() != entry.col()) entry.valueRef() = 0;
    }
  }
  return A;
}

SparseMatrix SurfaceLaplacian::pinned_stiffness(const std::vector<Index>& component) const
{
  SparseMatrix A = stiffness;
  Index pinned = 0;
  for (Index v = 0; v < count_of(component); ++v) {
    double& diagonal = A.valuePtr()[A.outerIndexPtr()[v]];
    if (component[at(v)] < 0) diagonal = 1;
    if (component[at(v)] != pinned) continue;
    diagonal *= 2;
    ++pinned;
  }
  return A;
}

namespace {

// Vertices are sorted as (coordinate along the current axis, vertex), so that comparing them reads no other
// memory.
class Dissection {
 public:
  Dissection(const std::vector<Vec3>& positions, const IntrinsicTriangulation& m,
             const VertexTriangles& around)
      : positions_(positions), m_(m), around_(around), side_(positions.size(), 0), items_(positions.size())
  {
    for (std::size_t v = 0; v < items_.size(); ++v) items_[v] = {0, static_cast<Index>(v)};
  }

  std::vector<int> order()
  {
    cut(items_.begin(), items_.end());
    std::vector<int> result(items_.size());
    for (std::size_t k = 0; k < items_.size(); ++k) result[k] = items_[k].second;
    return result;
  }

 private:
  using Item = std::pair<double, Index>;
  using Iterator = std::vector<Item>::iterator;

  // Reorders [first, last) into: lower half without separator, upper half, separator.
  void cut(Iterator first, Iterator last)
  {
    if (last - first <= kMinPartSize) return;
    Box3 box;
    for (Iterator k = first; k != last; ++k) box.extend(positions_[at(k->second)]);
    Eigen::Index axis = 0;
    box.sizes().maxCoeff(&axis);
    for (Iterator k = first; k != last; ++k) k->first = positions_[at(k->second)][axis];
    const Iterator middle = first + (last - first) / 2;
    std::nth_element(first, middle, last);
    // The separator: vertices of the lower half with a neighbour in the upper half.
    ++mark_;
    for (Iterator k = middle; k != last; ++k) side_[at(k->second)] = mark_;
    const Iterator separator =
        std::partition(first, middle, [this](const Item& item) { return !touches_marked(item.second); });
    const auto lower = separator - first;
    const auto between = middle - separator;
    std::rotate(separator, middle, last);
    cut(first, first + lower);
    cut(first + lower, last - between);
  }

  bool touches_marked(Index v) const
  {
    for (const Index h : around_.edges_from(v)) {
      // The triangle's other two corners.
      const Index base = 3 * (h / 3);
      for (Index k = base; k < base + 3; ++k)
        if (side_[at(m_.corners[at(k)])] == mark_) return true;
    }
    return false;
  }

  const std::vector<Vec3>& positions_;
  const IntrinsicTriangulation& m_;
  const VertexTriangles& around_;
  std::vector<int> side_;
  std::vector<Item> items_;
  int mark_ = 0;
};

}  // namespace

std::vector<int> dissection_order(const std::vector<Vec3>& positions,
                                  const IntrinsicTriangulation& triangulation, const VertexTriangles& around)
{
  return Dissection(positions, triangulation, around).order();
}

}  // namespace thrum::distance
