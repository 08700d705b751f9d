// SPDX-License-Identifier: MIT
// Groups of the flexible stepper with times of their own, and observers that only watch.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "tests/sim/world_fixture.h"
#include "tests/vibration/plate_model.h"
#include "thrum/base/index.h"
#include "thrum/elastic/damped_oscillation.h"
#include "thrum/elastic/modal_filter.h"
#include "thrum/flexible/elastic_body.h"
#include "thrum/flexible/flexible_report.h"

namespace thrum::sim {
namespace {

using namespace testing;

/// Adds up what it is shown. Modes are moved by the forces that it is shown alone.
class Listener : public StepObserver {
 public:
  Listener(const World& world, std::shared_ptr<const model::ModalModel> modes)
      : world_(world), modes_(elastic::mode_list(*modes)), q(VecX::Zero(modes_.omegas.size())), u(q)
  {
  }
  [[nodiscard]] bool only_watches() const override { return true; }
  [[nodiscard]] bool needs_bodies_before() const override { return true; }

  void after_slice(const StepView& view, StepActions& /*actions*/) override
  {
    EXPECT_NEAR(view.time, time, 1e-12);
    time = view.time + view.h;
    ++slices;
    for (const model::ContactPatch& patch : view.state.patches) {
      Vec3 impulse = patch.friction_impulse;
      for (const model::ContactPoint& point : patch.active()) impulse += point.normal_impulse * patch.normal;
      impulses.try_emplace(view.id_of(patch.b), Vec3::Zero()).first->second += impulse;
      impulses.try_emplace(view.id_of(patch.a), Vec3::Zero()).first->second -= impulse;
    }
    const auto& all = world_.flexible_report().modal_forces;
    EXPECT_LE(all.size(), 1U);
    double covered = 0;
    if (!all.empty()) {
      for (std::size_t k = 0; k < all[0].durations.size(); ++k) {
        covered += all[0].durations[k];
        advance(all[0].durations[k], all[0].forces.data() + k * modes_.size());
      }
    }
    EXPECT_NEAR(covered, view.h, 1e-9 * view.h);
    for (const model::ModalState& ring : view.state.modal_states)
      shown_q = Eigen::Map<const VecX>(ring.q.data(), q.size());
  }

  /// Exactly, under forces that are held.
  void advance(double dt, const double* force)
  {
    for (Eigen::Index m = 0; m < q.size(); ++m) {
      const double w2 = modes_.omegas[m] * modes_.omegas[m];
      const double d = modes_.decays[m];
      const auto [c, s] = elastic::damped_oscillation(modes_.omegas[m], d, dt);
      const double held = force[m] / w2;
      const double away = q[m] - held;
      q[m] = held + (c + d * s) * away + s * u[m];
      u[m] = -w2 * s * away + (c - d * s) * u[m];
    }
  }

 private:
  const World& world_;
  elastic::ModeList modes_;

 public:
  VecX q, u;     ///< by the forces shown
  VecX shown_q;  ///< of the last state shown
  [[nodiscard]] Vec3 impulse_on(model::BodyId body) const
  {
    const auto found = impulses.find(body);
    return found == impulses.end() ? Vec3(Vec3::Zero()) : found->second;
  }
  std::map<model::BodyId, Vec3> impulses;
  double time = 0;
  int slices = 0;
};

constexpr double kStepLength = 0.01;

/// A plate that rings with balls on it, and four balls that meet one after the other in the air, of which one
/// is taken back; what falls far away meets nothing.
struct Scene {
  World world;
  model::BodyId plate;
  std::shared_ptr<const model::ModalModel> modes;
  std::vector<model::BodyId> balls;

  explicit Scene(TimeOfImpactMethod method) : world(desc_with(method))
  {
    world.set_surface(model::kDefaultSurface, {.restitution = 0.4, .friction = 0.3});
    const vibration::PlateSize size{.modes = 40};
    plate = add_plane(world);
    modes = vibration::plate_model(size);
    world.set_elastic(plate, {size.young / (1 - size.poisson * size.poisson), modes, true});
    for (int i = 0; i < 6; ++i)
      balls.push_back(
          add(world, {model::Sphere{0.04 + 0.002 * i}}, {0.2 + 0.2 * i, 0.45, 0.1 + 0.05 * i}, 0.5));
    const std::array<double, 4> places = {0.55, 0.75, 0, 0.3};
    const std::array<double, 4> speeds = {0.3, 0, 6, 0};
    for (std::size_t i = 0; i < places.size(); ++i) {
      balls.push_back(add(world, {model::Sphere{0.1}}, {places[i], i == 3 ? 0.02 : 0.0, 20}, 1));
      world.set_velocity(balls.back(), {speeds[i], 0, 0}, {0, 0, i == 2 ? 3.0 : 0.0});
    }
    for (int i = 0; i < 3; ++i) balls.push_back(add(world, {model::Sphere{0.05}}, {0.5 * i, 0.4, 40}, 0.5));
  }

  static WorldDesc desc_with(TimeOfImpactMethod method)
  {
    WorldDesc desc;
    desc.stepper = StepperKind::flexible;
    desc.time_of_impact = method;
    desc.flexible.adapt_modes = false;
    return desc;
  }
};

// What listens changes nothing, and no step is cut into slices for it.
TEST(FlexibleQueueObservers, MoveNothing)
{
  for (const double h : {kStepLength, 0.04}) {
    Scene alone(TimeOfImpactMethod::timewarp);
    Scene heard(TimeOfImpactMethod::timewarp);
    Listener listener(heard.world, heard.modes);
    heard.world.add_observer(listener);
    run(alone.world, 0.4, h);
    run(heard.world, 0.4, h);
    EXPECT_EQ(heard.world.hash(), alone.world.hash()) << h;
    EXPECT_EQ(heard.world.limit_counts().steps_not_warped, 0U) << h;
    EXPECT_NEAR(listener.time, 0.4, 1e-12) << h;
  }
}

// Every impulse is shown once, also where groups go back: the momentum of each body is that of the impulses
// on it and of its weight. And the forces shown move the modes as the simulation does.
TEST(FlexibleQueueObservers, AreShownEveryImpulseAndEveryForceOnce)
{
  for (const double h : {kStepLength, 0.04}) {
    Scene scene(TimeOfImpactMethod::timewarp);
    std::vector<Vec3> start;
    for (const model::BodyId ball : scene.balls) start.push_back(scene.world.body(ball).velocity);
    Listener listener(scene.world, scene.modes);
    scene.world.add_observer(listener);
    run(scene.world, 0.4, h);
    if (h > kStepLength) {
      EXPECT_GT(scene.world.impact_counts().undone_slices, 0U);
    }
    EXPECT_EQ(scene.world.limit_counts().steps_not_warped, 0U);
    double most = 0;
    for (std::size_t i = 0; i < scene.balls.size(); ++i) {
      const model::BodyId ball = scene.balls[i];
      const double inverse_mass = 1 / scene.world.desc_of(ball).mass;
      const Vec3 fallen = 0.4 * scene.world.model().gravity;
      const Vec3 expected = start[i] + fallen + inverse_mass * listener.impulse_on(ball);
      EXPECT_NEAR((scene.world.body(ball).velocity - expected).norm(), 0, 1e-9) << h << " " << i;
      most = std::max(most, listener.impulse_on(ball).norm());
    }
    EXPECT_GT(most, 0.5) << h;
    const model::ModalState* ring = nullptr;
    for (const model::ModalState& one : scene.world.state().modal_states) ring = &one;
    ASSERT_NE(ring, nullptr);
    const auto q = Eigen::Map<const VecX>(ring->q.data(), listener.q.size());
    const auto u = Eigen::Map<const VecX>(ring->v.data(), listener.u.size());
    EXPECT_GT(u.norm(), 0) << h;
    EXPECT_LT((q - listener.q).norm(), 1e-9 * q.norm()) << h;
    EXPECT_LT((u - listener.u).norm(), 1e-9 * u.norm()) << h;
    EXPECT_EQ((q - listener.shown_q).norm(), 0) << h;
  }
}

// The same recording as with slices that all groups share.
TEST(FlexibleQueueObservers, HearWhatIsHeardWithSlices)
{
  Scene queue(TimeOfImpactMethod::timewarp);
  Scene slices(TimeOfImpactMethod::continuous);
  Listener in_queue(queue.world, queue.modes);
  Listener in_slices(slices.world, slices.modes);
  queue.world.add_observer(in_queue);
  slices.world.add_observer(in_slices);
  run(queue.world, 0.3, kStepLength);
  run(slices.world, 0.3, kStepLength);
  EXPECT_LT((in_queue.q - in_slices.q).norm(), 1e-2 * in_slices.q.norm());
  EXPECT_LT((in_queue.u - in_slices.u).norm(), 1e-2 * in_slices.u.norm());
  for (std::size_t i = 0; i < queue.balls.size(); ++i) {
    const Vec3 heard = in_queue.impulse_on(queue.balls[i]);
    EXPECT_LT((heard - in_slices.impulse_on(slices.balls[i])).norm(), 1e-3 * heard.norm() + 1e-9) << i;
  }
}

// One that acts sees all bodies at one time: steps are then cut into slices, which the run says.
TEST(FlexibleQueueObservers, ThatActCutStepsIntoSlices)
{
  Scene scene(TimeOfImpactMethod::timewarp);
  struct : StepObserver {
  } acts;
  scene.world.add_observer(acts);
  run(scene.world, 0.05, kStepLength);
  EXPECT_EQ(scene.world.limit_counts().steps_not_warped, 5U);
}

}  // namespace
}  // namespace thrum::sim
