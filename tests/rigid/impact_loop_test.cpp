// SPDX-License-Identifier: MIT
// Two meshes that collide, frame after frame: z-list, Boyse's tests and impact dynamics together.
#include "thrum/rigid/impact_loop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/ground_mesh.h"
#include "tests/support/test_meshes.h"
#include "thrum/base/error.h"

namespace thrum::rigid {
namespace {

mesh::TriangleMesh ground(int n, double half, double bump)
{
  return support::bumpy_ground(n, half, bump, 3, 2.5);
}

ImpactObject box(const Vec3& half)
{
  return make_impact_object(support::box_mesh(-half, half), 1000);
}

double lowest_point(ImpactLoop& loop)
{
  double low = 1e9;
  for (const Vec3& v : loop.mover().surface->mesh().vertices)
    low = std::min(low, loop.mover().X_wb.point(v).z());
  return low;
}

// A drop of 1 m: it comes back to E^2 of it.
TEST(ImpactLoop, ABallBouncesToTheHeightOfItsRestitution)
{
  for (const double e : {0.5, 0.8, 1.0}) {
    ImpactLoop loop(make_impact_object(support::sphere_mesh(0.1, 2), 1000),
                    make_impact_object(ground(4, 1.07, 0), 0), {.restitution = e, .friction = 0});
    loop.mover().X_wb.position = Vec3(0, 0, 1.1);
    const double h = 1.0 / 1000;
    double peak = 0;
    bool bounced = false;
    for (int i = 0; i < 1100; ++i) {
      bounced = loop.step(h).impacts > 0 || bounced;
      if (bounced && loop.mover().velocity.z() < 0) break;
      if (bounced) peak = std::max(peak, lowest_point(loop));
    }
    EXPECT_NEAR(peak, e * e, 0.01);
  }
}

TEST(ImpactLoop, ABoxComesToRestOnItsFace)
{
  ImpactLoop loop(box({0.2, 0.15, 0.1}), make_impact_object(ground(6, 1, 0), 0), {.restitution = 0.2});
  loop.mover().X_wb.position = Vec3(0.03, 0.02, 0.3);
  for (int i = 0; i < 120; ++i) loop.step(1.0 / 60);
  // It rocks by what the weight does in a frame.
  EXPECT_NEAR(loop.mover().X_wb.position.z(), 0.1, 1e-3);
  EXPECT_LT(loop.mover().velocity.norm(), 9.81 / 60);
  EXPECT_LT(loop.mover().X_wb.rotation.angularDistance(Quat::Identity()), 0.3);
}

// A thrown box on bumps: it never gains energy, never falls through, and moves the same whichever way the
// pairs were found.
TEST(ImpactLoop, AThrownBoxTumblesTheSameByAllCandidates)
{
  std::vector<Pose> ends;
  for (const ImpactCandidates candidates :
       {ImpactCandidates::zlist, ImpactCandidates::hierarchy, ImpactCandidates::all_pairs}) {
    ImpactLoop loop(box({0.2, 0.15, 0.1}), make_impact_object(ground(12, 2, 0.1), 0),
                    {.restitution = 0.6, .friction = 0.4, .candidates = candidates});
    loop.mover().X_wb.position = Vec3(-0.5, 0.1, 1);
    loop.mover().velocity = Vec3(0.6, 0, -4);
    loop.mover().spin = Vec3(3, 5, 1);
    const double h = 1.0 / 120;
    double energy = loop.energy();
    // The weight of a whole frame is given at its start, also when part of the frame is after an impact.
    const auto slack = [&] {
      return loop.mover().mass * 9.81 * h * (loop.mover().velocity.norm() + 9.81 * h);
    };
    const double start = energy;
    int impacts = 0;
    for (int i = 0; i < 150; ++i) {
      impacts += loop.step(h).impacts;
      EXPECT_LE(loop.energy(), energy + slack()) << i;
      energy = loop.energy();
      EXPECT_GT(lowest_point(loop), -0.11);
    }
    EXPECT_GT(impacts, 5);
    EXPECT_LT(energy, 0.5 * start);
    ends.push_back(loop.mover().X_wb);
  }
  for (const Pose& end : ends) {
    EXPECT_LT((end.position - ends[0].position).norm(), 1e-6);
    EXPECT_LT(end.rotation.angularDistance(ends[0].rotation), 1e-6);
  }
}

// At 200 m/s a frame is 3.3 m long and the plate 1 cm thick.
TEST(ImpactLoop, AFastBoxDoesNotPassThroughAThinPlate)
{
  for (int phase = 0; phase < 50; ++phase) {
    ImpactLoop loop(box({0.05, 0.05, 0.05}),
                    make_impact_object(support::box_mesh({-0.5, -0.5, 0}, {0.5, 0.5, 0.01}), 0),
                    {.gravity = Vec3::Zero(), .restitution = 0.5, .friction = 0.1});
    loop.mover().X_wb.position = Vec3(0.013, 0.02, 1 + 0.066 * phase);
    loop.mover().velocity = Vec3(0, 0, -200);
    loop.mover().spin = Vec3(20, 7, 3);
    for (int i = 0; i < 3; ++i) loop.step(1.0 / 60);
    EXPECT_GT(loop.mover().X_wb.position.z(), 0) << phase;
  }
}

TEST(ImpactLoop, TwoFreeBodiesKeepTheirMomentum)
{
  ImpactLoop loop(box({0.2, 0.15, 0.1}), box({0.1, 0.3, 0.2}), {.gravity = Vec3::Zero(), .restitution = 0.7});
  loop.mover().X_wb.position = Vec3(0.1, 0.05, 1);
  loop.mover().velocity = Vec3(0, 0, -3);
  loop.mover().spin = Vec3(1, 2, 0);
  const auto momentum = [&] {
    return Vec3(loop.mover().mass * loop.mover().velocity + loop.other().mass * loop.other().velocity);
  };
  const Vec3 before = momentum();
  const double energy = loop.energy();
  int impacts = 0;
  for (int i = 0; i < 60; ++i) impacts += loop.step(1.0 / 60).impacts;
  EXPECT_GT(impacts, 0);
  EXPECT_LT((momentum() - before).norm(), 1e-9 * before.norm());
  EXPECT_LT(loop.energy(), energy);
  EXPECT_GT(loop.other().velocity.norm(), 0.1);
}

TEST(ImpactLoop, NeedsAMovingBody)
{
  EXPECT_THROW(ImpactLoop(make_impact_object(ground(2, 1, 0), 0), box({1, 1, 1}), {}), Error);
}

}  // namespace
}  // namespace thrum::rigid
