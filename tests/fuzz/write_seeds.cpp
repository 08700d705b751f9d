// SPDX-License-Identifier: MIT
// Writes the generated inputs of a reader into a folder, for libFuzzer: write_fuzz_seeds READER FOLDER.
#include <cstdio>
#include <filesystem>

#include "tests/fuzz/readers.h"
#include "thrum/base/atomic_file.h"

int main(int argc, char** argv)
{
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s READER FOLDER\n", argv[0]);
    return 2;
  }
  int number = 0;
  for (const std::string& seed : thrum::fuzz::generated_seeds(argv[1]))
    thrum::base::write_file(std::filesystem::path(argv[2]) / ("seed-" + std::to_string(number++)),
                            std::string_view(seed));
  return 0;
}
