// SPDX-License-Identifier: MIT
// The forces of a substep by Newton's method, for groups on which sweeps are slow: many stiff contacts that
// few coordinates carry, as of a ruler that is held flat on a table.
//
// With y = W^(-1/2) z, z the displacement of the coordinates by the contact forces, and A = J W^(1/2), the
// forces follow from y, each from the motion of its own row, and
//
//     g(y) = y - A^T F(A y) = 0,        H = I + A^T K A,  K = -dF / d(A y),                               (1)
//
// is the gradient of a convex function: forces of contacts grow with the indentation, and springs across the
// normal resist, up to a limit. So H is positive definite and as large as the number of coordinates, not of
// contacts, and steps along -H^-1 g to where the slope on their line has changed sign converge from anywhere.
// The limit of friction is that of the normal forces of the round before; rounds are repeated until it stays.
// [Zheng11] solves the two in turn in the same way (5a), (5b); the search on all contacts at once is what its
// active sets do.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

namespace {

constexpr int kMaxRounds = 40;
constexpr int kMaxSteps = 60;
/// Share of the slope along a line at which a search along it ends, and its most steps.
constexpr double kLineShare = 0.5;
constexpr int kLineSteps = 30;

}  // namespace

/// The rows of a group and the forces on them for a displacement of the coordinates.
class ContactGroup::Newton {
 public:
  Newton(ContactGroup& group, double dt) : group_(group), dt_(dt)
  {
    place_.assign(group.x_.size(), -1);
    for (const Body& body : group.bodies_) {
      for (int k = 0; k < body.used(); ++k) {
        const std::size_t i = at(body.first + k);
        if (group.weight_[i] > 0) place_[i] = static_cast<int>(root_.size());
        if (group.weight_[i] > 0) root_.push_back(std::sqrt(group.weight_[i]));
      }
    }
    A_.setZero(static_cast<Eigen::Index>(group.rows_.size()), static_cast<Eigen::Index>(root_.size()));
    for (std::size_t r = 0; r < group.rows_.size(); ++r) {
      for (const Side& side : {group.rows_[r].a, group.rows_[r].b}) {
        if (side.body != kNoBody) add_side(static_cast<Eigen::Index>(r), side);
      }
    }
    At_ = A_.transpose();
  }

  /// Forces of all rows; returns their largest change against those that the group has, as a share.
  double solve(double tolerance)
  {
    VecX y = start();
    if (!y.allFinite()) y.setZero();
    double change = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      const VecX limits = limits_of_patches();
      minimise(tolerance, limits, y);
      change = store(y, limits);
      if (change <= tolerance) break;
    }
    return change;
  }

  [[nodiscard]] Eigen::Index coordinates() const { return A_.cols(); }

 private:
  struct Forces {
    VecX force;  ///< by row
    VecX slope;  ///< K of contacts, by row; of slips their resistance
    VecX clip;   ///< direction of a slip that is limited, by row; 0: not limited
    double largest = 0;
  };

  void add_side(Eigen::Index r, const Side& side)
  {
    const Body& body = group_.bodies_[at(side.body)];
    for (int k = 0; k < body.used(); ++k) {
      const int column = place_[at(body.first + k)];
      if (column >= 0) A_(r, column) += group_.J_[side.first + at(k)] * root_[at(column)];
    }
  }

  // From the forces that the group has.
  [[nodiscard]] VecX start() const
  {
    VecX force = VecX::Zero(A_.rows());
    for (const Contact& contact : group_.contacts_) force[contact.row] = contact.force;
    for (const Slip& slip : group_.slips_) {
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) force[slip.desc.rows[i]] = slip.force[i];
    }
    return At_ * force;
  }

  [[nodiscard]] VecX limits_of_patches() const
  {
    VecX limits = VecX::Zero(static_cast<Eigen::Index>(group_.slips_.size()));
    for (const Patch& patch : group_.patches_) {
      const double normal = group_.normal_force(patch);
      for (std::size_t s = patch.first_slip; s < patch.end_slip; ++s)
        limits[static_cast<Eigen::Index>(s)] = group_.slips_[s].max_force(normal);
    }
    return limits;
  }

  // `moved`: A y.
  void find_forces(const VecX& moved, const VecX& limits, Forces& out) const
  {
    out.force.setZero(A_.rows());
    out.slope.setZero(A_.rows());
    out.clip.setZero(A_.rows());
    out.largest = 0;
    for (const Contact& contact : group_.contacts_) {
      const double d = contact.d_free - moved[contact.row];
      const double force = elastic::solve_held_force(contact.law, contact.d, d, contact.tail_compliance,
                                                     contact.damper, contact.force);
      const double slope =
          elastic::held_force(contact.law, contact.d, d - contact.tail_compliance * force, contact.damper)
              .slope;
      out.force[contact.row] = force;
      out.slope[contact.row] = slope / (1 + contact.tail_compliance * slope);
      out.largest = std::max(out.largest, force);
    }
    for (std::size_t s = 0; s < group_.slips_.size(); ++s)
      find_slip_force(group_.slips_[s], moved, limits[static_cast<Eigen::Index>(s)], out);
  }

  void find_slip_force(const Slip& slip, const VecX& moved, double limit, Forces& out) const
  {
    if (!(limit > 0)) return;
    const double resistance = 0.5 * slip.desc.stiffness + slip.desc.damping / dt_;
    std::array<double, 2> wanted{};
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      const int row = slip.desc.rows[i];
      const double way = group_.rows_[at(row)].free + moved[row];
      wanted[i] = -(slip.desc.stiffness * slip.stretch[i] + resistance * way);
    }
    const double length = std::hypot(wanted[0], wanted[1]);
    const double share = length > limit ? limit / length : 1;
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      const int row = slip.desc.rows[i];
      out.force[row] = share * wanted[i];
      out.slope[row] = share * resistance;
      if (share < 1) out.clip[row] = wanted[i] / length;
    }
  }

  // I + A^T K A, its lower half, of the rows that push; a slip that is limited resists across its direction
  // alone.
  void find_hessian(const Forces& forces)
  {
    Eigen::Index count = 0;
    for (Eigen::Index r = 0; r < A_.rows(); ++r) count += forces.slope[r] > 0 ? 1 : 0;
    pushing_.resize(A_.cols(), count);
    count = 0;
    for (Eigen::Index r = 0; r < A_.rows(); ++r) {
      if (forces.slope[r] > 0) pushing_.col(count++) = std::sqrt(forces.slope[r]) * At_.col(r);
    }
    H_.setIdentity(A_.cols(), A_.cols());
    if (count > 0) H_.selfadjointView<Eigen::Lower>().rankUpdate(pushing_);
    for (const Slip& slip : group_.slips_) {
      const auto is_clipped = [&](int row) {
        return forces.clip[row] != 0;
      };
      if (!std::any_of(slip.desc.rows.begin(), slip.desc.rows.begin() + slip.desc.count, is_clipped))
        continue;
      VecX along = VecX::Zero(A_.cols());
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
        const int row = slip.desc.rows[i];
        along += forces.clip[row] * At_.col(row);
      }
      H_.selfadjointView<Eigen::Lower>().rankUpdate(along, -forces.slope[slip.desc.rows[0]]);
    }
  }

  void minimise(double tolerance, const VecX& limits, VecX& y)
  {
    Forces forces;
    VecX moved = A_ * y;
    find_forces(moved, limits, forces);
    for (int step = 0; step < kMaxSteps; ++step) {
      const VecX pulled = At_ * forces.force;
      const VecX g = y - pulled;
      if (g.norm() <= kRest * tolerance * std::max(pulled.norm(), y.norm())) return;
      ++group_.report_.newton_steps;
      find_hessian(forces);
      const VecX p = -H_.selfadjointView<Eigen::Lower>().llt().solve(g);
      const VecX moves = A_ * p;
      const double slope = g.dot(p);
      if (!(slope < 0) || !p.allFinite()) return;
      const double length = search(y, p, moved, moves, slope, limits, forces);
      y += length * p;
      moved += length * moves;
    }
  }

  // Where along p the slope, which grows, is small beside that at its beginning.
  double search(const VecX& y, const VecX& p, const VecX& moved, const VecX& moves, double slope,
                const VecX& limits, Forces& forces) const
  {
    double low = 0;
    double high = 0;  // not known
    double length = 1;
    for (int i = 0; i < kLineSteps; ++i) {
      find_forces(moved + length * moves, limits, forces);
      const double now = p.dot(y) + length * p.squaredNorm() - moves.dot(forces.force);
      if (std::abs(now) <= -kLineShare * slope) break;
      (now < 0 ? low : high) = length;
      length = high > 0 ? 0.5 * (low + high) : 2 * length;
    }
    return length;
  }

  // Into the group. The largest change of a force, as a share of the largest normal force of a patch.
  double store(const VecX& y, const VecX& limits)
  {
    Forces forces;
    find_forces(A_ * y, limits, forces);
    // Of a state that no run has made: sweeps go on from what they have.
    if (!forces.force.allFinite()) return std::numeric_limits<double>::infinity();
    double change = 0;
    for (Contact& contact : group_.contacts_) {
      change = std::max(change, std::abs(forces.force[contact.row] - contact.force));
      contact.force = forces.force[contact.row];
    }
    for (std::size_t s = 0; s < group_.slips_.size(); ++s) {
      Slip& slip = group_.slips_[s];
      const double limit = limits[static_cast<Eigen::Index>(s)];
      const double arm = std::max(slip.desc.limit, kMinArm);
      slip.slips = !(limit > 0);
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
        const int row = slip.desc.rows[i];
        change = std::max(change, std::abs(forces.force[row] - slip.force[i]) / arm);
        slip.force[i] = forces.force[row];
        slip.slips = slip.slips || forces.clip[row] != 0;
      }
    }
    double largest = 0;
    for (const Patch& patch : group_.patches_) largest = std::max(largest, group_.normal_force(patch));
    return largest > 0 ? change / largest : 0;
  }

  /// Steps end at this share of the tolerance of the forces.
  static constexpr double kRest = 0.1;
  /// Torques count by the force that has them on an arm of at least this [m].
  static constexpr double kMinArm = 1e-9;

  ContactGroup& group_;
  double dt_;
  std::vector<int> place_;    ///< column, by coordinate; -1: it does not yield
  std::vector<double> root_;  ///< of the weight, by column
  MatX A_;
  MatX At_;       ///< of A_
  MatX pushing_;  ///< columns of At_ times the root of their slope
  MatX H_;
};

bool ContactGroup::solve_by_newton(double dt, const FlexibleSettings& settings)
{
  Newton newton(*this, dt);
  if (newton.coordinates() == 0 || newton.coordinates() > kMaxNewtonCoordinates) return false;
  ++report_.newton_solves;
  residual_ = newton.solve(settings.tolerance);
  return residual_ <= settings.tolerance;
}

}  // namespace thrum::flexible
