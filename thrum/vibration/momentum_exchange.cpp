// SPDX-License-Identifier: MIT
// A contact i sees the surface with velocity v_s = f_i q' and effective mass m_s = 1 / (f_i f_i^T), and the
// body with velocity v_b and effective mass m_b (eq. 17 of [Coevoet20]; a ringing body that can move
// adds its own). When the surface is faster they trade, with restitution e,
//
//     p = (1 + e) (v_s - v_b) / (1/m_b + 1/m_s),      v_b += p / m_b,      q' -= f_i^T p,           (1)
//
// which changes the energy by -(1 - e^2) (v_s - v_b)^2 / (2 (1/m_b + 1/m_s)) <= 0. The impact itself is the
// same with the striking body, (1/m + 1/m_s) j = (1 + e) v; with several points at once, for j >= 0,
//
//     (J M^-1 J^T + F F^T) j = (1 + e) v.                                                         (2)
//
// Where we leave [Coevoet20]: it strikes the modes with the impulse that a rigid surface would give, and
// hands the surface's motion on as if the surface had infinite mass. A pulse of Hertz' duration does not
// reach modes much faster than itself, so f is weighted by the spectrum of the pulse, in (1) with the
// duration of a gentle impact; this also makes m_s converge as modes are added. Since (1) and (2) hold for
// any row f, so does their energy.
#include "thrum/vibration/momentum_exchange.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "thrum/base/index.h"
#include "thrum/vibration/energy_budget.h"
#include "thrum/vibration/one_sided.h"
#include "thrum/vibration/pulse.h"
#include "thrum/vibration/response_limit.h"

namespace thrum::vibration {

namespace {

/// Moments no farther apart are one: far less than any contact lasts [s].
constexpr double kSimultaneousTime = 1e-6;

// Rigid bodies whose velocities change as impulses are given. Bodies are those of the input.
class MovingBodies {
 public:
  explicit MovingBodies(const ResponseInput& input)
      : parts_(input.bodies.begin(), input.bodies.end()), sums_(input.bodies.size())
  {
  }

  [[nodiscard]] Vec3 speed(const SurfaceContact& contact) const { return relative_velocity(parts_, contact); }
  void push(const SurfaceContact& contact, const Vec3& impulse)
  {
    push(at(contact.body), arm_of_other(parts_[at(contact.body)], contact), impulse);
    push(0, arm_of_own(parts_[0], contact), -impulse);
  }
  // A body that moves gets this velocity more.
  void accelerate(std::size_t b, const Vec3& velocity)
  {
    if (parts_[b].inverse_mass == 0) return;
    parts_[b].velocity += velocity;
    sums_[b].impulse += velocity / parts_[b].inverse_mass;
  }
  // What each body got, all together.
  [[nodiscard]] std::vector<BodyImpulse> body_impulses() const
  {
    std::vector<BodyImpulse> out;
    for (std::size_t b = 0; b < parts_.size(); ++b) {
      if (parts_[b].inverse_mass == 0 || (sums_[b].impulse.isZero(0) && sums_[b].angular_impulse.isZero(0)))
        continue;
      out.push_back({static_cast<std::int32_t>(b), sums_[b].impulse, sums_[b].angular_impulse});
    }
    return out;
  }

 private:
  void push(std::size_t b, const Vec3& arm, const Vec3& impulse)
  {
    RigidBodyData& part = parts_[b];
    if (part.inverse_mass == 0) return;
    const Vec3 turn = arm.cross(impulse);
    part.velocity += part.inverse_mass * impulse;
    part.angular_velocity += part.inverse_inertia * turn;
    sums_[b].impulse += impulse;
    sums_[b].angular_impulse += turn;
  }

  std::vector<RigidBodyData> parts_;
  std::vector<BodyImpulse> sums_;
};

// Sticking across the normal, as far as friction allows: the surface carries the body along. Energy can only
// fall, since the impulse is at most the one that makes the two equally fast.
Vec3 apply_sticking_friction(const ResponseContext& r, std::size_t i, double normal_impulse,
                             MovingBodies& moving_bodies, ModeState& state)
{
  const SurfaceContact& contact = r.contact(i);
  const Vec3 relative = *r.shapes[i] * state.v - moving_bodies.speed(contact);
  Vec3 across = relative - contact.normal * contact.normal.dot(relative);
  const double speed = across.norm();
  if (speed == 0) return Vec3::Zero();
  across /= speed;
  SurfaceContact sideways = contact;
  sideways.normal = across;
  const VecX row = r.shapes[i]->transpose() * across;
  const double sticking =
      speed / (inverse_effective_mass(r.input.bodies, sideways, sideways) + row.squaredNorm());
  const double impulse = std::min(sticking, contact.friction * normal_impulse);
  moving_bodies.push(contact, impulse * across);
  state.v -= impulse * row;
  return impulse * across;
}

void add_kick(const ResponseContext& r, std::size_t i, double impulse, double before,
              MovingBodies& moving_bodies, ModeState& state, ResponseResult& result)
{
  const SurfaceContact& contact = r.contact(i);
  Kick kick;
  kick.contact = i;
  kick.impulse = impulse;
  kick.speed = contact.normal.dot(moving_bodies.speed(contact));
  kick.energy = impulse * (before + kick.speed) / 2;
  if (r.settings.tangential)
    kick.tangential_impulse = apply_sticking_friction(r, i, impulse, moving_bodies, state);
  result.energy.given += kick.energy;
  result.kicks.push_back(kick);
}

// Eq. (1) for one contact.
void trade(const ResponseContext& r, const MatX& columns, Eigen::Index k, MovingBodies& moving_bodies,
           ModeState& state, ResponseResult& result)
{
  const std::size_t i = r.resting[at(k)];
  const SurfaceContact& contact = r.contact(i);
  const auto row = columns.col(k);
  const double before = contact.normal.dot(moving_bodies.speed(contact));
  const double faster = row.dot(state.v) - before;
  const double inverse_effective_mass = r.inverse_effective_mass[static_cast<Eigen::Index>(i)];
  if (faster < r.settings.min_kick || !(inverse_effective_mass > 0)) return;
  const double p = (1 + contact.restitution) * faster / (inverse_effective_mass + row.squaredNorm());
  moving_bodies.push(contact, p * contact.normal);
  state.v -= p * row;
  add_kick(r, i, p, before, moving_bodies, state, result);
}

// Eq. (1) for contacts that meet the surface at the same moment, all at once: with the speeds d at which the
// surface is faster and A = J M^-1 J^T + F F^T of these contacts,
//
//     0 <= p  perpendicular to  A p - (1 + e) d >= 0,        change of energy = p.A p / 2 - p.d,
//
// which is -(1 - e^2) d.A^-1 d / 2 for equal restitutions. Different ones may ask for more than there is;
// then p is reduced.
void trade(const ResponseContext& r, const MatX& columns, std::span<const Eigen::Index> together,
           MovingBodies& moving_bodies, ModeState& state, ResponseResult& result)
{
  if (together.size() == 1) {
    trade(r, columns, together[0], moving_bodies, state, result);
    return;
  }
  std::vector<Eigen::Index> taken;
  std::vector<double> before;
  for (const Eigen::Index k : together) {
    const std::size_t i = r.resting[at(k)];
    const double present = r.contact(i).normal.dot(moving_bodies.speed(r.contact(i)));
    if (columns.col(k).dot(state.v) - present < r.settings.min_kick) continue;
    if (!(r.inverse_effective_mass[static_cast<Eigen::Index>(i)] > 0)) continue;
    taken.push_back(k);
    before.push_back(present);
  }
  const auto n = static_cast<Eigen::Index>(taken.size());
  if (n == 0) return;
  const auto contact_of = [&](Eigen::Index a) -> const SurfaceContact& {
    return r.contact(r.resting[at(taken[at(a)])]);
  };
  MatX A(n, n);
  VecX faster(n);
  VecX wanted(n);
  for (Eigen::Index a = 0; a < n; ++a) {
    const auto row = columns.col(taken[at(a)]);
    faster[a] = row.dot(state.v) - before[at(a)];
    wanted[a] = (1 + contact_of(a).restitution) * faster[a];
    for (Eigen::Index b = 0; b < n; ++b)
      A(a, b) = row.dot(columns.col(taken[at(b)])) +
                inverse_effective_mass(r.input.bodies, contact_of(a), contact_of(b));
  }
  VecX p = solve_one_sided(A, wanted, result.unsolved);
  if (n > 1) p *= max_scale_within_budget(-p.dot(faster), p.dot(A * p), 0);

  for (Eigen::Index a = 0; a < n; ++a) {
    if (!(p[a] > 0)) continue;
    const SurfaceContact& contact = contact_of(a);
    moving_bodies.push(contact, p[a] * contact.normal);
    state.v -= p[a] * columns.col(taken[at(a)]);
  }
  for (Eigen::Index a = 0; a < n; ++a) {
    if (!(p[a] > 0)) continue;
    add_kick(r, r.resting[at(taken[at(a)])], p[a], before[at(a)], moving_bodies, state, result);
  }
}

}  // namespace

double ResponseContext::pulse_duration(std::size_t i, double speed) const
{
  return contact_duration(inverse_effective_mass[static_cast<Eigen::Index>(i)], modulus, body_of(i).modulus,
                          settings.contact_radius, speed);
}

VecX compliant_impulses(const ResponseContext& r, const MatX& rows, const VecX& approach, int& unsolved)
{
  const Eigen::Index n = rows.rows();
  MatX A = rows * rows.transpose();
  VecX b(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const SurfaceContact& contact = r.contact(r.struck[at(i)]);
    b[i] = (1 + contact.restitution) * approach[i];
    for (Eigen::Index j = 0; j < n; ++j)
      A(i, j) += inverse_effective_mass(r.input.bodies, contact, r.contact(r.struck[at(j)]));
  }
  if (!(A.diagonal().minCoeff() > 0)) return VecX::Zero(n);
  return solve_one_sided(std::move(A), b, unsolved);
}

namespace {

bool transmitted(const ResponseContext& r)
{
  return std::any_of(r.struck.begin(), r.struck.end(),
                     [&](std::size_t i) { return r.contact(i).transmitted; });
}

// Eq. (2). The rigid solver's answer is taken back.
void solve_impacts(const ResponseContext& r, const MatX& struck_rows, MovingBodies& moving_bodies,
                   ModeState& state, ResponseResult& result)
{
  for (const std::size_t i : r.struck)
    moving_bodies.push(r.contact(i), -r.contact(i).impulse * r.contact(i).normal);
  std::vector<FallSinceImpact> falls(r.input.bodies.size());
  for (const std::size_t i : r.struck) {
    const SurfaceContact& contact = r.contact(i);
    falls[at(contact.body)].add(contact, r.body_of(i).acceleration,
                                contact.normal.dot(moving_bodies.speed(contact)),
                                separation_speed(r.input, contact));
  }
  const auto falls_alone = [&](std::size_t b) {
    return strikes_with_one_contact(r.input.contacts, static_cast<std::int32_t>(b));
  };
  for (std::size_t b = 1; b < falls.size(); ++b) {
    if (falls_alone(b))
      moving_bodies.accelerate(b, -falls[b].time_before(r.input.step) * r.input.bodies[b].acceleration);
  }
  VecX approach = struck_rows * state.v;
  for (std::size_t k = 0; k < r.struck.size(); ++k) {
    const SurfaceContact& contact = r.contact(r.struck[k]);
    approach[static_cast<Eigen::Index>(k)] -= contact.normal.dot(moving_bodies.speed(contact));
  }
  const VecX j = compliant_impulses(r, struck_rows, approach, result.unsolved);
  for (std::size_t k = 0; k < r.struck.size(); ++k) {
    const SurfaceContact& contact = r.contact(r.struck[k]);
    moving_bodies.push(contact, j[static_cast<Eigen::Index>(k)] * contact.normal);
  }
  for (std::size_t b = 1; b < falls.size(); ++b) {
    if (falls_alone(b))
      moving_bodies.accelerate(b, falls[b].time_after(r.input.step) * r.input.bodies[b].acceleration);
  }
  state.v -= struck_rows.transpose() * j;
}

// Impacts that another body's vibration gave: the bodies have them already, and the modes take of them what
// their energy allows.
void apply_transmitted_impacts(const ResponseContext& r, const MatX& struck_rows, ModeState& state,
                               EnergyBalance& balance)
{
  VecX mode_impulse = VecX::Zero(state.v.size());
  for (std::size_t k = 0; k < r.struck.size(); ++k)
    mode_impulse -=
        r.contact(r.struck[k]).impulse * struck_rows.row(static_cast<Eigen::Index>(k)).transpose();
  if (r.settings.limit_energy)
    balance.impact_scale =
        max_scale_within_budget(state.v.dot(mode_impulse), mode_impulse.squaredNorm(), balance.lost);
  state.v += balance.impact_scale * mode_impulse;
}

}  // namespace

ResponseResult exchange_momentum(const ResponseContext& r, PeakSearch& search, ModeState& state)
{
  ResponseResult result;
  result.impacts = static_cast<int>(r.struck.size());
  result.energy.vibration_before = energy(r.modes, state);
  MovingBodies moving_bodies(r.input);

  // The impact, by pulses of Hertz' duration.
  MatX struck_rows(static_cast<Eigen::Index>(r.struck.size()), r.rows.cols());
  for (std::size_t k = 0; k < r.struck.size(); ++k) {
    const std::size_t i = r.struck[k];
    const VecX weights = pulse_weights(r.modes, r.pulse_duration(i, r.contact(i).approach_speed));
    struck_rows.row(static_cast<Eigen::Index>(k)) =
        r.rows.row(static_cast<Eigen::Index>(i)).cwiseProduct(weights.transpose());
  }
  for (const std::size_t i : r.struck) result.energy.lost += r.contact(i).loss;
  if (transmitted(r)) {
    apply_transmitted_impacts(r, struck_rows, state, result.energy);
  } else {
    solve_impacts(r, struck_rows, moving_bodies, state, result);
  }
  result.energy.received = energy(r.modes, state) - result.energy.vibration_before;

  // When and how fast the surface comes up to each resting contact.
  const auto n = static_cast<Eigen::Index>(r.resting.size());
  MatX columns(r.rows.cols(), n);
  VecX weights;
  double inverse_effective_mass = -1;
  double modulus = -1;
  for (Eigen::Index k = 0; k < n; ++k) {
    const std::size_t i = r.resting[at(k)];
    // Bodies of one kind have the same contacts.
    if (r.inverse_effective_mass[static_cast<Eigen::Index>(i)] != inverse_effective_mass ||
        r.body_of(i).modulus != modulus)
      weights = pulse_weights(r.modes, r.pulse_duration(i, kRattleSpeed));
    inverse_effective_mass = r.inverse_effective_mass[static_cast<Eigen::Index>(i)];
    modulus = r.body_of(i).modulus;
    columns.col(k) = r.rows.row(static_cast<Eigen::Index>(i)).transpose().cwiseProduct(weights);
  }
  search.sample(r.modes, state, r.settings.window);
  const std::vector<Peak> peaks = search.max_speed(columns);
  std::vector<Eigen::Index> order(peaks.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Eigen::Index>(k);
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return peaks[at(a)].time < peaks[at(b)].time; });

  // One moment after the other, eq. (1); each finds the modes as the ones before have left them.
  double time = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    const Peak& peak = peaks[at(order[begin])];
    std::size_t end = begin + 1;
    while (end < order.size() && peaks[at(order[end])].time - peak.time <= kSimultaneousTime) ++end;
    const std::span<const Eigen::Index> together = std::span(order).subspan(begin, end - begin);
    begin = end;
    if (std::none_of(together.begin(), together.end(),
                     [&](Eigen::Index k) { return peaks[at(k)].value >= r.settings.min_kick; }))
      continue;
    search.integrator().advance(peak.time - time, state);
    time = peak.time;
    trade(r, columns, together, moving_bodies, state, result);
  }
  advance(r.modes, std::max(0.0, r.input.step - time), state);
  std::sort(result.kicks.begin(), result.kicks.end(),
            [](const Kick& a, const Kick& b) { return a.contact < b.contact; });
  result.body_impulses = moving_bodies.body_impulses();
  result.energy.vibration_after = energy(r.modes, state);
  return result;
}

// Samples of the modes, which all contacts are multiplied with in single precision, and for each contact the
// way to its peak.
double exchange_cost(const ResponseContext& r)
{
  constexpr double kCostPerContact = 20;          // for each mode
  constexpr double kCostPerSingleProduct = 0.25;  // four at a time
  constexpr double kCostPerSample = 4;
  const auto contacts = static_cast<double>(r.struck.size() + r.resting.size());
  const auto modes = static_cast<double>(r.modes.size());
  const double samples =
      r.settings.window * r.modes.omegas.maxCoeff() * PeakSearch::kSamplesPerPeriod / (2 * std::numbers::pi);
  return modes * (samples * (kCostPerSample + kCostPerSingleProduct * contacts) + kCostPerContact * contacts);
}

}  // namespace thrum::vibration
