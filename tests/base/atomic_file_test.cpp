// SPDX-License-Identifier: MIT
#include "thrum/base/atomic_file.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/base/scratch_folder.h"
#include "thrum/base/error.h"

namespace thrum::base {
namespace {

TEST(AtomicFile, IsReadBackAsWritten)
{
  const ScratchFolder folder;
  std::string text;
  AtomicFile file(folder / "a");
  for (int i = 0; i < 20000; ++i) {
    file.write(std::to_string(i));
    text += std::to_string(i);
  }
  const std::string large(200000, 'x');
  file.write(large);
  file.commit();
  EXPECT_EQ(file.size(), text.size() + large.size());
  EXPECT_EQ(read_text_file(folder / "a"), text + large);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(AtomicFile, KeepsTheOldFileUntilCommitted)
{
  const ScratchFolder folder;
  write_file(folder / "a", "old");
  {
    AtomicFile file(folder / "a");
    file.write("half of the new");
    EXPECT_EQ(read_text_file(folder / "a"), "old");
  }
  EXPECT_EQ(read_text_file(folder / "a"), "old");
  EXPECT_EQ(folder.file_count(), 1u);
  write_file(folder / "a", "new");
  EXPECT_EQ(read_text_file(folder / "a"), "new");
}

std::string message_of(const std::function<void()>& work)
{
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(AtomicFile, ReportsWhyItCannotBeWritten)
{
  const ScratchFolder folder;
  const std::string missing = message_of([&] { write_file(folder / "no/such/file", "x"); });
  EXPECT_NE(missing.find("No such file or directory"), std::string::npos) << missing;
  EXPECT_NE(message_of([&] { write_file(folder.path(), "x"); }).find("folder"), std::string::npos);
}

TEST(ReadFile, ReportsWhyItCannotBeRead)
{
  const ScratchFolder folder;
  const std::string missing = message_of([&] { static_cast<void>(read_file(folder / "a")); });
  EXPECT_NE(missing.find("No such file or directory"), std::string::npos) << missing;
  EXPECT_NE(message_of([&] { static_cast<void>(read_file(folder.path())); }).find("folder"),
            std::string::npos);
  write_file(folder / "a", "12345");
  EXPECT_NE(message_of([&] { static_cast<void>(read_file(folder / "a", 4)); }).find("larger than 4"),
            std::string::npos);
  EXPECT_EQ(read_file(folder / "a", 5).size(), 5u);
}

}  // namespace
}  // namespace thrum::base
