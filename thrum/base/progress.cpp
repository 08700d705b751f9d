// SPDX-License-Identifier: MIT
#include "thrum/base/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include "thrum/base/timing.h"

namespace thrum::base {
namespace {

constexpr int kDefaultColumns = 80;  ///< when the terminal does not report its width
constexpr int kMaxBarCells = 40;
constexpr int kMinBarCells = 10;

/// Number of interrupts so far. Nothing else is touched inside the signal handler.
volatile std::sig_atomic_t interrupts = 0;

extern "C" void thrum_handle_interrupt(int signal)
{
  interrupts = interrupts + 1;
  if (interrupts > 1) {
    // The second interrupt: restore the default action of the signal.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

std::atomic<ProgressStyle> default_style{ProgressStyle::automatic};

ProgressStyle resolve(ProgressStyle style, std::FILE* stream)
{
  if (style == ProgressStyle::automatic) style = default_style.load();
  if (style != ProgressStyle::automatic) return style;
  return ::isatty(::fileno(stream)) == 1 ? ProgressStyle::bar : ProgressStyle::lines;
}

int terminal_columns(std::FILE* stream)
{
  winsize size{};
  if (::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultColumns;
}

}  // namespace

bool StopToken::stop_requested() const
{
  if (stops_on_interrupt_ && interrupts > 0) return true;
  return flag_ != nullptr && flag_->load(std::memory_order_relaxed);
}

void StopToken::check() const
{
  if (stop_requested()) throw Stopped();
}

StopToken StopSource::token() const
{
  StopToken token;
  token.flag_ = flag_;
  token.stops_on_interrupt_ = stops_on_interrupt_;
  return token;
}

void StopSource::stop_on_interrupt()
{
  stops_on_interrupt_ = true;
  std::signal(SIGINT, thrum_handle_interrupt);
  std::signal(SIGTERM, thrum_handle_interrupt);
}

void set_default_progress_style(ProgressStyle style)
{
  default_style.store(style);
}

std::string readable_duration(double seconds)
{
  if (!(seconds >= 0) || seconds > 1e8) return "?";
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

Progress::Progress(std::string title, std::uint64_t total, ProgressDesc desc)
    : title_(std::move(title)), total_(total), desc_(std::move(desc)), start_(wall_clock())
{
  desc_.style = resolve(desc_.style, desc_.stream);
  next_report_ = start_ + (desc_.style == ProgressStyle::bar ? desc_.redraw_interval : desc_.line_interval);
}

Progress::~Progress()
{
  // Left by an exception: end the line, so that the error message starts on a new one.
  if (finished_ || !anything_printed_ || desc_.style != ProgressStyle::bar) return;
  fmt::print(desc_.stream, "\n");
  std::fflush(desc_.stream);
}

void Progress::advance(std::uint64_t amount)
{
  done_.fetch_add(amount, std::memory_order_relaxed);
  desc_.stop.check();
  if (desc_.style == ProgressStyle::quiet) return;
  const double now = wall_clock();
  if (now < next_report_.load(std::memory_order_relaxed)) return;
  // The first thread to get here reports; the others continue.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && !finished_ && now >= next_report_.load(std::memory_order_relaxed)) report(now, false);
}

void Progress::finish()
{
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  finished_ = true;
  if (desc_.style != ProgressStyle::quiet) report(wall_clock(), true);
}

void Progress::report(double now, bool last)
{
  if (desc_.style == ProgressStyle::bar) {
    draw_bar(now, last);
    next_report_ = now + desc_.redraw_interval;
  } else {
    print_line(now, last);
    next_report_ = now + desc_.line_interval;
  }
}

void Progress::draw_bar(double now, bool last)
{
  anything_printed_ = true;
  const double elapsed = now - start_;
  const double fraction_done =
      total_ > 0 ? std::min(1.0, static_cast<double>(done()) / static_cast<double>(total_)) : 0;
  std::string tail;
  if (last) {
    tail = fmt::format("done in {}", readable_duration(elapsed));
  } else if (fraction_done > 0) {
    tail = fmt::format("{:3.0f} %  {} left", 100 * fraction_done,
                       readable_duration(elapsed * (1 - fraction_done) / fraction_done));
  } else {
    tail = fmt::format("{} done, {}", done(), readable_duration(elapsed));
  }
  const int available_columns =
      terminal_columns(desc_.stream) - static_cast<int>(title_.size() + tail.size()) - 6;
  std::string bar;
  if (total_ > 0 && available_columns >= kMinBarCells) {
    const int cells = std::min(available_columns, kMaxBarCells);
    const int full = static_cast<int>(std::lround((last ? 1.0 : fraction_done) * cells));
    bar = fmt::format("[{:#<{}}{:<{}}]  ", "", full, "", cells - full);
  }
  fmt::print(desc_.stream, "\r\x1b[K{}  {}{}{}", title_, bar, tail, last ? "\n" : "");
  std::fflush(desc_.stream);
}

void Progress::print_line(double now, bool last)
{
  const double elapsed = now - start_;
  if (last) {
    fmt::print(desc_.stream, "{}: done in {}\n", title_, readable_duration(elapsed));
  } else if (total_ == 0) {
    fmt::print(desc_.stream, "{}: {} done after {}\n", title_, done(), readable_duration(elapsed));
  } else {
    // Print a line only when another tenth is done.
    const double fraction_done = std::min(1.0, static_cast<double>(done()) / static_cast<double>(total_));
    const int tenths = static_cast<int>(fraction_done * 10);
    if (tenths <= printed_tenths_) return;
    printed_tenths_ = tenths;
    fmt::print(desc_.stream, "{}: {:.0f} %, {} left\n", title_, 100 * fraction_done,
               readable_duration(elapsed * (1 - fraction_done) / fraction_done));
  }
  anything_printed_ = true;
  std::fflush(desc_.stream);
}

}  // namespace thrum::base
