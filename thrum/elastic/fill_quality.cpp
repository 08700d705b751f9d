// SPDX-License-Identifier: MIT
#include "thrum/elastic/fill_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "thrum/base/index.h"
#include "thrum/mesh/bvh.h"
#include "thrum/mesh/mesh_topology.h"

namespace thrum::elastic {

QualityLevel level_of(Quality quality)
{
  switch (quality) {
    case Quality::draft:
      return {0.05, 6e3};
    case Quality::normal:
      return {0.01, 25e3};
    case Quality::fine:
      return {0.002, 120e3};
  }
  return {};
}

double worst_error(const model::ModalModel& model)
{
  constexpr double kMaxAudibleFrequency = 20e3;
  double worst = 0;
  for (Eigen::Index k = 0; k < model.frequency_errors.size(); ++k)
    if (k == 0 || model.frequencies[k] < kMaxAudibleFrequency)
      worst = std::max(worst, model.frequency_errors[k]);
  return worst;
}

namespace {

// The displacements of points of `at` by the modes of `of`, three rows a point.
MatX shapes_at_points(const model::ModalModel& of, const model::ModalModel& at_points, std::size_t step)
{
  const std::vector<Vec3>& points = at_points.surface.vertices;
  const bool same = &of == &at_points || of.surface.vertices == points;
  std::optional<mesh::Bvh> bvh;
  if (!same) bvh.emplace(of.surface);
  MatX shapes(3 * static_cast<Eigen::Index>((points.size() + step - 1) / step), of.shapes.cols());
  for (std::size_t v = 0, row = 0; v < points.size(); v += step, row += 3) {
    auto rows = shapes.middleRows<3>(static_cast<Eigen::Index>(row));
    if (same) {
      rows = of.shapes.middleRows<3>(3 * static_cast<Eigen::Index>(v));
      continue;
    }
    const mesh::ClosestPoint closest = bvh->closest_point(points[v]);
    rows.setZero();
    for (int k = 0; k < 3; ++k)
      rows += closest.barycentric[k] *
              of.shapes.middleRows<3>(3 * of.surface.triangles[at(closest.triangle)][at(k)]);
  }
  return shapes;
}

}  // namespace

VecX matched_frequencies(const model::ModalModel& coarse, const model::ModalModel& fine)
{
  constexpr std::size_t kMaxPoints = 1000;
  constexpr double kMinShare = 0.5;  // of a shape, that those of the coarse filling must make up
  if (coarse.shapes.cols() == 0 || fine.shapes.cols() == 0 || coarse.surface.triangles.empty())
    return coarse.frequencies;
  const std::size_t step = 1 + fine.surface.vertices.size() / kMaxPoints;
  MatX from = shapes_at_points(coarse, fine, step);
  const MatX to = shapes_at_points(fine, fine, step);
  const VecX lengths = from.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
  from = from * lengths.cwiseInverse().asDiagonal();
  const MatX parts = from.colPivHouseholderQr().solve(to);
  VecX matched(fine.frequencies.size());
  for (Eigen::Index k = 0; k < matched.size(); ++k) {
    const VecX weights = parts.col(k).cwiseAbs2();
    const double share = (from * parts.col(k)).squaredNorm() / to.col(k).squaredNorm();
    matched[k] = share >= kMinShare ? weights.dot(coarse.frequencies) / weights.sum()
                                    : std::max(fine.frequencies[k], coarse.frequencies.maxCoeff());
  }
  return matched;
}

void cover_changed_order(model::ModalModel& model)
{
  if (model.frequency_errors.size() != model.frequencies.size()) return;
  VecX lowest = model.frequencies.cwiseProduct((1 - model.frequency_errors.array()).matrix());
  std::sort(lowest.begin(), lowest.end());
  for (Eigen::Index k = 0; k < lowest.size(); ++k)
    if (model.frequencies[k] > 0)
      model.frequency_errors[k] = std::max(model.frequency_errors[k], 1 - lowest[k] / model.frequencies[k]);
}

VecX errors_by_difference(const VecX& coarse, const VecX& fine, double share)
{
  constexpr double kSmallestError = 1e-5;
  const Eigen::Index count = std::min(coarse.size(), fine.size());
  VecX errors = VecX::Constant(fine.size(), 0);
  double largest = kSmallestError;
  for (Eigen::Index k = 0; k < count; ++k) {
    errors[k] = std::max(kSmallestError, share * std::abs(coarse[k] / fine[k] - 1));
    largest = std::max(largest, errors[k]);
  }
  for (Eigen::Index k = count; k < fine.size(); ++k) errors[k] = largest;
  return errors;
}

bool has_notches(const mesh::TriangleMesh& surface)
{
  constexpr double kSharp = std::numbers::pi / 6;
  const auto normal = [&](const Triangle& t) -> Vec3 {
    return (surface.vertices[at(t[1])] - surface.vertices[at(t[0])])
        .cross(surface.vertices[at(t[2])] - surface.vertices[at(t[0])])
        .normalized();
  };
  bool found = false;
  mesh::for_each_edge(mesh::edge_uses(surface), [&](std::span<const mesh::EdgeUse> uses) {
    if (found || uses.size() != 2) return;
    const Triangle& first = surface.triangles[at(uses[0].triangle)];
    const Triangle& second = surface.triangles[at(uses[1].triangle)];
    const Vec3 n = normal(first);
    if (n.dot(normal(second)) > std::cos(kSharp)) return;
    for (const Index v : second)
      if (v != uses[0].low && v != uses[0].high)
        found = n.dot(surface.vertices[at(v)] - surface.vertices[at(uses[0].low)]) > 0;
  });
  return found;
}

VecX convergence_orders(const VecX& quadratic, const VecX& cubic, const VecX& other_cubic, double notch_order)
{
  constexpr double kSmoothOrder = 1.25;
  // The gain by the degree over the gain by the number: from the first to the second the order rises.
  constexpr double kNotch = 4.5;
  constexpr double kSmooth = 6.5;
  VecX orders = VecX::Constant(cubic.size(), notch_order);
  const Eigen::Index count = std::min({quadratic.size(), cubic.size(), other_cubic.size()});
  for (Eigen::Index k = 0; k < count; ++k) {
    const double by_degree = std::abs(quadratic[k] - cubic[k]);
    const double by_number = std::abs(other_cubic[k] - cubic[k]);
    const double smooth =
        std::clamp((by_degree - kNotch * by_number) / ((kSmooth - kNotch) * by_number), 0.0, 1.0);
    orders[k] = by_number > 0 ? notch_order + smooth * (kSmoothOrder - notch_order) : kSmoothOrder;
  }
  return orders;
}

VecX errors_by_order(const VecX& coarse, const VecX& fine, double ratio, const VecX& orders)
{
  constexpr double kMargin = 1.25;
  VecX errors = errors_by_difference(coarse, fine, kMargin);
  double largest = 0;
  for (Eigen::Index k = 0; k < errors.size(); ++k) {
    errors[k] /= std::pow(ratio, orders[std::min(k, orders.size() - 1)]) - 1;
    largest = std::max(largest, errors[k]);
    if (k >= coarse.size()) errors[k] = largest;
  }
  return errors;
}

}  // namespace thrum::elastic
