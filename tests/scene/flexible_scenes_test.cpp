// SPDX-License-Identifier: MIT
// The scenes of the flexible stepper, each by its outcome.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "tests/scene/played.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/scene/run_warnings.h"

namespace thrum::scene {
namespace {

constexpr double g = 9.81;

// A ball that rolls without slipping in a groove of 90 degrees touches it at R / sqrt(2) from its axis, so
// that its spin takes 4/5 of what its motion does: it gains g sin(a) / 1.8.
TEST(FlexibleScenes, AMarbleRollsDownItsTrackAsInAGroove)
{
  const double slope = 6 * std::acos(-1.0) / 180;
  for (const double step : {0.004, 0.0017}) {
    Played scene("marble_track.json", {fmt::format("step={}", step)});
    const std::size_t marble = scene.find("marble_0");
    const double time = 1.2;
    scene.play(time);
    const Vec3 moved = scene.moved(marble);
    const double expected = 0.5 * g * std::sin(slope) / 1.8 * scene.time * scene.time;
    EXPECT_NEAR(std::hypot(moved.x(), moved.z()), expected, 0.03 * expected) << step;
    EXPECT_NEAR(moved.y(), 0, 1e-3) << step;
  }
}

// The cart leaves the curb and goes on along the street, upright, with all that stands on it.
TEST(FlexibleScenes, TheCartRollsOffTheCurbWithItsLoad)
{
  for (const double step : {0.004, 0.002}) {
    Played scene("cart.json", {fmt::format("step={}", step)});
    const std::size_t bed = scene.find("bed");
    const double before = scene.built.world.kinetic_energy() + scene.built.world.potential_energy();
    scene.play(2.5);
    const Vec3 moved = scene.moved(bed);
    EXPECT_GT(moved.x(), 2.0) << step;
    EXPECT_NEAR(moved.z(), -0.05, 0.005) << step;
    const auto& bodies = scene.built.world.state().bodies;
    for (const char* load : {"pot", "cup", "bowl"}) {
      const Vec3 away = scene.moved(scene.find(load)) - moved;
      EXPECT_LT(std::abs(away.x()), 0.3) << load << " " << step;
      EXPECT_LT(std::abs(away.y()), 0.18) << load << " " << step;
      EXPECT_GT(away.z(), -0.01) << load << " " << step;
    }
    EXPECT_GT((bodies[bed].X_wb.rotation * (scene.start[bed].rotation.conjugate() * Vec3::UnitZ())).z(),
              0.99);
    EXPECT_LT(scene.built.world.kinetic_energy() + scene.built.world.potential_energy(), before) << step;
    EXPECT_GT(scene.built.world.flexible_report().groups.substeps, 0U);
  }
}

// Of one sweep that must do: the run says how many substeps it did not solve.
TEST(FlexibleScenes, ARunSaysWhatWasNotSolved)
{
  Played scene("cart.json", {"stepper.flexible.iterations=1", "stepper.flexible.contact=hard"});
  scene.play(0.02);
  const flexible::GroupReport& groups = scene.built.world.flexible_report().groups;
  EXPECT_GT(groups.unsolved, 0U);
  EXPECT_GT(groups.max_residual, 1e-9);
  const std::vector<std::string> warnings = limit_warnings(scene.built.world);
  const std::string begin =
      fmt::format("{} of {} substeps were not solved", groups.unsolved, groups.substeps);
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(),
                          [&](const std::string& sentence) { return sentence.rfind(begin, 0) == 0; }));
}

}  // namespace
}  // namespace thrum::scene
