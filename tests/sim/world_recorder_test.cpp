// SPDX-License-Identifier: MIT
// Recording a world whose bodies and joints come and go, against a log that the test keeps itself.
#include "thrum/sim/world_recorder.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/base/scratch_folder.h"
#include "tests/sim/continued_recording.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using namespace testing;

model::BodyId add_named(World& world, model::ShapeId shape, const std::string& name, const Vec3& position)
{
  BodyDesc spec;
  spec.name = name;
  spec.shape = shape;
  spec.X_ws.position = position;
  spec.mass = 1;
  return world.add_body(spec);
}

// What the test saw: for each frame the poses of the bodies by name, which no two bodies share.
using Log = std::vector<std::map<std::string, RecordedPose>>;

Log::value_type poses_of(const World& world)
{
  Log::value_type poses;
  for (const model::BodyId id : world.bodies())
    poses[world.desc_of(id).name] = RecordedPose::of(world.shape_pose(id));
  return poses;
}

TEST(WorldRecorder, FollowsBodiesThatComeAndGo)
{
  const base::ScratchFolder folder;
  base::Random random(11);
  World world;
  std::vector<model::BodyId> there;
  const model::ShapeId ball = world.add_shape({model::Sphere{0.1}});
  const model::ShapeId box = world.add_shape({model::Box{{0.1, 0.1, 0.1}}});
  int made = 0;
  const auto add_one = [&] {
    there.push_back(add_named(world, made % 2 == 0 ? ball : box, "b" + std::to_string(made),
                              {static_cast<double>(made), 0, 1}));
    ++made;
  };
  add_one();
  add_one();
  Log log;
  std::set<std::uint32_t> slots;
  {
    WorldRecorder recorder(world, folder / "r");
    recorder.add_frame();
    log.push_back(poses_of(world));
    for (int i = 0; i < 60; ++i) {
      for (std::int64_t k = random.integer(0, 2); k > 0; --k) add_one();
      for (std::int64_t k = random.integer(0, 2); k > 0 && !there.empty(); --k) {
        const std::size_t which = random.index(there.size());
        world.remove_body(there[which]);
        there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
      }
      for (const model::BodyId id : there) slots.insert(id.slot);
      world.step(kStep);
      if (i % 3 == 0) continue;  // some bodies are never in a frame
      recorder.add_frame();
      log.push_back(poses_of(world));
      if (i % 7 == 0) recorder.flush();
    }
    recorder.finish();
  }
  ASSERT_LT(slots.size(), static_cast<std::size_t>(made)) << "slots must be used again in this test";
  const Recording r = read_recording(folder / "r");
  EXPECT_TRUE(r.complete);
  EXPECT_EQ(r.final_hash, world.hash());
  ASSERT_EQ(r.frames.size(), log.size());
  ASSERT_EQ(r.header.bodies.size(), static_cast<std::size_t>(made));
  EXPECT_EQ(r.header.meshes.size(), 2u) << "bodies of one shape share a mesh";
  for (std::size_t b = 0; b < r.header.bodies.size(); ++b) {
    const RecordedBody& body = r.header.bodies[b];
    EXPECT_EQ(body.name, "b" + std::to_string(b));
    EXPECT_EQ(body.mesh, static_cast<std::int32_t>(b % 2));
    for (std::size_t f = 0; f < log.size(); ++f) {
      const auto seen = log[f].find(body.name);
      ASSERT_EQ(body.is_in_frame(f), seen != log[f].end()) << body.name << " frame " << f;
      if (seen != log[f].end()) {
        EXPECT_EQ(r.frames[f].poses[b], seen->second);
      } else if (body.first_frame < body.end_frame && body.first_frame < log.size()) {
        // Another body in its slot does not move it.
        const std::uint64_t nearest = f < body.first_frame ? body.first_frame : body.end_frame - 1;
        EXPECT_EQ(r.frames[f].poses[b], log[nearest].at(body.name));
      }
    }
  }
}

// Balls fall at places of their own, one after the other in one slot: the place of an event says whose it is.
TEST(WorldRecorder, EventsNameTheirBodiesAlsoWhenASlotIsReused)
{
  const base::ScratchFolder folder;
  World world;
  add_plane(world);
  const model::ShapeId ball = world.add_shape({model::Sphere{0.1}});
  std::set<std::uint32_t> slots;
  {
    WorldRecorder recorder(world, folder / "r");
    for (int i = 0; i < 5; ++i) {
      const model::BodyId id = add_named(world, ball, std::to_string(i), {static_cast<double>(i), 0, 0.2});
      slots.insert(id.slot);
      for (int k = 0; k < 40; ++k) {
        world.step(kStep);
        if (k % 4 == 0) recorder.add_frame();
      }
      world.remove_body(id);
    }
    world.step(kStep);
    recorder.add_frame();
    recorder.flush();
  }
  ASSERT_EQ(slots.size(), 1u);
  const Recording r = read_recording(folder / "r");
  ASSERT_EQ(r.header.bodies.size(), 6u);
  std::map<model::ContactEventKind, int> counts;
  int contacts = 0;
  for (const RecordedFrame& frame : r.frames) {
    const auto name_of = [&](std::int32_t a, std::int32_t b) {
      return r.header.bodies[static_cast<std::size_t>(std::max(a, b))].name;
    };
    for (const model::ContactEvent& e : frame.events) {
      EXPECT_EQ(name_of(static_cast<std::int32_t>(e.a.slot), static_cast<std::int32_t>(e.b.slot)),
                std::to_string(std::lround(e.position.x())));
      ++counts[e.kind];
    }
    for (const RecordedContact& c : frame.contacts) {
      EXPECT_EQ(name_of(c.a, c.b), std::to_string(std::lround(c.position[0])));
      ++contacts;
    }
  }
  EXPECT_EQ(counts[model::ContactEventKind::begin], counts[model::ContactEventKind::end]);
  EXPECT_GE(counts[model::ContactEventKind::end], 5) << "the contact of a removed body ends";
  EXPECT_GT(contacts, 5);
}

TEST(WorldRecorder, FollowsSpringsThatComeAndGo)
{
  const base::ScratchFolder folder;
  World world;
  const model::BodyId a = add(world, {model::Sphere{0.1}}, {0, 0, 0});
  const model::BodyId b = add(world, {model::Sphere{0.1}}, {1, 0, 0});
  const model::JointDesc spring{
      .kind = model::JointKind::spring, .a = a, .b = b, .length = 1, .stiffness = 1};
  {
    WorldRecorder recorder(world, folder / "r");
    const auto run = [&](int frames) {
      for (int i = 0; i < frames; ++i) {
        world.step(kStep);
        recorder.add_frame();
      }
    };
    run(2);
    const model::JointId first = world.add_joint(spring);
    run(3);
    world.remove_joint(first);
    run(1);
    static_cast<void>(world.add_joint(spring));
    run(2);
    world.remove_body(b);
    run(1);
    recorder.flush();
  }
  const Recording r = read_recording(folder / "r");
  ASSERT_EQ(r.header.links.size(), 2u);
  EXPECT_EQ(r.header.links[0].first_frame, 2u);
  EXPECT_EQ(r.header.links[0].end_frame, 5u);
  EXPECT_EQ(r.header.links[1].first_frame, 6u);
  EXPECT_EQ(r.header.links[1].end_frame, 8u) << "it goes with its body";
  EXPECT_EQ(r.header.bodies[1].end_frame, 8u);
  EXPECT_NEAR(r.header.bodies[1].removed_at, 8 * kStep, 1e-9);
}

// Stopped after any frame and continued, the file has the same bytes.
// Bodies come and go.
struct ComingAndGoing {
  World world;
  model::ShapeId ball, box;
  std::vector<model::BodyId> ids;

  ComingAndGoing()
  {
    add_plane(world);
    ball = world.add_shape({model::Sphere{0.1}});
    box = world.add_shape({model::Box{{0.1, 0.1, 0.1}}});
  }
  void advance(int i)
  {
    ids.push_back(add_named(world, i < 5 ? ball : box, std::to_string(i), {0.5 * i, 0, 0.15}));
    if (i > 3) world.remove_body(ids[at(i - 4)]);
    world.step(kStep);
  }
};

TEST(WorldRecorder, ContinuesARecordingByteForByte)
{
  testing::expect_same_bytes_when_continued<ComingAndGoing>(12);
}

TEST(WorldRecorder, RejectsAWorldWithOtherBodies)
{
  const base::ScratchFolder folder;
  World world;
  const model::BodyId id = add(world, {model::Sphere{0.1}}, {0, 0, 0});
  std::uint64_t length = 0;
  {
    WorldRecorder recorder(world, folder / "r");
    recorder.add_frame();
    recorder.flush();
    length = recorder.writer().length();
  }
  const Recording before = read_recording(folder / "r");
  world.remove_body(id);
  static_cast<void>(add(world, {model::Sphere{0.1}}, {0, 0, 0}));
  EXPECT_THROW(WorldRecorder(world, folder / "r", length, before), Error);
}

}  // namespace
}  // namespace thrum::sim
