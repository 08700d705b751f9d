// SPDX-License-Identifier: MIT
// Integers of any size, for the few signs that neither double nor 128 bits can decide.
#pragma once

#include <cstdint>
#include <vector>

namespace thrum::mesh {

__extension__ using Int128 = __int128;

class BigInteger {
 public:
  BigInteger() = default;
  BigInteger(std::int64_t value) : BigInteger(static_cast<Int128>(value)) {}  // NOLINT: meant to convert
  BigInteger(Int128 value);                                                   // NOLINT: meant to convert

  [[nodiscard]] int sign() const { return limbs_.empty() ? 0 : (negative_ ? -1 : 1); }

  /// Nearest to within a relative 2^-52; infinite beyond the range of double.
  [[nodiscard]] double to_double() const;

  /// The ratio a / b as a double to within a relative 2^-51, also when a and b are beyond the range of
  /// double.
  [[nodiscard]] static double ratio(const BigInteger& a, const BigInteger& b);

  [[nodiscard]] BigInteger operator-() const;
  friend BigInteger operator+(const BigInteger& a, const BigInteger& b);
  friend BigInteger operator-(const BigInteger& a, const BigInteger& b) { return a + (-b); }
  friend BigInteger operator*(const BigInteger& a, const BigInteger& b);

 private:
  void trim();
  [[nodiscard]] double leading_bits(int& exponent) const;

  std::vector<std::uint64_t> limbs_;  // least significant first, no leading zeros; empty is zero
  bool negative_ = false;
};

}  // namespace thrum::mesh
