// SPDX-License-Identifier: MIT
// Modes and substeps that follow what happens give the motion of all modes and the shortest substeps.
#include <gtest/gtest.h>

#include "tests/scene/played.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::scene {
namespace {

Played play(const char* scene, std::vector<std::string> settings, bool adaptive, double seconds)
{
  settings.emplace_back(adaptive ? "stepper.flexible.adapt_modes=true"
                                 : "stepper.flexible.adapt_modes=false");
  Played played(scene, settings);
  played.play(seconds);
  return played;
}

// Marbles that roll on steel rails: nothing rings until they fall off the first.
TEST(Adaptivity, MarblesRollTheSameWithFewSubsteps)
{
  const Played adaptive = play("marble_track.json", {}, true, 1.2);
  const Played plain = play("marble_track.json", {}, false, 1.2);
  for (std::size_t i = 0; i < plain.start.size(); ++i)
    EXPECT_LT((adaptive.moved(i) - plain.moved(i)).norm(), 1e-3 * plain.moved(i).norm() + 1e-6) << i;
  EXPECT_GT(plain.moved(plain.find("marble_0")).norm(), 0.3);
  const auto& few = adaptive.built.world.flexible_report().groups;
  const auto& all = plain.built.world.flexible_report().groups;
  EXPECT_LT(10 * few.substeps, all.substeps);
  EXPECT_EQ(few.unsolved + all.unsolved, 0U);
}

// Dishes that a pot throws up: 0.1 s after its landing they are where they are with all modes.
TEST(Adaptivity, DishesRiseTheSame)
{
  const std::vector<std::string> settings = {"stepper.kind=flexible", "bodies.table.rings.modes=72"};
  const Played adaptive = play("dinner.json", settings, true, 0.45);
  const Played plain = play("dinner.json", settings, false, 0.45);
  double apart = 0, risen = 0;
  int bodies = 0;
  for (std::size_t i = 0; i < plain.start.size(); ++i) {
    if (plain.built.visuals[i].name == "pot" || plain.moved(i).z() < 2e-3) continue;
    apart += std::abs(adaptive.moved(i).z() - plain.moved(i).z());
    risen += plain.moved(i).z();
    ++bodies;
  }
  EXPECT_GE(bodies, 5);
  EXPECT_LT(apart, 0.05 * risen);
  EXPECT_LT(adaptive.built.world.flexible_report().groups.substeps,
            plain.built.world.flexible_report().groups.substeps);
}

}  // namespace
}  // namespace thrum::scene
