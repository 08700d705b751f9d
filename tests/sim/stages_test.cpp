// SPDX-License-Identifier: MIT
// The profile, the step and its page in the docs have the same stages; what a step reports stays until the
// next.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/sim/world_fixture.h"
#include "tests/support/source_dir.h"
#include "thrum/base/error.h"

namespace thrum::sim {
namespace {

using namespace testing;

// The names of the stages in docs/the-step.md: its third-level headings.
std::vector<std::string> documented_stages()
{
  std::ifstream page(support::source_dir() / "docs/the-step.md");
  std::vector<std::string> names;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("### ")) names.push_back(line.substr(4));
  }
  return names;
}

TEST(Stages, OfAllSteppersAreThoseOfTheDocs)
{
  const std::vector<std::string> documented = documented_stages();
  EXPECT_FALSE(documented.empty());
  for (const StepperKind stepper :
       {StepperKind::constraint, StepperKind::impulse, StepperKind::penalty, StepperKind::flexible}) {
    WorldDesc desc;
    desc.stepper = stepper;
    World world(desc);
    add_plane(world);
    add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
    StepObserver looks_on;
    world.add_observer(looks_on);
    run(world, 0.1);
    std::vector<std::string> measured;
    for (const base::StageRow& row : world.times().rows()) {
      if (row.depth == 1) measured.push_back(row.name);
    }
    EXPECT_EQ(measured, documented);
  }
}

// A sliding box: velocities that are set afterwards do not change what the step reported.
TEST(Stages, ReportsOfAStepStayUntilTheNext)
{
  World world(desc_without_sleep());
  world.set_surface(model::kDefaultSurface, {0, 0.1, 0, 0});
  add_plane(world);
  const model::BodyId box = add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  world.set_velocity(box, {3, 0, 0}, Vec3::Zero());
  world.step(kStep);
  world.set_velocity(box, {-8, 0, 0}, Vec3::Zero());
  ASSERT_EQ(world.contacts().size(), 4U);
  // The plane is body 0, and b of the contact is either.
  for (const model::Contact& contact : world.contacts())
    EXPECT_NEAR(contact.slip_velocity.norm(), 3 - 0.1 * 9.81 * kStep, 0.01);
  EXPECT_FALSE(world.events().empty());
  EXPECT_EQ(world.impulses().size(), 8U);
}

TEST(Stages, AReportThatIsSwitchedOffIsAnErrorAndNotEmpty)
{
  World world(desc_without_sleep());
  add_plane(world);
  add_box(world, Vec3::Constant(0.5), {0, 0, 0.5});
  world.set_reports({.contacts = false, .impulses = true, .events = false});
  world.step(kStep);
  EXPECT_THROW(static_cast<void>(world.contacts()), Error);
  EXPECT_THROW(static_cast<void>(world.events()), Error);
  EXPECT_EQ(world.impulses().size(), 8U);
  world.set_reports({});
  world.step(kStep);
  EXPECT_EQ(world.contacts().size(), 4U);
}

}  // namespace
}  // namespace thrum::sim
