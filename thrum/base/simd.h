// SPDX-License-Identifier: MIT
// Operations on two doubles or four floats at once, with the vector types that g++ and clang share: a < b ? a
// : b becomes one instruction where the processor has it, else scalar code.
#pragma once

#include <cstring>

namespace thrum::base::simd {

using Double2 [[gnu::vector_size(16)]] = double;
using Float4 [[gnu::vector_size(16)]] = float;
using Int4 [[gnu::vector_size(16)]] = int;

[[nodiscard]] inline Double2 load2(const double* aligned)
{
  return *reinterpret_cast<const Double2*>(aligned);
}
[[nodiscard]] inline Float4 load4(const float* aligned)
{
  return *reinterpret_cast<const Float4*>(aligned);
}
/// Loads two floats from each of two addresses.
[[nodiscard]] inline Float4 load_pairs(const float* first, const float* second)
{
  // Moved as two 64-bit words, never used as numbers.
  double low, high;
  std::memcpy(&low, first, sizeof(double));
  std::memcpy(&high, second, sizeof(double));
  return reinterpret_cast<Float4>(Double2{low, high});
}
[[nodiscard]] inline Double2 both(double x)
{
  return Double2{x, x};
}
[[nodiscard]] inline Float4 all(float x)
{
  return Float4{x, x, x, x};
}

/// Like the machine instruction: the second argument when either is not a number.
template <class V>
[[nodiscard]] inline V min(V a, V b)
{
  return a < b ? a : b;
}
template <class V>
[[nodiscard]] inline V max(V a, V b)
{
  return a > b ? a : b;
}

/// Three components, each over all lanes.
template <class V>
struct Lanes3 {
  V x, y, z;
  friend Lanes3 operator-(const Lanes3& a, const Lanes3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  friend Lanes3 operator*(V s, const Lanes3& a) { return {s * a.x, s * a.y, s * a.z}; }
};

template <class V>
[[nodiscard]] inline V dot(const Lanes3<V>& a, const Lanes3<V>& b)
{
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class V>
[[nodiscard]] inline Lanes3<V> cross(const Lanes3<V>& a, const Lanes3<V>& b)
{
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

}  // namespace thrum::base::simd
