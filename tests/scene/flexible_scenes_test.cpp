// SPDX-License-Identifier: MIT
// The scenes of the flexible stepper, each by its outcome.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <span>
#include <tuple>
#include <vector>

#include "tests/scene/played.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/model/modal_model.h"
#include "thrum/scene/run_warnings.h"

namespace thrum::scene {
namespace {

constexpr double g = 9.81;

// A ball that rolls without slipping in a groove of 90 degrees touches it at R / sqrt(2) from its axis, so
// that its spin takes 4/5 of what its motion does: it gains g sin(a) / 1.8.
TEST(FlexibleScenes, AMarbleRollsDownItsTrackAsInAGroove)
{
  const double slope = 6 * std::acos(-1.0) / 180;
  for (const double step : {0.004, 0.0017}) {
    Played scene("marble_track.json", {fmt::format("step={}", step)});
    const std::size_t marble = scene.find("marble_0");
    const double time = 1.2;
    scene.play(time);
    const Vec3 moved = scene.moved(marble);
    const double expected = 0.5 * g * std::sin(slope) / 1.8 * scene.time * scene.time;
    EXPECT_NEAR(std::hypot(moved.x(), moved.z()), expected, 0.03 * expected) << step;
    EXPECT_NEAR(moved.y(), 0, 1e-3) << step;
  }
}

// The cart leaves the curb and goes on along the street, upright, with all that stands on it.
TEST(FlexibleScenes, TheCartRollsOffTheCurbWithItsLoad)
{
  for (const double step : {0.004, 0.002}) {
    Played scene("cart.json", {fmt::format("step={}", step)});
    const std::size_t bed = scene.find("bed");
    const double before = scene.built.world.kinetic_energy() + scene.built.world.potential_energy();
    scene.play(2.5);
    const Vec3 moved = scene.moved(bed);
    EXPECT_GT(moved.x(), 2.0) << step;
    EXPECT_NEAR(moved.z(), -0.05, 0.005) << step;
    const auto& bodies = scene.built.world.state().bodies;
    for (const char* load : {"pot", "cup", "bowl"}) {
      const Vec3 away = scene.moved(scene.find(load)) - moved;
      EXPECT_LT(std::abs(away.x()), 0.3) << load << " " << step;
      EXPECT_LT(std::abs(away.y()), 0.18) << load << " " << step;
      EXPECT_GT(away.z(), -0.01) << load << " " << step;
    }
    EXPECT_GT((bodies[bed].X_wb.rotation * (scene.start[bed].rotation.conjugate() * Vec3::UnitZ())).z(),
              0.99);
    EXPECT_LT(scene.built.world.kinetic_energy() + scene.built.world.potential_energy(), before) << step;
    EXPECT_GT(scene.built.world.flexible_report().groups.substeps, 0U);
  }
}

// The table throws up all that stands on it, nothing falls off or over, and energy only gets less.
TEST(FlexibleScenes, TheRabbitMakesTheDishesJump)
{
  for (const double step : {0.005, 0.002}) {
    Played scene("table.json", {fmt::format("step={}", step)});
    const sim::World& world = scene.built.world;
    const std::vector<std::string> dishes = {"plate_left/0",  "plate_left/1", "plate_right/0",
                                             "plate_right/1", "cup_left",     "cup_right",
                                             "bowl",          "bowl_far",     "candlestick"};
    const auto energy = [&] {
      return world.kinetic_energy() + world.potential_energy() + world.vibration_energy() +
             world.contact_energy();
    };
    std::vector<double> rises(dishes.size(), 0);
    const double drop = 3 * g * 0.4;
    double before = energy();
    while (scene.time < 0.8) {
      scene.play(step);
      for (std::size_t i = 0; i < dishes.size(); ++i)
        rises[i] = std::max(rises[i], scene.moved(scene.find(dishes[i])).z());
      EXPECT_LT(energy(), before + 0.002 * drop) << scene.time << " " << step;
      before = energy();
    }
    for (std::size_t i = 0; i < dishes.size(); ++i) {
      EXPECT_GT(rises[i], 0.0015) << dishes[i] << " " << step;
      EXPECT_LT(rises[i], 0.02) << dishes[i] << " " << step;
      EXPECT_LT(scene.moved(scene.find(dishes[i])).norm(), 0.03) << dishes[i] << " " << step;
    }
    const std::size_t rabbit = scene.find("rabbit");
    EXPECT_NEAR(scene.moved(rabbit).z(), -0.405, 0.02) << step;
    EXPECT_LT(scene.moved(rabbit).head<2>().norm(), 0.1) << step;
  }
}

// Height of the end of a body that is bent, above where it is straight [m].
double end_of(const BuiltScene& built, model::BodyId id)
{
  const std::shared_ptr<const model::ModalModel> model = built.world.modes_of(id);
  const auto& vertices = model->surface.vertices;
  const auto end = std::max_element(vertices.begin(), vertices.end(), [](const Vec3& p, const Vec3& q) {
    return std::tuple(p.x(), p.y()) < std::tuple(q.x(), q.y());
  });
  const auto row = 3 * static_cast<Eigen::Index>(end - vertices.begin()) + 2;
  double height = 0;
  for (const model::ModalState& ring : built.world.state().modal_states) {
    if (ring.body != id) continue;
    for (std::size_t m = 0; m < ring.q.size(); ++m)
      height += ring.q[m] * model->shapes(row, static_cast<Eigen::Index>(m));
  }
  return height;
}

// The frequency near `guess` that is strongest in samples of spacing h, under a Hann window [Hz].
double strongest_frequency(std::span<const double> samples, double h, double guess)
{
  double mean = 0;
  for (const double z : samples) mean += z / static_cast<double>(samples.size());
  double strongest = 0;
  double best = 0;
  for (double f = 0.6 * guess; f < 1.6 * guess; f += 0.002 * guess) {
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(samples.size());
      const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * share);
      sum += window * (samples[i] - mean) *
             std::polar(1.0, 2 * std::numbers::pi * f * h * static_cast<double>(i));
    }
    if (std::abs(sum) <= strongest) continue;
    strongest = std::abs(sum);
    best = f;
  }
  return best;
}

// A cantilever of the free length L has 0.1615 t / L^2 sqrt(E / rho); a strip as wide as this ruler 1 % more.
TEST(FlexibleScenes, TheRulerSoundsAsACantileverOfItsFreeLength)
{
  const double speed_of_sound = std::sqrt(2e11 / 7850);
  const double thickness = 0.001;
  for (const double step : {0.001, 0.0016}) {
    Played scene("ruler.json", {fmt::format("step={}", step)});
    const std::size_t ruler = scene.find("ruler");
    const model::BodyId id = scene.built.world.state().body_ids[ruler];
    scene.play(0.15);
    const double window = 0.1;
    while (scene.time < 0.6) {
      std::vector<double> ends;
      double middle = 0;
      for (int i = 0; i < static_cast<int>(window / step); ++i) {
        scene.play(step);
        ends.push_back(end_of(scene.built, id));
        if (ends.size() == static_cast<std::size_t>(0.5 * window / step))
          middle = 0.2 + scene.moved(ruler).x();
      }
      const double expected = 0.1615 * thickness / (middle * middle) * speed_of_sound;
      EXPECT_NEAR(strongest_frequency(ends, step, expected) / expected, 1, 0.03)
          << "free length " << middle << ", step " << step;
    }
    EXPECT_EQ(scene.built.world.flexible_report().groups.unsolved, 0U);
  }
}

// Contacts are found again every 2 or 1 ms. While the ruler is drawn back the forces on its modes change
// there as they do from one substep to the next, and by a small part of themselves: else its sound has lines
// at multiples of the rate of the slices.
TEST(FlexibleScenes, TheForcesOnTheRulerAreSmoothWhereContactsAreFoundAgain)
{
  for (const double step : {0.002, 0.001}) {
    Played scene("ruler.json", {fmt::format("step={}", step)});
    scene.play(0.5);
    double at_borders = 0, within = 0, forces = 0;
    int borders = 0, others = 0;
    std::vector<double> last;
    while (scene.time < 0.9) {
      scene.play(step);
      const auto& records = scene.built.world.flexible_report().modal_forces;
      ASSERT_EQ(records.size(), 1U);
      const std::size_t substeps = records[0].durations.size();
      const std::size_t modes = records[0].forces.size() / substeps;
      for (std::size_t k = 0; k < substeps; ++k) {
        const auto now = std::span(records[0].forces).subspan(k * modes, modes);
        double change = 0;
        for (std::size_t m = 0; m < modes && !last.empty(); ++m)
          change += (now[m] - last[m]) * (now[m] - last[m]);
        for (const double f : now) forces += f * f;
        (k == 0 ? at_borders : within) += change;
        ++(k == 0 ? borders : others);
        last.assign(now.begin(), now.end());
      }
    }
    const double size = std::sqrt(forces / (borders + others));
    EXPECT_LT(std::sqrt(at_borders / borders), 2 * std::sqrt(within / others)) << step;
    EXPECT_LT(std::sqrt(within / others), 0.2 * size) << step;
  }
}

// A ruler with too few modes gives a warning; that of the scene does not.
TEST(FlexibleScenes, TooFewWavesUnderTheHandAreAWarning)
{
  for (const double highest : {5000.0, 20000.0}) {
    Played scene("ruler.json", {fmt::format("stepper.flexible.max_frequency={}", highest)});
    scene.play(0.05);
    const std::vector<std::string> warnings = limit_warnings(scene.built.world);
    const bool warned = std::any_of(warnings.begin(), warnings.end(), [](const std::string& sentence) {
      return sentence.starts_with("Body 'ruler' is held over");
    });
    EXPECT_EQ(warned, highest < 10000) << highest;
  }
}

// Of one sweep that must do: the run says how many substeps it did not solve.
TEST(FlexibleScenes, ARunSaysWhatWasNotSolved)
{
  Played scene("cart.json", {"stepper.flexible.iterations=1", "stepper.flexible.contact=hard"});
  scene.play(0.02);
  const flexible::GroupReport& groups = scene.built.world.flexible_report().groups;
  EXPECT_GT(groups.unsolved, 0U);
  EXPECT_GT(groups.max_residual, 1e-9);
  const std::vector<std::string> warnings = limit_warnings(scene.built.world);
  const std::string begin =
      fmt::format("{} of {} substeps were not solved", groups.unsolved, groups.substeps);
  EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(),
                          [&](const std::string& sentence) { return sentence.rfind(begin, 0) == 0; }));
}

}  // namespace
}  // namespace thrum::scene
