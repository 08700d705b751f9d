// SPDX-License-Identifier: MIT
#include "thrum/rigid/patch_schedule.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "thrum/model/ids.h"

namespace thrum::rigid {

namespace {

/// Fewer patches than this for each thread, 3 us of work, are not worth bringing it in.
constexpr std::size_t kMinPatches = 48;
/// What a thread loses that has to fetch what another has just written, in visits of a patch.
constexpr double kHandOver = 2;
/// Threads that gain less than this over one are not used.
constexpr double kMinGain = 1.25;
/// Visits that depend on each other are this far apart where others can come between them.
constexpr std::size_t kVisitsApart = 3;

}  // namespace

void VisitOrder::find_dependents(std::size_t body_count)
{
  next_.assign(movers_.size(), {model::kNone, model::kNone});
  missing_.assign(movers_.size(), 0);
  last_.assign(body_count, model::kNone);
  for (std::size_t i = 0; i < movers_.size(); ++i) {
    for (const std::int32_t body : movers_[i]) {
      if (body == model::kNone) continue;
      const std::int32_t before = std::exchange(last_[at(body)], static_cast<std::int32_t>(i));
      if (before == model::kNone) continue;
      next_[at(before)][movers_[at(before)][0] == body ? 0 : 1] = static_cast<std::int32_t>(i);
      ++missing_[i];
    }
  }
}

// Always the first patch whose turn has come on both of its bodies, and if possible not shortly before.
void VisitOrder::build(std::span<const std::array<std::int32_t, 2>> movers, std::size_t body_count)
{
  if (std::equal(movers.begin(), movers.end(), movers_.begin(), movers_.end())) return;
  movers_.assign(movers.begin(), movers.end());
  find_dependents(body_count);
  order_.clear();
  ready_.clear();
  waiting_.clear();
  waiting_until_.clear();
  // Ascending, which is a heap.
  for (std::size_t i = 0; i < movers_.size(); ++i) {
    if (missing_[i] == 0) ready_.push_back(static_cast<std::int32_t>(i));
  }
  std::size_t first_waiting = 0;
  while (order_.size() < movers_.size()) {
    while (first_waiting < waiting_.size() &&
           (waiting_until_[first_waiting] <= order_.size() || ready_.empty())) {
      ready_.push_back(waiting_[first_waiting++]);
      std::push_heap(ready_.begin(), ready_.end(), std::greater<>());
    }
    std::pop_heap(ready_.begin(), ready_.end(), std::greater<>());
    const std::int32_t patch = ready_.back();
    ready_.pop_back();
    order_.push_back(patch);
    for (const std::int32_t next : next_[at(patch)]) {
      if (next == model::kNone || --missing_[at(next)] != 0) continue;
      waiting_.push_back(next);
      waiting_until_.push_back(order_.size() + kVisitsApart - 1);
    }
  }
}

void PatchLinks::reset(std::size_t count)
{
  links_.assign(count, Links{});
  if (count <= capacity_) return;
  capacity_ = count + count / 2;
  visited_ = std::make_unique<std::atomic<std::uint32_t>[]>(capacity_);
  pass_ = 0;
}

bool PatchSchedule::begin_build(std::span<const ScheduledPatch> patches, int threads)
{
  if (threads == asked_ && std::equal(patches.begin(), patches.end(), patches_.begin(), patches_.end()))
    return false;
  asked_ = threads;
  is_reordered_ = false;
  patches_.assign(patches.begin(), patches.end());
  threads_ = static_cast<int>(std::min<std::size_t>(at(threads), patches_.size() / kMinPatches));
  threads_ = std::max(1, threads_);
  return true;
}

// As many patches on each side of the cuts.
void PatchSchedule::cut_along(Eigen::Index axis, std::vector<std::uint8_t>& thread_of_body)
{
  std::sort(bodies_.begin(), bodies_.end(), [&](std::int32_t i, std::int32_t j) {
    const double x = places_[at(i)][axis];
    const double y = places_[at(j)][axis];
    return x != y ? x < y : i < j;
  });
  const std::size_t count = patches_.size();
  std::size_t before = 0;
  for (const std::int32_t body : bodies_) {
    const auto load = static_cast<std::size_t>(load_[at(body)]);
    const std::size_t middle = before + load / 2;
    thread_of_body[at(body)] = static_cast<std::uint8_t>(middle * at(threads_) / count);
    before += load;
  }
}

// How long a pass takes, in visits of a patch, when each thread waits where it has to.
double PatchSchedule::duration(const std::vector<std::uint8_t>& thread_of_body)
{
  std::array<double, base::kMaxTeam> ready{};
  std::fill(last_.begin(), last_.end(), model::kNone);
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    const ScheduledPatch& patch = patches_[i];
    const std::uint8_t thread = thread_of_body[at(patch.place)];
    double begin = ready[thread];
    for (const std::int32_t body : patch.movers) {
      if (body == model::kNone) continue;
      std::int32_t& last = last_[at(body)];
      if (last != model::kNone && thread_of_body[at(patches_[at(last)].place)] != thread)
        begin = std::max(begin, ends_[at(last)] + kHandOver);
      last = static_cast<std::int32_t>(i);
    }
    ends_[i] = ready[thread] = begin + 1;
  }
  return *std::max_element(ready.begin(), ready.end());
}

// Cuts along each axis are tried: across a heap that is ordered from one side to the other all threads but
// one would wait.
void PatchSchedule::finish_build()
{
  lists_.clear();
  thread_of_.assign(patches_.size(), 0);
  if (threads_ < 2) return;
  load_.assign(places_.size(), 0);
  for (const ScheduledPatch& patch : patches_) ++load_[at(patch.place)];
  bodies_.clear();
  for (std::size_t i = 0; i < load_.size(); ++i) {
    if (load_[i] > 0) bodies_.push_back(static_cast<std::int32_t>(i));
  }
  last_.resize(places_.size());
  ends_.resize(patches_.size());
  candidate_.assign(places_.size(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    cut_along(axis, candidate_);
    const double time = duration(candidate_);
    if (!(time < least)) continue;
    least = time;
    best_ = candidate_;
  }
  if (static_cast<double>(patches_.size()) < kMinGain * least) {
    threads_ = 1;
    return;
  }
  lists_.resize(at(threads_));
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    thread_of_[i] = best_[at(patches_[i].place)];
    lists_[thread_of_[i]].push_back(static_cast<std::int32_t>(i));
  }
  link_patches();
}

void PatchSchedule::link_patches()
{
  links_.reset(patches_.size());
  std::fill(last_.begin(), last_.end(), model::kNone);
  for (std::size_t i = 0; i < patches_.size(); ++i) {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const std::int32_t body = patches_[i].movers[slot];
      if (body == model::kNone) continue;
      const std::int32_t last = std::exchange(last_[at(body)], static_cast<std::int32_t>(i));
      if (last == model::kNone || thread_of_[at(last)] == thread_of_[i]) continue;
      links_.add(last, patches_[at(last)].movers[0] == body ? 0 : 1, static_cast<std::int32_t>(i), slot);
    }
  }
}

std::span<const std::int32_t> PatchSchedule::of_thread(int thread, std::size_t begin, std::size_t end) const
{
  const std::vector<std::int32_t>& list = lists_[at(thread)];
  if (begin == 0 && end == count_) return list;
  const auto first = std::lower_bound(list.begin(), list.end(), static_cast<std::int32_t>(begin));
  const auto last = std::lower_bound(first, list.end(), static_cast<std::int32_t>(end));
  return {first, last};
}

}  // namespace thrum::rigid
