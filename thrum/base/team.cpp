// SPDX-License-Identifier: MIT
#include "thrum/base/team.h"

#include <algorithm>

#include "thrum/base/chunk_loop.h"
#include "thrum/base/timing.h"

#ifdef THRUM_USE_TBB
#include <pthread.h>

#include <array>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#endif

namespace thrum::base {

#ifdef THRUM_USE_TBB

namespace {

/// How long a thread waits for work without giving up its core, for one that has a core of its own and for
/// one that has not, and then before it sleeps. Between two
/// passes of a step there are up to some hundred microseconds that one thread spends alone; waking takes
/// about 50.
constexpr std::chrono::microseconds kSpinTime{200};
constexpr std::chrono::microseconds kCrampedSpinTime{5};
constexpr std::chrono::microseconds kAwakeTime{1000};
/// Rounds of waiting between two looks at the clock: about 1 us.
constexpr int kSpinRounds = 32;
/// Rounds that a member waits for another before it gives up its core at times: some ten microseconds. And
/// those after which it takes it that another program has the core of the other.
constexpr int kPatientRounds = 1000;
constexpr int kCrowdedRounds = 4000;
/// After that there are no teams for a while, each time for twice as long: a thread that has lost its core
/// comes back after milliseconds. After so many sections without it, all is as at first.
constexpr std::chrono::milliseconds kMinRest{4};
constexpr std::chrono::milliseconds kMaxRest{128};
constexpr int kCalmSections = 200;

void relax()
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

std::atomic<bool> may_rest{true};

/// What a member throws that waited for one that has failed.
struct MemberFailed {};

// The caller opens a section by writing its number and how many members it has; a thread of the team that
// is one of them enters by setting its bit in `entry_`, which the caller closes before it waits for those
// who entered: one that wakes too late finds the section closed and is not waited for.
class Team {
  using Clock = std::chrono::steady_clock;

 public:
  /// False: another section is open, or the cores are busy.
  [[nodiscard]] bool begin()
  {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    if (rests_ && Clock::now() < rest_end_) {
      end();
      return false;
    }
    rests_ = false;
    return true;
  }
  void end() { busy_.clear(std::memory_order_release); }

  /// Between begin() and end(). Waits for all members if `all` is set.
  void run(int members, bool all, void (*work)(void*, int), void* context)
  {
    start_threads(members);
    is_cramped_.store(members > cores_, std::memory_order_relaxed);
    work_ = work;
    context_ = context;
    failed_.store(false, std::memory_order_relaxed);
    is_crowded_.store(false, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    members_ = members;
    const std::uint64_t section = ++last_section_ << kBits;
    entry_.store(section, std::memory_order_release);
    section_.store(section | static_cast<std::uint64_t>(members), std::memory_order_seq_cst);
    wake(members);
    run_member(0);
    if (all && entry_.load(std::memory_order_relaxed) != kClosed) wait_for_finished(members - 1);
    static_cast<void>(close());
    wait_for_finished(entered_);
    plan_rest();
    rethrow(members);
  }

  /// Called by member 0: no other enters any more. Returns the bits of those who have not.
  std::uint32_t close()
  {
    const std::uint64_t entry = entry_.exchange(kClosed, std::memory_order_acq_rel);
    if (entry != kClosed) {
      const std::uint64_t wanted = (std::uint64_t{1} << members_) - 2;
      absent_ = static_cast<std::uint32_t>(wanted & ~entry);
      entered_ = std::popcount(entry & wanted);
    }
    return absent_;
  }

  /// Wakes the threads of so many members that sleep. Those that do not are not disturbed.
  void wake(int members)
  {
    for (std::size_t i = 1; i < static_cast<std::size_t>(members); ++i) {
      Seat& seat = seats_[i];
      if (!seat.sleeps.load(std::memory_order_seq_cst)) continue;
      const std::lock_guard lock(seat.mutex);
      seat.is_called = true;
      seat.wakes.notify_one();
    }
  }

  void start_threads(int members)
  {
    for (; seat_count_ < members; ++seat_count_)
      std::thread([this, member = seat_count_] { serve(member); }).detach();
  }

  /// Gives up the core now and then, or throws if a member has failed.
  void pause(int& round)
  {
    if (failed_.load(std::memory_order_relaxed)) throw MemberFailed{};
    pause_alone(round);
  }

 private:
  static constexpr int kBits = kMaxTeam;
  static constexpr std::uint64_t kMask = (std::uint64_t{1} << kBits) - 1;
  static constexpr std::uint64_t kClosed = 0;

  /// A place for a member, and where its thread sleeps.
  struct alignas(64) Seat {
    std::atomic<bool> sleeps{false};
    std::mutex mutex;
    std::condition_variable wakes;
    bool is_called = false;
    std::exception_ptr failure;
  };

  void pause_alone(int& round)
  {
    ++round;
    const bool is_patient = round < kPatientRounds && !is_cramped_.load(std::memory_order_relaxed);
    if (is_patient || round % kSpinRounds != 0) {
      relax();
      return;
    }
    if (round >= kCrowdedRounds) is_crowded_.store(true, std::memory_order_relaxed);
    std::this_thread::yield();
  }

  void plan_rest()
  {
    if (!is_crowded_.load(std::memory_order_relaxed) || !may_rest.load(std::memory_order_relaxed)) {
      if (++calm_sections_ == kCalmSections) rest_ = kMinRest;
      return;
    }
    calm_sections_ = 0;
    rests_ = true;
    rest_end_ = Clock::now() + rest_;
    rest_ = std::min(2 * rest_, kMaxRest);
  }

  void wait_for_finished(int count)
  {
    for (int round = 0; finished_.load(std::memory_order_acquire) < count;) pause_alone(round);
  }

  void run_member(int member) noexcept
  {
    const detail::InsideLoop inside;
    Seat& seat = seats_[static_cast<std::size_t>(member)];
    seat.failure = nullptr;
    try {
      work_(context_, member);
    } catch (const MemberFailed&) {
    } catch (...) {
      seat.failure = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }

  void rethrow(int members)
  {
    if (!failed_.load(std::memory_order_relaxed)) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(members); ++i) {
      if (seats_[i].failure) std::rethrow_exception(std::exchange(seats_[i].failure, nullptr));
    }
  }

  /// The thread of a member.
  void serve(int member)
  {
    for (std::uint64_t last = 0;;) {
      last = wait_for_section(member, last);
      const std::uint64_t section = last & ~kMask;
      std::uint64_t entered = entry_.load(std::memory_order_acquire);
      bool is_open = true;
      do {
        is_open = (entered & ~kMask) == section;
      } while (is_open && !entry_.compare_exchange_weak(entered, entered | std::uint64_t{1} << member,
                                                        std::memory_order_acq_rel));
      if (!is_open) continue;
      run_member(member);
      finished_.fetch_add(1, std::memory_order_release);
    }
  }

  std::uint64_t wait_for_section(int member, std::uint64_t last)
  {
    std::uint64_t now = last;
    const auto is_wanted = [&] {
      now = section_.load(std::memory_order_seq_cst);
      return now != last && static_cast<int>(now & kMask) > member;
    };
    Clock::time_point begin = Clock::now();
    for (int round = 0; !is_wanted();) {
      relax();
      if (++round % kSpinRounds != 0) continue;
      const Clock::duration waited = Clock::now() - begin;
      if (waited < (is_cramped_.load(std::memory_order_relaxed) ? kCrampedSpinTime : kSpinTime)) continue;
      if (waited < kAwakeTime) {
        std::this_thread::yield();
        continue;
      }
      Seat& seat = seats_[static_cast<std::size_t>(member)];
      std::unique_lock lock(seat.mutex);
      seat.is_called = false;
      // The caller writes the section and then looks for sleepers: one of the two sees the other.
      seat.sleeps.store(true, std::memory_order_seq_cst);
      seat.wakes.wait(lock, [&] { return seat.is_called || is_wanted(); });
      seat.sleeps.store(false, std::memory_order_seq_cst);
      begin = Clock::now();
    }
    return now;
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  int seat_count_ = 1;
  std::uint64_t last_section_ = 0;
  int members_ = 0;
  int entered_ = 0;
  std::uint32_t absent_ = 0;
  void (*work_)(void*, int) = nullptr;
  void* context_ = nullptr;
  std::array<Seat, kMaxTeam> seats_;
  alignas(64) std::atomic<std::uint64_t> section_{0};      ///< number and members
  alignas(64) std::atomic<std::uint64_t> entry_{kClosed};  ///< number and the bits of those who have entered
  alignas(64) std::atomic<int> finished_{0};
  alignas(64) std::atomic<bool> failed_{false};
  const int cores_ = static_cast<int>(std::thread::hardware_concurrency());
  std::atomic<bool> is_cramped_{false};  ///< there are more members than cores
  std::atomic<bool> is_crowded_{false};  ///< a member had to wait for long
  // When sections are refused because of that.
  bool rests_ = false;
  int calm_sections_ = 0;
  Clock::time_point rest_end_;
  std::chrono::milliseconds rest_ = kMinRest;
};

std::atomic<Team*> team_slot{nullptr};
std::atomic<bool> measures_team{false};
std::atomic<double> team_time{0};  ///< [s]

/// Never destroyed: its threads wait until the process ends.
Team& team()
{
  Team* team = team_slot.load(std::memory_order_acquire);
  if (team != nullptr) return *team;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  team = team_slot.load(std::memory_order_acquire);
  if (team == nullptr) {
    // A process that was forked has none of the threads: it gets a team of its own.
    static const int registered = pthread_atfork(nullptr, nullptr, [] { team_slot.store(nullptr); });
    static_cast<void>(registered);
    team = new Team;
    team_slot.store(team, std::memory_order_release);
  }
  return *team;
}

/// Begins a section of the team and ends it, also when a member throws.
class Section {
 public:
  Section() : team_(team()), is_open_(team_.begin())
  {
    if (is_open_ && measures_team.load(std::memory_order_relaxed)) start_ = wall_clock();
  }
  ~Section()
  {
    if (!is_open_) return;
    if (start_ > 0) team_time.store(team_time.load() + wall_clock() - start_);
    team_.end();
  }
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] Team& members() { return team_; }

 private:
  Team& team_;
  bool is_open_;
  double start_ = 0;  ///< [s]
};

}  // namespace

int max_team()
{
  if (detail::inside_loop || detail::thread_limit == 1) return 1;
  return std::min(thread_count(), kMaxTeam);
}

void measure_team(bool enabled)
{
  measures_team = enabled;
}

void rest_when_crowded(bool enabled)
{
  may_rest = enabled;
}

double team_seconds()
{
  return team_time;
}

void wake_team()
{
  const int members = max_team();
  if (members < 2) return;
  Section section;
  if (!section.is_open()) return;
  section.members().start_threads(members);
  section.members().wake(members);
}

bool detail::run_team(int members, void (*work)(void*, int), void* context)
{
  if (members < 2 || members > max_team()) return false;
  Section section;
  if (!section.is_open()) return false;
  section.members().run(members, true, work, context);
  return true;
}

void detail::run_chunks_in_team(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
{
  const auto members = static_cast<int>(std::min<std::size_t>(chunks, kMaxTeam));
  if (members < 2 || inside_loop) return run_in_order(chunks, work, context);
  const int allowed = std::min(members, max_team());
  if (allowed < 2) return run_in_order(chunks, work, context);
  Section section;
  if (!section.is_open()) return run_in_order(chunks, work, context);
  ChunkLoop loop(chunks, work, context);
  loop.open();
  section.members().run(
      allowed, false, [](void* erased, int) { static_cast<ChunkLoop*>(erased)->take_chunks(); }, &loop);
  loop.rethrow();
}

void detail::pause_in_team(int& round)
{
  team().pause(round);
}

std::uint32_t absent_members()
{
  return team().close();
}

#else

int max_team()
{
  return 1;
}

void wake_team() {}

void measure_team(bool) {}

void rest_when_crowded(bool) {}

double team_seconds()
{
  return 0;
}

bool detail::run_team(int, void (*)(void*, int), void*)
{
  return false;
}

void detail::run_chunks_in_team(std::size_t chunks, void (*work)(void*, std::size_t), void* context)
{
  run_in_order(chunks, work, context);
}

// Outside a team nothing is waited for.
void detail::pause_in_team(int&) {}

std::uint32_t absent_members()
{
  return 0;
}

#endif

}  // namespace thrum::base
