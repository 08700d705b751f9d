// SPDX-License-Identifier: MIT
#include "thrum/base/progress.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "thrum/base/parallel.h"

namespace thrum::base {
namespace {

/// The output of work to a stream that is not a terminal.
template <class Work>
std::string printed(Work work)
{
  std::FILE* stream = std::tmpfile();
  work(stream);
  std::string text(static_cast<std::size_t>(std::ftell(stream)), '\0');
  std::rewind(stream);
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  return text;
}

std::size_t lines_of(const std::string& text)
{
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Progress, PrintsALineEveryTenthWhenThereIsNoTerminal)
{
  const std::string text = printed([](std::FILE* stream) {
    Progress progress("modes", 1000, {.stream = stream, .line_interval = 0});
    for (int i = 0; i < 1000; ++i) progress.advance();
    progress.finish();
    progress.finish();
  });
  // Ten tenths and the end.
  EXPECT_EQ(lines_of(text), 11u) << text;
  EXPECT_NE(text.find("modes: 50 %"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, WaitsBetweenLines)
{
  const std::string text = printed([](std::FILE* stream) {
    Progress progress("modes", 100000, {.stream = stream, .line_interval = 3600});
    for (int i = 0; i < 100000; ++i) progress.advance();
    progress.finish();
  });
  EXPECT_EQ(lines_of(text), 1u) << text;
}

TEST(Progress, DrawsABarThatEndsFull)
{
  const std::string text = printed([](std::FILE* stream) {
    Progress progress("modes", 4, {.style = ProgressStyle::bar, .stream = stream, .redraw_interval = 0});
    for (int i = 0; i < 4; ++i) progress.advance();
    progress.finish();
  });
  EXPECT_NE(text.find("[##########          "), std::string::npos) << text;
  EXPECT_NE(text.find("########################################]"), std::string::npos) << text;
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, IsSilentWhenQuiet)
{
  EXPECT_EQ(printed([](std::FILE* stream) {
              Progress progress("x", 2, {.style = ProgressStyle::quiet, .stream = stream});
              progress.advance(2);
              progress.finish();
            }),
            "");
  set_default_progress_style(ProgressStyle::quiet);
  EXPECT_EQ(printed([](std::FILE* stream) { Progress("x", 2, {.stream = stream}).finish(); }), "");
  set_default_progress_style(ProgressStyle::automatic);
}

TEST(Progress, CountsWhatManyThreadsDo)
{
  Progress progress("x", 10000, {.style = ProgressStyle::quiet});
  set_thread_count(4);
  parallel_for(10000, [&](std::size_t) { progress.advance(); });
  set_thread_count(0);
  EXPECT_EQ(progress.done(), 10000u);
}

TEST(StopToken, StopsALoopThatReportsItsProgress)
{
  StopSource source;
  Progress progress("x", 100, {.style = ProgressStyle::quiet, .stop = source.token()});
  int done = 0;
  EXPECT_THROW(parallel_for(
                   100,
                   [&](std::size_t i) {
                     if (i == 10) source.request_stop();
                     progress.advance();
                     done = static_cast<int>(i);
                   },
                   100),
               Stopped);
  EXPECT_EQ(done, 9);
  EXPECT_FALSE(StopToken().stop_requested());
}

TEST(StopToken, StopsOnTheFirstInterrupt)
{
  StopSource source;
  source.stop_on_interrupt();
  EXPECT_FALSE(source.stop_requested());
  std::raise(SIGINT);
  EXPECT_TRUE(source.stop_requested());
  EXPECT_THROW(source.token().check(), Stopped);
  EXPECT_FALSE(StopSource().stop_requested());
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

TEST(ReadableDuration, RoundsToReadablePrecision)
{
  EXPECT_EQ(readable_duration(0.25), "250 ms");
  EXPECT_EQ(readable_duration(3.14159), "3.1 s");
  EXPECT_EQ(readable_duration(42.4), "42 s");
  EXPECT_EQ(readable_duration(185), "3 min 05 s");
  EXPECT_EQ(readable_duration(7620), "2 h 07 min");
}

}  // namespace
}  // namespace thrum::base
