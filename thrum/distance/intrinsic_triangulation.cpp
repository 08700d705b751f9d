// SPDX-License-Identifier: MIT
#include "thrum/distance/intrinsic_triangulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

/// Margin of the triangle inequality after mollification, as a fraction of the mean edge length.
constexpr double kMollification = 1e-6;

/// Two opposite angles whose cotangents sum to more than minus this are Delaunay: cocircular corners must not
/// cause infinite flips.
constexpr double kCocircular = 1e-9;

/// A flip that would leave a triangle with less area than this fraction of its longest edge squared is not
/// done.
constexpr double kMinFlipArea = 1e-14;

/// Flips per edge after which we stop; meshes of needles take about the aspect ratio, others far less than
/// one.
constexpr double kFlipLimit = 200;

Index next(Index h)
{
  return h % 3 == 2 ? h - 2 : h + 1;
}
Index previous(Index h)
{
  return h % 3 == 0 ? h + 2 : h - 1;
}
// Four times the area, by Heron's formula in Kahan's order, which keeps its digits for needles.
double four_times_area(double a, double b, double c)
{
  if (a < b) std::swap(a, b);
  if (b < c) std::swap(b, c);
  if (a < b) std::swap(a, b);
  const double product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
  return std::sqrt(std::max(product, 0.0));
}

// cot C = (a^2 + b^2 - c^2) / (4 A) for the angle C opposite to c, for the three edges of triangle t.
void update_cotangents(IntrinsicTriangulation& m, Index t)
{
  const double* l = &m.lengths[at(3 * t)];
  const double inverse = 1 / four_times_area(l[0], l[1], l[2]);
  const double s0 = l[0] * l[0];
  const double s1 = l[1] * l[1];
  const double s2 = l[2] * l[2];
  double* cot = &m.cotangents[at(3 * t)];
  cot[0] = (s1 + s2 - s0) * inverse;
  cot[1] = (s2 + s0 - s1) * inverse;
  cot[2] = (s0 + s1 - s2) * inverse;
}

void reverse_triangle(IntrinsicTriangulation& m, Index t)
{
  std::swap(m.corners[at(3 * t)], m.corners[at(3 * t + 1)]);
}

// Sorts the edges by their lower vertex (counting sort) and pairs those that join the same two vertices.
// Edges of exactly two triangles become twins.
void glue(IntrinsicTriangulation& m)
{
  const Index edges = count_of(m.corners);
  m.twins.assign(at(edges), -1);
  m.vertex_is_open.assign(at(m.vertex_count), 0);
  m.shared_edges = 0;
  std::vector<Index> start(at(m.vertex_count) + 1, 0);
  const auto lower = [&m](Index h) {
    return std::min(m.corners[at(h)], m.corners[at(next(h))]);
  };
  const auto upper = [&m](Index h) {
    return std::max(m.corners[at(h)], m.corners[at(next(h))]);
  };
  for (Index h = 0; h < edges; ++h) ++start[at(lower(h)) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::pair<Index, Index>> sorted(at(edges));  // upper vertex, edge
  std::vector<Index> fill(start.begin(), start.end() - 1);
  for (Index h = 0; h < edges; ++h) sorted[at(fill[at(lower(h))]++)] = {upper(h), h};
  for (Index v = 0; v < m.vertex_count; ++v) {
    const auto first = sorted.begin() + start[at(v)];
    const auto last = sorted.begin() + start[at(v) + 1];
    std::sort(first, last);
    for (auto run = first; run != last;) {
      auto end = run;
      while (end != last && end->first == run->first) ++end;
      if (end - run == 1) m.vertex_is_open[at(v)] = m.vertex_is_open[at(run->first)] = 1;
      if (end - run == 2) {
        m.twins[at(run->second)] = (run + 1)->second;
        m.twins[at((run + 1)->second)] = run->second;
      }
      if (end - run > 2) ++m.shared_edges;
      run = end;
    }
  }
}

bool is_opposite_to_twin(const IntrinsicTriangulation& m, Index h)
{
  return m.corners[at(h)] == m.corners[at(next(m.twins[at(h)]))];
}

// An edge flip needs both triangles to have the same orientation. Neighbours are reversed one after the
// other; on a one-sided surface some edge remains inconsistent, is cut and so never flipped. Returns whether
// a triangle was reversed.
bool orient(IntrinsicTriangulation& m)
{
  bool turned = false;
  std::vector<char> done(at(m.triangle_count()), 0);
  std::vector<Index> stack;
  for (Index seed = 0; seed < m.triangle_count(); ++seed) {
    if (done[at(seed)]) continue;
    done[at(seed)] = 1;
    stack.push_back(seed);
    while (!stack.empty()) {
      const Index t = stack.back();
      stack.pop_back();
      for (Index h = 3 * t; h < 3 * t + 3; ++h) {
        const Index other = m.twins[at(h)];
        if (other < 0 || done[at(other / 3)]) continue;
        done[at(other / 3)] = 1;
        stack.push_back(other / 3);
        if (is_opposite_to_twin(m, h)) continue;
        // Corners 0 and 1 change places, so edges 1 and 2 do.
        const Index b = 3 * (other / 3);
        reverse_triangle(m, other / 3);
        const Index keep = m.twins[at(b + 1)];
        m.twins[at(b + 1)] = m.twins[at(b + 2)];
        m.twins[at(b + 2)] = keep;
        for (Index k = b + 1; k < b + 3; ++k)
          if (m.twins[at(k)] >= 0) m.twins[at(m.twins[at(k)])] = k;
        turned = true;
      }
    }
  }
  for (Index h = 0; h < count_of(m.twins); ++h) {
    const Index other = m.twins[at(h)];
    if (other >= 0 && !is_opposite_to_twin(m, h)) m.twins[at(h)] = m.twins[at(other)] = -1;
  }
  return turned;
}

// Adds to every edge the amount that the worst triangle needs: l_ij + l_jk - l_ki >= margin.
void mollify(IntrinsicTriangulation& m)
{
  const double margin = kMollification * m.mean_length;
  double missing_length = 0;
  for (std::size_t t = 0; t < m.lengths.size(); t += 3) {
    const double a = m.lengths[t];
    const double b = m.lengths[t + 1];
    const double c = m.lengths[t + 2];
    missing_length = std::max(missing_length, margin - std::min({a + b - c, b + c - a, c + a - b}));
  }
  m.added_length = missing_length;
  if (missing_length > 0)
    for (double& l : m.lengths) l += missing_length;
}

// The length of the other diagonal of the two triangles at edge h, unfolded into the plane.
double other_diagonal(const IntrinsicTriangulation& m, Index h)
{
  const Index g = m.twins[at(h)];
  const double base = m.lengths[at(h)];
  const auto apex = [base](double from_start, double from_end, double area4) {
    return Vec2((base * base + from_start * from_start - from_end * from_end) / (2 * base),
                area4 / (2 * base));
  };
  const double ca = m.lengths[at(previous(h))];
  const double bc = m.lengths[at(next(h))];
  const double ad = m.lengths[at(next(g))];
  const double db = m.lengths[at(previous(g))];
  const Vec2 c = apex(ca, bc, four_times_area(base, bc, ca));
  const Vec2 d = apex(ad, db, four_times_area(base, ad, db));
  return std::hypot(c.x() - d.x(), c.y() + d.y());
}

bool has_area(double a, double b, double c)
{
  const double longest = std::max({a, b, c});
  return four_times_area(a, b, c) > kMinFlipArea * longest * longest;
}

// Replaces edge a-b of (a, b, c) and (b, a, d) by c-d: (c, d, b) in the first place and (d, c, a) in the
// second. `around` receives the four outer edges. False when a new triangle would have no area.
bool flip(IntrinsicTriangulation& m, Index h, Index around[4])
{
  const Index g = m.twins[at(h)];
  const Index bc = next(h);
  const Index ca = previous(h);
  const Index ad = next(g);
  const Index db = previous(g);
  const double length = other_diagonal(m, h);
  const double l_bc = m.lengths[at(bc)];
  const double l_ca = m.lengths[at(ca)];
  const double l_ad = m.lengths[at(ad)];
  const double l_db = m.lengths[at(db)];
  if (!has_area(length, l_db, l_bc) || !has_area(length, l_ca, l_ad)) return false;

  const Index a = m.corners[at(h)];
  const Index b = m.corners[at(g)];
  const Index c = m.corners[at(ca)];
  const Index d = m.corners[at(db)];
  const Index old_edges[4] = {db, bc, ca, ad};
  Index glued[4];
  for (int i = 0; i < 4; ++i) glued[i] = m.twins[at(old_edges[i])];

  const Index s = 3 * (h / 3);
  const Index t = 3 * (g / 3);
  const Index corners_s[3] = {c, d, b};
  const Index corners_t[3] = {d, c, a};
  for (Index k = 0; k < 3; ++k) m.corners[at(s + k)] = corners_s[k];
  for (Index k = 0; k < 3; ++k) m.corners[at(t + k)] = corners_t[k];
  m.lengths[at(s)] = m.lengths[at(t)] = length;
  m.twins[at(s)] = t;
  m.twins[at(t)] = s;

  // Outer edges in their new places; two of them may be glued to each other.
  const Index new_edges[4] = {s + 1, s + 2, t + 1, t + 2};
  const double outer[4] = {l_db, l_bc, l_ca, l_ad};
  for (int i = 0; i < 4; ++i) {
    m.lengths[at(new_edges[i])] = outer[i];
    Index partner = glued[i];
    for (int k = 0; k < 4; ++k)
      if (partner == old_edges[k]) {
        partner = new_edges[k];
        break;
      }
    m.twins[at(new_edges[i])] = partner;
    if (partner >= 0) m.twins[at(partner)] = new_edges[i];
    around[i] = new_edges[i];
  }
  update_cotangents(m, s / 3);
  update_cotangents(m, t / 3);
  return true;
}

}  // namespace

IntrinsicTriangulation intrinsic_triangulation(const mesh::TriangleMesh& mesh)
{
  check_indices(mesh);
  IntrinsicTriangulation m;
  m.vertex_count = count_of(mesh.vertices);
  m.corners.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    m.corners.insert(m.corners.end(), t.begin(), t.end());
  }
  glue(m);
  orient(m);
  m.lengths.resize(m.corners.size());
  double total = 0;
  for (Index h = 0; h < count_of(m.corners); ++h) {
    m.lengths[at(h)] =
        (mesh.vertices[at(m.corners[at(next(h))])] - mesh.vertices[at(m.corners[at(h)])]).norm();
    total += m.lengths[at(h)];
  }
  m.mean_length = m.lengths.empty() ? 0 : total / static_cast<double>(m.lengths.size());
  if (!m.lengths.empty() && !(m.mean_length > 0))
    throw Error("All vertices of the mesh are at the same point: there is no surface to measure on.");
  mollify(m);
  m.cotangents.resize(m.corners.size());
  for (Index t = 0; t < m.triangle_count(); ++t) update_cotangents(m, t);
  return m;
}

DelaunayResult flip_to_delaunay(IntrinsicTriangulation& m)
{
  DelaunayResult result;
  const Index edges = count_of(m.corners);
  const auto limit = static_cast<Index>(std::min(kFlipLimit * edges, 2e9));
  const auto is_delaunay = [&m](Index h) {
    const Index g = m.twins[at(h)];
    return g < 0 || g / 3 == h / 3 || m.cotangents[at(h)] + m.cotangents[at(g)] >= -kCocircular;
  };
  std::vector<Index> stack;
  for (Index h = edges - 1; h >= 0; --h)
    if (m.twins[at(h)] > h && !is_delaunay(h)) stack.push_back(h);
  // An edge may be on the stack twice, or have been flipped since; the test is repeated when it is popped.
  while (!stack.empty()) {
    const Index h = stack.back();
    stack.pop_back();
    if (is_delaunay(h)) continue;
    if (result.flips >= limit) {
      result.finished = false;
      return result;
    }
    Index around[4];
    if (!flip(m, h, around)) continue;
    ++result.flips;
    for (const Index e : around)
      if (!is_delaunay(e)) stack.push_back(e);
  }
  return result;
}

std::vector<Index> vertex_components(const IntrinsicTriangulation& m)
{
  // Union-find with path halving; the root is always the lowest vertex.
  std::vector<Index> root(at(m.vertex_count));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](Index v) {
    while (root[at(v)] != v) v = root[at(v)] = root[at(root[at(v)])];
    return v;
  };
  std::vector<char> used(at(m.vertex_count), 0);
  for (Index h = 0; h < count_of(m.corners); ++h) {
    const Index a = find(m.corners[at(h)]);
    const Index b = find(m.corners[at(next(h))]);
    used[at(m.corners[at(h)])] = 1;
    if (a != b) root[at(std::max(a, b))] = std::min(a, b);
  }
  std::vector<Index> component(at(m.vertex_count), -1);
  Index count = 0;
  for (Index v = 0; v < m.vertex_count; ++v) {
    if (!used[at(v)]) continue;
    const Index r = find(v);
    component[at(v)] = r == v ? count++ : component[at(r)];
  }
  return component;
}

}  // namespace thrum::distance
