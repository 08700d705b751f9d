// SPDX-License-Identifier: MIT
#include "thrum/sound/fir_row.h"

#include <cstring>

#include "thrum/base/simd.h"

namespace thrum::sound {

namespace {

// Four vectors of sums stay in registers while the weights pass. Returns how many samples were done.
template <class Vector>
[[gnu::always_inline]] inline std::size_t filter_in_vectors(const double* samples,
                                                            std::span<const double> weights,
                                                            std::span<double> out)
{
  constexpr std::size_t kSize = sizeof(Vector) / sizeof(double);
  std::size_t n = 0;
  for (; n + 4 * kSize <= out.size(); n += 4 * kSize) {
    Vector a{}, b{}, c{}, d{};
    const double* from = samples + n;
    for (const double weight : weights) {
      Vector x, y, z, w;
      std::memcpy(&x, from, sizeof(Vector));
      std::memcpy(&y, from + kSize, sizeof(Vector));
      std::memcpy(&z, from + 2 * kSize, sizeof(Vector));
      std::memcpy(&w, from + 3 * kSize, sizeof(Vector));
      a += weight * x;
      b += weight * y;
      c += weight * z;
      d += weight * w;
      ++from;
    }
    std::memcpy(&out[n], &a, sizeof(Vector));
    std::memcpy(&out[n] + kSize, &b, sizeof(Vector));
    std::memcpy(&out[n] + 2 * kSize, &c, sizeof(Vector));
    std::memcpy(&out[n] + 3 * kSize, &d, sizeof(Vector));
  }
  return n;
}

std::size_t filter_in_pairs(const double* samples, std::span<const double> weights, std::span<double> out)
{
  return filter_in_vectors<base::simd::Double2>(samples, weights, out);
}

#if defined(__x86_64__)
using Double4 [[gnu::vector_size(32)]] = double;
using Double8 [[gnu::vector_size(64)]] = double;

// Without fma: products are rounded as everywhere else.
[[gnu::target("avx2")]] std::size_t filter_in_fours(const double* samples, std::span<const double> weights,
                                                    std::span<double> out)
{
  return filter_in_vectors<Double4>(samples, weights, out);
}

[[gnu::target("avx512f")]] std::size_t filter_in_eights(const double* samples,
                                                        std::span<const double> weights,
                                                        std::span<double> out)
{
  return filter_in_vectors<Double8>(samples, weights, out);
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
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * samples[n + k];
    out[n] = sum;
  }
}

}  // namespace thrum::sound
