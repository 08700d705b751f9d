// SPDX-License-Identifier: MIT
#include "thrum/sound/modal_kernel.h"

#include <algorithm>
#include <cstring>

#include "thrum/base/simd.h"

namespace thrum::sound {

namespace {

// By reference: a wide vector as a result would change the calling convention.
template <class Vector>
[[gnu::always_inline]] inline void load(Vector& vector, const double* from)
{
  std::memcpy(&vector, from, sizeof(vector));
}

template <class Vector>
[[gnu::always_inline]] inline void store(double* to, const Vector& vector)
{
  std::memcpy(to, &vector, sizeof(vector));
}

// The recurrences of as many modes as a vector has numbers.
template <class Vector>
struct VectorOfModes {
  Vector y0, y1, a, b;

  // `offset` is the sum, by lane, of what the load adds to every sample.
  [[gnu::always_inline]] VectorOfModes(const FreeModes& all, std::size_t at, double* offset)
  {
    Vector re, im, weight_re, weight_im, pole_re, pole_im;
    load(re, all.re + at);
    load(im, all.im + at);
    load(weight_re, all.weight_re + at);
    load(weight_im, all.weight_im + at);
    load(pole_re, all.pole_re + at);
    load(pole_im, all.pole_im + at);
    Vector shift_re{}, shift_im{};
    if (all.rate) {
      Vector rate, sum;
      load(rate, all.rate + at);
      load(shift_re, all.square_re + at);
      load(shift_im, all.square_im + at);
      shift_re *= rate;
      shift_im *= rate;
      re += shift_re;
      im += shift_im;
      load(sum, offset);
      sum += weight_re * shift_re - weight_im * shift_im;
      store(offset, sum);
    }
    a = pole_re + pole_re;
    b = pole_re * pole_re + pole_im * pole_im;
    y0 = weight_re * re - weight_im * im;
    y1 = weight_re * (pole_re * re - pole_im * im) - weight_im * (pole_re * im + pole_im * re);
    if (!all.moves) return;
    Vector jump_re, jump_im;
    load(jump_re, all.jump_re + at);
    load(jump_im, all.jump_im + at);
    store(all.re + at, Vector(jump_re * re - jump_im * im - shift_re));
    store(all.im + at, Vector(jump_re * im + jump_im * re - shift_im));
  }

  [[gnu::always_inline]] void add_and_step(Vector& sum)
  {
    sum += y0;
    const Vector next = a * y1 - b * y0;
    y0 = y1;
    y1 = next;
  }
};

// In groups of 8: named vectors, because with arrays of them g++ 12 keeps half of the values in memory (2.9
// instead of 7.5 x real time for 10,000 modes).
void ring_in_pairs(const FreeModes& all, double* lanes, double* offsets)
{
  using base::simd::Double2;
  using Modes = VectorOfModes<Double2>;
  for (std::size_t g = 0; g < all.count; g += kModesAtOnce) {
    Modes p(all, g, offsets), q(all, g + 2, offsets + 2), r(all, g + 4, offsets + 4),
        s(all, g + 6, offsets + 6);
    for (std::size_t n = 0; n < all.samples; ++n) {
      double* const row = lanes + n * kSumLanes;
      Double2 a{}, b{}, c{}, d{};
      if (g > 0) {
        load(a, row);
        load(b, row + 2);
        load(c, row + 4);
        load(d, row + 6);
      }
      p.add_and_step(a);
      q.add_and_step(b);
      r.add_and_step(c);
      s.add_and_step(d);
      store(row, a);
      store(row + 2, b);
      store(row + 4, c);
      store(row + 6, d);
    }
  }
}

#if defined(__x86_64__)
#define THRUM_WIDE_MODES 1
using Double4 [[gnu::vector_size(32)]] = double;
using Double8 [[gnu::vector_size(64)]] = double;

// The same with the vectors of newer processors: each lane adds the same numbers in the same order, and
// without fused products, so that the result has the same bits.
[[gnu::target("avx2")]] void ring_in_fours(const FreeModes& all, double* __restrict lanes, double* offsets)
{
  using Modes = VectorOfModes<Double4>;
  std::size_t g = 0;
  for (; g + 2 * kModesAtOnce <= all.count; g += 2 * kModesAtOnce) {
    Modes p(all, g, offsets), q(all, g + 4, offsets + 4), r(all, g + 8, offsets), s(all, g + 12, offsets + 4);
    for (std::size_t n = 0; n < all.samples; ++n) {
      double* const row = lanes + n * kSumLanes;
      Double4 low{}, high{};
      if (g > 0) {
        load(low, row);
        load(high, row + 4);
      }
      p.add_and_step(low);
      q.add_and_step(high);
      r.add_and_step(low);
      s.add_and_step(high);
      store(row, low);
      store(row + 4, high);
    }
  }
  if (g == all.count) return;
  Modes p(all, g, offsets), q(all, g + 4, offsets + 4);
  for (std::size_t n = 0; n < all.samples; ++n) {
    double* const row = lanes + n * kSumLanes;
    Double4 low{}, high{};
    if (g > 0) {
      load(low, row);
      load(high, row + 4);
    }
    p.add_and_step(low);
    q.add_and_step(high);
    store(row, low);
    store(row + 4, high);
  }
}

// Several vectors of modes; nested instead of an array, see ring_in_pairs().
template <class Vector, std::size_t count>
struct VectorsOfModes {
  VectorOfModes<Vector> first;
  VectorsOfModes<Vector, count - 1> rest;

  [[gnu::always_inline]] VectorsOfModes(const FreeModes& all, std::size_t at, double* offset)
      : first(all, at, offset), rest(all, at + kModesAtOnce, offset)
  {
  }
  [[gnu::always_inline]] void add_and_step(Vector& sum)
  {
    first.add_and_step(sum);
    rest.add_and_step(sum);
  }
};

template <class Vector>
struct VectorsOfModes<Vector, 0> {
  [[gnu::always_inline]] VectorsOfModes(const FreeModes&, std::size_t, double*) {}
  [[gnu::always_inline]] void add_and_step(Vector&) {}
};

template <std::size_t vectors>
[[gnu::target("avx512f")]] void ring_eights_at_once(const FreeModes& all, std::size_t at,
                                                    double* __restrict lanes, double* offsets)
{
  VectorsOfModes<Double8, vectors> modes(all, at, offsets);
  for (std::size_t n = 0; n < all.samples; ++n) {
    Double8 sum{};
    if (at > 0) load(sum, lanes + n * kSumLanes);
    modes.add_and_step(sum);
    store(lanes + n * kSumLanes, sum);
  }
}

// The recurrence of one vector waits for its last product; with several at once the processor works on.
// Six need 24 registers of 32. Seven to eleven vectors are done in halves, not as six and a few that wait.
void ring_in_eights(const FreeModes& all, double* __restrict lanes, double* offsets)
{
  constexpr std::size_t kMaxVectors = 6;
  static_assert(kModesAtOnce == sizeof(Double8) / sizeof(double));
  constexpr void (*kRing[kMaxVectors])(const FreeModes&, std::size_t, double* __restrict, double*) = {
      ring_eights_at_once<1>, ring_eights_at_once<2>, ring_eights_at_once<3>,
      ring_eights_at_once<4>, ring_eights_at_once<5>, ring_eights_at_once<6>};
  for (std::size_t g = 0; g < all.count;) {
    const std::size_t left = (all.count - g) / kModesAtOnce;
    const std::size_t half = left < 2 * kMaxVectors ? (left + 1) / 2 : kMaxVectors;
    const std::size_t vectors = left <= kMaxVectors ? left : half;
    kRing[vectors - 1](all, g, lanes, offsets);
    g += vectors * kModesAtOnce;
  }
}
#endif

}  // namespace

// Two samples at once, each summed in the order of sum_of_lanes().
void add_sums_of_lanes(const double* lanes, double offset, std::span<double> out)
{
  using base::simd::Double2;
  const auto halves = [](const double* row, Double2& sum) {
    Double2 a, b, c, d;
    load(a, row);
    load(b, row + 2);
    load(c, row + 4);
    load(d, row + 6);
    sum = (a + c) + (b + d);
  };
  for (std::size_t n = 0; n < out.size(); n += 2) {
    Double2 first, second, sum;
    halves(lanes + n * kSumLanes, first);
    halves(lanes + (n + 1) * kSumLanes, second);
    load(sum, &out[n]);
    sum += (Double2{first[0], second[0]} + Double2{first[1], second[1]}) - base::simd::both(offset);
    store(&out[n], sum);
  }
}

double ring_freely(const FreeModes& modes, double* lanes)
{
  if (modes.count == 0) std::fill(lanes, lanes + modes.samples * kSumLanes, 0.0);
  double offsets[kSumLanes] = {};
#if THRUM_WIDE_MODES
  static const auto ring = __builtin_cpu_supports("avx512f") ? ring_in_eights
                           : __builtin_cpu_supports("avx2")  ? ring_in_fours
                                                             : ring_in_pairs;
#else
  constexpr auto ring = ring_in_pairs;
#endif
  ring(modes, lanes, offsets);
  return sum_of_lanes(offsets);
}

}  // namespace thrum::sound
