// SPDX-License-Identifier: MIT
// Queries in a world of 10,000 bodies, against a loop over the boxes of all bodies and against Bullet.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/rigid/bullet_world.h"
#include "thrum/base/error.h"
#include "thrum/sim/world_queries.h"

namespace thrum::bench {

namespace {

constexpr int kBodies = 10000;
constexpr double kSide = 46;  // of the cube that they are in: one to ten cubic metres [m]
constexpr int kQueries = 10000;
constexpr int kLoopQueries = 500;  // of them for the loop over all bodies
constexpr double kRayLength = 30;  // [m]
constexpr double kMotion = 10;     // [m]
constexpr double kReach = 2;       // of a search for the closest body [m]

class Scene {
 public:
  Scene()
  {
    const std::vector<model::ShapeId> shapes{
        world.add_shape({model::Box{{0.5, 0.4, 0.3}}}), world.add_shape({model::Sphere{0.5}}),
        world.add_shape({model::Capsule{0.3, 0.4}}), world.add_shape({model::Box{{0.2, 0.2, 0.2}}})};
    for (int i = 0; i < kBodies; ++i) {
      sim::BodyDesc spec;
      spec.shape = shapes[static_cast<std::size_t>(i) % shapes.size()];
      spec.X_ws = {place(), rotation()};
      const model::BodyId id = world.add_body(spec);
      const collision::PreparedShape& shape = prepared(world.index_of(id));
      poses.push_back(world.shape_pose(id));
      boxes.push_back(collision::world_bounds(shape, poses.back(), 0));
      shape_of.push_back(&shape);
    }
    for (int i = 0; i < kQueries; ++i) {
      origins.push_back(place());
      directions.push_back(rotation() * Vec3::UnitX());
    }
  }
  [[nodiscard]] const collision::PreparedShape& prepared(model::BodyIndex i) const
  {
    return world.shapes()[static_cast<std::size_t>(world.model().bodies[static_cast<std::size_t>(i)].shape)];
  }

  sim::World world;
  std::vector<Pose> poses;
  std::vector<Box3> boxes;
  std::vector<const collision::PreparedShape*> shape_of;
  std::vector<Vec3> origins;
  std::vector<Vec3> directions;

 private:
  Vec3 place() { return 0.5 * kSide * Vec3(uniform_(random_), uniform_(random_), uniform_(random_)); }
  Quat rotation()
  {
    const Vec3 axis = Vec3(uniform_(random_), uniform_(random_), uniform_(random_)).normalized();
    return Quat(Eigen::AngleAxisd(3 * uniform_(random_), axis));
  }
  std::mt19937 random_{11};
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

// Whether a box of half edges `half` on its way from `from` meets `box` before `reach` of the way.
bool meets(const Vec3& from, const Vec3& half, const Vec3& inverse_motion, const Box3& box, double reach)
{
  const Eigen::Array3d a = (box.min() - half - from).array() * inverse_motion.array();
  const Eigen::Array3d b = (box.max() + half - from).array() * inverse_motion.array();
  return std::max(0.0, a.min(b).maxCoeff()) <= std::min(reach, a.max(b).minCoeff());
}

// Answers as one number each, to compare: a distance or fraction, or a count.
double loop_ray(const Scene& scene, std::size_t q)
{
  collision::ShapeRay ray{scene.origins[q], scene.directions[q], kRayLength};
  const Vec3 inverse = (kRayLength * ray.direction).cwiseInverse();
  double best = -1;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    if (!meets(ray.origin, Vec3::Zero(), inverse, scene.boxes[i], ray.length / kRayLength)) continue;
    const auto hit = collision::cast_ray(*scene.shape_of[i], scene.poses[i], ray);
    if (hit) ray.length = best = hit->distance;
  }
  return best;
}

double grid_ray(const Scene& scene, std::size_t q)
{
  const auto hit = sim::cast_ray(scene.world, {scene.origins[q], scene.directions[q], kRayLength});
  return hit ? hit->hit.distance : -1;
}

double loop_cast(const Scene& scene, const collision::PreparedShape& shape, std::size_t q)
{
  const Pose X_ws{scene.origins[q], Quat::Identity()};
  const Vec3 motion = kMotion * scene.directions[q];
  const Vec3 inverse = motion.cwiseInverse();
  const Vec3 half = 0.5 * collision::world_bounds(shape, X_ws, 0).sizes();
  double best = -1;
  double reach = 1;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    if (!meets(X_ws.position, half, inverse, scene.boxes[i], reach)) continue;
    const auto hit = collision::cast_shape(shape, X_ws, motion, *scene.shape_of[i], scene.poses[i], reach);
    if (hit) reach = best = hit->fraction;
  }
  return best;
}

double grid_cast(const Scene& scene, const collision::PreparedShape& shape, std::size_t q)
{
  const auto hit = sim::cast_shape(scene.world, shape, {scene.origins[q], Quat::Identity()},
                                   kMotion * scene.directions[q]);
  return hit ? hit->hit.fraction : -1;
}

double loop_overlap(const Scene& scene, const collision::PreparedShape& shape, std::size_t q)
{
  const Pose X_ws{scene.origins[q], Quat::Identity()};
  const Box3 box = collision::world_bounds(shape, X_ws, 0);
  double count = 0;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    if (box.intersects(scene.boxes[i]) && collision::overlap(shape, X_ws, *scene.shape_of[i], scene.poses[i]))
      ++count;
  }
  return count;
}

double grid_overlap(const Scene& scene, const collision::PreparedShape& shape, std::size_t q)
{
  return static_cast<double>(
      sim::overlapping_bodies(scene.world, shape, {scene.origins[q], Quat::Identity()}).size());
}

double loop_closest(const Scene& scene, std::size_t q)
{
  const Vec3& p = scene.origins[q];
  double best = kReach;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const double bound = std::max(best, 0.0);
    if (scene.boxes[i].squaredExteriorDistance(p) > bound * bound) continue;
    best = std::min(best, collision::closest_point(*scene.shape_of[i], scene.poses[i], p).distance);
  }
  return best;
}

double grid_closest(const Scene& scene, std::size_t q)
{
  const auto hit = sim::closest_body(scene.world, scene.origins[q], kReach);
  return hit ? hit->point.distance : kReach;
}

// Measures both ways, after making sure that they agree.
template <class Grid, class Loop>
Row compare(const std::string& name, double target_ratio, Grid&& grid, Loop&& loop)
{
  for (std::size_t q = 0; q < kLoopQueries; ++q) {
    if (grid(q) != loop(q))
      throw Error(fmt::format("{}: query {} differs: {} and {}.", name, q, grid(q), loop(q)));
  }
  const auto seconds = [](auto&& query, int count) {
    return min_cpu_seconds([&] {
             double sum = 0;
             for (int q = 0; q < count; ++q) sum += query(static_cast<std::size_t>(q));
             do_not_optimize(sum);
           }) /
           count;
  };
  return {.name = fmt::format("{} in {} bodies", name, kBodies),
          .figure = 1e6 * seconds(grid, kQueries),
          .unit = "us",
          .baseline = "loop over boxes",
          .baseline_value = 1e6 * seconds(loop, kLoopQueries),
          .target_ratio = target_ratio};
}

void build_bullet(const Scene& scene, BulletWorld& bullet)
{
  bullet.shapes.push_back(std::make_unique<btBoxShape>(to_bullet(Vec3(0.5, 0.4, 0.3))));
  bullet.shapes.push_back(std::make_unique<btSphereShape>(0.5F));
  bullet.shapes.push_back(std::make_unique<btCapsuleShapeZ>(0.3F, 0.8F));
  bullet.shapes.push_back(std::make_unique<btBoxShape>(to_bullet(Vec3(0.2, 0.2, 0.2))));
  for (std::size_t i = 0; i < scene.poses.size(); ++i) {
    btRigidBody::btRigidBodyConstructionInfo info(1, nullptr, bullet.shapes[i % 4].get(), {1, 1, 1});
    info.m_startWorldTransform = to_bullet(scene.poses[i]);
    bullet.add(info);
    bullet.bodies.back()->setUserIndex(static_cast<int>(i));
  }
  bullet.world.updateAabbs();
}

struct BulletRayHit {
  int body = -1;        ///< -1: none
  double distance = 0;  ///< [m]
};

BulletRayHit bullet_ray(const Scene& scene, const BulletWorld& bullet, std::size_t q)
{
  const btVector3 from = to_bullet(scene.origins[q]);
  const btVector3 to = to_bullet(scene.origins[q] + kRayLength * scene.directions[q]);
  btCollisionWorld::ClosestRayResultCallback callback(from, to);
  bullet.world.rayTest(from, to, callback);
  if (!callback.hasHit()) return {};
  return {callback.m_collisionObject->getUserIndex(), kRayLength * callback.m_closestHitFraction};
}

// Ray by ray: which body is hit, and where. A ray that starts inside a body hits it at distance 0 here, which
// Bullet does not report, so these are counted apart.
void compare_rays(Report& report, const Scene& scene, const BulletWorld& bullet)
{
  int from_inside = 0, inside_hits = 0, same = 0, none = 0, other_body = 0, ours_only = 0, bullet_only = 0;
  double max_difference = 0;  // of the distance [m]
  for (std::size_t q = 0; q < kQueries; ++q) {
    const auto hit = sim::cast_ray(scene.world, {scene.origins[q], scene.directions[q], kRayLength});
    const BulletRayHit theirs = bullet_ray(scene, bullet, q);
    if (hit && hit->hit.distance == 0) {
      ++from_inside;
      inside_hits += theirs.body >= 0 ? 1 : 0;
    } else if (!hit && theirs.body < 0) {
      ++none;
    } else if (!hit || theirs.body < 0) {
      ++(hit ? ours_only : bullet_only);
    } else if (scene.world.index_of(hit->body) != theirs.body) {
      ++other_body;
    } else {
      ++same;
      max_difference = std::max(max_difference, std::abs(hit->hit.distance - theirs.distance));
    }
  }
  report.note(
      fmt::format("{} rays start inside a body, a hit at 0 here; of these Bullet reports {} hits further on",
                  from_inside, inside_hits));
  report.note(
      fmt::format("of the others {} hit the same body (distances differ by at most {:.2g} m), {} hit nothing "
                  "in both, {} another body, {} only here, {} only in Bullet",
                  same, max_difference, none, other_body, ours_only, bullet_only));
}

// Bullet works in single precision.
void report_bullet(Report& report, const Scene& scene, double ray_us, double cast_us)
{
  BulletWorld bullet;
  build_bullet(scene, bullet);
  const double ray = min_cpu_seconds([&] {
                       for (std::size_t q = 0; q < kQueries; ++q)
                         do_not_optimize(bullet_ray(scene, bullet, q));
                     }) /
                     kQueries;
  report.row({.name = "ray against Bullet's rayTest",
              .figure = ray_us,
              .unit = "us",
              .baseline = "Bullet",
              .baseline_value = 1e6 * ray});
  compare_rays(report, scene, bullet);
  btSphereShape ball(0.3F);
  const double cast =
      min_cpu_seconds([&] {
        for (std::size_t q = 0; q < kQueries; ++q) {
          const btVector3 from = to_bullet(scene.origins[q]);
          const btVector3 to = to_bullet(scene.origins[q] + kMotion * scene.directions[q]);
          btCollisionWorld::ClosestConvexResultCallback callback(from, to);
          bullet.world.convexSweepTest(&ball, btTransform(btQuaternion::getIdentity(), from),
                                       btTransform(btQuaternion::getIdentity(), to), callback);
          do_not_optimize(callback.m_closestHitFraction);
        }
      }) /
      kQueries;
  report.row({.name = "cast of a ball against Bullet's convexSweepTest",
              .figure = cast_us,
              .unit = "us",
              .baseline = "Bullet",
              .baseline_value = 1e6 * cast});
}

}  // namespace

THRUM_BENCHMARK(rigid, queries)
{
  const Scene scene;
  const model::Shape ball_shape{model::Sphere{0.3}};
  const model::Shape box_shape{model::Box{{0.6, 0.4, 0.5}}};
  const collision::PreparedShape ball = collision::prepare(ball_shape);
  const collision::PreparedShape box = collision::prepare(box_shape);
  const Row ray = compare(
      "ray of 30 m", 4, [&](std::size_t q) { return grid_ray(scene, q); },
      [&](std::size_t q) { return loop_ray(scene, q); });
  report.row(ray);
  const Row cast = compare(
      "ball cast over 10 m", 4, [&](std::size_t q) { return grid_cast(scene, ball, q); },
      [&](std::size_t q) { return loop_cast(scene, ball, q); });
  report.row(cast);
  report.row(compare(
      "box cast over 10 m", 4, [&](std::size_t q) { return grid_cast(scene, box, q); },
      [&](std::size_t q) { return loop_cast(scene, box, q); }));
  report.row(compare(
      "overlap with a box", 10, [&](std::size_t q) { return grid_overlap(scene, box, q); },
      [&](std::size_t q) { return loop_overlap(scene, box, q); }));
  report.row(compare(
      "closest body within 2 m", 10, [&](std::size_t q) { return grid_closest(scene, q); },
      [&](std::size_t q) { return loop_closest(scene, q); }));
  report_bullet(report, scene, ray.figure, cast.figure);
}

}  // namespace thrum::bench
