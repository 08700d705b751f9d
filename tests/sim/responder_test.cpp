// SPDX-License-Identifier: MIT
#include "thrum/sim/responder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/vibration/plate_model.h"
#include "thrum/base/error.h"
#include "thrum/elastic/modal_filter.h"

namespace thrum::sim {
namespace {

using vibration::KickRule;

// A slab whose upper face carries the modes of a plate; boxes stand on it and one falls.
struct Slab {
  World world;
  Responder responder;
  model::BodyId slab;
  model::BodyId faller;
  std::vector<model::BodyId> standing;

  explicit Slab(KickRule rule, double restitution = 0.15, bool rings = true,
                const std::shared_ptr<const model::ModalModel>& model = slab_model())
      : world(desc())
  {
    const model::SurfaceId surface = world.add_surface({restitution, 0.5, 0, 0});
    BodyDesc spec;
    spec.name = "slab";
    spec.shape = world.add_shape({model::Box{{0.8, 0.45, 0.015}}});
    spec.motion = model::Motion::fixed;
    spec.surface = surface;
    slab = world.add_body(spec);
    spec.name = "box";
    spec.motion = model::Motion::dynamic;
    spec.shape = world.add_shape({model::Box{{0.03, 0.03, 0.03}}});
    spec.mass = 0.2;
    for (const Vec3& at : {Vec3(-0.3, 0.1, 0.045), Vec3(0.3, -0.1, 0.045), Vec3(0.5, 0.2, 0.045)}) {
      spec.X_ws.position = at;
      standing.push_back(world.add_body(spec));
    }
    spec.X_ws.position = {0, 0, 0.3};
    spec.mass = 3.0;
    spec.velocity = {0, 0, -1};
    faller = world.add_body(spec);
    if (!rings) return;
    vibration::BodyResponseDesc response;
    response.settings.rule = rule;
    responder.add_body(world, slab, model, response);
    world.add_observer(responder);
  }

  static WorldDesc desc()
  {
    WorldDesc desc;
    desc.length_scale = 0.1;
    return desc;
  }

  static std::shared_ptr<const model::ModalModel> slab_model()
  {
    auto model = std::make_shared<model::ModalModel>(*vibration::plate_model());
    for (Vec3& v : model->surface.vertices) v += Vec3(-0.8, -0.45, 0.015);
    // A vertex below gives the model the height of the slab.
    model->surface.vertices.emplace_back(-0.8, -0.45, -0.015);
    model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
    model->shapes.bottomRows(3).setZero();
    return model;
  }

  [[nodiscard]] double energy() const
  {
    double rings = 0;
    const auto modes = elastic::mode_list(*slab_model());
    for (const model::ModalState& ring : world.state().modal_states) {
      for (std::size_t m = 0; m < ring.q.size(); ++m) {
        const double w = modes.omegas[static_cast<Eigen::Index>(m)];
        rings += (ring.v[m] * ring.v[m] + w * w * ring.q[m] * ring.q[m]) / 2;
      }
    }
    return world.kinetic_energy() + world.potential_energy() + rings;
  }
};

double rise(Slab& slab, int steps)
{
  double most = 0;
  for (int i = 0; i < steps; ++i) {
    slab.world.step(0.01);
    for (const model::BodyId id : slab.standing)
      most = std::max(most, slab.world.body(id).X_wb.position.z() - 0.045);
  }
  return most;
}

TEST(Responder, WithoutItNothingMovesAndWithItBoxesJump)
{
  Slab still(KickRule::automatic, 0.15, false);
  EXPECT_LT(rise(still, 60), 1e-5);
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                              KickRule::micro_collisions}) {
    Slab slab(rule);
    const double height = rise(slab, 60);
    EXPECT_GT(height, 2e-4) << static_cast<int>(rule);
    EXPECT_LT(height, 0.1) << static_cast<int>(rule);
  }
}

// A face that lands flat is held by two opposite corners as well as by all four: which of them the solver
// gives the impulse is arbitrary. All four strike.
TEST(Responder, AFaceThatLandsFlatStrikesWithAllOfItsCorners)
{
  int landings = 0;
  for (int i = 0; i < 40; ++i) {
    Slab slab(KickRule::micro_collisions, 0.1);
    const Vec3 start(0.11 * std::sin(i), 0.07 * std::cos(3 * i), 0.2 + 0.003 * i);
    // Flat to 10 um, about any axis, as after some landings.
    const Vec3 axis(std::sin(5 * i), std::cos(7 * i), 0);
    const Quat turned =
        Quat(Eigen::AngleAxisd(1e-4, axis.normalized())) * Quat(Eigen::AngleAxisd(0.4 * i, Vec3::UnitZ()));
    slab.world.set_pose(slab.faller, {start, turned});
    for (int step = 0; step < 40; ++step) {
      slab.world.step(1.0 / (45 + i));
      int struck = 0;
      for (const model::ResponseEvent& event : slab.world.responses())
        struck += event.kind == model::ResponseKind::struck && event.b == slab.faller ? 1 : 0;
      if (struck == 0) continue;
      EXPECT_EQ(struck, 4) << "start " << i;
      ++landings;
      break;
    }
  }
  EXPECT_EQ(landings, 40);
}

// Contacts so hard that their depths are lost in rounding (tests/vibration/unsolved_test.cpp). The report is
// that of one step, the warning that of the run.
TEST(Responder, CountsAndWarnsOfContactsThatWereNotSolved)
{
  auto hard = std::make_shared<model::ModalModel>(*Slab::slab_model());
  hard->materials[0].young = 1e40;
  Slab slab(KickRule::micro_collisions, 0.15, true, hard);
  int unsolved = 0;
  for (int i = 0; i < 60; ++i) {
    slab.world.step(0.01);
    unsolved += slab.responder.report().unsolved;
  }
  EXPECT_GT(unsolved, 0);
  ASSERT_FALSE(slab.responder.warnings().empty());
  EXPECT_EQ(slab.responder.warnings().back().find(std::to_string(unsolved) + " times the impulses"), 0U);
  Slab usual(KickRule::micro_collisions);
  (void)rise(usual, 60);
  EXPECT_TRUE(usual.responder.warnings().empty());
}

TEST(Responder, ReportsWhatItDid)
{
  Slab slab(KickRule::exchange);
  bool struck = false;
  bool kicked = false;
  for (int i = 0; i < 60; ++i) {
    slab.world.step(0.01);
    bool by_the_faller = false;
    for (const model::ResponseEvent& event : slab.world.responses()) {
      EXPECT_EQ(event.a, slab.slab);
      if (event.kind == model::ResponseKind::struck && event.b == slab.faller) struck = by_the_faller = true;
      if (event.kind == model::ResponseKind::kicked && by_the_faller) {
        kicked = true;
        EXPECT_NE(event.b, slab.faller);
        EXPECT_GT(event.speed, 0);
        EXPECT_GT(slab.responder.report().kicks, 0);
      }
    }
  }
  EXPECT_TRUE(struck && kicked);
}

TEST(Responder, EnergyNeverGrowsWhateverTheRestitution)
{
  for (const KickRule rule : {KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                              KickRule::micro_collisions}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      Slab slab(rule, e);
      Slab plain(rule, e, false);
      const double before = slab.energy();
      double worst = 0;
      double worst_plain = 0;
      for (int i = 0; i < 80; ++i) {
        slab.world.step(0.01);
        plain.world.step(0.01);
        worst = std::max(worst, slab.energy() - before);
        worst_plain = std::max(worst_plain, plain.energy() - before);
      }
      // The rigid steps by themselves are not exact; the response adds nothing to that.
      EXPECT_LE(worst, worst_plain + 0.01 * before) << static_cast<int>(rule) << " restitution " << e;
    }
  }
}

TEST(Responder, ContinuesASavedStateBitForBit)
{
  Slab slab(KickRule::micro_collisions);
  while (slab.world.state().modal_states.empty()) slab.world.step(0.01);
  const model::SceneState saved = slab.world.save();
  for (int i = 0; i < 30; ++i) slab.world.step(0.01);
  const base::Hash128 first = slab.world.hash();
  Slab again(KickRule::micro_collisions);
  again.world.restore(saved);
  for (int i = 0; i < 30; ++i) again.world.step(0.01);
  EXPECT_EQ(again.world.hash(), first);
}

TEST(Responder, DropsABodyThatWasRemoved)
{
  Slab slab(KickRule::exchange);
  Slab plain(KickRule::exchange, 0.15, false);
  EXPECT_TRUE(slab.responder.rings(slab.slab));
  slab.responder.body_removed(slab.slab);
  EXPECT_FALSE(slab.responder.rings(slab.slab));
  EXPECT_EQ(slab.responder.model_of(slab.slab), nullptr);
  rise(slab, 60);
  rise(plain, 60);
  EXPECT_EQ(base::to_hex(slab.world.hash()), base::to_hex(plain.world.hash()));
}

TEST(Responder, RejectsTheModesOfAnotherMesh)
{
  Slab slab(KickRule::automatic, 0.15, false);
  EXPECT_THROW(slab.responder.add_body(slab.world, slab.slab, vibration::plate_model({.a = 3, .b = 2}), {}),
               Error);
  slab.responder.add_body(slab.world, slab.slab, Slab::slab_model(), {});
  EXPECT_THROW(slab.responder.add_body(slab.world, slab.slab, Slab::slab_model(), {}), Error);
}

// A board with modes for where it stood: one warning when it is struck while it is elsewhere, and none
// when it only slid.
TEST(Responder, WarnsWhenABodyHasLeftTheSupportsOfItsModes)
{
  for (const bool lifted : {false, true}) {
    Slab slab(KickRule::exchange, 0.15, false);
    auto held = std::make_shared<model::ModalModel>(*Slab::slab_model());
    held->supports.emplace_back();
    slab.responder.add_body(slab.world, slab.slab, held, {});
    slab.world.add_observer(slab.responder);
    model::SceneState state = slab.world.save();
    const Vec3 away = lifted ? Vec3(0, 0, 0.5) : Vec3(0.5, 0, 0);
    for (model::BodyState& body : state.bodies) body.X_wb.position += away;
    slab.world.restore(state);
    (void)rise(slab, 60);
    const std::vector<std::string> said = slab.responder.warnings();
    ASSERT_EQ(said.size(), lifted ? 1U : 0U);
    if (lifted) {
      EXPECT_NE(said[0].find("as if it were still held where it stood"), std::string::npos) << said[0];
    }
  }
}

// Contacts that are not on the modal surface are reported once, however often they are struck.
TEST(Responder, ReportsContactsOffTheSurfaceOnce)
{
  Slab slab(KickRule::exchange, 0.15, false);
  auto thin = std::make_shared<model::ModalModel>(*Slab::slab_model());
  for (Vec3& v : thin->surface.vertices) v.z() -= 0.12;
  vibration::BodyResponseDesc desc;
  slab.responder.add_body(slab.world, slab.slab, thin, desc);
  slab.world.add_observer(slab.responder);
  (void)rise(slab, 60);
  const std::vector<std::string> said = slab.responder.warnings();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("off the surface"), std::string::npos) << said[0];
}

}  // namespace
}  // namespace thrum::sim
