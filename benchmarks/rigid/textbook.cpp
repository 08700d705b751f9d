// SPDX-License-Identifier: MIT
// Motions that textbooks give, with both steppers at four lengths of the step: the table of
// docs/methods/textbook_cases.md. The tests hold the same cases to their tolerances; this shows the figures.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/textbook.h"
#include "tests/sim/world_fixture.h"

namespace thrum::bench {

namespace {

using sim::StepperKind;
using sim::World;
using sim::WorldDesc;
using sim::testing::add;
using sim::testing::add_box;
using sim::testing::add_plane;

constexpr double g = 9.81;
constexpr std::array kRates = {25, 60, 144, 333};  ///< steps a second

WorldDesc desc_of(StepperKind stepper)
{
  WorldDesc desc = sim::testing::desc_without_sleep();
  desc.stepper = stepper;
  desc.threads = 1;
  return desc;
}

WorldDesc free_space(StepperKind stepper)
{
  WorldDesc desc = desc_of(stepper);
  desc.gravity.setZero();
  return desc;
}

// A disc of 0.1 m on a rod of 0.1 m without mass, which turns about the origin in a ball joint, its axis
// level: steady precession needs I s W = m g l.
std::string heavy_top(StepperKind stepper, double h)
{
  constexpr double kRadius = 0.1;
  constexpr double kRod = 0.1;
  constexpr double kPrecession = 2.44;
  World world(desc_of(stepper));
  const Quat level(Eigen::AngleAxisd(std::numbers::pi / 2, Vec3::UnitY()));
  const Vec3 axis = level * Vec3::UnitZ();
  const auto disc = add(world, {model::Cylinder{kRadius, 0.01}}, kRod * axis, 1, level);
  model::JointDesc joint;
  joint.kind = model::JointKind::ball;
  joint.a = disc;
  joint.X_aj.position = Vec3(0, 0, -kRod);
  world.add_joint(joint);
  const double spin = g * kRod / kPrecession / (0.5 * kRadius * kRadius);
  const Vec3 w = kPrecession * Vec3::UnitZ() + spin * axis;
  world.set_velocity(disc, w.cross(kRod * axis), w);
  double angle = 0;
  double nutation = 0;
  Vec3 last = axis;
  const int steps = static_cast<int>(std::lround(5 / h));
  for (int i = 0; i < steps; ++i) {
    world.step(h);
    const Vec3 now = world.body(disc).X_wb.direction(Vec3::UnitZ());
    angle += std::atan2(last.x() * now.y() - last.y() * now.x(), last.x() * now.x() + last.y() * now.y());
    nutation = std::max(nutation, std::abs(std::asin(std::clamp(now.z(), -1.0, 1.0))));
    last = now;
  }
  return fmt::format("{:.3f}, {:.4f}", angle / (steps * h), nutation);
}

// Thrown flat at 30 degrees to its sides, until it rests after v^2 / (2 mu g).
std::string thrown_box(StepperKind stepper, double h)
{
  constexpr double kMu = 0.4;
  constexpr double kSpeed = 3;
  World world(desc_of(stepper));
  world.set_surface(model::kDefaultSurface, {0, kMu, 0, 0});
  add_plane(world);
  const auto box = add_box(world, {0.2, 0.1, 0.05}, {0, 0, 0.05});
  const Vec3 direction(std::cos(std::numbers::pi / 6), std::sin(std::numbers::pi / 6), 0);
  world.set_velocity(box, kSpeed * direction, Vec3::Zero());
  double across = 0;
  double along = 0;
  for (double t = 0; t < 1.2 * kSpeed / (kMu * g); t += h) {
    world.step(h);
    const Vec3 moved = world.body(box).X_wb.position - Vec3(0, 0, 0.05);
    across = std::max(across, std::abs(moved.dot(Vec3(-direction.y(), direction.x(), 0))));
    along = moved.dot(direction);
  }
  return fmt::format("{:.2f} mm, {:+.1f} %", 1e3 * across,
                     100 * (along / (kSpeed * kSpeed / (2 * kMu * g)) - 1));
}

std::string row_of_balls(StepperKind stepper, double h)
{
  World world(free_space(stepper));
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  model::BodyId last;
  for (int i = 0; i < 5; ++i) {
    last = add(world, {model::Sphere{0.1}}, {0.2 * i - (i == 0 ? 0.137 : 0.0), 0, 0});
    if (i == 0) world.set_velocity(last, Vec3::UnitX(), Vec3::Zero());
  }
  sim::testing::run(world, 0.4, h);
  return fmt::format("{:.4f}", world.body(last).velocity.x());
}

std::string one_onto_two(StepperKind stepper, double h)
{
  constexpr double kRadius = 0.1;
  World world(free_space(stepper));
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  const auto up = add(world, {model::Sphere{kRadius}}, {0, kRadius, 0});
  const auto striker = add(world, {model::Sphere{kRadius}}, {-std::sqrt(3.0) * kRadius - 0.153, 0, 0});
  const auto down = add(world, {model::Sphere{kRadius}}, {0, -kRadius, 0});
  world.set_velocity(striker, Vec3::UnitX(), Vec3::Zero());
  sim::testing::run(world, 0.4, h);
  return fmt::format("{:.4f}, {:.0e}", world.body(striker).velocity.x(),
                     (world.body(up).velocity + world.body(down).velocity).cross(Vec3::UnitX()).norm());
}

// Nine balls in a diamond on a table, struck in the middle.
std::string nine_ball_break(StepperKind stepper, double h)
{
  constexpr double kRadius = 0.1;
  World world(desc_of(stepper));
  world.set_surface(model::kDefaultSurface, {0.95, 0.05, 0, 0});
  add_plane(world);
  std::vector<std::array<model::BodyId, 2>> mirrored;
  for (const int row : {-2, -1, 0, 1, 2}) {
    const std::size_t count = 3 - static_cast<std::size_t>(std::abs(row));
    std::vector<model::BodyId> balls;
    for (std::size_t k = 0; k < count; ++k)
      balls.push_back(
          add(world, {model::Sphere{kRadius}},
              {std::sqrt(3.0) * kRadius * row,
               kRadius * (2 * static_cast<double>(k) - static_cast<double>(count) + 1), kRadius}));
    for (std::size_t k = 0; k < count; ++k) mirrored.push_back({balls[k], balls[count - 1 - k]});
  }
  const auto cue = add(world, {model::Sphere{kRadius}}, {-0.8, 0, kRadius});
  world.set_velocity(cue, 3 * Vec3::UnitX(), Vec3::Zero());
  sim::testing::run(world, 0.6, h);
  double most = 0;
  for (const auto& [left, right] : mirrored) {
    const Vec3 p = world.body(left).X_wb.position;
    const Vec3 q = world.body(right).X_wb.position;
    most = std::max(most, (p - Vec3(q.x(), -q.y(), q.z())).norm());
  }
  return fmt::format("{:.0e} mm", 1e3 * most);
}

// When the last rebound of more than 1 mm ends: bounces of a ball that falls from 2 m.
std::string ball_to_rest(StepperKind stepper, double h)
{
  constexpr double kRadius = 0.1;
  World world(desc_of(stepper));
  world.set_surface(model::kDefaultSurface, {0.5, 0.3, 0, 0});
  add_plane(world);
  const auto ball = add(world, {model::Sphere{kRadius}}, {0, 0, 2 + kRadius});
  double last = 0;
  for (double t = h; t < 2.5; t += h) {
    world.step(h);
    const model::BodyState& b = world.body(ball);
    if (0.5 * b.velocity.squaredNorm() + g * (b.X_wb.position.z() - kRadius) > 1e-3 * g) last = t;
  }
  return fmt::format("{:.3f}", last);
}

double expected_rest()
{
  double v = 0.5 * std::sqrt(2 * g * 2);
  double rest = std::sqrt(2 * 2 / g);
  for (; 0.5 * v * v > 1e-3 * g; v *= 0.5) rest += 2 * v / g;
  return rest;
}

struct TextbookCase {
  const char* name;
  std::string expected;
  std::function<std::string(StepperKind, double)> figure;
};

std::vector<TextbookCase> textbook_cases()
{
  return {
      {"heavy top, 5 s: precession [rad/s], nutation [rad]", "2.440, 0", heavy_top},
      {"box thrown flat at 30 degrees: leaves its line, distance", "0, 0", thrown_box},
      {"five balls in a row, e = 1: speed of the last", "1", row_of_balls},
      {"one ball onto two, e = 1: striker, asymmetry", "-0.2, 0", one_onto_two},
      {"nine-ball break: distance from its mirror image", "0", nine_ball_break},
      {"torus mesh of 48 vertices rolls down 10 degrees, 3 s",
       fmt::format("{:.2f} m (smooth {:.2f})", way_of_rolling_polygon(48), way_of_rolling_polygon(3000)),
       [](StepperKind stepper, double h) {
         return fmt::format(
             "{:+.1f} %",
             100 * (way_of_rolling_mesh(48, desc_of(stepper), h) / way_of_rolling_polygon(48) - 1));
       }},
      {"row of dominoes, against 1/1000 s with constraint", "0",
       [](StepperKind stepper, double h) {
         static const double reference = speed_of_dominoes(desc_of(StepperKind::constraint), 1e-3);
         return fmt::format("{:+.1f} %", 100 * (speed_of_dominoes(desc_of(stepper), h) / reference - 1));
       }},
      {"ball with e = 0.5 from 2 m: its last bounce of 1 mm ends [s]", fmt::format("{:.3f}", expected_rest()),
       ball_to_rest},
      {"sphere rolls over coplanar triangles, 1 s: speed [m/s], hop [mm]", "3, 0",
       [](StepperKind stepper, double h) {
         const RolledSphere rolled = roll_over_triangles(desc_of(stepper), h);
         return fmt::format("{:.4f}, {:.4f}", rolled.speed, 1e3 * rolled.hop);
       }},
  };
}

}  // namespace

THRUM_BENCHMARK(rigid, textbook)
{
  std::string table =
      "| case | expected | stepper | 1/25 s | 1/60 s | 1/144 s | 1/333 s |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const TextbookCase& item : textbook_cases()) {
    for (const StepperKind stepper : {StepperKind::constraint, StepperKind::impulse}) {
      const bool first = stepper == StepperKind::constraint;
      table += fmt::format("| {} | {} | {} |", first ? item.name : "", first ? item.expected : "",
                           first ? "constraint" : "impulse");
      for (const int rate : kRates) table += fmt::format(" {} |", item.figure(stepper, 1.0 / rate));
      table += '\n';
    }
  }
  report.note(table);
}

}  // namespace thrum::bench
