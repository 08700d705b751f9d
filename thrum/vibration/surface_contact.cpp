// SPDX-License-Identifier: MIT
#include "thrum/vibration/surface_contact.h"

#include "thrum/base/index.h"

namespace thrum::vibration {

namespace {

template <class Arm>
double body_inverse_effective_mass(const RigidBodyData& part, const SurfaceContact& i,
                                   const SurfaceContact& j, const Arm& arm)
{
  if (part.inverse_mass == 0) return 0;
  const Vec3 turn_i = arm(part, i).cross(i.normal);
  const Vec3 turn_j = arm(part, j).cross(j.normal);
  return part.inverse_mass * i.normal.dot(j.normal) + turn_i.dot(part.inverse_inertia * turn_j);
}

}  // namespace

double inverse_effective_mass(std::span<const RigidBodyData> bodies, const SurfaceContact& i,
                              const SurfaceContact& j)
{
  double inverse_effective_mass = body_inverse_effective_mass(bodies[0], i, j, arm_of_own);
  if (i.body == j.body)
    inverse_effective_mass += body_inverse_effective_mass(bodies[at(i.body)], i, j, arm_of_other);
  return inverse_effective_mass;
}

}  // namespace thrum::vibration
