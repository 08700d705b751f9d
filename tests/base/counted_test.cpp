// SPDX-License-Identifier: MIT
#include "thrum/base/counted.h"

#include <gtest/gtest.h>

namespace thrum::base {
namespace {

TEST(Counted, HasThePluralOfEveryNumberButOne)
{
  EXPECT_EQ(counted(0, "step"), "0 steps");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(2, "contact point"), "2 contact points");
  EXPECT_EQ(counted(1, "vertex", "vertices"), "1 vertex");
  EXPECT_EQ(counted(0, "vertex", "vertices"), "0 vertices");
  EXPECT_EQ(counted(11, "step"), "11 steps");
}

}  // namespace
}  // namespace thrum::base
