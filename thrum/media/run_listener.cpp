// SPDX-License-Identifier: MIT
#include "thrum/media/run_listener.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/media/snapshots.h"
#include "thrum/mesh/winding_number.h"
#include "thrum/scene/mistakes.h"

namespace thrum::media {

namespace {

constexpr double kUprightAngle = 1e-6;  ///< at least, between the look and the upward direction [rad]

bool is_vertical(const Vec3& forward)
{
  return !(forward.cross(Vec3::UnitZ()).norm() > kUprightAngle * forward.norm());
}

// From straight above or below, the top of the head points north.
Pose head_pose(const Vec3& eye, Vec3 forward)
{
  if (!(forward.norm() > 0)) forward = Vec3::UnitY();
  return sound::look_at(eye, eye + forward, is_vertical(forward) ? Vec3::UnitY() : Vec3::UnitZ());
}

// Of a path: keys that look straight up or down keep the ears of the key before, or, before all others, of
// the key after. The head is tilted, not turned.
std::vector<Pose> head_poses(const std::vector<scene::ListenerKey>& keys, const std::vector<Vec3>& forwards)
{
  const auto is_undecided = [](const Vec3& forward) {
    return forward.norm() > 0 && is_vertical(forward);
  };
  std::vector<Pose> poses;
  for (std::size_t k = 0; k < keys.size(); ++k) poses.push_back(head_pose(keys[k].position, forwards[k]));
  const auto first = std::find_if_not(forwards.begin(), forwards.end(), is_undecided);
  if (first == forwards.end()) return poses;
  Vec3 left = poses[static_cast<std::size_t>(first - forwards.begin())].direction(Vec3::UnitY());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    // The top of the head of who looks along f with the left ear at l is f x l.
    if (is_undecided(forwards[k]))
      poses[k] = sound::look_at(keys[k].position, keys[k].position + forwards[k], forwards[k].cross(left));
    left = poses[k].direction(Vec3::UnitY());
  }
  return poses;
}

std::size_t body_called(const std::string& name, const sim::Recording& recording)
{
  std::vector<std::string> known;
  for (const sim::RecordedBody& body : recording.header.bodies) {
    if (body.name == name) return known.size();
    known.push_back(body.name);
  }
  const std::string nearest = scene::nearest_name(name, known);
  throw Error(fmt::format("listener.body is \"{}\", but no body of the run is called that.{}", name,
                          nearest.empty() ? "" : fmt::format(" Did you mean \"{}\"?", nearest)));
}

// `offset` of the head in the axes of the shape of a body.
sound::PoseTrack carried_track(const sim::Recording& recording, std::size_t body, const Pose& offset)
{
  std::vector<double> times;
  std::vector<Pose> poses;
  for (std::size_t f = 0; f < recording.frames.size(); ++f) {
    const sim::RecordedFrame& frame = recording.frames[f];
    if (body >= frame.poses.size() || !recording.header.bodies[body].is_in_frame(f)) continue;
    if (!times.empty() && frame.time <= times.back()) continue;
    times.push_back(frame.time);
    poses.push_back(frame.poses[body].pose() * offset);
  }
  if (poses.empty()) return sound::PoseTrack(offset);
  return sound::PoseTrack(std::move(times), std::move(poses));
}

}  // namespace

sound::PoseTrack body_track(const sim::Recording& recording, std::size_t body)
{
  std::vector<double> times;
  std::vector<Pose> poses;
  bool moves = false;
  for (const sim::RecordedFrame& frame : recording.frames) {
    if (body >= frame.poses.size() || (!times.empty() && frame.time <= times.back())) continue;
    times.push_back(frame.time);
    poses.push_back(frame.poses[body].pose());
    moves |= !(frame.poses[body] ==
               recording.frames.front().poses[std::min(body, recording.frames.front().poses.size() - 1)]);
  }
  if (poses.empty()) return sound::PoseTrack(Pose{});
  if (!moves) return sound::PoseTrack(poses.front());
  return sound::PoseTrack(std::move(times), std::move(poses));
}

sound::PoseTrack listener_track(const scene::ListenerEntry& listener, const sim::Recording& recording)
{
  if (!listener.body.empty()) {
    const Pose offset =
        head_pose(listener.position.value_or(Vec3::Zero()), listener.forward.value_or(Vec3::UnitX()));
    return carried_track(recording, body_called(listener.body, recording), offset);
  }
  const Camera camera = run_camera(recording);
  const auto look = [&](const Vec3& eye) -> Vec3 {
    return listener.forward.value_or(camera.target - eye);
  };
  if (!listener.path.empty()) {
    std::vector<double> times;
    std::vector<Vec3> forwards;
    for (const scene::ListenerKey& key : listener.path) {
      times.push_back(key.time);
      forwards.push_back(key.forward.value_or(look(key.position)));
    }
    return sound::PoseTrack(std::move(times), head_poses(listener.path, forwards));
  }
  const Vec3 eye = listener.position.value_or(camera.eye);
  return head_pose(eye, look(eye));
}

std::optional<InsideMoment> find_inside(const sim::Recording& recording, std::size_t body,
                                        const sound::PoseTrack& of_body, const sound::PoseTrack& of_listener,
                                        const std::vector<Vec3>& places, const Vec3& centre)
{
  const sim::RecordedBody& entry = recording.header.bodies[body];
  const mesh::TriangleMesh& mesh = recording.header.meshes[at(entry.mesh)];
  if (mesh.triangles.empty()) return {};
  const Box3 box = mesh::bounding_box(mesh);
  std::unique_ptr<mesh::Bvh> bvh;
  std::unique_ptr<mesh::WindingNumber> winding;
  std::optional<InsideMoment> found;
  for (std::size_t f = 0; f < recording.frames.size(); ++f) {
    if (!entry.is_in_frame(f)) continue;
    const double time = recording.frames[f].time;
    const Pose X_ws = of_body.pose(time);
    const Pose X_wl = of_listener.pose(time);
    for (const Vec3& place : places) {
      const Vec3 point = X_ws.point_to_local(X_wl.point(place));
      if (!box.contains(point)) continue;
      if (!winding) {
        bvh = std::make_unique<mesh::Bvh>(mesh);
        winding = std::make_unique<mesh::WindingNumber>(*bvh);
      }
      if (!winding->inside(point)) continue;
      const double distance = (point - centre).norm();
      if (!found) found = InsideMoment{time, distance};
      found->distance = std::min(found->distance, distance);
    }
    if (of_body.is_constant() && of_listener.is_constant()) break;
  }
  return found;
}

}  // namespace thrum::media
