// SPDX-License-Identifier: MIT
// Debug builds compare momentum and angular momentum before and after each sweep: what moving bodies gained
// must be what fixed ones gave.
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
#ifndef NDEBUG
    const Balance after = balance();
    THRUM_ASSERT((after.linear - before_.linear).norm() <= kMomentumTolerance * after.linear_scale);
    THRUM_ASSERT((after.angular - before_.angular).norm() <= kMomentumTolerance * after.angular_scale);
#endif
  }

 private:
  /// Rounding of a sweep over rows in single precision, relative to the sum of all momenta and impulses.
  static constexpr double kMomentumTolerance = 1e-6;

#ifndef NDEBUG
  struct Balance {
    Vec3 linear = Vec3::Zero();   ///< [kg m/s]
    Vec3 angular = Vec3::Zero();  ///< about the origin [kg m^2/s]
    double linear_scale = 0;
    double angular_scale = 0;
  };

  // Momentum of the bodies that yield, minus the impulses that came from bodies that do not.
  [[nodiscard]] Balance balance()
  {
    Balance sum;
    for (std::size_t i = 0; i + 1 < bodies_.all().size(); ++i) {
      const SolverBody& body = bodies_.all()[i];
      if (body.inverse_mass == 0) continue;
      const Vec3 momentum = body.v / body.inverse_mass;
      const Vec3 spin = body.inverse_inertia.inverse() * body.w;
      const Vec3 x = bodies_.position(static_cast<model::BodyIndex>(i));
      sum.linear += momentum;
      sum.angular += x.cross(momentum) + spin;
      sum.linear_scale += momentum.norm();
      sum.angular_scale += x.norm() * momentum.norm() + spin.norm();
    }
    for (std::size_t i = 0; i < contacts_.patches().size(); ++i)
      subtract_impulse_of_fixed(contacts_.patches()[i], contacts_.records()[i], sum);
    return sum;
  }

  void subtract_impulse_of_fixed(const SolverPatch& p, const PatchRecord& r, Balance& sum)
  {
    const bool a_yields = bodies_[p.a].inverse_mass > 0;
    const bool b_yields = bodies_[p.b].inverse_mass > 0;
    const Eigen::Array<double, 8, 1> lambda = p.lambda.cast<double>();
    const Vec3 impulse =
        lambda.head<4>().sum() * r.n + lambda[kFirstTangent] * r.t1 + lambda[kSecondTangent] * r.t2;
    const model::BodyIndex mover = b_yields ? p.b : p.a;
    const std::array<Rows, 3>& arm = b_yields ? p.arm_b : p.arm_a;
    const auto turn_about = [&](std::size_t k) {
      return (arm[k].cast<double>() * lambda).sum();
    };
    const Vec3 x = bodies_.position(mover);
    const Vec3 turn =
        x.cross(impulse) + Vec3(turn_about(0), turn_about(1), turn_about(2)) + r.rolling_impulse;
    sum.linear_scale += impulse.norm();
    sum.angular_scale += x.norm() * impulse.norm() + turn.norm();
    if (a_yields == b_yields) return;
    sum.linear -= (b_yields ? 1 : -1) * impulse;
    sum.angular -= (b_yields ? 1 : -1) * turn;
  }

  Balance before_;
#endif

  [[maybe_unused]] const ContactRows& contacts_;
  [[maybe_unused]] SolverBodies& bodies_;
};

}  // namespace thrum::rigid
