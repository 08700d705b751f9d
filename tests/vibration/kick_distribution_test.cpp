// SPDX-License-Identifier: MIT
#include "thrum/vibration/kick_distribution.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"

namespace thrum::vibration {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// A plate of four feet at the corners of a square.
ContactScene four_feet(double mass = 0.5)
{
  ContactScene scene;
  scene.rest({0.7, 0.4, 0}, mass);
  scene.bodies[1].centre = {0.75, 0.45, 0.02};
  for (const Vec3& at : {Vec3(0.8, 0.4, 0), Vec3(0.8, 0.5, 0), Vec3(0.7, 0.5, 0)}) {
    SurfaceContact contact = scene.contacts[0];
    contact.position = at;
    scene.contacts.push_back(contact);
  }
  return scene;
}

TEST(KickDistribution, OneContactGetsItsEffectiveMassTimesTheSpeed)  // [Coevoet20, eq. 17-18]
{
  ContactScene scene;
  scene.rest({0.4, 0.3, 0}, 0.4);
  scene.bodies[1].centre += Vec3(0.02, 0, 0);
  const double arm = 0.02;
  const double m_eff = 1 / (1 / 0.4 + arm * arm * scene.bodies[1].inverse_inertia(0, 0));
  const std::vector<TargetSpeed> wanted{{0, 0.3}};
  const DistributedKicks shared = distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::impulse);
  ASSERT_EQ(shared.kicks.size(), 1U);
  EXPECT_NEAR(shared.kicks[0].impulse, m_eff * 0.3, 1e-6);
  EXPECT_NEAR(shared.given, m_eff * 0.09 / 2, 1e-6);
  const auto after = pushed(scene.bodies, body_impulses_of(scene.input(), shared.kicks));
  EXPECT_NEAR(kinetic(after), shared.given, 1e-9);
}

TEST(KickDistribution, EqualSpeedsAtAllFeetLiftTheWholeMass)
{
  const ContactScene scene = four_feet();
  const std::vector<TargetSpeed> wanted{{0, 0.2}, {1, 0.2}, {2, 0.2}, {3, 0.2}};
  const DistributedKicks shared = distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::impulse);
  EXPECT_NEAR(shared.given, 0.5 * 0.04 / 2, 1e-6);
  const auto after = pushed(scene.bodies, body_impulses_of(scene.input(), shared.kicks));
  EXPECT_NEAR((after[1].velocity - Vec3(0, 0, 0.2)).norm(), 0, 1e-5);
  EXPECT_NEAR(after[1].angular_velocity.norm(), 0, 1e-4);
}

TEST(KickDistribution, StaysWithinItsBudgetAndBalancesExactly)
{
  base::Random random(5);
  for (int i = 0; i < 200; ++i) {
    ContactScene scene = four_feet();
    scene.rest({1.2, 0.3, 0}, 0.1);
    scene.bodies[1].velocity = 0.2 * random.direction();
    const bool nears = scene.bodies[1].velocity.z() < 0;
    std::vector<TargetSpeed> wanted;
    for (std::size_t k = 0; k < 5; ++k) wanted.push_back({k, random.uniform(0, 0.5)});
    const double budget = random.uniform(0, 0.02);
    const DistributedKicks shared = distribute_kicks(scene.input(), wanted, budget, KickForm::impulse);
    const double gained =
        kinetic(pushed(scene.bodies, body_impulses_of(scene.input(), shared.kicks))) - kinetic(scene.bodies);
    // To turn a body round is no gift: it counts as one at rest.
    EXPECT_LE(gained, shared.given + 1e-6);
    if (!nears) {
      EXPECT_NEAR(gained, shared.given, 1e-6);
    }
    EXPECT_LE(gained, budget + 1e-6);
  }
}

TEST(KickDistribution, ATargetSpeedLiftsWhatStandsOnTheBodyToo)
{
  ContactScene scene = four_feet();
  for (SurfaceContact& contact : scene.contacts)
    contact.load = 3 * 0.5 * 9.81 / 4;  // a kilogram stands on it
  const std::vector<TargetSpeed> wanted{{0, 0.2}, {1, 0.2}, {2, 0.2}, {3, 0.2}};
  EXPECT_NEAR(distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::impulse).given, 0.5 * 0.04 / 2,
              1e-6);
  EXPECT_NEAR(distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::speed).given, 1.5 * 0.04 / 2,
              1e-6);
}

TEST(KickDistribution, CornersThatAreNotKickedAreNotPressedIn)
{
  const ContactScene scene = four_feet();
  const std::vector<TargetSpeed> wanted{{0, 0.2}};
  const DistributedKicks shared = distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::impulse);
  const auto after = pushed(scene.bodies, body_impulses_of(scene.input(), shared.kicks));
  for (const SurfaceContact& contact : scene.contacts)
    EXPECT_GT(separation_speed({after, scene.contacts, scene.step}, contact), -1e-5);
}

TEST(KickDistribution, ARingingBodyThatCanMoveRecoils)
{
  ContactScene scene;
  scene.rest({0.4, 0.3, 0}, 0.4);
  scene.bodies[0].inverse_mass = 1.0 / 20;
  scene.bodies[0].centre = {0.4, 0.3, -0.2};
  const std::vector<TargetSpeed> wanted{{0, 0.3}};
  const DistributedKicks shared = distribute_kicks(scene.input(), wanted, kUnlimited, KickForm::impulse);
  const auto after = pushed(scene.bodies, body_impulses_of(scene.input(), shared.kicks));
  EXPECT_NEAR(after[1].velocity.z() - after[0].velocity.z(), 0.3, 1e-6);
  EXPECT_NEAR(0.4 * after[1].velocity.z() + 20 * after[0].velocity.z(), 0, 1e-12);
}

}  // namespace
}  // namespace thrum::vibration
