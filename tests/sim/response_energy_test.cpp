// SPDX-License-Identifier: MIT
// Energy in a running world: bodies and vibration together never have more after a step than before it,
// beyond what the rigid step alone would have made of the same moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/vibration/plate_model.h"
#include "thrum/base/random.h"
#include "thrum/sim/responder.h"

namespace thrum::sim {
namespace {

using vibration::KickForm;
using vibration::KickRule;

constexpr std::array kRules{KickRule::peak_displacement, KickRule::peak_velocity, KickRule::exchange,
                            KickRule::micro_collisions};

// Twelve undamped modes of a plate on the upper face of a slab.
std::shared_ptr<const model::ModalModel> slab_model(const Vec3& half, double density = 700)
{
  auto model = std::make_shared<model::ModalModel>(*vibration::plate_model({.a = 2 * half.x(),
                                                                            .b = 2 * half.y(),
                                                                            .density = density,
                                                                            .modes = 12,
                                                                            .cells = 12,
                                                                            .alpha = 0,
                                                                            .beta = 0}));
  for (Vec3& v : model->surface.vertices) v += Vec3(-half.x(), -half.y(), half.z());
  // A vertex below gives the model the height of the slab.
  model->surface.vertices.emplace_back(-half);
  model->shapes.conservativeResize(model->shapes.rows() + 3, Eigen::NoChange);
  model->shapes.bottomRows(3).setZero();
  return model;
}

double vibration_energy(const World& world, model::BodyId body, const model::ModalModel& model)
{
  double sum = 0;
  for (const model::ModalState& ring : world.state().modal_states) {
    if (ring.body != body) continue;
    for (std::size_t m = 0; m < ring.q.size(); ++m) {
      const double w = model.omega(static_cast<Index>(m));
      sum += (ring.v[m] * ring.v[m] + w * w * ring.q[m] * ring.q[m]) / 2;
    }
  }
  return sum;
}

struct Choice {
  KickRule rule = KickRule::exchange;
  bool tail_modes = true;  ///< take with them what they receive
  KickForm form = KickForm::speed;
  double restitution = 0;
  double step = 0.01;  ///< [s]
  bool tangential = false;
  bool gravity = true;
  bool stacked = false;       ///< some things stand on others
  bool loose = false;         ///< the slab lies on the ground and can move
  int slices = 1;             ///< into which a step may be cut
  bool smooth_balls = false;  ///< balls without friction: nothing but restitution takes energy
  StepperKind stepper = StepperKind::constraint;
};

Choice random_choice(base::Random& random)
{
  Choice choice;
  choice.form = random.chance(0.5) ? KickForm::speed : KickForm::impulse;
  choice.restitution = std::clamp(random.uniform(-0.2, 1.2), 0.0, 1.0);
  choice.step = std::exp(random.uniform(std::log(1.0 / 500), std::log(1.0 / 30)));
  choice.tangential = random.chance(0.5);
  choice.gravity = random.chance(0.9);
  choice.stacked = random.chance(0.3);
  choice.loose = random.chance(0.2);
  return choice;
}

// A slab with things on it, and one or two that fall.
class RandomScene {
 public:
  RandomScene(const Choice& choice, std::uint64_t seed)
      : choice_(choice), model_(slab_model(half())), world_(desc(choice)), plain_(desc(choice))
  {
    build(plain_, seed);
    build(world_, seed);  // the last, since ids of one world are not those of the other
    vibration::BodyResponseDesc response;
    response.settings.rule = choice.rule;
    response.settings.form = choice.form;
    response.settings.tangential = response.settings.micro.friction = choice.tangential;
    response.settings.micro.step = 1e-4;
    response.settings.micro.tail_modes = choice.tail_modes;
    responder_.add_body(world_, slab_, model_, response);
    world_.add_observer(responder_);
  }

  // One step, and the same moment without response: neither kicks nor the speeds that earlier ones ask for.
  void step()
  {
    before_ = energy(world_) + responder_.report().deferred;
    model::SceneState unasked = world_.save();
    for (model::ContactPatch& patch : unasked.patches) {
      for (model::ContactPoint& point : patch.points) point.requested_speed = 0;
    }
    plain_.restore(unasked);
    plain_.step(choice_.step);
    without_ = energy(plain_) + responder_.report().deferred;
    world_.step(choice_.step);
    after_ = energy(world_) + responder_.report().deferred;
    kicks_ += responder_.report().kicks;
  }

  /// What the step gained beyond the moment before it and beyond what the rigid step makes of it [J].
  [[nodiscard]] double gained() const { return after_ - std::max(before_, without_); }
  /// Likewise what it lost.
  [[nodiscard]] double lost() const { return std::min(before_, without_) - after_; }
  [[nodiscard]] double falling_energy() const
  {
    return falling_energy_;
  }  ///< energy of what falls, at the surface [J]
  [[nodiscard]] int kicks() const { return kicks_; }
  [[nodiscard]] const ResponseReport& report() const { return responder_.report(); }

 private:
  static Vec3 half() { return {0.8, 0.45, 0.015}; }

  static WorldDesc desc(const Choice& choice)
  {
    WorldDesc desc;
    desc.stepper = choice.stepper;
    desc.length_scale = 0.1;
    desc.sleep.enabled = false;
    desc.max_slices = choice.slices;
    desc.max_move = 1e-3;  // what moves is cut into that many
    if (!choice.gravity) desc.gravity = Vec3::Zero();
    return desc;
  }

  [[nodiscard]] double energy(const World& world) const
  {
    return world.kinetic_energy() + world.potential_energy() + vibration_energy(world, slab_, *model_);
  }

  void build(World& world, std::uint64_t seed)
  {
    base::Random random(seed);
    BodyDesc spec;
    spec.surface =
        world.add_surface({choice_.restitution, choice_.smooth_balls ? 0.0 : random.uniform(0, 0.8), 0, 0});
    spec.name = "ground";
    spec.shape = world.add_shape({model::Box{half()}});
    spec.motion = model::Motion::fixed;
    spec.X_ws.position = {0, 0, -2 * half().z()};
    (void)world.add_body(spec);
    spec.name = "slab";
    spec.X_ws.position = Vec3::Zero();
    spec.mass = random.uniform(5, 50);
    if (choice_.loose) spec.motion = model::Motion::dynamic;
    slab_ = world.add_body(spec);
    spec.motion = model::Motion::dynamic;

    // Places on a grid of 5 x 3, none twice.
    std::array<int, 15> places{};
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = static_cast<int>(i);
      std::swap(places[i], places[random.index(i + 1)]);
    }
    constexpr double kSize = 0.03;
    const model::ShapeId box = world.add_shape({model::Box{Vec3::Constant(kSize)}});
    const model::ShapeId ball = world.add_shape({model::Sphere{kSize}});
    const auto resting = static_cast<std::size_t>(random.integer(1, 6));
    const auto all = resting + static_cast<std::size_t>(random.integer(1, 2));
    falling_energy_ = 0;
    for (std::size_t i = 0; i < all; ++i) {
      const bool falls = i >= resting;
      const double above = falls ? random.uniform(0.005, 0.05) : 0;
      spec.name = falls ? "falling" : "standing";
      spec.shape = !choice_.smooth_balls && random.chance(0.5) ? box : ball;
      spec.mass = falls ? random.uniform(0.2, 5) : random.uniform(0.02, 1);
      spec.X_ws.position = {0.3 * (places[i] % 5 - 2) + random.uniform(-0.04, 0.04),
                            0.3 * (places[i] / 5 - 1) + random.uniform(-0.04, 0.04),
                            half().z() + kSize + above};
      const double tilt = falls && random.chance(0.5) ? random.uniform(-0.1, 0.1) : 0.0;
      spec.X_ws.rotation = Quat(Eigen::AngleAxisd(tilt, Vec3::UnitX()));
      // So slow that it does not pass through anything within a step.
      const double fastest = std::clamp(0.02 / choice_.step, 0.4, 3.0);
      spec.velocity = {0, 0, falls ? -random.uniform(0.3, fastest) : 0.0};
      if (falls) falling_energy_ += *spec.mass * (spec.velocity.squaredNorm() / 2 + 9.81 * above);
      (void)world.add_body(spec);
      if (choice_.stacked && !falls && spec.shape == box && random.chance(0.5)) {
        spec.X_ws.position.z() += 2 * kSize;
        (void)world.add_body(spec);
      }
    }
  }

  Choice choice_;
  std::shared_ptr<const model::ModalModel> model_;
  World world_;
  World plain_;
  Responder responder_;
  model::BodyId slab_;
  double falling_energy_ = 0;
  double before_ = 0;
  double without_ = 0;
  double after_ = 0;
  int kicks_ = 0;
};

int steps_for(const Choice& choice)
{
  return std::clamp(static_cast<int>(0.12 / choice.step), 8, 60);
}

TEST(ResponseEnergy, NeverGrowsInAThousandScenes)
{
  constexpr double kBound = 1e-9;  // of what falls, in a step
  base::Random random(2020);
  int kicks = 0;
  for (int i = 0; i < 1000; ++i) {
    Choice choice = random_choice(random);
    choice.rule = kRules[static_cast<std::size_t>(i) % kRules.size()];
    if (i % 10 == 9) choice.stepper = StepperKind::impulse;
    if (i % 3 == 2) choice.slices = 4;
    RandomScene scene(choice, random.bits());
    double most = 0;
    for (int k = steps_for(choice); k > 0; --k) {
      scene.step();
      most = std::max(most, scene.gained() / scene.falling_energy());
    }
    kicks += scene.kicks();
    EXPECT_LE(most, kBound) << "scene " << i << " rule " << static_cast<int>(choice.rule) << " form "
                            << static_cast<int>(choice.form) << " restitution " << choice.restitution
                            << " step " << choice.step << " stacked " << choice.stacked << " loose "
                            << choice.loose << " stepper " << static_cast<int>(choice.stepper);
  }
  EXPECT_GT(kicks, 5000);
}

// Bounces that lose nothing: the rules that live on what an impact loses have nothing to give, the others
// pass on all of it.
TEST(ResponseEnergy, WithRestitutionOnePeakKicksVanishAndExchangeConservesEnergy)
{
  base::Random random(7);
  for (int i = 0; i < 200; ++i) {
    Choice choice = random_choice(random);
    choice.rule = kRules[static_cast<std::size_t>(i) % kRules.size()];
    choice.restitution = 1;
    choice.tail_modes = false;
    choice.stacked = choice.loose = choice.tangential = false;
    choice.smooth_balls = true;
    RandomScene scene(choice, random.bits());
    const bool trades = choice.rule == KickRule::exchange || choice.rule == KickRule::micro_collisions;
    double given = 0;
    double lost = 0;
    for (int k = steps_for(choice); k > 0; --k) {
      scene.step();
      given += scene.report().given;
      lost = std::max(lost, scene.lost());
    }
    if (trades) {
      EXPECT_LE(lost, (choice.rule == KickRule::exchange ? 1e-3 : 0.03) * scene.falling_energy()) << i;
    } else {
      EXPECT_LE(given, 1e-3 * scene.falling_energy()) << i;
    }
  }
}

// A floor that rings, a chest on it that rings as well, and things on the chest.
struct ChestScene {
  static Vec3 floor_half() { return {0.8, 0.45, 0.015}; }
  static Vec3 chest_half() { return {0.25, 0.2, 0.1}; }

  explicit ChestScene(std::uint64_t seed) : world(desc())
  {
    base::Random random(seed);
    BodyDesc spec;
    spec.surface = world.add_surface({random.uniform(0, 1), 0.5, 0, 0});
    spec.shape = world.add_shape({model::Box{floor_half()}});
    spec.motion = model::Motion::fixed;
    floor = world.add_body(spec);
    spec.motion = model::Motion::dynamic;
    spec.shape = world.add_shape({model::Box{chest_half()}});
    spec.mass = random.uniform(3, 20);
    spec.X_ws.position = {0.4, 0, 0.115};
    chest = world.add_body(spec);
    spec.shape = world.add_shape({model::Box{Vec3::Constant(0.03)}});
    for (const double x : {0.3, 0.5}) {
      spec.mass = random.uniform(0.05, 1);
      spec.X_ws.position = {x, random.uniform(-0.1, 0.1), 0.245};
      (void)world.add_body(spec);
    }
    spec.mass = random.uniform(1, 8);
    spec.X_ws.position = {-0.4, 0.1, 0.06};
    spec.velocity = {0, 0, -random.uniform(0.5, 2)};
    (void)world.add_body(spec);
  }

  static WorldDesc desc()
  {
    WorldDesc desc;
    desc.length_scale = 0.1;
    desc.sleep.enabled = false;
    desc.max_slices = 1;
    return desc;
  }

  World world;
  model::BodyId floor;
  model::BodyId chest;
};

TEST(ResponseEnergy, ImpactsTransmittedThroughAChestConserveEnergy)
{
  const auto floor_model = slab_model(ChestScene::floor_half());
  const auto chest_model = slab_model(ChestScene::chest_half(), 200);
  base::Random random(31);
  int hops = 0;
  for (int i = 0; i < 80; ++i) {
    const std::uint64_t seed = random.bits();
    ChestScene scene(seed);
    ChestScene plain(seed);
    const double falling_energy = scene.world.kinetic_energy();
    Responder responder;
    vibration::BodyResponseDesc response;
    response.settings.rule = kRules[static_cast<std::size_t>(i) % kRules.size()];
    response.settings.form = KickForm::impulse;
    response.settings.micro.step = 1e-4;
    responder.add_body(scene.world, scene.floor, floor_model, response);
    responder.add_body(scene.world, scene.chest, chest_model, response);
    scene.world.add_observer(responder);
    const auto energy = [&](const World& world) {
      return world.kinetic_energy() + world.potential_energy() +
             vibration_energy(world, scene.floor, *floor_model) +
             vibration_energy(world, scene.chest, *chest_model);
    };
    for (int k = 0; k < 40; ++k) {
      const double before = energy(scene.world);
      plain.world.restore(scene.world.save());
      plain.world.step(0.01);
      scene.world.step(0.01);
      hops += responder.report().hops;
      EXPECT_LE(energy(scene.world), std::max(before, energy(plain.world)) + 1e-9 * falling_energy)
          << "scene " << i << " step " << k;
    }
  }
  EXPECT_GT(hops, 100);
}

}  // namespace
}  // namespace thrum::sim
