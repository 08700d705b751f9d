// SPDX-License-Identifier: MIT
// The two functions from which every formula of a free mode is built, for a mode of frequency w and decay d
// over a time t:
//
//     cosine = e^(-d t) cos(w_d t),   sine = e^(-d t) sin(w_d t) / w_d,   w_d^2 = w^2 - d^2 > 0
//     cosine = e^(-d t) cosh(s t),    sine = e^(-d t) sinh(s t) / s,      s^2 = d^2 - w^2 > 0
//     cosine = e^(-d t),              sine = e^(-d t) t                   at w = d
//
// The three are one analytic function of w_d^2, so formulas written with them hold for any damping. The free
// motion is
//
//     q(t) = (cosine + d sine) q(0) + sine q'(0),   q'(t) = -w^2 sine q(0) + (cosine - d sine) q'(0).
#pragma once

namespace thrum::elastic {

struct DampedOscillation {
  double cosine;
  double sine;  ///< [s]
};

/// `omega` [rad/s], `decay` [1/s], `time` [s].
[[nodiscard]] DampedOscillation damped_oscillation(double omega, double decay, double time);

}  // namespace thrum::elastic
