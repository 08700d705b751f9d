// SPDX-License-Identifier: MIT
#include "thrum/base/error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace thrum::base {

std::string to_string(const SourcePlace& place)
{
  std::string text = place.file.string();
  if (place.offset >= 0) return fmt::format("{}, byte {}", text, place.offset);
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

InputError::InputError(SourcePlace place, std::string found, std::string expected)
    : Error(fmt::format("{}: found {}, expected {}", to_string(place), found, expected)),
      place_(std::move(place)),
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
