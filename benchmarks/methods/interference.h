// SPDX-License-Identifier: MIT
// Time of a step of worlds of meshes with faces from the z-list and from the hierarchy.
#pragma once

#include <string>

#include "benchmarks/harness.h"

namespace thrum::bench {

/// Adds rows to the report and returns a section for the page.
[[nodiscard]] std::string measure_interference(Report& report);

}  // namespace thrum::bench
