// SPDX-License-Identifier: MIT
#include "thrum/rigid/penalty_force.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace thrum::rigid {

namespace {

/// Halvings of the interval of damping ratios.
constexpr int kHalvings = 60;
/// Damping ratios nearer to 1 than this use the limit of (3), e = exp(-2).
constexpr double kNearCritical = 1e-6;

// The larger root of a x^2 + b x + c = 0 with c <= 0 < a.
double positive_root(double a, double b, double c)
{
  const double root = std::sqrt(std::max(0.0, b * b - 4 * a * c));
  return b > 0 ? -2 * c / (b + root) : (root - b) / (2 * a);
}

}  // namespace

double contact_force(const ContactSpring& spring, double d0, double d1, double h)
{
  const double from = std::max(d0, 0.0);
  const double to = std::max(d1, 0.0);
  if (from == 0 && to == 0) return 0;
  // The share of the way on which they touch.
  const double share = d0 >= 0 && d1 >= 0 ? 1 : (to - from) / (d1 - d0);
  return std::max(0.0, 0.5 * spring.stiffness * share * (to + from) + spring.damping * (to - from) / h);
}

// d1 + b f(d0, d1) = free_depth with b = h^2 w / 2. The force grows with d1, so there is one root; in each of
// the cases below (1) is a linear or a quadratic equation for it.
double depth_after(const ContactSpring& spring, double d0, double free_depth, double mobility, double h)
{
  const double b = 0.5 * h * h * mobility;
  const double k = 0.5 * b * spring.stiffness;
  const double c = b * spring.damping / h;
  if (d0 <= 0) {
    if (free_depth <= 0) return free_depth;
    // Touches within the substep: with g = -d0, x (x + g) (1 + c) + k x^2 = free_depth (x + g).
    const double g = -d0;
    return positive_root(1 + c + k, g * (1 + c) - free_depth, -free_depth * g);
  }
  const double inside = (free_depth - (k - c) * d0) / (1 + k + c);
  if (inside >= 0) return k * (inside + d0) + c * (inside - d0) > 0 ? inside : free_depth;
  // Leaves within the substep: with y = -d1 > 0, (y + free_depth + c d0) (y + d0) = k d0^2.
  const double y = positive_root(1, d0 + free_depth + c * d0, (free_depth + c * d0 - k * d0) * d0);
  return k * d0 <= c * (y + d0) ? free_depth : -y;
}

double restitution_of(double damping_ratio)
{
  const double s = damping_ratio;
  if (std::abs(s - 1) < kNearCritical) return std::exp(-2.0);
  if (s < 1) {
    const double phi = std::asin(s);
    return std::exp(-(std::numbers::pi - 2 * phi) * std::tan(phi));
  }
  const double x = std::acosh(s);
  return std::exp(-2 * x / std::tanh(x));
}

namespace {

// (4), its derivative, and until when it goes on.
struct DampedImpact {
  double s;
  double w;  ///< cos phi or sinh x; 0 near the critical damping
  double end;

  explicit DampedImpact(double ratio) : s(ratio)
  {
    const bool is_critical = std::abs(s - 1) < kNearCritical;
    w = is_critical ? 0 : std::sqrt(std::abs(1 - s * s));
    end = is_critical ? 2 : s < 1 ? (std::numbers::pi - 2 * std::asin(s)) / w : 2 * std::acosh(s) / w;
  }
  [[nodiscard]] double depth(double t) const
  {
    return std::exp(-s * t) * (w == 0 ? t : s < 1 ? std::sin(w * t) / w : std::sinh(w * t) / w);
  }
  [[nodiscard]] double speed(double t) const
  {
    const double rate = w == 0 ? 1 : s < 1 ? std::cos(w * t) : std::cosh(w * t);
    return std::exp(-s * t) * rate - s * depth(t);
  }
};

}  // namespace

double impact_frequency(double damping_ratio, double depth, double approach, double spring_speed)
{
  if (!(spring_speed > 0)) return std::max(0.0, approach) / depth;
  // With the depth y and the speed y' of (4): spring_speed = omega depth y and approach = omega depth y'.
  const double wanted = approach / spring_speed;
  const DampedImpact impact(damping_ratio);
  double low = 0;
  double high = impact.end;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (impact.speed(middle) > wanted * impact.depth(middle) ? low : high) = middle;
  }
  const double t = 0.5 * (low + high);
  // The larger of the two gives omega more exactly.
  const double y = impact.depth(t);
  const double rate = impact.speed(t);
  return std::abs(rate) > y ? approach / (depth * rate) : spring_speed / (depth * y);
}

double damping_ratio_for(double restitution, double max_ratio)
{
  double low = 0;
  double high = max_ratio;
  if (restitution_of(max_ratio) >= restitution) return max_ratio;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (restitution_of(middle) > restitution ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace thrum::rigid
