// SPDX-License-Identifier: MIT
// One libFuzzer program per reader; THRUM_FUZZ_READER names it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  thrum::fuzz::read_and_check(THRUM_FUZZ_READER, {reinterpret_cast<const char*>(data), size});
  return 0;
}
