// SPDX-License-Identifier: MIT
#include "thrum/vibration/mode_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/elastic/mode_swing.h"

namespace thrum::vibration {

namespace {

/// Newton steps inside an interval; each doubles the digits, and the start is within a twelfth of a period.
constexpr int kNewtonSteps = 6;

// The quintic on [0, 1] with values, slopes and curvatures y0, d0, c0 at 0 and y1, d1, c1 at 1, by its coefficients.
std::array<double, 6> quintic(double y0, double d0, double c0, double y1, double d1, double c1)
{
  const double y = y1 - y0 - d0 - c0 / 2;
  const double d = d1 - d0 - c0;
  const double c = c1 - c0;
  return {y0, d0, c0 / 2, 10 * y - 4 * d + c / 2, -15 * y + 7 * d - c, 6 * y - 3 * d + c / 2};
}

double value_at(const std::array<double, 6>& p, double x)
{
  double value = p[5];
  for (int k = 4; k >= 0; --k) value = value * x + p[static_cast<std::size_t>(k)];
  return value;
}

// The place of the greatest value on [0, 1], where the slope is >= 0 at the start and <= 0 at the end.
double summit(const std::array<double, 6>& p)
{
  double low = 0;
  double high = 1;
  double x = 0.5;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double slope = p[1] + x * (2 * p[2] + x * (3 * p[3] + x * (4 * p[4] + x * 5 * p[5])));
    const double bend = 2 * p[2] + x * (6 * p[3] + x * (12 * p[4] + x * 20 * p[5]));
    (slope > 0 ? low : high) = x;
    const double next = bend < 0 ? x - slope / bend : -1;
    x = next >= low && next <= high ? next : 0.5 * (low + high);
  }
  return x;
}

}  // namespace

double energy(const elastic::ModeList& modes, const ModeState& state)
{
  return (state.v.squaredNorm() + modes.omegas.cwiseProduct(state.q).squaredNorm()) / 2;
}

void advance(const elastic::ModeList& modes, double time, ModeState& state)
{
  if (time == 0) return;
  for (Eigen::Index m = 0; m < state.q.size(); ++m) {
    const double w = modes.omegas[m];
    const double d = modes.decays[m];
    const elastic::Swing s = elastic::swing(w, d, time);
    const double q = (s.cosine + d * s.sine) * state.q[m] + s.sine * state.v[m];
    state.v[m] = -w * w * s.sine * state.q[m] + (s.cosine - d * s.sine) * state.v[m];
    state.q[m] = q;
  }
}

void PeakSearch::sample(const elastic::ModeList& modes, const ModeState& state, double window)
{
  const Eigen::Index count = state.q.size();
  const double highest = count > 0 ? modes.omegas.maxCoeff() : 0;
  const double wanted = std::ceil(window * highest * kSamplesPerPeriod / (2 * std::numbers::pi));
  if (!(wanted < static_cast<double>(kMostSamples))) {
    throw Error(fmt::format(
        "A mode of {:.4g} Hz would take {:.3g} samples in a window of {:.3g} s, more than {}; leave "
        "such modes out or shorten the window.",
        highest / (2 * std::numbers::pi), wanted, window, kMostSamples));
  }
  const auto intervals = static_cast<Eigen::Index>(std::max(1.0, wanted));
  spacing_ = window / static_cast<double>(intervals);
  omegas_ = modes.omegas;
  speed_.resize(count);
  for (MatX* m : {&q_, &v_, &a_, &j_}) m->resize(count, intervals + 1);
  for (Eigen::Index m = 0; m < count; ++m) {
    const double w2 = modes.omegas[m] * modes.omegas[m];
    const double d2 = 2 * modes.decays[m];
    speed_[m] = std::sqrt(state.v[m] * state.v[m] + w2 * state.q[m] * state.q[m]);
    // One step of the exact motion, repeated.
    const elastic::Swing s = elastic::swing(modes.omegas[m], modes.decays[m], spacing_);
    const double qq = s.cosine + modes.decays[m] * s.sine;
    const double vv = s.cosine - modes.decays[m] * s.sine;
    double q = state.q[m];
    double v = state.v[m];
    for (Eigen::Index k = 0; k <= intervals; ++k) {
      const double a = -w2 * q - d2 * v;
      q_(m, k) = q;
      v_(m, k) = v;
      a_(m, k) = a;
      j_(m, k) = -w2 * v - d2 * a;
      const double next = qq * q + s.sine * v;
      v = -w2 * s.sine * q + vv * v;
      q = next;
    }
  }
}

std::vector<Peak> PeakSearch::greatest_speed(const MatX& rows) const
{
  return search(rows, v_, a_, j_, speed_.cwiseProduct(omegas_.cwiseAbs2()), false);
}

std::vector<Peak> PeakSearch::greatest_displacement(const MatX& rows) const
{
  return search(rows, q_, v_, a_, speed_.cwiseProduct(omegas_), true);
}

// Between samples a function exceeds the larger of its two ends by at most spacing^2 / 8 times its greatest curvature.
// Damping adds less than 2 xi to the curvature of a mode; the factor covers modes up to xi = 0.5.
std::vector<Peak> PeakSearch::search(const MatX& rows, const MatX& values, const MatX& slopes,
                                     const MatX& curvatures, const VecX& curvature_bound,
                                     bool both_signs) const
{
  constexpr double kDampedCurvature = 2;
  const MatX sampled = rows * values;
  std::vector<Peak> peaks(static_cast<std::size_t>(rows.rows()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    Peak& best = peaks[static_cast<std::size_t>(i)];
    const double excess =
        kDampedCurvature * spacing_ * spacing_ / 8 * rows.row(i).cwiseAbs().dot(curvature_bound.transpose());
    const auto at = [&](Eigen::Index k) {
      return both_signs ? std::abs(sampled(i, k)) : sampled(i, k);
    };
    for (Eigen::Index k = 0; k < sampled.cols(); ++k) {
      if (at(k) > best.value) best = {at(k), static_cast<double>(k) * spacing_};
    }
    for (Eigen::Index k = 0; k + 1 < sampled.cols(); ++k) {
      if (std::max(at(k), at(k + 1)) + excess <= best.value) continue;
      for (const double sign : {1.0, -1.0}) {
        if (sign < 0 && !both_signs) continue;
        const double d0 = sign * spacing_ * rows.row(i).dot(slopes.col(k));
        const double d1 = sign * spacing_ * rows.row(i).dot(slopes.col(k + 1));
        if (d0 < 0 || d1 > 0) continue;
        const double square = sign * spacing_ * spacing_;
        const auto p = quintic(sign * sampled(i, k), d0, square * rows.row(i).dot(curvatures.col(k)),
                               sign * sampled(i, k + 1), d1, square * rows.row(i).dot(curvatures.col(k + 1)));
        const double x = summit(p);
        const double value = value_at(p, x);
        if (value > best.value) best = {value, (static_cast<double>(k) + x) * spacing_};
      }
    }
  }
  return peaks;
}

}  // namespace thrum::vibration
