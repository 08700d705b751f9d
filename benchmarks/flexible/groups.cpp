// SPDX-License-Identifier: MIT
// The cost of the flexible stepper: a group of many contacts, and scenes beside Table 2 of [Zheng11].
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "benchmarks/harness.h"
#include "tests/support/source_dir.h"
#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/flexible_report.h"
#include "thrum/model/modal_model.h"
#include "thrum/scene/build_world.h"

namespace thrum::bench {
namespace {

const std::filesystem::path kScenes = support::source_dir() / "scenes";

/// A plate with 72 modes and 10 rigid bodies on it, as the table of the paper.
struct Table {
  static constexpr int kModes = 72;
  static constexpr int kBodies = 10;
  elastic::ModeList modes;
  std::vector<std::vector<double>> shapes;  ///< of the contacts
  std::vector<Vec3> arms;
  double stiffness = 5e8;
  double mass = 0.5;

  explicit Table(int contacts)
  {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> u(-1, 1);
    modes.omegas = VecX::LinSpaced(kModes, 200, 31e3);
    modes.decays = VecX::Constant(kModes, 30);
    for (int i = 0; i < contacts; ++i) {
      std::vector<double> shape;
      for (int m = 0; m < kModes; ++m) shape.push_back(0.5 * u(random));
      shapes.push_back(shape);
      arms.push_back(0.08 * Vec3(u(random), u(random), -0.5));
    }
  }

  void fill(flexible::ContactGroup& group, double drop) const
  {
    group.clear();
    const int plate = group.add_body({.modes = &modes, .weight = 50});
    std::vector<int> bodies;
    for (int b = 0; b < kBodies; ++b)
      bodies.push_back(group.add_body({.moves = true,
                                       .inverse_mass = 1 / mass,
                                       .inverse_inertia = Vec3::Constant(1 / (0.0025 * mass)),
                                       .velocity = Vec3(0, 0, b == 0 ? -drop : 0),
                                       .acceleration = Vec3(0, 0, -9.81),
                                       .weight = 5}));
    const double share = mass * 9.81 * kBodies / static_cast<double>(shapes.size());
    const elastic::HeldContact law{stiffness, 20};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      std::vector<double> down;
      for (const double s : shapes[i]) down.push_back(-s);
      const int row = group.add_row({plate, Vec3::Zero(), Vec3::Zero(), down},
                                    {bodies[i % kBodies], Vec3::UnitZ(), arms[i].cross(Vec3::UnitZ()), {}});
      group.begin_patch();
      (void)group.add_contact(row, law, law.indentation(share), share);
    }
  }
};

// What a careful person would write: the matrix of (1) and Newton's method with a factorisation a step.
double dense_newton_seconds(const Table& table, double dt)
{
  const auto n = static_cast<Eigen::Index>(table.shapes.size());
  const Eigen::Index columns = Table::kModes + 6 * Table::kBodies;
  MatX J = MatX::Zero(n, columns);
  VecX W(columns);
  for (Eigen::Index m = 0; m < Table::kModes; ++m)
    W[m] = (1 - std::cos(table.modes.omegas[m] * dt)) / std::pow(table.modes.omegas[m], 2);
  for (Eigen::Index b = 0; b < Table::kBodies; ++b) {
    W.segment(Table::kModes + 6 * b, 3).setConstant(0.5 * dt * dt / table.mass);
    W.segment(Table::kModes + 6 * b + 3, 3).setConstant(0.5 * dt * dt / (0.0025 * table.mass));
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index m = 0; m < Table::kModes; ++m) J(i, m) = -table.shapes[at(i)][at(m)];
    const Eigen::Index first = Table::kModes + 6 * (i % Table::kBodies);
    J(i, first + 2) = 1;
    J.block<1, 3>(i, first + 3) = table.arms[at(i)].cross(Vec3::UnitZ()).transpose();
  }
  const elastic::HeldContact law{table.stiffness, 0};
  const double d0 = law.indentation(table.mass * 9.81 * Table::kBodies / static_cast<double>(n));
  return min_cpu_seconds(
      [&] {
        const MatX R = J * W.asDiagonal() * J.transpose();
        VecX F = VecX::Constant(n, 0.1);
        for (int step = 0; step < 4; ++step) {
          const VecX d = VecX::Constant(n, d0 * 1.1) - R * F;
          VecX value(n), slope(n);
          for (Eigen::Index i = 0; i < n; ++i) {
            const elastic::HeldForce force = elastic::held_force(law, d0, d[i], 0);
            value[i] = F[i] - force.force;
            slope[i] = force.slope;
          }
          MatX A = slope.asDiagonal() * R;
          A.diagonal().array() += 1;
          F -= A.partialPivLu().solve(value);
        }
      },
      3);
}

// Of rigid motion and of the modes that take part, as the "max DOF" of the paper.
std::size_t coordinates(const sim::World& world)
{
  std::size_t count = 0;
  for (const model::BodyProperties& body : world.model().bodies)
    count += body.motion == model::Motion::dynamic ? 6 : 0;
  for (const model::BodyId id : world.bodies()) {
    const auto modes = world.modes_of(id);
    if (!modes) continue;
    const double highest = world.desc().flexible.max_frequency;
    for (const double f : modes->frequencies) count += f <= highest ? 1 : 0;
  }
  return count;
}

}  // namespace

THRUM_BENCHMARK(flexible, group)
{
  for (const int contacts : {60, 300}) {
    const Table table(contacts);
    flexible::FlexibleSettings settings;
    settings.adapt_modes = false;
    flexible::ContactGroup group;
    const double slice = 1e-3;
    double substeps = 1;
    for (const double drop : {0.0, 1.0}) {
      const double seconds = min_cpu_seconds(
          [&] {
            table.fill(group, drop);
            group.advance(slice, settings);
            substeps = static_cast<double>(group.report().substeps);
          },
          3);
      report.row({.name = fmt::format("{} contacts x 132 coordinates, {}: a substep", contacts,
                                      drop > 0 ? "impact" : "at rest"),
                  .figure = 1e6 * seconds / substeps,
                  .unit = "us",
                  .baseline = "dense Newton",
                  .baseline_value = 1e6 * dense_newton_seconds(table, slice / substeps)});
    }
  }
}

// Dynamics of one simulated second; the paper had eight cores.
THRUM_BENCHMARK(flexible, paper)
{
  struct PaperScene {
    const char* name;
    const char* scene;
    std::vector<std::string> settings;
    double hours, seconds;  ///< of the paper
  };
  const std::vector<PaperScene> rows = {
      {"ruler: 92 modes to 20 kHz", "ruler", {}, 0.08, 2},
      // As far as the modes of the paper: its pitch is then 7 to 18 % too high.
      {"ruler: 29 modes to 5 kHz",
       "ruler",
       {"stepper.flexible.max_frequency=5000", "stepper.flexible.steps_per_period=6.5"},
       0.08,
       2},
      {"table: 72 modes, 10 bodies", "table", {}, 4.8, 3},
      {"mug, rigid", "mug_poses", {}, 0.12, 3},
      {"tuning fork, rigid", "tuning_fork", {}, 0.08, 2},
      {"pipes, small and rigid", "pipes", {}, 6.3, 12.2},
      {"pipes from a feeder", "pipes_full", {}, 6.3, 12.2},
      {"marble track, small", "marble_track", {}, 9.6, 3.5},
      {"marble track", "marble_track_full", {}, 9.6, 3.5},
      {"cart, small", "cart", {}, 4.7, 4},
      {"cart", "cart_full", {}, 4.7, 4},
  };
  for (const PaperScene& row : rows) {
    std::vector<std::string> settings = row.settings;
    settings.emplace_back("stepper.kind=flexible");
    const scene::SceneDesc desc =
        scene::read_scene(kScenes / (std::string(row.scene) + ".json"), {.settings = settings});
    scene::BuiltScene built = scene::build_world(desc);
    const int steps = static_cast<int>(std::lround(desc.duration / desc.step));
    const double seconds = cpu_seconds_once([&] {
      for (int i = 0; i < steps; ++i) built.step(i * desc.step, desc.step);
    });
    const flexible::FlexibleReport& work = built.world.flexible_report();
    report.row({.name = fmt::format("{}: a simulated second", row.name),
                .figure = seconds / desc.duration,
                .unit = "s",
                .baseline = "[Zheng11], 8 cores",
                .baseline_value = 3600 * row.hours / row.seconds,
                .target_ratio = 100});
    report.note(
        fmt::format("{}: {} coordinates, {} substeps, {} sweeps, {} unsolved, up to {} contacts in a group",
                    row.scene, coordinates(built.world), work.groups.substeps, work.groups.sweeps,
                    work.groups.unsolved, work.max_contacts));
  }
}

}  // namespace thrum::bench
