// SPDX-License-Identifier: MIT
#include "thrum/sound/mode_loops.h"

#include "thrum/sound/contact_damping.h"
#include "thrum/sound/modal_bank.h"

namespace thrum::sound {

namespace {

#if defined(__x86_64__)
template <auto loop, class... Arguments>
[[gnu::target("avx2")]] void run_with_avx2(Arguments... arguments)
{
  loop(arguments...);
}
#endif

// Calls a loop, inlined into a function of wider vectors where the processor has them.
template <auto loop, class... Arguments>
void run_wide(Arguments... arguments)
{
#if defined(__x86_64__)
  static const bool is_wide = __builtin_cpu_supports("avx2") != 0;
  if (is_wide) return run_with_avx2<loop>(arguments...);
#endif
  loop(arguments...);
}

[[gnu::always_inline]] inline void small_decay_factors_loop(const double* __restrict decays, double step,
                                                            double* __restrict factors, std::size_t count)
{
  for (std::size_t m = 0; m < count; ++m) {
    const double x = decays[m] * step;
    factors[m] =
        1 - x * (1 - x * (1.0 / 2) * (1 - x * (1.0 / 3) * (1 - x * (1.0 / 4) * (1 - x * (1.0 / 5)))));
  }
}

[[gnu::always_inline]] inline void multiply_by_power_loop(const double* __restrict factors,
                                                          ConstComplexRow in, ComplexRow out,
                                                          std::size_t count)
{
  const double* __restrict in_re = in.re;
  const double* __restrict in_im = in.im;
  double* __restrict out_re = out.re;
  double* __restrict out_im = out.im;
  for (std::size_t m = 0; m < count; ++m) {
    double factor = factors[m];
    for (std::size_t k = 1; k < ModalBank::kInterval; k *= 2) factor *= factor;
    out_re[m] = factor * in_re[m];
    out_im[m] = factor * in_im[m];
  }
}

[[gnu::always_inline]] inline void multiply_loop(const double* __restrict factors, ConstComplexRow in,
                                                 ComplexRow out, std::size_t count)
{
  const double* __restrict in_re = in.re;
  const double* __restrict in_im = in.im;
  double* __restrict out_re = out.re;
  double* __restrict out_im = out.im;
  for (std::size_t m = 0; m < count; ++m) {
    out_re[m] = factors[m] * in_re[m];
    out_im[m] = factors[m] * in_im[m];
  }
}

[[gnu::always_inline]] inline void inverse_squares_loop(const double* __restrict decays,
                                                        const double* __restrict extra,
                                                        const double* __restrict omegas, ComplexRow out,
                                                        std::size_t count)
{
  double* __restrict out_re = out.re;
  double* __restrict out_im = out.im;
  for (std::size_t m = 0; m < count; ++m) {
    const double d = decays[m] + extra[m];
    const double square_re = d * d - omegas[m] * omegas[m];
    const double square_im = -2 * d * omegas[m];
    const double scale = 1 / (square_re * square_re + square_im * square_im);
    out_re[m] = scale * square_re;
    out_im[m] = -scale * square_im;
  }
}

[[gnu::always_inline]] inline void monotone_slopes_loop(const double* __restrict before,
                                                        const double* __restrict here,
                                                        const double* __restrict after, double left,
                                                        double right, double* __restrict slopes,
                                                        std::size_t count)
{
  for (std::size_t m = 0; m < count; ++m)
    slopes[m] = monotone_slope((here[m] - before[m]) / left, (after[m] - here[m]) / right, left, right);
}

[[gnu::always_inline]] inline void add_weighted_loop(FourRows rows, FourWeights weights,
                                                     double* __restrict sums, std::size_t count)
{
  const double* __restrict a = rows[0];
  const double* __restrict b = rows[1];
  const double* __restrict c = rows[2];
  const double* __restrict d = rows[3];
  for (std::size_t m = 0; m < count; ++m)
    sums[m] += weights[0] * a[m] + weights[1] * b[m] + weights[2] * c[m] + weights[3] * d[m];
}

}  // namespace

void small_decay_factors(const double* decays, double step, double* factors, std::size_t count)
{
  run_wide<small_decay_factors_loop>(decays, step, factors, count);
}

void multiply(const double* factors, ConstComplexRow in, ComplexRow out, std::size_t count)
{
  run_wide<multiply_loop>(factors, in, out, count);
}

void multiply_by_power(const double* factors, ConstComplexRow in, ComplexRow out, std::size_t count)
{
  run_wide<multiply_by_power_loop>(factors, in, out, count);
}

void inverse_squares(const double* decays, const double* extra, const double* omegas, ComplexRow out,
                     std::size_t count)
{
  run_wide<inverse_squares_loop>(decays, extra, omegas, out, count);
}

void monotone_slopes(const double* before, const double* here, const double* after, double left, double right,
                     double* slopes, std::size_t count)
{
  run_wide<monotone_slopes_loop>(before, here, after, left, right, slopes, count);
}

void add_weighted(const FourRows& rows, const FourWeights& weights, double* sums, std::size_t count)
{
  run_wide<add_weighted_loop>(rows, weights, sums, count);
}

}  // namespace thrum::sound
