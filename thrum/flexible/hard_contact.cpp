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
// [Anderson 1965] and the best one is kept. `coupled` solves all together by sweeps, with a round cone.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

namespace {

constexpr int kRounds = 40;
constexpr int kAndersonDepth = 5;
/// Of the least squares of the extrapolation, share of their largest entry.
constexpr double kAndersonRegularisation = 1e-12;

using Pair = std::array<double, 2>;

/// The point of a regular polygon nearest to p. One corner lies on the first axis, at `radius`.
Pair into_polygon(const Pair& p, double radius, int corners)
{
  const double sector = 2 * std::numbers::pi / corners;
  const double angle = std::atan2(p[1], p[0]);
  const double middle = (std::floor(angle / sector) + 0.5) * sector;  // of the side that p sees
  const double apothem = radius * std::cos(0.5 * sector);
  const double out = p[0] * std::cos(middle) + p[1] * std::sin(middle);
  if (out <= apothem) return p;
  const double half = radius * std::sin(0.5 * sector);
  const double along = std::clamp(-p[0] * std::sin(middle) + p[1] * std::cos(middle), -half, half);
  return {apothem * std::cos(middle) - along * std::sin(middle),
          apothem * std::sin(middle) + along * std::cos(middle)};
}

Pair into_disk(const Pair& p, double radius)
{
  const double length = std::hypot(p[0], p[1]);
  if (length <= radius) return p;
  return {p[0] * radius / length, p[1] * radius / length};
}

}  // namespace

// Forces here are impulses over dt, so that the two kinds of contact share their memory.
void ContactGroup::prepare_hard(double dt)
{
  move_freely(dt);
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.used(); ++k) {
      const std::size_t i = at(body.first + k);
      impulse_weight_[i] = dt * inverse_mass_[i];
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

double ContactGroup::sweep_hard_slip(Slip& slip, double normal, int corners)
{
  const double limit = slip.max_force(normal);
  Pair wanted{};
  double compliance = 0;
  for (std::size_t i = 0; i < at(slip.desc.count); ++i)
    compliance = std::max(compliance, rows_[at(slip.desc.rows[i])].compliance);
  if (!(compliance > 0)) return 0;
  for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
    const Row& row = rows_[at(slip.desc.rows[i])];
    wanted[i] = slip.force[i] - (row.free + along(row, z_)) / compliance;
  }
  const bool is_polygon = slip.desc.count == 2 && corners > 0;
  return change_force(slip, is_polygon ? into_polygon(wanted, limit, corners) : into_disk(wanted, limit));
}

// Sweeps over contacts, slips or both until they have settled; returns the last change of a force, as a share
// of the largest normal force.
double ContactGroup::sweep_hard(const FlexibleSettings& settings, bool contacts, bool slips)
{
  const int corners = settings.friction == FrictionSolver::staggered ? settings.friction_directions : 0;
  double residual = 0;
  for (int sweep = 0; sweep < settings.iterations; ++sweep) {
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
    residual = largest > 0 ? change / largest : 0;
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
    residual = std::max(residual, largest > 0 ? (end - start).cwiseAbs().maxCoeff() / largest : 0);
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
  // Last a solution along the normals, so that nothing enters.
  set_slip_forces(best);
  return std::max(best_residual, sweep_hard(settings, true, false));
}

bool ContactGroup::solve_hard(double dt, const FlexibleSettings& settings)
{
  prepare_hard(dt);
  residual_ = settings.friction == FrictionSolver::staggered && !slips_.empty()
                  ? solve_staggered(settings)
                  : sweep_hard(settings, true, true);
  return residual_ <= settings.tolerance;
}

// Impulses at the beginning, then all coordinates move by themselves.
void ContactGroup::commit_hard(double dt)
{
  for (Body& body : bodies_) {
    for (int k = 0; k < body.used(); ++k) {
      const std::size_t i = at(body.first + k);
      v_[i] += impulse_weight_[i] * y_[i];
    }
  }
  move_freely(dt);
}

}  // namespace thrum::flexible
