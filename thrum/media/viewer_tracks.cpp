// SPDX-License-Identifier: MIT
#include "thrum/media/viewer_tracks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"

namespace thrum::media {

namespace {

constexpr std::size_t kMaxKeyInterval = 8;  ///< frames between two keys of a body that moves
constexpr std::size_t kMaxKeyGap = 0xffff;  ///< maximum frames in a gap
constexpr float kPositionSteps = 65535;     ///< of a position in its box
constexpr std::size_t kSampledFrames = 64;  ///< of a run, to see where bodies are
constexpr double kOutlierFraction = 0.02;   ///< of positions at either end that are ignored for the box

struct Key {
  Eigen::Vector3f position;
  Eigen::Vector4f rotation;  ///< x, y, z, w, unit
};

Key key_of(const sim::RecordedPose& pose)
{
  const Eigen::Vector4f q(pose.rotation[1], pose.rotation[2], pose.rotation[3], pose.rotation[0]);
  const float length = q.norm();
  return {{pose.position[0], pose.position[1], pose.position[2]},
          length > 0 ? Eigen::Vector4f(q / length) : Eigen::Vector4f(0, 0, 0, 1)};
}

// The maximum distance of a point of a body between two poses: 2 |q - q'| is about the angle between them.
struct PoseTolerance {
  float radius = 0;
  float tolerance = 0;

  [[nodiscard]] bool operator()(const Key& a, const Key& b) const
  {
    const float turned = std::min((a.rotation - b.rotation).norm(), (a.rotation + b.rotation).norm());
    return (a.position - b.position).norm() + 2 * radius * turned <= tolerance;
  }
};

Key between(const Key& a, const Key& b, float fraction)
{
  const float sign = a.rotation.dot(b.rotation) < 0 ? -1.0f : 1.0f;
  return {(1 - fraction) * a.position + fraction * b.position,
          ((1 - fraction) * a.rotation + fraction * sign * b.rotation).normalized()};
}

// Frames at which a body needs a key, the first and the last included.
std::vector<std::size_t> key_frames(const std::vector<Key>& poses, const PoseTolerance& near)
{
  std::vector<std::size_t> keys = {0};
  const std::size_t count = poses.size();
  while (keys.back() + 1 < count) {
    const std::size_t from = keys.back();
    // At rest: a key at the end of the rest.
    std::size_t to = from;
    while (to + 1 < count && to + 1 - from < kMaxKeyGap && near(poses[to + 1], poses[from])) ++to;
    if (to < from + 2) {
      // Moving: the longest interpolation that is close enough to every frame between.
      const auto straight = [&](std::size_t end) {
        for (std::size_t f = from + 1; f < end; ++f) {
          const float fraction = static_cast<float>(f - from) / static_cast<float>(end - from);
          if (!near(between(poses[from], poses[end], fraction), poses[f])) return false;
        }
        return true;
      };
      to = from + 1;
      while (to + 1 < count && to + 1 - from <= kMaxKeyInterval && straight(to + 1)) ++to;
    }
    keys.push_back(to);
  }
  return keys;
}

double radius_of(const mesh::TriangleMesh& mesh)
{
  double max_squared = 0;
  for (const Vec3& v : mesh.vertices) max_squared = std::max(max_squared, v.squaredNorm());
  return std::sqrt(max_squared);
}

void append_track(const std::vector<Key>& poses, const std::vector<std::size_t>& keys, ViewerTracks& out)
{
  Eigen::Vector3f low = poses[keys[0]].position;
  Eigen::Vector3f high = low;
  for (const std::size_t f : keys) {
    low = low.cwiseMin(poses[f].position);
    high = high.cwiseMax(poses[f].position);
  }
  const Eigen::Vector3f size = high - low;
  out.counts.push_back(static_cast<std::uint32_t>(keys.size()));
  for (const float x : low) out.boxes.push_back(x);
  for (const float x : size) out.boxes.push_back(x);
  std::size_t before = 0;
  for (const std::size_t f : keys) {
    out.gaps.push_back(static_cast<std::uint16_t>(f - before));
    before = f;
    for (int k = 0; k < 3; ++k) {
      const float fraction = size[k] > 0 ? (poses[f].position[k] - low[k]) / size[k] : 0.0f;
      out.positions.push_back(static_cast<std::uint16_t>(std::lround(fraction * kPositionSteps)));
    }
    for (int k = 0; k < 4; ++k) {
      const float scaled = std::clamp(poses[f].rotation[k], -1.0f, 1.0f) * 32767.0f;
      out.rotations.push_back(static_cast<std::int16_t>(std::lround(scaled)));
    }
  }
}

}  // namespace

ViewerTracks viewer_tracks(const sim::Recording& recording, double tolerance)
{
  ViewerTracks tracks;
  std::vector<Key> poses(recording.frames.size());
  if (poses.empty()) {
    tracks.counts.assign(recording.header.bodies.size(), 0);
    tracks.boxes.assign(6 * recording.header.bodies.size(), 0);
    return tracks;
  }
  std::vector<float> radii;
  for (const mesh::TriangleMesh& mesh : recording.header.meshes)
    radii.push_back(static_cast<float>(radius_of(mesh)));
  for (std::size_t b = 0; b < recording.header.bodies.size(); ++b) {
    for (std::size_t f = 0; f < poses.size(); ++f) poses[f] = key_of(recording.frames[f].poses[b]);
    const std::int32_t mesh = recording.header.shown_mesh(recording.header.bodies[b]);
    const PoseTolerance near{radii[at(mesh)], static_cast<float>(tolerance)};
    append_track(poses, key_frames(poses, near), tracks);
  }
  return tracks;
}

Box3 motion_box(const sim::Recording& recording)
{
  const sim::RecordingHeader& header = recording.header;
  std::vector<double> radii;
  for (const mesh::TriangleMesh& mesh : header.meshes) radii.push_back(radius_of(mesh));
  const std::size_t stride = std::max<std::size_t>(1, recording.frames.size() / kSampledFrames);
  for (const bool moving_only : {true, false}) {
    // Along each axis: where bodies begin and end, sorted, without the outliers.
    std::array<std::vector<double>, 3> lows, highs;
    for (std::size_t f = 0; f < recording.frames.size(); f += stride) {
      for (std::size_t b = 0; b < header.bodies.size(); ++b) {
        const double radius = radii[at(header.shown_mesh(header.bodies[b]))];
        const auto& place = recording.frames[f].poses[b].position;
        if (!header.bodies[b].is_in_frame(f)) continue;
        if (!std::all_of(place.begin(), place.end(), [](float x) { return std::isfinite(x); })) continue;
        const bool moves = header.bodies[b].motion != model::Motion::fixed || !header.bodies[b].modes.empty();
        if (!(radius > 0) || (moving_only && !moves)) continue;
        for (std::size_t k = 0; k < 3; ++k) {
          const double x = place[k];
          lows[k].push_back(x - radius);
          highs[k].push_back(x + radius);
        }
      }
    }
    if (lows[0].empty()) continue;
    const auto outliers = static_cast<std::ptrdiff_t>(kOutlierFraction * static_cast<double>(lows[0].size()));
    Vec3 low, high;
    for (std::size_t k = 0; k < 3; ++k) {
      std::nth_element(lows[k].begin(), lows[k].begin() + outliers, lows[k].end());
      std::nth_element(highs[k].begin(), highs[k].end() - 1 - outliers, highs[k].end());
      low[k] = *(lows[k].begin() + outliers);
      high[k] = *(highs[k].end() - 1 - outliers);
    }
    return {low, high};
  }
  return {};
}

}  // namespace thrum::media
