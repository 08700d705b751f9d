// SPDX-License-Identifier: MIT
// The impact of [Forgue91, sec. 3] against the closed-form impulse of [Lecture13], conservation laws, and its
// own equations.
#include "thrum/rigid/impact_dynamics.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <random>

#include "thrum/base/error.h"

namespace thrum::rigid {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vec3 in_cube(double half) { return {in(-half, half), in(-half, half), in(-half, half)}; }
  Quat rotation() { return Quat(Eigen::AngleAxisd(in(0, 3), in_cube(1).normalized())); }
  /// A body whose inertia is that of a box, turned at will.
  ImpactBody body()
  {
    ImpactBody b;
    b.mass = std::exp(in(-3, 3));
    const Vec3 side(in(0.1, 1), in(0.1, 1), in(0.1, 1));
    const Vec3 s = side.cwiseProduct(side);
    const Mat3 R = rotation().toRotationMatrix();
    const Vec3 inertia = b.mass / 12 * Vec3(s.y() + s.z(), s.z() + s.x(), s.x() + s.y());
    b.inertia = R * inertia.asDiagonal() * R.transpose();
    b.arm = in_cube(0.5);
    b.velocity = in_cube(3);
    b.spin = in_cube(10);
    return b;
  }

 private:
  std::mt19937 engine_;
};

double kinetic_energy(const ImpactBody& body, const Vec3& v, const Vec3& w)
{
  return body.fixed ? 0 : 0.5 * body.mass * v.squaredNorm() + 0.5 * w.dot(body.inertia * w);
}

double energy_change(const ImpactBody& a, const ImpactBody& b, const ImpactResult& r)
{
  return kinetic_energy(a, r.velocity_a, r.spin_a) - kinetic_energy(a, a.velocity, a.spin) +
         kinetic_energy(b, r.velocity_b, r.spin_b) - kinetic_energy(b, b.velocity, b.spin);
}

Vec3 velocity_after(const ImpactBody& a, const ImpactBody& b, const ImpactResult& r)
{
  return r.velocity_a + r.spin_a.cross(a.arm) - r.velocity_b - r.spin_b.cross(b.arm);
}

// n . K m with K how the relative velocity answers to an impulse.
Mat3 response(const ImpactBody& a, const ImpactBody& b)
{
  Mat3 K = Mat3::Zero();
  for (const ImpactBody* body : {&a, &b}) {
    if (body->fixed) continue;
    const Mat3 r = base::skew(body->arm);
    K += Mat3::Identity() / body->mass - r * body->inertia.inverse() * r;
  }
  return K;
}

// [Lecture13]: j = -(1 + e) v / (1/m_A + 1/m_B + n.(I_A^-1 (r_A x n)) x r_A + n.(I_B^-1 (r_B x n)) x r_B).
double lecture_impulse(const ImpactBody& a, const ImpactBody& b, const Vec3& n, double e)
{
  double denominator = 0;
  for (const ImpactBody* body : {&a, &b}) {
    if (body->fixed) continue;
    denominator += 1 / body->mass + n.dot((body->inertia.inverse() * body->arm.cross(n)).cross(body->arm));
  }
  const Vec3 v_a = a.velocity + a.spin.cross(a.arm);
  const Vec3 v_b = b.velocity + b.spin.cross(b.arm);
  return -(1 + e) * n.dot(v_a - v_b) / denominator;
}

// Runs `work` for random impacts, every third against a fixed body (at rest or driven).
template <class Work>
void for_random_impacts(unsigned seed, int count, Work&& work)
{
  Random random(seed);
  for (int i = 0; i < count; ++i) {
    const ImpactBody a = random.body();
    ImpactBody b = random.body();
    b.fixed = i % 3 == 0;
    if (i % 2 == 0 && b.fixed) b.velocity = b.spin = Vec3::Zero();
    ImpactDesc desc;
    desc.normal = random.in_cube(1).normalized();
    desc.restitution = i % 5 == 0 ? 1 : random.in(0, 1);
    desc.friction = random.in(0, 1.5);
    if (desc.normal.dot(relative_velocity(a, b)) > 0) desc.normal = -desc.normal;
    work(a, b, desc);
  }
}

// Spin, arms off the centre and fixed partners included.
TEST(ImpactDynamics, WithoutFrictionIsTheClosedFormOfTheLecture)
{
  for_random_impacts(1, 2000, [](const ImpactBody& a, const ImpactBody& b, ImpactDesc desc) {
    desc.friction = 0;
    const ImpactResult r = solve_impact(a, b, desc);
    const double j = lecture_impulse(a, b, desc.normal, desc.restitution);
    EXPECT_LT((r.impulse - j * desc.normal).norm(), 1e-10 * j);
    EXPECT_LT((r.velocity_a - (a.velocity + j / a.mass * desc.normal)).norm(), 1e-9);
    const Vec3 spin = a.spin + a.inertia.inverse() * a.arm.cross(j * desc.normal);
    EXPECT_LT((r.spin_a - spin).norm(), 1e-8 * (1 + spin.norm()));
  });
}

TEST(ImpactDynamics, CentralBallsExchangeTheirSpeeds)
{
  ImpactBody a;
  a.mass = 2;
  a.arm = Vec3(0, 0, -0.1);
  a.velocity = Vec3(0, 0, -3);
  ImpactBody b = a;
  b.arm = -a.arm;
  b.velocity = Vec3::Zero();
  const ImpactResult r = solve_impact(a, b, {.restitution = 1});
  EXPECT_LT(r.velocity_a.norm(), 1e-12);
  EXPECT_NEAR(r.velocity_b.z(), -3, 1e-12);
}

// A solid ball without spin that sticks keeps 5/7 of its speed along the ground and rolls.
TEST(ImpactDynamics, ABallThatSticksRolls)
{
  ImpactBody ball;
  ball.mass = 1.5;
  ball.inertia = 0.4 * 1.5 * 0.2 * 0.2 * Mat3::Identity();
  ball.arm = Vec3(0, 0, -0.2);
  ball.velocity = Vec3(1, 0, -4);
  ImpactBody ground;
  ground.fixed = true;
  const ImpactResult r = solve_impact(ball, ground, {.restitution = 0.5, .friction = 0.3});
  EXPECT_TRUE(r.sticks);
  EXPECT_NEAR(r.velocity_a.x(), 5.0 / 7, 1e-12);
  EXPECT_NEAR(r.velocity_a.z(), 2, 1e-12);
  EXPECT_NEAR(r.spin_a.y(), 5.0 / 7 / 0.2, 1e-12);
  // With less friction it slides: J = (1 + E) m 4 along the normal, mu times that against the slip.
  const ImpactResult slides = solve_impact(ball, ground, {.restitution = 0.5, .friction = 0.02});
  EXPECT_FALSE(slides.sticks);
  EXPECT_NEAR(slides.velocity_a.x(), 1 - 0.02 * 6, 1e-12);
}

TEST(ImpactDynamics, SatisfiesItsEquations)
{
  int stuck = 0;
  int slid = 0;
  for_random_impacts(2, 3000, [&](const ImpactBody& a, const ImpactBody& b, ImpactDesc desc) {
    desc.limit_energy = false;
    const ImpactResult r = solve_impact(a, b, desc);
    const Vec3& n = desc.normal;
    const Vec3 V = relative_velocity(a, b);
    const Vec3 after = velocity_after(a, b, r);
    const double size = V.norm() + 1;
    EXPECT_NEAR(n.dot(after), -desc.restitution * n.dot(V), 1e-9 * size);                        // (6)
    EXPECT_LT((a.mass * (r.velocity_a - a.velocity) - r.impulse).norm(), 1e-9 * a.mass * size);  // (1)
    EXPECT_LT((a.inertia * (r.spin_a - a.spin) - a.arm.cross(r.impulse)).norm(), 1e-8 * a.mass * size);
    if (b.fixed) {
      EXPECT_EQ(r.velocity_b, b.velocity);
    } else {
      EXPECT_LT((b.mass * (r.velocity_b - b.velocity) + r.impulse).norm(), 1e-9 * b.mass * size);  // (2)
      EXPECT_LT((b.inertia * (r.spin_b - b.spin) + b.arm.cross(r.impulse)).norm(), 1e-8 * b.mass * size);
    }
    const double jn = n.dot(r.impulse);
    const Vec3 jt = r.impulse - jn * n;
    if (r.sticks) {
      ++stuck;
      EXPECT_LT((after - n * n.dot(after)).norm(), 1e-9 * size);  // (7), (8)
      EXPECT_LE(jt.norm(), desc.friction * jn * (1 + 1e-9));
      const Vec3 wanted = -(desc.restitution * n.dot(V)) * n;
      EXPECT_LT((r.impulse - response(a, b).inverse() * (wanted - V)).norm(), 1e-8 * r.impulse.norm());
    } else if (jn > 0) {
      ++slid;
      const Vec3 slip = V - n * n.dot(V);
      EXPECT_LT((jt + desc.friction * jn * slip.normalized()).norm(), 1e-9 * jn);  // (9), (10)
    }
  });
  EXPECT_GT(stuck, 200);
  EXPECT_GT(slid, 500);
}

TEST(ImpactDynamics, KeepsMomentum)
{
  for_random_impacts(3, 1000, [](const ImpactBody& a, const ImpactBody& b, const ImpactDesc& desc) {
    if (b.fixed) return;
    const ImpactResult r = solve_impact(a, b, desc);
    const double size = a.mass * (a.velocity.norm() + 1) + b.mass * (b.velocity.norm() + 1);
    const Vec3 linear = a.mass * (r.velocity_a - a.velocity) + b.mass * (r.velocity_b - b.velocity);
    EXPECT_LT(linear.norm(), 1e-10 * size);
    // About the point of impact, where the impulse has no arm.
    const Vec3 angular = a.inertia * (r.spin_a - a.spin) - a.arm.cross(a.mass * (r.velocity_a - a.velocity)) +
                         b.inertia * (r.spin_b - b.spin) - b.arm.cross(b.mass * (r.velocity_b - b.velocity));
    EXPECT_LT(angular.norm(), 1e-9 * size);
  });
}

// Newton's restitution with friction can add energy; by default it may not, and still pushes, stays in the
// friction cone and keeps its speed of separation.
TEST(ImpactDynamics, NeverAddsEnergy)
{
  int gained = 0;
  int limited = 0;
  for_random_impacts(4, 20000, [&](const ImpactBody& a, const ImpactBody& b, ImpactDesc desc) {
    if (b.fixed && !(b.velocity.isZero() && b.spin.isZero())) return;  // what is driven gives energy
    const ImpactResult r = solve_impact(a, b, desc);
    const Vec3 V = relative_velocity(a, b);
    const double before = kinetic_energy(a, a.velocity, a.spin) + kinetic_energy(b, b.velocity, b.spin);
    EXPECT_LE(energy_change(a, b, r), 1e-10 * before);
    const double jn = desc.normal.dot(r.impulse);
    EXPECT_GT(jn, 0);
    EXPECT_LE((r.impulse - jn * desc.normal).norm(), desc.friction * jn * (1 + 1e-9) + 1e-12);
    EXPECT_NEAR(desc.normal.dot(velocity_after(a, b, r)), -desc.restitution * desc.normal.dot(V),
                1e-8 * (1 + V.norm()));
    limited += r.limited ? 1 : 0;
    desc.limit_energy = false;
    gained += energy_change(a, b, solve_impact(a, b, desc)) > 1e-6 * before ? 1 : 0;
  });
  EXPECT_GT(gained, 0) << "as written the laws can add energy";
  EXPECT_GE(limited, gained);
  EXPECT_LT(limited, 20000 / 3);
}

// Great friction and long arms: (6), (9) and (10) would pull, and sticking needs more friction than there is.
TEST(ImpactDynamics, AWedgedBodyIsPushedOutWithinTheFrictionCone)
{
  Random random(7);
  int wedged = 0;
  for (int i = 0; i < 50000; ++i) {
    ImpactBody a = random.body();
    a.arm *= 4;
    ImpactBody b;
    b.fixed = true;
    ImpactDesc desc;
    desc.normal = random.in_cube(1).normalized();
    desc.restitution = random.in(0, 1);
    desc.friction = random.in(1, 3);
    const Vec3 V = relative_velocity(a, b);
    if (desc.normal.dot(V) > 0) desc.normal = -desc.normal;
    const Vec3& n = desc.normal;
    const Vec3 slip = (V - n * n.dot(V)).normalized();
    const Mat3 K = response(a, b);
    if (n.dot(K * (n - desc.friction * slip)) > 0) continue;
    const Vec3 stuck = K.inverse() * (-desc.restitution * n.dot(V) * n - V);
    if ((stuck - n * n.dot(stuck)).norm() <= desc.friction * n.dot(stuck)) continue;
    ++wedged;
    const ImpactResult r = solve_impact(a, b, desc);
    const double jn = n.dot(r.impulse);
    EXPECT_TRUE(r.limited);
    EXPECT_GT(jn, 0);
    // Part of the way from no friction to sticking.
    const Vec3 smooth = lecture_impulse(a, b, n, desc.restitution) * n;
    EXPECT_NEAR((r.impulse - smooth).normalized().dot((stuck - smooth).normalized()), 1, 1e-9);
    EXPECT_LE((r.impulse - jn * n).norm(), desc.friction * jn * (1 + 1e-9));
    EXPECT_LE(energy_change(a, b, r), 1e-9 * kinetic_energy(a, a.velocity, a.spin));
    EXPECT_NEAR(n.dot(velocity_after(a, b, r)), -desc.restitution * n.dot(V), 1e-8 * (1 + V.norm()));
  }
  EXPECT_GT(wedged, 20);
}

TEST(ImpactDynamics, TwoBodiesMayBeNamedEitherWayRound)
{
  for_random_impacts(5, 500, [](const ImpactBody& a, const ImpactBody& b, ImpactDesc desc) {
    if (b.fixed) return;
    const ImpactResult one = solve_impact(a, b, desc);
    desc.normal = -desc.normal;
    const ImpactResult other = solve_impact(b, a, desc);
    EXPECT_LT((one.impulse + other.impulse).norm(), 1e-9 * one.impulse.norm());
    EXPECT_EQ(one.sticks, other.sticks);
  });
}

// A heavy partner is as good as a fixed one: 15 unknowns tend to 9.
TEST(ImpactDynamics, AHeavyPartnerIsLikeAFixedOne)
{
  for_random_impacts(6, 500, [](const ImpactBody& a, ImpactBody b, const ImpactDesc& desc) {
    b.fixed = true;
    b.velocity = b.spin = Vec3::Zero();
    if (desc.normal.dot(relative_velocity(a, b)) > 0) return;
    const ImpactResult fixed = solve_impact(a, b, desc);
    b.fixed = false;
    const double factor = 1e9 * a.mass / b.mass;
    b.mass *= factor;
    b.inertia *= factor;
    const ImpactResult heavy = solve_impact(a, b, desc);
    if (fixed.sticks != heavy.sticks) return;  // on the border of the cone
    EXPECT_LT((fixed.impulse - heavy.impulse).norm(), 1e-5 * fixed.impulse.norm());
  });
}

TEST(ImpactDynamics, DoesNothingToWhatSeparatesAndRejectsWhatMakesNoSense)
{
  ImpactBody a;
  a.velocity = Vec3(0.3, 0, 1);
  ImpactBody b;
  const ImpactResult r = solve_impact(a, b, {});
  EXPECT_EQ(r.impulse, Vec3(Vec3::Zero()));
  EXPECT_EQ(r.velocity_a, a.velocity);
  EXPECT_THROW((void)solve_impact(a, b, {.normal = Vec3(0, 0, 2)}), Error);
  EXPECT_THROW((void)solve_impact(a, b, {.restitution = 1.1}), Error);
  EXPECT_THROW((void)solve_impact(a, b, {.friction = -0.1}), Error);
  b.mass = 0;
  EXPECT_THROW((void)solve_impact(a, b, {}), Error);
  b.mass = 1;
  a.fixed = true;
  EXPECT_THROW((void)solve_impact(a, b, {}), Error);
}

}  // namespace
}  // namespace thrum::rigid
