// SPDX-License-Identifier: MIT
#include "benchmarks/methods/interference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "benchmarks/impact/scenes.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

namespace {

constexpr double kStep = 1.0 / 60;

model::Shape shape_of(mesh::TriangleMesh mesh)
{
  return {model::Mesh{std::make_shared<const mesh::TriangleMesh>(std::move(mesh)), nullptr}};
}

mesh::TriangleMesh scaled(mesh::TriangleMesh mesh, double size)
{
  for (Vec3& p : mesh.vertices) p *= size;
  return mesh;
}

/// Hills of 2 cells^2 triangles over 4 m, as in benchmarks/impact.
model::Shape hills(int cells)
{
  model::HeightField field;
  field.columns = field.rows = cells + 1;
  field.spacing = 4.0 / cells;
  auto heights = std::make_shared<std::vector<double>>();
  for (int row = 0; row <= cells; ++row) {
    for (int column = 0; column <= cells; ++column)
      heights->push_back(0.15 * std::sin(7.0 * column / cells) * std::cos(9.0 * row / cells));
  }
  field.heights = heights;
  return {field};
}

model::BodyId add(sim::World& world, model::ShapeId shape, const Vec3& position, const Vec3& velocity,
                  model::Motion motion = model::Motion::dynamic)
{
  sim::BodyDesc body;
  body.shape = shape;
  body.motion = motion;
  body.X_ws = {position, motion == model::Motion::dynamic ? Quat(1, 0.3 * position.x(), 0.2, 0.1).normalized()
                                                          : Quat::Identity()};
  body.mass = 1;
  body.velocity = velocity;
  return world.add_body(body);
}

sim::World heads_on_hills(const sim::WorldDesc& desc)
{
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface, {0.3, 0.4, 0, 0});
  add(world, world.add_shape(hills(39)), {-2, -2, 0}, Vec3::Zero(), model::Motion::fixed);
  const model::ShapeId head = world.add_shape(shape_of(scaled(head_mesh(36, 27), 0.4)));
  for (int i = 0; i < 9; ++i)
    add(world, head, {0.8 * (i % 3 - 1), 0.8 * (i / 3 - 1), 0.5 + 0.05 * i}, Vec3::Zero());
  return world;
}

sim::World heap_of_rings(const sim::WorldDesc& desc)
{
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.4, 0, 0});
  add(world, world.add_shape(hills(20)), {-2, -2, 0}, Vec3::Zero(), model::Motion::fixed);
  const model::ShapeId ring = world.add_shape(shape_of(scaled(ring_mesh(24, 12), 0.4)));
  for (int i = 0; i < 16; ++i)
    add(world, ring, {0.3 * (i % 2 - 0.5), 0.3 * (i / 2 % 2 - 0.5), 0.5 + 0.25 * (i / 4)}, Vec3::Zero());
  return world;
}

sim::World rings_shot_at_a_plate(sim::WorldDesc desc)
{
  desc.gravity.setZero();
  sim::World world(desc);
  world.set_surface(model::kDefaultSurface, {0.5, 0.3, 0, 0});
  mesh::TriangleMesh box;
  for (int i = 0; i < 8; ++i)
    box.vertices.emplace_back(i % 2 == 0 ? -2 : 2, i / 2 % 2 == 0 ? -2 : 2, i / 4 == 0 ? -0.02 : 0.02);
  box.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  add(world, world.add_shape(shape_of(box)), Vec3::Zero(), Vec3::Zero(), model::Motion::fixed);
  const model::ShapeId ring = world.add_shape(shape_of(scaled(ring_mesh(24, 12), 0.2)));
  for (int i = 0; i < 16; ++i)
    add(world, ring, {0.6 * (i % 4 - 1.5), 0.6 * (i / 4 - 1.5), 1 + 0.31 * i}, {0, 0, -60});
  return world;
}

struct InterferenceScene {
  const char* name;
  const char* content;
  int steps;
  sim::World (*build)(sim::WorldDesc);
};

struct Run {
  double seconds = 0;                                       ///< of a step
  double lowest = std::numeric_limits<double>::infinity();  ///< body at the end [m]
};

}  // namespace

std::string measure_interference(Report& report)
{
  using sim::TimeOfImpactMethod;
  std::string section =
      "\n## Z-list against hierarchy in a world\n\n"
      "The same scenes of meshes with `interference: zlist` and `hierarchy`, in turn: CPU time of a step "
      "[ms] "
      "with all that a\nstep does, and the lowest body at the end [m], which shows whether one went "
      "through.\n\n"
      "| scene | `time_of_impact` | z-list | hierarchy | z-list / hierarchy | lowest body |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  const std::vector<InterferenceScene> scenes{
      {"heads", "9 heads of 1,872 faces fall on 3,042 faces of hills", 60,
       [](sim::WorldDesc desc) {
         return heads_on_hills(desc);
       }},
      {"heap", "16 rings of 576 faces fall on a heap", 60,
       [](sim::WorldDesc desc) {
         return heap_of_rings(desc);
       }},
      {"shots", "16 rings of 576 faces meet a plate of 4 cm at 60 m/s", 8, [](sim::WorldDesc desc) {
         return rings_shot_at_a_plate(desc);
       }}};
  for (const InterferenceScene& scene : scenes) {
    for (const auto& [word, method] : std::vector<std::pair<std::string, TimeOfImpactMethod>>{
             {"continuous", TimeOfImpactMethod::continuous},
             {"conservative", TimeOfImpactMethod::conservative}}) {
      std::vector<Run> runs;
      std::vector<sim::World> worlds;
      for (const auto interference : {collision::Interference::zlist, collision::Interference::hierarchy}) {
        sim::WorldDesc desc;
        desc.interference = interference;
        desc.time_of_impact = method;
        desc.threads = 1;
        worlds.push_back(scene.build(desc));
        runs.emplace_back();
      }
      for (int i = 0; i < scene.steps; ++i) {
        for (std::size_t w = 0; w < worlds.size(); ++w)
          runs[w].seconds += cpu_seconds_once([&] { worlds[w].step(kStep); }) / scene.steps;
      }
      for (std::size_t w = 0; w < worlds.size(); ++w) {
        for (const model::BodyId id : worlds[w].bodies()) {
          if (worlds[w].desc_of(id).motion == model::Motion::dynamic)
            runs[w].lowest = std::min(runs[w].lowest, worlds[w].body(id).X_wb.position.z());
        }
      }
      section += fmt::format("| {} | `{}` | {:.2f} | {:.2f} | {:.2f} | {:.2f} / {:.2f} |\n", scene.content,
                             word, 1000 * runs[0].seconds, 1000 * runs[1].seconds,
                             runs[0].seconds / runs[1].seconds, runs[0].lowest, runs[1].lowest);
      report.row({.name = fmt::format("{}, a step with the z-list, {}", scene.name, word),
                  .figure = 1000 * runs[0].seconds,
                  .unit = "ms",
                  .baseline = "hierarchy",
                  .baseline_value = 1000 * runs[1].seconds});
    }
  }
  return section;
}

}  // namespace thrum::bench
