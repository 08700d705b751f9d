// SPDX-License-Identifier: MIT
// Vector, matrix, rotation and box types. Everything is double, SI, right-handed, z up.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <cstdint>

namespace thrum::base {

using Vec2 = Eigen::Vector2d;
using Vec3 = Eigen::Vector3d;
using Vec4 = Eigen::Vector4d;
using Mat3 = Eigen::Matrix3d;
using Quat = Eigen::Quaterniond;
using Box3 = Eigen::AlignedBox3d;  ///< empty until extended; see isEmpty()
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

/// Vertex indices of a triangle or a tetrahedron. Signed 32 bits: up to 2^31 - 1 vertices.
using Index = std::int32_t;
using Triangle = std::array<Index, 3>;
using Tetrahedron = std::array<Index, 4>;

/// A rigid motion. `X_wb` maps a point given in body axes to world axes: p_w = rotation * p_b + position.
struct Pose {
  Vec3 position = Vec3::Zero();  ///< [m]
  Quat rotation = Quat::Identity();

  [[nodiscard]] Vec3 point(const Vec3& p) const { return rotation * p + position; }
  [[nodiscard]] Vec3 direction(const Vec3& d) const { return rotation * d; }
  [[nodiscard]] Vec3 point_to_local(const Vec3& p) const { return rotation.conjugate() * (p - position); }
  [[nodiscard]] Vec3 direction_to_local(const Vec3& d) const { return rotation.conjugate() * d; }

  /// Applies `b` first, then `a`.
  friend Pose operator*(const Pose& a, const Pose& b)
  {
    return {a.point(b.position), a.rotation * b.rotation};
  }
  [[nodiscard]] Pose inverse() const
  {
    const Quat back = rotation.conjugate();
    return {-(back * position), back};
  }
};

/// The matrix of the cross product: skew(a) * b == a.cross(b).
[[nodiscard]] inline Mat3 skew(const Vec3& a)
{
  Mat3 m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

}  // namespace thrum::base

namespace thrum {
// The vocabulary types are used in every folder, so they are also available without the namespace of the
// folder.
using base::Box3;
using base::Index;
using base::Mat3;
using base::MatX;
using base::Pose;
using base::Quat;
using base::Tetrahedron;
using base::Triangle;
using base::Vec2;
using base::Vec3;
using base::Vec4;
using base::VecX;
}  // namespace thrum
