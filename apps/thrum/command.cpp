// SPDX-License-Identifier: MIT
#include "apps/thrum/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "thrum/base/error.h"

namespace thrum::app {

namespace {

std::string coloured(const char* code, const std::string& text)
{
  return use_colour() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

// The whole text as a finite number.
std::optional<double> number(const std::string& text)
{
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
  return whole ? std::optional(value) : std::nullopt;
}

struct Unit {
  double size;  // [m]
  const char* name;
  double min_length;  // smaller lengths are written in the next smaller unit [m]
};
constexpr std::array<Unit, 4> kUnits = {
    {{1e3, "km", 1e3}, {1.0, "m", 0.1}, {1e-3, "mm", 1e-4}, {1e-6, "um", 1e-7}}};

// The most readable unit.
Unit unit_of(double metres)
{
  for (const Unit& unit : kUnits) {
    if (std::abs(metres) >= unit.min_length) return unit;
  }
  return kUnits[1];
}

}  // namespace

CLI::Validator positive()
{
  // The message of CLI::PositiveNumber contains the largest double written out in full.
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<double> value = number(text);
        return value && *value > 0 ? std::string()
                                   : fmt::format("found '{}', expected a number above 0", text);
      },
      "NUMBER>0", "positive");
}

CLI::Validator from_to(double low, double high)
{
  // CLI::Range accepts nan.
  return CLI::Validator(
      [low, high](std::string& text) {
        const std::optional<double> value = number(text);
        return value && *value >= low && *value <= high
                   ? std::string()
                   : fmt::format("found '{}', expected a number from {:g} to {:g}", text, low, high);
      },
      fmt::format("{:g} to {:g}", low, high));
}

CLI::Validator not_negative()
{
  return CLI::Validator(
      [](std::string& text) {
        const std::optional<double> value = number(text);
        return value && *value >= 0 ? std::string()
                                    : fmt::format("found '{}', expected a number of 0 or more", text);
      },
      "NUMBER>=0", "not_negative");
}

std::string extension_of(const std::string& file)
{
  return CLI::detail::to_lower(std::filesystem::path(file).extension().string());
}

void check_output(const std::string& file, std::initializer_list<std::string_view> extensions)
{
  if (file.empty()) return;
  const std::string extension = extension_of(file);
  if (extensions.size() > 0 &&
      std::find(extensions.begin(), extensions.end(), extension) == extensions.end()) {
    throw Error(fmt::format(
        "{} cannot be written: {}; use {}.", file,
        extension.empty() ? "it has no extension" : fmt::format("its extension is '{}'", extension),
        fmt::join(extensions, " or ")));
  }
  if (std::filesystem::is_directory(file))
    throw Error(fmt::format("{} cannot be written: it is a folder.", file));
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (!std::filesystem::is_directory(folder))
    throw Error(fmt::format("{} cannot be written: the folder {} does not exist.", file, folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(fmt::format("{} cannot be written: {}: {}.", file, folder, std::strerror(errno)));
}

std::vector<double> parse_numbers(const std::string& option, const std::string& text, std::size_t count,
                                  const std::string& example)
{
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  bool right = !text.empty();
  while (right && at <= end) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    right = error == std::errc() && std::isfinite(value) && (next == end || *next == ',');
    numbers.push_back(value);
    at = next + 1;
  }
  if (!right || numbers.size() != count) {
    throw CLI::ValidationError(
        option,
        fmt::format(
            "found '{}', expected {} numbers separated by commas, such as {}", text, count,
            !example.empty() ? example : fmt::format("{}", fmt::join(std::vector<double>(count, 0.5), ","))));
  }
  return numbers;
}

Vec3 parse_vec3(const std::string& option, const std::string& text)
{
  const std::vector<double> v = parse_numbers(option, text, 3);
  return {v[0], v[1], v[2]};
}

std::vector<Vec3> parse_points(const std::string& option, const std::string& text)
{
  std::vector<Vec3> points;
  for (const std::string& part : CLI::detail::split(text, ';')) points.push_back(parse_vec3(option, part));
  return points;
}

std::vector<Vec2> parse_outline(const std::string& option, const std::string& text)
{
  std::vector<Vec2> points;
  for (const std::string& part : CLI::detail::split(text, ';')) {
    const std::vector<double> v = parse_numbers(option, part, 2);
    points.emplace_back(v[0], v[1]);
  }
  return points;
}

bool use_colour()
{
  static const bool yes = [] {
    const char* terminal = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
  }();
  return yes;
}

std::string bold(const std::string& text)
{
  return coloured("1", text);
}

std::string success(const std::string& text)
{
  return coloured("32", text);
}

std::string warning(const std::string& text)
{
  return coloured("33", text);
}

std::string length_text(double metres)
{
  const Unit unit = unit_of(metres);
  return fmt::format("{:.4g} {}", metres / unit.size, unit.name);
}

Vec3 remove_rounding_noise(const Vec3& v, double size)
{
  return (v.array().abs() > 1e-12 * size).select(v, Vec3::Zero());
}

std::string size_text(const Vec3& metres)
{
  // Sizes up to a decimetre are written in millimetres.
  const Unit unit = unit_of(metres.cwiseAbs().maxCoeff() / 10);
  return fmt::format("{:.4g} x {:.4g} x {:.4g} {}", metres.x() / unit.size, metres.y() / unit.size,
                     metres.z() / unit.size, unit.name);
}

}  // namespace thrum::app
