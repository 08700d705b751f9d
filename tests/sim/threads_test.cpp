// SPDX-License-Identifier: MIT
// The constraint stepper gives the same bits on any number of threads: scenes large enough to be divided,
// with seeds. A program of its own, so that it can be built alone with the thread sanitizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "tests/sim/world_fixture.h"
#include "thrum/base/parallel.h"
#include "thrum/base/team.h"
#include "thrum/model/compare_state.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

/// The thread sanitizer makes a step fifty times as long.
#ifdef __SANITIZE_THREAD__
constexpr int kSteps = 6;
constexpr unsigned kSeeds = 1;
#else
constexpr int kSteps = 25;
constexpr unsigned kSeeds = 3;
#endif

struct Case {
  std::string name;
  std::function<void(World&, unsigned seed)> fill;
  bool sleeps = false;
  int steps = kSteps;  ///< to the state that is restored, and as many from there
};

double uniform(std::mt19937& random)
{
  return 2.0 * static_cast<double>(random()) / 4294967295.0 - 1.0;
}

Quat random_rotation(std::mt19937& random)
{
  const double angle = 3 * uniform(random);
  return Quat(Eigen::AngleAxisd(angle, Vec3(uniform(random), uniform(random), 1.5).normalized()));
}

void fill_wall(World& world, unsigned seed)
{
  std::mt19937 random(seed);
  add_plane(world);
  for (int row = 0; row < 10; ++row) {
    for (int i = 0; i < 14; ++i) {
      const Vec3 place(0.41 * (i + 0.5 * (row % 2)), 0.002 * uniform(random), 0.1 + 0.2 * row);
      add_box(world, {0.2, 0.1, 0.1}, place, 16);
    }
  }
}

// Boxes that have just fallen on each other.
void fill_heap(World& world, unsigned seed, int count, const model::Surface& surface)
{
  std::mt19937 random(seed);
  world.set_surface(model::kDefaultSurface, surface);
  add_plane(world);
  for (int i = 0; i < count; ++i) {
    const Vec3 place(0.75 * (i % 6), 0.75 * (i / 6 % 5), 0.5 + 0.62 * (i / 30));
    const model::Shape shape = one_of_four(i, {{0.3, 0.25, 0.2}}, model::Sphere{0.3},
                                           model::Capsule{0.2, 0.2}, model::Cylinder{0.3, 0.2});
    add(world, shape, place + 0.02 * Vec3(uniform(random), uniform(random), 0), 1 + i % 3,
        random_rotation(random));
  }
}

void fill_rings(World& world, unsigned seed)
{
  std::mt19937 random(seed);
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0.002, 0.001});
  add_plane(world);
  shapes::TorusDesc torus;
  torus.major_segments = 16;
  torus.minor_segments = 8;
  const model::Shape ring{
      model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}};
  BodyDesc spec;
  spec.shape = world.add_shape(ring);
  spec.mass = 10;
  // So close that they touch within a few steps: with the thread sanitizer there are no more.
  for (int i = 0; i < 90; ++i) {
    spec.X_ws = {Vec3(1.7 * (i % 3) + 0.05 * uniform(random), 1.7 * (i / 3 % 3), 0.17 + 0.31 * (i / 9)),
                 Quat(Eigen::AngleAxisd(0.05 * uniform(random), Vec3::UnitX()))};
    world.add_body(spec);
  }
}

// Chains of bars that lie on a pyramid of boxes.
void fill_chains(World& world, unsigned seed)
{
  std::mt19937 random(seed);
  add_plane(world);
  for (int row = 0; row < 14; ++row) {
    for (int i = 0; i < 14 - row; ++i)
      add_box(world, Vec3::Constant(0.5), {1.1 * (i + 0.5 * row), 0, 0.5 + row});
  }
  for (int chain = 0; chain < 5; ++chain) {
    model::BodyId above;
    for (int i = 0; i < 6; ++i) {
      const model::BodyId bar = add_box(world, {0.2, 0.05, 0.05},
                                        {2.0 * chain + 0.4 * i, 0.1 * uniform(random), 15.5 - 0.3 * chain});
      if (above.valid()) {
        model::JointDesc joint;
        joint.a = bar;
        joint.X_aj.position = {-0.2, 0, 0};
        joint.b = above;
        joint.X_bj.position = {0.2, 0, 0};
        world.add_joint(joint);
      }
      above = bar;
    }
  }
}

// Towers of four, many islands.
void fill_towers(World& world, unsigned seed)
{
  std::mt19937 random(seed);
  add_plane(world);
  for (int i = 0; i < 240; ++i) {
    const int tower = i / 4;
    add_box(world, Vec3::Constant(0.5),
            {3.0 * (tower % 8) + 0.05 * uniform(random), 3.0 * (tower / 8), 0.5 + 1.001 * (i % 4)});
  }
}

class Threads : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override
  {
    base::set_thread_count(4);
    if (base::thread_count() == 1) GTEST_SKIP() << "built without threads";
    base::rest_when_crowded(false);
    base::measure_team(true);
  }
  void TearDown() override
  {
    base::measure_team(false);
    base::rest_when_crowded(true);
    base::set_thread_count(0);
  }
};

World make(const Case& scene, unsigned seed, int threads)
{
  WorldDesc desc;
  desc.sleep.enabled = scene.sleeps;
  desc.sleep.time = 0.1;
  desc.threads = threads;
  World world(desc);
  scene.fill(world, seed);
  return world;
}

void advance(World& world, int steps)
{
  for (int i = 0; i < steps; ++i) world.step(kStep);
}

TEST_P(Threads, HaveTheBitsOfOneAlsoAfterRestore)
{
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    World one = make(GetParam(), seed, 1);
    advance(one, GetParam().steps);
    const model::SceneState middle = one.save();
    advance(one, GetParam().steps);
    EXPECT_GT(one.state().patches.size(), 100U);
    for (const int threads : {2, 3, 4}) {
      const double before = base::team_seconds();
      World several = make(GetParam(), seed, threads);
      advance(several, GetParam().steps);
      EXPECT_FALSE(model::first_difference(several.state(), middle).has_value()) << seed << " " << threads;
      advance(several, GetParam().steps);
      EXPECT_EQ(several.hash(), one.hash()) << seed << " " << threads;
      // From the state of one thread, in a world that has gone on.
      several.restore(middle);
      advance(several, GetParam().steps);
      EXPECT_EQ(several.hash(), one.hash()) << seed << " " << threads;
      EXPECT_GT(base::team_seconds(), before) << "no work was divided";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, Threads,
    ::testing::Values(Case{"Wall", fill_wall, false}, Case{"WallThatFallsAsleep", fill_wall, true},
                      Case{"Heap",
                           [](World& w, unsigned seed) {
                             fill_heap(w, seed, 150, {0, 0.5, 0, 0});
                           },
                           false},
                      Case{"HeapThatBouncesAndRolls",
                           [](World& w, unsigned seed) {
                             fill_heap(w, seed, 120, {0.5, 0.4, 0.01, 0.01});
                           },
                           false, std::min(12, kSteps)},
                      Case{"Rings", fill_rings, false}, Case{"Chains", fill_chains, false},
                      Case{"Towers", fill_towers, false}, Case{"TowersThatFallAsleep", fill_towers, true}),
    [](const auto& scene) { return scene.param.name; });

}  // namespace
}  // namespace thrum::sim
