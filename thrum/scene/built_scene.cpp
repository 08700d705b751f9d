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

// An impulse at a step's first moment belongs to that step. The moment k h is rounded, and (k - 1) h + h may
// be rounded otherwise, so both ends of the step are moved by far more than that and far less than a step;
// without it an impulse at 0.5 s acted twice with steps of 1/30 s.
constexpr double kTimeRounding = 1e-6;  // of the step

void BuiltScene::step(double time, double h)
{
  const double from = time - kTimeRounding * h;
  for (const ScriptedImpulse& scripted : impulses) {
    if (scripted.time < from || scripted.time >= from + h) continue;
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
