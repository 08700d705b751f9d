// SPDX-License-Identifier: MIT
// The impulses of hard contact by Newton's method, where sweeps over them are slow: stacks, and many contacts
// on few coordinates.
//
// With A = J B^(1/2), B of hard_contact.cpp, and forces F limited to a convex set C (0 or more along normals,
// a disk, polygon or interval across them, its size fixed for a round) (5a) and (5b) are
//
//     least  1/2 |A^T F|^2 + F . s      for F in C,      s the motion of the rows without contact.       (1)
//
// It is singular where contacts are redundant. The method of multipliers [Hestenes 1969, Powell 1969] solves
// a sequence of regular problems instead, each with e/2 |F - F_k|^2 added, e a small share of the compliance
// of a row: then F follows from the motion y = A^T F of the coordinates,
//
//     F = P(F_k - (s + A y) / e),     y - A^T F = 0,     H = I + A^T (dP / e) A,                          (2)
//
// P the nearest point of C. As in group_newton.cpp the left side is the gradient of a convex function, and
// steps along -H^-1 g with a search along their line end after finitely many, since it is piecewise
// quadratic. The motion after round k differs from that of (1) by e (F_k+1 - F_k): rounds are few.
// Limits of friction follow the normal forces from round to round.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/friction_limit.h"

namespace thrum::flexible {

namespace {

constexpr int kMaxRounds = 60;
constexpr int kMaxSteps = 100;
constexpr int kLineSteps = 40;
/// Share of the slope along a line at which a search along it ends.
constexpr double kLineShare = 0.1;
/// e, as a share of the compliance of a row: at first, at least, and from round to round. With 1e-7 the
/// rounding of the motion, which (2) divides by e, kept residuals above 1e-9.
constexpr double kFirstShare = 1e-4;
constexpr double kMinShare = 1e-5;
constexpr double kShareFactor = 0.3;
/// Steps of a round end at this share of the tolerance of the forces, or where they are lost in rounding.
constexpr double kRest = 0.1;
constexpr double kRounding = 1e-15;

}  // namespace

class ContactGroup::HardNewton {
 public:
  HardNewton(ContactGroup& group, const FlexibleSettings& settings, bool contacts, bool slips)
      : group_(group),
        tolerance_(settings.tolerance),
        corners_(settings.friction == FrictionSolver::staggered ? settings.friction_directions : 0),
        contacts_(contacts),
        slips_(slips),
        At_(group.scaled_rows(group.hard_weight_))
  {
    find_free_motion();
  }

  /// Returns the residual of the best forces found, which are then those of the group.
  double solve()
  {
    F_ = force_of_group(true);
    VecX y = At_ * F_;
    VecX best = F_;
    double best_residual = std::numeric_limits<double>::infinity();
    share_ = kFirstShare;
    for (int round = 0; round < kMaxRounds; ++round) {
      limits_ = group_.slip_limits();
      minimise(y);
      F_ = found_;
      if (!F_.allFinite()) break;
      store(F_);
      limits_ = group_.slip_limits();
      y.noalias() = At_ * F_;
      const double residual = residual_of(y);
      if (residual < best_residual) {
        best_residual = residual;
        best = F_;
      }
      if (residual <= tolerance_) break;
      share_ = std::max(kMinShare, kShareFactor * share_);
    }
    store(best);
    return best_residual;
  }

  [[nodiscard]] Eigen::Index coordinates() const { return At_.rows(); }

 private:
  // `wanted`: those that are solved for, otherwise those that are held.
  [[nodiscard]] VecX force_of_group(bool wanted) const
  {
    VecX force = VecX::Zero(At_.cols());
    for (const Contact& contact : group_.contacts_) {
      if (contacts_ == wanted) force[contact.row] = contact.force;
    }
    for (const Slip& slip : group_.slips_) {
      if (slips_ != wanted) continue;
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) force[slip.desc.rows[i]] = slip.force[i];
    }
    return force;
  }

  // s of (1): with the forces that are held.
  void find_free_motion()
  {
    const VecX held = force_of_group(false);
    free_ = At_.transpose() * (At_ * held);
    for (Eigen::Index r = 0; r < free_.size(); ++r) free_[r] += group_.rows_[at(r)].free;
    for (const Contact& contact : group_.contacts_) free_[contact.row] -= contact.d;
  }

  [[nodiscard]] double compliance_of(const Slip& slip) const
  {
    double compliance = 0;
    for (std::size_t i = 0; i < at(slip.desc.count); ++i)
      compliance = std::max(compliance, group_.rows_[at(slip.desc.rows[i])].compliance);
    return compliance;
  }

  // P(F_k - (s + moved) / (share R)), by contact and slip; `take` gets each.
  template <class TakeContact, class TakeSlip>
  void project(const VecX& moved, double share, const TakeContact& take_contact,
               const TakeSlip& take_slip) const
  {
    if (contacts_) {
      for (const Contact& contact : group_.contacts_) {
        const double e = share * group_.rows_[at(contact.row)].compliance;
        if (!(e > 0)) continue;
        const double wanted = F_[contact.row] - (free_[contact.row] + moved[contact.row]) / e;
        take_contact(contact, std::max(0.0, wanted), e);
      }
    }
    if (!slips_) return;
    for (std::size_t s = 0; s < group_.slips_.size(); ++s) {
      const Slip& slip = group_.slips_[s];
      const double own = group_.joint_compliance(slip);
      const double e = share * compliance_of(slip) + own;
      if (!(e > 0)) continue;
      Pair wanted{};
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
        const int row = slip.desc.rows[i];
        wanted[i] = F_[row] - (free_[row] + moved[row] + own * F_[row]) / e;
      }
      take_slip(slip, into_limit(wanted, slip.desc.count, limits_[static_cast<Eigen::Index>(s)], corners_),
                e);
    }
  }

  void find_forces(const VecX& moved, VecX& force) const
  {
    force.setZero(At_.cols());
    project(
        moved, share_, [&](const Contact& contact, double f, double) { force[contact.row] = f; },
        [&](const Slip& slip, const LimitedForce& limited, double) {
          for (std::size_t i = 0; i < at(slip.desc.count); ++i) force[slip.desc.rows[i]] = limited.force[i];
        });
  }

  // The part of H of (2) beside I.
  void find_hessian(const VecX& moved)
  {
    std::vector<VecX> columns;
    project(
        moved, share_,
        [&](const Contact& contact, double f, double e) {
          if (f > 0) columns.emplace_back(At_.col(contact.row) / std::sqrt(e));
        },
        [&](const Slip& slip, const LimitedForce& limited, double e) {
          if (limited.free_directions == 2) {
            for (std::size_t i = 0; i < at(slip.desc.count); ++i)
              columns.emplace_back(At_.col(slip.desc.rows[i]) / std::sqrt(e));
          }
          if (limited.free_directions != 1) return;
          VecX along = limited.along[0] * At_.col(slip.desc.rows[0]);
          if (slip.desc.count == 2) along += limited.along[1] * At_.col(slip.desc.rows[1]);
          columns.emplace_back(along * std::sqrt(limited.share / e));
        });
    yielding_.resize(At_.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t i = 0; i < columns.size(); ++i) yielding_.col(static_cast<Eigen::Index>(i)) = columns[i];
  }

  // H^-1 g with H = I + B B^T, B the columns that yield: by rows or by coordinates, of which there are fewer.
  [[nodiscard]] VecX solve_hessian(const VecX& g)
  {
    if (yielding_.cols() == 0) return g;
    const bool by_rows = yielding_.cols() < yielding_.rows();
    const Eigen::Index size = by_rows ? yielding_.cols() : yielding_.rows();
    H_.setIdentity(size, size);
    if (!by_rows) {
      H_.selfadjointView<Eigen::Lower>().rankUpdate(yielding_);
      return H_.selfadjointView<Eigen::Lower>().llt().solve(g);
    }
    H_.selfadjointView<Eigen::Lower>().rankUpdate(yielding_.transpose());
    return g - yielding_ * H_.selfadjointView<Eigen::Lower>().llt().solve(yielding_.transpose() * g);
  }

  void minimise(VecX& y)
  {
    VecX moved = At_.transpose() * y;
    find_forces(moved, found_);
    for (int step = 0; step < kMaxSteps; ++step) {
      const VecX pulled = At_ * found_;
      const VecX g = y - pulled;
      if (g.norm() <= kRest * tolerance_ * std::max(pulled.norm(), y.norm())) return;
      ++group_.report_.newton_steps;
      find_hessian(moved);
      const VecX p = -solve_hessian(g);
      const double slope = g.dot(p);
      if (!(slope < 0) || !p.allFinite()) return;
      const VecX moves = At_.transpose() * p;
      const double length = search(y, p, moved, moves, slope);
      y += length * p;
      moved += length * moves;
      if (length * p.norm() <= kRounding * y.norm()) return;
    }
  }

  // Where along p the slope, which grows, is small beside that at its beginning.
  double search(const VecX& y, const VecX& p, const VecX& moved, const VecX& moves, double slope)
  {
    double low = 0;
    double high = 0;  // not known
    double length = 1;
    for (int i = 0; i < kLineSteps; ++i) {
      find_forces(moved + length * moves, found_);
      const double now = p.dot(y) + length * p.squaredNorm() - moves.dot(found_);
      if (std::abs(now) <= -kLineShare * slope) break;
      (now < 0 ? low : high) = length;
      length = high > 0 ? 0.5 * (low + high) : 2 * length;
    }
    return length;
  }

  // By how much a force would change if its row were solved alone, as a share of the largest normal force.
  [[nodiscard]] double residual_of(const VecX& y) const
  {
    const VecX moved = At_.transpose() * y;
    double change = 0;
    project(
        moved, 1,
        [&](const Contact& contact, double f, double) {
          change = std::max(change, std::abs(f - F_[contact.row]));
        },
        [&](const Slip& slip, const LimitedForce& limited, double) {
          const double arm = std::max(slip.desc.limit, tolerance_);
          for (std::size_t i = 0; i < at(slip.desc.count); ++i)
            change = std::max(change, std::abs(limited.force[i] - F_[slip.desc.rows[i]]) / arm);
        });
    double largest = 0;
    for (const Patch& patch : group_.patches_) largest = std::max(largest, group_.normal_force(patch));
    return group_.relative_change(change, largest);
  }

  void store(const VecX& force)
  {
    for (Contact& contact : group_.contacts_) {
      if (contacts_) contact.force = force[contact.row];
    }
    for (Slip& slip : group_.slips_) {
      if (!slips_) continue;
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) slip.force[i] = force[slip.desc.rows[i]];
    }
  }

  ContactGroup& group_;
  double tolerance_;
  int corners_;
  bool contacts_, slips_;  ///< that are solved for; others are held
  MatX At_;
  VecX free_;
  VecX F_;       ///< F_k of (2), by row
  VecX limits_;  ///< by slip
  VecX found_;   ///< F of (2) for the motion at hand
  double share_ = kFirstShare;
  MatX yielding_;  ///< columns of A^T times the roots of their slopes
  MatX H_;
};

double ContactGroup::solve_hard_by_newton(const FlexibleSettings& settings, bool contacts, bool slips)
{
  HardNewton newton(*this, settings, contacts, slips);
  if (newton.coordinates() == 0 || newton.coordinates() > kMaxNewtonCoordinates)
    return std::numeric_limits<double>::infinity();
  ++report_.newton_solves;
  const double residual = newton.solve();
  sum_displacements();
  return residual;
}

}  // namespace thrum::flexible
