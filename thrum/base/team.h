// SPDX-License-Identifier: MIT
// A team of threads for work of microseconds: the passes of a solver over its constraints.
//
//   const bool ran = run_team(4, [&](int member) { ... });     // member 0 is the caller
//   team_for(bodies.size(), [&](std::size_t i) { advance(bodies[i]); }, 128);
//
// A loop on oneTBB's threads (parallel.h) takes several microseconds to start, a team some tenths of one:
// its threads wait for the next piece of work in a loop, first without and then with giving up their core
// to others, and sleep when none has come for a millisecond. What they wait for in the middle of a piece
// of work is waited for likewise, so that a team also gets on on fewer cores than it has members. Where
// that takes long there are no teams for some milliseconds, and the caller works alone: on a machine of
// two cores with twelve programs a step of a wall took four times as long on two threads as on one.
//
// All members of run_team() run at the same time, each on a thread of its own, so that one may wait for
// what another has done (wait_in_team). Member 0 need not wait for those that have not begun
// (absent_members). There is one team: while it works, or inside a member or a chunk of a loop, run_team()
// refuses and team_for() runs in order. Results must not depend on which of the two happens.
//
// Built without THRUM_USE_TBB (the browser) there are no teams.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "thrum/base/parallel.h"

namespace thrum::base {

/// How many members a team may have, the caller included: thread_count(), at most kMaxTeam; 1 inside a
/// member.
[[nodiscard]] int max_team();

/// More members would wait for each other for longer than they work.
inline constexpr int kMaxTeam = 16;
/// As long as this a member waits for one that may not have begun, in rounds of waiting: some microseconds.
inline constexpr int kGraceRounds = 100;

/// Wakes the threads of the team if they sleep: for a caller that will soon need them.
void wake_team();

/// Whether team_seconds() counts, and for how long teams have worked since the program began [s].
void measure_team(bool enabled);
[[nodiscard]] double team_seconds();

/// Whether there are no teams for a while after a member had to wait for long, since other programs have
/// the cores; on by default. Off for tests.
void rest_when_crowded(bool enabled);

namespace detail {
[[nodiscard]] bool run_team(int members, void (*work)(void*, int), void* context);
void run_chunks_in_team(std::size_t chunks, void (*work)(void*, std::size_t), void* context);
/// Gives up the core, or throws if another member has failed.
void pause_in_team(int& round);
}  // namespace detail

/// Calls work(member) for the members 0 ... members - 1 at the same time. False, and nothing was called:
/// the team is busy or the caller is in it, or `members` is below 2 or above max_team(). When members
/// throw, the exception of the lowest reaches the caller.
template <class Work>
[[nodiscard]] bool run_team(int members, Work&& work)
{
  using W = std::remove_reference_t<Work>;
  return detail::run_team(
      members, [](void* erased, int member) { (*static_cast<W*>(erased))(member); },
      const_cast<void*>(static_cast<const void*>(std::addressof(work))));
}

/// Called by member 0: a bit for each member that has not begun yet, since another program has its core.
/// They will not any more: member 0 has to do their work too.
[[nodiscard]] std::uint32_t absent_members();

/// Returns when is_done() is true; for members that wait for each other. Throws when another member has
/// thrown, since what is waited for may then never come.
template <class IsDone>
void wait_in_team(IsDone&& is_done)
{
  for (int round = 0; !is_done();) detail::pause_in_team(round);
}

/// Likewise, but returns false after kGraceRounds.
template <class IsDone>
[[nodiscard]] bool wait_shortly_in_team(IsDone&& is_done)
{
  for (int round = 0; round < kGraceRounds; detail::pause_in_team(round)) {
    if (is_done()) return true;
  }
  return is_done();
}

/// parallel_for_chunks() on the team, with the same chunks and the same rules for exceptions.
template <class Body>
void team_for_chunks(std::size_t count, Body&& body, std::size_t grain)
{
  detail::for_chunks(detail::run_chunks_in_team, count, body, grain);
}

/// parallel_for() on the team. A chunk of `grain` indices should be worth a microsecond.
template <class Body>
void team_for(std::size_t count, Body&& body, std::size_t grain)
{
  team_for_chunks(count, detail::for_indices(body), grain);
}

/// Makes `to` a copy of `from`, in parts of 64 elements.
template <class T>
void copy_in_team(const std::vector<T>& from, std::vector<T>& to)
{
  to.resize(from.size());
  team_for(
      from.size(), [&](std::size_t i) { to[i] = from[i]; }, 64);
}

}  // namespace thrum::base
