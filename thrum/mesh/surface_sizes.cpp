// SPDX-License-Identifier: MIT
#include "thrum/mesh/surface_sizes.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <queue>

#include "thrum/base/index.h"
#include "thrum/base/parallel.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::mesh {

namespace {

constexpr double kSharpAngle = 65 * std::numbers::pi / 180;  // of an edge that is no part of a curve [rad]
constexpr double kFlatAngle = 1e-3;                          // of an edge that is not bent [rad]
constexpr double kGradation = 0.4;                           // growth of the length over a distance
// An edge l stands l^2/(8 R) off its curve; edges of up to 4/3 of the length shall be allowed.
constexpr double kDeviationRule = 16.0 / 9 / 8;
constexpr double kMinDeviation = 0.01;    // of the length, where the surface is flat
constexpr double kMaxDeviation = 0.1;     // of the thickness
constexpr double kLeastDeviation = 1e-3;  // of the length, at tips
constexpr double kTriangleShare = 0.45;   // area of a triangle over its squared edge

struct Curvature {
  Mat3 tensor = Mat3::Zero();  // times area
  double area = 0;
};

// The curvature around each vertex: bending angle times length of the edges there, over the area
// [Cohen-Steiner and Morvan 2003]. The sign of the angle lets the noise of a scan cancel.
std::vector<double> curvatures(const TriangleMesh& mesh)
{
  std::vector<Curvature> of_vertex(mesh.vertices.size());
  std::vector<std::uint8_t> is_curved(mesh.triangles.size(), 0);
  const std::vector<EdgeUse> uses = edge_uses(mesh);
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    if (edge.size() != 2) return;
    const bool first = edge[0].forward;
    const Vec3 left = area_vector(mesh, at(edge[first ? 0 : 1].triangle));
    const Vec3 right = area_vector(mesh, at(edge[first ? 1 : 0].triangle));
    const Vec3 along = mesh.vertices[at(edge[0].high)] - mesh.vertices[at(edge[0].low)];
    const double length = along.norm();
    const double angle = std::atan2(left.cross(right).dot(along) / length, left.dot(right));
    if (!(length > 0) || std::abs(angle) > kSharpAngle) return;
    if (std::abs(angle) > kFlatAngle) is_curved[at(edge[0].triangle)] = is_curved[at(edge[1].triangle)] = 1;
    for (const Index v : {edge[0].low, edge[0].high})
      of_vertex[at(v)].tensor += 0.5 * angle / length * along * along.transpose();
  });
  // Flat parts that end at a sharp edge are not part of the curve beyond it.
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    if (is_curved[t] != 0)
      for (const Index v : mesh.triangles[t]) of_vertex[at(v)].area += area_vector(mesh, t).norm() / 6;
  // With its neighbours, so that one irregular triangle does not count as a bend.
  std::vector<Curvature> smooth = of_vertex;
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) {
    for (const auto& [v, w] : {std::pair(edge[0].low, edge[0].high), std::pair(edge[0].high, edge[0].low)}) {
      smooth[at(v)].tensor += of_vertex[at(w)].tensor;
      smooth[at(v)].area += of_vertex[at(w)].area;
    }
  });
  std::vector<double> largest(mesh.vertices.size(), 0);
  for (std::size_t v = 0; v < largest.size(); ++v) {
    if (!(smooth[v].area > 0)) continue;
    Eigen::SelfAdjointEigenSolver<Mat3> solver;
    solver.computeDirect(smooth[v].tensor / smooth[v].area, Eigen::EigenvaluesOnly);
    largest[v] = solver.eigenvalues().cwiseAbs().maxCoeff();
  }
  return largest;
}

// The way from each vertex to the other side of the body: the shortest from the triangles around it.
std::vector<double> thicknesses(const TriangleMesh& mesh)
{
  const Bvh bvh(mesh);
  const double size = bvh.bounds().sizes().maxCoeff();
  std::vector<double> of_triangle(mesh.triangles.size(), size);
  base::parallel_for(mesh.triangles.size(), [&](std::size_t t) {
    const Vec3 area = area_vector(mesh, t);
    if (!(area.norm() > 0)) return;
    const Vec3 inwards = -area.normalized();
    constexpr double kStart = 1e-7;  // below the surface, of the size
    const Vec3 middle = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3;
    const RayHit hit = bvh.first_hit({middle + kStart * size * inwards, inwards});
    if (hit.found()) of_triangle[t] = hit.t;
  });
  std::vector<double> thickness(mesh.vertices.size(), size);
  for (std::size_t t = 0; t < of_triangle.size(); ++t)
    for (const Index v : mesh.triangles[t]) thickness[at(v)] = std::min(thickness[at(v)], of_triangle[t]);
  return thickness;
}

// No length is larger than that of another vertex plus kGradation times the way to it.
void grade(const TriangleMesh& mesh, std::vector<double>& lengths)
{
  std::vector<std::vector<Index>> neighbours(mesh.vertices.size());
  for (const Triangle& t : mesh.triangles)
    for (std::size_t k = 0; k < 3; ++k) neighbours[at(t[k])].push_back(t[(k + 1) % 3]);
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (Index v = 0; v < count_of(lengths); ++v) queue.emplace(lengths[at(v)], v);
  while (!queue.empty()) {
    const auto [length, v] = queue.top();
    queue.pop();
    if (length > lengths[at(v)]) continue;
    for (const Index w : neighbours[at(v)]) {
      const double limit = length + kGradation * (mesh.vertices[at(v)] - mesh.vertices[at(w)]).norm();
      if (limit >= lengths[at(w)]) continue;
      lengths[at(w)] = limit;
      queue.emplace(limit, w);
    }
  }
}

double triangle_count(const TriangleMesh& mesh, const std::vector<double>& lengths)
{
  double count = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    double inverse = 0;
    for (const Index v : mesh.triangles[t]) inverse += 1 / (3 * lengths[at(v)] * lengths[at(v)]);
    count += 0.5 * area_vector(mesh, t).norm() * inverse / kTriangleShare;
  }
  return count;
}

}  // namespace

SurfaceSizes sizes_for_elements(const TriangleMesh& mesh, const SurfaceSizesDesc& desc)
{
  const std::vector<double> curvature = curvatures(mesh);
  const std::vector<double> thickness = thicknesses(mesh);
  const auto lengths_above = [&](double shortest) {
    std::vector<double> lengths;
    for (std::size_t v = 0; v < curvature.size(); ++v) {
      const double rule = curvature[v] * desc.max_length > 1e-6
                              ? desc.curved_length * std::sqrt(thickness[v] / curvature[v])
                              : desc.max_length;
      lengths.push_back(std::clamp(rule, shortest, desc.max_length));
    }
    grade(mesh, lengths);
    return lengths;
  };
  // Tips have neither radius nor thickness: some length is the shortest, such that there are not too many.
  constexpr double kShortest = 0.02;
  constexpr double kStep = 1.25;
  double shortest = kShortest * desc.max_length;
  SurfaceSizes sizes;
  sizes.lengths = lengths_above(shortest);
  while (triangle_count(mesh, sizes.lengths) > desc.max_triangles && shortest < desc.max_length) {
    shortest = std::min(kStep * shortest, desc.max_length);
    sizes.lengths = lengths_above(shortest);
  }
  for (std::size_t v = 0; v < curvature.size(); ++v) {
    const double length = sizes.lengths[v];
    const double off_curve =
        std::max(kMinDeviation * length, kDeviationRule * length * length * curvature[v]);
    sizes.deviations.push_back(
        std::max(kLeastDeviation * length, std::min(off_curve, kMaxDeviation * thickness[v])));
  }
  return sizes;
}

}  // namespace thrum::mesh
