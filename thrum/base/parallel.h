// SPDX-License-Identifier: MIT
// Parallel loops whose results never depend on the number of threads.
//
//   parallel_for(mesh.vertices.size(), [&](std::size_t v) { distance[v] = query(mesh.vertices[v]); });
//
//   const double energy = parallel_reduce(
//       count, 0.0, [&](std::size_t i, double sum) { return sum + term(i); }, std::plus<>());
//
// The range is cut into chunks by its length and the grain alone, never by the number of threads. A chunk is
// processed in order by one thread; a reduction keeps one partial result per chunk and combines them from the
// first to the last. So a sum is rounded in the same way on one thread and on sixty-four.
//
// An exception thrown by a body reaches the caller. When several bodies throw, the exception of the lowest
// index is reported, whatever the timing; chunks above it may or may not have run. Loops may be nested.
//
// Built with THRUM_USE_TBB the chunks run on oneTBB's worker threads; without it (the browser) they run one
// after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace thrum::base {

/// How many threads the loops use from now on; 0 is the default: the environment variable THRUM_THREADS, or
/// else every core this process may run on. Call it between loops, not inside one. Throws Error when
/// negative.
void set_thread_count(int count);

/// The number of threads in use, at least 1; always 1 when built without threads.
[[nodiscard]] int thread_count();

/// With no grain given, a range is cut into at most this many chunks: enough to keep many cores busy to the
/// end, few enough that the overhead of a chunk (about 0.1 us) is negligible.
inline constexpr std::size_t kMaxChunks = 256;

/// A division of [0, count) into chunks of `grain` indices, the last one possibly shorter.
struct Chunks {
  std::size_t count = 0;
  std::size_t grain = 1;

  /// A grain of 0 chooses the smallest grain that gives at most kMaxChunks chunks.
  static constexpr Chunks of(std::size_t count, std::size_t grain = 0)
  {
    const std::size_t chosen = grain > 0 ? grain : count / kMaxChunks + (count % kMaxChunks != 0 ? 1 : 0);
    return {count, std::max<std::size_t>(chosen, 1)};
  }
  [[nodiscard]] constexpr std::size_t size() const { return count / grain + (count % grain != 0 ? 1 : 0); }
  [[nodiscard]] constexpr std::size_t begin(std::size_t chunk) const { return chunk * grain; }
  [[nodiscard]] constexpr std::size_t end(std::size_t chunk) const
  {
    return count - begin(chunk) < grain ? count : begin(chunk) + grain;
  }
};

namespace detail {
/// Calls work(context, chunk) for every chunk in [0, chunks) on the threads in use.
void run_chunks(std::size_t chunks, void (*work)(void*, std::size_t), void* context);

/// body(begin, end) for each chunk of [0, count), where run(chunks, work, context) distributes the chunks.
template <class Run, class Body>
void for_chunks(Run&& run, std::size_t count, Body& body, std::size_t grain)
{
  struct Context {
    Chunks chunks;
    Body* body;
  } context{Chunks::of(count, grain), std::addressof(body)};
  run(
      context.chunks.size(),
      [](void* erased, std::size_t chunk) {
        auto& c = *static_cast<Context*>(erased);
        (*c.body)(c.chunks.begin(chunk), c.chunks.end(chunk));
      },
      &context);
}

/// body(i) for the indices of a chunk, in ascending order.
template <class Body>
[[nodiscard]] auto for_indices(Body& body)
{
  return [&body](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i);
  };
}
}  // namespace detail

/// Calls body(begin, end) for each chunk of [0, count): for bodies that keep scratch memory over a chunk.
template <class Body>
void parallel_for_chunks(std::size_t count, Body&& body, std::size_t grain = 0)
{
  detail::for_chunks(detail::run_chunks, count, body, grain);
}

/// Calls body(i) for each i in [0, count). Bodies of different i must not write to the same place.
/// `grain` is how many indices one thread takes at a time; 0 chooses it by the count.
template <class Body>
void parallel_for(std::size_t count, Body&& body, std::size_t grain = 0)
{
  parallel_for_chunks(count, detail::for_indices(body), grain);
}

/// Folds each chunk with `accumulate(i, partial) -> T`, starting from `identity`, then combines the partial
/// results from the first chunk to the last with `combine(T, T) -> T`. An empty range gives `identity`.
template <class T, class Accumulate, class Combine>
[[nodiscard]] T parallel_reduce(std::size_t count, const T& identity, Accumulate&& accumulate,
                                Combine&& combine, std::size_t grain = 0)
{
  const Chunks chunks = Chunks::of(count, grain);
  // A wrapper, so that partial results of type bool do not share a word.
  struct Partial {
    T value;
  };
  std::vector<Partial> partial(chunks.size(), Partial{identity});
  parallel_for_chunks(
      count,
      [&](std::size_t begin, std::size_t end) {
        T value = identity;
        for (std::size_t i = begin; i < end; ++i) value = accumulate(i, std::move(value));
        partial[begin / chunks.grain].value = std::move(value);
      },
      grain);
  T result = identity;
  for (Partial& p : partial) result = combine(std::move(result), std::move(p.value));
  return result;
}

}  // namespace thrum::base
