// SPDX-License-Identifier: MIT
#include "tests/support/source_dir.h"

namespace thrum::support {

std::filesystem::path source_dir()
{
  return THRUM_SOURCE_DIR;
}

}  // namespace thrum::support
