// SPDX-License-Identifier: MIT
#include "thrum/sim/recording.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numbers>

#include "tests/sim/world_fixture.h"
#include "thrum/base/error.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

class RecordingFile : public ::testing::Test {
 protected:
  RecordingFile()
  {
    header_.notes = {{"title", "two boxes"}};
    header_.links = {{0, -1, {1, 2, 3}, {4, 5, 6}}};
    header_.meshes.push_back(shapes::generate(shapes::BoxDesc{{1, 1, 1}}));
    header_.bodies = {{"left", 0, {0.1f, 0.2f, 0.3f}, model::Motion::dynamic, 2.0},
                      {"right", 0, {0.3f, 0.2f, 0.1f}, model::Motion::fixed, 0.0}};
  }
  ~RecordingFile() override { std::filesystem::remove(file_); }

  // Body 0 turns and moves, body 1 stays.
  static RecordedFrame frame(int i)
  {
    RecordedFrame f;
    f.time = 0.25 * i;
    f.kinetic_energy = 3.0 / (i + 1);
    f.potential_energy = 2.0 * i;
    f.state_hash = 77u + static_cast<std::uint64_t>(i);
    const Quat q(Eigen::AngleAxisd(0.3 * i, Vec3(1, 2, 3).normalized()));
    f.poses = {RecordedPose::of({{0.1 * i, -0.2, 0.5}, q}), RecordedPose::of(Pose{})};
    return f;
  }

  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      (std::string("thrum_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  RecordingHeader header_;
};

TEST_F(RecordingFile, ComesBackAsItWasWritten)
{
  {
    RecordingWriter writer(file_, header_);
    for (int i = 0; i < 6; ++i) {
      RecordedFrame f = frame(i);
      f.contacts.push_back({0, 1, {1, 2, 3}, {0, 0, 0.5f * static_cast<float>(i)}, 1});
      f.events.push_back(
          {model::ContactEventKind::hit, f.time, {0, 0}, {1, 0}, {1, 2, 3}, Vec3::UnitZ(), 4, 5});
      f.responses.push_back(
          {model::ResponseKind::kicked, 9, f.time, {0, 0}, {1, 0}, {0, 1, 0}, Vec3::UnitX(), 0.5, 2});
      f.responses.push_back({model::ResponseKind::struck, 9, f.time, {1, 0}, {}});
      writer.add(f);
      if (i == 2) writer.flush();
    }
    writer.finish({1, 2});
  }
  const Recording r = read_recording(file_);
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.lost_bytes, 0u);
  EXPECT_EQ(r.header.note("title"), "two boxes");
  ASSERT_EQ(r.header.links.size(), 1u);
  EXPECT_EQ(r.header.links[0].b, -1);
  EXPECT_EQ(r.header.links[0].point_b[2], 6);
  ASSERT_EQ(r.frames.size(), 6u);
  for (int i = 0; i < 6; ++i) {
    const RecordedFrame& f = r.frames[static_cast<std::size_t>(i)];
    const RecordedFrame wanted = frame(i);
    EXPECT_EQ(f.time, wanted.time);
    EXPECT_EQ(f.state_hash, wanted.state_hash);
    EXPECT_EQ(f.poses, wanted.poses);
    ASSERT_EQ(f.contacts.size(), 1u);
    EXPECT_FLOAT_EQ(f.contacts[0].impulse[2], 0.5f * static_cast<float>(i));
    EXPECT_FLOAT_EQ(f.contacts[0].position[1], 2);
    EXPECT_EQ(f.contacts[0].is_new, 1u);
    ASSERT_EQ(f.events.size(), 1u);
    EXPECT_EQ(f.events[0].impulse, 5);
    ASSERT_EQ(f.responses.size(), 2u);
    EXPECT_EQ(f.responses[0].kind, model::ResponseKind::kicked);
    EXPECT_EQ(f.responses[0].step, 9u);
    EXPECT_EQ(f.responses[0].normal, Vec3::UnitX());
    EXPECT_EQ(f.responses[0].energy, 2);
    EXPECT_FALSE(f.responses[1].b.valid());
  }
}

// 16 bits a component: the angle between a rotation and what is stored of it stays below 1e-4 rad.
// The end alone is read; it must agree with the reader of everything.
TEST_F(RecordingFile, IsCompleteWithItsLastChunk)
{
  const auto expect_same = [&](bool complete) {
    EXPECT_EQ(is_complete_recording(file_), complete);
    EXPECT_EQ(read_recording(file_).complete, complete);
  };
  EXPECT_FALSE(is_complete_recording(file_));  // there is no file
  {
    RecordingWriter writer(file_, header_);
    writer.add(frame(0));
    writer.flush();
    expect_same(false);
    writer.finish({1, 2});
  }
  expect_same(true);
  std::filesystem::resize_file(file_, std::filesystem::file_size(file_) - 1);
  expect_same(false);
}

TEST_F(RecordingFile, KeepsRotationsCloseToWhatTheyWere)
{
  for (int i = 0; i < 100; ++i) {
    const Quat q(Eigen::AngleAxisd(0.07 * i, Vec3(std::sin(i), std::cos(2.0 * i), 0.3).normalized()));
    EXPECT_LT(q.angularDistance(RecordedPose::of({Vec3::Zero(), q}).pose().rotation), 1e-4);
  }
}

// Emits one event after each slice and one after each step.
struct Emitter : StepObserver {
  void after_slice(const StepView& view, StepActions& actions) override
  {
    actions.emit({.kind = model::ResponseKind::struck, .a = view.id_of(0), .speed = 2});
  }
  void after_step(const StepView& view, StepActions& actions) override
  {
    actions.emit({.kind = model::ResponseKind::kicked, .a = view.id_of(0), .speed = 1});
  }
};

TEST(World, TimestampsResponseEvents)
{
  World world;
  testing::add_box(world, {1, 1, 1}, {0, 0, 0});
  Emitter emitter;
  world.add_observer(emitter);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    world.step(0.01);
    ASSERT_EQ(world.responses().size(), 2u);
    for (const model::ResponseEvent& event : world.responses()) {
      EXPECT_EQ(event.step, i);
      EXPECT_DOUBLE_EQ(event.time, 0.01 * static_cast<double>(i));
    }
  }
}

}  // namespace
}  // namespace thrum::sim
