// SPDX-License-Identifier: MIT
// The response of a step does not depend on how World::step cuts it: every rule, both forms, the paper's
// preset, with as many slices as are allowed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/sim/responder.h"

namespace thrum::sim {
namespace {

using vibration::KickForm;
using vibration::KickRule;

constexpr double kHalfThickness = 0.015;
constexpr double kBoxHalf = 0.03;

std::shared_ptr<const model::ModalModel> slab_model()
{
  auto model = std::make_shared<model::ModalModel>(*vibration::plate_model());
  for (Vec3& v : model->surface.vertices) v += Vec3(-0.8, -0.45, kHalfThickness);
  // A vertex below gives the model the height of the slab.
  model->surface.vertices.emplace_back(-0.8, -0.45, -kHalfThickness);
  model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
  model->shapes.bottomRows(3).setZero();
  return model;
}

struct Cutting {
  int slices = 1;
  bool gravity = false;
};

// Boxes stand on a slab that rings, and a ball comes down on it.
struct SlicedSlab {
  World world;
  Responder responder;
  std::vector<model::BodyId> standing;

  SlicedSlab(const vibration::ResponseSettings& settings, const Cutting& cutting) : world(desc(cutting))
  {
    BodyDesc spec;
    spec.surface = world.add_surface({0.3, 0.5, 0, 0});
    spec.name = "slab";
    spec.shape = world.add_shape({model::Box{{0.8, 0.45, kHalfThickness}}});
    spec.motion = model::Motion::fixed;
    const model::BodyId slab = world.add_body(spec);
    spec.motion = model::Motion::dynamic;
    spec.name = "box";
    spec.shape = world.add_shape({model::Box{Vec3::Constant(kBoxHalf)}});
    spec.mass = 0.2;
    for (const Vec3& at : {Vec3(-0.3, 0.1, 0), Vec3(0.3, -0.1, 0), Vec3(0.5, 0.2, 0)}) {
      spec.X_ws.position = at + Vec3(0, 0, kHalfThickness + kBoxHalf);
      standing.push_back(world.add_body(spec));
    }
    spec.name = "ball";
    spec.shape = world.add_shape({model::Sphere{kBoxHalf}});
    spec.mass = 3;
    // It arrives in the middle of the third step, faster than the margin of contacts reaches in a slice.
    spec.velocity = {0, 0, -2};
    spec.X_ws.position = {0.05, 0, kHalfThickness + kBoxHalf + 2 * 2.55 * kStep};
    (void)world.add_body(spec);
    vibration::BodyResponseDesc response;
    response.settings = settings;
    responder.add_body(world, slab, slab_model(), response);
    world.add_observer(responder);
  }

  static constexpr double kStep = 0.01;  // [s]

  static WorldDesc desc(const Cutting& cutting)
  {
    WorldDesc desc;
    desc.length_scale = 0.1;
    desc.sleep.enabled = false;
    desc.max_slices = cutting.slices;
    desc.max_move = 1e-4;  // whatever moves is cut into as many slices as are allowed
    if (!cutting.gravity) desc.gravity = Vec3::Zero();
    return desc;
  }
};

std::vector<std::pair<std::string, vibration::ResponseSettings>> all_rules()
{
  std::vector<std::pair<std::string, vibration::ResponseSettings>> all{
      {"coevoet2020", vibration::coevoet2020()}};
  for (const auto& [name, rule] :
       {std::pair("peak_displacement", KickRule::peak_displacement),
        std::pair("peak_velocity", KickRule::peak_velocity), std::pair("exchange", KickRule::exchange),
        std::pair("micro_collisions", KickRule::micro_collisions),
        std::pair("automatic", KickRule::automatic)}) {
    for (const KickForm form : {KickForm::speed, KickForm::impulse}) {
      vibration::ResponseSettings settings;
      settings.rule = rule;
      settings.form = form;
      all.emplace_back(std::string(name) + (form == KickForm::speed ? ", speed" : ", impulse"), settings);
    }
  }
  return all;
}

// Without gravity the rigid motion is the same however the step is cut, and so is every kick, to the
// tolerance of 1e-4 with which micro-collisions are solved.
TEST(ResponseSlices, KicksAreThoseOfTheWholeStep)
{
  for (const auto& [name, settings] : all_rules()) {
    std::vector<double> expected;
    std::vector<double> asked_speeds;
    for (const int slices : {1, 2, 4, 8}) {
      SlicedSlab slab(settings, {.slices = slices});
      std::vector<double> speeds;
      std::vector<double> asked;
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t before = slab.world.state().step;
        slab.world.step(SlicedSlab::kStep);
        // The ball arrives in the third step: it is near the slab, and the step is cut until it has left.
        if (i == 2 && slices > 1) {
          EXPECT_GT(slab.world.state().step - before, static_cast<std::uint64_t>(slices / 2)) << name;
        }
      }
      for (const model::ResponseEvent& event : slab.world.responses()) {
        if (event.kind == model::ResponseKind::kicked) asked.push_back(event.speed);
      }
      // The report is of the whole step, as the events are.
      EXPECT_EQ(slab.responder.report().impacts, 1) << name;
      EXPECT_EQ(slab.responder.report().kicks, static_cast<int>(asked.size())) << name;
      // Speeds that were asked for are given in the next one.
      slab.world.step(SlicedSlab::kStep);
      for (const model::BodyId id : slab.standing) speeds.push_back(slab.world.body(id).velocity.z());
      if (slices == 1) {
        expected = speeds;
        asked_speeds = asked;
        EXPECT_GT(*std::max_element(speeds.begin(), speeds.end()), 0.01) << name;
        continue;
      }
      ASSERT_EQ(asked.size(), asked_speeds.size()) << name << ", " << slices << " slices";
      for (std::size_t i = 0; i < asked.size(); ++i)
        EXPECT_NEAR(asked[i] / asked_speeds[i], 1, 1e-4) << name << ", " << slices << " slices";
      for (std::size_t i = 0; i < speeds.size(); ++i)
        EXPECT_NEAR(speeds[i], expected[i], 1e-5) << name << ", " << slices << " slices, box " << i;
    }
  }
}

// With gravity the rigid motion itself changes with the length of the slices: the ball meets the slab by up
// to g h = 0.1 m/s of 2 m/s sooner or later, and the solver's boxes turn differently when they are kicked.
TEST(ResponseSlices, HeightsAreThoseOfTheWholeStep)
{
  for (const auto& [name, settings] : all_rules()) {
    std::vector<double> expected;
    for (const int slices : {1, 2, 4, 8}) {
      SlicedSlab slab(settings, {.slices = slices, .gravity = true});
      std::vector<double> heights(slab.standing.size(), 0);
      for (int i = 0; i < 30; ++i) {
        slab.world.step(SlicedSlab::kStep);
        for (std::size_t b = 0; b < heights.size(); ++b)
          heights[b] = std::max(heights[b], slab.world.body(slab.standing[b]).X_wb.position.z());
      }
      for (double& height : heights) height -= kHalfThickness + kBoxHalf;
      if (slices == 1) {
        expected = heights;
        continue;
      }
      for (std::size_t b = 0; b < heights.size(); ++b)
        EXPECT_NEAR(heights[b], expected[b], 1e-4 + 0.15 * expected[b])
            << name << ", " << slices << " slices, box " << b;
    }
  }
}

}  // namespace
}  // namespace thrum::sim
