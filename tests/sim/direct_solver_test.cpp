// SPDX-License-Identifier: MIT
// The direct solver and the sweeps solve the same rows, so they must agree.
#include <gtest/gtest.h>

#include "tests/sim/world_fixture.h"

namespace thrum::sim {
namespace {

using namespace testing;

WorldDesc solver(rigid::RowSolver kind)
{
  WorldDesc desc = desc_without_sleep();
  desc.constraint.solver = kind;
  desc.constraint.order = rigid::SweepOrder::unsorted;
  desc.constraint.friction = rigid::FrictionCone::box;
  desc.constraint.iterations = kind == rigid::RowSolver::direct ? 1 : 200;
  return desc;
}

World small_scene(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.3, 0, 0});
  add_plane(world);
  add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  const model::BodyId top = add_box(world, {0.4, 0.4, 0.3}, {0.1, 0, 1.3}, 5);
  world.set_velocity(top, {1, 0, 0}, Vec3::Zero());
  return world;
}

TEST(DirectSolver, AgreesWithManySweepsWhileABoxSlidesOnAnother)
{
  World direct = small_scene(solver(rigid::RowSolver::direct));
  World sweeps = small_scene(solver(rigid::RowSolver::gauss_seidel));
  for (int i = 0; i < 20; ++i) {
    direct.step(kStep);
    sweeps.step(kStep);
  }
  for (const model::BodyIndex i : {1, 2}) {
    const model::BodyState& a = direct.body(direct.id_of(i));
    const model::BodyState& b = sweeps.body(sweeps.id_of(i));
    EXPECT_NEAR((a.X_wb.position - b.X_wb.position).norm(), 0, 2e-3);
    EXPECT_NEAR((a.velocity - b.velocity).norm(), 0, 2e-2);
  }
}

TEST(DirectSolver, HoldsAHeavyBoxOnALightOne)
{
  World world(solver(rigid::RowSolver::direct));
  add_plane(world);
  const model::BodyId light = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5}, 1);
  const model::BodyId heavy = add_box(world, Vec3::Constant(0.5), {0, 0, 1.5}, 1000);
  run(world, 1);
  EXPECT_NEAR(world.body(light).X_wb.position.z(), 0.5, 1e-4);
  EXPECT_NEAR(world.body(heavy).X_wb.position.z(), 1.5, 2e-4);
}

}  // namespace
}  // namespace thrum::sim
