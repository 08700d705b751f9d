// SPDX-License-Identifier: MIT
// A reference for kicks: the analytic modes of a simply supported plate and bodies with one contact each,
// joined by one-sided Hertz contacts and integrated together at 2 us without a break, blow after blow. Shapes
// are sines, contacts F = K d^(3/2) + a sqrt(m K) d^(1/4) d' [Tsuji92] that never pull, with the a that gives
// a mass on such a contact its restitution (benchmarks/response/coupled.h): nothing but the formulas of the
// plate is shared with thrum/vibration.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "benchmarks/response/coupled.h"
#include "tests/vibration/plate_model.h"
#include "thrum/vibration/modal_response.h"

namespace thrum::vibration {

struct Blow {
  double time = 0;         ///< at which the striking body meets the plate [s]
  Vec3 at = Vec3::Zero();  ///< [m]
  double mass = 1;         ///< [kg]
  double speed = 1;        ///< [m/s]
};

struct RestingBody {
  Vec3 at = Vec3::Zero();
  double mass = 0.1;  ///< [kg]
};

/// Steel, 1 x 1 x 0.01 m: the thin plate of the sweeps.
inline PlateSize steel_plate(int modes)
{
  return {.a = 1,
          .b = 1,
          .h = 0.01,
          .density = 7850,
          .young = 2e11,
          .poisson = 0.29,
          .modes = modes,
          .cells = 40,
          .alpha = 5,
          .beta = 3e-8};
}

class CoupledPlate {
 public:
  static constexpr double kStep = 2e-6;    ///< [s]
  static constexpr double kRadius = 0.01;  ///< of curvature at the contacts [m]

  CoupledPlate(const PlateSize& plate, double restitution) : plate_(plate)
  {
    const double modulus = plate.young / (1 - plate.poisson * plate.poisson) / 2;
    stiffness_ = 4.0 / 3 * modulus * std::sqrt(kRadius);
    damping_ = bench::hertz_damping(restitution);
    const double D = plate.young * std::pow(plate.h, 3) / (12 * (1 - plate.poisson * plate.poisson));
    for (int m = 1; m < 60; ++m) {
      for (int n = 1; n < 60; ++n) {
        const double k = std::pow(m / plate.a, 2) + std::pow(n / plate.b, 2);
        modes_.push_back(
            {std::pow(std::numbers::pi, 2) * k * std::sqrt(D / (plate.density * plate.h)), m, n});
      }
    }
    std::sort(modes_.begin(), modes_.end(), [](const Mode& a, const Mode& b) { return a.w < b.w; });
    modes_.resize(static_cast<std::size_t>(plate.modes));
  }

  /// For each blow the speed with which the resting body leaves within `window` after it: the largest
  /// sqrt(v^2 + 2 g z) while it is off the plate [m/s].
  [[nodiscard]] std::vector<double> speeds(const std::vector<Blow>& blows, const RestingBody& body,
                                           double window) const
  {
    const auto n = static_cast<Eigen::Index>(modes_.size());
    VecX qq(n), qv(n), vq(n), vv(n), q = VecX::Zero(n), v = VecX::Zero(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const double w = modes_[static_cast<std::size_t>(i)].w;
      const double d = (plate_.alpha + plate_.beta * w * w) / 2;
      const double wd = std::sqrt(w * w - d * d);
      const double c = std::exp(-d * kStep) * std::cos(wd * kStep);
      const double s = std::exp(-d * kStep) * std::sin(wd * kStep) / wd;
      qq[i] = c + d * s;
      qv[i] = s;
      vq[i] = -w * w * s;
      vv[i] = c - d * s;
    }
    const VecX resting_row = row_at(body.at);
    VecX row;
    const double load = kGravity * body.mass;
    Ball rest{-std::pow(load / stiffness_, 2.0 / 3), 0, body.mass, load};
    Ball striker;
    bool strikes = false;
    std::size_t next = 0;
    std::vector<double> best;
    const auto steps = std::lround((blows.back().time + window) / kStep);
    for (long k = 0; k < steps; ++k) {
      const double t = static_cast<double>(k) * kStep;
      if (next < blows.size() && t >= blows[next].time) {
        row = row_at(blows[next].at);
        striker = {row.dot(q), -blows[next].speed, blows[next].mass, 0};
        strikes = true;
        best.push_back(0);
        ++next;
      }
      const VecX q_next = qq.cwiseProduct(q) + qv.cwiseProduct(v);
      v = vq.cwiseProduct(q) + vv.cwiseProduct(v);
      q = q_next;
      if (push(resting_row, rest, q, v) <= 0 && rest.u > 0 && next > 0 && t < blows[next - 1].time + window)
        best.back() = std::max(best.back(), rest.u * rest.u + 2 * kGravity * rest.z);
      // A striker that is well off the plate is gone.
      if (strikes && push(row, striker, q, v) < -5e-3) strikes = false;
    }
    for (double& speed : best) speed = std::sqrt(speed);
    return best;
  }

 private:
  static constexpr double kGravity = 9.81;
  struct Mode {
    double w;
    int m, n;
  };
  struct Ball {
    double z = 0, u = 0, mass = 1, load = 0;
  };

  [[nodiscard]] VecX row_at(const Vec3& p) const
  {
    VecX row(static_cast<Eigen::Index>(modes_.size()));
    const double mass = plate_.density * plate_.a * plate_.b * plate_.h;
    for (std::size_t i = 0; i < modes_.size(); ++i) {
      row[static_cast<Eigen::Index>(i)] = 2 / std::sqrt(mass) *
                                          std::sin(modes_[i].m * std::numbers::pi * p.x() / plate_.a) *
                                          std::sin(modes_[i].n * std::numbers::pi * p.y() / plate_.b);
    }
    return row;
  }

  // One contact over one step; returns its indentation, below 0 when apart [m].
  double push(const VecX& row, Ball& ball, const VecX& q, VecX& v) const
  {
    const double d = row.dot(q) - ball.z;
    double force = 0;
    if (d > 0) {
      const double rate = row.dot(v) - ball.u;
      force = std::max(0.0, stiffness_ * d * std::sqrt(d) +
                                damping_ * std::sqrt(ball.mass * stiffness_ * std::sqrt(d)) * rate);
    }
    ball.u += kStep * (force / ball.mass - kGravity);
    ball.z += kStep * ball.u;
    if (force != ball.load) v -= kStep * (force - ball.load) * row;
    return d;
  }

  PlateSize plate_;
  double stiffness_ = 0;
  double damping_ = 0;
  std::vector<Mode> modes_;
};

/// The kicks of the same blows by `response`, from rest, with `vibration_after_step` as its settings say
/// [m/s].
inline std::vector<double> response_speeds(ModalResponse& response, const std::vector<Blow>& blows,
                                           const RestingBody& body, double restitution)
{
  ModeState state = response.at_rest();
  std::vector<double> speeds;
  double now = 0;
  for (const Blow& blow : blows) {
    advance(response.modes(), std::max(0.0, blow.time - now), state);
    ContactScene scene;
    scene.strike(blow.at, blow.mass, blow.speed, restitution);
    const std::size_t resting = scene.rest(body.at, body.mass, restitution);
    double speed = 0;
    for (const Kick& kick : response.respond(scene.input(), state).kicks) {
      if (kick.contact == resting) speed = kick.speed;
    }
    speeds.push_back(speed);
    now = blow.time + scene.step;
  }
  return speeds;
}

}  // namespace thrum::vibration
