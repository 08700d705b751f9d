// SPDX-License-Identifier: MIT
#include "thrum/tets/cut_tetrahedron.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "thrum/base/index.h"
#include "thrum/tets/monomial_moments.h"

namespace thrum::tets {

namespace {

// A rule of 14 points that is exact to degree five [Walkington, "Quadrature on simplices of arbitrary
// dimension", 2000]: weight and barycentric coordinates of each.
struct IntegrationPoint {
  double weight;
  std::array<double, 4> at;
};

constexpr std::array<IntegrationPoint, 14> integration_points()
{
  constexpr double kWeights[2] = {0.1126879257180158508, 0.0734930431163619495};
  constexpr double kNear[2] = {0.3108859192633006098, 0.0927352503108912264};
  constexpr double kEdgeWeight = 0.0425460207770814664;
  constexpr double kEdge = 0.0455037041256496495;
  std::array<IntegrationPoint, 14> points{};
  std::size_t next = 0;
  for (std::size_t set = 0; set < 2; ++set)
    for (std::size_t corner = 0; corner < 4; ++corner) {
      IntegrationPoint& p = points[next++];
      p.weight = kWeights[set];
      p.at.fill(kNear[set]);
      p.at[corner] = 1 - 3 * kNear[set];
    }
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = i + 1; j < 4; ++j) {
      IntegrationPoint& p = points[next++];
      p.weight = kEdgeWeight;
      p.at.fill(0.5 - kEdge);
      p.at[i] = p.at[j] = kEdge;
    }
  return points;
}
constexpr std::array<IntegrationPoint, 14> kPoints = integration_points();

double determinant(const Vec4& a, const Vec4& b, const Vec4& c, const Vec4& d)
{
  Eigen::Matrix4d m;
  m << a, b, c, d;
  return m.determinant();
}

// Of the permutation (a, b, c, d) of 0..3.
bool is_odd(int a, int b, int c, int d)
{
  const int p[4] = {a, b, c, d};
  int inversions = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) inversions += p[i] > p[j] ? 1 : 0;
  return inversions % 2 != 0;
}

// A piece with less than this share of a tetrahedron below zero comes from triangles that do not match.
constexpr double kNegativeFraction = 1e-9;

}  // namespace

void add_moments(const Vec4& a, const Vec4& b, const Vec4& c, const Vec4& d, CellMoments& moments)
{
  const double volume = determinant(a, b, c, d);
  for (const IntegrationPoint& p : kPoints) {
    const Vec4 x = p.at[0] * a + p.at[1] * b + p.at[2] * c + p.at[3] * d;
    const double weight = volume * p.weight;
    std::array<double, 10> pairs;
    std::size_t n = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = i; j < 4; ++j) pairs[n++] = x[i] * x[j];
    n = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = i; j < 4; ++j) {
        const double ij = weight * pairs[at(pair_index(i, j))];
        for (int k = j; k < 4; ++k)
          for (int l = k; l < 4; ++l) moments.quads[n++] += ij * pairs[at(pair_index(k, l))];
      }
  }
}

void CutTetrahedron::reset(const std::array<bool, 4>& inside, int monomial_degree)
{
  inside_ = inside;
  monomial_degree_ = monomial_degree;
  monomial_pieces_.clear();
  polygons_.clear();
  corners_.clear();
  crossings_.clear();
  pieces_.clear();
  face_segments_.clear();
}

void CutTetrahedron::add_triangle(Index triangle, const std::array<Vec4, 3>& corners,
                                  const std::array<Index, 3>& edges)
{
  for (int i = 0; i < 4; ++i)
    if (corners[0][i] < 0 && corners[1][i] < 0 && corners[2][i] < 0) return;
  clip_in_.clear();
  for (std::size_t k = 0; k < 3; ++k) clip_in_.push_back({corners[k], 4 + static_cast<int>(k)});
  // Sutherland and Hodgman. The formula of a new point does not depend on the direction of its edge, so that
  // the two triangles at an edge get the same points.
  for (int face = 0; face < 4; ++face) {
    clip_out_.clear();
    for (std::size_t k = 0; k < clip_in_.size(); ++k) {
      const Corner& from = clip_in_[k];
      const Vec4& a = from.point;
      const Vec4& b = clip_in_[(k + 1) % clip_in_.size()].point;
      const bool a_in = a[face] >= 0;
      const bool b_in = b[face] >= 0;
      if (a_in) clip_out_.push_back(from);
      if (a_in == b_in) continue;
      Vec4 x = (a[face] * b - b[face] * a) / (a[face] - b[face]);
      x[face] = 0;
      clip_out_.push_back({x, a_in ? face : from.edge});
    }
    clip_in_.swap(clip_out_);
    if (clip_in_.empty()) return;
  }
  polygons_.push_back({triangle, corners_.size(), clip_in_.size(), edges});
  corners_.insert(corners_.end(), clip_in_.begin(), clip_in_.end());
}

std::size_t CutTetrahedron::root(std::size_t item)
{
  while (parent_[item] != item) item = parent_[item] = parent_[parent_[item]];
  return item;
}

void CutTetrahedron::join(std::size_t a, std::size_t b)
{
  const std::size_t x = root(a);
  const std::size_t y = root(b);
  parent_[std::max(x, y)] = std::min(x, y);
}

// A corner of a polygon between two faces i and j lies on the edge of the tetrahedron where they meet. Seen
// from outside, polygons are counter-clockwise; which side of the point is inside follows from the order.
void CutTetrahedron::find_crossings()
{
  for (std::size_t p = 0; p < polygons_.size(); ++p) {
    const Polygon& polygon = polygons_[p];
    for (std::size_t k = 0; k < polygon.count; ++k) {
      const Corner& corner = corners_[polygon.first + k];
      const int out = corner.edge;
      const int in = corners_[polygon.first + (k + polygon.count - 1) % polygon.count].edge;
      if (in >= 4 || out >= 4 || in == out) continue;
      int a = 0;
      while (a == in || a == out) ++a;
      int b = a + 1;
      while (b == in || b == out) ++b;
      crossings_.push_back({a, b, corner.point[b], is_odd(in, out, a, b), p});
    }
  }
}

// Triangles that share an edge within the tetrahedron bound the same piece.
void CutTetrahedron::join_neighbours()
{
  std::vector<std::pair<Index, std::size_t>> edges;
  for (std::size_t p = 0; p < polygons_.size(); ++p)
    for (std::size_t k = 0; k < polygons_[p].count; ++k) {
      const int edge = corners_[polygons_[p].first + k].edge;
      if (edge >= 4) edges.emplace_back(polygons_[p].edges[at(edge - 4)], p);
    }
  std::sort(edges.begin(), edges.end());
  for (std::size_t k = 1; k < edges.size(); ++k)
    if (edges[k].first == edges[k - 1].first) join(edges[k].second, edges[k - 1].second);
}

// The two ends of an interval of an edge that is inside bound the same piece.
bool CutTetrahedron::join_along_edges()
{
  std::sort(crossings_.begin(), crossings_.end(), [](const Crossing& x, const Crossing& y) {
    return std::tie(x.a, x.b, x.at) < std::tie(y.a, y.b, y.at);
  });
  constexpr std::size_t kNone = at(-1);
  auto next = crossings_.begin();
  for (int a = 0; a < 4; ++a)
    for (int b = a + 1; b < 4; ++b) {
      std::size_t open = inside_[at(a)] ? corner_item(a) : kNone;
      for (; next != crossings_.end() && next->a == a && next->b == b; ++next) {
        if (next->enters != (open == kNone)) return false;
        if (!next->enters) join(open, next->polygon);
        open = next->enters ? next->polygon : kNone;
      }
      if ((open != kNone) != inside_[at(b)]) return false;
      if (open != kNone) join(open, corner_item(b));
    }
  return true;
}

// Patches that reach no edge of the tetrahedron may be holes in a piece as well as pieces of their own: the
// tetrahedron is then left in one piece.
void CutTetrahedron::join_loops()
{
  std::vector<char> reaches(parent_.size(), 0);
  for (const Crossing& crossing : crossings_) reaches[root(crossing.polygon)] = 1;
  for (std::size_t p = 0; p < polygons_.size(); ++p) {
    if (reaches[root(p)] != 0) continue;
    for (std::size_t q = 0; q < parent_.size(); ++q) join(p, q);
    return;
  }
}

void CutTetrahedron::number_pieces()
{
  piece_of_.assign(parent_.size(), -1);
  int count = 0;
  for (std::size_t item = 0; item < parent_.size(); ++item) {
    const bool is_corner = item >= polygons_.size();
    if (is_corner && !inside_[item - polygons_.size()]) continue;
    int& piece = piece_of_[root(item)];
    if (piece < 0) piece = count++;
    piece_of_[item] = piece;
  }
  pieces_.assign(at(count), CellMoments{});
  if (monomial_degree_ > 0)
    monomial_pieces_.assign(at(count), std::vector<double>(monomial_count(monomial_degree_), 0.0));
  for (int c = 0; c < 4; ++c) corner_pieces_[at(c)] = inside_[at(c)] ? piece_of_[corner_item(c)] : -1;
}

// With the apex at corner 0.
void CutTetrahedron::add_cone(const Vec4& a, const Vec4& b, const Vec4& c, int piece)
{
  add_moments(Vec4::Unit(0), a, b, c, pieces_[at(piece)]);
  if (monomial_degree_ > 0)
    add_cone_moments(monomial_degree_, a.tail<3>(), b.tail<3>(), c.tail<3>(), monomial_pieces_[at(piece)]);
}

void CutTetrahedron::add_cones()
{
  const Vec4 v1 = Vec4::Unit(1);
  const Vec4 v2 = Vec4::Unit(2);
  const Vec4 v3 = Vec4::Unit(3);
  for (std::size_t p = 0; p < polygons_.size(); ++p) {
    const Polygon& polygon = polygons_[p];
    const int piece = piece_of_[p];
    const Corner* corner = corners_.data() + polygon.first;
    for (std::size_t k = 2; k < polygon.count; ++k)
      add_cone(corner[0].point, corner[k - 1].point, corner[k].point, piece);
    for (std::size_t k = 0; k < polygon.count; ++k) {
      if (corner[k].edge >= 4) continue;
      face_segments_.push_back({corner[k].edge, polygon.triangle, piece});
      if (corner[k].edge != 0) continue;
      add_cone(v1, corner[(k + 1) % polygon.count].point, corner[k].point, piece);
    }
  }
  for (const Crossing& crossing : crossings_) {
    if (crossing.a != 2) continue;
    Vec4 x = Vec4::Zero();
    x[2] = 1 - crossing.at;
    x[3] = crossing.at;
    const int piece = piece_of_[crossing.polygon];
    if (crossing.enters)
      add_cone(v1, x, v3, piece);
    else
      add_cone(v1, v3, x, piece);
  }
  if (inside_[2]) add_cone(v1, v2, v3, corner_pieces_[2]);
}

bool CutTetrahedron::integrate()
{
  parent_.resize(polygons_.size() + 4);
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  find_crossings();
  join_neighbours();
  if (!join_along_edges()) return false;
  join_loops();
  number_pieces();
  add_cones();
  for (const CellMoments& piece : pieces_) {
    const double fraction = piece.fraction();
    if (!(fraction > -kNegativeFraction && fraction < 1 + kNegativeFraction)) return false;
  }
  return true;
}

int CutTetrahedron::piece_of_triangle(Index triangle) const
{
  for (std::size_t p = 0; p < polygons_.size(); ++p)
    if (polygons_[p].triangle == triangle) return piece_of_[p];
  return -1;
}

std::vector<std::pair<Index, int>> CutTetrahedron::triangle_pieces() const
{
  std::vector<std::pair<Index, int>> list;
  for (std::size_t p = 0; p < polygons_.size(); ++p) list.emplace_back(polygons_[p].triangle, piece_of_[p]);
  return list;
}

}  // namespace thrum::tets
