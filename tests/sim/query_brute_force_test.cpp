// SPDX-License-Identifier: MIT
// Queries of a world against a loop over all of its bodies: the same bodies and
// the same numbers, to the last bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/sim/world_fixture.h"
#include "thrum/shapes/convex_hull.h"
#include "thrum/shapes/shapes.h"
#include "thrum/sim/world_queries.h"

namespace thrum::sim {
namespace {

using namespace testing;

constexpr double kSide = 12;  ///< half the side of the cube that bodies are in [m]

class Random {
 public:
  explicit Random(unsigned seed) : generator_(seed) {}
  double uniform(double low, double high)
  {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  Vec3 point(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }
  Quat rotation()
  {
    if (uniform(0, 1) < 0.3) return Quat::Identity();
    const Vec3 axis = point(1).normalized();
    return Quat(Eigen::AngleAxisd(uniform(-3, 3), axis));
  }
  /// Every other time on the half metres, where cells of the grid begin and boxes touch.
  Vec3 place(double half)
  {
    const Vec3 p = point(half);
    return uniform(0, 1) < 0.5 ? p : Vec3((2 * p).array().round() / 2);
  }
  int below(int count) { return static_cast<int>(uniform(0, count)); }

 private:
  std::mt19937 generator_;
};

model::Shape convex_shape(Random& random, int kind, double size)
{
  switch (kind % 5) {
    case 0:
      return {model::Sphere{size}};
    case 1:
      return {model::Box{size * Vec3(random.uniform(0.1, 1), 1, random.uniform(0.1, 1))}};
    case 2:
      return {model::Capsule{0.5 * size, size}};
    case 3:
      return {model::Cylinder{size, random.uniform(0.1, 1) * size}};
    default: {
      std::vector<Vec3> points;
      for (int i = 0; i < 12; ++i) points.push_back(random.point(size));
      return {model::ConvexHull{collision::make_polyhedron(shapes::convex_hull(points))}};
    }
  }
}

model::Shape compound(Random& random, double size)
{
  model::Compound compound;
  for (int i = 0; i < 3; ++i) {
    compound.parts.push_back(
        {{random.point(size), random.rotation()},
         std::make_shared<const model::Shape>(convex_shape(random, random.below(5), 0.5 * size))});
  }
  return {compound};
}

model::Shape surface(Random& random, int kind, double size)
{
  if (kind == 0) {
    model::HeightField field;
    field.columns = 6;
    field.rows = 4;
    field.spacing = size;
    auto heights = std::make_shared<std::vector<double>>();
    for (int i = 0; i < 24; ++i) heights->push_back(random.uniform(-size, size));
    field.heights = heights;
    return {field};
  }
  shapes::TorusDesc torus;
  torus.major_radius = size;
  torus.minor_radius = 0.3 * size;
  torus.major_segments = 12;
  torus.minor_segments = 8;
  auto mesh = std::make_shared<mesh::TriangleMesh>(shapes::generate(torus));
  if (kind == 2) mesh->triangles.resize(mesh->triangles.size() / 2);  // open
  return {model::Mesh{mesh, nullptr}};
}

double some_size(Random& random)
{
  const double u = random.uniform(0, 1);
  if (u < 0.1) return random.uniform(2, 8);
  if (u < 0.3) return std::pow(10.0, random.uniform(-3, -1));
  return random.uniform(0.2, 1);
}

struct Entry {
  model::Shape shape;
  Pose X_ws;
  model::Motion motion;
};

std::vector<Entry> random_bodies(unsigned seed)
{
  Random random(seed);
  std::vector<Entry> bodies;
  const int count = 20 + random.below(60);
  for (int i = 0; i < count; ++i) {
    const double size = some_size(random);
    const int kind = random.below(14);
    Entry entry{convex_shape(random, kind, size), {random.place(kSide), random.rotation()}, {}};
    entry.motion = static_cast<model::Motion>(random.below(3));
    if (kind == 11) entry.shape = compound(random, size);
    if (kind == 12) entry.shape = surface(random, random.below(3), size);
    if (kind == 12 || (kind == 13 && i % 4 == 0)) entry.motion = model::Motion::fixed;
    if (kind == 13 && i % 4 == 0) {
      entry.shape = {model::Plane{}};
      entry.X_ws.position = {0, 0, random.uniform(-3 * kSide, -kSide)};
      entry.X_ws.rotation = Quat(Eigen::AngleAxisd(random.uniform(-0.3, 0.3), Vec3::UnitX()));
    }
    bodies.push_back(entry);
  }
  return bodies;
}

World build(const std::vector<Entry>& bodies)
{
  World world(desc_without_sleep());
  for (const Entry& entry : bodies) {
    BodyDesc spec;
    spec.shape = world.add_shape(entry.shape);
    spec.X_ws = entry.X_ws;
    spec.motion = entry.motion;
    spec.mass = 1;
    static_cast<void>(world.add_body(spec));
  }
  return world;
}

// Calls visit(id, shape, X_ws) for every body.
template <class Visit>
void for_each_body(const World& world, Visit&& visit)
{
  for (std::size_t i = 0; i < world.model().bodies.size(); ++i) {
    const model::BodyId id = world.id_of(static_cast<model::BodyIndex>(i));
    visit(id, world.shapes()[static_cast<std::size_t>(world.model().bodies[i].shape)], world.shape_pose(id));
  }
}

collision::ShapeRay some_ray(Random& random, int i)
{
  collision::ShapeRay ray;
  ray.origin = random.place(1.5 * kSide);
  ray.direction = random.point(1).normalized();
  if (i % 4 == 1) ray.direction = (i % 8 < 4 ? 1 : -1) * Vec3::Unit(random.below(3));
  if (i % 4 == 2) ray.direction = (random.place(kSide) - ray.origin + Vec3::Constant(1e-3)).normalized();
  if (i % 4 == 3) ray.direction = Vec3(1, i % 8 < 4 ? 1 : -1, 0).normalized();
  ray.length = i % 11 == 0 ? 0 : i % 5 == 0 ? 1e5 : random.uniform(0, 4 * kSide);
  return ray;
}

void check_rays(const World& world, Random& random, int count)
{
  for (int i = 0; i < count; ++i) {
    const collision::ShapeRay ray = some_ray(random, i);
    std::vector<WorldRayHit> expected;
    for_each_body(world, [&](model::BodyId id, const collision::PreparedShape& shape, const Pose& X_ws) {
      const auto hit = collision::cast_ray(shape, X_ws, ray);
      if (hit) expected.push_back({id, *hit});
    });
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& x, const auto& y) { return x.hit.distance < y.hit.distance; });
    const auto all = cast_ray_all(world, ray);
    ASSERT_EQ(all.size(), expected.size()) << "ray " << i;
    for (std::size_t k = 0; k < all.size(); ++k) {
      EXPECT_EQ(all[k].body, expected[k].body) << "ray " << i;
      EXPECT_EQ(all[k].hit.distance, expected[k].hit.distance) << "ray " << i;
    }
    const auto first = cast_ray(world, ray);
    ASSERT_EQ(first.has_value(), !expected.empty()) << "ray " << i;
    if (!first) continue;
    EXPECT_EQ(first->body, expected.front().body) << "ray " << i;
    EXPECT_EQ(first->hit.distance, expected.front().hit.distance) << "ray " << i;
    EXPECT_EQ(first->hit.normal, expected.front().hit.normal) << "ray " << i;
  }
}

model::Shape query_shape(Random& random, int i)
{
  const double size = i % 6 == 0 ? random.uniform(2, 6) : i % 6 == 1 ? 1e-3 : random.uniform(0.1, 1);
  return i % 7 == 0 ? compound(random, size) : convex_shape(random, i, size);
}

void check_casts(const World& world, Random& random, int count)
{
  for (int i = 0; i < count; ++i) {
    const model::Shape shape = query_shape(random, i);
    const collision::PreparedShape prepared = collision::prepare(shape);
    const Pose X_ws{random.place(1.5 * kSide), random.rotation()};
    Vec3 motion = random.place(kSide) - X_ws.position;
    if (i % 5 == 0) motion = random.uniform(-30, 30) * Vec3::Unit(random.below(3));
    if (i % 11 == 0) motion.setZero();
    std::optional<WorldShapeHit> expected;
    for_each_body(world, [&](model::BodyId id, const collision::PreparedShape& other, const Pose& X_wo) {
      const auto hit = collision::cast_shape(prepared, X_ws, motion, other, X_wo);
      if (hit && (!expected || hit->fraction < expected->hit.fraction)) expected = {id, *hit};
    });
    const auto hit = cast_shape(world, prepared, X_ws, motion);
    ASSERT_EQ(hit.has_value(), expected.has_value()) << "cast " << i;
    if (!hit) continue;
    EXPECT_EQ(hit->body, expected->body) << "cast " << i;
    EXPECT_EQ(hit->hit.fraction, expected->hit.fraction) << "cast " << i;
    EXPECT_EQ(hit->hit.position, expected->hit.position) << "cast " << i;
  }
}

void check_overlaps(const World& world, Random& random, int count)
{
  for (int i = 0; i < count; ++i) {
    const model::Shape shape =
        i % 13 == 0 ? surface(random, i % 3, random.uniform(0.3, 2)) : query_shape(random, i);
    const collision::PreparedShape prepared = collision::prepare(shape);
    const Pose X_ws{random.place(1.2 * kSide), random.rotation()};
    std::vector<model::BodyId> expected;
    for_each_body(world, [&](model::BodyId id, const collision::PreparedShape& other, const Pose& X_wo) {
      if (collision::overlap(prepared, X_ws, other, X_wo)) expected.push_back(id);
    });
    EXPECT_EQ(overlapping_bodies(world, prepared, X_ws), expected) << "overlap " << i;
  }
}

void check_points(const World& world, Random& random, int count)
{
  for (int i = 0; i < count; ++i) {
    const Vec3 p = random.place(i % 9 == 0 ? 1e4 : 1.3 * kSide);
    const double max_distance = i % 3 == 0 ? std::numeric_limits<double>::infinity() : random.uniform(0, 3);
    std::vector<ClosestBodyHit> expected;
    for_each_body(world, [&](model::BodyId id, const collision::PreparedShape& shape, const Pose& X_ws) {
      const auto point = collision::closest_point(shape, X_ws, p);
      if (point.distance <= max_distance) expected.push_back({id, point});
    });
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& x, const auto& y) { return x.point.distance < y.point.distance; });
    const auto near = closest_body(world, p, max_distance);
    ASSERT_EQ(near.has_value(), !expected.empty()) << "point " << i;
    if (near) {
      EXPECT_EQ(near->body, expected.front().body) << "point " << i;
      EXPECT_EQ(near->point.distance, expected.front().point.distance) << "point " << i;
    }
    const auto all = bodies_within(world, p, max_distance);
    ASSERT_EQ(all.size(), expected.size()) << "point " << i;
    for (std::size_t k = 0; k < all.size(); ++k) EXPECT_EQ(all[k].body, expected[k].body) << "point " << i;
  }
}

void check_all(const World& world, unsigned seed, int count)
{
  Random random(1000 + seed);
  check_rays(world, random, 2 * count);
  check_casts(world, random, count);
  check_overlaps(world, random, count);
  check_points(world, random, count);
}

TEST(QueryBruteForce, AgreesBeforeTheFirstStep)
{
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    check_all(build(random_bodies(seed)), seed, 40);
    if (HasFailure()) return;
  }
}

TEST(QueryBruteForce, AgreesAfterBodiesWereMovedAndRestored)
{
  for (unsigned seed = 100; seed < 108; ++seed) {
    SCOPED_TRACE(seed);
    World world = build(random_bodies(seed));
    const model::SceneState start = world.save();
    Random random(seed);
    for (std::size_t i = 0; i < world.model().bodies.size(); i += 3) {
      world.set_pose(world.id_of(static_cast<model::BodyIndex>(i)), {random.place(kSide), random.rotation()});
    }
    check_all(world, seed, 20);
    world.restore(start);
    check_all(world, seed, 20);
    if (HasFailure()) return;
  }
}

TEST(QueryBruteForce, AgreesWhileBodiesFlyCollideAndSleep)
{
  WorldDesc desc;  // bodies sleep
  World world(desc);
  add_plane(world);
  Random random(7);
  for (int i = 0; i < 80; ++i) {
    const model::BodyId id =
        add(world, convex_shape(random, i, random.uniform(0.1, 0.4)),
            {random.uniform(-3, 3), random.uniform(-3, 3), random.uniform(1, 9)}, 1, random.rotation());
    world.set_velocity(id, 8 * random.point(1), 20 * random.point(1));
  }
  struct Querier : StepObserver {
    explicit Querier(const World& in_step) : world(in_step) {}
    void after_slice(const StepView& /*view*/, StepActions& /*actions*/) override
    {
      if (world.state().step % 20 != 0) return;
      check_all(world, 5, 5);
      ++queried;
    }
    const World& world;
    int queried = 0;
  } querier(world);
  world.add_observer(querier);
  for (int i = 0; i < 240; ++i) {
    world.step(kStep);
    if (i % 12 == 0) check_all(world, static_cast<unsigned>(i), 5);
  }
  EXPECT_GE(querier.queried, 10);
}

// The same bodies entered in another order: the same hits, by the place in the list of entries.
TEST(QueryBruteForce, DoesNotDependOnTheOrderOfBodies)
{
  for (unsigned seed = 200; seed < 208; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Entry> bodies = random_bodies(seed);
    const World forward = build(bodies);
    const World backward = build({bodies.rbegin(), bodies.rend()});
    const auto mirrored = [&](model::BodyId id) {
      return static_cast<std::size_t>(bodies.size()) - 1 - static_cast<std::size_t>(backward.index_of(id));
    };
    Random random(seed);
    for (int i = 0; i < 60; ++i) {
      const collision::ShapeRay ray = some_ray(random, i);
      const auto a = cast_ray_all(forward, ray);
      const auto b = cast_ray_all(backward, ray);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t k = 0; k < a.size(); ++k) EXPECT_EQ(a[k].hit.distance, b[k].hit.distance);
      const model::Shape shape = query_shape(random, i);
      const Pose X_ws{random.place(kSide), random.rotation()};
      std::vector<std::size_t> met;
      for (const model::BodyId id : overlapping_bodies(backward, shape, X_ws)) met.push_back(mirrored(id));
      std::sort(met.begin(), met.end());
      std::vector<std::size_t> expected;
      for (const model::BodyId id : overlapping_bodies(forward, shape, X_ws))
        expected.push_back(static_cast<std::size_t>(forward.index_of(id)));
      EXPECT_EQ(met, expected);
      const Vec3 motion = random.point(2 * kSide);
      const auto c = cast_shape(forward, shape, X_ws, motion);
      const auto d = cast_shape(backward, shape, X_ws, motion);
      ASSERT_EQ(c.has_value(), d.has_value());
      if (c) {
        EXPECT_EQ(c->hit.fraction, d->hit.fraction);
      }
      const auto e = closest_body(forward, X_ws.position);
      const auto f = closest_body(backward, X_ws.position);
      ASSERT_EQ(e.has_value(), f.has_value());
      if (e) {
        EXPECT_EQ(e->point.distance, f->point.distance);
      }
    }
  }
}

}  // namespace
}  // namespace thrum::sim
