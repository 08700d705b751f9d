// SPDX-License-Identifier: MIT
#include "thrum/vibration/touch.h"

namespace thrum::vibration {

namespace {

double answer_of(const RigidPart& part, const Touch& i, const Touch& j)
{
  if (part.inverse_mass == 0) return 0;
  const Vec3 arm_i = (i.position - part.centre).cross(i.normal);
  const Vec3 arm_j = (j.position - part.centre).cross(j.normal);
  return part.inverse_mass * i.normal.dot(j.normal) + arm_i.dot(part.inverse_inertia * arm_j);
}

}  // namespace

double rigid_answer(std::span<const RigidPart> bodies, const Touch& i, const Touch& j)
{
  double answer = answer_of(bodies[0], i, j);
  if (i.body == j.body) answer += answer_of(bodies[static_cast<std::size_t>(i.body)], i, j);
  return answer;
}

}  // namespace thrum::vibration
