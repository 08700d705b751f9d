// SPDX-License-Identifier: MIT
#include "thrum/sound/fir_row.h"

#include <cstring>
#include <utility>

#include "thrum/base/simd.h"

namespace thrum::sound {

namespace {

// A vector of sums needs the samples from n + k on for weight k. Loaded anew for every weight, seven of eight
// such loads of eight numbers lie across two cache lines, and these loads, not the products, take the time:
// 32 products a nanosecond instead of the 60 that are reached here. So weights are taken in steps of eight:
// what vector i needs for weight k + 8, vector i + 1 has needed for weight k, and one load serves several.
constexpr std::size_t kStride = 8;

template <class Vector>
constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);

template <class Vector>
[[gnu::always_inline]] inline void load(Vector& vector, const double* from)
{
  std::memcpy(&vector, from, sizeof(vector));
}

template <class Vector, std::size_t count, std::size_t... i>
[[gnu::always_inline]] inline void load_all(Vector (&vectors)[count], const double* from,
                                            std::index_sequence<i...>)
{
  (load(vectors[i], from + i * kSize<Vector>), ...);
}

template <class Vector, std::size_t count, std::size_t... i>
[[gnu::always_inline]] inline void store_all(const Vector (&vectors)[count], double* to,
                                             std::index_sequence<i...>)
{
  (std::memcpy(to + i * kSize<Vector>, &vectors[i], sizeof(Vector)), ...);
}

template <std::size_t shift, class Vector, std::size_t sums, std::size_t loaded, std::size_t... i>
[[gnu::always_inline]] inline void add_products(Vector (&sum)[sums], double weight,
                                                const Vector (&samples)[loaded], std::index_sequence<i...>)
{
  ((sum[i] += weight * samples[i + shift]), ...);
}

// Weights 0, 8, 16 ... of a group of as many as m has numbers.
template <class Vector, std::size_t sums, std::size_t... m>
[[gnu::always_inline]] inline void add_group(Vector (&sum)[sums], const double* samples,
                                             const double* weights, std::index_sequence<m...>)
{
  constexpr std::size_t kShift = kStride / kSize<Vector>;
  Vector loaded[sums + kShift * (sizeof...(m) - 1)];
  load_all(loaded, samples, std::make_index_sequence<std::size(loaded)>());
  (add_products<kShift * m>(sum, weights[m * kStride], loaded, std::make_index_sequence<sums>()), ...);
}

// Rows of `sums` vectors, whose samples for `group` weights stay in registers. Returns how many samples were
// done.
template <class Vector, std::size_t sums, std::size_t group>
[[gnu::always_inline]] inline std::size_t filter_in_vectors(const double* samples,
                                                            std::span<const double> weights,
                                                            std::span<double> out)
{
  constexpr std::size_t kLength = sums * kSize<Vector>;
  std::size_t n = 0;
  for (; n + kLength <= out.size(); n += kLength) {
    Vector sum[sums] = {};
    for (std::size_t first = 0; first < kStride && first < weights.size(); ++first) {
      std::size_t k = first;
      for (; k + (group - 1) * kStride < weights.size(); k += group * kStride)
        add_group(sum, samples + n + k, &weights[k], std::make_index_sequence<group>());
      for (; k < weights.size(); k += kStride)
        add_group(sum, samples + n + k, &weights[k], std::make_index_sequence<1>());
    }
    store_all(sum, &out[n], std::make_index_sequence<sums>());
  }
  return n;
}

std::size_t filter_in_pairs(const double* samples, std::span<const double> weights, std::span<double> out)
{
  return filter_in_vectors<base::simd::Double2, 4, 1>(samples, weights, out);
}

#if defined(__x86_64__)
using Double4 [[gnu::vector_size(32)]] = double;
using Double8 [[gnu::vector_size(64)]] = double;

// Without fma: products are rounded as everywhere else.
[[gnu::target("avx2")]] std::size_t filter_in_fours(const double* samples, std::span<const double> weights,
                                                    std::span<double> out)
{
  const std::size_t n = filter_in_vectors<Double4, 6, 2>(samples, weights, out);
  return n + filter_in_vectors<Double4, 1, 1>(samples + n, weights, out.subspan(n));
}

[[gnu::target("avx512f")]] std::size_t filter_in_eights(const double* samples,
                                                        std::span<const double> weights,
                                                        std::span<double> out)
{
  std::size_t n = filter_in_vectors<Double8, 8, 4>(samples, weights, out);
  n += filter_in_vectors<Double8, 4, 4>(samples + n, weights, out.subspan(n));
  return n + filter_in_vectors<Double8, 1, 1>(samples + n, weights, out.subspan(n));
}
#endif

}  // namespace

void filter_row(const double* samples, std::span<const double> weights, std::span<double> out)
{
  std::size_t n = 0;
#if defined(__x86_64__)
  static const bool has_eights = __builtin_cpu_supports("avx512f") != 0;
  static const bool has_fours = __builtin_cpu_supports("avx2") != 0;
  if (has_eights) n = filter_in_eights(samples, weights, out);
  if (has_fours) n += filter_in_fours(samples + n, weights, out.subspan(n));
#endif
  n += filter_in_pairs(samples + n, weights, out.subspan(n));
  for (; n < out.size(); ++n) {
    double sum = 0;
    for (std::size_t first = 0; first < kStride; ++first)
      for (std::size_t k = first; k < weights.size(); k += kStride) sum += weights[k] * samples[n + k];
    out[n] = sum;
  }
}

}  // namespace thrum::sound
