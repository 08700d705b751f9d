// SPDX-License-Identifier: MIT
// Scenes of boxes on a plane, described once and built in thrum and in Bullet.
#pragma once

#include <string>
#include <vector>

#include "thrum/base/vec.h"
#include "thrum/sim/world.h"

namespace thrum::bench {

struct BoxBody {
  Vec3 half;      ///< [m]
  Vec3 position;  ///< of its centre [m]
  double mass;    ///< [kg]
  Quat rotation = Quat::Identity();
};

struct BoxScene {
  std::string name;
  std::vector<BoxBody> boxes;
  double friction = 0.5;
  double seconds = 10;
};

inline constexpr double kStep = 1.0 / 60;  ///< [s]

/// 210 boxes of 1 m, 20 in the lowest row.
[[nodiscard]] BoxScene pyramid();
/// `count` boxes of 1 m on one another.
[[nodiscard]] BoxScene tower(int count);
/// 1012 bricks of 0.4 x 0.2 x 0.2 m in running bond, 25 rows.
[[nodiscard]] BoxScene wall();
/// A box of `heavy` kg on ten boxes of 1 kg.
[[nodiscard]] BoxScene heavy_on_ten(double heavy);
/// Boxes that rest on the plane far from each other.
[[nodiscard]] BoxScene separate(int count);
/// Boxes in ten layers, turned at random and apart, that fall into a heap: its area grows with the count.
[[nodiscard]] BoxScene falling(int count);

struct RunResult {
  double drift = 0;    ///< largest distance of a body from where it began [m]
  double sink = 0;     ///< largest sag of a body [m]
  double seconds = 0;  ///< CPU time per step [s]
  double energy = 0;   ///< kinetic, at the end; of thrum only [J]
  std::string note;
};

[[nodiscard]] RunResult run_thrum(const BoxScene& scene,
                                  sim::StepperKind stepper = sim::StepperKind::constraint);
[[nodiscard]] RunResult run_bullet(const BoxScene& scene);

}  // namespace thrum::bench
