// SPDX-License-Identifier: MIT
// Chains of jointed links at random speeds, of which tests of fast joints are made.
//
//   Chain chain = new_chain(way, random, least, most);
//   add_wall_below(chain, random);
//   for (std::size_t i = 0; i < chain.count; ++i) {
//     add_link(chain, place_in_row(chain, i), kThrown, random);
//     ...  // joints
//   }
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <sstream>
#include <tuple>
#include <vector>

#include "tests/sim/random_cases.h"
#include "tests/sim/world_fixture.h"
#include "thrum/base/random.h"

namespace thrum::sim::testing {

inline constexpr std::array<const char*, 5> kJointNames = {"fixed", "ball", "hinge", "slider", "distance"};

struct Chain {
  std::unique_ptr<World> world;
  std::vector<model::BodyId> bodies;
  std::vector<model::JointDesc> joints;
  std::size_t count = 0;  ///< links that it is to have
  double size = 0;        ///< of a link [m]
  double h = 0;           ///< step [s]
  std::ostringstream text;
};

/// What the links of a chain are thrown with [m/s].
struct LinkSpeeds {
  double least = 0;
  double most = 0;
  bool downwards = false;  ///< along -y
};

/// At a wall below.
inline constexpr LinkSpeeds kThrown{100, 900, true};

inline Quat any_turn(base::Random& random)
{
  return Quat(random.normal(), random.normal(), random.normal(), random.normal()).normalized();
}

/// A world without gravity for `least` to `most` links of 1 cm to 1 m, with a step of 1/1000 to 1/30 s and
/// any restitution and friction.
inline Chain new_chain(const Way& way, base::Random& random, std::size_t least, std::size_t most)
{
  Chain chain;
  WorldDesc desc = desc_without_sleep();
  std::tie(desc.stepper, desc.time_of_impact) = way;
  desc.gravity.setZero();
  chain.world = std::make_unique<World>(desc);
  chain.h = 1 / spread(random, 30, 1000);
  chain.size = spread(random, 0.01, 1);
  chain.count = least + random.index(most - least + 1);
  const double restitution = random.chance(0.5) ? 0 : random.uniform();
  const double friction = random.chance(0.3) ? 0 : random.uniform();
  chain.world->set_surface(model::kDefaultSurface, {restitution, friction, 0, 0});
  chain.text << "links of " << chain.size << " m, h 1/" << 1 / chain.h << ", restitution " << restitution
             << ", friction " << friction;
  return chain;
}

inline void add_wall_below(Chain& chain, base::Random& random)
{
  const double s = chain.size;
  BodyDesc wall;
  wall.motion = model::Motion::fixed;
  wall.shape = chain.world->add_shape({model::Box{s * Vec3(20, 0.2, 20)}});
  wall.X_ws.position = Vec3(0, -s * random.uniform(0.5, 3), 0);
  chain.world->add_body(wall);
}

inline Vec3 place_in_row(const Chain& chain, std::size_t i)
{
  return {chain.size * (static_cast<double>(i) - 0.5 * static_cast<double>(chain.count - 1)), 0, 0};
}

/// A ball or a flat box of 0.1 to 10 kg; half of them spin.
inline void add_link(Chain& chain, const Vec3& place, const LinkSpeeds& speeds, base::Random& random)
{
  const double s = chain.size;
  const model::Shape shape = random.chance(0.3) ? model::Shape{model::Sphere{0.3 * s}}
                                                : model::Shape{model::Box{s * Vec3(0.4, 0.1, 0.15)}};
  const model::BodyId body = add(*chain.world, shape, place, spread(random, 0.1, 10));
  const double speed = spread(random, speeds.least, speeds.most);
  const double tip = random.chance(0.5) ? 0.0 : spread(random, 1, speeds.most);
  Vec3 direction = any_direction(random);
  if (speeds.downwards) direction.y() = -std::abs(direction.y());
  chain.world->set_velocity(body, speed * direction, 2 * tip / s * any_direction(random));
  chain.text << "; " << speed << " m/s, tips " << tip;
  chain.bodies.push_back(body);
}

/// Where the last two links of a row meet; `is_rod`: between their centres, as long as they are apart.
inline void add_joint_in_row(Chain& chain, model::JointKind kind, const Quat& turn, bool is_rod = false)
{
  const double s = chain.size;
  model::JointDesc joint;
  joint.kind = kind;
  joint.a = chain.bodies[chain.bodies.size() - 2];
  joint.b = chain.bodies.back();
  joint.X_aj = {{is_rod ? 0.0 : 0.5 * s, 0, 0}, turn};
  joint.X_bj = {{is_rod ? 0.0 : -0.5 * s, 0, 0}, turn};
  if (is_rod) joint.length = s;
  chain.world->add_joint(joint);
  chain.joints.push_back(joint);
  chain.text << ", " << kJointNames[static_cast<std::size_t>(kind)] << (is_rod ? " (rod)" : "");
}

/// Infinite when it is not a number [J].
inline double energy_of(const World& world)
{
  const double energy = world.kinetic_energy() + world.contact_energy();
  return std::isfinite(energy) ? energy : std::numeric_limits<double>::infinity();
}

/// The energy over that at the start, at most, in some steps.
struct EnergyGain {
  double most = 0;
  double after_loss = 0;  ///< over the least before
  int step = 0;           ///< of the most
};

inline EnergyGain step_and_find_gain(Chain& chain, int steps)
{
  EnergyGain gain;
  const double start = energy_of(*chain.world);
  double least = start;
  for (int k = 0; k < steps && std::isfinite(gain.most); ++k) {
    chain.world->step(chain.h);
    const double now = energy_of(*chain.world);
    if (now / start > gain.most) gain.step = k;
    gain.most = std::max(gain.most, now / start);
    gain.after_loss = std::max(gain.after_loss, now / least);
    least = std::min(least, now);
  }
  return gain;
}

}  // namespace thrum::sim::testing
