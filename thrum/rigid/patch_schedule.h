// SPDX-License-Identifier: MIT
// Passes over all patches in their order, on several threads, with the bits of one.
//
// A visit of a patch reads and changes the velocities of its bodies, and nothing else that other visits
// change. A pass therefore gives the bits of one thread if each body meets its patches in their order;
// patches that share no body may be visited at the same time. Patches are divided among threads by where
// their bodies are. Each thread visits its own in order. Where the patch before on one of its bodies
// belongs to another thread, it waits until that one has been visited:
//
//     order      0  1  2  3  4  5  6  7  8  9           body:   [a][b][c] | [d][e][f]
//     thread 0   0  1     3     5  6                    patches of c and d are the only ones
//     thread 1         2     4*       7  8  9           that wait;  4 waits for 3, which has c
//
// A wall of 40 bricks a row, ordered by levels from the ground up and within a level from left to right,
// is cut through the middle; thread 1 is half a level behind thread 0, and waits once a level.
//
// Where we leave the field: engines colour the contacts and sweep colour by colour (Box2D, Jolt), with a
// barrier after each. A level of a wall has 80 patches in three colours, 1 us of work for a barrier of
// some tenths; and the order of colours is not that of the support graph, by which loads travel from the
// top to the ground in one sweep. Here the order stays as it is, and the threads meet where bodies on both
// sides of the cut touch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/base/team.h"
#include "thrum/base/vec.h"

namespace thrum::rigid {

/// The order in which one thread visits the patches: each body meets its patches in their order, which gives
/// the same bits, and visits that depend on each other are apart.
///
/// A visit is a chain of some thirty operations, each of which waits for the one before. The processor looks
/// ahead far enough to begin the next visit, if that one does not wait for the velocities that the first is
/// about to write: 23 instead of 31 ns a visit where all is in a cache. In a wall, where each patch of a row
/// shares a brick with the one before, the rows are visited side by side, each some patches behind the one
/// below.
class VisitOrder {
 public:
  /// `movers`: of each patch, the bodies that yield, model::kNone for one that does not.
  void build(std::span<const std::array<std::int32_t, 2>> movers, std::size_t body_count);
  [[nodiscard]] std::span<const std::int32_t> patches() const { return order_; }

 private:
  void find_dependents(std::size_t body_count);

  std::vector<std::array<std::int32_t, 2>> movers_;
  std::vector<std::int32_t> order_;
  // While it is built.
  std::vector<std::array<std::int32_t, 2>> next_;  ///< by patch: the next one on each of its bodies
  std::vector<std::uint8_t> missing_;              ///< by patch: those before it that have no place yet
  std::vector<std::int32_t> last_;                 ///< by body: its last patch
  std::vector<std::int32_t> waiting_;              ///< whose turn has come, but shortly after another one
  std::vector<std::size_t> waiting_until_;
  std::vector<std::int32_t> ready_;  ///< heap, the first patch on top
};

/// A patch in the order of the passes.
struct ScheduledPatch {
  std::array<std::int32_t, 2> movers{};  ///< bodies that yield, kNone for one that does not
  std::int32_t place =
      0;  ///< the body by whose position the patch is given to a thread: one that yields if any
  bool operator==(const ScheduledPatch&) const = default;
};

/// For each patch, the patches of other threads that must have been visited before it.
class PatchLinks {
 public:
  /// Forgets all links, of `count` patches from now on.
  void reset(std::size_t count);
  /// `earlier` comes before `later` in the order and shares body number `slot` of `later` and
  /// `earlier_slot` of `earlier` with it.
  void add(std::int32_t earlier, std::size_t earlier_slot, std::int32_t later, std::size_t slot)
  {
    links_[at(later)].before[slot] = earlier;
    links_[at(earlier)].after[earlier_slot] = later;
  }
  /// Before a pass.
  void begin_pass() { ++pass_; }
  /// Whether patch i may be visited in this pass.
  [[nodiscard]] bool is_ready(std::size_t i, bool backward) const
  {
    const Links& links = links_[i];
    const std::array<std::int32_t, 2>& needed = backward ? links.after : links.before;
    return is_visited(needed[0]) && is_visited(needed[1]);
  }
  /// After a visit of patch i in this pass.
  void finish(std::size_t i, bool backward)
  {
    const Links& links = links_[i];
    const std::array<std::int32_t, 2>& waiting = backward ? links.before : links.after;
    if (waiting[0] != kNoPatch || waiting[1] != kNoPatch) visited_[i].store(pass_, std::memory_order_release);
  }

 private:
  static constexpr std::int32_t kNoPatch = -1;
  [[nodiscard]] bool is_visited(std::int32_t i) const
  {
    return i == kNoPatch || visited_[at(i)].load(std::memory_order_acquire) == pass_;
  }
  struct Links {
    std::array<std::int32_t, 2> before{kNoPatch, kNoPatch};
    std::array<std::int32_t, 2> after{kNoPatch, kNoPatch};
  };
  std::vector<Links> links_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> visited_;  ///< by patch: the last pass in which it was
  std::size_t capacity_ = 0;
  std::uint32_t pass_ = 0;
};

class PatchSchedule {
 public:
  /// Divides the patches among `threads`, or fewer where they depend on each other too much: then
  /// threads() says 1. `position_of(body)` gives where a body is [m].
  template <class PositionOf>
  void build(std::span<const ScheduledPatch> patches, std::size_t body_count, int threads,
             PositionOf&& position_of)
  {
    count_ = patches.size();
    if (!begin_build(patches, threads)) return;
    places_.resize(body_count);
    if (threads_ > 1) {
      for (const ScheduledPatch& patch : patches_) places_[at(patch.place)] = position_of(patch.place);
    }
    finish_build();
  }
  /// Of one thread, in the order of the patches.
  void build(std::size_t count)
  {
    count_ = count;
    threads_ = asked_ = 1;
    patches_.clear();
    is_reordered_ = false;
  }
  /// Of one thread, in a VisitOrder.
  void build(std::span<const std::array<std::int32_t, 2>> movers, std::size_t body_count)
  {
    count_ = movers.size();
    threads_ = asked_ = 1;
    patches_.clear();
    visit_order_.build(movers, body_count);
    is_reordered_ = true;
  }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int thread_of(std::size_t patch) const { return thread_of_[patch]; }
  /// The patches of a thread from `begin` to `end`, ascending.
  [[nodiscard]] std::span<const std::int32_t> of_thread(int thread, std::size_t begin, std::size_t end) const;

  /// Calls visit(i, ahead) for all patches, in ascending or descending order as far as results can tell.
  /// `ahead` is the patch that the thread comes to a little later, if there is one.
  template <class Visit>
  void run(bool backward, Visit&& visit)
  {
    if (threads_ > 1) {
      run(0, count_, backward, links_, visit);
    } else if (is_reordered_) {
      run_in_order(visit_order_.patches(), backward, visit);
    } else {
      run_in_order(0, count_, backward, visit);
    }
  }
  /// Likewise for those from `begin` to `end`, with other links.
  template <class Visit>
  void run(std::size_t begin, std::size_t end, bool backward, PatchLinks& links, Visit&& visit)
  {
    links.begin_pass();
    const auto visit_one = [&](std::size_t i, std::size_t ahead) {
      base::wait_in_team([&] { return links.is_ready(i, backward); });
      visit(i, ahead);
      links.finish(i, backward);
    };
    const bool ran = threads_ > 1 && base::run_team(threads_, [&](int member) {
                       const std::span<const std::int32_t> mine = of_thread(member, begin, end);
                       const std::size_t done = run_own(member, mine, backward, links, visit_one);
                       // What is left is that of members who have not begun, and what depends on it.
                       const std::uint32_t absent = member == 0 ? base::absent_members() : 0;
                       if (absent != 0) run_absent(absent, mine, done, begin, end, backward, visit_one);
                     });
    if (!ran) run_in_order(begin, end, backward, visit);
  }
  /// Likewise, without other threads.
  template <class Visit>
  static void run_in_order(std::size_t begin, std::size_t end, bool backward, Visit&& visit)
  {
    for (std::size_t k = begin; k < end; ++k) {
      const std::size_t i = backward ? begin + end - 1 - k : k;
      visit(i, backward ? i - kAhead : i + kAhead);
    }
  }

  /// Likewise for the patches of a list, in its order.
  template <class Visit>
  static void run_in_order(std::span<const std::int32_t> patches, bool backward, Visit&& visit)
  {
    const std::size_t count = patches.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t n = backward ? count - 1 - k : k;
      const std::size_t m = backward ? n - kAhead : n + kAhead;
      visit(at(patches[n]), at(patches[m < count ? m : n]));
    }
  }

 private:
  static constexpr std::size_t kAhead = 2;  ///< in visits
  // Visits the patches of a thread; member 0 only as long as it need not wait for others for long. Returns
  // how many were visited.
  template <class VisitOne>
  static std::size_t run_own(int member, std::span<const std::int32_t> mine, bool backward,
                             const PatchLinks& links, VisitOne&& visit_one)
  {
    bool may_be_absent = member == 0;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const std::size_t n = backward ? mine.size() - 1 - k : k;
      const std::size_t m = backward ? n - kAhead : n + kAhead;
      const std::size_t i = at(mine[n]);
      if (may_be_absent && !base::wait_shortly_in_team([&] { return links.is_ready(i, backward); })) {
        if (base::absent_members() != 0) return k;
        may_be_absent = false;
      }
      visit_one(i, at(mine[m < mine.size() ? m : n]));
    }
    return mine.size();
  }
  // Visits the patches of absent members, and those of `mine` after the first `done`, in their order.
  template <class VisitOne>
  void run_absent(std::uint32_t absent, std::span<const std::int32_t> mine, std::size_t done,
                  std::size_t begin, std::size_t end, bool backward, VisitOne&& visit_one)
  {
    const std::size_t left = mine.size() - done;
    const auto is_left = [&](std::size_t i) {
      if (thread_of_[i] != 0) return (absent >> thread_of_[i] & 1U) != 0;
      if (left == 0) return false;
      return backward ? i <= at(mine[left - 1]) : i >= at(mine[done]);
    };
    run_in_order(begin, end, backward, [&](std::size_t i, std::size_t) {
      if (is_left(i)) visit_one(i, i);
    });
  }
  /// False: as the last one was.
  [[nodiscard]] bool begin_build(std::span<const ScheduledPatch> patches, int threads);
  void finish_build();
  void cut_along(Eigen::Index axis, std::vector<std::uint8_t>& thread_of_body);
  [[nodiscard]] double duration(const std::vector<std::uint8_t>& thread_of_body);
  void link_patches();

  std::size_t count_ = 0;
  std::vector<ScheduledPatch> patches_;
  int asked_ = 1;
  int threads_ = 1;
  VisitOrder visit_order_;
  bool is_reordered_ = false;
  std::vector<std::uint8_t> thread_of_;           ///< by patch
  std::vector<std::vector<std::int32_t>> lists_;  ///< by thread
  PatchLinks links_;
  // While it is built.
  std::vector<Vec3> places_;                    ///< by body [m]
  std::vector<std::int32_t> load_;              ///< by body: patches
  std::vector<std::int32_t> bodies_;            ///< with patches
  std::vector<std::int32_t> last_;              ///< by body: its last patch
  std::vector<std::uint8_t> candidate_, best_;  ///< by body: thread
  std::vector<double> ends_;                    ///< by patch
};

}  // namespace thrum::rigid
