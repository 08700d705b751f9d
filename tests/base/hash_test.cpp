// SPDX-License-Identifier: MIT
#include "thrum/base/hash.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <set>

namespace thrum::base {
namespace {

std::span<const std::byte> raw(const std::vector<unsigned char>& data)
{
  return std::as_bytes(std::span(data));
}

// The verification of the function's own test suite (SMHasher): hash the keys (), (0), (0 1), ... with the
// seeds 256, 255, ...; the first four bytes of the hash of all results are 0x6384BA69 for
// MurmurHash3_x64_128.
TEST(Hash, HasThePublishedVerificationValue)
{
  std::vector<unsigned char> key, results;
  for (std::uint32_t i = 0; i < 256; ++i) {
    const Hash128 hash = hash_bytes(raw(key), 256 - i);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&hash);
    results.insert(results.end(), bytes, bytes + 16);
    key.push_back(static_cast<unsigned char>(i));
  }
  EXPECT_EQ(static_cast<std::uint32_t>(hash_bytes(raw(results)).low), 0x6384BA69u);
}

TEST(Hash, OfEmptyInputIsZero)
{
  EXPECT_EQ(to_hex(Hasher().finish()), "00000000000000000000000000000000");
}

RC_GTEST_PROP(Hash, DoesNotDependOnHowTheInputIsSplit, (const std::vector<unsigned char>& data))
{
  Hasher pieces;
  std::size_t at = 0;
  while (at < data.size()) {
    const std::size_t length = *rc::gen::inRange<std::size_t>(1, data.size() - at + 1);
    pieces.bytes(raw(data).subspan(at, length));
    static_cast<void>(pieces.finish());
    at += length;
  }
  RC_ASSERT(pieces.finish() == hash_bytes(raw(data)));
}

RC_GTEST_PROP(Hash, HexRoundTrips, (std::uint64_t low, std::uint64_t high))
{
  RC_ASSERT(hash_from_hex(to_hex({low, high})) == (Hash128{low, high}));
}

TEST(Hash, RejectsInvalidHex)
{
  EXPECT_FALSE(hash_from_hex("12"));
  EXPECT_FALSE(hash_from_hex("0000000000000000000000000000000g"));
}

TEST(Hash, SeparatesAddedValues)
{
  const std::vector<double> doubles{1, 2, 3};
  const std::vector<double> two{1, 2};
  const std::vector<float> floats{1, 2, 3};
  const std::vector<int> ints{1, 2, 3};
  const std::vector<Vec3> points{{1, 2, 3}};
  const std::vector<Triangle> triangles{{1, 2, 3}};
  std::set<Hash128> seen;
  seen.insert(Hasher().add("ab").add("c").finish());
  seen.insert(Hasher().add("a").add("bc").finish());
  seen.insert(Hasher().add("abc").finish());
  seen.insert(Hasher().add(1).finish());
  seen.insert(Hasher().add(1.0).finish());
  seen.insert(Hasher().add(1u).finish());
  seen.insert(Hasher().add(doubles).finish());
  seen.insert(Hasher().add(two).add(3.0).finish());
  seen.insert(Hasher().add(floats).finish());
  seen.insert(Hasher().add(ints).finish());
  seen.insert(Hasher().add(points).finish());
  seen.insert(Hasher().add(triangles).finish());
  seen.insert(Hasher().finish());
  EXPECT_EQ(seen.size(), 13u);
  EXPECT_EQ(Hasher().add(std::int16_t{-3}).finish(), Hasher().add(std::int64_t{-3}).finish());
}

}  // namespace
}  // namespace thrum::base
