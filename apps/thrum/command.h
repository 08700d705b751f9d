// SPDX-License-Identifier: MIT
// What the commands share: how numbers are written on the command line, how results are printed, and colour.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::app {

/// Exit codes of the program.
enum ExitCode : int { done = 0, failed = 1, bad_usage = 2 };

/// Add `thrum mesh ...` and `thrum modes ...`.
void add_mesh_commands(CLI::App& app);
void add_modes_commands(CLI::App& app);

/// Refuses numbers that are not above zero, in one short sentence.
[[nodiscard]] CLI::Validator positive();

/// A list such as "1,1,0.02"; throws CLI::ValidationError naming `option` when it is not `count` finite
/// numbers.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& option, const std::string& text,
                                                std::size_t count);
[[nodiscard]] Vec3 parse_vec3(const std::string& option, const std::string& text);

/// Points with semicolons between them: "0,0,0;0,0,1", or "0,0;1,0;1,1" for an outline.
[[nodiscard]] std::vector<Vec3> parse_points(const std::string& option, const std::string& text);
[[nodiscard]] std::vector<Vec2> parse_outline(const std::string& option, const std::string& text);

/// Colour is used only when standard output is a terminal, NO_COLOR is unset and TERM is not "dumb".
[[nodiscard]] bool use_colour();
[[nodiscard]] std::string bold(const std::string& text);
[[nodiscard]] std::string good(const std::string& text);
[[nodiscard]] std::string warning(const std::string& text);

/// "1.20 m", "3.4 mm": a length in the unit a person would choose.
[[nodiscard]] std::string length_text(double metres);

}  // namespace thrum::app
