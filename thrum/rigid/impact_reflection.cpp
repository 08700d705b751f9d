// SPDX-License-Identifier: MIT
#include "thrum/rigid/impact_reflection.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/numerics/complementarity.h"
#include "thrum/rigid/point_impulse.h"

namespace thrum::rigid {

namespace {

/// Points of a face, and joints in a loop, are redundant. This share of the diagonal makes their split
/// unique: the even one.
constexpr double kRegularisation = 1e-10;
/// A point approaches when it does so by more than this share of the largest speed of the impact.
constexpr double kApproach = 1e-12;
/// Reflections at most, for each point and beyond.
constexpr int kReflectionsPerPoint = 4;
constexpr int kMoreReflections = 16;
/// Sweeps over the points with friction, and the change at which they end as a share of the largest speed.
constexpr int kFrictionSweeps = 300;
constexpr double kFrictionAccuracy = 1e-12;

BodyRow row_along(const ReflectionPoint& point, const Vec3& axis)
{
  return {point.a, point.b, axis, point.ra.cross(axis), point.rb.cross(axis)};
}

Vec3 tangent_of(const Vec3& n)
{
  Eigen::Index axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  return n.cross(Vec3(Vec3::Unit(axis))).normalized();
}

/// The impact in the space of its rows: normals, then pairs of tangents if there is friction.
class Reflection {
 public:
  Reflection(std::vector<ReflectionPoint>& points, const std::vector<ReflectionJointRow>& joints,
             SolverBodies& bodies)
      : points_(points), bodies_(bodies), count_(static_cast<Eigen::Index>(points.size()))
  {
    for (const ReflectionPoint& point : points_) rows_.push_back(row_along(point, point.n));
    has_friction_ = std::any_of(points_.begin(), points_.end(),
                                [](const ReflectionPoint& point) { return point.friction > 0; });
    for (std::size_t i = 0; has_friction_ && i < points_.size(); ++i) {
      const Vec3 t1 = tangent_of(points_[i].n);
      rows_.push_back(row_along(points_[i], t1));
      rows_.push_back(row_along(points_[i], points_[i].n.cross(t1)));
    }
    for (const ReflectionJointRow& joint : joints)
      joints_.push_back({joint.a, joint.b, joint.linear, joint.angular_a, joint.angular_b});
    build();
  }

  ReflectionResult run()
  {
    const VecX u = start_.head(count_);
    approach_ = kApproach * u.cwiseAbs().maxCoeff();
    VecX reflected = VecX::Zero(count_);
    const ReflectionResult result = repeat_reflections(reflected);
    VecX impulse = VecX::Zero(A_.rows());
    impulse.head(count_) = apply_restitution(reflected);
    if (has_friction_) add_friction(impulse);
    store(impulse);
    return result;
  }

 private:
  void build()
  {
    const auto n = static_cast<Eigen::Index>(rows_.size());
    const auto m = static_cast<Eigen::Index>(joints_.size());
    A_.resize(n, n);
    start_.resize(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      start_[i] = speed_of(rows_[at(i)], bodies_);
      for (Eigen::Index j = 0; j <= i; ++j)
        A_(i, j) = A_(j, i) = coupling(rows_[at(i)], rows_[at(j)], bodies_);
    }
    if (m == 0) return;
    MatX B(m, m);
    MatX C(m, n);
    for (Eigen::Index i = 0; i < m; ++i) {
      for (Eigen::Index j = 0; j < m; ++j) B(i, j) = coupling(joints_[at(i)], joints_[at(j)], bodies_);
      for (Eigen::Index j = 0; j < n; ++j) C(i, j) = coupling(joints_[at(i)], rows_[at(j)], bodies_);
      B(i, i) += kRegularisation * B(i, i) + std::numeric_limits<double>::min();
    }
    VecX joint_speeds(m);
    for (Eigen::Index i = 0; i < m; ++i) joint_speeds[i] = speed_of(joints_[at(i)], bodies_);
    const Eigen::LDLT<MatX> factor = B.ldlt();
    joint_answer_ = -factor.solve(C);
    joint_start_ = -factor.solve(joint_speeds);
    start_ += C.transpose() * joint_start_;
    A_ += C.transpose() * joint_answer_;
    A_ = (0.5 * (A_ + A_.transpose())).eval();
  }

  // 0 <= x complementary to u + A x >= 0, for the points listed.
  [[nodiscard]] VecX solve(const std::vector<Eigen::Index>& active, const VecX& u) const
  {
    const auto k = static_cast<Eigen::Index>(active.size());
    VecX x = VecX::Zero(count_);
    if (k == 1) {
      const Eigen::Index i = active[0];
      if (A_(i, i) > 0) x[i] = std::max(0.0, -u[i] / A_(i, i));
      return x;
    }
    MatX A(k, k);
    VecX b(k);
    for (Eigen::Index r = 0; r < k; ++r) {
      for (Eigen::Index c = 0; c < k; ++c) A(r, c) = A_(active[at(r)], active[at(c)]);
      A(r, r) += kRegularisation * A(r, r) + std::numeric_limits<double>::min();
      b[r] = -u[active[at(r)]];
    }
    const numerics::ComplementarityBounds bounds{VecX::Zero(k),
                                                 VecX::Constant(k, std::numeric_limits<double>::infinity())};
    numerics::ComplementarityResult result = numerics::solve_by_pivoting(A, b, bounds);
    if (!result.ok()) result = numerics::solve_by_sweeps(A, b, bounds);
    for (Eigen::Index r = 0; r < k; ++r) x[active[at(r)]] = std::max(0.0, result.x[r]);
    return x;
  }
  [[nodiscard]] VecX solve_all(const VecX& u) const
  {
    std::vector<Eigen::Index> all;
    for (Eigen::Index i = 0; i < count_; ++i) all.push_back(i);
    return solve(all, u);
  }

  // Eq. (1).
  ReflectionResult repeat_reflections(VecX& impulse) const
  {
    ReflectionResult result;
    const auto normals = A_.topLeftCorner(count_, count_);
    VecX u = start_.head(count_);
    std::vector<Eigen::Index> approaching;
    const int most = kReflectionsPerPoint * static_cast<int>(count_) + kMoreReflections;
    for (;; ++result.reflections) {
      approaching.clear();
      for (Eigen::Index i = 0; i < count_; ++i)
        if (u[i] < -approach_) approaching.push_back(i);
      if (approaching.empty()) return result;
      if (result.reflections >= most) break;
      const VecX x = solve(approaching, u);
      const VecX change = normals * x;
      const double square = x.dot(change);
      if (!(square > 0)) return result;
      const double factor = -2 * x.dot(u) / square;
      impulse += factor * x;
      u += factor * change;
    }
    result.complete = false;
    impulse += solve_all(u);
    return result;
  }

  // Energy that impulses would add [J].
  [[nodiscard]] double work_of(const VecX& x) const
  {
    const Eigen::Index n = x.size();
    return x.dot(start_.head(n) + 0.5 * (A_.topLeftCorner(n, n) * x));
  }

  // The largest share of the way from x to y at which no energy is added, if none is at x.
  [[nodiscard]] VecX limit_energy(const VecX& x, const VecX& y) const
  {
    if (!(work_of(y) > 0)) return y;
    const Eigen::Index n = x.size();
    const VecX d = y - x;
    const VecX Ad = A_.topLeftCorner(n, n) * d;
    const double a = 0.5 * d.dot(Ad);
    const double b = d.dot(start_.head(n)) + x.dot(Ad);
    const double c = std::min(0.0, work_of(x));
    if (!(a > 0)) return x;
    const double s = (-b + std::sqrt(std::max(0.0, b * b - 4 * a * c))) / (2 * a);
    return x + std::clamp(s, 0.0, 1.0) * d;
  }

  // Eq. (2).
  [[nodiscard]] VecX apply_restitution(const VecX& reflected) const
  {
    const auto normals = A_.topLeftCorner(count_, count_);
    const VecX u = start_.head(count_);
    const VecX after = u + normals * reflected;
    VecX e(count_);
    for (Eigen::Index i = 0; i < count_; ++i) {
      const ReflectionPoint& point = points_[at(i)];
      e[i] = point.restitution * after[i] < point.min_rebound ? 0.0 : point.restitution;
    }
    if ((e.array() == 1).all()) return reflected;
    const VecX stopped = solve_all(u);
    if ((e.array() == e[0]).all()) return e[0] * reflected + (1 - e[0]) * stopped;
    const VecX stopped_speed = (u + normals * stopped).cwiseMax(0);
    const VecX target = (e.array() * after.array().max(0) + (1 - e.array()) * stopped_speed.array()).matrix();
    return limit_energy(stopped, solve_all(u - target));
  }

  // Sweeps over normal impulse and friction of each point, with the normal speeds that restitution left.
  void add_friction(VecX& impulse) const
  {
    const VecX smooth = impulse;
    VecX u = start_ + A_ * impulse;
    const VecX target = u.head(count_);
    const double enough = kFrictionAccuracy * start_.cwiseAbs().maxCoeff();
    for (int sweep = 0; sweep < kFrictionSweeps; ++sweep) {
      double max_change = 0;
      for (Eigen::Index i = 0; i < count_; ++i) {
        if (!(A_(i, i) > 0) || (impulse[i] == 0 && u[i] >= target[i])) continue;
        const double next = std::max(0.0, impulse[i] - (u[i] - target[i]) / A_(i, i));
        const double change = next - impulse[i];
        max_change = std::max(max_change, std::abs(change) * A_(i, i));
        u += change * A_.col(i);
        impulse[i] = next;
        const Eigen::Index t = count_ + 2 * i;
        const Eigen::Matrix2d K = A_.block<2, 2>(t, t);
        const Vec2 old = impulse.segment<2>(t);
        const Vec2 f = friction_in_disc(K, K * old - u.segment<2>(t), points_[at(i)].friction * next);
        max_change = std::max(max_change, (K * (f - old)).norm());
        u += A_.middleCols<2>(t) * (f - old);
        impulse.segment<2>(t) = f;
      }
      if (max_change <= enough) break;
    }
    impulse = limit_energy(smooth, impulse);
  }

  void store(const VecX& impulse)
  {
    for (Eigen::Index i = 0; i < count_; ++i) {
      ReflectionPoint& point = points_[at(i)];
      point.impulse = impulse[i];
      point.friction_impulse.setZero();
      if (!has_friction_) continue;
      for (Eigen::Index k = 0; k < 2; ++k)
        point.friction_impulse += impulse[count_ + 2 * i + k] * rows_[at(count_ + 2 * i + k)].linear;
    }
    for (Eigen::Index i = 0; i < impulse.size(); ++i)
      if (impulse[i] != 0) apply(rows_[at(i)], bodies_, impulse[i]);
    if (joints_.empty()) return;
    const VecX held = joint_start_ + joint_answer_ * impulse;
    for (Eigen::Index i = 0; i < held.size(); ++i) apply(joints_[at(i)], bodies_, held[i]);
  }

  std::vector<ReflectionPoint>& points_;
  SolverBodies& bodies_;
  Eigen::Index count_;
  std::vector<BodyRow> rows_;
  std::vector<BodyRow> joints_;
  bool has_friction_ = false;
  MatX A_;             ///< J M^-1 J^T with the joints eliminated [1/kg]
  MatX joint_answer_;  ///< impulses of the joints for unit impulses of the rows
  VecX joint_start_;   ///< impulses that stop the joints [N s]
  VecX start_;         ///< speeds before the impact, once the joints hold [m/s]
  double approach_ = 0;
};

}  // namespace

ReflectionResult reflect(std::vector<ReflectionPoint>& points, const std::vector<ReflectionJointRow>& joints,
                         SolverBodies& bodies)
{
  if (points.empty()) return {};
  return Reflection(points, joints, bodies).run();
}

}  // namespace thrum::rigid
