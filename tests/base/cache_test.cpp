// SPDX-License-Identifier: MIT
#include "thrum/base/cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/base/scratch_folder.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"

namespace thrum::base {
namespace {

/// Data that only this key can have.
std::vector<std::byte> data_for(const Hash128& key, std::size_t size = 100000)
{
  Random random(key.low);
  std::vector<std::byte> data(size);
  for (std::byte& b : data) b = static_cast<std::byte>(random.bits());
  return data;
}

CacheDesc in(const ScratchFolder& folder)
{
  return {.folder = folder / "cache"};
}

TEST(Cache, LoadsWhatWasStored)
{
  const ScratchFolder folder;
  const Cache cache(in(folder));
  const Hash128 key{1, 2};
  EXPECT_FALSE(cache.load("modes", key));
  EXPECT_TRUE(cache.store("modes", key, data_for(key)));
  EXPECT_EQ(cache.load("modes", key), data_for(key));
  EXPECT_EQ(Cache(in(folder)).load("modes", key), data_for(key));
  EXPECT_FALSE(cache.load("field", key));
  EXPECT_FALSE(cache.load("modes", {1, 3}));
  EXPECT_TRUE(cache.remove("modes", key));
  EXPECT_FALSE(cache.load("modes", key));
  EXPECT_THROW(static_cast<void>(cache.load("../etc", key)), Error);
}

TEST(Cache, StoresEmptyData)
{
  const ScratchFolder folder;
  const Cache cache(in(folder));
  EXPECT_TRUE(cache.store("empty", {5, 5}, {}));
  ASSERT_TRUE(cache.load("empty", {5, 5}));
  EXPECT_TRUE(cache.load("empty", {5, 5})->empty());
}

TEST(Cache, RemovesADamagedEntryAndMisses)
{
  const ScratchFolder folder;
  const Cache cache(in(folder));
  const Hash128 key{7, 7};
  ASSERT_TRUE(cache.store("modes", key, data_for(key, 1000)));
  const std::filesystem::path path = cache.path_of("modes", key);
  const std::vector<std::byte> good = read_file(path);
  // One flipped bit anywhere, a missing end, an empty file.
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{9}, std::size_t{20}, std::size_t{40}, good.size() - 1}) {
    std::vector<std::byte> bad = good;
    bad[at] ^= std::byte{1};
    write_file(path, bad);
    EXPECT_FALSE(cache.load("modes", key)) << at;
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{10}, std::size_t{32}, good.size() - 1}) {
    write_file(path, std::span(good).first(length));
    EXPECT_FALSE(cache.load("modes", key)) << length;
  }
  // The entry of another key under this name is rejected.
  write_file(cache.path_of("modes", {8, 8}), good);
  EXPECT_FALSE(cache.load("modes", {8, 8}));
}

TEST(Cache, EvictsTheLeastRecentlyUsed)
{
  const ScratchFolder folder;
  CacheDesc desc = in(folder);
  desc.size_limit = 3500;
  const Cache cache(desc);
  const auto age = [&](const Hash128& key, int hours) {
    std::filesystem::last_write_time(
        cache.path_of("x", key), std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(cache.store("x", {i, 0}, data_for({i, 0}, 1000)));
    age({i, 0}, 10 - static_cast<int>(i));
  }
  // The first is the oldest, but it is used once more, so the second is removed.
  EXPECT_TRUE(cache.load("x", {1, 0}));
  ASSERT_TRUE(cache.store("x", {4, 0}, data_for({4, 0}, 1000)));
  EXPECT_TRUE(cache.load("x", {1, 0}));
  EXPECT_FALSE(cache.load("x", {2, 0}));
  EXPECT_TRUE(cache.load("x", {3, 0}));
  EXPECT_TRUE(cache.load("x", {4, 0}));
  EXPECT_LE(cache.size(), desc.size_limit);
  EXPECT_FALSE(cache.store("x", {5, 0}, data_for({5, 0}, 4000)));
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
}

TEST(Cache, NeverThrows)
{
  const ScratchFolder folder;
  write_file(folder / "file", "a file where the folder should be");
  for (const std::filesystem::path& where : {std::filesystem::path(), folder / "file", folder / "file/below",
                                             std::filesystem::path("/proc/thrum")}) {
    const Cache cache({.folder = where});
    EXPECT_FALSE(cache.store("x", {1, 1}, data_for({1, 1})));
    EXPECT_FALSE(cache.load("x", {1, 1}));
    cache.evict();
    cache.clear();
    EXPECT_EQ(cache.size(), 0u);
  }
}

TEST(Cache, FolderFollowsTheEnvironment)
{
  ::setenv("THRUM_CACHE_DIR", "/a/b", 1);
  EXPECT_EQ(default_cache_folder(), "/a/b");
  ::unsetenv("THRUM_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(default_cache_folder(), "/x/thrum");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(default_cache_folder(), "/home/someone/.cache/thrum");
}

/// Runs `work` in a child process until it is killed or returns.
template <class Work>
pid_t start_process(Work work)
{
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

// A writer is killed at many different times; a reader always finds the complete data or nothing.
TEST(Cache, SurvivesAKillDuringWriting)
{
  const ScratchFolder folder;
  const Cache cache(in(folder));
  const Hash128 key{3, 1};
  const std::vector<std::byte> data = data_for(key, 2000000);
  for (int round = 0; round < 12; ++round) {
    const pid_t writer = start_process([&] {
      for (;;) static_cast<void>(Cache(in(folder)).store("modes", key, data));
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(3 * round + 1));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    const std::filesystem::path path = cache.path_of("modes", key);
    const bool there = std::filesystem::exists(path);
    const auto loaded = cache.load("modes", key);
    EXPECT_EQ(loaded.has_value(), there);
    EXPECT_TRUE(!loaded || *loaded == data);
    cache.remove("modes", key);
  }
  EXPECT_TRUE(cache.store("modes", key, data));
  // Temporary files that the killed writers left are removed once they are old enough.
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    std::filesystem::last_write_time(entry.path(),
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  }
  cache.evict();
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) {
    EXPECT_NE(entry.path().extension(), ".partial");
  }
}

// Two processes store, load and remove the same keys at once; neither ever sees wrong data.
TEST(Cache, IsSharedByTwoProcesses)
{
  const ScratchFolder folder;
  const auto work = [&](std::uint64_t seed) {
    Random random(seed);
    const Cache cache(in(folder));
    bool sound = true;
    for (int i = 0; i < 60; ++i) {
      const Hash128 key{random.index(4), 0};
      if (const auto loaded = cache.load("x", key)) sound = sound && *loaded == data_for(key, 20000);
      static_cast<void>(cache.store("x", key, data_for(key, 20000)));
      if (i % 7 == 0) static_cast<void>(cache.remove("x", key));
    }
    return sound;
  };
  const pid_t other = start_process([&] { ::_exit(work(1) ? 0 : 1); });
  EXPECT_TRUE(work(2));
  int status = -1;
  ::waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace thrum::base
