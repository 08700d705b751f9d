// SPDX-License-Identifier: MIT
#include "thrum/vibration/kick_share.h"

#include <algorithm>
#include <limits>

#include "thrum/numerics/complementarity.h"
#include "thrum/vibration/energy_budget.h"

namespace thrum::vibration {

namespace {

/// Four feet of a plate have a block of rank three; so much of the diagonal is added to make it definite.
constexpr double kRegularisation = 1e-6;

// A touch of a body that is kicked.
struct Row {
  std::size_t touch = 0;
  double wanted = 0;   ///< [m/s]
  double present = 0;  ///< u [m/s]
  double lambda = 0;   ///< [N s]
  double gained = 0;   ///< A lambda [m/s]
  double burden = 1;   ///< mass that is lifted / mass of the body
};

// Every touch of the bodies that are kicked, body after body: those that are not kicked may not be pressed in, beyond their gaps.
std::vector<Row> rows_of(const ResponseInput& input, std::span<const WantedSpeed> wanted)
{
  std::vector<char> kicked(input.bodies.size(), 0);
  for (const WantedSpeed& w : wanted) kicked[static_cast<std::size_t>(input.touches[w.touch].body)] = 1;
  std::vector<Row> rows;
  rows.reserve(input.touches.size());
  for (std::size_t i = 0; i < input.touches.size(); ++i) {
    const Touch& touch = input.touches[i];
    if (kicked[static_cast<std::size_t>(touch.body)] == 0) continue;
    const double closes = touch.gap > 0 ? touch.gap / input.step : 0.0;
    rows.push_back({.touch = i, .wanted = -closes, .present = std::max(0.0, rigid_speed(input, touch))});
  }
  // Both lists are in the order of the touches as a rule.
  std::size_t next = 0;
  for (const WantedSpeed& w : wanted) {
    while (next < rows.size() && rows[next].touch < w.touch) ++next;
    if (next == rows.size() || rows[next].touch != w.touch) {
      next = 0;
      while (rows[next].touch != w.touch) ++next;
    }
    rows[next].wanted = std::max(rows[next].wanted, w.speed);
  }
  const auto by_body = [&](const Row& a, const Row& b) {
    return input.touches[a.touch].body < input.touches[b.touch].body;
  };
  if (!std::is_sorted(rows.begin(), rows.end(), by_body)) std::stable_sort(rows.begin(), rows.end(), by_body);
  return rows;
}

// What the contacts of a body carry, in its weights: more than one where something stands on it.
double burden_of(const ResponseInput& input, std::span<const Row> rows)
{
  const Touch& first = input.touches[rows[0].touch];
  const RigidPart& part = input.bodies[static_cast<std::size_t>(first.body)];
  const double g = part.acceleration.norm();
  if (!(part.inverse_mass > 0) || !(g > 0)) return 1;
  double carried = 0;
  for (const Row& row : rows) {
    const Touch& touch = input.touches[row.touch];
    carried -= touch.load * touch.normal.dot(part.acceleration) / g;
  }
  return std::max(1.0, carried * part.inverse_mass / g);
}

// The impulses of one body.
void solve(const ResponseInput& input, std::span<Row> rows)
{
  const auto touch_of = [&](Eigen::Index i) -> const Touch& {
    return input.touches[rows[static_cast<std::size_t>(i)].touch];
  };
  if (rows.size() == 1) {
    const double answer = rigid_answer(input.bodies, touch_of(0), touch_of(0));
    if (!(answer > 0)) return;
    rows[0].gained = std::max(0.0, rows[0].wanted - rows[0].present);
    rows[0].lambda = rows[0].gained / answer;
    return;
  }
  const auto n = static_cast<Eigen::Index>(rows.size());
  MatX A(n, n);
  VecX b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    b[i] = rows[static_cast<std::size_t>(i)].wanted - rows[static_cast<std::size_t>(i)].present;
    for (Eigen::Index j = 0; j <= i; ++j)
      A(i, j) = A(j, i) = rigid_answer(input.bodies, touch_of(i), touch_of(j));
  }
  if (!(A.diagonal().minCoeff() > 0) || b.maxCoeff() <= 0) return;
  MatX definite = A;
  definite.diagonal() *= 1 + kRegularisation;
  const VecX none = VecX::Zero(n);
  const VecX all = VecX::Constant(n, std::numeric_limits<double>::infinity());
  const VecX lambda = numerics::solve_by_pivoting(definite, b, {none, all}).x;
  const VecX gained = A * lambda;
  for (Eigen::Index i = 0; i < n; ++i) {
    rows[static_cast<std::size_t>(i)].lambda = lambda[i];
    rows[static_cast<std::size_t>(i)].gained = gained[i];
  }
}

}  // namespace

SharedKicks share_kicks(const ResponseInput& input, std::span<const WantedSpeed> wanted, double budget,
                        KickForm form)
{
  std::vector<Row> rows = rows_of(input, wanted);
  double along = 0;
  double square = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin + 1;
    const auto body = input.touches[rows[begin].touch].body;
    while (end < rows.size() && input.touches[rows[end].touch].body == body) ++end;
    const std::span<Row> mine = std::span(rows).subspan(begin, end - begin);
    solve(input, mine);
    const double burden = form == KickForm::speed ? burden_of(input, mine) : 1.0;
    for (Row& row : mine) {
      row.burden = burden;
      along += burden * row.lambda * row.present;
      square += burden * row.lambda * row.gained;
    }
    begin = end;
  }

  SharedKicks result;
  result.scale = affordable_share(along, square, budget);
  result.given = result.scale * along + result.scale * result.scale * square / 2;
  result.kicks.reserve(rows.size());
  for (const Row& row : rows) {
    if (!(row.lambda > 0) || result.scale == 0) continue;
    Kick kick;
    kick.touch = row.touch;
    kick.impulse = result.scale * row.lambda;
    kick.speed = row.present + result.scale * row.gained;
    kick.energy = row.burden * kick.impulse * (row.present + kick.speed) / 2;
    result.kicks.push_back(kick);
  }
  std::sort(result.kicks.begin(), result.kicks.end(),
            [](const Kick& a, const Kick& b) { return a.touch < b.touch; });
  return result;
}

std::vector<Push> pushes_of(const ResponseInput& input, std::span<const Kick> kicks)
{
  std::vector<Push> by_body(input.bodies.size());
  const auto add = [&](std::int32_t body, const Vec3& position, const Vec3& impulse) {
    const auto b = static_cast<std::size_t>(body);
    by_body[b].body = body;
    if (input.bodies[b].inverse_mass == 0) return;
    by_body[b].impulse += impulse;
    by_body[b].angular_impulse += (position - input.bodies[b].centre).cross(impulse);
  };
  for (const Kick& kick : kicks) {
    const Touch& touch = input.touches[kick.touch];
    const Vec3 impulse = kick.impulse * touch.normal + kick.slide;
    add(touch.body, touch.position, impulse);
    add(0, touch.position, -impulse);
  }
  std::erase_if(by_body,
                [](const Push& push) { return push.impulse.isZero(0) && push.angular_impulse.isZero(0); });
  return by_body;
}

}  // namespace thrum::vibration
