// SPDX-License-Identifier: MIT
#include "thrum/base/parallel.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <mutex>

#include "thrum/base/chunk_loop.h"
#include "thrum/base/error.h"
#include "thrum/base/thread_limit.h"

#ifdef THRUM_USE_TBB
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#endif

#if defined(THRUM_USE_TBB) && defined(__SANITIZE_THREAD__)
// oneTBB is not built with the thread sanitizer, so the sanitizer reports the start of a loop on the worker
// threads as a race: in the library (or in Embree, which uses it), in its headers, and in a thread's first
// access to its loop. Bodies of loops are ordered by ChunkLoop::next_ and are checked.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions()
{
  return "called_from_lib:libtbb.so\n"
         "called_from_lib:libembree3.so\n"
         "race_top:oneapi/tbb\n"
         "race_top:thrum/base/parallel.cpp\n"
         "race_top:thrum/base/chunk_loop.h\n"
         "race_top:bits/atomic_base.h\n";
}
#endif

namespace thrum::base {

thread_local bool detail::inside_loop = false;
thread_local int detail::thread_limit = 0;

using detail::ChunkLoop;
using detail::inside_loop;
using detail::run_in_order;
using detail::thread_limit;

namespace {

#ifdef THRUM_USE_TBB

/// More threads than this are assumed to be a mistake (each would reserve a stack).
constexpr int kMaxThreads = 4096;

int default_thread_count()
{
  if (const char* text = std::getenv("THRUM_THREADS")) {
    const int count = std::atoi(text);
    if (count >= 1 && count <= kMaxThreads) return count;
  }
  return std::max(1, tbb::info::default_concurrency());
}

/// The worker threads of all loops. An arena of its own lets the count exceed the number of cores, so that
/// tests can look for races on a small machine.
struct Workers {
  explicit Workers(int thread_count)
      : count(thread_count),
        limit(tbb::global_control::max_allowed_parallelism,
              static_cast<std::size_t>(std::max(thread_count, 2))),
        arena(thread_count)
  {
  }
  int count;
  tbb::global_control limit;
  tbb::task_arena arena;
};

std::mutex workers_mutex;

/// Never destroyed: loops in the destructors of static objects may still use it.
std::shared_ptr<Workers>& workers_slot()
{
  static auto* slot = new std::shared_ptr<Workers>;
  return *slot;
}

std::shared_ptr<Workers> current_workers()
{
  const std::lock_guard lock(workers_mutex);
  std::shared_ptr<Workers>& slot = workers_slot();
  if (!slot) slot = std::make_shared<Workers>(default_thread_count());
  return slot;
}

#endif

}  // namespace

ThreadLimit::ThreadLimit(int count) : outer_(thread_limit)
{
  if (count < 0) throw Error(fmt::format("Cannot use {} threads: give 1 or more, or 0 for no limit.", count));
  if (count > 0) thread_limit = count;
}

ThreadLimit::~ThreadLimit()
{
  thread_limit = outer_;
}

#ifdef THRUM_USE_TBB

void set_thread_count(int count)
{
  if (count < 0 || count > kMaxThreads) {
    throw Error(fmt::format("Cannot use {} threads: give 1 to {}, or 0 for every core.", count, kMaxThreads));
  }
  const std::lock_guard lock(workers_mutex);
  workers_slot() = std::make_shared<Workers>(count == 0 ? default_thread_count() : count);
}

int thread_count()
{
  const int count = current_workers()->count;
  return thread_limit > 0 ? std::min(count, thread_limit) : count;
}

void detail::run_chunks(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
{
  if (chunks <= 1) return run_in_order(chunks, work, context);
  const std::shared_ptr<Workers> workers = current_workers();
  const int allowed = thread_limit > 0 ? std::min(workers->count, thread_limit) : workers->count;
  if (allowed == 1) return run_in_order(chunks, work, context);

  ChunkLoop loop(chunks, work, context);
  loop.open();
  const auto threads = static_cast<int>(std::min<std::size_t>(chunks, static_cast<std::size_t>(allowed)));
  const auto spread = [&] {
    tbb::parallel_for(
        0, threads, [&](int) { loop.take_chunks(); }, tbb::simple_partitioner());
  };
  if (inside_loop) {
    // Isolated: while it waits for this inner loop the thread must not start another chunk of the outer one,
    // whose body may be in the middle of using its own scratch memory.
    tbb::this_task_arena::isolate(spread);
  } else {
    workers->arena.execute(spread);
  }
  loop.rethrow();
}

#else

void set_thread_count(int count)
{
  if (count < 0)
    throw Error(fmt::format("Cannot use {} threads: give 1 or more, or 0 for every core.", count));
}

int thread_count()
{
  return 1;
}

void detail::run_chunks(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
{
  run_in_order(chunks, work, context);
}

#endif

}  // namespace thrum::base
