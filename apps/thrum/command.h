// SPDX-License-Identifier: MIT
// Shared by the commands: parsing of numbers on the command line, printing of results, and colour.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::app {

/// Exit codes of the program.
enum ExitCode : int { done = 0, failed = 1, bad_usage = 2 };

/// Add `thrum mesh ...` and `thrum modes ...`.
void add_mesh_commands(CLI::App& app);
void add_modes_commands(CLI::App& app);

/// Rejects numbers that are not above zero, in one short sentence.
[[nodiscard]] CLI::Validator positive();
[[nodiscard]] CLI::Validator from_to(double low, double high);  ///< a number within these, not nan
/// Rejects numbers below zero.
[[nodiscard]] CLI::Validator not_negative();

/// Call before any work: throws Error when `file` has none of `extensions` (any is accepted when the list is
/// empty), or when its folder does not exist or is not writable. An empty name is an option that was not
/// given.
void check_output(const std::string& file, std::initializer_list<std::string_view> extensions);
/// The file extension in lower case: ".png".
[[nodiscard]] std::string extension_of(const std::string& file);

/// A list such as "1,1,0.02"; throws CLI::ValidationError naming `option` when it is not `count` finite
/// numbers. `example` is shown in the message.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& option, const std::string& text,
                                                std::size_t count, const std::string& example = "");
[[nodiscard]] Vec3 parse_vec3(const std::string& option, const std::string& text);

/// Points separated by semicolons: "0,0,0;0,0,1", or "0,0;1,0;1,1" for an outline.
[[nodiscard]] std::vector<Vec3> parse_points(const std::string& option, const std::string& text);
[[nodiscard]] std::vector<Vec2> parse_outline(const std::string& option, const std::string& text);

/// Colour is used only when standard output is a terminal, NO_COLOR is unset and TERM is not "dumb".
[[nodiscard]] bool use_colour();
[[nodiscard]] std::string bold(const std::string& text);
[[nodiscard]] std::string success(const std::string& text);
[[nodiscard]] std::string warning(const std::string& text);

/// "1.20 m", "3.4 mm": a length in the most readable unit.
[[nodiscard]] std::string length_text(double metres);
/// "113.7 x 79.8 x 95 mm": sides in the unit of the longest.
[[nodiscard]] std::string size_text(const Vec3& metres);
/// For printing: components below 1e-12 of `size` are rounding and become zero.
[[nodiscard]] Vec3 remove_rounding_noise(const Vec3& v, double size);

}  // namespace thrum::app
