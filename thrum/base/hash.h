// SPDX-License-Identifier: MIT
// A stable 128-bit content hash, for cache keys and for comparing states.
//
//   Hasher hasher;
//   hasher.add("modes").add(version).add(std::span(mesh.vertices)).add(material.young_modulus);
//   const Hash128 key = hasher.finish();
//
// The function is MurmurHash3_x64_128 [Appleby], fed piece by piece: fast (about 4 GB/s) and the same on
// every machine, but not cryptographic. Every add() puts a type tag and, for sequences, the length in front
// of the value, so that ("ab", "c") differs from ("a", "bc") and 1 from 1.0.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::base {

static_assert(std::endian::native == std::endian::little,
              "hashes and baked files are defined on little-endian bytes");

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

/// 32 lower-case hexadecimal digits, in the order of the bytes that the reference implementation writes.
[[nodiscard]] std::string to_hex(const Hash128& hash);

/// The reverse of to_hex(); empty when `text` is not 32 hexadecimal digits.
[[nodiscard]] std::optional<Hash128> hash_from_hex(std::string_view text);

class Hasher {
 public:
  explicit Hasher(std::uint32_t seed = 0) : h1_(seed), h2_(seed) {}

  /// Feeds raw bytes without a type tag or a length: feeding a buffer in pieces gives the same hash as
  /// feeding it at once.
  Hasher& bytes(std::span<const std::byte> data);

  /// A number, a truth value or an enumerator. Integers of equal value and signedness are equal whatever
  /// their width; doubles are compared by their bits, so 0.0 and -0.0 differ.
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Hasher& add(T value)
  {
    if constexpr (std::is_enum_v<T>) {
      return add(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      return scalar('d', std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else if constexpr (std::is_signed_v<T>) {
      return scalar('i', static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    } else {
      return scalar('u', static_cast<std::uint64_t>(value));
    }
  }

  Hasher& add(std::string_view text) { return sequence('s', text.data(), text.size(), text.size()); }
  Hasher& add(const std::string& text) { return add(std::string_view(text)); }
  Hasher& add(const char* text) { return add(std::string_view(text)); }
  Hasher& add(const Hash128& hash) { return scalar('h', hash.low).scalar('h', hash.high); }
  Hasher& add(const Vec3& v) { return sequence('v', v.data(), 1, sizeof(Vec3)); }

  /// A sequence of numbers, points or triangles. The element type counts: floats and doubles of equal value
  /// differ.
  template <class T, std::size_t N>
  requires(std::is_arithmetic_v<T>) Hasher& add(std::span<T, N> values)
  {
    constexpr char kind = std::is_floating_point_v<T> ? 'D' : (std::is_signed_v<T> ? 'I' : 'U');
    return sequence(static_cast<char>(kind + sizeof(T)), values.data(), values.size(), values.size_bytes());
  }
  Hasher& add(std::span<const Vec3> points)
  {
    return sequence('v', points.data(), points.size(), points.size_bytes());
  }
  Hasher& add(std::span<const Triangle> t) { return sequence('3', t.data(), t.size(), t.size_bytes()); }
  Hasher& add(std::span<const Tetrahedron> t) { return sequence('4', t.data(), t.size(), t.size_bytes()); }

  template <class T, class A>
  requires(!std::is_same_v<T, bool>) Hasher& add(const std::vector<T, A>& values)
  {
    return add(std::span<const T>(values));
  }

  /// The hash of everything fed so far; more may be fed afterwards.
  [[nodiscard]] Hash128 finish() const;

 private:
  Hasher& scalar(char kind, std::uint64_t bits);
  Hasher& sequence(char kind, const void* data, std::size_t count, std::size_t byte_count);
  void block(std::uint64_t k1, std::uint64_t k2);

  std::uint64_t h1_;
  std::uint64_t h2_;
  std::uint64_t length_ = 0;             ///< bytes fed
  std::array<std::byte, 16> pending_{};  ///< the last length_ % 16 bytes
};

/// The hash of raw bytes in one call.
[[nodiscard]] Hash128 hash_bytes(std::span<const std::byte> data, std::uint32_t seed = 0);

}  // namespace thrum::base
