// SPDX-License-Identifier: MIT
// The curved slab of [Zheng11, Figure 7]: at rest it is silent, unless contacts are chosen by their velocity.
#include <gtest/gtest.h>

#include "tests/support/curved_slab.h"

namespace thrum::flexible {
namespace {

// All contacts whatever their velocity: forces hold still, and what they do to the modes is 80 dB below a
// strike of 10 mN s. From the last step's forces, from none, and with Hertz' contact.
TEST(CurvedSlab, IsSilentAtRest)
{
  for (const support::SlabDesc& desc : {support::SlabDesc{}, support::SlabDesc{.warm_start = false},
                                        support::SlabDesc{.law = ContactLaw::hertz}}) {
    const support::SlabRun run = support::run_slab(desc);
    EXPECT_LT(run.level, -80);
    EXPECT_LT(run.jump, 1e-6);
    EXPECT_LT(run.spread, 1e-6);
  }
}

// Under a load that moves along it forces change as smoothly as the load.
TEST(CurvedSlab, IsQuietUnderAMovingLoad)
{
  const support::SlabRun run = support::run_slab({.load = 2});
  EXPECT_LT(run.level, -75);
}

// The usual test for a velocity below 0 makes it louder by 60 dB at least: the silence above is measured.
TEST(CurvedSlab, AVelocityTestMakesItLoud)
{
  for (const bool warm : {false, true}) {
    const support::SlabRun run = support::run_slab({.velocity_test = true, .warm_start = warm});
    EXPECT_GT(run.level, support::run_slab({}).level + 60);
    EXPECT_GT(run.jump, 0.5);
    EXPECT_GT(run.spread, 0.5);
  }
}

}  // namespace
}  // namespace thrum::flexible
