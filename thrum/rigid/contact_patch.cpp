// SPDX-License-Identifier: MIT
#include "thrum/rigid/contact_patch.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "thrum/base/index.h"
#include "thrum/rigid/contact_place.h"

namespace thrum::rigid {

namespace {

/// The block of seven rows has rank six at most. It is regularised by this share of its diagonal, which
/// leaves as much of the error for the next visit.
constexpr RowReal kBlockRegularisation = 1e-3F;
/// Friction blocks are regularised by this share of their diagonal: a single point has no arm to twist about.
constexpr RowReal kFrictionRegularisation = 1e-6F;

Rows unit_row(std::size_t k)
{
  static const auto units = [] {
    std::array<Rows, 7> rows;
    for (std::size_t i = 0; i < 7; ++i) {
      rows[i].setZero();
      rows[i][static_cast<Eigen::Index>(i)] = 1;
    }
    return rows;
  }();
  return units[k];
}

Vec3 tangent_of(const Vec3& n)
{
  // The world axis least along n gives the steadiest tangent from step to step.
  Eigen::Index axis = 0;
  n.cwiseAbs().minCoeff(&axis);
  return n.cross(Vec3(Vec3::Unit(axis))).normalized();
}

void set_lane(std::array<Rows, 3>& rows, Eigen::Index lane, const Vec3& value)
{
  for (std::size_t k = 0; k < 3; ++k)
    rows[k][lane] = static_cast<RowReal>(value[static_cast<Eigen::Index>(k)]);
}

// Inverse of a symmetric 7 x 7 matrix with diagonal 1 and eigenvalues well above rounding, by sweeping each
// row in turn: operations on whole columns only, which is several times quicker here than a factorisation.
void invert_7x7(std::array<Rows, 7>& A)
{
  for (std::size_t k = 0; k < 7; ++k) {
    const Rows pivot = A[k];
    const RowReal d = 1 / pivot[static_cast<Eigen::Index>(k)];
    // The matrix is symmetric: pivot[j] is the entry of column j in row k. Row k becomes pivot[j] d, minus d
    // on the diagonal.
    const Rows reduced = pivot - unit_row(k);
    for (std::size_t j = 0; j < 7; ++j) A[j] -= (pivot[static_cast<Eigen::Index>(j)] * d) * reduced;
    A[k] = pivot * d - (1 + d) * unit_row(k);
  }
  for (Rows& column : A) column = -column;
}

// The rows of angular parts multiplied by an inverse inertia.
std::array<Rows, 3> times(const Mat3& inverse_inertia, const std::array<Rows, 3>& arm)
{
  const Eigen::Matrix<RowReal, 3, 3> I = inverse_inertia.cast<RowReal>();
  return {I(0, 0) * arm[0] + I(0, 1) * arm[1] + I(0, 2) * arm[2],
          I(1, 0) * arm[0] + I(1, 1) * arm[1] + I(1, 2) * arm[2],
          I(2, 0) * arm[0] + I(2, 1) * arm[1] + I(2, 2) * arm[2]};
}

// J M^-1 J^T of the patch, by columns.
void set_block(const SolverPatch& p, const SolverBody& A, const SolverBody& B, const PatchMasses& m,
               std::array<Rows, 7>& block)
{
  const auto inverse_mass =
      static_cast<RowReal>((m.movable_a ? A.inverse_mass : 0.0) + (m.movable_b ? B.inverse_mass : 0.0));
  const std::array<Rows, 3> linear{inverse_mass * p.linear[0], inverse_mass * p.linear[1],
                                   inverse_mass * p.linear[2]};
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    block[k] = linear[0] * p.linear[0][i] + linear[1] * p.linear[1][i] + linear[2] * p.linear[2][i];
  }
  const auto add = [&](const Mat3& inverse_inertia, const std::array<Rows, 3>& arm) {
    const std::array<Rows, 3> turned = times(inverse_inertia, arm);
    for (std::size_t k = 0; k < 7; ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      block[k] += turned[0] * arm[0][i] + turned[1] * arm[1][i] + turned[2] * arm[2][i];
    }
  };
  if (m.movable_a) add(A.inverse_inertia, p.arm_a);
  if (m.movable_b) add(B.inverse_inertia, p.arm_b);
}

}  // namespace

void set_rows(const model::ContactPatch& contact, const ContactMembers& members, const SolverBody& A,
              const Vec3& xa, const SolverBody& B, const Vec3& xb, const model::Surface& surface,
              SolverPatch& p, PatchRecord& record)
{
  p.count = contact.count;
  p.mu = static_cast<RowReal>(surface.friction);
  p.friction_reach = {1, 1, 0, 0};
  p.twist_arm.setZero();
  record.n = contact.normal;
  record.t1 = tangent_of(record.n);
  record.t2 = record.n.cross(record.t1);
  for (std::size_t k = 0; k < 3; ++k) {
    p.linear[k].setZero();
    p.arm_a[k].setZero();
    p.arm_b[k].setZero();
  }
  std::array<Vec3, 4> places;
  Vec3 centre = Vec3::Zero();
  for (int i = 0; i < p.count; ++i) {
    const model::ContactPoint& point = contact.points[at(i)];
    places[at(i)] = acting_place(point.*members.position, point.*members.depth, record.n, A, B);
    centre += places[at(i)];
  }
  centre /= p.count;
  for (int i = 0; i < p.count; ++i) {
    // Along the normal the two places are one.
    const Vec3& place = contact.points[at(i)].*members.position;
    set_lane(p.linear, i, record.n);
    set_lane(p.arm_a, i, (place - xa).cross(record.n));
    set_lane(p.arm_b, i, (place - xb).cross(record.n));
    const double from_centre = (places[at(i)] - centre).norm();
    p.twist_arm[i] = static_cast<RowReal>(surface.friction * from_centre + surface.spinning_friction);
    p.friction_reach[2] = std::max(p.friction_reach[2], static_cast<RowReal>(from_centre));
  }
  record.ra = centre - xa;
  record.rb = centre - xb;
  set_lane(p.linear, kFirstTangent, record.t1);
  set_lane(p.linear, kSecondTangent, record.t2);
  set_lane(p.arm_a, kFirstTangent, record.ra.cross(record.t1));
  set_lane(p.arm_a, kSecondTangent, record.ra.cross(record.t2));
  set_lane(p.arm_a, kTwist, record.n);
  set_lane(p.arm_b, kFirstTangent, record.rb.cross(record.t1));
  set_lane(p.arm_b, kSecondTangent, record.rb.cross(record.t2));
  set_lane(p.arm_b, kTwist, record.n);
}

void set_masses(const SolverPatch& p, const SolverBody& A, const SolverBody& B, bool hold_a, bool hold_b,
                double cfm, PatchMasses& m)
{
  m.movable_a = !hold_a && A.inverse_mass > 0;
  m.movable_b = !hold_b && B.inverse_mass > 0;
  std::array<Rows, 7>& block = m.inverse;
  set_block(p, A, B, m, block);

  const auto soft = static_cast<RowReal>(cfm);
  for (int i = 0; i < 4; ++i) {
    m.A[at(i)] = block[at(i)].head<4>();
    const RowReal diagonal = block[at(i)][i];
    m.cfm[i] = soft * diagonal;
    m.inverse_A[i] = diagonal > 0 ? 1 / (diagonal + m.cfm[i]) : RowReal(0);
  }
  Eigen::Matrix<RowReal, 3, 3> K;
  for (std::size_t i = 0; i < 3; ++i) m.friction_to_normal[i] = block[i + 4].head<4>();
  for (Eigen::Index i = 0; i < 3; ++i)
    K.col(i) = block[at(kFirstTangent + i)].segment<3>(kFirstTangent).matrix();
  m.friction_row = K.diagonal().array();
  // A row that nothing can move has nothing but zeros.
  for (int i = 0; i < 3; ++i) K(i, i) = K(i, i) > 0 ? K(i, i) * (1 + kFrictionRegularisation) : RowReal(1);
  m.friction = K.topLeftCorner<2, 2>();
  m.twist_slips = K.topRightCorner<2, 1>();

  // The rows are scaled to a diagonal of 1. Lanes without a point, rows that nothing can move, and friction
  // where there is none are scaled by 0 and so keep to themselves.
  Rows scale = Rows::Zero();
  const bool twists = (p.twist_arm > RowReal(0)).any();
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const bool has_friction = i == kTwist ? twists : p.mu > 0;
    const RowReal diagonal = block[k][i];
    if (diagonal > 0 && (i < kFirstTangent || has_friction)) scale[i] = 1 / std::sqrt(diagonal);
  }
  for (std::size_t k = 0; k < 7; ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const RowReal added = kBlockRegularisation + (i < kFirstTangent ? soft : RowReal(0));
    block[k] = block[k] * scale * scale[i] + (scale[i] > 0 ? added : RowReal(1)) * unit_row(k);
  }
  invert_7x7(block);
  for (std::size_t k = 0; k < 7; ++k) block[k] *= scale * scale[static_cast<Eigen::Index>(k)];
}

void apply_rolling(const PatchMasses& m, SolverBody& A, SolverBody& B, const Vec3& impulse)
{
  if (m.movable_a) A.w -= A.inverse_inertia * impulse;
  if (m.movable_b) B.w += B.inverse_inertia * impulse;
}

void solve_push(const SolverPatch& p, const PatchMasses& m, Lanes& push, SolverBody& A, SolverBody& B,
                const PushValues& s)
{
  const Lanes gap = p.gap_now + static_cast<RowReal>(s.slop);
  if ((gap >= RowReal(0)).all()) return;
  Lanes residual = along_rows(p, B.push_v - A.push_v, A.push_w, B.push_w).head<4>();
  residual += (gap * static_cast<RowReal>(s.rate)).max(-static_cast<RowReal>(s.speed));
  Rows change = Rows::Zero();
  for (int sweep = 0; sweep < s.inner; ++sweep) {
    for (int i = 0; i < p.count; ++i) {
      if (gap[i] >= 0) continue;
      const RowReal next = std::max(RowReal(0), push[i] - residual[i] * m.inverse_A[i]);
      const RowReal delta = next - push[i];
      push[i] = next;
      change[i] += delta;
      residual += m.A[at(i)] * delta;
    }
  }
  const Impulses j = impulses_of(p, change);
  if (m.movable_a) {
    A.push_v -= A.inverse_mass * j.linear;
    A.push_w -= A.inverse_inertia * j.on_a;
  }
  if (m.movable_b) {
    B.push_v += B.inverse_mass * j.linear;
    B.push_w += B.inverse_inertia * j.on_b;
  }
}

}  // namespace thrum::rigid
