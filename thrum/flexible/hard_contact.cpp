// SPDX-License-Identifier: MIT
// Contact without indentation [Zheng11, eq. 2 to 5]: impulses at the beginning of a substep, then free
// motion.
//
// With the motion x_f of the coordinates in the substep if nothing touched, and impulses l along the normals,
//
//     gap + J (x_f + B J^T l) >= 0,   l >= 0,   and only one of them above 0,                            (5a)
//
// B = dt / m of a rigid coordinate and sin(w dt) / w of a mode: what an impulse at the beginning moves it by
// until the end; and across the normals friction that removes slip as far as mu l allows, (5b). Departures:
// (5a) is a condition for the gap at the end of the substep instead of for the speed, so that an impact ends
// where the bodies touch and impulses move bodies as well; with impulses that change speeds alone every
// substep is a plastic impact, and two equal rods bounce with 0.53 instead of 1. Coordinates move exactly,
// where the paper has Euler's and Newmark's rules.
// Restitution comes from the modes alone: for a body with one mode of the moving mass m_s it is
// m / (m + m_s), for two equal rods 1; a ball on a plate does not bounce, since no compliance of the contact
// itself is there to give its energy back.
//
// `staggered` is the paper's iteration: (5a) with the friction of the last round, then (5b) with the normal
// impulses of this one, friction in a polygon of `friction_directions` corners. Rounds are extrapolated
// [Anderson 1965] and the best one is kept; where they do not settle all are solved together. `coupled`
// solves all together from the beginning, with a round cone. Both by sweeps, and where these are slow by
// Newton's method (hard_newton.cpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"
#include "thrum/flexible/friction_limit.h"

namespace thrum::flexible {

namespace {

constexpr int kRounds = 40;
constexpr int kAndersonDepth = 5;
/// Of the least squares of the extrapolation, share of their largest entry.
constexpr double kAndersonRegularisation = 1e-12;

}  // namespace

// Forces here are impulses over dt, so that the two kinds of contact share their memory.
void ContactGroup::prepare_hard(double dt)
{
  move_freely(dt);
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      impulse_weight_[i] = k < body.moving() ? dt * inverse_mass_[i] : 0;
      // Beyond half a period an impulse would move its point backwards.
      const double until_end = k < body.rigid ? dt : std::max(0.0, sine_[i]);
      hard_weight_[i] = until_end * impulse_weight_[i];
    }
  }
  weigh_rows(hard_weight_);
  sum_displacements();
}

double ContactGroup::sweep_hard_contact(Contact& contact)
{
  const Row& row = rows_[at(contact.row)];
  if (!(row.compliance > 0)) return 0;
  return change_force(
      contact, std::max(0.0, contact.force - (row.free - contact.d + along(row, z_)) / row.compliance));
}

// Joints yield a little: a cart is held by more of them than it has coordinates, which then contradict each
// other in the last digits, and forces without limit would grow for ever.
double ContactGroup::joint_compliance(const Slip& slip) const
{
  return slip.desc.is_joint ? 1 / (0.5 * slip.desc.stiffness + slip.desc.damping / prepared_) : 0;
}

double ContactGroup::sweep_hard_slip(Slip& slip, double normal, int corners)
{
  const double limit = slip.max_force(normal);
  Pair wanted{};
  double compliance = 0;
  for (std::size_t i = 0; i < at(slip.desc.count); ++i)
    compliance = std::max(compliance, rows_[at(slip.desc.rows[i])].compliance);
  if (!(compliance > 0)) return 0;
  const double own = joint_compliance(slip);
  for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
    const Row& row = rows_[at(slip.desc.rows[i])];
    wanted[i] = slip.force[i] - (row.free + along(row, z_) + own * slip.force[i]) / (compliance + own);
  }
  return change_force(slip, into_limit(wanted, slip.desc.count, limit, corners).force);
}

// Sweeps over contacts, slips or both until they have settled, with Newton's method where they are slow;
// returns the last change of a force, as a share of the largest normal force.
double ContactGroup::sweep_hard(const FlexibleSettings& settings, bool contacts, bool slips)
{
  const int corners = settings.friction == FrictionSolver::staggered ? settings.friction_directions : 0;
  double residual = 0;
  for (int sweep = 0; sweep < settings.iterations; ++sweep) {
    if (sweep == (sweeps_are_slow_ ? 0 : settings.sweeps_before_newton)) {
      residual = solve_hard_by_newton(settings, contacts, slips);
      sweeps_are_slow_ = residual <= settings.tolerance;
      if (sweeps_are_slow_) break;
    }
    ++report_.sweeps;
    double change = 0;
    double largest = 0;
    for (const Patch& patch : patches_) {
      if (contacts) {
        for (std::size_t i = patch.first_contact; i < patch.end_contact; ++i)
          change = std::max(change, sweep_hard_contact(contacts_[i]));
      }
      const double normal = normal_force(patch);
      largest = std::max(largest, normal);
      if (!slips) continue;
      for (std::size_t i = patch.first_slip; i < patch.end_slip; ++i) {
        const double arm = std::max(slips_[i].desc.limit, std::numeric_limits<double>::min());
        change =
            std::max(change, sweep_hard_slip(slips_[i], normal, corners) / std::max(arm, settings.tolerance));
      }
    }
    residual = relative_change(change, largest);
    if (residual <= settings.tolerance) break;
  }
  return residual;
}

VecX ContactGroup::slip_forces() const
{
  VecX all(static_cast<Eigen::Index>(2 * slips_.size()));
  for (std::size_t i = 0; i < slips_.size(); ++i) {
    all[static_cast<Eigen::Index>(2 * i)] = slips_[i].force[0];
    all[static_cast<Eigen::Index>(2 * i + 1)] = slips_[i].force[1];
  }
  return all;
}

void ContactGroup::set_slip_forces(const VecX& all)
{
  for (std::size_t i = 0; i < slips_.size(); ++i)
    slips_[i].force = {all[static_cast<Eigen::Index>(2 * i)], all[static_cast<Eigen::Index>(2 * i + 1)]};
  sum_displacements();
}

// Eq. (10) and (11): what would slip without contact forces, and the friction impulses of the last substep,
// summed over the group, are below what can be seen. Then (5a) alone is solved.
bool ContactGroup::is_friction_culled() const
{
  constexpr double kMaxSpeed = 1e-8;     // [m/s]
  constexpr double kMaxImpulse = 1e-10;  // [N s]
  double speed = 0;
  double impulse = 0;
  for (const Slip& slip : slips_) {
    if (slip.desc.is_joint) return false;
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      speed += std::abs(rows_[at(slip.desc.rows[i])].free) / prepared_;
      impulse += prepared_ * std::abs(slip.force[i]);
    }
  }
  return speed < kMaxSpeed && impulse < kMaxImpulse;
}

double ContactGroup::solve_staggered(const FlexibleSettings& settings)
{
  std::vector<VecX> before, after;  // friction that rounds began with and ended with
  VecX best = slip_forces();
  double best_residual = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const VecX start = slip_forces();
    double residual = sweep_hard(settings, true, false);
    residual = std::max(residual, sweep_hard(settings, false, true));
    const VecX end = slip_forces();
    double largest = 0;
    for (const Patch& patch : patches_) largest = std::max(largest, normal_force(patch));
    residual = std::max(residual, relative_change((end - start).cwiseAbs().maxCoeff(), largest));
    if (residual < best_residual) {
      best_residual = residual;
      best = end;
    }
    if (residual <= settings.tolerance) break;
    before.push_back(start);
    after.push_back(end);
    if (before.size() > kAndersonDepth + 1) {
      before.erase(before.begin());
      after.erase(after.begin());
    }
    // The combination of the last rounds whose changes cancel best.
    const auto count = static_cast<Eigen::Index>(before.size()) - 1;
    if (count < 1) continue;
    const VecX last = after.back() - before.back();
    MatX differences(last.size(), count);
    for (Eigen::Index i = 0; i < count; ++i) differences.col(i) = last - (after[at(i)] - before[at(i)]);
    MatX normal = differences.transpose() * differences;
    normal.diagonal().array() +=
        kAndersonRegularisation * std::max(normal.diagonal().maxCoeff(), std::numeric_limits<double>::min());
    const VecX weights = normal.ldlt().solve(differences.transpose() * last);
    VecX mixed = end;
    for (Eigen::Index i = 0; i < count; ++i) mixed -= weights[i] * (end - after[at(i)]);
    if (mixed.allFinite()) set_slip_forces(mixed);
  }
  // Where rounds do not settle (5a) and (5b) are solved together, in the same polygons.
  if (best_residual > settings.tolerance) {
    const double together = solve_hard_by_newton(settings, true, true);
    if (together <= settings.tolerance) return together;
  }
  // Last a solution along the normals, so that nothing enters.
  set_slip_forces(best);
  return std::max(best_residual, sweep_hard(settings, true, false));
}

bool ContactGroup::solve_hard(double dt, const FlexibleSettings& settings)
{
  prepare_hard(dt);
  if (settings.friction != FrictionSolver::staggered || slips_.empty() || !is_friction_culled())
    return find_hard_forces(settings);
  ++report_.culled;
  set_slip_forces(VecX::Zero(static_cast<Eigen::Index>(2 * slips_.size())));
  residual_ = sweep_hard(settings, true, false);
  return residual_ <= settings.tolerance;
}

bool ContactGroup::find_hard_forces(const FlexibleSettings& settings)
{
  residual_ = settings.friction == FrictionSolver::staggered && !slips_.empty()
                  ? solve_staggered(settings)
                  : sweep_hard(settings, true, true);
  return residual_ <= settings.tolerance;
}

// Impulses at the beginning, then all coordinates move by themselves.
void ContactGroup::commit_hard(double dt)
{
  for (Body& body : bodies_) {
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      v_[i] += impulse_weight_[i] * y_[i];
    }
  }
  move_freely(dt);
}

}  // namespace thrum::flexible
