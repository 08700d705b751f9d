// SPDX-License-Identifier: MIT
#include "thrum/distance/heat_geodesics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/distance/geodesic_polish.h"
#include "thrum/distance/heat_flow.h"
#include "thrum/distance/intrinsic_triangulation.h"
#include "thrum/distance/surface_laplacian.h"
#include "thrum/distance/surface_refinement.h"

namespace thrum::distance {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A barycentric weight within this of 1 puts the source on the vertex.
constexpr double kOnVertex = 1e-9;

/// Allowed error of the caller's barycentric weights: below 0, and of the sum from 1.
constexpr double kBarycentricSlack = 1e-6;

/// Number of vertex rings around the source with straight-line distances, and the first ring that is used to
/// determine the constant.
constexpr Index kNearRings = 3;
constexpr Index kCalibrationRing = 2;

/// Negligible compared with a vertex of an outer ring.
constexpr double kInnerRingWeight = 1e-6;

// A vertex whose distance to a source is known before anything is solved.
struct Seed {
  Index vertex;
  double distance;  // [m]
  double weight;    // of the source's heat
};

}  // namespace

struct HeatGeodesics::Parts {
  HeatGeodesicsDesc desc;
  Info info;
  mesh::TriangleMesh surface;  // after refinement
  Index input_triangles = 0;
  std::optional<RefinedSurface> refined;
  IntrinsicTriangulation triangulation;
  VertexTriangles around;
  std::vector<Index> component;
  std::vector<Index> triangle_at;  // some triangle of the input at each of its vertices, or -1
  HeatFlow flow;

  [[nodiscard]] mesh::SurfacePoint locate(const mesh::SurfacePoint& point) const;
  [[nodiscard]] std::vector<Seed> seeds_at(const mesh::SurfacePoint& located) const;
  [[nodiscard]] std::vector<double> shifted(const VecX& potential, const std::vector<NearVertex>& near,
                                            const std::vector<double>& known) const;
};

HeatGeodesics::HeatGeodesics(const mesh::TriangleMesh& mesh, const HeatGeodesicsDesc& desc)
    : parts_(std::make_unique<Parts>())
{
  Parts& p = *parts_;
  p.desc = desc;
  if (!(desc.time_factor > 0))
    throw Error(
        fmt::format("The time factor of the heat method is {}; it must be positive.", desc.time_factor));
  if (mesh.triangles.empty())
    throw Error("The mesh has no triangles: there is no surface to measure distances on.");
  check_indices(mesh);
  p.input_triangles = count_of(mesh.triangles);
  p.triangle_at.assign(mesh.vertices.size(), -1);
  for (std::size_t t = mesh.triangles.size(); t-- > 0;)
    for (const Index v : mesh.triangles[t]) p.triangle_at[at(v)] = static_cast<Index>(t);

  if (desc.max_edge_length > 0) {
    p.refined = split_long_edges(mesh, desc.max_edge_length);
    p.surface = p.refined->mesh;
  } else {
    p.surface = mesh;
  }
  p.triangulation = intrinsic_triangulation(p.surface);
  if (p.triangulation.triangle_count() == 0)
    throw Error(
        "Every triangle of the mesh uses a vertex twice: there is no surface to measure distances on.");
  if (desc.intrinsic_delaunay) p.info.flips = flip_to_delaunay(p.triangulation).flips;
  p.around = vertex_triangles(p.triangulation);
  p.component = vertex_components(p.triangulation);

  p.info.vertices = p.triangulation.vertex_count;
  p.info.triangles = p.triangulation.triangle_count();
  p.info.components = *std::max_element(p.component.begin(), p.component.end()) + 1;
  p.info.shared_edges = p.triangulation.shared_edges;
  p.info.open = std::find(p.triangulation.vertex_is_open.begin(), p.triangulation.vertex_is_open.end(), 1) !=
                p.triangulation.vertex_is_open.end();
  p.info.added_length = p.triangulation.added_length;
  const auto& lengths = p.triangulation.lengths;
  p.info.mean_edge =
      std::accumulate(lengths.begin(), lengths.end(), 0.0) / static_cast<double>(lengths.size());
  p.flow = HeatFlow(p.triangulation, p.around, p.component, p.surface.vertices, p.info.mean_edge, desc);
  p.info.flow_length = p.flow.length();
  p.info.factor_entries = p.flow.factor_entries();
  p.info.backend = p.flow.backend();
}

HeatGeodesics::~HeatGeodesics() = default;
HeatGeodesics::HeatGeodesics(HeatGeodesics&&) noexcept = default;
HeatGeodesics& HeatGeodesics::operator=(HeatGeodesics&&) noexcept = default;

const HeatGeodesics::Info& HeatGeodesics::info() const
{
  return parts_->info;
}

mesh::SurfacePoint HeatGeodesics::Parts::locate(const mesh::SurfacePoint& point) const
{
  const Vec3& b = point.barycentric;
  if (point.triangle < 0 || point.triangle >= input_triangles) {
    throw Error(fmt::format("A surface point names triangle {}; the mesh has triangles 0 to {}.",
                            point.triangle, input_triangles - 1));
  }
  if (!b.allFinite() || b.minCoeff() < -kBarycentricSlack || std::abs(b.sum() - 1) > kBarycentricSlack) {
    throw Error(fmt::format(
        "A surface point has barycentric coordinates ({}, {}, {}); expected none negative and sum 1.", b[0],
        b[1], b[2]));
  }
  mesh::SurfacePoint clean{point.triangle, b.cwiseMax(0)};
  clean.barycentric /= clean.barycentric.sum();
  return refined ? refined->locate(clean) : clean;
}

// The corners of the source's triangle are connected to it by a straight line. A source on a vertex is that
// vertex.
std::vector<Seed> HeatGeodesics::Parts::seeds_at(const mesh::SurfacePoint& located) const
{
  std::vector<Seed> seeds;
  const Triangle& triangle = surface.triangles[at(located.triangle)];
  for (int k = 0; k < 3; ++k)
    if (located.barycentric[k] > 1 - kOnVertex) return {{triangle[at(k)], 0, 1}};
  const Vec3 source = position(surface, located);
  for (int k = 0; k < 3; ++k) {
    const Index v = triangle[at(k)];
    seeds.push_back({v, (surface.vertices[at(v)] - source).norm(), located.barycentric[k]});
  }
  return seeds;
}

// phi is known up to a constant in each component, and rounded off at the source. The constant is chosen so
// that phi equals on average the straight distances `known` of the outer rings around the source. [Crane13]
// sets the smallest value to zero, which is off by about 0.3 mean edges.
std::vector<double> HeatGeodesics::Parts::shifted(const VecX& potential, const std::vector<NearVertex>& near,
                                                  const std::vector<double>& known) const
{
  std::vector<double> constant(at(info.components), 0);
  std::vector<double> weight(at(info.components), 0);
  for (const NearVertex& v : near) {
    // Inner rings are used only where there are no others.
    const double w = v.ring >= kCalibrationRing ? 1 : kInnerRingWeight;
    const auto c = at(component[at(v.vertex)]);
    constant[c] += w * (potential[v.vertex] - known[at(v.vertex)]);
    weight[c] += w;
  }
  std::vector<double> distance(at(info.vertices), kInfinity);
  for (Index v = 0; v < info.vertices; ++v) {
    if (component[at(v)] < 0) continue;
    const auto c = at(component[at(v)]);
    if (weight[c] > 0) distance[at(v)] = std::max(0.0, potential[v] - constant[c] / weight[c]);
  }
  return distance;
}

GeodesicField HeatGeodesics::distance(std::span<const mesh::SurfacePoint> sources) const
{
  if (sources.empty()) throw Error("A geodesic distance needs at least one source.");
  const Parts& p = *parts_;
  GeodesicField field;
  std::vector<Seed> seeds;
  for (const mesh::SurfacePoint& source : sources) {
    field.sources.push_back(p.locate(source));
    const std::vector<Seed> here = p.seeds_at(field.sources.back());
    seeds.insert(seeds.end(), here.begin(), here.end());
  }
  VecX heat_source = VecX::Zero(p.info.vertices);
  for (const Seed& seed : seeds) heat_source[seed.vertex] += seed.weight;
  const VecX potential = p.flow.potential(std::move(heat_source));

  // A seed's straight line is exact, or at least a path; from the seeds it spreads over the rings around
  // them.
  std::vector<double> known(at(p.info.vertices), kInfinity);
  std::vector<Index> seed_vertices;
  for (const Seed& seed : seeds) {
    known[at(seed.vertex)] = std::min(known[at(seed.vertex)], seed.distance);
    seed_vertices.push_back(seed.vertex);
  }
  const std::vector<NearVertex> near =
      fill_near_distances(p.triangulation, p.around, seed_vertices, kNearRings, known);
  field.vertex_distance = p.shifted(potential, near, known);
  for (const NearVertex& v : near)
    if (v.ring < kCalibrationRing) field.vertex_distance[at(v.vertex)] = known[at(v.vertex)];
  if (p.desc.polish) polish_distances(p.triangulation, p.around, known, field.vertex_distance);
  return field;
}

GeodesicField HeatGeodesics::distance_from_vertex(Index vertex) const
{
  const Parts& p = *parts_;
  if (vertex < 0 || at(vertex) >= p.triangle_at.size()) {
    throw Error(fmt::format("Vertex {} cannot be a source: the mesh has vertices 0 to {}.", vertex,
                            p.triangle_at.size() - 1));
  }
  const Index t = p.triangle_at[at(vertex)];
  if (t < 0) throw Error(fmt::format("Vertex {} cannot be a source: no triangle uses it.", vertex));
  mesh::SurfacePoint source{t, Vec3::Zero()};
  const RefinedSurface* refined = p.refined ? &*p.refined : nullptr;
  // Some corner of the input triangle is the vertex; the vertices of the input come first after refinement
  // too.
  const Index child = refined ? refined->first_child[at(t)] : t;
  const Index children_end = refined ? refined->first_child[at(t) + 1] : t + 1;
  for (Index s = child; s < children_end; ++s) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (p.surface.triangles[at(s)][k] != vertex) continue;
      source.barycentric = refined ? refined->corners[at(s)][k] : Vec3(Vec3::Unit(k));
      return distance(source);
    }
  }
  throw Error(fmt::format("Vertex {} cannot be a source: no triangle uses it.", vertex));
}

namespace {

// Straight distance from x in one triangle to y in a triangle that shares an edge with it, unfolded over the
// edge. Where the straight line misses the edge the path goes through its nearer end.
double distance_over_edge(const Vec3& from, const Vec3& to, const Vec3& x, const Vec3& y)
{
  const double length = (to - from).norm();
  const Vec3 axis = (to - from) / length;
  const double ax = axis.dot(x - from);
  const double ay = axis.dot(y - from);
  const double hx = (x - from - ax * axis).norm();
  const double hy = (y - from - ay * axis).norm();
  const double crossing = hx + hy > 0 ? ax + (ay - ax) * hx / (hx + hy) : ax;
  const double end = std::clamp(crossing, 0.0, length);
  return std::hypot(ax - end, hx) + std::hypot(ay - end, hy);
}

}  // namespace

double HeatGeodesics::evaluate(const GeodesicField& field, const mesh::SurfacePoint& point) const
{
  const Parts& p = *parts_;
  const mesh::SurfacePoint located = p.locate(point);
  const Triangle& triangle = p.surface.triangles[at(located.triangle)];
  const Vec3 x = position(p.surface, located);
  double value = 0;
  for (int k = 0; k < 3; ++k) {
    const double weight = located.barycentric[k];
    if (weight > 0) value += weight * field.vertex_distance[at(triangle[at(k)])];
  }
  double straight = kInfinity;
  for (const mesh::SurfacePoint& source : field.sources) {
    const Vec3 y = position(p.surface, source);
    const Triangle& other = p.surface.triangles[at(source.triangle)];
    std::array<Index, 3> common{};
    std::size_t count = 0;
    for (const Index v : triangle)
      if (std::find(other.begin(), other.end(), v) != other.end()) common[count++] = v;
    if (count == 3) straight = std::min(straight, (x - y).norm());
    if (count == 2 && common[0] != common[1]) {
      const Vec3& from = p.surface.vertices[at(common[0])];
      const Vec3& to = p.surface.vertices[at(common[1])];
      if (from != to) straight = std::min(straight, distance_over_edge(from, to, x, y));
    }
  }
  // A corner at distance zero is a source.
  for (const Index v : triangle)
    if (field.vertex_distance[at(v)] == 0)
      straight = std::min(straight, (x - p.surface.vertices[at(v)]).norm());
  return straight < kInfinity && field.sources.size() == 1 ? straight : std::min(value, straight);
}

std::vector<double> geodesic_distance(const mesh::TriangleMesh& mesh, const mesh::SurfacePoint& source,
                                      const HeatGeodesicsDesc& desc)
{
  const HeatGeodesics geodesics(mesh, desc);
  std::vector<double> distance = geodesics.distance(source).vertex_distance;
  distance.resize(mesh.vertices.size());
  return distance;
}

}  // namespace thrum::distance
