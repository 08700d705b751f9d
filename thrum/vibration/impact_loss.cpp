// SPDX-License-Identifier: MIT
#include "thrum/vibration/impact_loss.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "thrum/base/index.h"

namespace thrum::vibration {

namespace {

// What gravity did to a body in the step beyond its impulse times the mean of the speeds before and after
// [J]: a body that bounces within a step rises or falls differently from that mean.
double gravity_excess(const RigidBodyData& body, double step)
{
  if (body.inverse_mass == 0) return 0;
  return body.acceleration.dot(body.displacement - step * (body.velocity_before + body.velocity) / 2) /
         body.inverse_mass;
}

// The contacts of one body.
struct Sum {
  double lambda = 0;      // of the struck ones [N s]
  double lost = 0;        // by all contacts, of both bodies [J]
  double lost_alone = 0;  // of that, by the body itself [J]
  double along = 0;       // lambda . u1 of the struck ones and the body itself [J]
  double square = 0;      // lambda . A lambda likewise [J]
};

}  // namespace

// Impulses lambda change kinetic energy by lambda . (u0 + u1) / 2, u0 and u1 being the speeds along them
// before and after the step, whatever happened in between; with the excess G of gravity the contacts of a
// body lost
//
//     L = G - lambda . (u0 + u1) / 2.
//
// The solver's impulses hold the weight of the step too. Of those that strike the share s with
//
//     s^2 lambda.A lambda / 2 - s lambda.u1 = L
//
// is the impact's: without it the body has, where it is now, the energy with which it came, no more and no
// less. Here L, A and u1 are those of the other body alone. With the ringing body in A, as if it were free,
// the share was too small where it stands on something: a table on its feet (33 kg) under a ball of 7 kg was
// struck with 2.95 instead of 3.38 m/s, but with all of it where the impact fell so late in the step that the
// ball was still moving at its end.
void compute_impact_losses(std::span<const RigidBodyData> bodies, double step,
                           std::span<SurfaceContact> contacts)
{
  std::vector<RigidBodyData> alone(bodies.begin(), bodies.end());
  alone[0] = {};
  std::map<std::int32_t, Sum> sums;
  for (const SurfaceContact& contact : contacts) {
    Sum& sum = sums[contact.body];
    const double after = separation_speed({bodies, {}, step}, contact);
    const double before_alone = contact.normal.dot(bodies[0].velocity_before) - contact.approach_speed;
    const double after_alone = separation_speed({alone, {}, step}, contact);
    sum.lost -= contact.impulse * (after - contact.approach_speed) / 2;
    sum.lost_alone -= contact.impulse * (after_alone + before_alone) / 2;
    if (!contact.struck) continue;
    sum.lambda += contact.impulse;
    sum.along += contact.impulse * after_alone;
    for (const SurfaceContact& other : contacts) {
      if (other.struck && other.body == contact.body)
        sum.square += contact.impulse * inverse_effective_mass(alone, contact, other) * other.impulse;
    }
  }
  for (SurfaceContact& contact : contacts) {
    const Sum& sum = sums[contact.body];
    if (!contact.struck || !(sum.lambda > 0)) continue;
    const double excess = gravity_excess(bodies[at(contact.body)], step);
    contact.loss = std::max(0.0, sum.lost + excess) * contact.impulse / sum.lambda;
    if (!(sum.square > 0)) continue;
    const double root =
        std::sqrt(std::max(0.0, sum.along * sum.along + 2 * sum.square * (sum.lost_alone + excess)));
    contact.impulse *= std::max(0.0, (sum.along + root) / sum.square);
  }
}

void merge_struck_contacts(std::span<const RigidBodyData> bodies, double distance,
                           std::span<SurfaceContact> contacts)
{
  constexpr double kSameNormal = 0.985;  // cosine of 10 degrees
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    SurfaceContact& first = contacts[i];
    for (std::size_t j = i + 1; j < contacts.size() && first.struck; ++j) {
      SurfaceContact& second = contacts[j];
      if (!second.struck || second.body != first.body || first.normal.dot(second.normal) < kSameNormal)
        continue;
      const RigidBodyData& other = bodies[at(first.body)];
      const Vec3 between = arm_of_other(other, first) - arm_of_other(other, second);
      if (first.normal.cross(between).norm() > distance) continue;
      if (second.impulse > first.impulse) {
        first.position = second.position;
        first.normal = second.normal;
        first.travel = second.travel;
      }
      first.impulse += second.impulse;
      first.loss += second.loss;
      first.approach_speed = std::max(first.approach_speed, second.approach_speed);
      first.gap = std::min(first.gap, second.gap);
      second.struck = false;
      second.impulse = 0;
      second.loss = 0;
    }
  }
}

}  // namespace thrum::vibration
