// SPDX-License-Identifier: MIT
// The readers that are fuzzed, by the name of their corpus folder. A reader may throw thrum::Error; what it
// returns must be valid. Anything else, such as a crash, a hang or excessive memory, is a bug.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace thrum::fuzz {

inline constexpr std::array<std::string_view, 12> kReaders = {
    "checkpoint", "gltf", "json", "modal", "msh", "npz", "obj", "ply", "recording", "scene", "stl", "tetgen"};

/// Reads `bytes` with the reader of that name. Returns true when they are accepted; aborts when the result is
/// invalid.
bool read_and_check(std::string_view reader, std::string_view bytes);

/// Inputs that are made by this build, in addition to the corpus: a checkpoint belongs to one version of the
/// library and to one world.
std::vector<std::string> generated_seeds(std::string_view reader);

}  // namespace thrum::fuzz
