// SPDX-License-Identifier: MIT
#include "thrum/media/run_listener.h"

#include <gtest/gtest.h>

#include "thrum/shapes/shapes.h"

namespace thrum::media {
namespace {

sim::Recording still_box()
{
  sim::Recording recording;
  recording.header.meshes = {shapes::generate(shapes::BoxDesc{{0.2, 0.2, 0.2}})};
  recording.header.bodies = {{"box", 0, {1, 0, 0}, model::Motion::dynamic, 1}};
  recording.frames.resize(1);
  recording.frames[0].poses = {sim::RecordedPose::of(Pose{})};
  return recording;
}

scene::ListenerKey key(double time, const Vec3& forward)
{
  scene::ListenerKey key;
  key.time = time;
  key.forward = forward;
  return key;
}

scene::ListenerEntry along(const std::vector<scene::ListenerKey>& path)
{
  scene::ListenerEntry listener;
  listener.path = path;
  return listener;
}

// The left ear at all times, where a path keeps it.
void expect_left(const scene::ListenerEntry& listener, const Vec3& left)
{
  const sound::PoseTrack track = listener_track(listener, still_box());
  for (double t = 0; t <= 4; t += 0.05)
    EXPECT_LT((track.rotation(t) * Vec3::UnitY() - left).norm(), 1e-6) << t << " s";
}

// Who looks up from a walk northwards, or down, tilts the head, and does not turn round.
TEST(RunListener, ALookStraightUpOrDownKeepsTheEars)
{
  const Vec3 north = Vec3::UnitY();
  const Vec3 west = -Vec3::UnitX();
  for (const double way : {1.0, -1.0}) {
    const Vec3 upright = way * Vec3::UnitZ();
    expect_left(along({key(0, north), key(1, upright), key(2, north)}), west);
    expect_left(along({key(0, north), key(1, upright), key(2, upright), key(4, upright)}), west);
    expect_left(along({key(0, upright), key(1, upright), key(2, north)}), west);
  }
  // Nothing tells who looks up all the time where the ears are: as from a place that is fixed.
  expect_left(along({key(0, Vec3::UnitZ()), key(1, Vec3::UnitZ())}), Vec3::UnitX());
  scene::ListenerEntry fixed;
  fixed.position = Vec3::Zero();
  fixed.forward = Vec3::UnitZ();
  expect_left(fixed, Vec3::UnitX());
}

}  // namespace
}  // namespace thrum::media
