// SPDX-License-Identifier: MIT
#include "thrum/rigid/direct_solver.h"

#include <limits>
#include <vector>

#include "thrum/base/index.h"
#include "thrum/numerics/complementarity.h"
#include "thrum/rigid/body_row.h"

namespace thrum::rigid {

namespace {

/// Four points of a face are redundant. This share of the diagonal makes their split unique: the even one.
constexpr double kRegularisation = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One row of J with its bounds: J = (-linear, -angular_a, +linear, +angular_b).
struct DenseRow : BodyRow {
  double bias = 0;      ///< the row wants J v = -bias
  double softness = 0;  ///< added to the diagonal
  double lo = 0;
  double hi = kInfinity;
  double impulse = 0;            ///< of the substep so far
  SolverPatch* patch = nullptr;  ///< of a contact
  JointRow* joint = nullptr;     ///< or of a joint
  Eigen::Index lane = 0;         ///< row of the patch

  [[nodiscard]] bool is_friction() const { return patch != nullptr && lane >= kFirstTangent; }
};

// The rows as the sweeps have them; their number is the lane.
void add_contact_rows(std::vector<DenseRow>& rows, SolverPatch& p)
{
  for (Eigen::Index lane = 0; lane <= kTwist; ++lane) {
    if (lane >= p.count && lane < kFirstTangent) continue;
    DenseRow row;
    row.a = p.a;
    row.b = p.b;
    const auto axis = [&](const std::array<Rows, 3>& of) {
      return Vec3(of[0][lane], of[1][lane], of[2][lane]);
    };
    row.linear = axis(p.linear);
    row.angular_a = axis(p.arm_a);
    row.angular_b = axis(p.arm_b);
    row.impulse = p.lambda[lane];
    row.bias = p.bias[lane];
    if (lane < kFirstTangent) row.softness = p.masses->cfm[lane];
    row.patch = &p;
    row.lane = lane;
    rows.push_back(row);
  }
}

void add_joint_row(std::vector<DenseRow>& rows, JointRow& joint, SolverBodies& bodies, double h)
{
  const SolverBody& A = bodies[joint.a];
  const SolverBody& B = bodies[joint.b];
  DenseRow row;
  row.a = joint.a;
  row.b = joint.b;
  row.linear = joint.linear;
  row.angular_a = joint.angular_a;
  row.angular_b = joint.angular_b;
  row.bias = joint_bias(joint, A, B, h);
  row.softness = joint.softness;
  row.lo = joint.lower;
  row.hi = joint.upper;
  row.impulse = joint.lambda;
  row.joint = &joint;
  rows.push_back(row);
}

// With a friction cone the two tangents share one limit. They slide with shares of it along a direction,
// which is opposite to the slip that the last solve left: where that does not change any more, friction is
// opposite to slip. Half of the turn is taken at a time, because the slip changes with the direction.
void split_between_tangents(const VecX& x, const VecX& w, Eigen::Index first, Vec2& direction,
                            numerics::ComplementarityBounds& bounds)
{
  const double limit = bounds.hi[first];
  const Vec2 impulse = x.segment<2>(first);
  const Vec2 slip = w.segment<2>(first);
  const bool was_split = !direction.isZero(0);
  if (!was_split && impulse.norm() <= limit) return;
  const Vec2 wanted = slip.norm() > 0 ? Vec2(-slip.normalized()) : Vec2(impulse.normalized());
  direction = was_split ? Vec2(direction + wanted) : wanted;
  if (!(direction.norm() > 0)) direction = wanted;
  direction.normalize();
  bounds.hi.segment<2>(first) = limit * direction.cwiseAbs();
  bounds.lo.segment<2>(first) = -bounds.hi.segment<2>(first);
}

// Friction bounds mu lambda_N, and for the twist the same with the arms of the points.
void set_friction_bounds(const std::vector<DenseRow>& rows, const VecX& x,
                         numerics::ComplementarityBounds& bounds)
{
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_friction()) continue;
    const SolverPatch& patch = *rows[i].patch;
    double limit = 0;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (rows[k].patch != &patch || rows[k].is_friction()) continue;
      limit += x[static_cast<Eigen::Index>(k)] *
               static_cast<double>(rows[i].lane < kTwist ? patch.mu : patch.twist_arm[rows[k].lane]);
    }
    bounds.lo[static_cast<Eigen::Index>(i)] = -limit;
    bounds.hi[static_cast<Eigen::Index>(i)] = limit;
  }
}

}  // namespace

bool solve_directly(std::span<SolverPatch* const> patches, std::span<JointRow> joints, SolverBodies& bodies,
                    double h, int rounds, FrictionCone cone)
{
  std::vector<DenseRow> rows;
  for (SolverPatch* patch : patches) add_contact_rows(rows, *patch);
  for (JointRow& joint : joints) add_joint_row(rows, joint, bodies, h);
  const auto n = static_cast<Eigen::Index>(rows.size());
  if (n == 0) return true;

  // The unknowns are the whole impulses of the substep, so b is the residual at the present ones plus A times
  // them.
  MatX A(n, n);
  VecX start(n);
  VecX velocity(n);
  numerics::ComplementarityBounds bounds{VecX(n), VecX(n), {}, {}};
  for (Eigen::Index i = 0; i < n; ++i) {
    const DenseRow& row = rows[at(i)];
    const SolverBody& body_a = bodies[row.a];
    const SolverBody& body_b = bodies[row.b];
    for (Eigen::Index j = 0; j <= i; ++j) A(i, j) = A(j, i) = coupling(row, rows[at(j)], bodies);
    start[i] = row.impulse;
    velocity[i] = row.linear.dot(body_b.v - body_a.v) + row.angular_b.dot(body_b.w) -
                  row.angular_a.dot(body_a.w) + row.bias;
    bounds.lo[i] = row.lo;
    bounds.hi[i] = row.hi;
  }
  VecX b = A * start - velocity;
  for (Eigen::Index i = 0; i < n; ++i) A(i, i) = A(i, i) * (1 + kRegularisation) + rows[at(i)].softness;

  // First the normal rows alone, then friction with the bounds that follow from them.
  for (Eigen::Index i = 0; i < n; ++i) {
    if (rows[at(i)].is_friction()) bounds.lo[i] = bounds.hi[i] = 0;
  }
  numerics::ComplementarityResult result = numerics::solve_by_pivoting(A, b, bounds);
  std::vector<Vec2> directions(rows.size(), Vec2::Zero());
  for (int round = 0; round < rounds && result.ok(); ++round) {
    set_friction_bounds(rows, result.x, bounds);
    const VecX w = A * result.x - b;
    for (Eigen::Index i = 0; cone == FrictionCone::cone && i < n; ++i) {
      const DenseRow& row = rows[at(i)];
      if (row.is_friction() && row.lane == kFirstTangent)
        split_between_tangents(result.x, w, i, directions[at(i)], bounds);
    }
    result = numerics::solve_by_pivoting(A, b, bounds);
  }
  if (!result.ok()) return false;
  for (Eigen::Index i = 0; i < n; ++i) {
    const DenseRow& row = rows[at(i)];
    apply(row, bodies, result.x[i] - start[i]);
    if (row.joint != nullptr) row.joint->lambda = result.x[i];
    if (row.patch != nullptr) row.patch->lambda[row.lane] = static_cast<RowReal>(result.x[i]);
  }
  return true;
}

}  // namespace thrum::rigid
