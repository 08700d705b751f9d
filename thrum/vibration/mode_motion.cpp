// SPDX-License-Identifier: MIT
#include "thrum/vibration/mode_motion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/elastic/damped_oscillation.h"

namespace thrum::vibration {

namespace {

/// Newton steps inside an interval; each doubles the digits, and the start is within a twelfth of a period.
constexpr int kNewtonSteps = 6;

// The quintic on [0, 1] with values, slopes and curvatures y0, d0, c0 at 0 and y1, d1, c1 at 1, by its
// coefficients.
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
  for (int k = 4; k >= 0; --k) value = value * x + p[at(k)];
  return value;
}

// The place of the largest value on [0, 1], where the slope is >= 0 at the start and <= 0 at the end.
double peak_position(const std::array<double, 6>& p)
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
    const elastic::DampedOscillation s = elastic::damped_oscillation(w, d, time);
    const double q = (s.cosine + d * s.sine) * state.q[m] + s.sine * state.v[m];
    state.v[m] = -w * w * s.sine * state.q[m] + (s.cosine - d * s.sine) * state.v[m];
    state.q[m] = q;
  }
}

// sine(t) of elastic/damped_oscillation.h solves s'' + 2 d s' + w^2 s = 0 with s(0) = 0, s'(0) = 1. Its
// series s = sum c_n (t/step)^n has
//
//     c_1 = step,     c_(n+2) (n + 1) (n + 2) = -2 d step (n + 1) c_(n+1) - w^2 step^2 c_n,
//
// whatever the damping, and the motion is made of s and s': q(t) = (s' + 2 d s) q + s q', q'(t) = -w^2 s q +
// s' q'. For w and 2 d up to kMaxSeriesPhase over a step, half a step either way leaves out less than 1e-13
// with kTerms of them.
namespace {

constexpr double kMaxSeriesPhase = 0.6;
constexpr Eigen::Index kTerms = 11;

}  // namespace

void ModeIntegrator::prepare(const elastic::ModeList& modes, double step)
{
  if (step == step_ && modes.omegas == modes_.omegas && modes.decays == modes_.decays) return;
  step_ = step;
  modes_ = modes;
  const Eigen::Index count = modes.omegas.size();
  w2_ = modes.omegas.cwiseAbs2();
  d2_ = 2 * modes.decays;
  for (VecX* v : {&qq_, &qv_, &vq_, &vv_, &next_.q, &next_.v}) v->resize(count);
  for (Eigen::Index m = 0; m < count; ++m) {
    const elastic::DampedOscillation s = elastic::damped_oscillation(modes.omegas[m], modes.decays[m], step);
    qq_[m] = s.cosine + modes.decays[m] * s.sine;
    qv_[m] = s.sine;
    vq_[m] = -w2_[m] * s.sine;
    vv_[m] = s.cosine - modes.decays[m] * s.sine;
  }
  series_ = count > 0 && std::max(modes.omegas.maxCoeff(), d2_.maxCoeff()) * step <= kMaxSeriesPhase;
  sine_.setZero(count, kTerms);
  for (Eigen::Index m = 0; m < count && series_; ++m) {
    sine_(m, 1) = step;
    for (Eigen::Index n = 0; n + 2 < kTerms; ++n) {
      const auto k = static_cast<double>(n);
      sine_(m, n + 2) = -(d2_[m] * step * (k + 1) * sine_(m, n + 1) + w2_[m] * step * step * sine_(m, n)) /
                        ((k + 1) * (k + 2));
    }
  }
}

void ModeIntegrator::advance_step(const double* q, const double* v, double* q_next, double* v_next) const
{
  const Eigen::Index count = w2_.size();
  const Eigen::Map<const VecX> q0(q, count), v0(v, count);
  Eigen::Map<VecX>(q_next, count) = qq_.cwiseProduct(q0) + qv_.cwiseProduct(v0);
  Eigen::Map<VecX>(v_next, count) = vq_.cwiseProduct(q0) + vv_.cwiseProduct(v0);
}

void ModeIntegrator::small_step(double time, ModeState& state) const
{
  // Horner's scheme for the series and its derivative, some modes at a time.
  constexpr Eigen::Index kLanes = 4;
  using Block = Eigen::Array<double, Eigen::Dynamic, 1, 0, kLanes, 1>;
  using Full = Eigen::Array<double, kLanes, 1>;
  const double x = time / step_;
  const Eigen::Index count = w2_.size();
  const auto move = [&]<class Array>(Eigen::Index first, Eigen::Index size, Array s) {
    s = sine_.col(kTerms - 1).segment(first, size).array();
    Array slope = Array::Zero(size);
    for (Eigen::Index n = kTerms - 1; n > 0; --n) {
      slope = slope * x + s;
      s = s * x + Eigen::Map<const Array>(sine_.data() + (n - 1) * count + first, size);
    }
    slope /= step_;
    const Array q = state.q.segment(first, size).array();
    const Array v = state.v.segment(first, size).array();
    state.q.segment(first, size) = ((slope + d2_.segment(first, size).array() * s) * q + s * v).matrix();
    state.v.segment(first, size) = (slope * v - w2_.segment(first, size).array() * s * q).matrix();
  };
  Eigen::Index m = 0;
  for (; m + kLanes <= count; m += kLanes) move(m, kLanes, Full());
  if (m < count) move(m, count - m, Block(count - m));
}

void ModeIntegrator::advance(double time, ModeState& state)
{
  // Longer ways than this take less time by sines.
  constexpr double kMaxSteps = 40;
  const double whole = std::round(time / step_);
  if (!series_ || whole > kMaxSteps) {
    vibration::advance(modes_, time, state);
    return;
  }
  for (double k = 0; k < whole; ++k) {
    advance_step(state.q.data(), state.v.data(), next_.q.data(), next_.v.data());
    std::swap(state, next_);
  }
  const double rest = time - whole * step_;
  if (rest != 0) small_step(rest, state);
}

Eigen::Index PeakSearch::intervals(const elastic::ModeList& modes, double window)
{
  const double highest = modes.omegas.size() > 0 ? modes.omegas.maxCoeff() : 0;
  const double wanted = std::ceil(window * highest * kSamplesPerPeriod / (2 * std::numbers::pi));
  if (!(wanted < static_cast<double>(kMaxSamples))) {
    throw Error(fmt::format(
        "A mode of {:.4g} Hz would take {:.3g} samples in a window of {:.3g} s, more than {}; leave "
        "such modes out or shorten the window.",
        highest / (2 * std::numbers::pi), wanted, window, kMaxSamples));
  }
  return static_cast<Eigen::Index>(std::max(1.0, wanted));
}

void PeakSearch::sample(const elastic::ModeList& modes, const ModeState& state, double window)
{
  const Eigen::Index count = state.q.size();
  const Eigen::Index intervals = PeakSearch::intervals(modes, window);
  integrator_.prepare(modes, window / static_cast<double>(intervals));
  w2_ = modes.omegas.cwiseAbs2();
  d2_ = 2 * modes.decays;
  speed_ = (state.v.cwiseAbs2() + w2_.cwiseProduct(state.q.cwiseAbs2())).cwiseSqrt();
  for (MatX* m : {&q_, &v_}) m->resize(count, intervals + 1);
  q_.col(0) = state.q;
  v_.col(0) = state.v;
  for (Eigen::Index k = 0; k < intervals; ++k)
    integrator_.advance_step(q_.col(k).data(), v_.col(k).data(), q_.col(k + 1).data(), v_.col(k + 1).data());
}

std::vector<Peak> PeakSearch::max_speed(const MatX& columns)
{
  return search(columns, Quantity::speed);
}

std::vector<Peak> PeakSearch::max_displacement(const MatX& columns)
{
  return search(columns, Quantity::displacement);
}

// Between samples a function exceeds the larger of its two ends by at most spacing^2 / 8 times its largest
// curvature. Damping adds less than 2 xi to the curvature of a mode; the factor covers modes up to xi = 0.5.
std::vector<Peak> PeakSearch::search(const MatX& columns, Quantity what)
{
  constexpr double kDampedCurvature = 2;
  const double square = integrator_.step() * integrator_.step();
  // What the modes can reach, and what of that can lie between samples or be lost in rounding.
  VecX reach = speed_;
  if (what == Quantity::displacement) reach = reach.cwiseQuotient(w2_.cwiseSqrt());
  const double rounding =
      static_cast<double>(columns.rows() + 4) * static_cast<double>(std::numeric_limits<float>::epsilon());
  const VecX hidden =
      (kDampedCurvature * square / 8 * w2_ + VecX::Constant(w2_.size(), 2 * rounding)).cwiseProduct(reach);
  const VecX margins = columns.cwiseAbs().transpose() * hidden;

  columns_single_ = columns.cast<float>();
  motion_single_ = (what == Quantity::speed ? v_ : q_).cast<float>();
  sampled_.noalias() = motion_single_.transpose() * columns_single_;
  if (what == Quantity::displacement) sampled_ = sampled_.cwiseAbs();
  std::vector<Peak> peaks(static_cast<std::size_t>(columns.cols()));
  for (Eigen::Index i = 0; i < columns.cols(); ++i)
    search_between_samples(columns, i, what, static_cast<float>(margins[i]),
                           peaks[static_cast<std::size_t>(i)]);
  return peaks;
}

PeakSearch::Sample PeakSearch::at(const MatX& columns, Eigen::Index point, Eigen::Index k,
                                  Quantity what) const
{
  const auto f = columns.col(point).array();
  const auto q = q_.col(k).array();
  const auto v = v_.col(k).array();
  const auto braking = w2_.array() * q + d2_.array() * v;  // -q''
  Sample sum;
  if (what == Quantity::displacement) {
    sum.value = (f * q).sum();
    sum.slope = (f * v).sum();
    sum.curvature = -(f * braking).sum();
  } else {
    sum.value = (f * v).sum();
    sum.slope = -(f * braking).sum();
    sum.curvature = (f * (d2_.array() * braking - w2_.array() * v)).sum();
  }
  return sum;
}

namespace {

// A cubic through four samples exceeds the larger of the middle two by at most an eighth of the greater
// second difference there, and is itself off by at most 9/16 / 24 spacing^4 times the fourth derivative: a
// bound some forty times as tight as the first, without which hundreds of modes, whose worst case never
// comes, would have nearly every interval searched.
float fine_margin(const VecX& row, const VecX& w2, const VecX& reach, double spacing)
{
  constexpr double kDampedDerivative = 4;
  const double fourth = kDampedDerivative * 9.0 / 16 / 24 * std::pow(spacing, 4);
  const double rounding =
      3 * static_cast<double>(row.size() + 4) * static_cast<double>(std::numeric_limits<float>::epsilon());
  return static_cast<float>(
      (row.array().abs() * reach.array() * (fourth * w2.array().square() + rounding)).sum());
}

}  // namespace

void PeakSearch::search_between_samples(const MatX& columns, Eigen::Index point, Quantity what, float margin,
                                        Peak& best) const
{
  const auto sampled = sampled_.col(point);
  const double spacing = integrator_.step();
  const auto better = [&](double value, double time) {
    if (value > best.value) best = {value, time};
  };
  Eigen::Index known = -1;
  Sample end;
  const auto search = [&](Eigen::Index k) {
    const Sample begin = known == k ? end : at(columns, point, k, what);
    end = at(columns, point, k + 1, what);
    known = k + 1;
    for (const double sign : {1.0, -1.0}) {
      if (sign < 0 && what == Quantity::speed) continue;
      better(sign * begin.value, static_cast<double>(k) * spacing);
      better(sign * end.value, static_cast<double>(k + 1) * spacing);
      const double d0 = sign * spacing * begin.slope;
      const double d1 = sign * spacing * end.slope;
      if (d0 < 0 || d1 > 0) continue;
      const double square = sign * spacing * spacing;
      const auto p = quintic(sign * begin.value, d0, square * begin.curvature, sign * end.value, d1,
                             square * end.curvature);
      const double x = peak_position(p);
      better(value_at(p, x), (static_cast<double>(k) + x) * spacing);
    }
  };
  // Beside the highest sample first: most other intervals cannot reach what is found there.
  Eigen::Index top = 0;
  const float highest = sampled.maxCoeff(&top);
  const Eigen::Index last = sampled.size() - 2;
  if (top > 0) search(top - 1);
  if (top <= last) search(top);
  const float fine = what == Quantity::speed ? fine_margin(columns.col(point), w2_, speed_, spacing)
                                             : std::numeric_limits<float>::infinity();
  for (Eigen::Index k = 0; k <= last; ++k) {
    if (k == top || k + 1 == top) continue;
    const float higher = std::max(sampled[k], sampled[k + 1]);
    if (higher < highest - margin || static_cast<double>(higher + margin) <= best.value) continue;
    if (k > 0 && k < last) {
      const float bend = std::max({0.0F, 2 * sampled[k] - sampled[k - 1] - sampled[k + 1],
                                   2 * sampled[k + 1] - sampled[k] - sampled[k + 2]});
      if (static_cast<double>(higher + bend / 8 + fine) <= best.value) continue;
    }
    search(k);
  }
}

}  // namespace thrum::vibration
