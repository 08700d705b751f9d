// SPDX-License-Identifier: MIT
// The benchmark harness: each row is our figure, a baseline (the simple method) measured in the same run, and
// the ratio.
//
//   THRUM_BENCHMARK(geometry, closest_point)        // group, a name for the function
//   {
//     const double ours = min_cpu_seconds([&] { ... }) / queries;
//     const double naive = min_cpu_seconds([&] { ... }) / queries;
//     report.row({.name = "closest point, 15k triangles", .figure = ours * 1e6, .unit = "us", .target = 1.0,
//                 .baseline = "linear search", .baseline_value = naive * 1e6});
//   }
//
// Times are thread CPU time, the minimum of several repeats: on a noisy machine the minimum varies least, and
// CPU time does not include other programs. Work that uses both cores is measured with min_wall_seconds().
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace thrum::bench {

enum class Better { lower, higher };

struct Row {
  std::string name = {};
  double figure = 0;  ///< ours
  std::string unit = {};
  std::optional<double> target = {};  ///< to be reached, in `unit`
  Better better = Better::lower;
  std::string baseline = {};                ///< name of the simple method; empty: none
  double baseline_value = 0;                ///< in `unit`
  std::optional<double> target_ratio = {};  ///< required ratio to the baseline
};

/// Collects the rows of a group, prints each immediately and writes them as JSON.
class Report {
 public:
  explicit Report(std::string group) : group_(std::move(group)) {}
  void row(const Row& row);
  /// A line of explanation under the table, for example a state hash or what the figure does not include.
  void note(const std::string& text);
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] const std::string& group() const { return group_; }

 private:
  std::string group_;
  std::vector<Row> rows_;
};

/// How many times better than the baseline, larger than 1 when we are better; empty without a baseline, and
/// when both are 0.
[[nodiscard]] std::optional<double> ratio(const Row& row);
[[nodiscard]] bool is_target_met(const Row& row);

/// CPU time of the calling thread for one call of `work`: the minimum of `repeats` runs or more [s].
[[nodiscard]] double min_cpu_seconds(const std::function<void()>& work, int repeats = 5);

/// Wall-clock time for one call: the minimum of `repeats` runs or more [s].
[[nodiscard]] double min_wall_seconds(const std::function<void()>& work, int repeats = 3);

/// CPU time of a single call [s], for work that differs when repeated.
[[nodiscard]] double cpu_seconds_once(const std::function<void()>& work);

/// Of repeated measurements.
struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Times of two ways to do the same, measured in turn: other programs slow both alike.
struct PairedTimes {
  std::vector<double> ours;      ///< [s]
  std::vector<double> baseline;  ///< [s]

  void add(double our_seconds, double baseline_seconds)
  {
    ours.push_back(our_seconds);
    baseline.push_back(baseline_seconds);
  }
};

/// The row with the medians [ms], and a note with the range of both and of their ratios.
void report_paired_times(Report& report, Row row, const PairedTimes& times);

/// Whether rows that take minutes are requested too (--long).
[[nodiscard]] bool include_slow_rows();

/// The folder for tables and pictures of a benchmark: that of its program, independent of the working
/// directory.
[[nodiscard]] std::filesystem::path output_file(const std::string& name);

/// Keeps the optimiser from removing a result.
template <class T>
inline void do_not_optimize(const T& value)
{
  asm volatile("" : : "r,m"(value) : "memory");
}

using BenchmarkFunction = void (*)(Report&);
bool register_benchmark(const char* group, const char* name, BenchmarkFunction function);

}  // namespace thrum::bench

#define THRUM_BENCHMARK(group, name)                                              \
  static void bench_##group##_##name(::thrum::bench::Report& report);             \
  static const bool registered_##group##_##name =                                 \
      ::thrum::bench::register_benchmark(#group, #name, &bench_##group##_##name); \
  static void bench_##group##_##name([[maybe_unused]] ::thrum::bench::Report& report)
