// SPDX-License-Identifier: MIT
#include "thrum/rigid/point_impulse.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace thrum::rigid {
namespace {

constexpr double kRounding = 1e-9;

struct ContactCase {
  SolverBody a;
  SolverBody b;
  ContactPlace place;
};

double uniform(int n)
{
  return n / 1000.0;
}

Vec3 any_vector()
{
  const auto part = [] {
    return uniform(*rc::gen::inRange(-1000, 1001));
  };
  return {part(), part(), part()};
}

// Two bodies of any mass and inertia that approach at a place.
ContactCase any_meeting()
{
  ContactCase m;
  for (SolverBody* body : {&m.a, &m.b}) {
    body->v = any_vector();
    body->w = any_vector();
    body->inverse_mass = uniform(*rc::gen::inRange(10, 3000));
    const Vec3 axis = any_vector() + Vec3(0, 0, 2.5);
    const Mat3 R = Quat::FromTwoVectors(Vec3::UnitZ(), axis).toRotationMatrix();
    const Vec3 diagonal = (any_vector() + Vec3::Constant(1.2)) * body->inverse_mass;
    body->inverse_inertia = R * diagonal.asDiagonal() * R.transpose();
  }
  m.place.ra = any_vector();
  m.place.rb = any_vector();
  m.place.n = (any_vector() + Vec3(0, 0, 2)).normalized();
  const double un = m.place.n.dot(relative_velocity(m.a, m.b, m.place));
  if (un > -0.1) m.b.v -= (un + 0.1) * m.place.n;
  return m;
}

double energy(const SolverBody& body)
{
  return 0.5 * body.v.squaredNorm() / body.inverse_mass +
         0.5 * body.w.dot(body.inverse_inertia.inverse() * body.w);
}

RC_GTEST_PROP(PointImpulse, ReachesTheRequestedSpeedInsideTheFrictionCone, ())
{
  const ContactCase m = any_meeting();
  const double mu = uniform(*rc::gen::inRange(0, 1000));
  const Mat3 K = collision_matrix(m.a, m.b, m.place);
  const Vec3 u = relative_velocity(m.a, m.b, m.place);
  const PointImpulse j = solve_impulse(K, u, m.place.n, 0.0, mu);
  const Vec3 across = j.linear - j.normal * m.place.n;
  RC_ASSERT(across.norm() <= mu * j.normal * (1 + kRounding) + kRounding);
  const Vec3 after = u + K * j.linear;
  if (j.sticks) RC_ASSERT(after.norm() <= kRounding * (1 + u.norm()));
  RC_ASSERT(work_of(K, u, j.linear) <= kRounding);
}

RC_GTEST_PROP(PointImpulse, AddsNoEnergyAndKeepsMomentumWhateverTheRestitution, ())
{
  ContactCase m = any_meeting();
  const double e = uniform(*rc::gen::inRange(0, 1001));
  PlaceFriction friction;
  friction.sliding = uniform(*rc::gen::inRange(0, 2000));
  friction.rolling = uniform(*rc::gen::inRange(0, 300));
  friction.spinning = uniform(*rc::gen::inRange(0, 300));
  const Mat3 K = collision_matrix(m.a, m.b, m.place);
  const Vec3 u = relative_velocity(m.a, m.b, m.place);
  const double before = energy(m.a) + energy(m.b);
  const Vec3 xa = Vec3::Zero();
  const Vec3 xb = m.place.ra - m.place.rb;
  const auto angular = [&] {
    const auto of = [](const SolverBody& body, const Vec3& x) {
      return Vec3(x.cross(body.v / body.inverse_mass) + body.inverse_inertia.inverse() * body.w);
    };
    return Vec3(of(m.a, xa) + of(m.b, xb));
  };
  const auto linear = [&] {
    return Vec3(m.a.v / m.a.inverse_mass + m.b.v / m.b.inverse_mass);
  };
  const Vec3 p = linear();
  const Vec3 L = angular();
  PointImpulse j = solve_impulse(K, u, m.place.n, -e * m.place.n.dot(u), friction.sliding);
  add_rolling_and_spinning(m.a, m.b, m.place, K, friction, j.normal, Vec3::Zero(), j);
  apply_impulse(m.a, m.b, m.place, j);
  RC_ASSERT((linear() - p).norm() <= kRounding * (1 + p.norm()));
  RC_ASSERT((angular() - L).norm() <= kRounding * (1 + L.norm()) * 1e2);
  RC_ASSERT(energy(m.a) + energy(m.b) <= before * (1 + kRounding));
}

TEST(PointImpulse, OfTwoBallsIsThatOfTheClosedForm)
{
  // Head on without friction: j = (1 + e) u m1 m2 / (m1 + m2).
  SolverBody a;
  SolverBody b;
  a.inverse_mass = 1 / 2.0;
  b.inverse_mass = 1 / 3.0;
  a.inverse_inertia = b.inverse_inertia = Mat3::Identity();
  a.v = Vec3(0, 0, 4);
  ContactPlace place;
  place.ra = Vec3(0, 0, 0.5);
  place.rb = Vec3(0, 0, -0.5);
  const Mat3 K = collision_matrix(a, b, place);
  const PointImpulse j = solve_impulse(K, relative_velocity(a, b, place), place.n, 0.8 * 4, 0.0);
  EXPECT_NEAR(j.normal, 1.8 * 4 * 6.0 / 5.0, 1e-12);
}

TEST(PointImpulse, TinySpinStaysFinite)
{
  SolverBody ground;
  SolverBody box;
  box.inverse_mass = 1;
  box.inverse_inertia = Mat3::Identity();
  box.v = {0, 0, -1};
  ContactPlace place;
  place.rb = {0, 0, -1};
  place.n = Vec3::UnitZ();
  const Mat3 K = collision_matrix(ground, box, place);
  for (const double spin : {1e-30, 1e-170, 1e-199, 1e-310}) {
    box.w = {0, 0, spin};
    PointImpulse impulse = solve_impulse(K, relative_velocity(ground, box, place), place.n, 0, 0.5);
    add_rolling_and_spinning(ground, box, place, K, {.sliding = 0.5, .rolling = 0, .spinning = 0.1},
                             impulse.normal, Vec3::Zero(), impulse);
    EXPECT_TRUE(impulse.linear.allFinite() && impulse.angular.allFinite()) << spin;
  }
}

TEST(PointImpulse, RemovesExcessImpulse)
{
  SolverBody ground;
  SolverBody ball;
  ball.inverse_mass = 1;
  ball.inverse_inertia = Mat3::Identity();
  ball.v = Vec3(0, 0, 0.25);
  ContactPlace place;
  const Mat3 K = collision_matrix(ground, ball, place);
  // It was given 1 N s and moves away at 0.25: a quarter is taken back. Given 0.1, no more than that is.
  const PointImpulse some =
      solve_accumulated_impulse(K, relative_velocity(ground, ball, place), place.n, 0.0, 0.5, Vec3(0, 0, 1));
  EXPECT_NEAR(some.normal, -0.25, 1e-12);
  const PointImpulse all = solve_accumulated_impulse(K, relative_velocity(ground, ball, place), place.n, 0.0,
                                                     0.5, Vec3(0, 0, 0.1));
  EXPECT_NEAR(all.normal, -0.1, 1e-12);
}

// From limits that do not matter to limits that are hardly numbers: of that length and opposite to the slip
// that is left, K f - b.
TEST(FrictionInDisc, IsOppositeToTheSlipForEveryLimit)
{
  Eigen::Matrix2d K;
  K << 2.0, 0.7, 0.7, 0.5;
  const Vec2 b(0.3, -1.1);
  const double stops = (K.inverse() * b).norm();
  EXPECT_EQ(friction_in_disc(K, b, 0), Vec2::Zero());
  EXPECT_EQ(friction_in_disc(K, Vec2::Zero(), 1), Vec2::Zero());
  EXPECT_NEAR((friction_in_disc(K, b, 1.01 * stops) - K.inverse() * b).norm(), 0, 1e-12);
  for (double limit = 0.9 * stops; limit > 0; limit *= 0.1) {
    const Vec2 f = friction_in_disc(K, b, limit);
    ASSERT_TRUE(f.allFinite()) << limit;
    if (limit < 1e-140) continue;  // its square is no number
    EXPECT_NEAR(f.norm() / limit, 1, 1e-9) << limit;
    EXPECT_NEAR((f / limit).dot((b - K * f).normalized()), 1, 1e-9) << limit;
  }
}

// Coulomb's law at a place that was given an impulse before, for random bodies, places and motions: the sum
// sticks within the cone, or lies on it opposite to the slip that is left; in both cases the place leaves
// with the speed that was asked for.
RC_GTEST_PROP(AccumulatedImpulse, ObeysCoulombAfterAnyImpulseBefore, ())
{
  const ContactCase m = any_meeting();
  const Vec3& n = m.place.n;
  const Mat3 K = collision_matrix(m.a, m.b, m.place);
  const double mu = uniform(*rc::gen::inRange(10, 1500));
  const double size = uniform(*rc::gen::inRange(10, 10000));
  const double turn = uniform(*rc::gen::inRange(0, 6283));
  Vec3 t = n.unitOrthogonal();
  t = std::cos(turn) * t + std::sin(turn) * n.cross(t);
  const Vec3 given = size * (n + uniform(*rc::gen::inRange(0, 1000)) * mu * t);
  const Vec3 u = relative_velocity(m.a, m.b, m.place);
  const double speed = uniform(*rc::gen::inRange(0, 500));
  const Vec3 sum = given + solve_accumulated_impulse(K, u, n, speed, mu, given).linear;
  const double l = n.dot(sum);
  const Vec3 f = sum - l * n;
  const Vec3 after = u + K * (sum - given);
  const double scale = u.norm() + (K * given).norm() + speed;
  RC_ASSERT(l >= -1e-12 * size);
  RC_ASSERT(f.norm() <= mu * l * (1 + 1e-9) + 1e-12);
  const bool frictionless_leaves = n.dot(u - K * given) >= speed;
  if (frictionless_leaves) return;
  // Sums that stick and pull were taken for separation.
  RC_ASSERT(l > 0);
  // A wedge (friction that pushes the place in harder than it pushes it out) has no such impulse or several.
  const Vec3 slip = after - n.dot(after) * n;
  const Vec3 direction = f.norm() > 0 ? Vec3(f.normalized()) : Vec3(Vec3::Zero());
  if (n.dot(K * (n + mu * direction)) < 0.1 * n.dot(K * n)) return;
  RC_ASSERT(std::abs(n.dot(after) - speed) <= 1e-8 * scale);
  if (slip.norm() <= 1e-8 * scale) return;
  RC_ASSERT(std::abs(f.norm() - mu * l) <= 1e-8 * mu * l);
  RC_ASSERT((slip + slip.norm() * direction).norm() <= 1e-6 * scale);
}

}  // namespace
}  // namespace thrum::rigid
