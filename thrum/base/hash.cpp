// SPDX-License-Identifier: MIT
#include "thrum/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace thrum::base {
namespace {

constexpr std::size_t kBlock = 16;  ///< bytes taken in one round
constexpr std::size_t kWord = 8;    ///< bytes of half a block
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

void store(std::uint64_t word, std::byte* to)
{
  std::memcpy(to, &word, sizeof(word));
}

/// One round of the hash (h1, h2).
void mix(std::uint64_t& h1, std::uint64_t& h2, std::uint64_t k1, std::uint64_t k2)
{
  h1 ^= scramble_1(k1);
  h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729u;
  h2 ^= scramble_2(k2);
  h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5u;
}

/// Eight bytes that begin in a word of which `held` bytes are taken.
struct SplitWord {
  std::uint64_t kept;  ///< mask of the bytes already taken
  std::uint64_t here;  ///< the part for the same word
  std::uint64_t over;  ///< the part for the next word
};
SplitWord split(std::uint64_t word, std::size_t held)
{
  const std::size_t shift = 8 * held;
  // A shift by 64 would not be defined.
  return {(std::uint64_t{1} << shift) - 1, word << shift, word >> 1 >> (63 - shift)};
}

}  // namespace

void Hasher::block(std::uint64_t k1, std::uint64_t k2)
{
  mix(h1_, h2_, k1, k2);
}

// Bytes that do not start at a block boundary are shifted into place word by word, in registers: copying it
// into `pending_` first takes twice the time, and states are hashed every frame.
Hasher& Hasher::bytes(std::span<const std::byte> data)
{
  std::size_t held = length_ % kBlock;
  length_ += data.size();
  if (held > 0 && data.size() >= kWord) {
    std::uint64_t low = load(pending_.data());
    std::uint64_t high = load(pending_.data() + kWord);
    for (; data.size() >= kWord; data = data.subspan(kWord)) {
      const SplitWord word = split(load(data.data()), held % kWord);
      if (held < kWord) {
        low = (low & word.kept) | word.here;
        high = word.over;
        held += kWord;
      } else {
        block(low, (high & word.kept) | word.here);
        low = word.over;
        high = 0;
        held -= kWord;
      }
    }
    store(low, pending_.data());
    store(high, pending_.data() + kWord);
  }
  // Whole blocks straight from the input, the rest kept.
  if (held == 0) {
    std::uint64_t h1 = h1_;
    std::uint64_t h2 = h2_;
    for (; data.size() >= kBlock; data = data.subspan(kBlock))
      mix(h1, h2, load(data.data()), load(data.data() + kWord));
    h1_ = h1;
    h2_ = h2;
  }
  for (const std::byte byte : data) {
    pending_[held++] = byte;
    if (held < kBlock) continue;
    block(load(pending_.data()), load(pending_.data() + kWord));
    held = 0;
  }
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

// The type tag and the number, nine bytes, hashed as bytes() would.
Hasher& Hasher::scalar(char kind, std::uint64_t bits)
{
  const std::size_t held = length_ % kBlock;
  length_ += 1 + kWord;
  const SplitWord word = split(static_cast<unsigned char>(kind) | bits << 8, held % kWord);
  const std::uint64_t over = word.over | bits >> 56 << 8 * (held % kWord);
  std::uint64_t low = load(pending_.data());
  std::uint64_t high = load(pending_.data() + kWord);
  if (held < kWord) {
    low = (low & word.kept) | word.here;
    high = over;
    if (held + 1 + kWord == kBlock) block(low, high);
  } else {
    block(low, (high & word.kept) | word.here);
    low = over;
    high = 0;
  }
  store(low, pending_.data());
  store(high, pending_.data() + kWord);
  return *this;
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
