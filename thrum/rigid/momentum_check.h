// SPDX-License-Identifier: MIT
// Debug builds compare momentum before and after each sweep: what moving bodies gained must be what fixed ones gave.
#pragma once

#include <span>

#include "thrum/base/error.h"
#include "thrum/rigid/contact_rows.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

class MomentumCheck {
 public:
  MomentumCheck(std::span<const SolverPatch> patches, SolverBodies& bodies)
      : patches_(patches), bodies_(bodies)
  {
#ifndef NDEBUG
    before_ = balance();
#endif
  }
  MomentumCheck(const MomentumCheck&) = delete;
  MomentumCheck& operator=(const MomentumCheck&) = delete;
  ~MomentumCheck()
  {
    THRUM_ASSERT((balance() - before_).norm() <= kMomentumTolerance * scale_);
  }

 private:
  /// Rounding of a sweep, relative to the sum of all momenta and impulses.
  static constexpr double kMomentumTolerance = 1e-9;

  // Momentum of the bodies that yield, minus the impulses that came from bodies that do not [kg m/s].
  [[nodiscard]] Vec3 balance()
  {
    Vec3 sum = Vec3::Zero();
    scale_ = 0;
    for (const SolverBody& body : bodies_.all()) {
      if (body.inverse_mass == 0) continue;
      sum += body.v / body.inverse_mass;
      scale_ += body.v.norm() / body.inverse_mass;
    }
    for (const SolverPatch& p : patches_) {
      const double on_b = bodies_[p.b].inverse_mass > 0 ? 1.0 : 0.0;
      const double on_a = bodies_[p.a].inverse_mass > 0 ? 1.0 : 0.0;
      const Vec3 impulse = p.lambda.sum() * p.n + p.friction.x() * p.t1 + p.friction.y() * p.t2;
      sum -= (on_b - on_a) * impulse;
      scale_ += impulse.norm();
    }
    return sum;
  }

  std::span<const SolverPatch> patches_;
  SolverBodies& bodies_;
  [[maybe_unused]] Vec3 before_ = Vec3::Zero();
  [[maybe_unused]] double scale_ = 0;
};

}  // namespace thrum::rigid
