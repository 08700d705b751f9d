// SPDX-License-Identifier: MIT
// Forces of redundant contacts, spread so that they change as little as possible from step to step
// [Zheng11, section 5.2].
//
// A body that rests on more contacts than its equilibrium needs gets contact forces that the solver chose
// somewhat arbitrarily; if they jump from point to point, the body buzzes though nothing moves. The forces
//
//     a' = argmin |a' - a'_last|^2,     N a' = N a,     a' >= 0                                 (13, 14)
//
// act on the rigid body as the solver's do: N maps normal forces to force and torque. A contact that is new
// has the last force 0. Without active bounds a' = a'_last + N^+ N (a - a'_last), so that a steady load gives
// steady forces bit for bit.
//
// Friction likewise, with the tangential forces b and the bound |b'| <= mu a'. The paper solves both in one
// quadratic program with a polygon of friction directions; here friction is spread after the normal forces,
// and where it then exceeds its bound it is cut back to it: its sum may be smaller than the solver's.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "thrum/base/vec.h"

namespace thrum::sound {

/// A contact of one body, in axes of the body.
struct ContactForce {
  std::uint64_t key = 0;         ///< the same from step to step
  Vec3 position = Vec3::Zero();  ///< [m]
  Vec3 normal = Vec3::UnitZ();   ///< unit; direction in which the contact pushes the body
  double normal_force = 0;       ///< at least 0 [N]
  Vec3 friction = Vec3::Zero();  ///< across the normal [N]
  double coefficient = 0;        ///< of friction
};

class ForceRedistribution {
 public:
  /// Changes the forces of the contacts of a step, in place. A body without contacts forgets its forces.
  void redistribute(std::vector<ContactForce>& contacts);

 private:
  /// Pseudo-inverse of A A^T, kept while the contacts stay where they are.
  struct Factor {
    Eigen::Matrix<double, 6, Eigen::Dynamic> A;
    Eigen::Matrix<double, 6, 6> inverse;
  };
  struct Last {
    std::uint64_t key = 0;
    double normal_force = 0;
    Vec3 friction = Vec3::Zero();
  };
  [[nodiscard]] Last last_of(std::uint64_t key, std::size_t number) const;
  std::vector<Last> last_;  ///< by contact of the step before
  Factor normals_;
  Factor tangents_;
  // Of a step, kept for their memory.
  Eigen::Matrix<double, 6, Eigen::Dynamic> N_, D_;
  VecX a_, a_target_, b_, b_target_;
  std::vector<std::array<Vec3, 2>> tangent_axes_;
};

}  // namespace thrum::sound
