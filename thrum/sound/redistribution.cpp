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
  std::vector<Eigen::Index> open(static_cast<std::size_t>(count));
  for (Eigen::Index k = 0; k < count; ++k) open[at(k)] = k;
  VecX a = target;
  const double scale = std::max(c.norm(), (N * target).norm());
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
  if ((N * a - c).norm() > 1e3 * kTolerance * scale) return {};
  return a;
}

}  // namespace

void ForceRedistribution::redistribute(std::vector<ContactForce>& contacts)
{
  const auto count = static_cast<Eigen::Index>(contacts.size());
  Vec3 centre = Vec3::Zero();
  for (const ContactForce& contact : contacts) centre += contact.position / static_cast<double>(count);
  double scale = 0;
  for (const ContactForce& contact : contacts) scale = std::max(scale, (contact.position - centre).norm());
  if (!(scale > 0)) scale = 1;

  Rows6 N(6, count);
  Rows6 D(6, 2 * count);
  VecX a(count), a_target(count), b(2 * count), b_target(2 * count);
  std::vector<std::array<Vec3, 2>> tangents(contacts.size());
  for (Eigen::Index k = 0; k < count; ++k) {
    const ContactForce& contact = contacts[at(k)];
    const auto before = last_.find(contact.key);
    const Last last = before == last_.end() ? Last{} : before->second;
    const Vec3 p = contact.position - centre;
    N.col(k) = wrench(p, contact.normal, scale);
    a[k] = contact.normal_force;
    a_target[k] = last.normal_force;
    auto& [t1, t2] = tangents[at(k)];
    t1 = contact.normal.unitOrthogonal();
    t2 = contact.normal.cross(t1);
    for (int i = 0; i < 2; ++i) {
      const Vec3& t = i == 0 ? t1 : t2;
      D.col(2 * k + i) = wrench(p, t, scale);
      b[2 * k + i] = contact.friction.dot(t);
      b_target[2 * k + i] = last.friction.dot(t);
    }
  }
  if (count > 1) {
    const VecX spread = nearest_non_negative(N, N * a, a_target, normals_);
    if (spread.size() == count) a = spread;
    const Vec6 missing = D * (b - b_target);
    b = missing.norm() > kTolerance * (D * b).norm()
            ? VecX(b_target + shortest_solution(D, missing, tangents_))
            : b_target;
  }
  last_.clear();
  for (Eigen::Index k = 0; k < count; ++k) {
    ContactForce& contact = contacts[at(k)];
    contact.normal_force = a[k];
    const auto& [t1, t2] = tangents[at(k)];
    Vec3 friction = b[2 * k] * t1 + b[2 * k + 1] * t2;
    const double bound = contact.coefficient * contact.normal_force;
    if (friction.norm() > bound) friction *= bound / friction.norm();
    contact.friction = friction;
    last_[contact.key] = {contact.normal_force, contact.friction};
  }
}

}  // namespace thrum::sound
