// SPDX-License-Identifier: MIT
#include "thrum/distance/heat_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"

namespace thrum::distance {

namespace {

/// Heat falls by a factor e per flow length. Beyond e^-600 a double would underflow and the direction be
/// lost.
constexpr double kMaxDecay = 600;

// The largest decay exponent between two vertices, bounded by twice that along a breadth-first tree. Over an
// edge of length l the discrete heat u - t u'' = 0 falls by exp(-acosh(1 + l^2 / 2 t)), which is l / sqrt(t)
// for short edges.
double max_decay(const IntrinsicTriangulation& m, const VertexTriangles& around, double time)
{
  std::vector<double> decay(at(m.vertex_count), -1);
  std::vector<Index> queue;
  double max_value = 0;
  for (Index seed = 0; seed < m.vertex_count; ++seed) {
    if (decay[at(seed)] >= 0) continue;
    decay[at(seed)] = 0;
    queue.assign(1, seed);
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const Index v = queue[head];
      for (const Index h : around.edges_from(v)) {
        const Index w = m.corners[at(h % 3 == 2 ? h - 2 : h + 1)];
        if (decay[at(w)] >= 0) continue;
        const double l = m.lengths[at(h)];
        decay[at(w)] = decay[at(v)] + std::acosh(1 + l * l / (2 * time));
        max_value = std::max(max_value, decay[at(w)]);
        queue.push_back(w);
      }
    }
  }
  return 2 * max_value;
}

void require(const numerics::FactorisationResult& result, const char* what)
{
  if (result.ok()) return;
  throw Error(fmt::format(
      "The {} matrix of the surface cannot be factored ({} at vertex {}). Weld and repair the mesh, or "
      "halve its long edges (max_edge_length).",
      what, to_string(result.status), result.pivot));
}

}  // namespace

std::vector<HeatFlow::Element> HeatFlow::elements_of(const IntrinsicTriangulation& m)
{
  std::vector<Element> elements(at(m.triangle_count()));
  for (Index t = 0; t < m.triangle_count(); ++t) {
    const double base = m.lengths[at(3 * t)];
    // Edge 0 is a-b, edge 2 is c-a; cot of the angle at b is opposite to edge 2, at a opposite to edge 1. The
    // height over a-b divides it in the ratio of the two.
    const double sum = m.cotangents[at(3 * t + 1)] + m.cotangents[at(3 * t + 2)];
    const double y = base / sum;
    elements[at(t)] = {m.corners[at(3 * t)],
                       m.corners[at(3 * t + 1)],
                       m.corners[at(3 * t + 2)],
                       base,
                       y * m.cotangents[at(3 * t + 1)],
                       y};
  }
  return elements;
}

HeatFlow::HeatFlow(const IntrinsicTriangulation& triangulation, const VertexTriangles& around,
                   const std::vector<Index>& component, const std::vector<Vec3>& positions, double mean_edge,
                   const HeatGeodesicsDesc& desc)
    : boundary_(desc.boundary), is_open_(triangulation.vertex_is_open), elements_(elements_of(triangulation))
{
  const SurfaceLaplacian laplacian = surface_laplacian(triangulation);
  double time = desc.time_factor * mean_edge * mean_edge;
  const double decay = max_decay(triangulation, around, time);
  if (decay > kMaxDecay) time *= (decay / kMaxDecay) * (decay / kMaxDecay);
  length_ = std::sqrt(time);

  // All matrices have one pattern: it is ordered and analysed once.
  const numerics::FactorisationDesc factorisation{
      .backend = desc.backend,
      .ordering = numerics::FillOrdering::given,
      .permutation = dissection_order(positions, triangulation, around)};
  require(insulated_.analyse(laplacian.stiffness, factorisation), "heat flow");
  poisson_ = insulated_.same_pattern();
  const bool open = std::find(is_open_.begin(), is_open_.end(), 1) != is_open_.end();
  const bool cools = open && boundary_ != HeatBoundary::insulated;
  if (cools) cooled_ = insulated_.same_pattern();

  const auto result = insulated_.refactor(laplacian.heat_matrix(time));
  require(result, "heat flow");
  factor_entries_ = result.factor_entries;
  if (cools) require(cooled_.refactor(laplacian.cooled_heat_matrix(time, is_open_)), "heat flow");
  require(poisson_.refactor(laplacian.pinned_stiffness(component)), "Poisson");
}

VecX HeatFlow::potential(VecX source) const
{
  VecX phi = divergence_of_directions(heat(std::move(source)));
  poisson_.solve(phi);
  return phi;
}

// Equation (1). Averaged boundaries take the mean of the flows with insulated and with cooled open edges.
VecX HeatFlow::heat(VecX source) const
{
  if (!cooled_.has_factor()) {
    insulated_.solve(source);
    return source;
  }
  VecX u = source;
  for (std::size_t v = 0; v < is_open_.size(); ++v)
    if (is_open_[v]) u[v] = 0;
  cooled_.solve(u);
  if (boundary_ == HeatBoundary::cooled) return u;
  insulated_.solve(source);
  return 0.5 * (source + u);
}

// Equations (2) and (3). In the element's plane, 2 A grad u = (y (u_b - u_a), base (u_c - u_a) - x (u_b -
// u_a)), and A grad psi_b = (y, -x) / 2, A grad psi_c = (0, base) / 2. Only the direction of grad u counts,
// so no division by A is needed. u spans hundreds of powers of ten: it is scaled before it is squared.
VecX HeatFlow::divergence_of_directions(const VecX& u) const
{
  VecX divergence = VecX::Zero(u.size());
  for (const Element& e : elements_) {
    double b = u[e.b] - u[e.a];
    double c = u[e.c] - u[e.a];
    const double size = std::max(std::abs(b), std::abs(c));
    if (!(size > std::numeric_limits<double>::min())) continue;
    b /= size;
    c /= size;
    const double gx = e.y * b;
    const double gy = e.base * c - e.x * b;
    const double scale = -0.5 / std::sqrt(gx * gx + gy * gy);
    const double at_b = scale * (e.y * gx - e.x * gy);
    const double at_c = scale * e.base * gy;
    divergence[e.a] -= at_b + at_c;
    divergence[e.b] += at_b;
    divergence[e.c] += at_c;
  }
  return divergence;
}

}  // namespace thrum::distance
