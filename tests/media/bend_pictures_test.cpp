// SPDX-License-Identifier: MIT
// Pictures, pages and GLB files of a body that is bent by a known amplitude.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/bending_strip.h"
#include "thrum/base/index.h"
#include "thrum/media/motion_glb.h"
#include "thrum/media/shaded_mesh.h"
#include "thrum/media/snapshots.h"
#include "thrum/media/viewer_data.h"

namespace thrum::media {
namespace {

using testing::kStripSize;
using testing::strip_model;
using testing::strip_shape;

constexpr double kTip = 0.05;   // amplitude of mode 0 in frame 1 [m]
constexpr double kWave = 0.02;  // of mode 1 [m]

// A fixed strip: straight in frame 0, then bent by both modes.
sim::Recording bent_strip()
{
  const auto model = strip_model(2, 1);
  sim::Recording recording;
  recording.header.has_bending = true;
  recording.header.notes = {
      {"camera eye", "0 -1 0.02"}, {"camera target", "0 0 0.02"}, {"camera field of view", "14"}};
  recording.header.meshes = {shapes::generate(shapes::BoxDesc{kStripSize}), model->surface};
  recording.header.bodies = {{"strip", 0, {0.1f, 0.1f, 0.1f}, model::Motion::fixed, 0}};
  recording.header.bodies[0].modes = {0, 1};
  for (Index m = 0; m < 2; ++m) {
    recording.header.modes.push_back({1, static_cast<std::int32_t>(m), {}});
    for (const double x : model->shapes.col(m))
      recording.header.modes.back().displacements.push_back(static_cast<float>(x));
  }
  for (const double time : {0.0, 0.5, 1.0}) {
    sim::RecordedFrame frame;
    frame.time = time;
    frame.poses = {sim::RecordedPose::of(Pose{})};
    if (time == 0.5) frame.bends = {{0, {static_cast<float>(kTip), static_cast<float>(kWave)}}};
    recording.frames.push_back(frame);
  }
  return recording;
}

double height_at(double x, double share)
{
  return share * (kTip * strip_shape(0, x) + kWave * strip_shape(1, x));
}

// Seen from the side, the strip covers the pixels around its middle line and no others.
TEST(BendPictures, ThePictureHasTheSilhouetteOfTheClosedForm)
{
  const sim::Recording recording = bent_strip();
  const SnapshotDesc desc{.width = 640, .height = 360, .whole_run = true};
  const Camera camera = run_camera(recording);
  for (const double share : {0.0, 1.0}) {
    const Image image = render_snapshot(recording, 0.5 * share, desc);
    const int background = image.at(0, 0)[0];
    // The edge that is nearest to the camera.
    for (double x = -0.145; x < 0.15; x += 0.005) {
      const Vec3 middle(x, -0.5 * kStripSize.y(), height_at(x, share));
      const Vec2 expected = camera.project(middle, desc.width, desc.height);
      double sum = 0, weight = 0;
      for (int y = 0; y < desc.height; ++y) {
        const double covered = background - image.at(static_cast<int>(expected.x()), y)[0];
        sum += covered * (y + 0.5);
        weight += covered;
      }
      ASSERT_GT(weight, 0) << "the strip is at x = " << x;
      // The far edge is nearer to the middle of the picture: at most half the width of the strip away.
      const Vec2 far = camera.project({x, 0.5 * kStripSize.y(), middle.z()}, desc.width, desc.height);
      EXPECT_NEAR(sum / weight, 0.5 * (expected.y() + far.y()), 1.0 + 0.5 * std::abs(expected.y() - far.y()))
          << x;
    }
  }
}

// z = w(x) has the normal (-w', 0, 1): exactly linear in the amplitude.
TEST(BendPictures, NormalsTurnWithTheSlope)
{
  const sim::Recording recording = bent_strip();
  const mesh::TriangleMesh& mesh = recording.header.meshes[1];
  const ShadedMesh shaded = shade_mesh(mesh);
  const MorphTarget target = morph_target(mesh, shaded, recording.header.modes[0].displacements);
  ASSERT_EQ(target.normals.size(), shaded.normals.size());
  int flat = 0;
  for (std::size_t i = 0; i < shaded.sources.size(); ++i) {
    const Vec3 n(shaded.normals[3 * i], shaded.normals[3 * i + 1], shaded.normals[3 * i + 2]);
    const Vec3 dn(target.normals[3 * i], target.normals[3 * i + 1], target.normals[3 * i + 2]);
    const double x = shaded.positions[3 * i];
    EXPECT_EQ(target.positions[3 * i + 2],
              recording.header.modes[0].displacements[3 * shaded.sources[i] + 2]);
    if (std::abs(n.z()) < 0.99 || std::abs(x) > 0.139) continue;
    ++flat;
    // Between two rows of vertices the strip is straight: the normal is the mean over both sides.
    const double slope = 2 * (x / kStripSize.x() + 0.5) / kStripSize.x();
    const Vec3 exact = Vec3(-kTip * slope, 0, 1).normalized();
    const Vec3 shown = (n + kTip * dn).normalized() * (n.z() > 0 ? 1 : -1);
    EXPECT_LT((shown - exact).norm(), kTip * 0.01 / (kStripSize.x() * kStripSize.x())) << x;
  }
  EXPECT_GT(flat, 50);
}

TEST(BendPictures, ThePageHasTargetsAndAmplitudes)
{
  const sim::Recording recording = bent_strip();
  const auto data = nlohmann::json::parse(viewer_data({{.recording = &recording}}));
  const nlohmann::json& run = data["runs"][0];
  EXPECT_EQ(run["bodies"][0]["mesh"], 1) << "the mesh of its modes";
  ASSERT_EQ(run["bends"].size(), 1u);
  EXPECT_EQ(run["bends"][0]["targets"].size(), 2u);
  const nlohmann::json& body = run["bends"][0]["bodies"][0];
  EXPECT_EQ(body["first"], 1);
  EXPECT_EQ(body["count"], 1);
  EXPECT_EQ(body["targets"], nlohmann::json({0, 1}));
  sim::Recording straight = recording;
  straight.header.bodies[0].modes.clear();
  straight.header.modes.clear();
  for (sim::RecordedFrame& frame : straight.frames) frame.bends.clear();
  EXPECT_FALSE(nlohmann::json::parse(viewer_data({{.recording = &straight}}))["runs"][0].contains("bends"));
}

TEST(BendPictures, TheGlbHasMorphTargetsWithAnimatedWeights)
{
  const std::string glb = motion_glb(bent_strip());
  const std::size_t length = *reinterpret_cast<const std::uint32_t*>(glb.data() + 12);
  const auto root = nlohmann::json::parse(glb.substr(20, length));
  ASSERT_EQ(root["meshes"].size(), 1u);
  EXPECT_EQ(root["meshes"][0]["primitives"][0]["targets"].size(), 2u);
  const nlohmann::json& animation = root["animations"][0];
  ASSERT_EQ(animation["channels"].size(), 1u);
  EXPECT_EQ(animation["channels"][0]["target"]["path"], "weights");
  const nlohmann::json& sampler = animation["samplers"][0];
  const nlohmann::json& output = root["accessors"][sampler["output"].get<std::size_t>()];
  ASSERT_EQ(output["count"], 6) << "three keys of two weights";
  const std::size_t offset = root["bufferViews"][output["bufferView"].get<std::size_t>()]["byteOffset"];
  const auto* weights = reinterpret_cast<const float*>(glb.data() + 20 + length + 8 + offset);
  const std::vector<float> expected = {0, 0, static_cast<float>(kTip), static_cast<float>(kWave), 0, 0};
  EXPECT_EQ(std::vector<float>(weights, weights + 6), expected);
}

}  // namespace
}  // namespace thrum::media
