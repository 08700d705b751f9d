// SPDX-License-Identifier: MIT
// Messages for wrong command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace thrum::app {

/// A sentence on what is wrong, after parsing has thrown `error`: a mistyped command or option is named, with
/// the most similar known one; for other errors the message of CLI11.
[[nodiscard]] std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error);

/// A sentence on a word in the place of a command that is none, after parsing was ended by --help; empty when
/// there is no such word.
[[nodiscard]] std::string describe_unknown_command(const CLI::App& app);

}  // namespace thrum::app
