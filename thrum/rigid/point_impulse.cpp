// SPDX-License-Identifier: MIT
#include "thrum/rigid/point_impulse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/error.h"

namespace thrum::rigid {

namespace {

/// A sliding impulse is trusted while friction takes away at most this share of the normal inverse effective
/// mass N.K.N.
constexpr double kMinNormalShare = 0.05;
/// Speeds that differ by less than this share are the same, computed in two ways.
constexpr double kSameSpeed = 1e-9;
/// Newton's method for the multiplier of the friction disc gains two digits and more in each step.
constexpr int kDiscNewtonSteps = 12;
/// Friction this much weaker than what would stop the slip is opposite to it.
constexpr double kNegligibleLimit = 1e-9;
constexpr double kDiscAccuracy = 1e-13;
/// Steps of Newton's method, or of bisection where it would leave its bracket, for a place that slides, and
/// the distance from the cone at which they end, as a share of the friction bound.
constexpr int kSlidingSteps = 60;
constexpr double kSlidingAccuracy = 1e-12;
#ifndef NDEBUG
/// Momentum is kept to this share of what went back and forth.
constexpr double kMomentumRounding = 1e-9;
#endif

// The largest share s in [0, 1] of the way from the frictionless impulse j0 to j at which the impulse adds no
// energy. W(s) = j.(u + K j / 2) is a parabola that opens upwards and W(0) <= 0, so the share is its upper
// root.
//
// [Guendelman03] takes the algebraic laws as they are. With a restitution near 1 and friction they can add
// energy (a known flaw of Newton's restitution); this is the least change that rules it out.
Vec3 limit_energy_gain(const Mat3& K, const Vec3& u, const Vec3& j0, const Vec3& j)
{
  if (work_of(K, u, j) <= 0) return j;
  const Vec3 d = j - j0;
  const double a = 0.5 * d.dot(K * d);
  const double b = d.dot(u + K * j0);
  const double c = std::min(0.0, work_of(K, u, j0));
  if (!(a > 0)) return j0;
  const double s = (-b + std::sqrt(std::max(0.0, b * b - 4 * a * c))) / (2 * a);
  return j0 + std::clamp(s, 0.0, 1.0) * d;
}

// K -= [r] I^-1 [r], written out: half of the products are with zeros.
void add_turning_answer(const Mat3& inverse_inertia, const Vec3& r, Mat3& K)
{
  const double x = r.x();
  const double y = r.y();
  const double z = r.z();
  const auto M = [&](int i, int j) {
    return inverse_inertia(i, j);
  };
  const double xy = z * (x * M(1, 2) + y * M(0, 2) - z * M(0, 1)) - x * y * M(2, 2);
  const double xz = y * (x * M(1, 2) - y * M(0, 2) + z * M(0, 1)) - x * z * M(1, 1);
  const double yz = x * (y * M(0, 2) - x * M(1, 2) + z * M(0, 1)) - y * z * M(0, 0);
  K(0, 0) += z * z * M(1, 1) - 2 * y * z * M(1, 2) + y * y * M(2, 2);
  K(1, 1) += z * z * M(0, 0) - 2 * x * z * M(0, 2) + x * x * M(2, 2);
  K(2, 2) += y * y * M(0, 0) - 2 * x * y * M(0, 1) + x * x * M(1, 1);
  K(0, 1) += xy;
  K(1, 0) += xy;
  K(0, 2) += xz;
  K(2, 0) += xz;
  K(1, 2) += yz;
  K(2, 1) += yz;
}

// Friction against spinning alone, tau = tau n. Of the equations below only the component along n is left:
// n.w' = n.w + (n.S n) tau.
void add_spinning(const SolverBody& a, const SolverBody& b, const ContactPlace& place, const Mat3& K,
                  double max_spinning, double given, PointImpulse& impulse)
{
  const Vec3 An = a.inverse_inertia * place.n;
  const Vec3 Bn = b.inverse_inertia * place.n;
  const Vec3 Ln = -(place.ra.cross(An) + place.rb.cross(Bn));
  const Vec3 hold = impulse.sticks ? Vec3(-(K.inverse() * Ln)) : Vec3(Vec3::Zero());
  const double inverse_effective_mass = place.n.dot(An + Bn) + Ln.dot(hold);
  if (!(inverse_effective_mass > 0)) return;
  const double w = place.n.dot(b.w - a.w) + Ln.dot(impulse.linear);
  double tau = std::clamp(given - w / inverse_effective_mass, -max_spinning, max_spinning) - given;
  // A spin of 1e-199 has no square that is a number.
  const double square = inverse_effective_mass * tau * tau;
  if (!(square > 0)) return;
  const Vec3 leaving = relative_velocity(a, b, place) + K * impulse.linear;
  const double slope = tau * (w + leaving.dot(hold));
  tau *= std::clamp(-slope / square, 0.0, 1.0);
  impulse.angular = tau * place.n;
  impulse.linear += tau * hold;
}

}  // namespace

Vec2 friction_in_disc(const Eigen::Matrix2d& K, const Vec2& b, double limit)
{
  const double size = b.norm();
  if (!(limit > 0) || size == 0) return Vec2::Zero();
  // For c >> K the force is b / c; with a limit of 1e-310 N s, c would not be a number.
  if (limit * K.trace() < kNegligibleLimit * size) return b * (limit / size);
  double c = std::max(0.0, size / limit - K.trace());
  Vec2 f = Vec2::Zero();
  for (int step = 0; step < kDiscNewtonSteps; ++step) {
    const Eigen::Matrix2d inverse = (K + c * Eigen::Matrix2d::Identity()).inverse();
    f = inverse * b;
    const double excess = f.norm() / limit - 1;
    if (!(excess > kDiscAccuracy)) break;
    c += excess * f.squaredNorm() / f.dot(inverse * f);
  }
  const double length = f.norm();
  return length > limit ? Vec2(f * (limit / length)) : f;
}

double work_of(const Mat3& K, const Vec3& u, const Vec3& j)
{
  return j.dot(u + 0.5 * (K * j));
}

Vec3 relative_velocity(const SolverBody& a, const SolverBody& b, const ContactPlace& place)
{
  return b.v + b.w.cross(place.rb) - a.v - a.w.cross(place.ra);
}

Mat3 collision_matrix(const SolverBody& a, const SolverBody& b, const ContactPlace& place)
{
  Mat3 K = (a.inverse_mass + b.inverse_mass) * Mat3::Identity();
  if (a.inverse_mass > 0) add_turning_answer(a.inverse_inertia, place.ra, K);
  if (b.inverse_mass > 0) add_turning_answer(b.inverse_inertia, place.rb, K);
  return K;
}

// Sticking [section 6]: with u' = speed n, the impulse is j = K^-1 (u' - u). It stands when it lies in the
// friction cone |j - (j.n) n| <= mu j.n. Otherwise the place slides along t = u_t / |u_t| and
//
//     j = j_n (n - mu t),        j_n = (speed - n.u) / (n . K (n - mu t)).
//
// Where we leave the paper: when mu is so large that the denominator all but vanishes (the body would be
// wedged in), the normal impulse is that without friction.
PointImpulse solve_impulse(const Mat3& K, const Vec3& u, const Vec3& n, double speed, double mu)
{
  PointImpulse result;
  const double un = n.dot(u);
  const Vec3 Kn = K * n;
  const double nKn = n.dot(Kn);
  const Vec3 j0 = ((speed - un) / nKn) * n;
  // A distant response may ask for more speed than there was: its energy is accounted for by who asks.
  const bool may_gain = speed > (1 + kSameSpeed) * std::abs(un);
  const auto accept = [&](const Vec3& j) {
    result.linear = may_gain ? j : limit_energy_gain(K, u, j0, j);
    result.normal = n.dot(result.linear);
    return result;
  };
  if (mu == 0) return accept(j0);

  const Vec3 j = K.inverse() * (speed * n - u);
  const double jn = n.dot(j);
  if (jn > 0 && (j - jn * n).squaredNorm() <= mu * mu * jn * jn) {
    result.sticks = true;
    return accept(j);
  }
  const Vec3 ut = u - un * n;
  const double slip = ut.norm();
  const Vec3 t = slip > 0 ? Vec3(ut / slip) : Vec3(Vec3::Zero());
  const double inverse_effective_mass = nKn - mu * Kn.dot(t);
  const double normal = inverse_effective_mass > kMinNormalShare * nKn ? (speed - un) / inverse_effective_mass
                                                                       : (speed - un) / nKn;
  return accept(normal * (n - mu * t));
}

namespace {

// A place that slides: the impulse j = l n + f after which n.u' = speed, with f on the cone, |f| = mu l, and
// opposite to the slip that it leaves, u'_t = -c f with c > 0. With T two directions across n, k = T^T K n
// and the normal impulse put into the slip, l = l0 - k.f / N for N = n.K n and l0 = (speed - n.u) / N,
//
//     (S + c I) f = -(T^T u + l0 k),      S = T^T K T - k k^T / N,
//
// where S is positive definite as K is. What is left is one number, c, with |f(c)| = mu l(c). The function
// mu l / |f| - 1 is below zero at c = 0, where the place would stick outside of the cone, and nearly
// straight, so Newton's method takes three or four steps.
struct SlidingImpulse {
  Vec3 impulse = Vec3::Zero();
  bool found = false;
};

SlidingImpulse slide_on_cone(const Mat3& K, const Vec3& u, const Vec3& n, double speed, double mu)
{
  Eigen::Index axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  const Vec3 t1 = n.cross(Vec3(Vec3::Unit(axis))).normalized();
  const Vec3 t2 = n.cross(t1);
  const Vec3 Kn = K * n;
  const double N = n.dot(Kn);
  const double l0 = (speed - n.dot(u)) / N;
  const Vec2 k(t1.dot(Kn), t2.dot(Kn));
  const Vec3 Kt1 = K * t1;
  const double s11 = t1.dot(Kt1) - k[0] * k[0] / N;
  const double s12 = t2.dot(Kt1) - k[0] * k[1] / N;
  const double s22 = t2.dot(K * t2) - k[1] * k[1] / N;
  const Vec2 b = -(Vec2(t1.dot(u), t2.dot(u)) + l0 * k);

  SlidingImpulse result;
  double low = 0;  // here the friction is too large
  double high = std::numeric_limits<double>::infinity();
  double c = 0;
  for (int step = 0; step < kSlidingSteps; ++step) {
    const double d1 = s11 + c;
    const double d2 = s22 + c;
    const double inverse_determinant = 1 / (d1 * d2 - s12 * s12);
    const auto solve = [&](const Vec2& v) {
      return Vec2((d2 * v[0] - s12 * v[1]) * inverse_determinant,
                  (d1 * v[1] - s12 * v[0]) * inverse_determinant);
    };
    const Vec2 f = solve(b);
    const double size = f.norm();
    const double l = l0 - k.dot(f) / N;
    if (!(size > 0)) return result;
    const double share = mu * l / size;
    if (std::abs(share - 1) <= kSlidingAccuracy) {
      result.impulse = l * n + f[0] * t1 + f[1] * t2;
      result.found = true;
      return result;
    }
    (share < 1 ? low : high) = c;
    // f' = -(S + c)^-1 f, |f|' = f.f' / |f|, l' = -k.f' / N
    const Vec2 df = -solve(f);
    const double slope = (-mu * k.dot(df) / N - share * f.dot(df) / size) / size;
    const double next = c + (1 - share) / slope;
    if (next > low && next < high) {
      c = next;
    } else if (std::isfinite(high)) {
      c = 0.5 * (low + high);
    } else {
      c = 2 * c + d1 + d2;  // towards the frictionless impulse
    }
  }
  return result;
}

}  // namespace

// The laws above for the sum of an impulse and of what was given before. The paper tests each impulse by
// itself and never takes one back. Then the corners of a box on a slope, pushed in turn, push more than its
// weight and it hops; with sums the corners settle on the shares that balance it.
PointImpulse solve_accumulated_impulse(const Mat3& K, const Vec3& u, const Vec3& n, double speed, double mu,
                                       const Vec3& given)
{
  const double un = n.dot(u);
  const double before = n.dot(given);
  if (before == 0 && speed >= un) return solve_impulse(K, u, n, speed, mu);
  PointImpulse result;
  const auto accept = [&](const Vec3& sum) {
    result.linear = sum - given;
    result.normal = n.dot(sum) - before;
    return result;
  };
  const Vec3 Kn = K * n;
  const double nKn = n.dot(Kn);
  if (mu == 0) return accept(std::max(0.0, before + (speed - un) / nKn) * n);
  const Vec3 sum = given + K.inverse() * (speed * n - u);
  const double normal = n.dot(sum);
  const Vec3 across = sum - normal * n;
  if (normal > 0 && across.norm() <= mu * normal) {
    result.sticks = true;
    return accept(sum);
  }
  // What separates without any impulse needs none. Otherwise the place slides, also where the sum that sticks
  // would pull: stopping fast slip may separate the bodies by itself, but friction cannot stop it. Such a sum
  // was taken for separation, and rings that slid past each other lost the push that kept them apart.
  const Vec3 free = u - K * given;
  if (n.dot(free) >= speed) return accept(Vec3::Zero());
  // Along the friction that sticking would take, K^-1 slip, boxes left their line by a tenth of their way.
  const SlidingImpulse sliding = slide_on_cone(K, free, n, speed, mu);
  if (sliding.found) return accept(sliding.impulse);
  return accept(((speed - n.dot(free)) / nKn) * n);
}

// Section 9. The relative turn w splits into spinning, (w.n) n, and rolling, the rest. Friction takes away at
// most as much of each as the angular impulses mu_s j_n and mu_r j_n can, never turning the motion round. A
// place that sticks must keep u': an angular impulse tau comes with the linear one j = -K^-1 L tau, and
// together they change
//
//     w' = w + S tau,     S = Ia^-1 + Ib^-1 - L^T K^-1 L,     L = -([ra] Ia^-1 + [rb] Ib^-1).
//
// The paper lowers the angular speeds by mu j_n directly, so that its coefficients depend on the body; as a
// torque per force the coefficient is a length that belongs to the pair of surfaces, as with Coulomb.
void add_rolling_and_spinning(const SolverBody& a, const SolverBody& b, const ContactPlace& place,
                              const Mat3& K, const PlaceFriction& friction, double pressure,
                              const Vec3& given, PointImpulse& impulse)
{
  const double max_rolling = friction.rolling * pressure;
  const double max_spinning = friction.spinning * pressure;
  if (!(max_rolling > 0 || max_spinning > 0) && given.isZero(0)) return;
  if (friction.rolling == 0) {
    add_spinning(a, b, place, K, max_spinning, place.n.dot(given), impulse);
    return;
  }
  const Mat3& Ia = a.inverse_inertia;
  const Mat3& Ib = b.inverse_inertia;
  const Mat3 L = -(base::skew(place.ra) * Ia + base::skew(place.rb) * Ib);
  Mat3 S = Ia + Ib;
  Mat3 hold = Mat3::Zero();
  if (impulse.sticks) {
    hold = -K.inverse() * L;
    S += L.transpose() * hold;
  }
  // The turn that the linear impulse leaves, what would end it, and how much of that friction can give.
  const Vec3 w = b.w - a.w + L.transpose() * impulse.linear;
  const Vec3 wanted = given - S.inverse() * w;
  if (!wanted.allFinite()) return;
  const double about = place.n.dot(wanted);
  Vec3 across = wanted - about * place.n;
  const double length = across.norm();
  if (length > max_rolling) across *= max_rolling / length;
  Vec3 tau = across + std::clamp(about, -max_spinning, max_spinning) * place.n - given;
  // Cut to the bounds, it may point elsewhere, and the linear part works on u' where the place leaves with a
  // speed: go only as far as the energy falls.
  const Vec3 leaving = relative_velocity(a, b, place) + K * impulse.linear;
  const double slope = tau.dot(w) + leaving.dot(hold * tau);
  const double square = tau.dot(S * tau);
  if (!(square > 0)) return;
  tau *= std::clamp(-slope / square, 0.0, 1.0);
  impulse.angular = tau;
  const Vec3 keep = hold * tau;
  impulse.linear += keep;
}

void apply_impulse(SolverBody& a, SolverBody& b, const ContactPlace& place, const PointImpulse& impulse)
{
#ifndef NDEBUG
  const bool both = a.inverse_mass > 0 && b.inverse_mass > 0;
  const Vec3 before = both ? Vec3(a.v / a.inverse_mass + b.v / b.inverse_mass) : Vec3(Vec3::Zero());
  const double scale =
      both ? a.v.norm() / a.inverse_mass + b.v.norm() / b.inverse_mass + impulse.linear.norm() : 0.0;
#endif
  const Vec3& j = impulse.linear;
  a.v -= a.inverse_mass * j;
  a.w -= a.inverse_inertia * (place.ra.cross(j) + impulse.angular);
  b.v += b.inverse_mass * j;
  b.w += b.inverse_inertia * (place.rb.cross(j) + impulse.angular);
#ifndef NDEBUG
  if (both) {
    const Vec3 after = a.v / a.inverse_mass + b.v / b.inverse_mass;
    THRUM_ASSERT((after - before).norm() <= kMomentumRounding * scale);
  }
#endif
}

}  // namespace thrum::rigid
