// SPDX-License-Identifier: MIT
#include "thrum/vibration/response_limit.h"

#include <gtest/gtest.h>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {
namespace {

// Bodies and modes together end at most at what they have without a response plus the budget, whatever the
// budget, and at exactly that where the response wanted more.
TEST(ResponseLimit, EndsAtTheBudgetOrBelow)
{
  base::Random random(3);
  const auto plate = plate_model();
  int cut = 0;
  for (int i = 0; i < 100; ++i) {
    ResponseSettings settings;
    settings.rule = i % 2 == 0 ? KickRule::exchange : KickRule::peak_velocity;
    settings.form = KickForm::impulse;
    settings.limit_energy = false;
    const auto place = [&] {
      return Vec3(random.uniform(0.1, 1.5), random.uniform(0.1, 0.8), 0);
    };
    ContactScene scene;
    scene.strike(place(), random.uniform(1, 5), random.uniform(0.5, 2), random.uniform(0, 1));
    for (int k = 0; k < 4; ++k) scene.rest(place(), random.uniform(0.05, 1));
    ModalResponse response(plate, settings);
    ModeState state = response.at_rest();
    for (Eigen::Index m = 0; m < state.v.size(); ++m) state.v[m] = random.normal(0, 0.05);
    ModeState state_without_impact = state;
    ResponseResult result = response.respond(scene.input(), state);
    advance(response.modes(), scene.step, state_without_impact);
    const double none = kinetic(scene.bodies) + energy(response.modes(), state_without_impact);
    const double whole =
        kinetic(pushed(scene.bodies, result.body_impulses)) + energy(response.modes(), state);
    const double budget = random.uniform(0, 1.5) * std::abs(whole - none);
    const double used =
        limit_response(scene.input(), response.modes(), state_without_impact, budget, result, state);
    const double after =
        kinetic(pushed(scene.bodies, result.body_impulses)) + energy(response.modes(), state);
    EXPECT_NEAR(after, none + used, 1e-9 * (none + whole));
    EXPECT_LE(used, budget + 1e-9 * (none + whole));
    if (whole > none + budget) {
      ++cut;
      EXPECT_NEAR(used, budget, 1e-9 * (none + whole));
    }
  }
  EXPECT_GT(cut, 20);
}

}  // namespace
}  // namespace thrum::vibration
