// SPDX-License-Identifier: MIT
#include "thrum/vibration/surface_contact.h"

#include "thrum/base/index.h"

namespace thrum::vibration {

namespace {

double body_inverse_effective_mass(const RigidBodyData& part, const SurfaceContact& i,
                                   const SurfaceContact& j)
{
  if (part.inverse_mass == 0) return 0;
  const Vec3 arm_i = (i.position - part.centre).cross(i.normal);
  const Vec3 arm_j = (j.position - part.centre).cross(j.normal);
  return part.inverse_mass * i.normal.dot(j.normal) + arm_i.dot(part.inverse_inertia * arm_j);
}

}  // namespace

double inverse_effective_mass(std::span<const RigidBodyData> bodies, const SurfaceContact& i,
                              const SurfaceContact& j)
{
  double inverse_effective_mass = body_inverse_effective_mass(bodies[0], i, j);
  if (i.body == j.body) inverse_effective_mass += body_inverse_effective_mass(bodies[at(i.body)], i, j);
  return inverse_effective_mass;
}

}  // namespace thrum::vibration
