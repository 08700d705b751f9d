// SPDX-License-Identifier: MIT
#include "thrum/base/parallel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "thrum/base/error.h"

namespace thrum::base {
namespace {

/// Restores the default number of threads at the end of a test.
struct ThreadCountGuard {
  ~ThreadCountGuard() { set_thread_count(0); }
};

RC_GTEST_PROP(Chunks, CoverTheRangeWithoutGapOrOverlap, ())
{
  const auto count = *rc::gen::inRange<std::size_t>(0, 5000);
  const auto grain = *rc::gen::inRange<std::size_t>(0, 300);
  const Chunks chunks = Chunks::of(count, grain);
  std::size_t next = 0;
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    RC_ASSERT(chunks.begin(c) == next);
    RC_ASSERT(chunks.end(c) > chunks.begin(c));
    next = chunks.end(c);
  }
  RC_ASSERT(next == count);
  if (grain == 0) RC_ASSERT(chunks.size() <= kMaxChunks);
}

TEST(ParallelFor, VisitsEveryIndexOnceForEveryThreadCount)
{
  const ThreadCountGuard guard;
  for (const int threads : {1, 2, 3, 8}) {
    set_thread_count(threads);
    for (const std::size_t count : {0u, 1u, 7u, 1000u, 12345u}) {
      std::vector<int> visits(count, 0);
      parallel_for(count, [&](std::size_t i) { ++visits[i]; });
      EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), std::size_t{0}), count);
      EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; }));
    }
  }
}

TEST(ParallelReduce, HasTheSameBitsForEveryThreadCount)
{
  const ThreadCountGuard guard;
  // Terms of very different size, so that another order of addition would be seen in the last digits.
  const auto sum = [] {
    return parallel_reduce(
        100000, 0.0,
        [](std::size_t i, double partial) {
          return partial + std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 17));
        },
        std::plus<>());
  };
  set_thread_count(1);
  const double serial = sum();
  for (const int threads : {2, 3, 5, 8}) {
    set_thread_count(threads);
    for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(sum(), serial);
  }
}

TEST(ParallelReduce, CombinesFromTheFirstToTheLast)
{
  const ThreadCountGuard guard;
  set_thread_count(4);
  // Joining text is not commutative: any other order gives another text.
  std::string expected;
  for (int i = 0; i < 500; ++i) expected += std::to_string(i);
  const std::string joined = parallel_reduce(
      500, std::string(), [](std::size_t i, std::string partial) { return partial + std::to_string(i); },
      std::plus<>(), 7);
  EXPECT_EQ(joined, expected);
}

TEST(ParallelReduce, OfAnEmptyRangeIsTheIdentity)
{
  EXPECT_EQ(parallel_reduce(
                0, 42, [](std::size_t, int p) { return p + 1; }, std::plus<>()),
            42);
}

TEST(ParallelReduce, WorksForBooleans)
{
  EXPECT_TRUE(parallel_reduce(
      1000, false, [](std::size_t i, bool found) { return found || i == 617; }, std::logical_or<>()));
}

TEST(ParallelFor, ReportsTheExceptionOfTheLowestIndex)
{
  const ThreadCountGuard guard;
  for (const int threads : {1, 2, 8}) {
    set_thread_count(threads);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::string seen;
      try {
        parallel_for(
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
}

TEST(ParallelFor, MayBeNested)
{
  const ThreadCountGuard guard;
  set_thread_count(4);
  std::vector<double> sums(50);
  parallel_for(sums.size(), [&](std::size_t i) {
    sums[i] = parallel_reduce(
        1000, 0.0, [&](std::size_t k, double p) { return p + static_cast<double>(i * k); }, std::plus<>());
  });
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], static_cast<double>(i) * 499500.0);
}

TEST(ThreadCount, IsWhatWasSet)
{
  const ThreadCountGuard guard;
  EXPECT_GE(thread_count(), 1);
  EXPECT_THROW(set_thread_count(-1), Error);
  set_thread_count(1);
  EXPECT_EQ(thread_count(), 1);
}

}  // namespace
}  // namespace thrum::base
