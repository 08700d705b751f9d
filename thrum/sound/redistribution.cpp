// SPDX-License-Identifier: MIT
#include "thrum/sound/redistribution.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"

namespace thrum::sound {

namespace {

using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Rows6 = Eigen::Matrix<double, 6, Eigen::Dynamic>;

constexpr double kRank = 1e-10;       ///< eigenvalues of N N^T below this share of the largest are 0
constexpr double kTolerance = 1e-12;  ///< of force and torque, relative
constexpr double kMaxMiss = 1e-9;     ///< of force and torque, relative: more is no solution

// Force and torque of a unit force along d at p; lengths in units of `scale`.
Vec6 wrench(const Vec3& p, const Vec3& d, double scale)
{
  Vec6 w;
  w << d, p.cross(d) / scale;
  return w;
}

Mat6 pseudo_inverse(const Rows6& A)
{
  const Eigen::SelfAdjointEigenSolver<Mat6> eigen(Mat6(A * A.transpose()));
  const double limit = kRank * eigen.eigenvalues()[5];
  Vec6 values;
  for (int k = 0; k < 6; ++k) values[k] = eigen.eigenvalues()[k] > limit ? 1 / eigen.eigenvalues()[k] : 0;
  return eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

// The shortest x with A x = c, or with A x as near to it as possible.
template <class Factor>
VecX shortest_solution(const Rows6& A, const Vec6& c, Factor& factor)
{
  if (factor.A.cols() != A.cols() || factor.A != A) {
    factor.A = A;
    factor.inverse = pseudo_inverse(A);
  }
  return A.transpose() * (factor.inverse * c);
}

// a >= 0 nearest to `target` with N a = c. Entries that would be negative are held at 0 one after the other,
// the most negative first. Empty when that does not meet c.
template <class Factor>
VecX nearest_non_negative(const Rows6& N, const Vec6& c, const VecX& target, Factor& factor)
{
  const Eigen::Index count = N.cols();
  const double scale = std::max(c.norm(), (N * target).norm());
  const Vec6 all_missing = c - N * target;
  VecX a = target;
  if (all_missing.norm() > kTolerance * scale) a += shortest_solution(N, all_missing, factor);
  if (a.minCoeff() >= 0) return (N * a - c).norm() > kMaxMiss * scale ? VecX() : a;
  std::vector<Eigen::Index> open(static_cast<std::size_t>(count));
  for (Eigen::Index k = 0; k < count; ++k) open[at(k)] = k;
  while (!open.empty()) {
    Rows6 part(6, static_cast<Eigen::Index>(open.size()));
    VecX wanted(part.cols());
    for (Eigen::Index i = 0; i < part.cols(); ++i) {
      part.col(i) = N.col(open[at(i)]);
      wanted[i] = target[open[at(i)]];
    }
    const Vec6 missing = c - part * wanted;
    if (missing.norm() > kTolerance * scale) wanted += shortest_solution(part, missing, factor);
    a.setZero();
    for (Eigen::Index i = 0; i < part.cols(); ++i) a[open[at(i)]] = wanted[i];
    Eigen::Index lowest = 0;
    if (wanted.minCoeff(&lowest) >= 0) break;
    open.erase(open.begin() + lowest);
  }
  if ((N * a - c).norm() > kMaxMiss * scale) return {};
  return a;
}

}  // namespace

// Contacts mostly keep their order.
ForceRedistribution::Last ForceRedistribution::last_of(std::uint64_t key, std::size_t number) const
{
  if (number < last_.size() && last_[number].key == key) return last_[number];
  const auto found =
      std::find_if(last_.begin(), last_.end(), [&](const Last& last) { return last.key == key; });
  return found == last_.end() ? Last{} : *found;
}

void ForceRedistribution::redistribute(std::vector<ContactForce>& contacts)
{
  const auto count = static_cast<Eigen::Index>(contacts.size());
  Vec3 centre = Vec3::Zero();
  for (const ContactForce& contact : contacts) centre += contact.position / static_cast<double>(count);
  double scale = 0;
  for (const ContactForce& contact : contacts) scale = std::max(scale, (contact.position - centre).norm());
  if (!(scale > 0)) scale = 1;

  N_.resize(6, count);
  D_.resize(6, 2 * count);
  for (VecX* x : {&a_, &a_target_}) x->resize(count);
  for (VecX* x : {&b_, &b_target_}) x->resize(2 * count);
  tangent_axes_.resize(contacts.size());
  for (Eigen::Index k = 0; k < count; ++k) {
    const ContactForce& contact = contacts[at(k)];
    const Last last = last_of(contact.key, at(k));
    const Vec3 p = contact.position - centre;
    N_.col(k) = wrench(p, contact.normal, scale);
    a_[k] = contact.normal_force;
    a_target_[k] = last.normal_force;
    auto& [t1, t2] = tangent_axes_[at(k)];
    t1 = contact.normal.unitOrthogonal();
    t2 = contact.normal.cross(t1);
    for (int i = 0; i < 2; ++i) {
      const Vec3& t = i == 0 ? t1 : t2;
      D_.col(2 * k + i) = wrench(p, t, scale);
      b_[2 * k + i] = contact.friction.dot(t);
      b_target_[2 * k + i] = last.friction.dot(t);
    }
  }
  if (count > 1) {
    const VecX spread = nearest_non_negative(N_, N_ * a_, a_target_, normals_);
    if (spread.size() == count) a_ = spread;
    const Vec6 missing = D_ * (b_ - b_target_);
    const bool changes = missing.norm() > kTolerance * (D_ * b_).norm();
    b_ = b_target_;
    if (changes) b_ += shortest_solution(D_, missing, tangents_);
  }
  last_.clear();
  for (Eigen::Index k = 0; k < count; ++k) {
    ContactForce& contact = contacts[at(k)];
    contact.normal_force = a_[k];
    const auto& [t1, t2] = tangent_axes_[at(k)];
    Vec3 friction = b_[2 * k] * t1 + b_[2 * k + 1] * t2;
    const double bound = contact.coefficient * contact.normal_force;
    if (friction.norm() > bound) friction *= bound / friction.norm();
    contact.friction = friction;
    last_.push_back({contact.key, contact.normal_force, contact.friction});
  }
}

}  // namespace thrum::sound
