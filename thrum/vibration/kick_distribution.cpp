// SPDX-License-Identifier: MIT
#include "thrum/vibration/kick_distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "thrum/base/index.h"
#include "thrum/vibration/energy_budget.h"
#include "thrum/vibration/one_sided.h"

namespace thrum::vibration {

namespace {

/// Four feet of a plate have a block of rank three; so much of the diagonal is added to make it definite.
constexpr double kRegularisation = 1e-6;

// n.(v + w x r) = n.v + (r x n).w: the arm r x n serves the speed and the inverse mass.
[[gnu::always_inline]] inline void add_body(const RigidBodyData& part, const Vec3& r,
                                            const SurfaceContact& contact, double sign, KickRow& row)
{
  const Vec3 arm = r.cross(contact.normal);
  row.present += sign * (contact.normal.dot(part.velocity) + arm.dot(part.angular_velocity));
  if (part.inverse_mass > 0) row.inverse_mass += part.inverse_mass + arm.dot(part.inverse_inertia * arm);
}

// What the contacts of a body carry, in its weights: more than one where something stands on it.
double load_ratio_of(const ResponseInput& input, std::span<const KickRow> rows)
{
  const SurfaceContact& first = input.contacts[rows[0].contact];
  const RigidBodyData& part = input.bodies[at(first.body)];
  const double g2 = part.acceleration.squaredNorm();
  if (!(part.inverse_mass > 0) || !(g2 > 0)) return 1;
  double carried = 0;  // [N m/s^2]
  for (const KickRow& row : rows) {
    const SurfaceContact& contact = input.contacts[row.contact];
    carried -= contact.load * contact.normal.dot(part.acceleration);
  }
  return std::max(1.0, carried * part.inverse_mass / g2);
}

// The impulses of one body.
void solve(const ResponseInput& input, std::span<KickRow> rows, int& unsolved)
{
  const auto contact_of = [&](Eigen::Index i) -> const SurfaceContact& {
    return input.contacts[rows[at(i)].contact];
  };
  if (rows.size() == 1) {
    if (!(rows[0].inverse_mass > 0)) return;
    rows[0].gained = std::max(0.0, rows[0].wanted - rows[0].present);
    rows[0].lambda = rows[0].gained / rows[0].inverse_mass;
    return;
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  MatX A(n, n);
  VecX b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    b[i] = rows[at(i)].wanted - rows[at(i)].present;
    A(i, i) = rows[at(i)].inverse_mass;
    for (Eigen::Index j = 0; j < i; ++j)
      A(i, j) = A(j, i) = inverse_effective_mass(input.bodies, contact_of(i), contact_of(j));
  }
  if (!(A.diagonal().minCoeff() > 0) || b.maxCoeff() <= 0) return;
  const VecX lambda = solve_one_sided(A, b, unsolved, {.regularisation = kRegularisation});
  const VecX gained = A * lambda;
  for (Eigen::Index i = 0; i < n; ++i) {
    rows[at(i)].lambda = lambda[i];
    rows[at(i)].gained = gained[i];
  }
}

}  // namespace

// Every contact of the bodies that are kicked, body after body: those that are not kicked may not be pressed
// in, beyond their gaps.
void KickDistributor::find_rows(const ResponseInput& input, std::span<const TargetSpeed> wanted)
{
  std::vector<char>& kicked = kicked_;
  kicked.assign(input.bodies.size(), 0);
  for (const TargetSpeed& w : wanted) kicked[at(input.contacts[w.contact].body)] = 1;
  const RigidBodyData& own = input.bodies[0];
  const bool own_moves = own.inverse_mass > 0 || !own.velocity.isZero(0) || !own.angular_velocity.isZero(0);
  std::vector<KickRow>& rows = rows_;
  rows.clear();
  rows.reserve(input.contacts.size());
  for (std::size_t i = 0; i < input.contacts.size(); ++i) {
    const SurfaceContact& contact = input.contacts[i];
    if (kicked[at(contact.body)] == 0 || std::isinf(contact.gap)) continue;
    KickRow& row = rows.emplace_back();
    row.contact = i;
    row.wanted = contact.gap > 0 ? -contact.gap / input.step : 0.0;
    const RigidBodyData& other = input.bodies[at(contact.body)];
    add_body(other, arm_of_other(other, contact), contact, 1, row);
    if (own_moves) add_body(input.bodies[0], arm_of_own(input.bodies[0], contact), contact, -1, row);
    row.present = std::max(0.0, row.present);
  }
  // Both lists are in the order of the contacts as a rule.
  std::size_t next = 0;
  for (const TargetSpeed& w : wanted) {
    while (next < rows.size() && rows[next].contact < w.contact) ++next;
    if (next == rows.size() || rows[next].contact != w.contact) {
      next = 0;
      while (rows[next].contact != w.contact) ++next;
    }
    rows[next].wanted = std::max(rows[next].wanted, w.speed);
  }
  const auto by_body = [&](const KickRow& a, const KickRow& b) {
    return input.contacts[a.contact].body < input.contacts[b.contact].body;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), by_body)) std::stable_sort(rows.begin(), rows.end(), by_body);
}

DistributedKicks distribute_kicks(const ResponseInput& input, std::span<const TargetSpeed> wanted,
                                  double budget, KickForm form)
{
  return KickDistributor().distribute(input, wanted, budget, form);
}

DistributedKicks KickDistributor::distribute(const ResponseInput& input, std::span<const TargetSpeed> wanted,
                                             double budget, KickForm form)
{
  DistributedKicks result;
  find_rows(input, wanted);
  std::vector<KickRow>& rows = rows_;
  double along = 0;
  double square = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    const auto body = input.contacts[rows[begin].contact].body;
    while (end < rows.size() && input.contacts[rows[end].contact].body == body) ++end;
    const std::span<KickRow> mine = std::span(rows).subspan(begin, end - begin);
    solve(input, mine, result.unsolved);
    const double load_ratio = form == KickForm::speed ? load_ratio_of(input, mine) : 1.0;
    for (KickRow& row : mine) {
      row.load_ratio = load_ratio;
      along += load_ratio * row.lambda * row.present;
      square += load_ratio * row.lambda * row.gained;
    }
    begin = end;
  }

  result.scale = max_scale_within_budget(along, square, budget);
  result.given = result.scale * along + result.scale * result.scale * square / 2;
  result.kicks.reserve(rows.size());
  for (const KickRow& row : rows) {
    if (!(row.lambda > 0) || result.scale == 0) continue;
    Kick kick;
    kick.contact = row.contact;
    kick.impulse = result.scale * row.lambda;
    kick.speed = row.present + result.scale * row.gained;
    kick.energy = row.load_ratio * kick.impulse * (row.present + kick.speed) / 2;
    result.kicks.push_back(kick);
  }
  const auto by_contact = [](const Kick& a, const Kick& b) {
    return a.contact < b.contact;
  };
  if (!std::is_sorted(result.kicks.begin(), result.kicks.end(), by_contact))
    std::sort(result.kicks.begin(), result.kicks.end(), by_contact);
  return result;
}

std::vector<BodyImpulse> body_impulses_of(const ResponseInput& input, std::span<const Kick> kicks)
{
  std::vector<BodyImpulse> by_body(input.bodies.size());
  const auto add = [&](std::int32_t body, const Vec3& arm, const Vec3& impulse) {
    const std::size_t b = at(body);
    by_body[b].body = body;
    if (input.bodies[b].inverse_mass == 0) return;
    by_body[b].impulse += impulse;
    by_body[b].angular_impulse += arm.cross(impulse);
  };
  for (const Kick& kick : kicks) {
    const SurfaceContact& contact = input.contacts[kick.contact];
    const Vec3 impulse = kick.impulse * contact.normal + kick.tangential_impulse;
    add(contact.body, arm_of_other(input.bodies[at(contact.body)], contact), impulse);
    add(0, arm_of_own(input.bodies[0], contact), -impulse);
  }
  std::erase_if(by_body, [](const BodyImpulse& push) {
    return push.impulse.isZero(0) && push.angular_impulse.isZero(0);
  });
  return by_body;
}

}  // namespace thrum::vibration
