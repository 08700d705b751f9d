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
  /// For the weights and the modes that `group` has at the moment.
  Newton(const ContactGroup& group, double dt) : dt_(dt), At_(group.scaled_rows(group.weight_))
  {
    A_ = At_.transpose();
    row_sizes_ = A_.rowwise().norm();
  }

  /// Forces of all rows; returns how far they are from a solution, as a share of the largest.
  double solve(ContactGroup& group, double tolerance)
  {
    group_ = &group;
    VecX y = start();
    if (!y.allFinite()) y.setZero();
    VecX limits = group_->slip_limits();
    double residual = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      const double slope = minimise(tolerance, limits, y);
      const double largest = store(limits);
      if (!std::isfinite(largest)) return largest;
      const VecX next = group_->slip_limits();
      residual = std::max(slope, largest > 0 ? max_change(limits, next) / largest : 0);
      if (residual <= tolerance || slope > tolerance) break;
      limits = next;
    }
    return residual;
  }

  [[nodiscard]] Eigen::Index coordinates() const { return A_.cols(); }

 private:
  struct Forces {
    VecX force;  ///< by row
    VecX slope;  ///< K of contacts, by row; of slips their resistance
    VecX clip;   ///< direction of a slip that is limited, by row; 0: not limited
  };

  // From the forces that the group has.
  [[nodiscard]] VecX start() const
  {
    VecX force = VecX::Zero(A_.rows());
    for (const Contact& contact : group_->contacts_) force[contact.row] = contact.force;
    for (const Slip& slip : group_->slips_) {
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) force[slip.desc.rows[i]] = slip.force[i];
    }
    return At_ * force;
  }

  // Of a torque by the force that has it on the arm of its limit.
  [[nodiscard]] double max_change(const VecX& limits, const VecX& next) const
  {
    double change = 0;
    for (std::size_t s = 0; s < group_->slips_.size(); ++s) {
      const auto i = static_cast<Eigen::Index>(s);
      if (limits[i] != next[i])
        change =
            std::max(change, std::abs(next[i] - limits[i]) / std::max(group_->slips_[s].desc.limit, kMinArm));
    }
    return change;
  }

  // `moved`: A y.
  void find_forces(const VecX& moved, const VecX& limits, Forces& out) const
  {
    out.force.setZero(A_.rows());
    out.slope.setZero(A_.rows());
    out.clip.setZero(A_.rows());
    for (const Contact& contact : group_->contacts_) {
      const double d = contact.d_free - moved[contact.row];
      if (d <= 0 && contact.d <= 0 && contact.damper == 0) continue;
      double end = d;
      if (contact.tail_compliance > 0)
        end -= contact.tail_compliance * elastic::solve_held_force(contact.law, contact.d, d,
                                                                   contact.tail_compliance, contact.damper,
                                                                   contact.force);
      const elastic::HeldForce held = elastic::held_force(contact.law, contact.d, end, contact.damper);
      out.force[contact.row] = held.force;
      out.slope[contact.row] = held.slope / (1 + contact.tail_compliance * held.slope);
    }
    for (std::size_t s = 0; s < group_->slips_.size(); ++s)
      find_slip_force(group_->slips_[s], moved, limits[static_cast<Eigen::Index>(s)], out);
  }

  void find_slip_force(const Slip& slip, const VecX& moved, double limit, Forces& out) const
  {
    if (!(limit > 0)) return;
    const double resistance = 0.5 * slip.desc.stiffness + slip.desc.damping / dt_;
    std::array<double, 2> wanted{};
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      const int row = slip.desc.rows[i];
      const double way = group_->rows_[at(row)].free + moved[row];
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

  // P of H = I + P P^T, by columns: of the contacts that push, and of the springs across the normal; one that
  // is limited resists across its direction alone.
  void gather_pushing()
  {
    pushing_.resize(A_.cols(), A_.rows());
    pushing_count_ = 0;
    const auto add = [&](int row) {
      if (forces_.slope[row] > 0)
        pushing_.col(pushing_count_++) = std::sqrt(forces_.slope[row]) * At_.col(row);
    };
    for (const Contact& contact : group_->contacts_) add(contact.row);
    for (const Slip& slip : group_->slips_) {
      const int first = slip.desc.rows[0];
      const int second = slip.desc.rows[1];
      const bool is_double = slip.desc.count == 2;
      const bool is_limited = forces_.clip[first] != 0 || (is_double && forces_.clip[second] != 0);
      if (!is_limited) {
        add(first);
        if (is_double) add(second);
      } else if (is_double) {
        pushing_.col(pushing_count_++) =
            std::sqrt(forces_.slope[first]) *
            (forces_.clip[first] * At_.col(second) - forces_.clip[second] * At_.col(first));
      }
    }
  }

  // -H^-1 g. The contacts that push change little from one substep to the next: H of an earlier one leads to
  // it in a few conjugate gradients, which cost far less than a factorisation.
  void find_direction(const VecX& g, double error, VecX& p)
  {
    gather_pushing();
    if (has_factor_ && find_direction_by_gradients(g, error, p)) return;
    H_.setIdentity(A_.cols(), A_.cols());
    if (pushing_count_ > 0) H_.selfadjointView<Eigen::Lower>().rankUpdate(pushing_.leftCols(pushing_count_));
    factor_.compute(H_);
    has_factor_ = true;
    p = -factor_.solve(g);
  }

  bool find_direction_by_gradients(const VecX& g, double error, VecX& p)
  {
    p.setZero(g.size());
    VecX residual = -g;
    VecX z = factor_.solve(residual);
    VecX way = z;
    VecX curved(g.size());
    double before = residual.dot(z);
    const double wanted = error * error * before;
    for (int i = 0; i < kMaxGradients; ++i) {
      along_rows_.noalias() = pushing_.leftCols(pushing_count_).transpose() * way;
      curved = way;
      curved.noalias() += pushing_.leftCols(pushing_count_) * along_rows_;
      const double length = before / way.dot(curved);
      if (!std::isfinite(length)) return false;
      p += length * way;
      residual -= length * curved;
      z = factor_.solve(residual);
      const double now = residual.dot(z);
      if (now <= wanted) return true;
      way = z + now / before * way;
      before = now;
    }
    return false;
  }

  // Into `forces_` and y; returns what is left of the slope, as a share.
  double minimise(double tolerance, const VecX& limits, VecX& y)
  {
    VecX moved = A_ * y;
    VecX g, p, moves;
    find_forces(moved, limits, forces_);
    double left = 0;
    for (int step = 0; step < kMaxSteps; ++step) {
      g = y;
      g.noalias() -= At_ * forces_.force;
      // Forces that hold a body from both sides cancel in the sum: it is known to their rounding.
      const double size = std::max(y.norm(), row_sizes_.dot(forces_.force.cwiseAbs()));
      left = size > 0 ? g.norm() / size : 0;
      if (left <= kRest * tolerance) break;
      ++group_->report_.newton_steps;
      find_direction(g, std::clamp(left, kMinDirectionError, kMaxDirectionError), p);
      moves.noalias() = A_ * p;
      const double slope = g.dot(p);
      if (!(slope < 0) || !p.allFinite()) break;
      const double length = search(y, p, moved, moves, slope, limits, forces_);
      y += length * p;
      moved += length * moves;
    }
    return left;
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
      if (std::abs(now) <= -kLineShare * slope || i + 1 == kLineSteps) break;
      (now < 0 ? low : high) = length;
      length = high > 0 ? 0.5 * (low + high) : 2 * length;
    }
    return length;
  }

  // Into the group. Returns the largest normal force of a patch.
  double store(const VecX& limits)
  {
    // Of a state that no run has made: sweeps go on from what they have.
    if (!forces_.force.allFinite()) return std::numeric_limits<double>::infinity();
    for (Contact& contact : group_->contacts_) contact.force = forces_.force[contact.row];
    for (std::size_t s = 0; s < group_->slips_.size(); ++s) {
      Slip& slip = group_->slips_[s];
      slip.slips = !(limits[static_cast<Eigen::Index>(s)] > 0);
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
        const int row = slip.desc.rows[i];
        slip.force[i] = forces_.force[row];
        slip.slips = slip.slips || forces_.clip[row] != 0;
      }
    }
    double largest = 0;
    for (const Patch& patch : group_->patches_) largest = std::max(largest, group_->normal_force(patch));
    return largest;
  }

  /// Of a direction, as a share of it, by the norm of H: as large as what is left of the slope, within these.
  static constexpr double kMinDirectionError = 1e-6;
  static constexpr double kMaxDirectionError = 1e-2;
  static constexpr int kMaxGradients = 24;
  /// Steps end at this share of the tolerance of the forces.
  static constexpr double kRest = 0.1;
  /// Torques count by the force that has them on an arm of at least this [m].
  static constexpr double kMinArm = 1e-9;

  ContactGroup* group_ = nullptr;  ///< while it is solved
  double dt_;
  MatX At_;  ///< W^(1/2) J^T
  MatX A_;
  VecX row_sizes_;  ///< norms of the rows of A_
  MatX pushing_;    ///< P, its first columns
  Eigen::Index pushing_count_ = 0;
  MatX H_;
  Eigen::LLT<MatX> factor_;  ///< of H of this or an earlier step
  bool has_factor_ = false;
  Forces forces_;
  VecX along_rows_;
};

MatX ContactGroup::scaled_rows(const std::vector<double>& weights) const
{
  std::vector<Eigen::Index> place(x_.size(), -1);
  std::vector<double> root;
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.used(); ++k) {
      const std::size_t i = at(body.first + k);
      if (!(weights[i] > 0)) continue;
      place[i] = static_cast<Eigen::Index>(root.size());
      root.push_back(std::sqrt(weights[i]));
    }
  }
  MatX scaled = MatX::Zero(static_cast<Eigen::Index>(root.size()), static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const Side& side : {rows_[r].a, rows_[r].b}) {
      if (side.body == kNoBody) continue;
      const Body& body = bodies_[at(side.body)];
      for (int k = 0; k < body.used(); ++k) {
        const Eigen::Index c = place[at(body.first + k)];
        if (c >= 0) scaled(c, static_cast<Eigen::Index>(r)) += J_[side.first + at(k)] * root[at(c)];
      }
    }
  }
  return scaled;
}

VecX ContactGroup::slip_limits() const
{
  VecX limits = VecX::Zero(static_cast<Eigen::Index>(slips_.size()));
  for (const Patch& patch : patches_) {
    const double normal = normal_force(patch);
    for (std::size_t s = patch.first_slip; s < patch.end_slip; ++s)
      limits[static_cast<Eigen::Index>(s)] = slips_[s].max_force(normal);
  }
  return limits;
}

ContactGroup::ContactGroup() = default;
ContactGroup::~ContactGroup() = default;
ContactGroup::ContactGroup(ContactGroup&&) noexcept = default;
ContactGroup& ContactGroup::operator=(ContactGroup&&) noexcept = default;

bool ContactGroup::solve_by_newton(double dt, const FlexibleSettings& settings)
{
  if (!newton_fits_) newton_ = std::make_unique<Newton>(*this, dt);
  newton_fits_ = true;
  if (newton_->coordinates() == 0 || newton_->coordinates() > kMaxNewtonCoordinates) return false;
  ++report_.newton_solves;
  residual_ = newton_->solve(*this, settings.tolerance);
  return residual_ <= settings.tolerance;
}

}  // namespace thrum::flexible
