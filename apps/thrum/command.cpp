// SPDX-License-Identifier: MIT
#include "apps/thrum/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace thrum::app {

namespace {

std::string coloured(const char* code, const std::string& text)
{
  return use_colour() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
}

}  // namespace

CLI::Validator positive()
{
  // CLI::PositiveNumber explains itself with the largest double written out in full.
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc() && end == text.data() + text.size();
        return whole && std::isfinite(value) && value > 0
                   ? std::string()
                   : fmt::format("found '{}', expected a number above 0", text);
      },
      "NUMBER>0", "positive");
}

std::vector<double> parse_numbers(const std::string& option, const std::string& text, std::size_t count)
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
        option, fmt::format("found '{}', expected {} numbers with commas between them, such as {}", text,
                            count, fmt::join(std::vector<double>(count, 0.5), ",")));
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

std::string good(const std::string& text)
{
  return coloured("32", text);
}

std::string warning(const std::string& text)
{
  return coloured("33", text);
}

std::string length_text(double metres)
{
  struct Unit {
    double size;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1e3, "km"}, {1.0, "m"}, {1e-3, "mm"}, {1e-6, "um"}}};
  for (const Unit& unit : kUnits) {
    if (std::abs(metres) >= 0.1 * unit.size) return fmt::format("{:.4g} {}", metres / unit.size, unit.name);
  }
  return fmt::format("{:.4g} m", metres);
}

}  // namespace thrum::app
