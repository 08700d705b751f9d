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
// normal resist, up to a limit. So steps along -H^-1 g to where the slope on their line has changed sign
// converge from anywhere. Every y is A^T f for some f, of which one is kept instead: with G = A A^T the rows
// move by G f, g = A^T r with r = f - F(G f), and with K = B B^T a step is that of
//
//     f - r + B w,     (I + B^T G B) w = B^T G r:                                                         (2)
//
// a matrix as large as the number of contacts that push. Where that is far more than the coordinates, the
// same w is P^T H^-1 A^T r with P = A^T B and H as large as the number of coordinates.
//
// Contacts that neither touch nor would without forces are left out, until the motion found closes one. The
// limit of friction is that of the normal forces of the round before; rounds are repeated until it stays.
// [Zheng11] solves the two in turn in the same way (5a), (5b); both are what its active sets do.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/numerics/small_cholesky.h"

namespace thrum::flexible {

namespace {

constexpr int kMaxRounds = 40;
constexpr int kMaxSteps = 60;
/// Share of the slope along a line at which a search along it ends, and its most steps.
constexpr double kLineShare = 0.5;
constexpr int kLineSteps = 30;
/// Steps end at this share of the tolerance of the forces.
constexpr double kRest = 0.1;
/// Torques count by the force that has them on an arm of at least this [m].
constexpr double kMinArm = 1e-9;
/// All contacts take part where this share of them does.
constexpr double kMostContacts = 0.5;
/// G is formed for so many rows a coordinate at most; beyond that A (A^T f) is cheaper.
constexpr double kMaxGramRows = 2;
/// Rows that push, by coordinate, up to which the matrix of rows is factored.
constexpr double kMaxSmallRows = 1.3;
/// A step with the slopes of the one before makes errors less by its rate, times this at worst.
constexpr double kRateMargin = 4;

}  // namespace

/// The rows of a group and the forces on them for a displacement of the coordinates.
class ContactGroup::Newton {
 public:
  /// For the weights and the modes that `group` has at the moment.
  Newton(const ContactGroup& group, double dt)
      : dt_(dt), all_rows_(group.scaled_rows(group.weight_)), is_near_(group.contacts_.size(), 0)
  {
    row_sizes_ = all_rows_.colwise().norm().transpose();
    gather_rows(group);
  }

  /// Forces of all rows; returns how far they are from a solution, as a share of the largest.
  double solve(ContactGroup& group, double tolerance)
  {
    group_ = &group;
    if (take_near_contacts()) gather_rows(group);
    VecX limits = group_->slip_limits();
    VecX f = first_guess(limits);
    double residual = 0;
    for (int round = 0; round < kMaxRounds; ++round) {
      const double slope = minimise(tolerance, limits, f);
      const double largest = store(limits);
      if (!std::isfinite(largest)) return largest;
      const VecX next = group_->slip_limits();
      residual = std::max(slope, group_->relative_change(max_change(limits, next), largest));
      if (slope > tolerance) break;
      const bool is_complete = !take_reached_contacts(f);
      if (residual <= tolerance && is_complete) break;
      limits = next;
      if (is_complete) continue;
      gather_rows(group);
      f = start();
    }
    return residual;
  }

  [[nodiscard]] Eigen::Index coordinates() const { return all_rows_.rows(); }

 private:
  struct Forces {
    VecX force;  ///< by place
    VecX slope;  ///< K of contacts, by place; of slips their resistance
    VecX clip;   ///< direction of a slip that is limited, by place; 0: not limited
  };
  /// A column of B: a at the place i, b at j.
  struct Push {
    Eigen::Index i = 0, j = 0;
    double a = 0, b = 0;
  };

  // ---------------------------------------------------------------------------------------------------------
  // Which rows take part. A place is a row that does: first those of the contacts that are near, then those
  // of the slips.

  // Returns whether there are new ones.
  bool take_near_contacts()
  {
    bool any = false;
    for (std::size_t c = 0; c < is_near_.size(); ++c) {
      const Contact& contact = group_->contacts_[c];
      if (is_near_[c] != 0 || !(contact.d > 0 || contact.d_free > 0 || contact.force > 0)) continue;
      is_near_[c] = 1;
      any = true;
    }
    // Where most are, the others come one by one, and each time all is solved again.
    const auto near = std::count(is_near_.begin(), is_near_.end(), std::uint8_t{1});
    if (any && static_cast<double>(near) > kMostContacts * static_cast<double>(is_near_.size()))
      std::fill(is_near_.begin(), is_near_.end(), std::uint8_t{1});
    return any;
  }

  // Those that the motion by the forces f closes.
  bool take_reached_contacts(const VecX& f)
  {
    if (contact_places_.size() == is_near_.size()) return false;
    const VecX y = rows_ * f;
    const double size = y.norm();
    bool any = false;
    for (std::size_t c = 0; c < is_near_.size(); ++c) {
      const Contact& contact = group_->contacts_[c];
      if (is_near_[c] != 0 || contact.d_free + row_sizes_[contact.row] * size <= 0) continue;
      if (contact.d_free - all_rows_.col(contact.row).dot(y) <= 0) continue;
      is_near_[c] = 1;
      any = true;
    }
    return any;
  }

  void gather_rows(const ContactGroup& group)
  {
    contact_places_.clear();
    slip_places_.clear();
    std::vector<int> rows;
    for (std::size_t c = 0; c < is_near_.size(); ++c) {
      if (is_near_[c] == 0) continue;
      contact_places_.push_back(c);
      rows.push_back(group.contacts_[c].row);
    }
    for (const Slip& slip : group.slips_) {
      slip_places_.push_back(static_cast<Eigen::Index>(rows.size()));
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) rows.push_back(slip.desc.rows[i]);
    }
    const auto count = static_cast<Eigen::Index>(rows.size());
    rows_.resize(all_rows_.rows(), count);
    sizes_.resize(count);
    for (Eigen::Index k = 0; k < count; ++k) {
      rows_.col(k) = all_rows_.col(rows[at(k)]);
      sizes_[k] = row_sizes_[rows[at(k)]];
    }
    has_gram_ = static_cast<double>(count) <= kMaxGramRows * static_cast<double>(rows_.rows());
    if (!has_gram_) return;
    matrix_.resize(count, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      for (Eigen::Index k = 0; k <= i; ++k)
        matrix_(i, k) = matrix_(k, i) =
            numerics::wide_dot(rows_.col(i).data(), rows_.col(k).data(), at(rows_.rows()));
    }
    gram_.assign(matrix_);
  }

  // G f.
  void apply(const VecX& f, VecX& moved)
  {
    if (has_gram_) {
      gram_.multiply(f, moved);
      return;
    }
    by_coordinate_.noalias() = rows_ * f;
    moved.noalias() = rows_.transpose() * by_coordinate_;
  }

  // ---------------------------------------------------------------------------------------------------------
  // Forces

  // From those that the group has.
  [[nodiscard]] VecX start() const
  {
    VecX f = VecX::Zero(rows_.cols());
    for (std::size_t k = 0; k < contact_places_.size(); ++k)
      f[static_cast<Eigen::Index>(k)] = group_->contacts_[contact_places_[k]].force;
    for (std::size_t s = 0; s < slip_places_.size(); ++s) {
      const Slip& slip = group_->slips_[s];
      for (Eigen::Index i = 0; i < slip.desc.count; ++i) f[slip_places_[s] + i] = slip.force[at(i)];
    }
    if (!f.allFinite()) f.setZero();
    return f;
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

  // `moved`: G f.
  void find_forces(const VecX& moved, const VecX& limits, Forces& out) const
  {
    out.force.setZero(moved.size());
    out.slope.setZero(moved.size());
    out.clip.setZero(moved.size());
    for (std::size_t k = 0; k < contact_places_.size(); ++k) {
      const auto place = static_cast<Eigen::Index>(k);
      const Contact& contact = group_->contacts_[contact_places_[k]];
      const double d = contact.d_free - moved[place];
      if (d <= 0 && contact.d <= 0 && contact.damper == 0) continue;
      double end = d;
      if (contact.tail_compliance > 0)
        end -= contact.tail_compliance * elastic::solve_held_force(contact.law, contact.d, d,
                                                                   contact.tail_compliance, contact.damper,
                                                                   contact.force);
      const elastic::HeldForce held = elastic::held_force(contact.law, contact.d, end, contact.damper);
      out.force[place] = held.force;
      out.slope[place] = held.slope / (1 + contact.tail_compliance * held.slope);
    }
    for (std::size_t s = 0; s < slip_places_.size(); ++s)
      find_slip_force(s, moved, limits[static_cast<Eigen::Index>(s)], out);
  }

  void find_slip_force(std::size_t s, const VecX& moved, double limit, Forces& out) const
  {
    if (!(limit > 0)) return;
    const Slip& slip = group_->slips_[s];
    const double resistance = 0.5 * slip.desc.stiffness + slip.desc.damping / dt_;
    std::array<double, 2> wanted{};
    for (Eigen::Index i = 0; i < slip.desc.count; ++i) {
      const double way = group_->rows_[at(slip.desc.rows[at(i)])].free + moved[slip_places_[s] + i];
      wanted[at(i)] = -(slip.desc.stiffness * slip.stretch[at(i)] + resistance * way);
    }
    const double length = std::hypot(wanted[0], wanted[1]);
    const double share = length > limit ? limit / length : 1;
    for (Eigen::Index i = 0; i < slip.desc.count; ++i) {
      const Eigen::Index place = slip_places_[s] + i;
      out.force[place] = share * wanted[at(i)];
      out.slope[place] = share * resistance;
      if (share < 1) out.clip[place] = wanted[at(i)] / length;
    }
  }

  // ---------------------------------------------------------------------------------------------------------
  // Steps

  // Stiff contacts turn a small error of their forces into a motion that is far off; that they stay as deep
  // as they are, and that nothing slips, is nearer. With the forces and slopes F*, K of that motion m*, which
  // the coordinates need not be able to make, the first f is where F* - K (G f - m*) = f.
  [[nodiscard]] VecX first_guess(const VecX& limits)
  {
    if (contact_places_.empty()) return start();
    VecX moved(rows_.cols());
    for (std::size_t k = 0; k < contact_places_.size(); ++k) {
      const Contact& contact = group_->contacts_[contact_places_[k]];
      moved[static_cast<Eigen::Index>(k)] = contact.d_free - contact.d;
    }
    for (std::size_t s = 0; s < slip_places_.size(); ++s) {
      const Slip& slip = group_->slips_[s];
      for (Eigen::Index i = 0; i < slip.desc.count; ++i)
        moved[slip_places_[s] + i] = -group_->rows_[at(slip.desc.rows[at(i)])].free;
    }
    find_forces(moved, limits, forces_);
    factor_slopes();
    // K m*.
    VecX wanted = forces_.force;
    for (const Push& p : pushing_) {
      const double along = p.a * moved[p.i] + p.b * moved[p.j];
      wanted[p.i] += p.a * along;
      if (p.b != 0) wanted[p.j] += p.b * along;
    }
    const VecX r = -wanted;
    VecX Gr, f;
    apply(r, Gr);
    find_direction(r, Gr, f);
    return f.allFinite() ? f : start();
  }

  // B: of the contacts that push, and of the springs across the normal; one that is limited resists across
  // its direction alone.
  void gather_pushing()
  {
    pushing_.clear();
    const auto add = [&](Eigen::Index place) {
      if (forces_.slope[place] > 0) pushing_.push_back({place, place, std::sqrt(forces_.slope[place]), 0});
    };
    for (Eigen::Index k = 0; k < static_cast<Eigen::Index>(contact_places_.size()); ++k) add(k);
    for (std::size_t s = 0; s < slip_places_.size(); ++s) {
      const Eigen::Index first = slip_places_[s];
      const bool is_double = group_->slips_[s].desc.count == 2;
      const bool is_limited = forces_.clip[first] != 0 || (is_double && forces_.clip[first + 1] != 0);
      if (!is_limited) {
        add(first);
        if (is_double) add(first + 1);
      } else if (is_double) {
        const double root = std::sqrt(forces_.slope[first]);
        pushing_.push_back({first + 1, first, root * forces_.clip[first], -root * forces_.clip[first + 1]});
      }
    }
  }

  // B^T G B + I, its lower half.
  void form_small_matrix()
  {
    const std::size_t count = pushing_.size();
    small_.resize(count);
    for (std::size_t l = 0; l < count; ++l) {
      const Push& q = pushing_[l];
      const double* g = gram_.column(at(q.i));
      double* column = small_.column(l);
      for (std::size_t k = l; k < count; ++k) column[k] = pushing_[k].a * (q.a * g[pushing_[k].i]);
      if (q.b != 0) {
        const double* h = gram_.column(at(q.j));
        for (std::size_t k = l; k < count; ++k) column[k] += pushing_[k].a * (q.b * h[pushing_[k].i]);
      }
      column[l] += 1;
    }
    // Of slips that are limited, which have two places.
    for (std::size_t k = 0; k < count; ++k) {
      const Push& p = pushing_[k];
      if (p.b == 0) continue;
      const double* g = gram_.column(at(p.j));
      for (std::size_t l = 0; l <= k; ++l) {
        const Push& q = pushing_[l];
        small_.column(l)[k] += p.b * (q.a * g[q.i] + q.b * g[q.j]);
      }
    }
  }

  // I + P P^T, P = A^T B.
  void form_by_coordinates()
  {
    const auto count = static_cast<Eigen::Index>(pushing_.size());
    P_.resize(rows_.rows(), count);
    for (Eigen::Index k = 0; k < count; ++k) {
      const Push& p = pushing_[at(k)];
      P_.col(k) = p.a * rows_.col(p.i);
      if (p.b != 0) P_.col(k) += p.b * rows_.col(p.j);
    }
    matrix_.setIdentity(rows_.rows(), rows_.rows());
    matrix_.selfadjointView<Eigen::Lower>().rankUpdate(P_);
    factor_.compute(matrix_);
  }

  [[nodiscard]] bool solves_by_rows() const
  {
    return has_gram_ &&
           static_cast<double>(pushing_.size()) <= kMaxSmallRows * static_cast<double>(rows_.rows());
  }

  // The matrix of (2) for the slopes of `forces_`.
  void factor_slopes()
  {
    gather_pushing();
    if (solves_by_rows()) {
      form_small_matrix();
      is_factored_ = small_.compute();
    } else if (!pushing_.empty()) {
      form_by_coordinates();
      is_factored_ = factor_.info() == Eigen::Success;
    }
  }

  // The step of f by (2), for the residual r and the slopes that were factored last.
  void find_direction(const VecX& r, const VecX& Gr, VecX& step)
  {
    const auto count = static_cast<Eigen::Index>(pushing_.size());
    step = -r;
    if (count == 0 || !is_factored_) return;
    if (solves_by_rows()) {
      w_.resize(count);
      for (Eigen::Index k = 0; k < count; ++k) {
        const Push& p = pushing_[at(k)];
        w_[k] = p.a * Gr[p.i] + p.b * Gr[p.j];
      }
      small_.solve_in_place(w_);
    } else {
      by_coordinate_.noalias() = rows_ * r;
      factor_.solveInPlace(by_coordinate_);
      w_.noalias() = P_.transpose() * by_coordinate_;
    }
    for (Eigen::Index k = 0; k < count; ++k) {
      const Push& p = pushing_[at(k)];
      step[p.i] += p.a * w_[k];
      if (p.b != 0) step[p.j] += p.b * w_[k];
    }
  }

  // Into `forces_` and f; returns what is left of the slope, as a share.
  double minimise(double tolerance, const VecX& limits, VecX& f)
  {
    VecX moved, r, Gr, step, moves;
    apply(f, moved);
    find_forces(moved, limits, forces_);
    double left = 0;
    double before = 0;  // of the step before
    for (int i = 0; i < kMaxSteps; ++i) {
      r = f - forces_.force;
      apply(r, Gr);
      // Forces that hold a body from both sides cancel in the sum: it is known to their rounding.
      const double size =
          std::max(std::sqrt(std::max(0.0, f.dot(moved))), sizes_.dot(forces_.force.cwiseAbs()));
      left = size > 0 ? std::sqrt(std::max(0.0, r.dot(Gr))) / size : 0;
      if (left <= kRest * tolerance) break;
      ++group_->report_.newton_steps;
      // Near the end the slopes hardly change: those of the last step do if the same rate would be enough.
      if (i == 0 || !(kRateMargin * left * left < kRest * tolerance * before)) factor_slopes();
      before = left;
      find_direction(r, Gr, step);
      apply(step, moves);
      const double slope = Gr.dot(step);
      if (!(slope < 0) || !step.allFinite()) break;
      const double length = search(f, step, moved, moves, slope, limits);
      f += length * step;
      moved += length * moves;
    }
    return left;
  }

  // Where along the step the slope, which grows, is small beside that at its beginning. Into `forces_`.
  double search(const VecX& f, const VecX& step, const VecX& moved, const VecX& moves, double slope,
                const VecX& limits)
  {
    double low = 0;
    double high = 0;  // not known
    double length = 1;
    for (int i = 0; i < kLineSteps; ++i) {
      find_forces(moved + length * moves, limits, forces_);
      const double now = moves.dot(f + length * step - forces_.force);
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
    for (Contact& contact : group_->contacts_) contact.force = 0;
    for (std::size_t k = 0; k < contact_places_.size(); ++k)
      group_->contacts_[contact_places_[k]].force = forces_.force[static_cast<Eigen::Index>(k)];
    for (std::size_t s = 0; s < slip_places_.size(); ++s) {
      Slip& slip = group_->slips_[s];
      slip.slips = !(limits[static_cast<Eigen::Index>(s)] > 0);
      for (Eigen::Index i = 0; i < slip.desc.count; ++i) {
        slip.force[at(i)] = forces_.force[slip_places_[s] + i];
        slip.slips = slip.slips || forces_.clip[slip_places_[s] + i] != 0;
      }
    }
    double largest = 0;
    for (const Patch& patch : group_->patches_) largest = std::max(largest, group_->normal_force(patch));
    return largest;
  }

  ContactGroup* group_ = nullptr;  ///< while it is solved
  double dt_;
  MatX all_rows_;                            ///< A^T of all rows
  VecX row_sizes_;                           ///< norms of its columns
  std::vector<std::uint8_t> is_near_;        ///< by contact: has a place
  std::vector<std::size_t> contact_places_;  ///< contacts, by place
  std::vector<Eigen::Index> slip_places_;    ///< first place, by slip
  MatX rows_;                                ///< A^T by place
  VecX sizes_;                               ///< norms of its columns
  numerics::WideMatrix gram_;                ///< G
  bool has_gram_ = false;
  Forces forces_;
  std::vector<Push> pushing_;
  MatX matrix_, P_;
  numerics::SmallCholesky small_;  ///< of (2), by rows that push
  Eigen::LLT<MatX> factor_;        ///< by coordinates
  bool is_factored_ = false;
  VecX w_, by_coordinate_;
};

MatX ContactGroup::scaled_rows(const std::vector<double>& weights) const
{
  // Coordinates without weight are left out: those behind them move up.
  VecX root(static_cast<Eigen::Index>(x_.size()));
  for (std::size_t i = 0; i < x_.size(); ++i)
    root[static_cast<Eigen::Index>(i)] = std::sqrt(std::max(0.0, weights[i]));
  MatX scaled = MatX::Zero(root.size(), static_cast<Eigen::Index>(rows_.size()));
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const Side& side : {rows_[r].a, rows_[r].b}) {
      if (side.body == kNoBody) continue;
      const Body& body = bodies_[at(side.body)];
      const Eigen::Index size = body.coordinates();
      scaled.col(static_cast<Eigen::Index>(r)).segment(body.first, size) +=
          Eigen::Map<const VecX>(&J_[side.first], size).cwiseProduct(root.segment(body.first, size));
    }
  }
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < root.size(); ++i) {
    if (!(root[i] > 0)) continue;
    if (count != i) scaled.row(count) = scaled.row(i);
    ++count;
  }
  if (count < root.size()) scaled.conservativeResize(count, Eigen::NoChange);
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
