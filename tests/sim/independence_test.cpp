// SPDX-License-Identifier: MIT
// What nothing connects does not change each other: bodies move with the same bits whatever else there is.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/sim/same_bits.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"

namespace thrum::sim {
namespace {

using namespace testing;

enum class Others { none, joints, heaps, bounces };
enum class Order { before, after, between };

constexpr int kThings = 4;

/// Things that do not touch each other, 4 m apart along x, and others of one kind 100 m away.
class Scene {
 public:
  Scene(StepperKind stepper, std::uint64_t seed, Others others, Order order)
      : world({.stepper = stepper, .max_slices = 1, .time_of_impact = TimeOfImpactMethod::none}),
        random_(seed),
        far_random_(seed + 100)
  {
    add_plane(world);
    elastic_ = world.add_surface({.restitution = 0.6});
    if (order == Order::before) add_others(others, 0, kThings);
    for (int i = 0; i < kThings; ++i) {
      if (order == Order::between) add_others(others, i, i + 1);
      add_thing(i, Vec3(4.0 * i, 0, 0), random_, kept);
    }
    if (order == Order::after) add_others(others, 0, kThings);
  }

  World world;
  std::vector<model::BodyId> kept;

 private:
  void add_others(Others others, int begin, int end)
  {
    if (others == Others::none) return;
    std::vector<model::BodyId> unused;
    for (int i = begin; i < end; ++i) {
      const Vec3 place(4.0 * i, 100, 0);
      if (others == Others::joints) add_chain(place, far_random_, unused);
      if (others == Others::heaps) add_heap(place, far_random_, unused);
      if (others == Others::bounces) add_balls(place, far_random_, unused);
    }
  }

  void add_thing(int i, const Vec3& place, base::Random& random, std::vector<model::BodyId>& ids)
  {
    if (i == 0) add_chain(place, random, ids);
    if (i == 1) add_heap(place, random, ids);
    if (i == 2) add_balls(place, random, ids);
    if (i == 3) add_cart(place, random, ids);
  }

  // Hangs from the world and swings; its end is dragged over the ground.
  void add_chain(const Vec3& place, base::Random& random, std::vector<model::BodyId>& ids)
  {
    const double top = 1.5 + 0.3 * random.uniform();
    const double swing = random.uniform(0.5, 1.2);
    const Vec3 along(std::sin(swing), 0, -std::cos(swing));
    const Quat turn = Quat::FromTwoVectors(Vec3::UnitZ(), along);
    model::BodyId last;
    for (int k = 0; k < 5; ++k) {
      const model::BodyId link =
          add_box(world, {0.03, 0.03, 0.14}, place + Vec3(0, 0, top) + (0.15 + 0.3 * k) * along, 0.5, turn);
      model::JointDesc joint{.kind = k == 2 ? model::JointKind::hinge : model::JointKind::ball, .a = link};
      joint.X_aj.position = {0, 0, -0.15};
      if (k == 0) {
        joint.X_bj.position = place + Vec3(0, 0, top);
      } else {
        joint.b = last;
        joint.X_bj.position = {0, 0, 0.15};
      }
      world.add_joint(joint);
      ids.push_back(link);
      last = link;
    }
  }

  void add_heap(const Vec3& place, base::Random& random, std::vector<model::BodyId>& ids)
  {
    for (int k = 0; k < 7; ++k)
      ids.push_back(add(world, one_of_four(k, {{0.2, 0.15, 0.1}}, {0.15}, {0.1, 0.15}, {0.15, 0.1}),
                        place + Vec3(random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), 0.2 + 0.3 * k), 1,
                        random.rotation()));
  }

  void add_balls(const Vec3& place, base::Random& random, std::vector<model::BodyId>& ids)
  {
    for (int k = 0; k < 4; ++k) {
      ids.push_back(
          add(world, {model::Sphere{0.12}},
              place + Vec3(0.1 * k, 0.3 * random.uniform(), 0.2 + 0.25 * k + 0.1 * random.uniform())));
      world.set_surface(ids.back(), elastic_);
    }
    ids.push_back(add_box(world, {0.2, 0.15, 0.1}, place + Vec3(-0.6, 0, 0.4 + 0.2 * random.uniform())));
    world.set_surface(ids.back(), elastic_);
  }

  // A box on two driven wheels, with a load.
  void add_cart(const Vec3& place, base::Random& random, std::vector<model::BodyId>& ids)
  {
    const model::BodyId box = add_box(world, {0.4, 0.2, 0.05}, place + Vec3(0, 0, 0.3), 3);
    ids.push_back(box);
    for (const double x : {-0.3, 0.3}) {
      const Quat sideways(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitX()));
      const model::BodyId wheel =
          add(world, {model::Cylinder{0.2, 0.25}}, place + Vec3(x, 0, 0.2), 1, sideways);
      model::JointDesc joint{.kind = model::JointKind::hinge, .a = box, .b = wheel};
      joint.X_aj = {{x, 0, -0.1}, sideways};
      joint.motor = {.enabled = true, .speed = random.uniform(0.5, 2), .max_force = 3};
      world.add_joint(joint);
      ids.push_back(wheel);
    }
    ids.push_back(add_box(world, {0.1, 0.1, 0.1}, place + Vec3(0.05 * random.uniform(), 0, 0.46)));
  }

  base::Random random_, far_random_;
  model::SurfaceId elastic_;
};

// Sweeps over joints, extra sweeps over contacts, shock propagation and bounces end island by island.
TEST(Independence, WhatIsFarAwayChangesNoBit)
{
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const double h = seed % 2 == 0 ? 1.0 / 100 : 1.0 / 60;
    for (const Others others : {Others::joints, Others::heaps, Others::bounces}) {
      for (const Order order : {Order::before, Order::after, Order::between}) {
        Scene alone(StepperKind::constraint, seed, Others::none, order);
        Scene with(StepperKind::constraint, seed, others, order);
        int first = -1;
        for (int s = 0; s < 100 && first < 0; ++s) {
          alone.world.step(h);
          with.world.step(h);
          for (std::size_t i = 0; i < alone.kept.size() && first < 0; ++i) {
            if (!same_bits(alone.world.body(alone.kept[i]), with.world.body(with.kept[i]))) first = s;
            EXPECT_LT(first, 0) << "seed " << seed << ", others " << static_cast<int>(others) << ", order "
                                << static_cast<int>(order) << ", body " << i << " in step " << s;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
