// SPDX-License-Identifier: MIT
// Debug builds compare momentum before and after each sweep: what moving bodies gained must be what fixed
// ones gave.
#pragma once

#include <span>

#include "thrum/base/error.h"
#include "thrum/rigid/contact_rows.h"
#include "thrum/rigid/solver_body.h"

namespace thrum::rigid {

class MomentumCheck {
 public:
  MomentumCheck(const ContactRows& contacts, SolverBodies& bodies) : contacts_(contacts), bodies_(bodies)
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
  /// Rounding of a sweep over rows in single precision, relative to the sum of all momenta and impulses.
  static constexpr double kMomentumTolerance = 1e-6;

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
    for (std::size_t i = 0; i < contacts_.patches().size(); ++i) {
      const SolverPatch& p = contacts_.patches()[i];
      const PatchRecord& r = contacts_.records()[i];
      const double on_b = bodies_[p.b].inverse_mass > 0 ? 1.0 : 0.0;
      const double on_a = bodies_[p.a].inverse_mass > 0 ? 1.0 : 0.0;
      const Eigen::Array<double, 8, 1> lambda = p.lambda.cast<double>();
      const Vec3 impulse =
          lambda.head<4>().sum() * r.n + lambda[kFirstTangent] * r.t1 + lambda[kSecondTangent] * r.t2;
      sum -= (on_b - on_a) * impulse;
      scale_ += impulse.norm();
    }
    return sum;
  }

  const ContactRows& contacts_;
  SolverBodies& bodies_;
  [[maybe_unused]] Vec3 before_ = Vec3::Zero();
  [[maybe_unused]] double scale_ = 0;
};

}  // namespace thrum::rigid
