// SPDX-License-Identifier: MIT
#include "thrum/elastic/held_contact.h"

#include <algorithm>
#include <cmath>

#include "thrum/elastic/contact_spring.h"

namespace thrum::elastic {

double HeldContact::potential(double d) const
{
  return d > 0 ? 0.4 * stiffness * d * d * std::sqrt(d) : 0;
}

double HeldContact::static_force(double d) const
{
  return d > 0 ? stiffness * d * std::sqrt(d) : 0;
}

double HeldContact::indentation(double force) const
{
  if (!(force > 0)) return 0;
  const double root = std::cbrt(force / stiffness);
  return root * root;
}

double HeldContact::tangent_stiffness(double d) const
{
  return d > 0 ? 1.5 * stiffness * std::sqrt(d) : 0;
}

double HeldContact::damper(double d) const
{
  return d > 0 ? damping * std::sqrt(std::sqrt(d)) : 0;
}

HeldForce held_force(const HeldContact& contact, double d0, double d1, double damper)
{
  const double k = 0.4 * contact.stiffness;
  double force = 0;
  double slope = 0;
  if (d1 > 0 && d0 > 0) {
    const double a = std::sqrt(d0);
    const double b = std::sqrt(d1);
    const double sum = a * a * a * a + b * (a * a * a + b * (a * a + b * (a + b)));
    const double by_b = a * a * a + b * (2 * a * a + b * (3 * a + 4 * b));
    force = k * sum / (a + b);
    slope = k * (by_b - sum / (a + b)) / ((a + b) * 2 * b);
  } else if (d1 > 0) {
    const double way = d1 - d0;
    const double root = std::sqrt(d1);
    force = k * d1 * d1 * root / way;
    slope = (2.5 * k * d1 * root - force) / way;
  } else if (d0 > 0) {
    const double way = d0 - d1;
    force = k * d0 * d0 * std::sqrt(d0) / way;
    slope = force / way;
  }
  force += damper * (d1 - d0);
  slope += damper;
  if (!(force > 0)) return {};
  return {force, slope};
}

// d1 + compliance F(d1) = d_free has its only root between the d1 of no force and that of a force larger than
// any: Newton's steps, halved where they leave what still holds the root.
double solve_held_force(const HeldContact& contact, double d0, double d_free, double compliance,
                        double damper, double guess)
{
  constexpr int kMaxSteps = 60;
  constexpr double kRounding = 1e-15;
  HeldForce now = held_force(contact, d0, d_free, damper);
  if (now.force == 0 || compliance == 0) return now.force;
  double low = 0;  // of the force
  double high = now.force;
  double force = guess > low && guess < high ? guess : low;
  for (int i = 0; i < kMaxSteps; ++i) {
    now = held_force(contact, d0, d_free - compliance * force, damper);
    const double excess = force - now.force;  // grows with the force
    (excess > 0 ? high : low) = force;
    if (std::abs(excess) <= kRounding * high) break;
    double next = force - excess / (1 + compliance * now.slope);
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (next == force || high - low <= kRounding * high) break;
    force = next;
  }
  return force;
}

double hertz_stiffness(double modulus, double radius)
{
  return 4.0 / 3 * modulus * std::sqrt(radius);
}

double hertz_damping(double restitution, double mass, double stiffness)
{
  return std::sqrt(5 * mass * stiffness) * damping_ratio(restitution);
}

}  // namespace thrum::elastic
