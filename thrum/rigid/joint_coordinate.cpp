// SPDX-License-Identifier: MIT
#include "thrum/rigid/joint_coordinate.h"

#include <cmath>

namespace thrum::rigid {

double joint_coordinate(model::JointKind kind, const Pose& X_wja, const Pose& X_wjb)
{
  const Vec3 d = X_wjb.position - X_wja.position;
  switch (kind) {
    case model::JointKind::hinge: {
      const Vec3 x = X_wja.direction(Vec3::UnitX());
      const Vec3 z = X_wja.direction(Vec3::UnitZ());
      const Vec3 xb = X_wjb.direction(Vec3::UnitX());
      return std::atan2(z.dot(x.cross(xb)), x.dot(xb));
    }
    case model::JointKind::slider:
      return X_wja.direction(Vec3::UnitZ()).dot(d);
    case model::JointKind::distance:
    case model::JointKind::spring:
      return d.norm();
    case model::JointKind::fixed:
    case model::JointKind::ball:
      break;
  }
  return 0;
}

double joint_rate(model::JointKind kind, const Pose& X_wja, const Pose& X_wjb, const model::BodyState& a,
                  const model::BodyState& b)
{
  const Vec3 z = X_wja.direction(Vec3::UnitZ());
  const Vec3 d = X_wjb.position - X_wja.position;
  const Vec3 v = model::velocity_at(b, X_wjb.position) - model::velocity_at(a, X_wja.position);
  switch (kind) {
    case model::JointKind::hinge:
      return z.dot(b.angular_velocity - a.angular_velocity);
    case model::JointKind::slider:
      // The axis turns with a: d/dt (z . d) = z . (v - w_a x d).
      return z.dot(v - a.angular_velocity.cross(d));
    case model::JointKind::distance:
    case model::JointKind::spring:
      return d.norm() > 0 ? d.normalized().dot(v) : 0;
    case model::JointKind::fixed:
    case model::JointKind::ball:
      break;
  }
  return 0;
}

}  // namespace thrum::rigid
