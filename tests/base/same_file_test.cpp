// SPDX-License-Identifier: MIT
#include "thrum/base/same_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/base/scratch_folder.h"

namespace thrum::base {
namespace {

TEST(SameFile, IsFoundByEveryPathToIt)
{
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a.wav";
  for (const bool exists : {false, true}) {
    if (exists) std::ofstream(file) << "a";
    EXPECT_TRUE(is_same_file(file, folder / "./b/../a.wav")) << exists;
    EXPECT_TRUE(is_same_file(file, std::filesystem::relative(file))) << exists;
    EXPECT_FALSE(is_same_file(file, folder / "b.wav")) << exists;
  }
  std::filesystem::create_symlink(file, folder / "link.wav");
  EXPECT_TRUE(is_same_file(file, folder / "link.wav"));
}

}  // namespace
}  // namespace thrum::base
