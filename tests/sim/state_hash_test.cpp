// SPDX-License-Identifier: MIT
// Unoptimised, optimised and sanitized builds give the same bits. A program sees only its own build, so the
// hashes are those of a recorded run: they are there for determinism alone and say nothing about right or
// wrong. Renew them when motion is meant to change. They hold for the default THRUM_ARCH with GCC or Clang
// and glibc 2.36.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/sim/world_fixture.h"
#include "thrum/shapes/shapes.h"

namespace thrum::sim {
namespace {

using namespace testing;

// A bit of everything: meshes, boxes, round bodies, bounces, rolling friction.
std::string hash_after_a_second(StepperKind stepper)
{
  WorldDesc desc = desc_without_sleep();
  desc.stepper = stepper;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.3, 0.5, 0.002, 0.001});
  add_plane(world);
  shapes::TorusDesc torus;
  torus.major_segments = 16;
  torus.minor_segments = 8;
  const model::Shape ring{
      model::Mesh{std::make_shared<mesh::TriangleMesh>(shapes::generate(torus)), nullptr}};
  for (int i = 0; i < 4; ++i) {
    const Quat turned = Quat(1, 0.2 * i, 0.1, 0.05 * i).normalized();
    add_box(world, {0.2, 0.3, 0.25}, {0.1 * i, 0.05 * i, 0.3 + 0.6 * i}, 1 + i, turned);
    add(world, {model::Sphere{0.2}}, {1.0, 0.03 * i, 0.25 + 0.5 * i}, 2);
    add(world, {model::Capsule{0.1, 0.3}}, {-1.0, 0.02 * i, 0.3 + 0.4 * i}, 1.5, turned);
    add(world, {model::Cylinder{0.2, 0.1}}, {0.02 * i, 1.2, 0.2 + 0.5 * i}, 1, turned);
    add(world, ring, {0.05 * i, -1.8, 0.3 + 0.5 * i}, 10, turned);
  }
  run(world, 1);
  return base::to_hex(world.hash());
}

TEST(StateHash, ConstraintStepperHasTheSameBitsInEveryBuild)
{
  EXPECT_EQ(hash_after_a_second(StepperKind::constraint), "9f779e599af8d3d4afb834d49f6aef2c");
}

TEST(StateHash, ImpulseStepperHasTheSameBitsInEveryBuild)
{
  EXPECT_EQ(hash_after_a_second(StepperKind::impulse), "782a0fc06c585f309a8b586910009a03");
}

TEST(StateHash, PenaltyStepperHasTheSameBitsInEveryBuild)
{
  EXPECT_EQ(hash_after_a_second(StepperKind::penalty), "cf0523435d67b6e256be3bfba777aebc");
}

}  // namespace
}  // namespace thrum::sim
