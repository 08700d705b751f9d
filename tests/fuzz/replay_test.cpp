// SPDX-License-Identifier: MIT
// Runs the corpus through every reader: complete, truncated at every byte and with seeded damage. This is the
// part of fuzzing in a normal test run. The fuzzers themselves are built with the preset "fuzz".
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/readers.h"
#include "thrum/mesh_io/file_bytes.h"
#include "thrum/mesh_io/mesh_io.h"
#include "thrum/sim/recording_format.h"

namespace thrum::fuzz {
namespace {

// Small enough to be truncated at each byte.
constexpr std::size_t kMaxTruncatedSize = 2000;
constexpr std::uint64_t kMutatedCopies = 300;

// From the environment: THRUM_TEST_SEED for other damage, THRUM_FUZZ_COPIES for more of it.
std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise)
{
  const char* const text = std::getenv(name);
  return text != nullptr && *text != 0 ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct CorpusFile {
  std::string name;
  std::string bytes;
};

std::vector<CorpusFile> corpus(std::string_view reader)
{
  std::vector<CorpusFile> files;
  const auto folder = std::filesystem::path(THRUM_FUZZ_CORPUS) / reader;
  std::error_code none;  // a reader may have generated inputs only
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    files.push_back({entry.path().filename().string(), std::string(mesh_io::FileBytes(entry.path()).view())});
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  for (std::string& seed : generated_seeds(reader)) files.push_back({"generated", std::move(seed)});
  return files;
}

// What these hold is refused: an array in Fortran order, a token without end.
bool is_refused_file(const std::string& name)
{
  return name == "fortran.npz" || name == "long_token.gltf";
}

// First byte after the description of the scene, from which on a recording counts.
std::size_t end_of_header(std::string_view bytes)
{
  const std::size_t start = sim::kRecordingMagic.size() + sizeof(sim::kRecordingVersion);
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data() + start + sizeof(std::uint32_t), sizeof(size));
  return start + sim::kChunkHeaderSize + size;
}

// Whether the first `end` bytes of a file that is accepted are accepted as well.
bool expects_prefix(std::string_view reader, std::string_view file, std::size_t end)
{
  if (reader == "recording") return end >= end_of_header(file);
  if (reader == "stl" && file.starts_with("solid")) {
    // It ends after any of its solids, whose name may be missing.
    const std::string_view part = file.substr(0, end);
    const std::string_view end_of_solid = "endsolid";
    const std::size_t at = part.rfind(end_of_solid);
    if (at == std::string_view::npos) return false;
    const std::size_t line = part.find('\n', at);
    return line == std::string_view::npos || part.find_first_not_of(" \r\n", line) == std::string_view::npos;
  }
  // The space at the end of a text may be missing.
  return file.substr(end).find_first_not_of(" \r\n") == std::string_view::npos;
}

// Splitmix64: the same damage on every machine.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next()
  {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // One to four edits: a bit flipped, a byte replaced, four bytes set to extremes, a piece removed or
  // duplicated.
  std::string mutate(std::string bytes)
  {
    const std::uint64_t edits = 1 + next() % 4;
    for (std::uint64_t i = 0; i < edits && !bytes.empty(); ++i) {
      const std::size_t at = next() % bytes.size();
      const std::size_t length = std::min<std::size_t>(1 + next() % 16, bytes.size() - at);
      switch (next() % 5) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << next() % 8));
          break;
        case 1:
          bytes[at] = "0123456789-.eE \n/\"{}[]$,"[next() % 24];
          break;
        case 2:
          for (std::size_t k = at; k < std::min(at + 4, bytes.size()); ++k)
            bytes[k] = static_cast<char>(0xff);
          break;
        case 3:
          bytes.erase(at, length);
          break;
        default:
          bytes.insert(at, bytes.substr(at, length));
          break;
      }
    }
    return bytes;
  }

 private:
  std::uint64_t state_;
};

class Replay : public testing::TestWithParam<std::string_view> {};

TEST_P(Replay, EveryReaderAcceptsTheWholeFileAndNoOtherPart)
{
  const std::string_view reader = GetParam();
  const std::vector<CorpusFile> files = corpus(reader);
  ASSERT_FALSE(files.empty());
  for (const CorpusFile& file : files) {
    const std::string_view bytes = file.bytes;
    const bool accepted = read_and_check(reader, bytes);
    EXPECT_EQ(accepted, !is_refused_file(file.name)) << file.name;
    if (bytes.size() > kMaxTruncatedSize) continue;
    for (std::size_t end = 0; end < bytes.size(); ++end) {
      const bool part = read_and_check(reader, bytes.substr(0, end));
      if (reader == "obj") {
        // An OBJ has no end: its first lines are a mesh of fewer triangles.
        if (!part) continue;
        EXPECT_LE(mesh_io::read_obj(bytes.substr(0, end), "part.obj").mesh.triangles.size(),
                  mesh_io::read_obj(bytes, "whole.obj").mesh.triangles.size());
      } else {
        EXPECT_EQ(part, accepted && expects_prefix(reader, bytes, end)) << file.name << " cut at " << end;
      }
    }
  }
}

// What a reader accepts of damaged files is checked by read_and_check(), which aborts.
TEST_P(Replay, EveryReaderSurvivesMutation)
{
  const std::uint64_t seed = number_from_environment("THRUM_TEST_SEED", 7);
  const std::uint64_t copies = number_from_environment("THRUM_FUZZ_COPIES", kMutatedCopies);
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("THRUM_TEST_SEED=" + std::to_string(seed));
  Mutator mutator(seed);
  int refused = 0;
  for (const CorpusFile& file : corpus(GetParam())) {
    for (std::uint64_t i = 0; i < copies; ++i)
      refused += !read_and_check(GetParam(), mutator.mutate(file.bytes));
  }
  EXPECT_GT(refused, 0);
}

TEST_P(Replay, EveryReaderRefusesNoise)
{
  Mutator noise(11);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(noise.next() & 0xff);
    const bool accepted = read_and_check(GetParam(), bytes);
    if (GetParam() == "obj" && accepted) {
      // Nothing, or all of it after a '#': a comment, and a mesh without triangles.
      EXPECT_TRUE(mesh_io::read_obj(bytes, "noise.obj").mesh.triangles.empty()) << size;
    } else {
      EXPECT_FALSE(accepted) << size;
    }
  }
}

TEST_P(Replay, EveryReaderRefusesOtherFormats)
{
  // A scene and a text glTF are JSON, a modal file is an npz.
  const auto includes = [](std::string_view reader, std::string_view other, const CorpusFile& file) {
    return (reader == "json" && (other == "scene" || file.name == "nodes.gltf")) ||
           (reader == "npz" && other == "modal");
  };
  for (const std::string_view other : kReaders) {
    if (other == GetParam()) continue;
    for (const CorpusFile& file : corpus(other)) {
      EXPECT_EQ(read_and_check(GetParam(), file.bytes), includes(GetParam(), other, file))
          << other << "/" << file.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Replay, testing::ValuesIn(kReaders),
                         [](const auto& reader) { return std::string(reader.param); });

}  // namespace
}  // namespace thrum::fuzz
