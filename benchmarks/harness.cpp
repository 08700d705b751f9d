// SPDX-License-Identifier: MIT
#include "benchmarks/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

namespace thrum::bench {

namespace {

struct Registered {
  std::string group;
  std::string name;
  BenchmarkFunction function;
};

std::vector<Registered>& registry()
{
  static std::vector<Registered> all;
  return all;
}

double thread_cpu_seconds()
{
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double wall_clock_seconds()
{
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Short work is repeated until this much time has passed: other processes can slow a core for tenths of a
// second.
constexpr double kMinTotalTime = 1;  // [s]

double min_time(const std::function<void()>& work, int repeats, double (*clock)())
{
  double best = std::numeric_limits<double>::infinity();
  double total = 0;
  for (int i = 0; i < repeats || total < kMinTotalTime; ++i) {
    const double start = clock();
    work();
    const double taken = clock() - start;
    best = std::min(best, taken);
    total += taken;
  }
  return best;
}

std::string first_line_with(const char* path, std::string_view key)
{
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

nlohmann::json machine_state()
{
  double load[3] = {0, 0, 0};
  const bool known = getloadavg(load, 3) == 3;
  return {{"load_1_min", known ? load[0] : -1},
          {"processor", first_line_with("/proc/cpuinfo", "model name")},
          {"cores", std::thread::hardware_concurrency()},
          {"compiler", __VERSION__},
          {"commit", std::getenv("THRUM_COMMIT") != nullptr ? std::getenv("THRUM_COMMIT") : "unknown"}};
}

nlohmann::json to_json(const std::string& group, const Row& row)
{
  nlohmann::json json = {{"group", group}, {"name", row.name}, {"figure", row.figure}, {"unit", row.unit}};
  json["baseline"] = row.baseline.empty() ? nlohmann::json() : nlohmann::json(row.baseline);
  json["baseline_value"] = row.baseline.empty() ? nlohmann::json() : nlohmann::json(row.baseline_value);
  const auto r = ratio(row);
  json["ratio"] = r ? nlohmann::json(*r) : nlohmann::json();
  json["target"] = row.target ? nlohmann::json(*row.target) : nlohmann::json();
  json["target_ratio"] = row.target_ratio ? nlohmann::json(*row.target_ratio) : nlohmann::json();
  json["target_met"] = is_target_met(row);
  return json;
}

void print_header()
{
  fmt::print("{:<58} {:>11} {:<10} {:>11}  {:>11} {:>9}  {}\n", "name", "figure", "unit", "target",
             "baseline", "ratio", "target_met");
}

}  // namespace

std::optional<double> ratio(const Row& row)
{
  if (row.baseline.empty()) return std::nullopt;
  // Zero divided by zero has no ratio.
  if (row.figure == 0 && row.baseline_value == 0) return std::nullopt;
  return row.better == Better::lower ? row.baseline_value / row.figure : row.figure / row.baseline_value;
}

bool is_target_met(const Row& row)
{
  bool ok = true;
  if (row.target) ok = row.better == Better::lower ? row.figure <= *row.target : row.figure >= *row.target;
  if (row.target_ratio) ok = ok && ratio(row).value_or(0) >= *row.target_ratio;
  return ok;
}

void Report::row(const Row& row)
{
  rows_.push_back(row);
  const auto r = ratio(row);
  const bool has_target = row.target || row.target_ratio;
  fmt::print(
      "{:<58} {:>11.4g} {:<10} {:>11}  {:>11} {:>9}  {}\n", row.name, row.figure, row.unit,
      row.target ? fmt::format("{}{:.4g}", row.better == Better::lower ? "<= " : ">= ", *row.target) : "-",
      row.baseline.empty() ? "-" : fmt::format("{:.4g}", row.baseline_value),
      r ? fmt::format("{:.3g} x", *r) : "-", !has_target ? "" : (is_target_met(row) ? "yes" : "NO"));
  if (!row.baseline.empty()) fmt::print("    baseline: {}\n", row.baseline);
  std::fflush(stdout);
}

void Report::note(const std::string& text)
{
  fmt::print("    {}\n", text);
}

double min_cpu_seconds(const std::function<void()>& work, int repeats)
{
  return min_time(work, repeats, thread_cpu_seconds);
}

double cpu_seconds_once(const std::function<void()>& work)
{
  const double begin = thread_cpu_seconds();
  work();
  return thread_cpu_seconds() - begin;
}

Spread spread_of(std::vector<double> values)
{
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {(values[(n - 1) / 2] + values[n / 2]) / 2, values.front(), values.back()};
}

void report_paired_times(Report& report, Row row, const PairedTimes& times)
{
  std::vector<double> ratios;
  for (std::size_t i = 0; i < times.ours.size(); ++i) ratios.push_back(times.baseline[i] / times.ours[i]);
  const Spread ours = spread_of(times.ours);
  const Spread baseline = spread_of(times.baseline);
  const Spread ratio = spread_of(ratios);
  row.figure = 1e3 * ours.median;
  row.baseline_value = 1e3 * baseline.median;
  row.unit = "ms";
  report.row(row);
  report.note(fmt::format(
      "medians of {} in turn; {:.4g} to {:.4g} ms, {} {:.4g} to {:.4g} ms, ratios {:.3g} to {:.3g}",
      ratios.size(), 1e3 * ours.min, 1e3 * ours.max, row.baseline, 1e3 * baseline.min, 1e3 * baseline.max,
      ratio.min, ratio.max));
}

double min_wall_seconds(const std::function<void()>& work, int repeats)
{
  return min_time(work, repeats, wall_clock_seconds);
}

bool register_benchmark(const char* group, const char* name, BenchmarkFunction function)
{
  registry().push_back({group, name, function});
  return true;
}

namespace {

bool slow_rows_requested = false;
std::filesystem::path program_folder;

// bench_<group> [--filter WORD] [--long] [--json FILE]: exits with 0 when it ran, whether targets were met or
// not.
int run(int argc, char** argv)
{
  std::string filter;
  std::string json_file;
  program_folder = std::filesystem::absolute(argv[0]).parent_path();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (i + 1 < argc && word == "--filter") {
      filter = argv[++i];
    } else if (i + 1 < argc && word == "--json") {
      json_file = argv[++i];
    } else if (word == "--long") {
      slow_rows_requested = true;
    } else {
      fmt::print(stderr, "usage: {} [--filter WORD] [--long] [--json FILE]\n", argv[0]);
      return 2;
    }
  }
  const nlohmann::json machine = machine_state();
  fmt::print("{}, {} cores, load {:.2f}, compiler {}, commit {}\n", machine["processor"].get<std::string>(),
             machine["cores"].get<unsigned>(), machine["load_1_min"].get<double>(),
             machine["compiler"].get<std::string>(), machine["commit"].get<std::string>());
  print_header();
  nlohmann::json rows = nlohmann::json::array();
  for (const Registered& r : registry()) {
    if (r.name.find(filter) == std::string::npos) continue;
    Report report(r.group);
    r.function(report);
    for (const Row& row : report.rows()) rows.push_back(to_json(r.group, row));
  }
  if (!json_file.empty()) {
    std::ofstream out(json_file);
    out << nlohmann::json{{"machine", machine}, {"rows", rows}}.dump(2) << '\n';
    if (!out.flush()) {
      fmt::print(stderr, "{}: cannot be written\n", json_file);
      return 1;
    }
  }
  return 0;
}

}  // namespace

std::filesystem::path output_file(const std::string& name)
{
  return program_folder / name;
}

bool include_slow_rows()
{
  return slow_rows_requested;
}

}  // namespace thrum::bench

int main(int argc, char** argv)
{
  return thrum::bench::run(argc, argv);
}
