// SPDX-License-Identifier: MIT
#include "thrum/sound/contact_damping.h"

#include <algorithm>

namespace thrum::sound {

void add_contact_damping(const PointShapes& shapes, const Vec3& normal, double force, double friction,
                         double gamma, std::span<double> damping)
{
  const double mu = std::min(friction, 1.0);  // above 1 the damping could be negative
  const auto x = shapes.row(0).array();
  const auto y = shapes.row(1).array();
  const auto z = shapes.row(2).array();
  Eigen::Map<Eigen::Array<double, 1, Eigen::Dynamic>>(damping.data(), shapes.cols()) +=
      (gamma * force * mu) * (x * x + y * y + z * z) +
      (gamma * force * (1 - mu)) * (normal.x() * x + normal.y() * y + normal.z() * z).square();
}

double contact_decay(double damping, double omega)
{
  return std::min(damping, omega / 2) / 2;
}

std::array<double, 4> cubic_coefficients(double h, double x)
{
  const double t = x / h;
  const double u = 1 - t;
  return {u * u * (1 + 2 * t), t * t * (3 - 2 * t), h * t * u * u, -h * t * t * u};
}

double cubic(double y0, double y1, double s0, double s1, double h, double x)
{
  const auto [a, b, c, d] = cubic_coefficients(h, x);
  return a * y0 + b * y1 + c * s0 + d * s1;
}

}  // namespace thrum::sound
