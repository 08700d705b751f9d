// SPDX-License-Identifier: MIT
// The same scenes in Bullet with its default solver settings, sleeping off.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "benchmarks/rigid/bullet_world.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/base/timing.h"

namespace thrum::bench {

RunResult run_bullet(const BoxScene& scene)
{
  BulletWorld bullet;
  // Bullet multiplies the two coefficients.
  const auto friction = static_cast<btScalar>(std::sqrt(scene.friction));
  auto& shapes = bullet.shapes;
  const auto add = [&](btCollisionShape* shape, double mass, const Vec3& position) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) shape->calculateLocalInertia(static_cast<btScalar>(mass), inertia);
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, shape, inertia);
    info.m_startWorldTransform.setOrigin(to_bullet(position));
    info.m_friction = friction;
    bullet.add(info);
  };
  shapes.push_back(std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar(0)));
  add(shapes.back().get(), 0, Vec3::Zero());
  for (const BoxBody& box : scene.boxes) {
    shapes.push_back(std::make_unique<btBoxShape>(to_bullet(box.half)));
    add(shapes.back().get(), box.mass, box.position);
  }

  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  const double start = base::thread_cpu_clock();
  for (int i = 0; i < steps; ++i) bullet.world.stepSimulation(static_cast<btScalar>(kStep), 0);
  RunResult result;
  result.seconds = (base::thread_cpu_clock() - start) / steps;
  for (std::size_t i = 0; i < scene.boxes.size(); ++i) {
    const btVector3 p = bullet.bodies[i + 1]->getWorldTransform().getOrigin();
    const Vec3 now(p.x(), p.y(), p.z());
    result.drift = std::max(result.drift, (now - scene.boxes[i].position).norm());
    result.sink = std::max(result.sink, scene.boxes[i].position.z() - now.z());
  }
  return result;
}

}  // namespace thrum::bench
