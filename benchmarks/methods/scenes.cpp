// SPDX-License-Identifier: MIT
#include "benchmarks/methods/scenes.h"

#include <cmath>

#include "thrum/base/index.h"
#include "thrum/base/random.h"

namespace thrum::bench {

namespace {

using sim::BodyDesc;
using sim::World;
using sim::WorldDesc;

model::BodyId add_fixed(World& world, const model::Shape& shape, const Pose& X_ws = {})
{
  BodyDesc body;
  body.shape = world.add_shape(shape);
  body.motion = model::Motion::fixed;
  body.X_ws = X_ws;
  return world.add_body(body);
}

model::BodyId add_body(World& world, const model::Shape& shape, const Pose& X_ws, double mass,
                       const Vec3& velocity = Vec3::Zero(), const Vec3& spin = Vec3::Zero())
{
  BodyDesc body;
  body.shape = world.add_shape(shape);
  body.X_ws = X_ws;
  body.mass = mass;
  body.velocity = velocity;
  body.angular_velocity = spin;
  return world.add_body(body);
}

World drop(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.8, 0.3, 0, 0});
  add_fixed(world, {model::Plane{}});
  add_body(world, {model::Sphere{0.1}}, {{0, 0, 1.1}, Quat::Identity()}, 1);
  return world;
}

World collision_in_space(WorldDesc desc)
{
  desc.gravity.setZero();
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.5, 0.3, 0, 0});
  add_body(world, {model::Box{{0.3, 0.2, 0.1}}}, {{-0.6, 0, 0}, Quat(1, 0.1, 0.2, 0.1).normalized()}, 2,
           {3, 0.1, 0}, {1, 0.5, 2});
  add_body(world, {model::Box{{0.2, 0.2, 0.2}}}, {{0.5, 0.1, 0.05}, Quat::Identity()}, 5, {-1, 0, 0.1},
           {0, 1, 0});
  return world;
}

World stack(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.5, 0, 0});
  add_fixed(world, {model::Plane{}});
  for (int i = 0; i < 10; ++i)
    add_body(world, {model::Box{Vec3::Constant(0.25)}}, {{0, 0, 0.25 + 0.5 * i}, Quat::Identity()}, 1);
  return world;
}

World incline(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0, 0.6, 0, 0});
  const Quat turn(Eigen::AngleAxisd(0.4, Vec3::UnitY()));
  add_fixed(world, {model::Plane{}}, {Vec3::Zero(), turn});
  add_body(world, {model::Box{{0.3, 0.3, 0.1}}}, {turn * Vec3(0, 0, 0.1), turn}, 2);
  return world;
}

World bullets(WorldDesc desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.3, 0.3, 0, 0});
  add_fixed(world, {model::Box{{0.01, 3, 3}}});
  for (int i = 0; i < 20; ++i) {
    const double y = -1 + 0.1 * i;
    // Each meets the plate at another phase of a step.
    add_body(world, {model::Sphere{0.02}}, {{-1.5 - 0.03 * i, y, 1}, Quat::Identity()}, 0.2, {30, 0, 0});
  }
  return world;
}

World pile(const WorldDesc& desc)
{
  World world(desc);
  world.set_surface(model::kDefaultSurface, {0.2, 0.5, 0, 0});
  add_fixed(world, {model::Plane{}});
  base::Random random(7);
  for (int i = 0; i < 40; ++i) {
    const Vec3 half(random.uniform(0.1, 0.2), random.uniform(0.1, 0.2), random.uniform(0.1, 0.2));
    const Quat turn = Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
    const Vec3 place(random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0.4 + 0.45 * i);
    const model::Shape shape =
        i % 2 == 0 ? model::Shape{model::Box{half}} : model::Shape{model::Sphere{half.x()}};
    add_body(world, shape, {place, turn}, random.uniform(0.5, 2));
  }
  return world;
}

bool is_behind_the_plate(const World& world)
{
  for (const model::BodyId id : world.bodies())
    if (world.desc_of(id).motion == model::Motion::dynamic && world.body(id).X_wb.position.x() > 0)
      return true;
  return false;
}

bool is_below_the_ground(const World& world)
{
  for (const model::BodyId id : world.bodies())
    if (world.desc_of(id).motion == model::Motion::dynamic && world.body(id).X_wb.position.z() < 0)
      return true;
  return false;
}

}  // namespace

std::vector<MethodScene> method_scenes()
{
  return {{"drop", "a ball of restitution 0.8 falls from 1 m", 1.0 / 60, 2, drop, is_below_the_ground},
          {"collision", "two boxes collide off centre in space", 1.0 / 60, 0.5, collision_in_space},
          {"stack", "ten boxes rest on each other", 1.0 / 60, 4, stack, is_below_the_ground},
          {"incline", "a block rests on a slope of 0.4 rad with friction 0.6", 1.0 / 60, 2, incline},
          {"bullets", "20 balls of 4 cm meet a plate of 2 cm at 30 m/s", 1.0 / 60, 0.3, bullets,
           is_behind_the_plate},
          {"pile", "40 boxes and balls fall on a heap", 1.0 / 60, 4, pile, is_below_the_ground}};
}

sim::World gas_scene(sim::WorldDesc desc, int count)
{
  desc.gravity.setZero();
  desc.sleep.enabled = false;
  World world(desc);
  world.set_surface(model::kDefaultSurface, {1, 0, 0, 0});
  // Twelve diameters to the next.
  const double size = 1.2 * std::cbrt(count);
  for (int k = 0; k < 3; ++k) {
    Vec3 half = Vec3::Constant(size);
    half[k] = 0.2;
    for (const double side : {-1.0, 1.0})
      add_fixed(world, {model::Box{half}}, {side * (0.5 * size + 0.2) * Vec3::Unit(k), Quat::Identity()});
  }
  base::Random random(42);
  const int row = static_cast<int>(std::ceil(std::cbrt(count)));
  const model::ShapeId ball = world.add_shape({model::Sphere{0.05}});
  for (int i = 0; i < count; ++i) {
    BodyDesc body;
    body.shape = ball;
    body.mass = 1;
    const Vec3 cell(i % row, (i / row) % row, i / row / row);
    body.X_ws.position = size * ((cell + Vec3::Constant(0.5)) / row - Vec3::Constant(0.5));
    body.velocity = 10 * Vec3(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    world.add_body(body);
  }
  return world;
}

Vec3 angular_momentum(const sim::World& world)
{
  Vec3 sum = Vec3::Zero();
  for (const model::BodyId id : world.bodies()) {
    const model::BodyProperties& desc = world.desc_of(id);
    if (desc.motion != model::Motion::dynamic) continue;
    const model::BodyState& body = world.body(id);
    const Mat3 R = body.X_wb.rotation.toRotationMatrix();
    sum += body.X_wb.position.cross(desc.mass * body.velocity) +
           R * desc.inertia * R.transpose() * body.angular_velocity;
  }
  return sum;
}

std::vector<Method> all_methods()
{
  using sim::StepperKind;
  using sim::TimeOfImpactMethod;
  return {{"constraint", StepperKind::constraint, TimeOfImpactMethod::continuous},
          {"impulse", StepperKind::impulse, TimeOfImpactMethod::continuous},
          {"penalty", StepperKind::penalty, TimeOfImpactMethod::continuous},
          {"flexible", StepperKind::flexible, TimeOfImpactMethod::continuous},
          {"none", StepperKind::constraint, TimeOfImpactMethod::none},
          {"bisection", StepperKind::constraint, TimeOfImpactMethod::bisection},
          {"conservative", StepperKind::constraint, TimeOfImpactMethod::conservative},
          {"timewarp", StepperKind::constraint, TimeOfImpactMethod::timewarp}};
}

sim::WorldDesc desc_of(const Method& method)
{
  sim::WorldDesc desc;
  desc.stepper = method.stepper;
  desc.time_of_impact = method.time_of_impact;
  desc.sleep.enabled = false;
  return desc;
}

}  // namespace thrum::bench
