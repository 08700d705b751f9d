// SPDX-License-Identifier: MIT
// Groups of bodies, modes and contacts at random.
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

// Bodies with some modes on the ground, pushed sideways at random.
struct RandomGroup {
  ContactGroup group;
  std::vector<std::unique_ptr<elastic::ModeList>> modes;
};

// `gap`: mean distance of the contacts at the beginning [m].
inline void build(RandomGroup& result, unsigned seed, double friction, int mode_count, double gap = 0)
{
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  std::vector<int> bodies;
  for (int i = 0; i < 3; ++i) {
    auto list = std::make_unique<elastic::ModeList>();
    list->omegas = VecX::LinSpaced(mode_count, 3e3, 3e4);
    list->decays = VecX::Constant(mode_count, 10);
    const double mass = std::pow(10, u(random));
    bodies.push_back(result.group.add_body({.moves = true,
                                            .inverse_mass = 1 / mass,
                                            .inverse_inertia = Vec3(1, 1.5, 2) * 100 / mass,
                                            .velocity = Vec3(u(random), u(random), -1),
                                            .acceleration = Vec3(0, 0, -9.81),
                                            .modes = list.get(),
                                            .weight = mass}));
    result.modes.push_back(std::move(list));
  }
  const auto shapes = [&] {
    std::vector<double> values(static_cast<std::size_t>(mode_count));
    for (double& value : values) value = u(random);
    return values;
  };
  for (int k = 0; k < 8; ++k) {
    const int a = k < 4 ? kNoBody : bodies[static_cast<std::size_t>(k % 2)];
    const int b = bodies[static_cast<std::size_t>(k < 4 ? k % 2 : 2)];
    const Vec3 arm_a = 0.1 * Vec3(u(random), u(random), 1);
    const Vec3 arm_b = 0.1 * Vec3(u(random), u(random), -1);
    const auto row = [&](const Vec3& n) {
      const std::vector<double> of_a = shapes();
      const std::vector<double> of_b = shapes();
      return result.group.add_row({a, -n, arm_a.cross(-n), a == kNoBody ? std::span<const double>{} : of_a},
                                  {b, n, arm_b.cross(n), of_b});
    };
    result.group.begin_patch();
    (void)result.group.add_contact(row(Vec3::UnitZ()), {1e9, 100 * (1 + u(random))},
                                   gap > 0 ? -gap * (1 + u(random)) : 0, 0);
    (void)result.group.add_slip(
        {.rows = {row(Vec3::UnitX()), row(Vec3::UnitY())}, .stiffness = 1e6, .limit = friction});
  }
}

}  // namespace thrum::flexible
