// SPDX-License-Identifier: MIT
// A loop over chunks that several threads work on, whatever brought them together.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

namespace thrum::base::detail {

/// True on a thread that is inside a chunk or a member of a team: a loop started there is nested.
extern thread_local bool inside_loop;
/// Of the threads of loops that this thread starts; 0: none.
extern thread_local int thread_limit;

class InsideLoop {
 public:
  InsideLoop() : was_inside_(inside_loop) { inside_loop = true; }
  ~InsideLoop() { inside_loop = was_inside_; }
  InsideLoop(const InsideLoop&) = delete;
  InsideLoop& operator=(const InsideLoop&) = delete;

 private:
  bool was_inside_;
};

inline void run_in_order(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
{
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) work(context, chunk);
}

/// One loop: threads take chunks in ascending order from a shared counter.
///
/// Which exception is reported does not depend on timing: a chunk is skipped only when a lower one has
/// already thrown, so the lowest chunk that throws is always run.
class ChunkLoop {
 public:
  ChunkLoop(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
      : chunks_(chunks), work_(work), context_(context)
  {
  }

  /// Makes writes from before the loop visible to all threads that take a chunk.
  void open() noexcept { next_.store(0, std::memory_order_release); }

  /// Takes chunks until none are left; called once by each thread.
  void take_chunks() noexcept
  {
    const InsideLoop inside;
    for (;;) {
      // Acquire and release on the counter order the bodies of different threads in a way that the thread
      // sanitizer can see; oneTBB orders them as well, but is not instrumented.
      const std::size_t chunk = next_.fetch_add(1, std::memory_order_acq_rel);
      if (chunk >= chunks_) return;
      if (chunk > lowest_failed_.load(std::memory_order_acquire)) continue;
      try {
        work_(context_, chunk);
      } catch (...) {
        record_failure(chunk, std::current_exception());
      }
    }
  }

  void rethrow()
  {
    static_cast<void>(next_.load(std::memory_order_acquire));
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void record_failure(std::size_t chunk, std::exception_ptr failure)
  {
    const std::lock_guard lock(mutex_);
    if (chunk >= lowest_failed_.load(std::memory_order_relaxed)) return;
    failure_ = std::move(failure);
    lowest_failed_.store(chunk, std::memory_order_release);
  }

  std::size_t chunks_;
  void (*work_)(void*, std::size_t);
  void* context_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> lowest_failed_{static_cast<std::size_t>(-1)};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace thrum::base::detail
