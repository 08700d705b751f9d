// SPDX-License-Identifier: MIT
#include "thrum/sound/spherical_waves.h"

#include <cmath>
#include <numbers>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kRootTolerance = 1e-15;  ///< of the zeros of a polynomial between -1 and 1

// With Q(n, m) = d^m P_n(z) / dz^m, a polynomial in z, and c + i s = (x + i y)^m,
//
//     Y(n, m) = N(n, m) Q(n, m) c,     Y(n, -m) = N(n, m) Q(n, m) s,
//     N(n, m)^2 = (2n + 1)/(4 pi) (n - m)!/(n + m)! (2 for m > 0),
//
// which is a polynomial in x, y and z. Its gradient in space, less the part along the direction, is the
// gradient along the sphere; dQ(n, m)/dz = Q(n, m + 1).
template <class Use>
void visit_harmonics(int order, const Vec3& d, const Use& use)
{
  double c = 1;  // (x + i y)^m, and for m - 1
  double s = 0;
  double c_before = 0;
  double s_before = 0;
  double start = 1;  // Q(m, m) = (2 m - 1)!!
  double factor = 1 / (4 * kPi);
  for (int m = 0; m <= order; ++m) {
    if (m > 0) {
      c_before = c;
      s_before = s;
      const double next = c * d.x() - s * d.y();
      s = c * d.y() + s * d.x();
      c = next;
      start *= 2 * m - 1;
      factor /= 2.0 * m * (2 * m - 1);  // (n - m)!/(n + m)! for n = m
    }
    double Q = start;
    double Q_before = 0;
    double slope = 0;  // dQ/dz
    double slope_before = 0;
    double share = factor;
    for (int n = m; n <= order; ++n) {
      if (n > m) {
        const double next = ((2 * n - 1) * d.z() * Q - (n + m - 1) * Q_before) / (n - m);
        const double next_slope = ((2 * n - 1) * (Q + d.z() * slope) - (n + m - 1) * slope_before) / (n - m);
        Q_before = Q;
        slope_before = slope;
        Q = next;
        slope = next_slope;
        share *= static_cast<double>(n - m) / (n + m);
      }
      const double N = std::sqrt((2 * n + 1) * share * (m > 0 ? 2 : 1));
      const int middle = n * n + n;
      const Vec3 cosine_gradient(N * Q * m * c_before, -N * Q * m * s_before, N * slope * c);
      use(middle + m, N * Q * c, cosine_gradient);
      if (m == 0) continue;
      const Vec3 sine_gradient(N * Q * m * s_before, N * Q * m * c_before, N * slope * s);
      use(middle - m, N * Q * s, sine_gradient);
    }
  }
}

}  // namespace

void harmonics(int order, const Vec3& direction, std::span<double> values)
{
  visit_harmonics(order, direction, [&](int index, double value, const Vec3&) { values[at(index)] = value; });
}

void harmonics(int order, const Vec3& direction, std::span<double> values, std::span<Vec3> gradients)
{
  visit_harmonics(order, direction, [&](int index, double value, const Vec3& gradient) {
    values[at(index)] = value;
    gradients[at(index)] = gradient - direction * direction.dot(gradient);
  });
}

// Upward recurrence: y grows with n, so it is stable, and j is needed only to the accuracy of h.
void outgoing_waves(int order, double x, std::span<Complex> values, std::span<Complex> derivatives)
{
  const Complex wave = std::polar(1.0, -x);
  values[0] = Complex(0, 1) * wave / x;
  Complex before = wave / x;  // h_-1
  for (int n = 0; n <= order; ++n) {
    if (n == 1) values[1] = values[0] / x - before;
    if (n > 1) values[at(n)] = (2.0 * n - 1) / x * values[at(n - 1)] - values[at(n - 2)];
    derivatives[at(n)] = (n == 0 ? before : values[at(n - 1)]) - (n + 1.0) / x * values[at(n)];
  }
}

// Gauss and Legendre in z, even steps round the axis.
SphereRule sphere_rule(int order)
{
  SphereRule rule;
  const int rings = order + 1;
  const int steps = 2 * order + 2;
  for (int i = 0; i < rings; ++i) {
    double z = std::cos(kPi * (i + 0.75) / (rings + 0.5));
    double slope = 0;
    for (int iteration = 0; iteration < 100; ++iteration) {
      double P = 1;
      double before = 0;
      for (int n = 1; n <= rings; ++n) {
        const double next = ((2 * n - 1) * z * P - (n - 1) * before) / n;
        before = P;
        P = next;
      }
      slope = rings * (before - z * P) / (1 - z * z);
      const double change = P / slope;
      z -= change;
      if (std::abs(change) < kRootTolerance) break;
    }
    const double weight = 2 / ((1 - z * z) * slope * slope) * 2 * kPi / steps;
    const double across = std::sqrt(1 - z * z);
    for (int k = 0; k < steps; ++k) {
      const double angle = 2 * kPi * (k + 0.5) / steps;
      rule.directions.emplace_back(across * std::cos(angle), across * std::sin(angle), z);
      rule.weights.push_back(weight);
    }
  }
  return rule;
}

}  // namespace thrum::sound
