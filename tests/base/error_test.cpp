// SPDX-License-Identifier: MIT
#include "thrum/base/error.h"

#include <gtest/gtest.h>

namespace thrum {
namespace {

TEST(InputError, NamesTheFileTheLineAndWhatWasExpected)
{
  const InputError error({"plate.obj", 12, 0}, "face index 99", "1 to 8");
  EXPECT_STREQ(error.what(), "plate.obj:12: found face index 99, expected 1 to 8");
}

TEST(InputError, NamesTheColumnWhenItIsKnown)
{
  EXPECT_EQ(base::to_string({"a.json", 3, 7}), "a.json:3:7");
}

TEST(InputError, NamesTheByteOfABinaryFile)
{
  EXPECT_EQ(base::to_string({"a.stl", 0, 0, 84}), "a.stl, byte 84");
}

}  // namespace
}  // namespace thrum
