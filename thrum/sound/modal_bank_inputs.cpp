// SPDX-License-Identifier: MIT
// What forces add to the modes of a bank, integrated exactly over each sample.
//
// A force f over the part [u, v] of the sample that ends at t adds
//
//     integral_u^v exp(s (t - x)) f(x) dx = exp(s (t - v)) integral_0^L exp(s (L - x)) f(u + x) dx
//
// to z, where L = v - u. For half a sine of impulse j and length D, f = j (pi / 2 D) sin(W (x - x0)) with
// W = pi / D, it takes
//
//     K(p) = integral_0^L exp(s (L - x)) exp(p x) dx = (exp(p L) - exp(s L)) / (p - s)                 (1)
//
// at p = +-iW. Whole samples share K, only the phase of the sine changes.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/sound/modal_bank.h"

namespace thrum::sound {

namespace {

using Complex = std::complex<double>;

// (1) of above; `es` = exp(s L), `ep` = exp(p L). Near p = s by its series, where the difference cancels.
Complex exponential_integral(Complex s, Complex p, double length, Complex es, Complex ep)
{
  constexpr double kSeriesThreshold = 1e-3;  // the terms left out are below 1e-14
  const Complex x = (p - s) * length;
  if (std::norm(x) > kSeriesThreshold * kSeriesThreshold) return (ep - es) / (p - s);
  return es * length * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0))));
}

}  // namespace

void ModalBank::gather_inputs()
{
  has_input_ = has_force_;  // a load alone needs no input, see render_free()
  const double begin = time();
  const double end = begin + interval();
  for (const Pulse& pulse : pulses_) has_input_ |= pulse.time < end;
  if (!has_input_) return;
  std::fill(in_re_.begin(), in_re_.end(), 0.0);
  std::fill(in_im_.begin(), in_im_.end(), 0.0);
  if (has_load_ || has_force_) {
    for (std::size_t m = 0; m < count_; ++m) {
      // A force held over a sample adds (exp(s T) - 1) / s; a load that changes at the rate r acts as r / s.
      const Complex s = pole(m);
      const Complex held = (Complex(pole_re_[m], pole_im_[m]) - 1.0) / s;
      const Complex load = has_load_ ? held * load_rates_[m] / s : Complex(0);
      for (std::size_t n = 0; n < kInterval; ++n) {
        const Complex input = (has_force_ ? held * force_[n * padded_ + m] : Complex(0)) + load;
        in_re_[n * padded_ + m] += input.real();
        in_im_[n * padded_ + m] += input.imag();
      }
    }
  }
  for (const Pulse& pulse : pulses_) {
    if (pulse.time < end) add_pulse(pulse);
  }
  std::erase_if(pulses_, [&](const Pulse& pulse) { return pulse.time + pulse.duration < end; });
}

void ModalBank::add_pulse(const Pulse& pulse)
{
  // Samples by their number in the interval; a pulse may begin before it and end after it.
  const double begin = time();
  const double first = (pulse.time - begin) / step_;
  const double last = (pulse.time + pulse.duration - begin) / step_;
  const auto clamped = [](double n) {
    return static_cast<std::size_t>(std::clamp(n, 0.0, static_cast<double>(kInterval)));
  };
  if (pulse.duration == 0) {
    const std::size_t n = std::min(clamped(std::floor(first)), kInterval - 1);
    const double at = std::clamp(first, static_cast<double>(n), static_cast<double>(n + 1));
    add_pulse_part(pulse, n, at, at);
    return;
  }
  const std::size_t whole_begin = clamped(std::ceil(first));
  const std::size_t whole_end = std::max(clamped(std::floor(last)), whole_begin);
  const double from = std::max(first, 0.0);
  const double to = std::min(last, static_cast<double>(kInterval));
  if (to < from) return;
  if (std::floor(last) < std::ceil(first)) {  // all of it inside one sample
    if (from < static_cast<double>(kInterval)) add_pulse_part(pulse, clamped(std::floor(from)), from, to);
    return;
  }
  if (from < static_cast<double>(whole_begin))
    add_pulse_part(pulse, whole_begin - 1, from, static_cast<double>(whole_begin));
  if (static_cast<double>(whole_end) < to)
    add_pulse_part(pulse, whole_end, static_cast<double>(whole_end), to);
  if (whole_begin == whole_end) return;
  const double W = std::numbers::pi / pulse.duration;
  const Complex turn = std::exp(Complex(0, W * step_));
  std::array<double, kInterval> sines, cosines;  // the same for all modes
  for (std::size_t n = whole_begin; n < whole_end; ++n) {
    const double angle = W * step_ * (static_cast<double>(n) - first);
    sines[n] = std::sin(angle);
    cosines[n] = std::cos(angle);
  }
  for (std::size_t m = 0; m < count_; ++m) {
    const Complex s = pole(m);
    const Complex es(pole_re_[m], pole_im_[m]);
    const Complex plus = exponential_integral(s, {0, W}, step_, es, turn);
    const Complex minus = exponential_integral(s, {0, -W}, step_, es, std::conj(turn));
    // sin = (exp(i.) - exp(-i.)) / 2i, so the integral is sin(a) (plus + minus)/2 + cos(a) (plus - minus)/2i.
    const double amplitude = pulse.gains[m] * W / 2;
    const Complex of_sine = amplitude * (plus + minus) / 2.0;
    const Complex of_cosine = amplitude * (plus - minus) / Complex(0, 2);
    for (std::size_t n = whole_begin; n < whole_end; ++n) {
      const Complex input = sines[n] * of_sine + cosines[n] * of_cosine;
      in_re_[n * padded_ + m] += input.real();
      in_im_[n * padded_ + m] += input.imag();
    }
  }
}

// The part of the pulse between two times inside sample n; times in samples from the beginning of the
// interval.
void ModalBank::add_pulse_part(const Pulse& pulse, std::size_t n, double from, double to)
{
  const double length = (to - from) * step_;
  const double rest = (static_cast<double>(n + 1) - to) * step_;
  const double W = pulse.duration > 0 ? std::numbers::pi / pulse.duration : 0;
  const double angle = W * (from * step_ - (pulse.time - time()));
  const Complex start = std::exp(Complex(0, angle));
  const Complex turn = std::exp(Complex(0, W * length));
  for (std::size_t m = 0; m < count_; ++m) {
    const Complex s = pole(m);
    Complex sum = pulse.gains[m];
    if (pulse.duration > 0) {
      const Complex es = std::exp(s * length);
      const Complex plus = exponential_integral(s, {0, W}, length, es, turn);
      const Complex minus = exponential_integral(s, {0, -W}, length, es, std::conj(turn));
      sum *= (W / 2) * (start * plus - std::conj(start) * minus) / Complex(0, 2);
    }
    sum *= std::exp(s * rest);
    in_re_[n * padded_ + m] += sum.real();
    in_im_[n * padded_ + m] += sum.imag();
  }
}

}  // namespace thrum::sound
