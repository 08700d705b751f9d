// SPDX-License-Identifier: MIT
// Recording bodies that bend: what is read is what the modes say, and nothing is stored that cannot be seen.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/base/scratch_folder.h"
#include "tests/sim/continued_recording.h"
#include "tests/sim/world_fixture.h"
#include "tests/support/bending_strip.h"
#include "thrum/base/atomic_file.h"
#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/sim/recording_format.h"
#include "thrum/sim/world_recorder.h"

namespace thrum::sim {
namespace {

using namespace testing;
using thrum::testing::kStripSize;
using thrum::testing::strip_model;
using thrum::testing::strip_shape;

constexpr double kPeak = 4;  // [kg^(-1/2)]

WorldDesc flexible_desc()
{
  WorldDesc desc;
  desc.stepper = StepperKind::flexible;
  return desc;
}

model::BodyId add_strip(World& world, const Vec3& position)
{
  BodyDesc spec;
  spec.name = "strip";
  spec.shape = world.add_shape({model::Box{0.5 * kStripSize}});
  spec.motion = model::Motion::fixed;
  spec.X_ws.position = position;
  return world.add_body(spec);
}

// `amplitudes`: largest displacement by each mode [m].
void bend(World& world, model::BodyId id, const std::vector<double>& amplitudes)
{
  model::SceneState state = world.save();
  std::erase_if(state.modal_states, [&](const model::ModalState& s) { return s.body == id; });
  model::ModalState bent{id, {}, {}};
  for (const double a : amplitudes) {
    bent.q.push_back(a / kPeak);
    bent.v.push_back(0);
  }
  state.modal_states.push_back(bent);
  world.restore(state);
}

// The least amplitude that is recorded.
double visible()
{
  return kVisibleBend * kStripSize.norm();
}

std::uint32_t version_of(const std::filesystem::path& file)
{
  const std::string bytes = base::read_text_file(file);
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + kRecordingMagic.size(), sizeof(version));
  return version;
}

TEST(BendRecording, VerticesAreWhereTheModesPutThem)
{
  const base::ScratchFolder folder;
  World world(flexible_desc());
  const auto model = strip_model(3, kPeak);
  const model::BodyId a = add_strip(world, {0, 0, 1});
  const model::BodyId b = add_strip(world, {0, 1, 1});
  for (const model::BodyId id : {a, b}) world.set_elastic(id, {1e11, model});
  // Of each frame the amplitudes of a and b.
  const std::vector<std::array<std::vector<double>, 2>> wanted = {
      {{{0, 0, 0}, {0, 0, 0}}},
      {{{0.5 * visible(), 0, 0}, {0, 0, 0}}},  // cannot be seen
      {{{0.03, 0, 0.4 * visible()}, {0, 0, 0}}},
      {{{-0.02, 0.01, 0}, {0, 0.001, 0}}},
      {{{0.3 * visible(), 0, 0}, {0.002, 0, 0}}},  // fades
      {{{0, 0, 0}, {-0.04, 0, 0}}}};
  {
    WorldRecorder recorder(world, folder / "r");
    for (const auto& amplitudes : wanted) {
      bend(world, a, amplitudes[0]);
      bend(world, b, amplitudes[1]);
      recorder.add_frame();
    }
    recorder.finish();
  }
  const Recording r = read_recording(folder / "r");
  ASSERT_TRUE(r.complete);
  ASSERT_EQ(r.frames.size(), wanted.size());
  // Mode 2 never moves anything visibly; the others are shared.
  EXPECT_EQ(r.header.modes.size(), 2u);
  EXPECT_EQ(r.header.bodies[0].modes, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(r.header.bodies[1].modes, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(r.header.meshes.size(), 2u) << "the box, and one surface for both";
  EXPECT_TRUE(r.frames[1].bends.empty());
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    for (std::size_t body = 0; body < 2; ++body) {
      const mesh::TriangleMesh mesh = bent_mesh(r.header, body, r.frames[f]);
      ASSERT_EQ(mesh.vertices.size(), model->surface.vertices.size());
      double error = 0;
      for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
        Vec3 exact = model->surface.vertices[v];
        for (int m = 0; m < 3; ++m)
          exact.z() +=
              wanted[f][body][static_cast<std::size_t>(m)] * strip_shape(m, model->surface.vertices[v].x());
        error = std::max(error, (mesh.vertices[v] - exact).norm());
      }
      EXPECT_LT(error, f == 2 || f == 1 ? visible() : 1e-7) << f;
    }
  }
}

// Energy goes from a ball into the place of contact and the modes of what it strikes, and the sum never
// grows.
TEST(BendRecording, FramesHoldWhatModesAndContactsStore)
{
  const base::ScratchFolder folder;
  World world(flexible_desc());
  const model::BodyId strip = add_strip(world, {0, 0, 0});
  world.set_elastic(strip, {1e11, strip_model(3, kPeak)});
  BodyDesc ball;
  ball.shape = world.add_shape({model::Sphere{0.01}});
  ball.mass = 0.05;
  ball.X_ws.position = {0.05 * kStripSize.x(), 0, 0.5 * kStripSize.z() + 0.03};
  (void)world.add_body(ball);
  std::vector<std::array<double, 2>> stored;
  {
    WorldRecorder recorder(world, folder / "r");
    for (int i = 0; i < 800; ++i) {
      world.step(1e-4);
      recorder.add_frame();
      stored.push_back({world.vibration_energy(), world.contact_energy()});
    }
    recorder.finish();
  }
  const Recording r = read_recording(folder / "r");
  const double start = r.frames.front().total_energy();
  double most_in_modes = 0;
  double most_in_contacts = 0;
  for (std::size_t f = 0; f < r.frames.size(); ++f) {
    const RecordedFrame& frame = r.frames[f];
    EXPECT_EQ(frame.vibration_energy, stored[f][0]);
    EXPECT_EQ(frame.contact_energy, stored[f][1]);
    EXPECT_LT(frame.total_energy(), start + 1e-6 * start) << f;
    most_in_modes = std::max(most_in_modes, frame.vibration_energy);
    most_in_contacts = std::max(most_in_contacts, frame.contact_energy);
  }
  const double drop = 0.05 * 9.81 * 0.02;
  EXPECT_GT(most_in_modes, 0.01 * drop);
  // The strip yields far more than the place of contact.
  EXPECT_GT(most_in_contacts, 1e-4 * drop);
}

// A body whose vibration is never visible costs the number of bent bodies and two energies in a frame: 20
// bytes.
TEST(BendRecording, CostsNothingWhereNothingIsSeen)
{
  const base::ScratchFolder folder;
  std::array<std::uint64_t, 2> lengths{};
  for (const double amplitude : {0.0, 0.9 * visible()}) {
    World world(flexible_desc());
    const model::BodyId id = add_strip(world, {0, 0, 1});
    world.set_elastic(id, {1e11, strip_model(3, kPeak)});
    WorldRecorder recorder(world, folder / "r");
    for (int i = 0; i < 10; ++i) {
      bend(world, id, {amplitude, -amplitude, amplitude});
      recorder.add_frame();
    }
    recorder.finish();
    lengths[amplitude > 0 ? 1 : 0] = recorder.writer().length();
    EXPECT_EQ(version_of(folder / "r"), kBendingVersion);
  }
  EXPECT_EQ(lengths[0], lengths[1]);
  World rigid;
  add_strip(rigid, {0, 0, 1});
  WorldRecorder recorder(rigid, folder / "r");
  for (int i = 0; i < 10; ++i) recorder.add_frame();
  recorder.finish();
  EXPECT_EQ(recorder.writer().length() + 20 * 10, lengths[0]);
  EXPECT_EQ(version_of(folder / "r"), 4u) << "recordings of other steppers stay as they were";
}

struct BendingStrips {
  World world{flexible_desc()};
  model::BodyId a = add_strip(world, {0, 0, 1});
  model::BodyId b = add_strip(world, {0, 1, 1});

  BendingStrips()
  {
    const auto model = strip_model(4, kPeak);
    for (const model::BodyId id : {a, b}) world.set_elastic(id, {1e11, model});
  }
  void advance(int i)
  {
    bend(world, a, {0.001 * i, i > 4 ? 0.002 : 0.0, 0, i == 7 ? -0.001 : 0.0});
    bend(world, b, {0, i > 2 ? 0.001 : 0.0, 0.0005 * i, 0});
  }
};

TEST(BendRecording, ContinuesByteForByte)
{
  testing::expect_same_bytes_when_continued<BendingStrips>(10);
}

// Modes known from the beginning come back, and a file that is cut anywhere is the same up to there.
TEST(BendRecording, SurvivesBeingCutShort)
{
  const base::ScratchFolder folder;
  RecordingHeader header;
  header.has_bending = true;
  header.meshes = {shapes::generate(shapes::BoxDesc{{1, 1, 1}})};
  header.bodies = {{"a", 0}, {"b", 0}};
  header.bodies[1].modes = {1, 0};
  const std::size_t count = 3 * header.meshes[0].vertices.size();
  header.modes = {{0, 5, std::vector<float>(count, 0.5f)}, {0, 2, std::vector<float>(count, -1.0f)}};
  const auto frame = [](int i) {
    RecordedFrame f;
    f.time = 0.1 * i;
    f.poses.resize(2);
    if (i > 1) f.bends.push_back({1, {0.25f * static_cast<float>(i), i > 2 ? 1.0f : 0.0f}});
    return f;
  };
  {
    RecordingWriter writer(folder / "r", header);
    for (int i = 0; i < 4; ++i) {
      writer.add(frame(i));
      writer.flush();
    }
    writer.finish({1, 2});
  }
  const std::string bytes = base::read_text_file(folder / "r");
  const Recording whole = parse_recording(bytes, "r");
  ASSERT_EQ(whole.header.modes.size(), 2u);
  EXPECT_EQ(whole.header.modes[0].number, 5);
  EXPECT_EQ(whole.header.modes[1].displacements, header.modes[1].displacements);
  EXPECT_EQ(whole.header.bodies[1].modes, header.bodies[1].modes);
  EXPECT_TRUE(whole.header.bodies[0].modes.empty());
  int accepted = 0;
  for (std::size_t length = bytes.size(); length > 0; --length) {
    try {
      const Recording part = parse_recording(std::string_view(bytes).substr(0, length), "r");
      ++accepted;
      for (std::size_t i = 0; i < part.frames.size(); ++i) {
        const RecordedFrame wanted = frame(static_cast<int>(i));
        ASSERT_EQ(part.frames[i].bends.size(), wanted.bends.size());
        for (const RecordedBend& bend : wanted.bends) {
          ASSERT_NE(part.frames[i].bend_of(1), nullptr);
          EXPECT_EQ(part.frames[i].bend_of(1)->amplitudes, bend.amplitudes);
          EXPECT_EQ(part.frames[i].bend_of(0), nullptr);
        }
      }
    } catch (const InputError&) {
      break;
    }
  }
  EXPECT_GT(accepted, 500);
}

TEST(BendRecording, TheWriterRejectsWhatCannotBeDrawn)
{
  const base::ScratchFolder folder;
  RecordingHeader header;
  header.meshes = {shapes::generate(shapes::BoxDesc{{1, 1, 1}}), {}};
  header.bodies = {{"a", 0}};
  const std::vector<float> shape(24, 1.0f);
  RecordingWriter rigid(folder / "rigid", header);
  EXPECT_THROW(rigid.add_mode({0, 0, shape}), Error);
  header.has_bending = true;
  RecordingWriter writer(folder / "r", header);
  EXPECT_THROW(writer.add_mode({2, 0, shape}), Error);
  EXPECT_THROW(writer.add_mode({1, 0, shape}), Error);
  EXPECT_THROW(writer.add_mode({0, 0, std::vector<float>(24, 2.0f)}), Error);
  EXPECT_THROW(writer.add_mode({0, 0, std::vector<float>(24, NAN)}), Error);
  EXPECT_EQ(writer.add_mode({0, 0, shape}), 0);
  EXPECT_EQ(writer.add_mode({1, 0, {}}), 1);
  EXPECT_THROW(writer.add_mode_of_body(0, 2), Error);
  EXPECT_THROW(writer.add_mode_of_body(1, 0), Error);
  RecordedFrame frame;
  frame.poses.resize(1);
  frame.bends = {{0, {0.1f}}};
  EXPECT_THROW(writer.add(frame), Error) << "before it has modes";
  writer.add_mode_of_body(0, 0);
  EXPECT_THROW(writer.add_mode_of_body(0, 1), Error) << "of another mesh";
  writer.add(frame);
  for (const std::vector<RecordedBend>& wrong :
       {std::vector<RecordedBend>{{0, {0.1f, 0.1f}}}, std::vector<RecordedBend>{{0, {INFINITY}}},
        std::vector<RecordedBend>{{0, {0.1f}}, {0, {0.1f}}}, std::vector<RecordedBend>{{-1, {0.1f}}}}) {
    frame.bends = wrong;
    EXPECT_THROW(writer.add(frame), Error);
  }
  for (std::size_t k = 1; k < kMaxBendModes; ++k) writer.add_mode_of_body(0, 0);
  EXPECT_THROW(writer.add_mode_of_body(0, 0), Error);
  writer.finish({});
  EXPECT_EQ(read_recording(folder / "r").frames.size(), 1u);
}

}  // namespace
}  // namespace thrum::sim
