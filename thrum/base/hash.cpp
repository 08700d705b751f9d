// SPDX-License-Identifier: MIT
#include "thrum/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace thrum::base {
namespace {

constexpr std::size_t kBlock = 16;  ///< bytes taken in one round
constexpr std::uint64_t kC1 = 0x87c37b91114253d5u;
constexpr std::uint64_t kC2 = 0x4cf5ad432745937fu;

/// The finalisation mix: every input bit changes every output bit with probability near one half.
std::uint64_t avalanche(std::uint64_t k)
{
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdu;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53u;
  k ^= k >> 33;
  return k;
}

std::uint64_t scramble_1(std::uint64_t k)
{
  return std::rotl(k * kC1, 31) * kC2;
}
std::uint64_t scramble_2(std::uint64_t k)
{
  return std::rotl(k * kC2, 33) * kC1;
}

std::uint64_t load(const std::byte* from)
{
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

void Hasher::block(std::uint64_t k1, std::uint64_t k2)
{
  h1_ ^= scramble_1(k1);
  h1_ = (std::rotl(h1_, 27) + h2_) * 5 + 0x52dce729u;
  h2_ ^= scramble_2(k2);
  h2_ = (std::rotl(h2_, 31) + h1_) * 5 + 0x38495ab5u;
}

Hasher& Hasher::bytes(std::span<const std::byte> data)
{
  // First fill up what is pending from before.
  const std::size_t held = length_ % kBlock;
  length_ += data.size();
  if (held > 0) {
    const std::size_t taken = std::min(kBlock - held, data.size());
    if (taken > 0) std::memcpy(pending_.data() + held, data.data(), taken);
    if (held + taken < kBlock) return *this;
    block(load(pending_.data()), load(pending_.data() + 8));
    data = data.subspan(taken);
  }
  // Whole blocks straight from the input, the rest kept.
  while (data.size() >= kBlock) {
    block(load(data.data()), load(data.data() + 8));
    data = data.subspan(kBlock);
  }
  if (!data.empty()) std::memcpy(pending_.data(), data.data(), data.size());
  return *this;
}

Hash128 Hasher::finish() const
{
  // The rest, padded with zeros: a half that holds no byte contributes nothing, since scramble(0) = 0.
  std::array<std::byte, kBlock> tail{};
  std::copy_n(pending_.begin(), length_ % kBlock, tail.begin());
  std::uint64_t h1 = h1_ ^ scramble_1(load(tail.data()));
  std::uint64_t h2 = h2_ ^ scramble_2(load(tail.data() + 8));
  h1 ^= length_;
  h2 ^= length_;
  h1 += h2;
  h2 += h1;
  h1 = avalanche(h1);
  h2 = avalanche(h2);
  h1 += h2;
  h2 += h1;
  return {h1, h2};
}

Hasher& Hasher::scalar(char kind, std::uint64_t bits)
{
  std::array<std::byte, 9> framed{};
  framed[0] = static_cast<std::byte>(kind);
  std::memcpy(framed.data() + 1, &bits, sizeof(bits));
  return bytes(framed);
}

Hasher& Hasher::sequence(char kind, const void* data, std::size_t count, std::size_t byte_count)
{
  scalar(kind, count);
  return bytes({static_cast<const std::byte*>(data), byte_count});
}

Hash128 hash_bytes(std::span<const std::byte> data, std::uint32_t seed)
{
  return Hasher(seed).bytes(data).finish();
}

std::string to_hex(const Hash128& hash)
{
  std::array<unsigned char, 16> raw{};
  std::memcpy(raw.data(), &hash.low, 8);
  std::memcpy(raw.data() + 8, &hash.high, 8);
  std::string text;
  for (const unsigned char b : raw) text += fmt::format("{:02x}", b);
  return text;
}

std::optional<Hash128> hash_from_hex(std::string_view text)
{
  if (text.size() != 32) return std::nullopt;
  const auto digit = [](char c) -> int {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::array<unsigned char, 16> raw{};
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    raw[i] = static_cast<unsigned char>(16 * high + low);
  }
  Hash128 hash;
  std::memcpy(&hash.low, raw.data(), 8);
  std::memcpy(&hash.high, raw.data() + 8, 8);
  return hash;
}

}  // namespace thrum::base
