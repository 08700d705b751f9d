// SPDX-License-Identifier: MIT
#include "thrum/media/viewer_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numbers>

#include "thrum/base/error.h"
#include "thrum/media/source_tracks.h"
#include "thrum/media/viewer_sound.h"
#include "thrum/media/viewer_tracks.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sound/air_filter.h"
#include "thrum/sound/pose_track.h"

namespace thrum::media {
namespace {

constexpr int kFrames = 200;

// A ball thrown upwards that spins, a box that rests, and the ground.
sim::Recording thrown_ball()
{
  sim::Recording recording;
  recording.header.notes = {{"title", "a <b>ball</b>"}, {"camera from", "1 2 3"}};
  recording.header.meshes = {mesh::TriangleMesh{}, shapes::generate(shapes::BoxDesc{{0.2, 0.2, 0.2}})};
  recording.header.bodies = {{"ground", 0, {1, 1, 1}, model::Motion::fixed, 0},
                             {"ball", 1, {1, 0, 0}, model::Motion::dynamic, 1},
                             {"box/0", 1, {0, 1, 0}, model::Motion::dynamic, 1}};
  for (int i = 0; i < kFrames; ++i) {
    const double t = i / 60.0;
    sim::RecordedFrame frame;
    frame.time = t;
    const Quat spin(Eigen::AngleAxisd(5 * t, Vec3::UnitY()));
    frame.poses = {sim::RecordedPose::of(Pose{}),
                   sim::RecordedPose::of({{2 * t, 0, 10 * t - 4.905 * t * t}, spin}),
                   sim::RecordedPose::of({{1, 1, 0.1}, Quat::Identity()})};
    recording.frames.push_back(frame);
  }
  return recording;
}

// A page interpolates the keys linearly.
TEST(ViewerTracks, StayWithinTheToleranceOfEveryFrame)
{
  const sim::Recording recording = thrown_ball();
  constexpr double kTolerance = 5e-3;  // more than the 1.4 mm by which two frames of free fall bend
  const ViewerTracks tracks = viewer_tracks(recording, kTolerance);
  ASSERT_EQ(tracks.counts.size(), 3u);
  EXPECT_EQ(tracks.counts[0], 2u) << "a body at rest needs only its first and its last key";
  EXPECT_EQ(tracks.counts[2], 2u);
  EXPECT_LT(tracks.counts[1], static_cast<std::uint32_t>(kFrames)) << "some frames lie on a line";
  std::size_t at = tracks.counts[0];
  std::size_t frame = 0;
  Vec3 before = Vec3::Zero();
  for (std::uint32_t k = 0; k < tracks.counts[1]; ++k, ++at) {
    const std::size_t gap = tracks.gaps[at];
    Vec3 now;
    for (std::size_t i = 0; i < 3; ++i) {
      now[static_cast<Index>(i)] =
          tracks.boxes[6 + i] + tracks.boxes[9 + i] * tracks.positions[3 * at + i] / 65535.0;
    }
    for (std::size_t g = k == 0 ? gap : 1; g <= gap; ++g) {
      const double share = gap > 0 ? static_cast<double>(g) / static_cast<double>(gap) : 1.0;
      const Vec3 shown = (1 - share) * before + share * now;
      const Vec3 exact = recording.frames[frame + g].poses[1].pose().position;
      EXPECT_LT((shown - exact).norm(), 1.2 * kTolerance) << frame + g;
    }
    frame += gap;
    before = now;
  }
  EXPECT_EQ(frame, recording.frames.size() - 1);
}

// Blocks of 2,048 samples at 48 kHz, 42.7 ms: the frames around them, and no others.
SoundSources emitted(const std::vector<std::pair<int, int>>& blocks)
{
  SoundSources sources{.sample_rate = 48000, .frames = 48000 * 3, .block_size = 2048};
  sources.centres = {Vec3::Zero(), Vec3(0.1, 0, -0.05), Vec3::Zero()};
  for (const auto& [body, number] : blocks) {
    sources.bodies.push_back(body);
    sources.numbers.push_back(number);
  }
  sources.samples.assign(blocks.size() * 2048, 0.5f);
  return sources;
}

// A page goes along the cubics of PoseTrack through the places of a source: within 10 um of the way that the
// file of the sound is made of.
TEST(SourceTracks, ACubicThroughThemIsTheWayOfTheSource)
{
  const sim::Recording recording = thrown_ball();
  const SoundSources sources = emitted({{1, 3}, {1, 4}, {1, 40}, {2, 0}, {2, 60}});
  const SourceTracks tracks = source_tracks(sources, recording);
  ASSERT_EQ(tracks.counts.size(), 3u);
  EXPECT_EQ(tracks.counts[0], 0u) << "it emits nothing";
  EXPECT_EQ(tracks.counts[2], 1u) << "it stays where it is";
  EXPECT_LT(tracks.counts[1], 20u);
  ASSERT_EQ(tracks.frames.size(), tracks.counts[1] + 1);
  ASSERT_EQ(tracks.positions.size(), 3 * tracks.frames.size());
  EXPECT_EQ(tracks.frames.back(), 0u);
  std::vector<double> times, all_times;
  std::vector<Pose> places, all;
  for (std::size_t k = 0; k < tracks.counts[1]; ++k) {
    times.push_back(static_cast<float>(recording.frames[tracks.frames[k]].time));
    places.push_back({{tracks.positions[3 * k], tracks.positions[3 * k + 1], tracks.positions[3 * k + 2]}});
  }
  for (const sim::RecordedFrame& frame : recording.frames) {
    all_times.push_back(frame.time);
    all.push_back(frame.poses[1].pose());
  }
  const sound::PoseTrack page(times, places);
  const sound::PoseTrack file(all_times, all);
  for (const int number : {3, 4, 40}) {
    for (int i = 0; i <= 2048; i += 16) {
      const double t = (2048 * number + i) / 48000.0;
      // The centre is 11 cm off the point that is recorded, and the ball spins at 5 rad/s: between two
      // frames the file carries it along an arc.
      EXPECT_LT((page.position(t) - file.pose(t).point(sources.centres[1])).norm(), 1e-5) << t;
    }
  }
  // Without frames there is nothing to be.
  EXPECT_EQ(source_tracks(sources, sim::Recording{}).counts, std::vector<std::uint32_t>({0, 0, 0}));
}

TEST(SourceTracks, BlocksAfterTheLastFrameAreWhereItIs)
{
  sim::Recording recording = thrown_ball();
  recording.frames.resize(10);
  const SourceTracks tracks = source_tracks(emitted({{1, 60}}), recording);
  ASSERT_GE(tracks.counts[1], 1u);
  EXPECT_EQ(tracks.frames.back(), 9u);
}

// As that of the filter which the file of the sound has for the distance itself.
TEST(AirTable, BetweenItsDistancesGainsAreRight)
{
  for (const int rate : {44100, 48000, 192000}) {
    const AirTable table = air_table(rate);
    const std::size_t length = table.taps.size() / table.distances.size();
    sound::AirFilter filter({}, rate);
    std::vector<double> own(length);
    const auto gain_of = [&](const auto* taps, double frequency) {
      double gain = taps[0];
      for (std::size_t j = 1; j < length; ++j)
        gain += 2 * taps[j] * std::cos(2 * std::numbers::pi * frequency / rate * static_cast<double>(j));
      return gain;
    };
    for (const double distance : {0.1, 0.4, 0.52, 1.7, 6.3, 23.0, 90.0, 240.0}) {
      const auto after = std::upper_bound(table.distances.begin(), table.distances.end(), distance);
      ASSERT_NE(after, table.distances.end());
      const auto k = static_cast<std::size_t>(after - table.distances.begin()) - 1;
      const double share = (distance - table.distances[k]) / (table.distances[k + 1] - table.distances[k]);
      EXPECT_LE(filter.taps(distance, own), std::max(table.used[k], table.used[k + 1]));
      for (const double frequency : {0.0, 500.0, 4000.0, 12000.0, 18000.0}) {
        const float* const row = table.taps.data() + k * length;
        const double gain = (1 - share) * gain_of(row, frequency) + share * gain_of(row + length, frequency);
        EXPECT_NEAR(gain, gain_of(own.data(), frequency), 1.5e-3) << distance << " m, " << frequency << " Hz";
      }
    }
  }
}

TEST(ViewerTracks, BoxContainsTheMovingBodies)
{
  sim::Recording recording = thrown_ball();
  const Box3 box = motion_box(recording);
  EXPECT_TRUE(box.contains(Vec3(1, 1, 0.1)));
  EXPECT_GT(box.max().z(), 4.5);
  // One frame far away does not enlarge the box.
  recording.frames[18].poses[1].position = {5000, 0, 0};
  EXPECT_LT(motion_box(recording).max().x(), 10);
  EXPECT_TRUE(motion_box(sim::Recording{}).isEmpty());
}

TEST(ViewerData, IsJsonWithAllDataOfThePage)
{
  sim::Recording recording = thrown_ball();
  recording.frames[5].contacts.push_back({0, 1, {0, 0, 0}, {0, 0, 2}, 1});
  recording.frames[5].events.push_back(
      {model::ContactEventKind::hit, 0.1, {0, 0}, {1, 0}, {0, 0, 0}, Vec3::UnitZ(), 3, 2});
  recording.frames[6].responses.push_back({model::ResponseKind::kicked, 6, 0.1, {0, 0}, {1, 0}});
  const nlohmann::json data = nlohmann::json::parse(viewer_data({{.recording = &recording, .label = "one"}}));
  ASSERT_EQ(data["runs"].size(), 1u);
  const nlohmann::json& run = data["runs"][0];
  EXPECT_EQ(run["label"], "one");
  EXPECT_EQ(run["bodies"].size(), 3u);
  EXPECT_EQ(run["planes"].size(), 1u);
  EXPECT_EQ(run["camera"]["from"], nlohmann::json({1.0, 2.0, 3.0}));
  EXPECT_DOUBLE_EQ(run["contacts"]["max_impulse"].get<double>(), 2);
  EXPECT_FALSE(run["hits"]["times"].get<std::string>().empty());
  EXPECT_FALSE(run["responses"]["kinds"].get<std::string>().empty());
}

TEST(ViewerData, ModesNeedABodyOfTheirName)
{
  const sim::Recording recording = thrown_ball();
  model::ModalModel model;
  model.surface = recording.header.meshes[1];
  model.frequencies = VecX::Constant(1, 100.0);
  model.decays = VecX::Constant(1, 1.0);
  model.shapes = MatX::Constant(3 * model.vertex_count(), 1, 0.5);
  const auto data =
      nlohmann::json::parse(viewer_data({{.recording = &recording, .modes = {{"box", model}}}}));
  EXPECT_EQ(data["runs"][0]["modes"][0]["bodies"], nlohmann::json({2}));
  EXPECT_THROW(static_cast<void>(viewer_data({{.recording = &recording, .modes = {{"bx", model}}}})), Error);
}

}  // namespace
}  // namespace thrum::media
