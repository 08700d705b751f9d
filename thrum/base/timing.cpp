// SPDX-License-Identifier: MIT
#include "thrum/base/timing.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "thrum/base/error.h"

namespace thrum::base {
namespace {

double read_clock(clockid_t clock)
{
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// A time with a unit that keeps the number readable.
std::string readable(double seconds)
{
  if (seconds >= 100) return fmt::format("{:8.1f} s ", seconds);
  if (seconds >= 1) return fmt::format("{:8.3f} s ", seconds);
  if (seconds >= 1e-3) return fmt::format("{:8.3f} ms", seconds * 1e3);
  return fmt::format("{:8.3f} us", seconds * 1e6);
}

}  // namespace

double wall_clock()
{
  return read_clock(CLOCK_MONOTONIC);
}
double thread_cpu_clock()
{
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}
double process_cpu_clock()
{
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

StageTimes::StageTimes() : nodes_(1) {}

StageTimes::Scope::~Scope()
{
  THRUM_ASSERT(times_.open_ == node_);
  Node& node = times_.nodes_[node_];
  node.total += wall_clock() - start_;
  ++node.count;
  times_.open_ = node.parent;
}

std::size_t StageTimes::child_of_open(std::string_view name)
{
  for (const std::size_t child : nodes_[open_].children) {
    if (nodes_[child].name == name) return child;
  }
  const std::size_t child = nodes_.size();
  nodes_.push_back({std::string(name), open_, {}, 0, 0});
  nodes_[open_].children.push_back(child);
  return child;
}

StageTimes::Scope StageTimes::stage(std::string_view name)
{
  open_ = child_of_open(name);
  return {*this, open_};
}

void StageTimes::add(std::string_view name, double seconds, std::uint64_t count)
{
  Node& node = nodes_[child_of_open(name)];
  node.total += seconds;
  node.count += count;
}

void StageTimes::collect(std::size_t index, const std::string& prefix, int depth,
                         std::vector<StageRow>& rows) const
{
  const Node& node = nodes_[index];
  const std::string path = prefix.empty() ? node.name : prefix + "/" + node.name;
  double in_children = 0;
  for (const std::size_t child : node.children) in_children += nodes_[child].total;
  rows.push_back({node.name, path, depth, node.count, node.total, std::max(0.0, node.total - in_children)});
  for (const std::size_t child : node.children) collect(child, path, depth + 1, rows);
}

std::vector<StageRow> StageTimes::rows() const
{
  std::vector<StageRow> rows;
  for (const std::size_t child : nodes_[0].children) collect(child, "", 0, rows);
  return rows;
}

std::string StageTimes::table() const
{
  const std::vector<StageRow> all = rows();
  std::size_t width = 5;
  double whole = 0;
  for (const StageRow& row : all) {
    width = std::max(width, row.name.size() + 2 * static_cast<std::size_t>(row.depth));
    if (row.depth == 0) whole += row.total;
  }
  std::string text =
      fmt::format("{:<{}}  {:>9}  {:>11}  {:>11}  {:>6}\n", "stage", width, "count", "total", "self", "part");
  for (const StageRow& row : all) {
    const std::string name = std::string(2 * static_cast<std::size_t>(row.depth), ' ') + row.name;
    text += fmt::format("{:<{}}  {:>9}  {}  {}  {:5.1f}%\n", name, width, row.count, readable(row.total),
                        readable(row.self), whole > 0 ? 100 * row.total / whole : 0);
  }
  return text;
}

void StageTimes::clear()
{
  THRUM_ASSERT(open_ == 0);
  nodes_.assign(1, Node{});
}

}  // namespace thrum::base
