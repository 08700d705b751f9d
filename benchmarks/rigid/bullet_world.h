// SPDX-License-Identifier: MIT
// A world of Bullet with its default solver settings, and what it is made of. Sleeping off.
#pragma once

#include <btBulletDynamicsCommon.h>

#include <memory>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::bench {

inline btVector3 to_bullet(const Vec3& v)
{
  return {static_cast<btScalar>(v.x()), static_cast<btScalar>(v.y()), static_cast<btScalar>(v.z())};
}

inline btTransform to_bullet(const Pose& pose)
{
  const Quat& q = pose.rotation;
  return btTransform(btQuaternion(static_cast<btScalar>(q.x()), static_cast<btScalar>(q.y()),
                                  static_cast<btScalar>(q.z()), static_cast<btScalar>(q.w())),
                     to_bullet(pose.position));
}

struct BulletWorld {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broad_phase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broad_phase, &solver, &configuration};
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btRigidBody>> bodies;

  BulletWorld() { world.setGravity({0, 0, btScalar(-9.81)}); }
  BulletWorld(const BulletWorld&) = delete;
  BulletWorld& operator=(const BulletWorld&) = delete;
  ~BulletWorld()
  {
    for (const auto& body : bodies) world.removeRigidBody(body.get());
  }
  void add(const btRigidBody::btRigidBodyConstructionInfo& info)
  {
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }
};

}  // namespace thrum::bench
