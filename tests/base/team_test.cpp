// SPDX-License-Identifier: MIT
#include "thrum/base/team.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "thrum/base/error.h"
#include "thrum/base/thread_limit.h"
#include "thrum/base/timing.h"

namespace thrum::base {
namespace {

/// Four threads, also on fewer cores, and the defaults at the end of a test.
class TeamTest : public testing::Test {
 protected:
  void SetUp() override
  {
    set_thread_count(4);
    rest_when_crowded(false);
    if (thread_count() == 1) GTEST_SKIP() << "built without threads";
  }
  void TearDown() override
  {
    rest_when_crowded(true);
    set_thread_count(0);
  }
};

TEST_F(TeamTest, RunsEachMemberOnceOnAThreadOfItsOwn)
{
  for (const int members : {2, 3, 4}) {
    for (int repeat = 0; repeat < 200; ++repeat) {
      std::vector<int> calls(4, 0);
      std::vector<std::thread::id> threads(4);
      ASSERT_TRUE(run_team(members, [&](int member) {
        ++calls[static_cast<std::size_t>(member)];
        threads[static_cast<std::size_t>(member)] = std::this_thread::get_id();
      }));
      for (int i = 0; i < 4; ++i) EXPECT_EQ(calls[static_cast<std::size_t>(i)], i < members ? 1 : 0);
      EXPECT_EQ(threads[0], std::this_thread::get_id());
      EXPECT_NE(threads[0], threads[1]);
    }
  }
}

// Members take turns at a number, in both directions: they would hang if they did not run at the same time.
TEST_F(TeamTest, MembersCanWaitForEachOther)
{
  std::atomic<int> turn = 0;
  int sum = 0;
  ASSERT_TRUE(run_team(4, [&](int member) {
    for (int round = 0; round < 500; ++round) {
      wait_in_team([&] { return turn.load(std::memory_order_acquire) == 4 * round + member; });
      sum += member;
      turn.store(4 * round + member + 1, std::memory_order_release);
    }
  }));
  EXPECT_EQ(sum, 500 * 6);
}

TEST_F(TeamTest, ReportsTheExceptionOfTheLowestMemberAlsoWhenOthersWaitForIt)
{
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::string seen;
    try {
      static_cast<void>(run_team(4, [&](int member) {
        if (member == 2) throw Error("two");
        if (member == 3) throw Error("three");
        wait_in_team([] { return false; });
      }));
    } catch (const Error& error) {
      seen = error.what();
    }
    EXPECT_TRUE(seen == "two" || seen == "three") << seen;
    // It works again.
    std::atomic<int> count = 0;
    ASSERT_TRUE(run_team(4, [&](int) { ++count; }));
    EXPECT_EQ(count, 4);
  }
}

TEST_F(TeamTest, IsRefusedInsideAMemberAndWhereThreadsAreLimited)
{
  std::atomic<int> refused = 0;
  ASSERT_TRUE(run_team(2, [&](int) {
    EXPECT_EQ(max_team(), 1);
    if (!run_team(2, [](int) { FAIL(); })) ++refused;
    std::size_t sum = 0;
    team_for(
        100, [&](std::size_t i) { sum += i; }, 1);
    EXPECT_EQ(sum, 4950U);
  }));
  EXPECT_EQ(refused, 2);
  const ThreadLimit limit(1);
  EXPECT_FALSE(run_team(2, [](int) { FAIL(); }));
  EXPECT_FALSE(run_team(1, [](int) { FAIL(); }));
}

TEST_F(TeamTest, LoopsVisitEveryIndexOnceAndReportTheLowestException)
{
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 5000U}) {
    std::vector<int> visits(count, 0);
    team_for(
        count, [&](std::size_t i) { ++visits[i]; }, 16);
    EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), std::size_t{0}), count);
  }
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::string seen;
    try {
      team_for(
          1000,
          [](std::size_t i) {
            if (i % 100 == 37) throw Error(std::to_string(i));
          },
          3);
    } catch (const Error& error) {
      seen = error.what();
    }
    EXPECT_EQ(seen, "37");
  }
}

// Several threads use loops on the team at once: one gets it, the others run in order.
TEST_F(TeamTest, IsSharedByThreadsThatKnowNothingOfEachOther)
{
  std::vector<std::thread> users;
  std::atomic<std::size_t> sum = 0;
  for (int user = 0; user < 4; ++user) {
    users.emplace_back([&] {
      for (int repeat = 0; repeat < 100; ++repeat)
        team_for(
            200, [&](std::size_t i) { sum += i; }, 10);
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(sum, 400U * 19900U);
}

TEST_F(TeamTest, MemberZeroCanDoTheWorkOfThoseThatAreNotThere)
{
  for (int repeat = 0; repeat < 500; ++repeat) {
    std::vector<int> done(4, 0);
    ASSERT_TRUE(run_team(4, [&](int member) {
      done[static_cast<std::size_t>(member)] = 1;
      if (member != 0) return;
      const std::uint32_t absent = absent_members();
      EXPECT_EQ(absent_members(), absent);
      for (std::size_t other = 1; other < 4; ++other) {
        if ((absent >> other & 1U) != 0) done[other] += 1;
      }
    }));
    EXPECT_EQ(done, std::vector<int>(4, 1));
  }
}

// After a section threads wait for a millisecond; then none of them uses its core.
TEST_F(TeamTest, SleepsWhenThereIsNothingToDo)
{
  ASSERT_TRUE(run_team(4, [](int) {}));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const double before = process_cpu_clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(process_cpu_clock() - before, 0.05);
  std::atomic<int> count = 0;
  ASSERT_TRUE(run_team(4, [&](int) { ++count; }));
  EXPECT_EQ(count, 4);
}

// A process that was forked has none of the threads of its parent.
#if !defined(__SANITIZE_THREAD__)
TEST_F(TeamTest, WorksInAForkedProcess)
{
  ASSERT_TRUE(run_team(2, [](int) {}));
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> count = 0;
    const bool ran = run_team(2, [&](int) { ++count; });
    _exit(ran && count == 2 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace thrum::base
