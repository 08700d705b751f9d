// SPDX-License-Identifier: MIT
#include "thrum/vibration/mode_motion.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"

namespace thrum::vibration {
namespace {

elastic::ModeList random_modes(base::Random& random, Eigen::Index count)
{
  elastic::ModeList modes{VecX(count), VecX(count)};
  for (Eigen::Index m = 0; m < count; ++m) {
    modes.omegas[m] = random.uniform(100, 4000);
    modes.decays[m] = modes.omegas[m] * random.uniform(0, 0.1);
  }
  return modes;
}

TEST(ModeMotion, OneModeFollowsItsClosedForm)
{
  const elastic::ModeList modes{VecX::Constant(1, 300.0), VecX::Constant(1, 12.0)};
  ModeState state{VecX::Constant(1, 2e-3), VecX::Constant(1, -0.4)};
  const double t = 0.0137;
  const double wd = std::sqrt(300.0 * 300 - 144);
  const double expected =
      std::exp(-12 * t) * (2e-3 * std::cos(wd * t) + (-0.4 + 12 * 2e-3) / wd * std::sin(wd * t));
  advance(modes, t, state);
  EXPECT_NEAR(state.q[0], expected, 1e-15);
}

TEST(ModeMotion, TwoStepsAreOneAndEnergyOnlyFalls)
{
  base::Random random(3);
  const elastic::ModeList modes = random_modes(random, 7);
  ModeState once{VecX::Random(7), VecX::Random(7) * 100};
  ModeState twice = once;
  const double before = energy(modes, once);
  advance(modes, 0.013, once);
  advance(modes, 0.004, twice);
  EXPECT_LE(energy(modes, twice), before);
  EXPECT_LE(energy(modes, once), energy(modes, twice));
  advance(modes, 0.009, twice);
  EXPECT_TRUE(once.q.isApprox(twice.q, 1e-12));
  EXPECT_TRUE(once.v.isApprox(twice.v, 1e-12));
}

TEST(PeakSearch, FindsThePeakOfOneModeBetweenSamples)
{
  // q' = j cos(w t) falls from its largest value; -q' rises to it after half a period.
  const elastic::ModeList modes{VecX::Constant(1, 700.0), VecX::Constant(1, 0.0)};
  PeakSearch search;
  search.sample(modes, {VecX::Zero(1), VecX::Constant(1, -0.3)}, 0.02);
  const Peak peak = search.max_speed(MatX::Constant(1, 1, 2.0)).front();
  EXPECT_NEAR(peak.value, 0.6, 1e-6 * 0.6);
  EXPECT_NEAR(std::remainder(peak.time - std::numbers::pi / 700, 2 * std::numbers::pi / 700), 0, 1e-6);
  EXPECT_NEAR(search.max_displacement(MatX::Constant(1, 1, 2.0)).front().value, 0.6 / 700, 1e-6 * 0.6 / 700);
}

RC_GTEST_PROP(PeakSearch, IsNeverBelowADenseSearchAndHardlyAbove, ())
{
  base::Random random(*rc::gen::arbitrary<std::uint64_t>());
  const elastic::ModeList modes = random_modes(random, 9);
  ModeState state = ModeState::at_rest(9);
  VecX row(9);
  for (Eigen::Index m = 0; m < 9; ++m) {
    state.q[m] = random.normal() / modes.omegas[m];
    state.v[m] = random.normal();
    row[m] = random.normal();
  }
  const double window = random.uniform(0.002, 0.02);
  PeakSearch search;
  search.sample(modes, state, window);
  const Peak speed = search.max_speed(row).front();
  const Peak moved = search.max_displacement(row).front();
  double dense_speed = 0;
  double dense_moved = 0;
  constexpr int kDense = 20000;
  for (int k = 0; k <= kDense; ++k) {
    dense_speed = std::max(dense_speed, row.dot(state.v));
    dense_moved = std::max(dense_moved, std::abs(row.dot(state.q)));
    advance(modes, window / kDense, state);
  }
  const double scale = row.cwiseAbs().sum() * 3;
  RC_ASSERT(speed.value > dense_speed - 2e-6 * scale);
  RC_ASSERT(speed.value < dense_speed + 1e-5 * scale);
  RC_ASSERT(moved.value > dense_moved - 2e-6 * scale / modes.omegas.minCoeff());
  RC_ASSERT(moved.value < dense_moved + 1e-5 * scale / modes.omegas.minCoeff());
}

TEST(PeakSearch, RejectsModesFarAboveTheWindow)
{
  const elastic::ModeList modes{VecX::Constant(1, 1e9), VecX::Constant(1, 0.0)};
  PeakSearch search;
  EXPECT_THROW(search.sample(modes, ModeState::at_rest(1), 0.02), Error);
}

}  // namespace
}  // namespace thrum::vibration
