// SPDX-License-Identifier: MIT
#include "thrum/collision/surface_elements.h"

#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::collision {

namespace {

/// Faces that bend by less are one flat face (cosine of about one degree).
constexpr double kFlatBend = 0.9998;
/// Edges in a leaf of the hierarchy.
constexpr Index kLeafEdges = 6;

Index third_corner(const mesh::TriangleMesh& mesh, const mesh::EdgeUse& use)
{
  for (const Index v : mesh.triangles[at(use.triangle)]) {
    if (v != use.low && v != use.high) return v;
  }
  return -1;
}

}  // namespace

SurfaceElements::SurfaceElements(const mesh::TriangleMesh& mesh, EdgeChoice choice) : vertices_(mesh.vertices)
{
  find_edges(mesh, choice);
  if (!edges_.empty()) add_balls(0, count_of(edges_));
}

void SurfaceElements::find_edges(const mesh::TriangleMesh& mesh, EdgeChoice choice)
{
  const std::vector<mesh::EdgeUse> uses = mesh::edge_uses(mesh);
  std::vector<std::array<Index, 2>> joined;
  mesh::for_each_edge(std::span<const mesh::EdgeUse>(uses), [&](std::span<const mesh::EdgeUse> edge) {
    joined.push_back({edge[0].low, edge[0].high});
    joined.push_back({edge[0].high, edge[0].low});
    SurfaceEdge e;
    e.ends = {edge[0].low, edge[0].high};
    e.opposite_vertices[0] = third_corner(mesh, edge[0]);
    if (edge.size() != 2) {
      // An open border, or more than two faces: always able to touch.
      e.crease = sharp_ = true;
    } else {
      e.opposite_vertices[1] = third_corner(mesh, edge[1]);
      const Vec3 n0 = mesh::area_vector(mesh, at(edge[0].triangle)).normalized();
      const Vec3 n1 = mesh::area_vector(mesh, at(edge[1].triangle)).normalized();
      const double bend = n0.dot(n1);
      const bool flat = bend > kFlatBend;
      const bool outward = e.opposite_vertices[1] >= 0 &&
                           n0.dot(vertices_[at(e.opposite_vertices[1])] - vertices_[at(e.ends[0])]) < 0;
      const bool sticks_out = !flat && outward;
      if (!sticks_out && choice == EdgeChoice::outward) return;
      e.crease = sticks_out && bend < kCreaseBend;
      sharp_ = sharp_ || (sticks_out && bend < kSmoothBend);
    }
    edges_.push_back(e);
  });
  std::sort(joined.begin(), joined.end());
  neighbour_begin_.assign(vertices_.size() + 1, 0);
  for (const auto& [from, to] : joined) {
    ++neighbour_begin_[at(from) + 1];
    neighbours_.push_back(to);
  }
  for (std::size_t v = 0; v < vertices_.size(); ++v) neighbour_begin_[v + 1] += neighbour_begin_[v];
}

void SurfaceElements::refit(std::span<const Vec3> vertices)
{
  vertices_.assign(vertices.begin(), vertices.end());
  // Children come after their parents.
  for (Index i = count_of(balls_) - 1; i >= 0; --i) {
    ElementBall& ball = balls_[at(i)];
    Box3 box;
    if (ball.end_edge > ball.first_edge) {
      for (Index e = ball.first_edge; e < ball.end_edge; ++e) {
        for (const Index v : edges_[at(e)].ends) box.extend(vertices_[at(v)]);
      }
      ball.centre = box.center();
      ball.radius = 0.5 * box.diagonal().norm();
      continue;
    }
    ball.radius = 0;
    Index child = i + 1;
    for (; child < ball.skip; child = balls_[at(child)].skip) box.extend(balls_[at(child)].centre);
    ball.centre = box.center();
    for (child = i + 1; child < ball.skip; child = balls_[at(child)].skip) {
      const ElementBall& inner = balls_[at(child)];
      ball.radius = std::max(ball.radius, (inner.centre - ball.centre).norm() + inner.radius);
    }
  }
}

void SurfaceElements::add_balls(Index begin, Index end)
{
  const auto point = [&](const SurfaceEdge& e, std::size_t k) -> const Vec3& {
    return vertices_[at(e.ends[k])];
  };
  const auto edge_span = std::span(edges_).subspan(at(begin), at(end - begin));
  Box3 box;
  Box3 middles;
  for (const SurfaceEdge& e : edge_span) {
    box.extend(point(e, 0));
    box.extend(point(e, 1));
    middles.extend(0.5 * (point(e, 0) + point(e, 1)));
  }
  const std::size_t place = balls_.size();
  ElementBall ball;
  ball.centre = box.center();
  for (const SurfaceEdge& e : edge_span) {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
      ball.radius = std::max(ball.radius, (point(e, k) - ball.centre).norm());
  }
  ball.first_edge = ball.end_edge = begin;
  if (end - begin <= kLeafEdges) ball.end_edge = end;
  balls_.push_back(ball);
  if (end - begin > kLeafEdges) {
    // Halves along the longest side.
    Eigen::Index axis = 0;
    middles.sizes().maxCoeff(&axis);
    const Index half = begin + (end - begin) / 2;
    std::nth_element(edges_.begin() + begin, edges_.begin() + half, edges_.begin() + end,
                     [&](const SurfaceEdge& e, const SurfaceEdge& f) {
                       const double x = point(e, 0)[axis] + point(e, 1)[axis];
                       const double y = point(f, 0)[axis] + point(f, 1)[axis];
                       return x != y ? x < y : e.ends < f.ends;
                     });
    add_balls(begin, half);
    add_balls(half, end);
  }
  balls_[place].skip = count_of(balls_);
}

}  // namespace thrum::collision
