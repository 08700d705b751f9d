// SPDX-License-Identifier: MIT
#include "thrum/base/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace thrum::base {

std::string to_string(const SourceLocation& location)
{
  std::string text = location.file.string();
  if (location.offset >= 0) return fmt::format("{}, byte {}", text, location.offset);
  if (location.line > 0) text += fmt::format(":{}", location.line);
  if (location.line > 0 && location.column > 0) text += fmt::format(":{}", location.column);
  return text;
}

InputError::InputError(SourceLocation location, std::string found, std::string expected)
    : Error(fmt::format("{}: found {}, expected {}", to_string(location), found, expected)),
      location_(std::move(location)),
      found_(std::move(found)),
      expected_(std::move(expected))
{
}

void assertion_failed(const char* condition, const char* file, int line)
{
  fmt::print(stderr, "{}:{}: assertion failed: {}\n", file, line, condition);
  std::abort();
}

}  // namespace thrum::base
