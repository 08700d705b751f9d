// SPDX-License-Identifier: MIT
// What a solve of simultaneous contacts could not find is counted, by each rule: the count goes to
// ResponseResult::unsolved, and from there to the warnings of a run (sim/responder_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

int count_unsolved(const ContactScene& scene, KickRule rule, double young = PlateSize().young)
{
  auto model = std::make_shared<model::ModalModel>(*plate_model());
  model->materials[0].young = young;
  ResponseSettings settings;
  settings.rule = rule;
  ModalResponse response(model, settings);
  ModeState state = response.at_rest();
  const ResponseResult result = response.respond(scene.input(), state);
  EXPECT_EQ(result.impacts, static_cast<int>(std::count_if(scene.contacts.begin(), scene.contacts.end(),
                                                           [](const auto& c) { return c.struck; })));
  return result.unsolved;
}

// A second contact of the same body at the same place, from the other side: the body is held in a slot.
SurfaceContact& add_opposite(ContactScene& scene, std::size_t contact, double restitution)
{
  SurfaceContact above = scene.contacts[contact];
  above.normal = -above.normal;
  above.restitution = restitution;
  return scene.contacts.emplace_back(above);
}

// Both sides of the slot ask for a bounce, each for one that the other does not allow: no impulses satisfy
// both, and the regularised ones are so large that they cannot be found to the tolerance.
TEST(Unsolved, ExchangeCountsAnImpactThatNoImpulsesSatisfy)
{
  ContactScene scene;
  const std::size_t struck = scene.strike({0.5, 0.4, 0}, 1, 2, 0.5);
  scene.rest({1.1, 0.5, 0}, 0.2, 0.5);
  EXPECT_EQ(count_unsolved(scene, KickRule::exchange), 0);
  add_opposite(scene, struck, 1);
  EXPECT_EQ(count_unsolved(scene, KickRule::exchange), 1);
}

// A body with 64 contacts, half of them from the other side, that all are to separate.
TEST(Unsolved, PeakVelocityCountsABodyThatIsHeldFromBothSides)
{
  ContactScene scene;
  scene.strike({0.5, 0.4, 0}, 1, 2, 0.15);
  const std::size_t held = scene.rest({1.1, 0.5, 0}, 0.5, 0.15);
  EXPECT_EQ(count_unsolved(scene, KickRule::peak_velocity), 0);
  base::Random random(3);
  for (int i = 1; i < 64; ++i) {
    SurfaceContact& contact = add_opposite(scene, held, 0.15);
    contact.position += Vec3(random.uniform(-1e-3, 1e-3), random.uniform(-1e-3, 1e-3), 0);
    if (i % 2 == 0) contact.normal *= -1;
  }
  EXPECT_EQ(count_unsolved(scene, KickRule::peak_velocity), 1);
}

// Of contacts so hard that their depth is lost in the rounding of the displacements no forces are found.
TEST(Unsolved, MicroCollisionsCountSubstepsWhoseForcesAreNotFound)
{
  ContactScene scene;
  scene.strike({0.5, 0.4, 0}, 1, 2, 0.5);
  scene.rest({1.1, 0.5, 0}, 0.2, 0.3);
  scene.rest({1.1, 0.45, 0}, 0.2, 0.3);
  EXPECT_EQ(count_unsolved(scene, KickRule::micro_collisions), 0);
  EXPECT_GT(count_unsolved(scene, KickRule::micro_collisions, 1e40), 0);
}

}  // namespace
}  // namespace thrum::vibration
