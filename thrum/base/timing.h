// SPDX-License-Identifier: MIT
// Clocks, and wall-clock times of named, nested stages.
//
//   StageTimes times;
//   {
//     const auto step = times.stage("step");
//     { const auto pairs = times.stage("find pairs"); ... }
//     { const auto solve = times.stage("resolve contacts"); ... }
//   }
//   fmt::print("{}", times.table());
//
// Stages have the names used in the code. A StageTimes must be used by one thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thrum::base {

/// Monotonic wall clock [s]; only differences are meaningful.
[[nodiscard]] double wall_clock();

/// CPU time used by the calling thread [s]: not affected by other processes.
[[nodiscard]] double thread_cpu_clock();

/// CPU time used by all threads of this process [s].
[[nodiscard]] double process_cpu_clock();

/// Wall-clock seconds since construction or restart.
class Stopwatch {
 public:
  Stopwatch() : start_(wall_clock()) {}
  [[nodiscard]] double seconds() const { return wall_clock() - start_; }
  void restart() { start_ = wall_clock(); }

 private:
  double start_;
};

/// One line of a profile. Rows come parents first, children in the order in which they were first entered.
struct StageRow {
  std::string name;
  std::string path;         ///< "step/find pairs"
  int depth = 0;            ///< 0 for the outermost
  std::uint64_t count = 0;  ///< how often the stage was entered
  double total = 0;         ///< wall time inside, children included [s]
  double self = 0;          ///< wall time inside, children not included [s]
};

class StageTimes {
 public:
  /// Measures from construction to destruction; scopes must be nested.
  class Scope {
   public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    friend class StageTimes;
    Scope(StageTimes& times, std::size_t node) : times_(times), node_(node), start_(wall_clock()) {}
    StageTimes& times_;
    std::size_t node_;
    double start_;
  };

  StageTimes();

  /// Enters a stage inside the current one. The name is copied.
  [[nodiscard]] Scope stage(std::string_view name);

  /// Adds a time measured elsewhere to a stage inside the current one.
  void add(std::string_view name, double seconds, std::uint64_t count = 1);

  [[nodiscard]] std::vector<StageRow> rows() const;

  /// The rows as aligned text, with each stage's fraction of the total.
  [[nodiscard]] std::string table() const;

  /// Clears all times. No stage may be open.
  void clear();

 private:
  struct Node {
    std::string name;
    std::size_t parent = 0;
    std::vector<std::size_t> children;
    std::uint64_t count = 0;
    double total = 0;
  };

  std::size_t child_of_open(std::string_view name);
  void collect(std::size_t node, const std::string& prefix, int depth, std::vector<StageRow>& rows) const;

  std::vector<Node> nodes_;  ///< nodes_[0] is the root, without a name
  std::size_t open_ = 0;
};

}  // namespace thrum::base
