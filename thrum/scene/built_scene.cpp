// SPDX-License-Identifier: MIT
// What a scene's script does as time goes on.
#include <algorithm>

#include "thrum/scene/build_world.h"

namespace thrum::scene {

Vec3 ScriptedForce::at(double time) const
{
  if (times.empty() || time < times.front() || time > times.back()) return Vec3::Zero();
  const auto after = std::upper_bound(times.begin(), times.end(), time);
  if (after == times.end()) return forces.back();
  const auto i = static_cast<std::size_t>(after - times.begin());
  const double share = (time - times[i - 1]) / (times[i] - times[i - 1]);
  return (1 - share) * forces[i - 1] + share * forces[i];
}

void BuiltScene::step(double time, double h)
{
  for (const ScriptedImpulse& scripted : impulses) {
    if (scripted.time < time || scripted.time >= time + h) continue;
    world.apply_impulse(scripted.body, scripted.impulse,
                        world.body(scripted.body).X_wb.point(scripted.position_b));
  }
  for (const ScriptedForce& scripted : forces) {
    // The mean over the step, taken at its middle.
    const Vec3 force = scripted.at(time + 0.5 * h);
    if (force.squaredNorm() > 0) {
      world.apply_force(scripted.body, force, world.body(scripted.body).X_wb.point(scripted.position_b));
    }
  }
  world.step(h);
}

}  // namespace thrum::scene
