// SPDX-License-Identifier: MIT
// Scenes of rings, described once and built in thrum as meshes and in Bullet as capsules or meshes.
#pragma once

#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/mesh/triangle_mesh.h"

namespace thrum::bench {

struct PoleBody {
  Vec3 position;       ///< of its middle [m]
  double radius;       ///< [m]
  double half_length;  ///< [m]
};

struct RingScene {
  std::string name;
  std::vector<Pose> rings;
  std::vector<PoleBody> poles;
  double half_width = 0;  ///< of the box that holds them; 0: no walls [m]
  double friction = 0.5;
  /// And spinning: a ring that rocks on another one comes to rest sooner [m].
  double rolling_friction = 0.005;
  double seconds = 5;
};

inline constexpr double kMajorRadius = 0.5;   ///< [m]
inline constexpr double kMinorRadius = 0.15;  ///< [m]
inline constexpr double kRingMass = 50;       ///< [kg]

/// 500 triangles.
[[nodiscard]] mesh::TriangleMesh ring_mesh();
/// Rings in layers, turned at random, that fall into a box of 10 x 10 m.
[[nodiscard]] RingScene rings_in_box(int count, unsigned seed = 1);
/// Rings in layers of nine that fall into a box of 4.6 x 4.6 m: a deep heap of few rings.
[[nodiscard]] RingScene rings_in_narrow_box(int count);
/// Rings that fall over and beside 25 poles.
[[nodiscard]] RingScene rings_on_poles(int count, unsigned seed = 1);

struct RingResult {
  double seconds = 0;      ///< CPU time per step [s]
  double penetration = 0;  ///< deepest contact at the end [m]
  double worst = 0;        ///< deepest contact of the whole run [m]
  double linked = 0;       ///< pairs linked at the end
  double energy = 0;       ///< kinetic, at the end [J]
  std::string note;
};

enum class BulletRing { capsules, gimpact };
[[nodiscard]] RingResult run_bullet(const RingScene& scene, BulletRing kind);
[[nodiscard]] int linked_pairs(const std::vector<Pose>& rings);

}  // namespace thrum::bench
