// SPDX-License-Identifier: MIT
#include "thrum/sound/pose_track.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "thrum/base/error.h"

namespace thrum::sound {

namespace {

constexpr int kTimesPerSegment = 16;  ///< at which the speed of a carried point is looked at

/// Between the upward direction and that of the look, below which they are the same [rad].
constexpr double kMinAngle = 1e-9;
constexpr int kBisections = 60;  ///< of an interval within 0 to 1, down to rounding

using Cubic = std::array<double, 4>;  ///< c0 + c1 u + c2 u^2 + c3 u^3

double value(const Cubic& c, double u)
{
  return c[0] + u * (c[1] + u * (c[2] + u * c[3]));
}

// Where a cubic changes its sign between 0 and 1, after 0 and 1 themselves. Between its stationary points it
// is monotone.
std::vector<double> ends_and_roots(const Cubic& c)
{
  std::vector<double> cuts = {0};
  const double discriminant = c[2] * c[2] - 3 * c[1] * c[3];
  if (discriminant >= 0) {
    // Both roots of c1 + 2 c2 u + 3 c3 u^2 without a difference of close numbers.
    const double q = -(c[2] + std::copysign(std::sqrt(discriminant), c[2]));
    for (const double u : {q / (3 * c[3]), c[1] / q})
      if (u > 0 && u < 1) cuts.push_back(u);
  }
  cuts.push_back(1);
  std::sort(cuts.begin(), cuts.end());
  std::vector<double> roots = {0, 1};
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    double low = cuts[k];
    double high = cuts[k + 1];
    if (!(value(c, low) * value(c, high) < 0)) continue;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      (value(c, low) * value(c, middle) <= 0 ? high : low) = middle;
    }
    roots.push_back(low);
  }
  return roots;
}

}  // namespace

PoseTrack::PoseTrack(const Pose& pose) : times_{0}, poses_{pose} {}

PoseTrack::PoseTrack(std::vector<double> times, std::vector<Pose> poses)
    : times_(std::move(times)), poses_(std::move(poses))
{
  if (poses_.empty() || times_.size() != poses_.size()) {
    throw Error(fmt::format("A track needs as many times as poses and at least one; it has {} and {}.",
                            times_.size(), poses_.size()));
  }
  for (std::size_t i = 1; i < times_.size(); ++i) {
    if (!(times_[i] > times_[i - 1])) {
      throw Error(
          fmt::format("The times of a track must increase; {} s follows {} s.", times_[i], times_[i - 1]));
    }
  }
}

PoseTrack::Place PoseTrack::place_of(double time) const
{
  if (is_constant() || !(time > times_.front())) return {};
  if (time >= times_.back()) return {times_.size() - 2, 1.0};
  const auto after = std::upper_bound(times_.begin(), times_.end(), time);
  const auto segment = static_cast<std::size_t>(after - times_.begin()) - 1;
  return {segment, (time - times_[segment]) / (times_[segment + 1] - times_[segment])};
}

Vec3 PoseTrack::chord(std::size_t segment) const
{
  return (poses_[segment + 1].position - poses_[segment].position) / (times_[segment + 1] - times_[segment]);
}

// Of the parabola through it and its neighbours; at an end, of the chord.
Vec3 PoseTrack::slope_at(std::size_t pose) const
{
  if (pose == 0) return chord(0);
  if (pose + 1 == poses_.size()) return chord(pose - 1);
  const double before = times_[pose] - times_[pose - 1];
  const double after = times_[pose + 1] - times_[pose];
  return (chord(pose - 1) * after + chord(pose) * before) / (before + after);
}

Vec3 PoseTrack::position(double time) const
{
  if (is_constant()) return poses_.front().position;
  const auto [i, u] = place_of(time);
  const double h = times_[i + 1] - times_[i];
  const double v = 1 - u;
  return v * v * (1 + 2 * u) * poses_[i].position + u * u * (3 - 2 * u) * poses_[i + 1].position +
         h * u * v * (v * slope_at(i) - u * slope_at(i + 1));
}

// With the slopes m0 and m1 and the chord c the velocity of the cubic is
//
//     v(u) = a + b u + e u^2,     a = m0,   b = 6 c - 4 m0 - 2 m1,   e = 3 m0 + 3 m1 - 6 c,
//
// and |v|^2 is largest at an end or where v . v' = a.b + (b.b + 2 a.e) u + 3 b.e u^2 + 2 e.e u^3 is 0.
PoseTrack::Fastest PoseTrack::fastest_in(std::size_t segment) const
{
  const Vec3 c = chord(segment);
  const Vec3 a = slope_at(segment);
  const Vec3 m1 = slope_at(segment + 1);
  const Vec3 b = 6 * c - 4 * a - 2 * m1;
  const Vec3 e = 3 * a + 3 * m1 - 6 * c;
  Fastest found{-1, 0};
  for (const double u : ends_and_roots({a.dot(b), b.dot(b) + 2 * a.dot(e), 3 * b.dot(e), 2 * e.dot(e)})) {
    const double speed = (a + u * (b + u * e)).norm();
    if (speed > found.speed) found = {speed, times_[segment] + u * (times_[segment + 1] - times_[segment])};
  }
  return found;
}

PoseTrack::Fastest PoseTrack::fastest() const
{
  Fastest found{0, times_.front()};
  for (std::size_t i = 0; i + 1 < poses_.size(); ++i)
    if (const Fastest here = fastest_in(i); here.speed > found.speed) found = here;
  return found;
}

// A point r that is carried moves at v(u) + R(u) (w x r), with v(u) as in fastest_in(). Turning is even
// between two poses, so w is constant in the axes of the track.
PoseTrack::Fastest PoseTrack::fastest_of(const Vec3& point) const
{
  if (point.isZero(0)) return fastest();
  Fastest found{0, times_.empty() ? 0 : times_.front()};
  for (std::size_t i = 0; i + 1 < poses_.size(); ++i) {
    const double h = times_[i + 1] - times_[i];
    Quat turn = poses_[i].rotation.conjugate() * poses_[i + 1].rotation;
    if (turn.w() < 0) turn.coeffs() *= -1;  // the shorter way, as slerp() goes
    const Eigen::AngleAxisd angle(turn);
    const Vec3 turning = (angle.angle() / h * angle.axis()).cross(point);
    const Vec3 c = chord(i);
    const Vec3 a = slope_at(i);
    const Vec3 m1 = slope_at(i + 1);
    for (int k = 0; k <= kTimesPerSegment; ++k) {
      const double u = static_cast<double>(k) / kTimesPerSegment;
      const Vec3 moving = a + u * (6 * c - 4 * a - 2 * m1 + u * (3 * a + 3 * m1 - 6 * c));
      const Quat rotation = poses_[i].rotation.slerp(u, poses_[i + 1].rotation);
      const double speed = (moving + rotation * turning).norm();
      if (speed > found.speed) found = {speed, times_[i] + u * h};
    }
  }
  return found;
}

Quat PoseTrack::rotation(double time) const
{
  if (is_constant()) return poses_.front().rotation;
  const auto [i, u] = place_of(time);
  return poses_[i].rotation.slerp(u, poses_[i + 1].rotation);
}

Pose PoseTrack::pose(double time) const
{
  return {position(time), rotation(time)};
}

Pose look_at(const Vec3& eye, const Vec3& target, const Vec3& up)
{
  const Vec3 forward = target - eye;
  const Vec3 left = up.cross(forward);
  if (!(left.norm() > kMinAngle * up.norm() * forward.norm())) {
    throw Error("A listener cannot look along its own upward direction or at its own position.");
  }
  Mat3 axes;
  axes.col(0) = forward.normalized();
  axes.col(1) = left.normalized();
  axes.col(2) = axes.col(0).cross(axes.col(1));
  return {eye, Quat(axes)};
}

}  // namespace thrum::sound
