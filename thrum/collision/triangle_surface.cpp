// SPDX-License-Identifier: MIT
#include "thrum/collision/triangle_surface.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/collision/boyse.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::collision {

namespace {

/// Cells along the longest side of a mesh: of the field that measures its thickness, and at most.
constexpr int kMinCells = 24;
constexpr int kMaxCells = 160;
/// Cells across the thickness of a mesh.
constexpr double kCellsAcross = 10;
/// Two faces are the sides of a wall where the cosine between their normals is less than this: the faces that
/// meet at a sharp edge are not.
constexpr double kOppositeCosine = -0.7;
/// Where the thickness behind a triangle is measured: in its middle, and this share of the way to a corner.
constexpr double kCornerShare = 0.7;
/// Walls thinner than this many cells may lie between the nodes of the field. A tube whose wall of 1/550 of
/// its width held no node was taken for as thick as it is wide, and what was slow for that passed through.
constexpr double kResolvedCells = 2;
/// A ray into the mesh starts this share of its size below the triangle, which it must not hit.
constexpr double kRayStart = 1e-9;

// How far inside the innermost node of the grid lies [m].
double max_depth(const distance::SignedDistanceField& field)
{
  const distance::GridFrame& frame = field.frame();
  double min_value = 0;
  std::vector<Vec3> row(at(frame.cells[2]) + 1);
  std::vector<distance::FieldSample> samples(row.size());
  for (int i = 0; i <= frame.cells[0]; ++i) {
    for (int j = 0; j <= frame.cells[1]; ++j) {
      for (std::size_t k = 0; k < row.size(); ++k) row[k] = frame.node(i, j, static_cast<int>(k));
      field.sample(row, samples);
      for (const distance::FieldSample& s : samples)
        min_value = std::min(min_value, static_cast<double>(s.value));
    }
  }
  return -min_value;
}

struct HalfEdge {
  Index low;
  Index high;
  Index triangle;
  Index k;
  friend bool operator<(const HalfEdge& x, const HalfEdge& y)
  {
    return std::tie(x.low, x.high, x.triangle, x.k) < std::tie(y.low, y.high, y.triangle, y.k);
  }
};

}  // namespace

TriangleSurface::TriangleSurface(const mesh::TriangleMesh& triangles,
                                 std::shared_ptr<const distance::SignedDistanceField> given)
    : distance(triangles, distance::SignMethod::pseudonormal),
      bvh(distance.bvh()),
      elements(triangles),
      field(std::move(given)),
      boyse_(std::make_shared<const BoyseSurface>(triangles))
{
  find_edge_bends();
  find_edges_of_faces();
  measure_thickness();
  if (field) {
    const double wall = thinnest_wall();
    if (thickness < kResolvedCells * field->spacing() && std::isfinite(wall))
      thickness = std::max(thickness, wall);
    min_thickness = std::min(thickness, wall);
  }
  if (field && distance.normals().closed && !elements.has_sharp_edges())
    round = std::make_unique<RoundSurface>(distance, thickness);
}

TriangleSurface::TriangleSurface(const mesh::TriangleMesh& triangles, Deformable desc)
    : distance(triangles, distance::SignMethod::pseudonormal),
      bvh(distance.bvh()),
      elements(triangles, EdgeChoice::all),
      deformable(true),
      thickness(desc.thickness)
{
  find_edge_bends();
  find_edges_of_faces();
}

void TriangleSurface::refit(std::span<const Vec3> vertices)
{
  distance.refit(vertices);
  elements.refit(vertices);
  find_edge_bends();
}

// The least way through the mesh between two sides of a wall, along the normals of its triangles.
double TriangleSurface::thinnest_wall() const
{
  const mesh::TriangleMesh& mesh = bvh.mesh();
  const double size = bvh.bounds().sizes().maxCoeff();
  double thinnest = std::numeric_limits<double>::infinity();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 corners[3] = {mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2)};
    const Vec3 middle = (corners[0] + corners[1] + corners[2]) / 3;
    for (int k = -1; k < 3; ++k) {
      const Vec3 from = k < 0 ? middle : Vec3(middle + kCornerShare * (corners[k] - middle));
      const double inside = kRayStart * size;
      const mesh::RayHit hit =
          bvh.first_hit({from - inside * normals[t], -normals[t], std::min(thinnest, size)});
      if (hit.found() && normals[at(hit.triangle)].dot(normals[t]) < kOppositeCosine)
        thinnest = std::min(thinnest, hit.t + inside);
    }
  }
  return thinnest;
}

// The field's cells are a tenth of the thickness, so that a round tube of radius r is known to within r /
// 100, within bounds that keep the memory of thin sheets and the error of bulky ones small.
void TriangleSurface::measure_thickness()
{
  const mesh::TriangleMesh& mesh = bvh.mesh();
  const bool closed = distance.normals().closed && mesh::signed_volume(mesh) > 0;
  const double size = bvh.bounds().sizes().maxCoeff();
  const bool build = !field && closed && mesh.triangles.size() <= kMaxFieldTriangles;
  if (!field && !build) {
    thickness = mesh::mean_edge_length(mesh);
    return;
  }
  if (build)
    field = std::make_shared<distance::SignedDistanceField>(
        distance, distance::DistanceFieldDesc{.resolution = kMinCells});
  thickness = 2 * max_depth(*field);
  if (!build) return;
  distance::DistanceFieldDesc desc;
  desc.spacing = std::clamp(thickness / kCellsAcross, size / kMaxCells, size / kMinCells);
  field = std::make_shared<distance::SignedDistanceField>(distance, desc);
  thickness = 2 * max_depth(*field);
}

void TriangleSurface::find_edge_bends()
{
  const mesh::TriangleMesh& mesh = bvh.mesh();
  std::vector<HalfEdge> edges;
  normals.clear();
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 area = mesh::area_vector(mesh, t);
    normals.push_back(area.norm() > 0 ? Vec3(area.normalized()) : Vec3(Vec3::UnitZ()));
    for (std::size_t k = 0; k < 3; ++k) {
      const Index i = mesh.triangles[t][k];
      const Index j = mesh.triangles[t][(k + 1) % 3];
      edges.push_back({std::min(i, j), std::max(i, j), static_cast<Index>(t), static_cast<Index>(k)});
    }
  }
  std::sort(edges.begin(), edges.end());
  edge_bends.assign(mesh.triangles.size(), {});
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    const HalfEdge& p = edges[e];
    const HalfEdge& q = edges[e + 1];
    const bool alone = e + 2 >= edges.size() || edges[e + 2].low != p.low || edges[e + 2].high != p.high;
    if (p.low != q.low || p.high != q.high || !alone) continue;
    const std::size_t tp = at(p.triangle);
    const std::size_t tq = at(q.triangle);
    const Vec3 beyond = mesh.corner(tq, (q.k + 2) % 3) - mesh.corner(tp, 0);
    const bool bends_out = normals[tp].dot(beyond) < 0;
    const double cosine = bends_out ? normals[tp].dot(normals[tq]) : 1.0;
    edge_bends[tp][at(p.k)] = {cosine, q.triangle};
    edge_bends[tq][at(q.k)] = {cosine, p.triangle};
    ++e;
  }
}

void TriangleSurface::find_edges_of_faces()
{
  struct Named {
    Index low;
    Index high;
    Index edge;
  };
  const auto before = [](const Named& x, const Named& y) {
    return std::tie(x.low, x.high) < std::tie(y.low, y.high);
  };
  std::vector<Named> named;
  const std::span<const SurfaceEdge> edges = elements.edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [low, high] = std::minmax(edges[e].ends[0], edges[e].ends[1]);
    named.push_back({low, high, static_cast<Index>(e)});
  }
  std::sort(named.begin(), named.end(), before);
  edges_of_faces.assign(bvh.mesh().triangles.size(), {-1, -1, -1});
  for (std::size_t t = 0; t < edges_of_faces.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Triangle& corners = bvh.mesh().triangles[t];
      const auto [low, high] = std::minmax(corners[k], corners[(k + 1) % 3]);
      const Named wanted{low, high, -1};
      const auto it = std::lower_bound(named.begin(), named.end(), wanted, before);
      if (it != named.end() && it->low == low && it->high == high) edges_of_faces[t][k] = it->edge;
    }
  }
}

std::shared_ptr<const BoyseSurface> TriangleSurface::boyse() const
{
  return boyse_ ? boyse_ : std::make_shared<const BoyseSurface>(bvh.mesh());
}

mesh::TriangleMesh triangulate(const model::HeightField& field)
{
  mesh::TriangleMesh mesh;
  for (std::int32_t row = 0; row < field.rows; ++row) {
    for (std::int32_t column = 0; column < field.columns; ++column) {
      const double height = (*field.heights)[at(row * field.columns + column)];
      mesh.vertices.emplace_back(column * field.spacing, row * field.spacing, height);
    }
  }
  for (std::int32_t row = 0; row + 1 < field.rows; ++row) {
    for (std::int32_t column = 0; column + 1 < field.columns; ++column) {
      const Index v = row * field.columns + column;
      mesh.triangles.push_back({v, v + 1, v + 1 + field.columns});
      mesh.triangles.push_back({v, v + 1 + field.columns, v + field.columns});
    }
  }
  return mesh;
}

}  // namespace thrum::collision
