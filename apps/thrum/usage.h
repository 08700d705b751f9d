// SPDX-License-Identifier: MIT
// What to say of a command line that cannot be understood.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace thrum::app {

/// A sentence on what is wrong, after parsing has thrown `error`: a mistyped command or option is named, with the known one
/// that is most like it; anything else in the words of CLI11.
[[nodiscard]] std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace thrum::app
