// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace thrum::support {

/// The root of the repository, for tests and benchmarks that read scenes, data and pages. Only one file is
/// compiled with this path, so that clones in other places share the compiler's cache for all others.
std::filesystem::path source_dir();

}  // namespace thrum::support
