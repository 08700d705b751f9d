// SPDX-License-Identifier: MIT
// Where a body or a listener is at every moment: recorded poses, interpolated.
//
// Positions are interpolated by cubic Hermite segments with the slopes of Catmull and Rom, so that speed, and
// with it the Doppler shift, has no jumps between recorded moments; rotations go the shortest way at constant
// speed. Before the first and after the last moment the pose stays as it is there.
#pragma once

#include <vector>

#include "thrum/base/vec.h"

namespace thrum::sound {

class PoseTrack {
 public:
  /// Stays where it is.
  PoseTrack(const Pose& pose = {});  // NOLINT(google-explicit-constructor): a pose is a track
  /// Throws Error when there is no pose, the numbers differ, or times [s] do not increase.
  PoseTrack(std::vector<double> times, std::vector<Pose> poses);

  [[nodiscard]] Pose pose(double time) const;
  [[nodiscard]] Vec3 position(double time) const;
  [[nodiscard]] Quat rotation(double time) const;
  [[nodiscard]] bool is_constant() const { return poses_.size() == 1; }

  struct Fastest {
    double speed = 0;  ///< [m/s]
    double time = 0;   ///< [s]
  };
  /// When the position moves fastest: in all, and between pose `segment` and the next.
  [[nodiscard]] Fastest fastest() const;
  [[nodiscard]] Fastest fastest_in(std::size_t segment) const;
  /// When a point that is carried moves fastest, turning included; looked for at 16 times between two poses.
  /// `point` is in the axes of the track [m].
  [[nodiscard]] Fastest fastest_of(const Vec3& point) const;

 private:
  struct Place {
    std::size_t segment = 0;
    double fraction = 0;  ///< of the segment
  };
  [[nodiscard]] Place place_of(double time) const;
  [[nodiscard]] Vec3 chord(std::size_t segment) const;  ///< mean velocity between two poses [m/s]
  [[nodiscard]] Vec3 slope_at(std::size_t pose) const;  ///< velocity at a pose [m/s]

  std::vector<double> times_;  ///< [s]
  std::vector<Pose> poses_;
};

/// The pose of a listener at `eye` who looks towards `target`: x forward, y left, z up. `up` need not be at
/// right angles. Throws Error when the direction is undefined.
[[nodiscard]] Pose look_at(const Vec3& eye, const Vec3& target, const Vec3& up = Vec3::UnitZ());

}  // namespace thrum::sound
