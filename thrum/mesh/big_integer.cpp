// SPDX-License-Identifier: MIT
#include "thrum/mesh/big_integer.h"

#include <algorithm>
#include <cmath>

namespace thrum::mesh {

namespace {

__extension__ using Unsigned128 = unsigned __int128;
using Limbs = std::vector<std::uint64_t>;

constexpr int kLimbBits = 64;

int compare_magnitudes(const Limbs& a, const Limbs& b)
{
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

Limbs add_magnitudes(const Limbs& a, const Limbs& b)
{
  const Limbs& longer = a.size() >= b.size() ? a : b;
  const Limbs& shorter = a.size() >= b.size() ? b : a;
  Limbs sum(longer.size() + 1);
  Unsigned128 carry = 0;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    carry += longer[i];
    if (i < shorter.size()) carry += shorter[i];
    sum[i] = static_cast<std::uint64_t>(carry);
    carry >>= kLimbBits;
  }
  sum.back() = static_cast<std::uint64_t>(carry);
  return sum;
}

// a - b where a >= b.
Limbs subtract_magnitudes(const Limbs& a, const Limbs& b)
{
  Limbs difference(a.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t other = i < b.size() ? b[i] : 0;
    const std::uint64_t without_borrow = a[i] - other;
    difference[i] = without_borrow - borrow;
    borrow = (a[i] < other || without_borrow < borrow) ? 1 : 0;
  }
  return difference;
}

}  // namespace

BigInteger::BigInteger(Int128 value) : negative_(value < 0)
{
  Unsigned128 magnitude = negative_ ? -static_cast<Unsigned128>(value) : static_cast<Unsigned128>(value);
  for (; magnitude != 0; magnitude >>= kLimbBits) limbs_.push_back(static_cast<std::uint64_t>(magnitude));
}

void BigInteger::trim()
{
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
  if (limbs_.empty()) negative_ = false;
}

// The two leading limbs as a double, with the power of two that is still missing.
double BigInteger::leading_bits(int& exponent) const
{
  exponent = 0;
  if (limbs_.empty()) return 0;
  double value = static_cast<double>(limbs_.back());
  if (limbs_.size() > 1) {
    value = std::ldexp(value, kLimbBits) + static_cast<double>(limbs_[limbs_.size() - 2]);
    exponent = kLimbBits * static_cast<int>(limbs_.size() - 2);
  }
  return negative_ ? -value : value;
}

double BigInteger::to_double() const
{
  int exponent = 0;
  const double value = leading_bits(exponent);
  return std::ldexp(value, exponent);
}

double BigInteger::ratio(const BigInteger& a, const BigInteger& b)
{
  int a_exponent = 0;
  int b_exponent = 0;
  const double a_value = a.leading_bits(a_exponent);
  const double b_value = b.leading_bits(b_exponent);
  return std::ldexp(a_value / b_value, a_exponent - b_exponent);
}

BigInteger BigInteger::operator-() const
{
  BigInteger result = *this;
  if (!limbs_.empty()) result.negative_ = !negative_;
  return result;
}

BigInteger operator+(const BigInteger& a, const BigInteger& b)
{
  BigInteger sum;
  if (a.negative_ == b.negative_) {
    sum.limbs_ = add_magnitudes(a.limbs_, b.limbs_);
    sum.negative_ = a.negative_;
  } else if (compare_magnitudes(a.limbs_, b.limbs_) >= 0) {
    sum.limbs_ = subtract_magnitudes(a.limbs_, b.limbs_);
    sum.negative_ = a.negative_;
  } else {
    sum.limbs_ = subtract_magnitudes(b.limbs_, a.limbs_);
    sum.negative_ = b.negative_;
  }
  sum.trim();
  return sum;
}

BigInteger operator*(const BigInteger& a, const BigInteger& b)
{
  BigInteger product;
  if (a.limbs_.empty() || b.limbs_.empty()) return product;
  product.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      const Unsigned128 term =
          static_cast<Unsigned128>(a.limbs_[i]) * b.limbs_[j] + product.limbs_[i + j] + carry;
      product.limbs_[i + j] = static_cast<std::uint64_t>(term);
      carry = static_cast<std::uint64_t>(term >> kLimbBits);
    }
    product.limbs_[i + b.limbs_.size()] = carry;
  }
  product.negative_ = a.negative_ != b.negative_;
  product.trim();
  return product;
}

}  // namespace thrum::mesh
