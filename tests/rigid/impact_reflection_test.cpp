// SPDX-License-Identifier: MIT
// One impact of bodies that touch: what generalised reflections keep, on random clusters.
#include "thrum/rigid/impact_reflection.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace thrum::rigid {
namespace {

/// Bodies that touch at random points with random normals, of masses from 0.01 to 100 kg, that move at
/// random.
struct Cluster {
  model::SceneModel model;
  model::SceneState state;
  SolverBodies bodies;
  std::vector<ReflectionPoint> points;

  Cluster(unsigned seed, int count, double restitution, double friction)
  {
    std::mt19937 random(seed);
    const auto part = [&] {
      return static_cast<double>(random()) / 4294967296.0;
    };
    const auto vector = [&] {
      return Vec3(part() - 0.5, part() - 0.5, part() - 0.5);
    };
    for (int i = 0; i < count; ++i) {
      model::BodyProperties body;
      body.mass = std::pow(10.0, 4 * part() - 2);
      const Vec3 size = Vec3::Constant(0.5) + 0.9 * vector();
      body.inertia = (body.mass * Vec3(size.cwiseAbs2())).asDiagonal();
      model.bodies.push_back(body);
      model::BodyState at;
      at.X_wb.position = 3 * vector();
      at.X_wb.rotation = Quat(part(), part(), part(), part()).normalized();
      at.velocity = 4 * vector();
      at.angular_velocity = 4 * vector();
      state.bodies.push_back(at);
    }
    bodies.load(model, state);
    for (int k = 0; k < 2 * count; ++k) {
      ReflectionPoint point;
      point.a = k % count;
      point.b = (k + 1 + k / count) % count;
      const Vec3 at = 3 * vector();
      point.n = vector().normalized();
      point.ra = at - state.bodies[static_cast<std::size_t>(point.a)].X_wb.position;
      point.rb = at - state.bodies[static_cast<std::size_t>(point.b)].X_wb.position;
      point.restitution = restitution < 0 ? part() : restitution;
      point.friction = friction;
      points.push_back(point);
    }
  }

  [[nodiscard]] double energy()
  {
    double sum = 0;
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const SolverBody& b = bodies[static_cast<std::int32_t>(i)];
      sum += 0.5 * (b.v.squaredNorm() / b.inverse_mass + b.w.dot(b.inverse_inertia.inverse() * b.w));
    }
    return sum;
  }
  [[nodiscard]] Vec3 momentum()
  {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < model.bodies.size(); ++i)
      sum += bodies[static_cast<std::int32_t>(i)].v * model.bodies[i].mass;
    return sum;
  }
  [[nodiscard]] Vec3 angular_momentum()
  {
    Vec3 sum = Vec3::Zero();
    for (std::size_t i = 0; i < model.bodies.size(); ++i) {
      const SolverBody& b = bodies[static_cast<std::int32_t>(i)];
      sum +=
          state.bodies[i].X_wb.position.cross(b.v * model.bodies[i].mass) + b.inverse_inertia.inverse() * b.w;
    }
    return sum;
  }
  [[nodiscard]] double speed(const ReflectionPoint& point)
  {
    const SolverBody& A = bodies[point.a];
    const SolverBody& B = bodies[point.b];
    return point.n.dot(B.v + B.w.cross(point.rb) - A.v - A.w.cross(point.ra));
  }
};

TEST(ImpactReflection, KeepsMomentumAndNeverGainsEnergy)
{
  for (unsigned seed = 0; seed < 60; ++seed) {
    // Negative: another restitution at each point.
    const double restitution = std::array{1.0, 0.0, 0.4, -1.0}[seed % 4];
    const double friction = std::array{0.0, 0.3, 2.0}[seed % 3];
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", restitution " << restitution << ", friction " << friction);
    Cluster cluster(seed, 3 + static_cast<int>(seed % 8), restitution, friction);
    const double energy = cluster.energy();
    const Vec3 momentum = cluster.momentum();
    const Vec3 angular_momentum = cluster.angular_momentum();
    EXPECT_TRUE(reflect(cluster.points, {}, cluster.bodies).complete);
    EXPECT_LE(cluster.energy(), energy * (1 + 1e-12));
    if (restitution == 1 && friction == 0) {
      EXPECT_NEAR(cluster.energy(), energy, 1e-9 * energy);
    }
    EXPECT_LT((cluster.momentum() - momentum).norm(), 1e-11 * momentum.norm());
    EXPECT_LT((cluster.angular_momentum() - angular_momentum).norm(), 1e-11 * (1 + angular_momentum.norm()));
    for (const ReflectionPoint& point : cluster.points) {
      EXPECT_GE(point.impulse, 0);
      EXPECT_LE(point.friction_impulse.norm(), friction * point.impulse * (1 + 1e-9) + 1e-15);
      EXPECT_NEAR(point.friction_impulse.dot(point.n), 0, 1e-12 * (1 + point.friction_impulse.norm()));
      // Nothing approaches afterwards, where no energy had to be left out.
      if (friction == 0 && restitution >= 0) {
        EXPECT_GT(cluster.speed(point), -1e-6);
      }
    }
  }
}

// Two bodies and one point: Newton's law.
TEST(ImpactReflection, OneContactLeavesWithItsRestitution)
{
  for (unsigned seed = 0; seed < 20; ++seed) {
    Cluster cluster(seed, 2, 0.6, 0);
    cluster.points.resize(1);
    const double before = cluster.speed(cluster.points[0]);
    reflect(cluster.points, {}, cluster.bodies);
    EXPECT_NEAR(cluster.speed(cluster.points[0]), before < 0 ? -0.6 * before : before, 1e-9);
  }
}

// The order of the points does not matter.
TEST(ImpactReflection, DoesNotDependOnTheOrderOfThePoints)
{
  for (unsigned seed = 0; seed < 12; ++seed) {
    Cluster forward(seed, 6, 0.7, 0);
    Cluster backward(seed, 6, 0.7, 0);
    std::reverse(backward.points.begin(), backward.points.end());
    reflect(forward.points, {}, forward.bodies);
    reflect(backward.points, {}, backward.bodies);
    for (std::int32_t i = 0; i < 6; ++i)
      EXPECT_LT((forward.bodies[i].v - backward.bodies[i].v).norm(), 1e-7) << "seed " << seed;
  }
}

// A joint holds in the impact: two rods that are hinged move as one body where the hinge says so, whatever
// they did before. What moved along the hinge is lost as in an inelastic impact, here found by sweeps, and
// with restitution 1 nothing else is.
TEST(ImpactReflection, JointsHold)
{
  constexpr int kSweeps = 2000;
  for (unsigned seed = 0; seed < 12; ++seed) {
    Cluster cluster(seed, 4, 1, seed % 2 == 0 ? 0 : 0.2);
    std::vector<ReflectionJointRow> rows;
    const Vec3 at(0.1, 0.2, 0.3);
    for (int k = 0; k < 3; ++k) {
      const Vec3 axis = Vec3::Unit(k);
      rows.push_back({0, 1, axis, (at - cluster.state.bodies[0].X_wb.position).cross(axis),
                      (at - cluster.state.bodies[1].X_wb.position).cross(axis)});
    }
    Cluster held = cluster;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (const ReflectionJointRow& row : rows)
        apply(row, held.bodies, -speed_of(row, held.bodies) / coupling(row, row, held.bodies));
    }
    const double expected = held.energy();
    ASSERT_LT(expected, cluster.energy());
    reflect(cluster.points, rows, cluster.bodies);
    for (const ReflectionJointRow& row : rows) EXPECT_NEAR(speed_of(row, cluster.bodies), 0, 1e-6);
    EXPECT_LE(cluster.energy(), expected * (1 + 1e-6)) << "seed " << seed;
    if (seed % 2 == 0) {
      EXPECT_NEAR(cluster.energy(), expected, 1e-6 * expected) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace thrum::rigid
