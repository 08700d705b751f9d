// SPDX-License-Identifier: MIT
// The speed at which a row of dominoes falls. There is no closed form; the measure is a run in short steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/sim/parameter_names.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/index.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr int kCount = 14;
constexpr double kSpacing = 0.025;  // [m]

// Of the wave between the fifth domino and the last but one, by the times at which each has fallen by
// 0.3 rad, between steps by a straight line [m/s].
double wave_speed(StepperKind stepper, double h)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  desc.max_turn = 0.05;
  desc.max_slices = 64;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.1, 0.4, 0, 0});
  add_plane(world);
  std::vector<model::BodyId> row;
  for (int i = 0; i < kCount; ++i)
    row.push_back(add_box(world, {0.00375, 0.012, 0.024}, {kSpacing * i, 0, 0.024}, 0.006));
  world.set_velocity(row.front(), {0.15, 0, 0}, {0, 6, 0});
  const auto tilt = [&](int i) {
    return std::acos(std::min(1.0, (world.body(row[at(i)]).X_wb.rotation * Vec3::UnitZ()).z()));
  };
  constexpr double kFallen = 0.3;
  std::vector<double> before(kCount, 0);
  std::vector<double> fell(kCount, 0);
  for (int step = 1; fell[kCount - 2] == 0 && step * h < 3; ++step) {
    world.step(h);
    for (int i = 0; i < kCount; ++i) {
      const double now = tilt(i);
      if (fell[at(i)] == 0 && now > kFallen)
        fell[at(i)] = h * (step - (now - kFallen) / (now - before[at(i)]));
      before[at(i)] = now;
    }
  }
  return kSpacing * (kCount - 2 - 4) / (fell[kCount - 2] - fell[4]);
}

class Dominoes : public ::testing::TestWithParam<StepperKind> {};
INSTANTIATE_TEST_SUITE_P(Steppers, Dominoes, ::testing::Values(StepperKind::constraint, StepperKind::impulse),
                         testing::stepper_name);

// Contacts keep their normals within a slice, while the faces turn: with slices in which they turn by a
// twentieth of a radian the speed is nearly that of short steps.
TEST_P(Dominoes, FallAsFastInLongStepsAsInShortOnes)
{
  const double expected = wave_speed(GetParam(), 1.0 / 600);
  EXPECT_GT(expected, 0.3);
  const double accuracy = GetParam() == StepperKind::constraint ? 0.05 : 0.08;
  for (const double h : {1.0 / 25, 1.0 / 60, 1.0 / 144, 1.0 / 333})
    EXPECT_NEAR(wave_speed(GetParam(), h), expected, accuracy * expected) << "h " << h;
}

}  // namespace
}  // namespace thrum::sim
