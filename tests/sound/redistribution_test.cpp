// SPDX-License-Identifier: MIT
#include "thrum/sound/redistribution.h"

#include <gtest/gtest.h>

#include "thrum/base/random.h"

namespace thrum::sound {
namespace {

// Points along x that push up.
std::vector<ContactForce> line_of(const std::vector<double>& places, const std::vector<double>& forces)
{
  std::vector<ContactForce> contacts(places.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    contacts[k].key = k;
    contacts[k].position = Vec3(places[k], 0, 0);
    contacts[k].normal_force = forces[k];
    contacts[k].coefficient = 0.5;
  }
  return contacts;
}

Vec3 force_and_torque(const std::vector<ContactForce>& contacts)
{
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& c : contacts) sum += c.normal_force * Vec3(1, c.position.x(), 0);
  return sum;
}

TEST(Redistribution, ASteadyLoadGivesTheSameForcesBitForBitHoweverTheSolverSpreadsIt)
{
  ForceRedistribution redistribution;
  // The same force and torque, spread in another way each step: (1, -2, 1) is in the null space.
  base::Random random(1);
  std::vector<ContactForce> first = line_of({-1, 0, 1}, {3, 3, 3});
  redistribution.redistribute(first);
  for (int i = 0; i < 20; ++i) {
    const double x = std::round(random.uniform(-1, 1) * 8) / 8;  // exact in binary
    std::vector<ContactForce> now = line_of({-1, 0, 1}, {3 + x, 3 - 2 * x, 3 + x});
    redistribution.redistribute(now);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(now[k].normal_force, first[k].normal_force);
  }
}

// The solver lists contacts in any order, and some come and go.
TEST(Redistribution, AContactKeepsItsForceWhereverItStandsInTheList)
{
  ForceRedistribution redistribution;
  std::vector<ContactForce> first = line_of({-1, 0, 1, 0.5}, {3, 4, 3, 1});
  redistribution.redistribute(first);
  for (const std::array<std::size_t, 4>& order :
       {std::array<std::size_t, 4>{2, 0, 3, 1}, {3, 2, 1, 0}, {1, 2, 0, 3}}) {
    std::vector<ContactForce> now;
    for (const std::size_t k : order) now.push_back(line_of({-1, 0, 1, 0.5}, {3.5, 3, 3.5, 1})[k]);
    redistribution.redistribute(now);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_NEAR(now[i].normal_force, first[order[i]].normal_force, 1e-12);
  }
}

TEST(Redistribution, AStepInTheLoadChangesForcesByThePseudoInverse)
{
  ForceRedistribution redistribution;
  std::vector<ContactForce> before = line_of({-1, 0, 1}, {2, 2, 2});
  redistribution.redistribute(before);
  std::vector<ContactForce> after = line_of({-1, 0, 1}, {2, 2, 5});
  redistribution.redistribute(after);
  // dF = 3, dM = 3 about the middle: least change is dF / 3 + dM x / 2.
  const double expected[] = {1 - 1.5, 1, 1 + 1.5};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after[k].normal_force - 2, expected[k], 1e-12);
}

// A load on one of three makes the far end pull by the pseudo-inverse: it is left at 0, and force and torque
// are kept.
TEST(Redistribution, AForceThatThePseudoInverseWouldPullByIsNone)
{
  ForceRedistribution redistribution;
  std::vector<ContactForce> before = line_of({-1, 0, 1}, {1, 1, 1});
  redistribution.redistribute(before);
  // The pseudo-inverse would change them by (-1.5, 2, 5.5), to (-0.5, 3, 6.5); of the forces x, 2 - 2 x,
  // 7 + x that hold 9 N and 7 N m without pulling those with x = 0 are nearest.
  std::vector<ContactForce> after = line_of({-1, 0, 1}, {0, 2, 7});
  redistribution.redistribute(after);
  const double expected[] = {0, 2, 7};
  for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(after[k].normal_force, expected[k], 1e-12) << k;
}

TEST(Redistribution, ForcesNeverPullAndKeepForceAndTorque)
{
  base::Random random(7);
  ForceRedistribution redistribution;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> places, forces;
    for (int k = 0; k < 6; ++k) {
      places.push_back(0.2 * k);
      // Most of the time only a few carry, as an active set has it.
      forces.push_back(random.uniform(0, 1) < 0.5 ? 0 : random.uniform(0, 10));
    }
    std::vector<ContactForce> contacts = line_of(places, forces);
    const Vec3 wanted = force_and_torque(contacts);
    redistribution.redistribute(contacts);
    for (const ContactForce& c : contacts) EXPECT_GE(c.normal_force, 0);
    EXPECT_LT((force_and_torque(contacts) - wanted).norm(), 1e-12 * (1 + wanted.norm()));
  }
}

// More than all contacts together can hold: each has what it can.
TEST(Redistribution, FrictionBeyondItsBoundIsCutBack)
{
  ForceRedistribution redistribution;
  for (int step = 0; step < 3; ++step) {
    std::vector<ContactForce> contacts = line_of({-1, 0, 1}, {4, 4, 4});
    contacts[1].friction = Vec3(0, 9, 0);
    redistribution.redistribute(contacts);
    for (const ContactForce& c : contacts) EXPECT_LT((c.friction - Vec3(0, 2, 0)).norm(), 1e-9) << step;
  }
}

TEST(Redistribution, FrictionKeepsItsSumAndItsBound)
{
  ForceRedistribution redistribution;
  std::vector<ContactForce> contacts = line_of({-1, 0, 1}, {4, 4, 4});
  contacts[0].friction = Vec3(0, 2, 0);
  redistribution.redistribute(contacts);
  Vec3 sum = Vec3::Zero();
  for (const ContactForce& c : contacts) {
    sum += c.friction;
    EXPECT_LE(c.friction.norm(), 0.5 * c.normal_force * (1 + 1e-12));
  }
  EXPECT_LT((sum - Vec3(0, 2, 0)).norm(), 1e-9);
}

TEST(Redistribution, OneContactAndNoneAreLeftAlone)
{
  ForceRedistribution redistribution;
  std::vector<ContactForce> none;
  redistribution.redistribute(none);
  std::vector<ContactForce> one = line_of({0.3}, {5});
  redistribution.redistribute(one);
  EXPECT_EQ(one[0].normal_force, 5);
}

}  // namespace
}  // namespace thrum::sound
