// SPDX-License-Identifier: MIT
// The readers that are fuzzed, by the name of their corpus folder. A reader may refuse with thrum::Error;
// what it returns must be sound. Anything else, above all a crash, a hang or a flood of memory, is a fault.
#pragma once

#include <array>
#include <string_view>

namespace thrum::fuzz {

inline constexpr std::array<std::string_view, 12> kReaders = {
    "checkpoint", "gltf", "json", "modal", "msh", "npz", "obj", "ply", "recording", "scene", "stl", "tetgen"};

/// Reads `bytes` with the reader of that name. Returns true when it was accepted; aborts when the result is
/// unsound.
bool read_and_check(std::string_view reader, std::string_view bytes);

}  // namespace thrum::fuzz
