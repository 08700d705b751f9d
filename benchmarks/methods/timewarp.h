// SPDX-License-Identifier: MIT
// Work of bisection, conservative advancement and timewarp against the number of bodies.
#pragma once

#include <filesystem>
#include <string>

#include "benchmarks/harness.h"

namespace thrum::bench {

/// Adds rows to the report, writes the plot, and returns a section for the page.
[[nodiscard]] std::string measure_timewarp(Report& report, const std::filesystem::path& picture);

}  // namespace thrum::bench
