// SPDX-License-Identifier: MIT
// Runs the corpus through every reader: complete, truncated at every byte and with seeded damage. This is the
// part of fuzzing in a normal test run. The fuzzers themselves are built with the preset "fuzz".
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/readers.h"
#include "thrum/mesh_io/file_bytes.h"

namespace thrum::fuzz {
namespace {

// Small enough to be truncated at each byte.
constexpr std::size_t kMaxTruncatedSize = 2000;
constexpr int kMutatedCopies = 300;

std::vector<std::string> corpus(std::string_view reader)
{
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::path(THRUM_FUZZ_CORPUS) / reader;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> contents;
  for (const auto& file : files) contents.emplace_back(mesh_io::FileBytes(file).view());
  return contents;
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

TEST_P(Replay, EveryReaderSurvivesTruncationAndMutation)
{
  const std::vector<std::string> files = corpus(GetParam());
  ASSERT_FALSE(files.empty());
  int accepted = 0;
  Mutator mutator(7);
  for (const std::string& file : files) {
    accepted += read_and_check(GetParam(), file);
    if (file.size() <= kMaxTruncatedSize) {
      for (std::size_t end = 0; end < file.size(); ++end)
        read_and_check(GetParam(), std::string_view(file).substr(0, end));
    }
    for (int i = 0; i < kMutatedCopies; ++i) read_and_check(GetParam(), mutator.mutate(file));
  }
  // A corpus that is entirely rejected would test only the first lines of the reader.
  EXPECT_GT(accepted, 0);
}

TEST_P(Replay, EveryReaderSurvivesNoiseAndOtherFormats)
{
  Mutator noise(11);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes;
    for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(noise.next() & 0xff);
    read_and_check(GetParam(), bytes);
  }
  for (const std::string_view other : kReaders) {
    for (const std::string& file : corpus(other)) read_and_check(GetParam(), file);
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Replay, testing::ValuesIn(kReaders),
                         [](const auto& reader) { return std::string(reader.param); });

}  // namespace
}  // namespace thrum::fuzz
