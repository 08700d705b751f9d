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

struct BodyShare {
  std::vector<std::size_t> touches;
  VecX lambda;   ///< [N s]
  VecX gained;   ///< A lambda [m/s]
  VecX present;  ///< u [m/s]
};

BodyShare share_of_body(const ResponseInput& input, std::span<const WantedSpeed> wanted)
{
  const auto n = static_cast<Eigen::Index>(wanted.size());
  BodyShare share;
  share.present.resize(n);
  if (n == 1) {
    const Touch& touch = input.touches[wanted[0].touch];
    const double answer = rigid_answer(input.bodies, touch, touch);
    share.touches = {wanted[0].touch};
    share.present[0] = rigid_speed(input, touch);
    share.gained = VecX::Constant(1, answer > 0 ? std::max(0.0, wanted[0].speed - share.present[0]) : 0.0);
    share.lambda = VecX::Constant(1, answer > 0 ? share.gained[0] / answer : 0.0);
    return share;
  }
  MatX A(n, n);
  VecX b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const WantedSpeed& w = wanted[static_cast<std::size_t>(i)];
    const Touch& touch = input.touches[w.touch];
    share.touches.push_back(w.touch);
    share.present[i] = rigid_speed(input, touch);
    b[i] = w.speed - share.present[i];
    for (Eigen::Index j = 0; j <= i; ++j) {
      A(i, j) = A(j, i) =
          rigid_answer(input.bodies, touch, input.touches[wanted[static_cast<std::size_t>(j)].touch]);
    }
  }
  if (!(A.diagonal().minCoeff() > 0) || b.maxCoeff() <= 0) {
    share.lambda = share.gained = VecX::Zero(n);
    return share;
  }
  MatX definite = A;
  definite.diagonal() *= 1 + kRegularisation;
  const VecX none = VecX::Zero(n);
  const VecX all = VecX::Constant(n, std::numeric_limits<double>::infinity());
  share.lambda = numerics::solve_by_pivoting(definite, b, {none, all}).x;
  share.gained = A * share.lambda;
  return share;
}

}  // namespace

SharedKicks share_kicks(const ResponseInput& input, std::span<const WantedSpeed> wanted, double budget)
{
  // Contacts of one body together, in the order of the bodies.
  std::vector<WantedSpeed> sorted(wanted.begin(), wanted.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const WantedSpeed& a, const WantedSpeed& b) {
    return input.touches[a.touch].body < input.touches[b.touch].body;
  });
  std::vector<BodyShare> shares;
  double along = 0;
  double square = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    const auto body = input.touches[sorted[begin].touch].body;
    while (end < sorted.size() && input.touches[sorted[end].touch].body == body) ++end;
    shares.push_back(share_of_body(input, std::span(sorted).subspan(begin, end - begin)));
    along += shares.back().lambda.dot(shares.back().present);
    square += shares.back().lambda.dot(shares.back().gained);
    begin = end;
  }

  SharedKicks result;
  result.scale = affordable_share(along, square, budget);
  result.given = result.scale * along + result.scale * result.scale * square / 2;
  for (const BodyShare& share : shares) {
    for (std::size_t i = 0; i < share.touches.size(); ++i) {
      const auto k = static_cast<Eigen::Index>(i);
      if (!(share.lambda[k] > 0) || result.scale == 0) continue;
      Kick kick;
      kick.touch = share.touches[i];
      kick.impulse = result.scale * share.lambda[k];
      kick.speed = share.present[k] + result.scale * share.gained[k];
      kick.energy = kick.impulse * (share.present[k] + kick.speed) / 2;
      result.kicks.push_back(kick);
    }
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
