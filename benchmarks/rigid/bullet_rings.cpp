// SPDX-License-Identifier: MIT
// Rings in Bullet: twelve capsules each, or GImpact meshes.
#include <BulletCollision/Gimpact/btGImpactCollisionAlgorithm.h>
#include <BulletCollision/Gimpact/btGImpactShape.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "benchmarks/rigid/bullet_world.h"
#include "benchmarks/rigid/ring_scenes.h"
#include "benchmarks/rigid/scenes.h"
#include "thrum/base/timing.h"

namespace thrum::bench {

namespace {

Pose from_bullet(const btTransform& t)
{
  const btVector3& p = t.getOrigin();
  const btQuaternion q = t.getRotation();
  return {Vec3(p.x(), p.y(), p.z()), Quat(q.w(), q.x(), q.y(), q.z())};
}

/// The shape of a ring and what it is made of.
struct RingShape {
  std::vector<std::unique_ptr<btCollisionShape>> parts;
  std::unique_ptr<btTriangleMesh> triangles;
  std::unique_ptr<btCollisionShape> shape;
};

RingShape make_ring(BulletRing kind)
{
  RingShape ring;
  if (kind == BulletRing::gimpact) {
    const mesh::TriangleMesh mesh = ring_mesh();
    ring.triangles = std::make_unique<btTriangleMesh>();
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      ring.triangles->addTriangle(to_bullet(mesh.corner(t, 0)), to_bullet(mesh.corner(t, 1)),
                                  to_bullet(mesh.corner(t, 2)));
    }
    auto shape = std::make_unique<btGImpactMeshShape>(ring.triangles.get());
    shape->updateBound();
    ring.shape = std::move(shape);
    return ring;
  }
  constexpr int kCapsules = 12;
  auto compound = std::make_unique<btCompoundShape>();
  const double angle = 2 * std::numbers::pi / kCapsules;
  const double length = 2 * kMajorRadius * std::sin(0.5 * angle);
  ring.parts.push_back(
      std::make_unique<btCapsuleShape>(static_cast<btScalar>(kMinorRadius), static_cast<btScalar>(length)));
  for (int i = 0; i < kCapsules; ++i) {
    const double middle = kMajorRadius * std::cos(0.5 * angle);
    Pose pose;
    pose.rotation = Quat(Eigen::AngleAxisd(i * angle, Vec3::UnitZ()));
    pose.position = pose.rotation * Vec3(middle, 0, 0);
    compound->addChildShape(to_bullet(pose), ring.parts.back().get());
  }
  ring.shape = std::move(compound);
  return ring;
}

}  // namespace

RingResult run_bullet(const RingScene& scene, BulletRing kind)
{
  const RingShape ring = make_ring(kind);
  BulletWorld bullet;
  if (kind == BulletRing::gimpact) btGImpactCollisionAlgorithm::registerAlgorithm(&bullet.dispatcher);
  // Bullet multiplies the coefficients of sliding, and adds each body's of rolling times the other's of
  // sliding.
  const auto friction = static_cast<btScalar>(std::sqrt(scene.friction));
  const auto rolling = static_cast<btScalar>(scene.rolling_friction / 2) / friction;
  auto& shapes = bullet.shapes;
  const auto add = [&](btCollisionShape* shape, double mass, const Pose& pose) {
    btVector3 inertia(0, 0, 0);
    if (mass > 0) {
      // Of a solid torus.
      const double R2 = kMajorRadius * kMajorRadius;
      const double r2 = kMinorRadius * kMinorRadius;
      inertia = to_bullet(mass * Vec3(0.5 * R2 + 0.625 * r2, 0.5 * R2 + 0.625 * r2, R2 + 0.75 * r2));
    }
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, shape, inertia);
    info.m_startWorldTransform = to_bullet(pose);
    info.m_friction = friction;
    info.m_rollingFriction = info.m_spinningFriction = rolling;
    bullet.add(info);
  };
  shapes.push_back(std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), btScalar(0)));
  add(shapes.back().get(), 0, Pose{});
  if (scene.half_width > 0) {
    const double w = scene.half_width;
    shapes.push_back(std::make_unique<btBoxShape>(to_bullet(Vec3(0.5, w + 1, 30))));
    for (int k = 0; k < 4; ++k) {
      const Quat turned(Eigen::AngleAxisd(k * std::acos(0.0), Vec3::UnitZ()));
      add(shapes.back().get(), 0, {turned * Vec3(w + 0.5, 0, 30), turned});
    }
  }
  for (const PoleBody& pole : scene.poles) {
    shapes.push_back(
        std::make_unique<btCylinderShapeZ>(to_bullet(Vec3(pole.radius, pole.radius, pole.half_length))));
    add(shapes.back().get(), 0, {pole.position, Quat::Identity()});
  }
  const std::size_t first = bullet.bodies.size();
  for (const Pose& pose : scene.rings) add(ring.shape.get(), kRingMass, pose);

  RingResult result;
  const int steps = static_cast<int>(std::lround(scene.seconds / kStep));
  for (int i = 0; i < steps; ++i) {
    const double start = base::thread_cpu_clock();
    bullet.world.stepSimulation(static_cast<btScalar>(kStep), 0);
    result.seconds += (base::thread_cpu_clock() - start) / steps;
    result.penetration = 0;
    for (int m = 0; m < bullet.dispatcher.getNumManifolds(); ++m) {
      const btPersistentManifold* manifold = bullet.dispatcher.getManifoldByIndexInternal(m);
      for (int k = 0; k < manifold->getNumContacts(); ++k) {
        result.penetration =
            std::max(result.penetration, -static_cast<double>(manifold->getContactPoint(k).getDistance()));
      }
    }
    result.worst = std::max(result.worst, result.penetration);
  }
  std::vector<Pose> poses;
  for (std::size_t i = first; i < bullet.bodies.size(); ++i) {
    poses.push_back(from_bullet(bullet.bodies[i]->getWorldTransform()));
    const btRigidBody& body = *bullet.bodies[i];
    const btVector3 w = body.getAngularVelocity();
    const btVector3 Iw = body.getInvInertiaTensorWorld().inverse() * w;
    result.energy += 0.5 * kRingMass * body.getLinearVelocity().length2() + 0.5 * w.dot(Iw);
  }
  result.linked = linked_pairs(poses);
  return result;
}

}  // namespace thrum::bench
