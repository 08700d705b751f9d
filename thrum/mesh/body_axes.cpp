// SPDX-License-Identifier: MIT
#include "thrum/mesh/body_axes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::mesh {

namespace {

// Second moments this close, relative to the largest, count as equal, and third moments below this share of
// the spread count as zero: those of a body that is symmetric but for rounding.
constexpr double kEqualMoments = 1e-6;

struct SurfaceMoments {
  double area = 0;              // [m^2]
  Vec3 centre = Vec3::Zero();   // [m]
  Mat3 squares = Mat3::Zero();  // integral of (x - centre) (x - centre)^T [m^4]
};

SurfaceMoments surface_moments(const TriangleMesh& mesh)
{
  SurfaceMoments m;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const double a = 0.5 * area_vector(mesh, t).norm();
    m.area += a;
    m.centre += a / 3 * (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2));
  }
  if (!(m.area > 0)) return m;
  m.centre /= m.area;
  // Over a triangle with corners p_i the integral of x x^T is A/12 (sum p_i p_i^T + s s^T), s = sum p_i.
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const double a = 0.5 * area_vector(mesh, t).norm();
    Vec3 sum = Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      const Vec3 p = mesh.corner(t, k) - m.centre;
      sum += p;
      m.squares += a / 12 * p * p.transpose();
    }
    m.squares += a / 12 * sum * sum.transpose();
  }
  return m;
}

// The integral of (axis . (x - centre))^3 [m^5]: over a triangle A/10 times the sum of all products of three
// of the values at its corners.
double third_moment(const TriangleMesh& mesh, const SurfaceMoments& m, const Vec3& axis)
{
  double total = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const double a = axis.dot(mesh.corner(t, 0) - m.centre);
    const double b = axis.dot(mesh.corner(t, 1) - m.centre);
    const double c = axis.dot(mesh.corner(t, 2) - m.centre);
    const double products = a * a * (a + b + c) + b * b * (b + a + c) + c * c * (c + a + b) + a * b * c;
    total += 0.05 * area_vector(mesh, t).norm() * products;
  }
  return total;
}

// The component across `axis` (zero: none) of the way to the vertex where it is largest.
Vec3 farthest_from(const TriangleMesh& mesh, const Vec3& centre, const Vec3& axis)
{
  Vec3 farthest = Vec3::Zero();
  for (const Triangle& t : mesh.triangles)
    for (const Index v : t) {
      const Vec3 way = mesh.vertices[at(v)] - centre;
      const Vec3 across = way - axis.dot(way) * axis;
      if (across.squaredNorm() > (1 + kEqualMoments) * farthest.squaredNorm()) farthest = across;
    }
  return farthest;
}

}  // namespace

Mat3 ordered_axes(const TriangleMesh& mesh, const Mat3& axes)
{
  const SurfaceMoments m = surface_moments(mesh);
  std::array<double, 3> second{};
  for (int a = 0; a < 3; ++a) second[at(a)] = axes.col(a).dot(m.squares * axes.col(a));
  const double largest = *std::max_element(second.begin(), second.end());
  std::array<int, 3> order = {0, 1, 2};
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return second[at(a)] > second[at(b)] + kEqualMoments * largest; });
  Mat3 result;
  int free_axis = -1;  // whose direction may be chosen
  for (int a = 0; a < 3; ++a) {
    result.col(a) = axes.col(order[at(a)]);
    const double third = third_moment(mesh, m, result.col(a));
    // The spread along the axis to the third power, times the area.
    const double scale = m.area > 0 ? std::pow(second[at(order[at(a)])], 1.5) / std::sqrt(m.area) : 0;
    if (third < -kEqualMoments * scale) result.col(a) *= -1;
    if (std::abs(third) <= kEqualMoments * scale) free_axis = a;
  }
  if (result.determinant() < 0) result.col(free_axis >= 0 ? free_axis : 2) *= -1;
  return result;
}

Mat3 body_axes(const TriangleMesh& mesh)
{
  const SurfaceMoments m = surface_moments(mesh);
  const Eigen::SelfAdjointEigenSolver<Mat3> solver(m.squares);
  const Vec3 moments = solver.eigenvalues();  // ascending
  Mat3 axes = solver.eigenvectors();
  const double close = kEqualMoments * moments[2];
  const bool low = moments[1] - moments[0] <= close;
  const bool high = moments[2] - moments[1] <= close;
  if (low && high) axes.col(0) = farthest_from(mesh, m.centre, Vec3::Zero()).normalized();
  if (low || high) {
    const Eigen::Index unique = low && !high ? 2 : 0;
    const Vec3 axis = axes.col(unique);
    Vec3 across = farthest_from(mesh, m.centre, axis);
    if (!(across.norm() > 0)) across = axis.unitOrthogonal();
    axes.col(0) = axis;
    axes.col(1) = across.normalized();
    axes.col(2) = axes.col(0).cross(axes.col(1));
  }
  return ordered_axes(mesh, axes);
}

}  // namespace thrum::mesh
