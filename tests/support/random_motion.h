// SPDX-License-Identifier: MIT
// Random numbers, directions and rotations for property tests.
#pragma once

#include <numbers>
#include <random>

#include "thrum/base/vec.h"

namespace thrum::support {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vec3 in_cube(double half) { return {in(-half, half), in(-half, half), in(-half, half)}; }
  Vec3 direction()
  {
    for (;;) {
      const Vec3 d = in_cube(1);
      if (d.norm() > 0.1 && d.norm() < 1) return d.normalized();
    }
  }
  Quat rotation() { return Quat(Eigen::AngleAxisd(in(0, std::numbers::pi), direction())); }

 private:
  std::mt19937 engine_;
};

}  // namespace thrum::support
