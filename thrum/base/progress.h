// SPDX-License-Identifier: MIT
// Progress of long work, and stopping it.
//
//   StopSource stop;  stop.stop_on_interrupt();    // Ctrl-C requests a stop; a second one exits at once
//   Progress progress("modes", count, {.stop = stop.token()});
//   parallel_for(count, [&](std::size_t i) { ...; progress.advance(); });
//   progress.finish();
//
// On a terminal a bar with the time left is redrawn at most ten times a second; elsewhere a plain line is
// printed at most every few seconds and every tenth of the work; quiet prints nothing. advance() may be
// called by many threads at once and throws Stopped when a stop was requested, so a long loop that reports
// its progress can be interrupted.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "thrum/base/error.h"

namespace thrum::base {

/// Thrown by work when a stop was requested.
class Stopped : public Error {
 public:
  Stopped() : Error("Stopped on request.") {}
};

/// Shows whether a stop was requested; never for a default token. Copies are cheap and share their source.
class StopToken {
 public:
  StopToken() = default;
  [[nodiscard]] bool stop_requested() const;
  /// Throws Stopped when stop was requested.
  void check() const;

 private:
  friend class StopSource;
  std::shared_ptr<const std::atomic<bool>> flag_;
  bool stops_on_interrupt_ = false;
};

/// Requests the stop.
class StopSource {
 public:
  StopSource() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void request_stop() { flag_->store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool stop_requested() const { return token().stop_requested(); }
  [[nodiscard]] StopToken token() const;

  /// From now on Ctrl-C (SIGINT) and SIGTERM request the stop; a second one exits at once.
  void stop_on_interrupt();

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
  bool stops_on_interrupt_ = false;
};

enum class ProgressStyle {
  automatic,  ///< bar on a terminal, lines elsewhere
  bar,
  lines,
  quiet,
};

struct ProgressDesc {
  ProgressStyle style = ProgressStyle::automatic;
  StopToken stop = {};
  std::FILE* stream = stderr;    ///< standard output is for results
  double line_interval = 3;      ///< minimum time between two plain lines [s]
  double redraw_interval = 0.1;  ///< minimum time between two drawings of the bar [s]
};

/// The style used where ProgressStyle::automatic is set; `--quiet` sets quiet.
void set_default_progress_style(ProgressStyle style);

class Progress {
 public:
  /// `total` is the amount of work in any unit; 0 when it is not known, and then no remaining time is shown.
  Progress(std::string title, std::uint64_t total, ProgressDesc desc = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Thread-safe. Throws Stopped when stop was requested.
  void advance(std::uint64_t amount = 1);

  /// Prints the last state with the time taken; further calls do nothing.
  void finish();

  [[nodiscard]] std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }

 private:
  void report(double now, bool last);
  void draw_bar(double now, bool last);
  void print_line(double now, bool last);

  std::string title_;
  std::uint64_t total_;
  ProgressDesc desc_;
  double start_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<double> next_report_;
  std::mutex mutex_;
  int printed_tenths_ = 0;
  bool anything_printed_ = false;
  bool finished_ = false;
};

/// "12 s", "3 min 05 s", "2 h 07 min": a duration as readable text.
[[nodiscard]] std::string readable_duration(double seconds);

}  // namespace thrum::base
