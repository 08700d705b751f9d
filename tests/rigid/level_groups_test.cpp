// SPDX-License-Identifier: MIT
// In shock propagation, patches of a level that share no body that moves there are settled apart.
#include <gtest/gtest.h>

#include "tests/rigid/pile.h"
#include "thrum/rigid/contact_rows.h"

namespace thrum::rigid {
namespace {

using namespace testing;

constexpr int kRounds = 3;          ///< over a level, at most
constexpr double kImpactSpeed = 1;  ///< [m/s]
/// Both rounds but the last change a speed of the plank by more than this [m/s].
constexpr double kMinChange = 0.1;
constexpr model::BodyIndex kPlank = 3;  ///< on both supports
constexpr model::BodyIndex kBrick = 4;  ///< on the second one

// Four points of a square of side 2 `half` about `centre`.
void add_square(Pile& pile, model::BodyIndex a, model::BodyIndex b, const Vec3& centre, double half)
{
  pile.touch(a, b);
  model::ContactPatch& patch = pile.state.patches.back();
  patch.count = 4;
  for (std::size_t k = 0; k < 4; ++k) {
    const Vec3 corner(k % 2 == 0 ? -half : half, k < 2 ? -half : half, 0);
    patch.points[k].position = patch.points[k].reference_position = centre + corner;
  }
}

// A plank falls with its ends on supports 1 and 2, a brick on support 2 beside it. Patch 4 is the brick's.
Pile plank_and_brick()
{
  Pile pile(4);
  const std::array<Vec3, 5> centres{Vec3::Zero(), Vec3(0, 0, 0.5), Vec3(2, 0, 0.5), Vec3(0.9, 0, 1.5),
                                    Vec3(2.6, 0, 1.5)};
  for (std::size_t i = 1; i < centres.size(); ++i) {
    pile.model.bodies[i].mass = 1;
    pile.model.bodies[i].inertia = Mat3::Identity() / 6;
    pile.state.bodies[i].X_wb.position = centres[i];
  }
  for (const model::BodyIndex support : {1, 2})
    add_square(pile, 0, support, centres[at(support)] - Vec3(0, 0, 0.5), 0.5);
  add_square(pile, 1, kPlank, {0.1, 0.1, 1}, 0.05);
  add_square(pile, 2, kPlank, {1.8, -0.1, 1}, 0.05);
  add_square(pile, 2, kBrick, {2.6, 0, 1}, 0.2);
  return pile;
}

struct Velocities {
  SolverBody plank;
  SolverBody brick;
};

// After shock propagation over the patches of `order`, all in one island.
Velocities velocities_after_shock(const std::vector<std::int32_t>& order, double settled)
{
  Pile pile = plank_and_brick();
  const std::vector<std::int32_t> levels{0, 1, 1, 2, 2};
  const std::vector<std::int32_t> found_again(pile.state.patches.size(), model::kNone);
  const std::vector<model::Surface> surfaces(pile.state.patches.size(), model::Surface{0, 0.5, 0, 0});
  const StepFrame frame{pile.model, pile.state, order,       surfaces, levels, 3,
                        {},         {},         found_again, false,    kStep};
  const ConstraintSettings settings;
  SolverBodies bodies;
  bodies.load(pile.model, pile.state);
  ContactRows rows;
  rows.build(frame, settings, bodies);
  rows.hold_lower_bodies(bodies, levels, kStep);
  rows.set_islands({model::kNone, 0, 0, 0, 0}, 1);
  const IslandFlags all(2, 1);
  const auto throw_down = [&] {
    for (SolverBody& body : bodies.all()) body.v = body.w = Vec3::Zero();
    bodies[kPlank].v.z() = bodies[kBrick].v.z() = -kImpactSpeed;
  };
  // The sweep tells that there is something to settle on the level of the two. It comes to the brick first,
  // which is not changed by the plank in it.
  throw_down();
  rows.set_bias(bodies, kStep, false, all);
  rows.sweep(bodies, settings, true, all);
  throw_down();
  rows.shock_sweep(bodies, settings, kRounds, settled, all);
  return {bodies[kPlank], bodies[kBrick]};
}

// The plank, which lies on two others, takes more rounds than the brick. That changes no bit of the brick's
// motion, although the two are in one island and lean on the same body: the brick goes on until it has
// settled, and no longer.
TEST(LevelGroups, SettleApartWithinAnIsland)
{
  for (double settled = 0.5 * kImpactSpeed; settled > 1e-7; settled /= 2) {
    const SolverBody alone = velocities_after_shock({0, 1, 4}, settled).brick;
    const SolverBody beside = velocities_after_shock({0, 1, 2, 3, 4}, settled).brick;
    EXPECT_EQ(beside.v, alone.v) << "settled " << settled;
    EXPECT_EQ(beside.w, alone.w) << "settled " << settled;
  }
}

// The plank's two patches are one group: while one of them changes much, the other is visited again as well.
TEST(LevelGroups, PatchesOfOneBodySettleTogether)
{
  const SolverBody all_rounds = velocities_after_shock({0, 1, 2, 3, 4}, 1e-6).plank;
  for (double settled = kMinChange; settled > 1e-6; settled /= 1.3) {
    const SolverBody plank = velocities_after_shock({0, 1, 2, 3, 4}, settled).plank;
    EXPECT_EQ(plank.v, all_rounds.v) << "settled " << settled;
    EXPECT_EQ(plank.w, all_rounds.w) << "settled " << settled;
  }
  EXPECT_LT(all_rounds.v.norm(), 0.1 * kImpactSpeed);
}

}  // namespace
}  // namespace thrum::rigid
