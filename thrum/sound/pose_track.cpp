// SPDX-License-Identifier: MIT
#include "thrum/sound/pose_track.h"

#include <fmt/format.h>

#include <algorithm>

#include "thrum/base/error.h"

namespace thrum::sound {

namespace {

/// Between the upward direction and that of the look, below which they are the same [rad].
constexpr double kMinAngle = 1e-9;

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

Vec3 PoseTrack::position(double time) const
{
  if (is_constant()) return poses_.front().position;
  const auto [i, u] = place_of(time);
  // Slope at a recorded moment: of the parabola through it and its neighbours; at an end, of the chord.
  const auto chord = [&](std::size_t k) -> Vec3 {
    return (poses_[k + 1].position - poses_[k].position) / (times_[k + 1] - times_[k]);
  };
  const auto slope = [&](std::size_t k) -> Vec3 {
    if (k == 0) return chord(0);
    if (k + 1 == poses_.size()) return chord(k - 1);
    const double before = times_[k] - times_[k - 1];
    const double after = times_[k + 1] - times_[k];
    return (chord(k - 1) * after + chord(k) * before) / (before + after);
  };
  const double h = times_[i + 1] - times_[i];
  const double v = 1 - u;
  return v * v * (1 + 2 * u) * poses_[i].position + u * u * (3 - 2 * u) * poses_[i + 1].position +
         h * u * v * (v * slope(i) - u * slope(i + 1));
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
