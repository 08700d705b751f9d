// SPDX-License-Identifier: MIT
#include "thrum/vibration/modal_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "thrum/base/error.h"
#include "thrum/base/index.h"
#include "thrum/vibration/energy_budget.h"
#include "thrum/vibration/micro_collisions.h"
#include "thrum/vibration/momentum_exchange.h"
#include "thrum/vibration/pulse.h"

namespace thrum::vibration {

namespace {

/// Multiplications of the rules below in a second on one core, as cautious round numbers: the choice of a
/// rule may not depend on a clock. `script/bench response` shows how near they are.
constexpr double kMicroRate = 2e9;
constexpr double kExchangeRate = 1e9;
/// A model reaches an impact when its highest mode is at least this fast, in half turns within the contact
/// time: such a mode still receives 0.79 of the impulse.
constexpr double kMinReach = 1;
/// Substeps of micro_collisions in one window.
constexpr double kMaxSubsteps = 1e6;
/// A body that an impact bends by more than this share of its size is far from the rest that its modes are
/// for.
constexpr double kMaxBendRatio = 0.1;
/// Vibration with less energy than this cannot lift a gram by a micrometre [J].
constexpr double kSilenceEnergy = 1e-8;

void check(const ResponseSettings& s)
{
  if (!(s.window >= 0) || !std::isfinite(s.window))
    throw Error(fmt::format(
        "The response setting window is {}; it must be finite and above 0, or 0 for the default.", s.window));
  const auto positive = [](double value, const char* name) {
    if (!(value > 0) || !std::isfinite(value))
      throw Error(fmt::format("The response setting {} is {}; it must be finite and above 0.", name, value));
  };
  positive(s.contact_radius, "contact_radius");
  positive(s.micro.step, "micro step");
  positive(s.micro.steps_per_impact, "micro steps per impact");
  if (s.micro.sweeps < 1) throw Error("The response setting micro sweeps must be at least 1.");
  if (s.paper_filter && s.rule != KickRule::peak_displacement)
    throw Error("The paper's filter goes with the rule peak_displacement only.");
}

// What could not be followed is refused before anything moves.
void check(const ResponseSettings& s, const elastic::ModeList& modes)
{
  const bool automatic = s.rule == KickRule::automatic;
  if (automatic || s.rule == KickRule::peak_velocity || s.rule == KickRule::exchange)
    (void)PeakSearch::intervals(modes, s.window);
  if ((automatic || s.rule == KickRule::micro_collisions) && !(s.window / s.micro.step <= kMaxSubsteps))
    throw Error(
        fmt::format("A window of {:.3g} s in substeps of {:.3g} s would take {:.3g} of them, more than "
                    "{:.0g}; shorten the window or lengthen micro_step.",
                    s.window, s.micro.step, s.window / s.micro.step, kMaxSubsteps));
}

// No displacement of a contact is above sqrt(2 E f.f / w^2) when all modes together have the energy E.
std::optional<std::string> large_bend_warning(const ResponseContext& r, const VecX& inverse_omegas,
                                              const EnergyBalance& balance, double size,
                                              const std::string& name)
{
  double compliance = 0;  // [m^2 / J / 2]
  for (const std::size_t i : r.struck)
    compliance = std::max(
        compliance,
        r.rows.row(static_cast<Eigen::Index>(i)).transpose().cwiseProduct(inverse_omegas).squaredNorm());
  const double bent = std::sqrt(2 * std::max(0.0, balance.vibration_before + balance.received) * compliance);
  if (!(bent > kMaxBendRatio * size)) return std::nullopt;
  return fmt::format(
      "An impact bends '{}' by up to {:.2g} m, {:.0f} % of its size: its modes hold for small displacements, "
      "and so does what they do to others. A stiffer material or a gentler impact would be nearer the truth.",
      name, bent, 100 * bent / size);
}

void set_at_rest(ModeState& state, Eigen::Index modes)
{
  state.q.setZero(modes);
  state.v.setZero(modes);
}

// An impact is answered from rest, and what rang before it is added afterwards: bodies were kicked for it
// when it was struck. Otherwise any slight impact would give what is left of an earlier one once more,
// and a body that rests in the rigid world would meet a surface that moves in earnest without having moved
// along with it. Phases of separate impacts have nothing to do with each other, so their energies add: the
// vibration a q0 + q has the energy E0 + E of its parts for the root a > 0 of
//
//     a^2 E0 + a C - E0 = 0,      C = q0'.q' + w^2 q0.q.
void add_kept_vibration(const elastic::ModeList& modes, const ModeState& kept, ModeState& state)
{
  const double E0 = energy(modes, kept);
  if (!(E0 > 0)) return;
  const double C =
      kept.v.dot(state.v) + modes.omegas.cwiseProduct(kept.q).dot(modes.omegas.cwiseProduct(state.q));
  const double root = std::sqrt(C * C + 4 * E0 * E0);
  const double a = C > 0 ? 2 * E0 / (C + root) : (root - C) / (2 * E0);
  state.q += a * kept.q;
  state.v += a * kept.v;
}

// What is not finite is left in a sum: one comparison for everything that is as it should be, and two sums,
// as one would wait for itself.
bool is_sound(const ResponseInput& input)
{
  double of_bodies = 0;
  double of_contacts = 0;
  bool are_known = true;
  for (const RigidBodyData& part : input.bodies)
    of_bodies += part.velocity.sum() + (part.angular_velocity.sum() + part.centre.sum());
  for (const SurfaceContact& contact : input.contacts) {
    of_contacts += contact.position.sum() + contact.impulse;
    are_known = are_known && contact.body >= 1 && at(contact.body) < input.bodies.size();
  }
  return are_known && !input.bodies.empty() && std::isfinite(of_bodies + of_contacts);
}

void check(const ResponseInput& input)
{
  if (is_sound(input)) return;
  if (input.bodies.empty()) throw Error("A response needs the ringing body as the first of its bodies.");
  for (const RigidBodyData& part : input.bodies) {
    if (!part.velocity.allFinite() || !part.angular_velocity.allFinite() || !part.centre.allFinite())
      throw Error(
          "A body in contact with the ringing one has a place or velocity that is not finite; the simulation "
          "has failed.");
  }
  for (const SurfaceContact& contact : input.contacts) {
    if (contact.body < 1 || at(contact.body) >= input.bodies.size())
      throw Error(fmt::format("A contact names body {}, but there are the bodies 1 to {}.", contact.body,
                              input.bodies.size() - 1));
    if (!contact.position.allFinite() || !std::isfinite(contact.impulse))
      throw Error("A contact of the ringing body is not finite; the simulation has failed.");
  }
}

}  // namespace

double response_window(const ResponseSettings& settings, const elastic::ModeList& modes)
{
  if (settings.window > 0 || modes.size() == 0) return settings.window > 0 ? settings.window : kDefaultWindow;
  const double period = 2 * std::numbers::pi / modes.omegas.minCoeff();
  return std::clamp(period, kDefaultWindow, kMaxDefaultWindow);
}

ModalResponse::ModalResponse(std::shared_ptr<const model::ModalModel> model, const ResponseSettings& settings)
    : model_(std::move(model)),
      settings_(settings),
      map_(model_),
      modes_(elastic::mode_list(*model_)),
      inverse_omegas_(modes_.omegas.cwiseInverse()),
      corner_rows_(modes_.size())
{
  check(settings_);
  if (modes_.size() == 0) throw Error(fmt::format("The modal model '{}' has no modes.", model_->name));
  settings_.window = response_window(settings_, modes_);
  check(settings_, modes_);
  if (settings_.rule == KickRule::automatic || settings_.rule == KickRule::micro_collisions)
    diffuse_modes_ = DiffuseModes(*model_, modes_);
  if (settings_.paper_filter) {
    // Refuses over-damped modes, in words.
    try {
      const double T = elastic::coevoet_step(modes_);
      paper_filter_.emplace(modes_, T, elastic::FilterInput::dyrt, paper_samples(settings_.window, T));
    } catch (const Error& error) {
      throw Error(fmt::format("{} These are the preset coevoet2020 without it.", error.what()));
    }
  }
  if (settings_.rule == KickRule::peak_displacement)
    corner_of_vertex_.assign(model_->surface.vertices.size(), 0);
  if (!model_->materials.empty()) {
    const model::Material& material = model_->materials.front();
    modulus_ = material.young / (1 - material.poisson * material.poisson);
  }
}

void ModalResponse::map_contacts(const ResponseInput& input, ResponseResult& result)
{
  MappedContacts& r = mapped_contacts_;
  const std::size_t n = input.contacts.size();
  r.struck.clear();
  r.resting.clear();
  r.strikes.assign(input.bodies.size(), 0);
  bool any = false;
  for (const SurfaceContact& contact : input.contacts) {
    if (!contact.struck || contact.impulse < settings_.min_impulse ||
        contact.approach_speed < settings_.min_speed)
      continue;
    r.strikes[at(contact.body)] = 1;
    any = true;
  }
  if (!any) return;
  // Rows of contacts that neither strike nor rest are left as they are and not read.
  r.rows.resize(static_cast<Eigen::Index>(n), modes_.omegas.size());
  r.inverse_effective_mass.setZero(static_cast<Eigen::Index>(n));
  r.shapes.assign(n, nullptr);
  r.places.assign(n, Vec3::Zero());
  points_.assign(n, nullptr);
  hints_.resize(n);
  std::size_t off = 0;
  double farthest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const SurfaceContact& contact = input.contacts[i];
    const bool strikes = r.strikes[at(contact.body)] != 0;
    if (strikes && !contact.struck) continue;
    if (!strikes && contact.gap > settings_.max_gap) continue;
    const MappedPoint& mapped = map_.find(contact.position, hints_[i]);
    if (mapped.distance > settings_.max_offset * map_.size()) {
      ++off;
      farthest = std::max(farthest, mapped.distance);
      continue;
    }
    r.shapes[i] = &mapped.shapes;
    points_[i] = &mapped;
    (strikes ? r.struck : r.resting).push_back(i);
    // The rule of the paper looks at the corners of the triangle instead.
    if (!strikes && settings_.rule == KickRule::peak_displacement) continue;
    r.places[i] = mesh::position(model_->surface, mapped.point);
    // [Coevoet20, eq. 9]: f = n^T H U.
    r.rows.row(static_cast<Eigen::Index>(i)) = contact.normal.transpose() * mapped.shapes;
    r.inverse_effective_mass[static_cast<Eigen::Index>(i)] =
        inverse_effective_mass(input.bodies, contact, contact);
  }
  if (off > 0) {
    result.warnings.push_back(fmt::format(
        "{} of {} contacts lie up to {:.3g} m off the surface of the modal model '{}', which is {:.3g} m in "
        "size; they were left out. Is the model made from the body's mesh?",
        off, n, farthest, model_->name, map_.size()));
  }
}

// Whether the modes go up to what the shortest of the impacts excites. Without a modulus nothing is known of
// its duration.
bool ModalResponse::reaches_impacts(const ResponseContext& context) const
{
  return std::all_of(context.struck.begin(), context.struck.end(), [&](std::size_t i) {
    const double duration = context.pulse_duration(i, context.contact(i).approach_speed);
    return !(duration > 0) || modes_.omegas.maxCoeff() * duration >= kMinReach * std::numbers::pi;
  });
}

// The choice is by what is right, not by what is fast (docs/methods/distant_response.md, "Measured"): with
// restitution 1 exchange is three times too fast, and with hundreds of modes it takes longer. Where modes are
// missing that the impact would excite and nothing is known of them, micro-collisions come out too low: a
// body rests on a surface that hardly moves. Exchange errs in the other direction, by a peak that all modes
// reach together.
KickRule ModalResponse::choose_rule(const ResponseContext& context) const
{
  if (settings_.rule != KickRule::automatic) return settings_.rule;
  return reaches_impacts(context) || is_tail_known(modes_) ? KickRule::micro_collisions : KickRule::exchange;
}

// Micro-collisions save what does not change their kicks in the mean. Returns the estimated time where that
// is not enough, else 0 [s].
double ModalResponse::apply_time_budget(KickRule rule, ResponseContext& context) const
{
  if (settings_.rule != KickRule::automatic) return 0;
  double seconds = 0;
  if (rule == KickRule::micro_collisions) {
    context.savings = choose_micro_savings(context, settings_.time_budget * kMicroRate);
    seconds = micro_cost(context) / kMicroRate;
  } else {
    seconds = exchange_cost(context) / kExchangeRate;
  }
  return seconds > settings_.time_budget ? seconds : 0;
}

ResponseResult ModalResponse::respond(const ResponseInput& input, ModeState& state)
{
  check(input);
  map_.evict_unused();
  if (settings_.vibration_after_step == VibrationAfterStep::reset) set_at_rest(state, modes_.omegas.size());
  ResponseResult result;
  map_contacts(input, result);
  ResponseContext context{modes_, input, settings_, modulus_, mapped_contacts_};
  context.diffuse_modes = &diffuse_modes_;
  std::vector<std::string> warnings = std::move(result.warnings);
  if (context.struck.empty()) {
    result.energy.vibration_before = energy(modes_, state);
    if (result.energy.vibration_before > 0) advance(modes_, input.step, state);
    if (result.energy.vibration_before > 0 && energy(modes_, state) < kSilenceEnergy)
      set_at_rest(state, modes_.omegas.size());
  } else {
    std::swap(kept_, state);
    set_at_rest(state, modes_.omegas.size());
    const KickRule rule = choose_rule(context);
    const double over_budget = apply_time_budget(rule, context);
    if (rule == KickRule::exchange) {
      result = exchange_standing(context, state);
    } else if (rule == KickRule::micro_collisions) {
      result = simulate_micro_collisions(context, state);
    } else {
      result = kick_by_peaks(context, state, rule);
    }
    result.over_budget = over_budget;
    result.energy.vibration_before = energy(modes_, kept_);
    if (result.energy.vibration_before > 0) {
      advance(modes_, input.step, kept_);
      add_kept_vibration(modes_, kept_, state);
    }
    if (const auto warning =
            large_bend_warning(context, inverse_omegas_, result.energy, map_.size(), model_->name))
      warnings.push_back(*warning);
  }
  result.energy.vibration_after = energy(modes_, state);
  result.warnings = std::move(warnings);
  return result;
}

// A ringing body that stands on something that does not move keeps its rigid motion from the rigid solver,
// which knows its feet: solving its impacts again without them would leave it with the difference, upwards.
ResponseResult ModalResponse::exchange_standing(const ResponseContext& context, ModeState& state)
{
  const ResponseInput& input = context.input;
  const bool stands = input.bodies[0].inverse_mass > 0 &&
                      std::any_of(context.resting.begin(), context.resting.end(), [&](std::size_t i) {
                        return context.body_of(i).inverse_mass == 0 && context.contact(i).impulse > 0;
                      });
  if (!stands) return exchange_momentum(context, search_, state);
  std::vector<RigidBodyData> bodies(input.bodies.begin(), input.bodies.end());
  bodies[0].inverse_mass = 0;
  bodies[0].inverse_inertia.setZero();
  const ResponseInput held{bodies, input.contacts, input.step};
  ResponseResult not_used;
  map_contacts(held, not_used);
  return exchange_momentum({modes_, held, settings_, modulus_, mapped_contacts_}, search_, state);
}

// The rules that give the surface's motion to what rests on it. [Coevoet20, eq. 9] strikes the modes with r =
// U^T H^T n lambda; of this the share is taken that the energy lost by the impact allows (energy_budget.h),
// and of the kicks the share that the vibration allows. With restitution 1 nothing was lost and nothing
// happens.
ResponseResult ModalResponse::kick_by_peaks(const ResponseContext& r, ModeState& state, KickRule rule)
{
  ResponseResult result;
  result.impacts = static_cast<int>(r.struck.size());
  EnergyBalance& balance = result.energy;
  balance.vibration_before = energy(modes_, state);
  VecX& mode_impulse = mode_impulse_;
  mode_impulse.setZero(modes_.omegas.size());
  for (const std::size_t i : r.struck) {
    const SurfaceContact& contact = r.contact(i);
    balance.lost += contact.loss;
    row_ = contact.impulse * r.rows.row(static_cast<Eigen::Index>(i)).transpose();
    // Friction strikes the surface across its normal as well.
    if (settings_.tangential) row_ += r.shapes[i]->transpose() * contact.friction_impulse;
    if (rule == KickRule::peak_velocity)
      row_ = row_.cwiseProduct(pulse_weights(modes_, r.pulse_duration(i, contact.approach_speed)));
    mode_impulse -= row_;
  }
  if (settings_.limit_energy)
    balance.impact_scale =
        max_scale_within_budget(state.v.dot(mode_impulse), mode_impulse.squaredNorm(), balance.lost);
  mode_impulse *= balance.impact_scale;
  state.v += mode_impulse;
  const double rings = energy(modes_, state);
  balance.received = rings - balance.vibration_before;

  // The kicks wanted, one a resting contact.
  std::vector<Peak>& peaks = peaks_;
  if (rule == KickRule::peak_velocity) {
    search_.sample(modes_, state, settings_.window);
    resting_columns_.resize(r.rows.cols(), static_cast<Eigen::Index>(r.resting.size()));
    for (std::size_t k = 0; k < r.resting.size(); ++k)
      resting_columns_.col(static_cast<Eigen::Index>(k)) =
          r.rows.row(static_cast<Eigen::Index>(r.resting[k])).transpose();
    peaks = search_.max_speed(resting_columns_);
  } else {
    // [Coevoet20, eq. 12]: the largest displacement over the step.
    peaks.assign(r.resting.size(), {});
    settings_.paper_filter ? paper_peaks(r, mode_impulse) : displacement_peaks(r, state);
    for (Peak& peak : peaks) peak.value /= r.input.step;
  }
  std::vector<TargetSpeed>& wanted = targets_;
  wanted.clear();
  for (std::size_t k = 0; k < peaks.size(); ++k) {
    if (peaks[k].value >= settings_.min_kick) wanted.push_back({r.resting[k], peaks[k].value});
  }
  const double unlimited = std::numeric_limits<double>::infinity();
  const double budget = settings_.limit_energy ? std::min(rings, balance.lost) : unlimited;
  DistributedKicks shared = distributor_.distribute(r.input, wanted, budget, settings_.form);
  balance.kick_scale = shared.scale;
  balance.given = shared.given;
  result.unsolved += shared.unsolved;
  result.kicks = std::move(shared.kicks);
  if (settings_.tangential) add_tangential_impulses(r, state, peaks, budget - balance.given, result);
  if (settings_.form == KickForm::impulse) result.body_impulses = body_impulses_of(r.input, result.kicks);

  if (settings_.vibration_after_step == VibrationAfterStep::reset) {
    set_at_rest(state, modes_.omegas.size());
    return result;
  }
  // What the bodies got, the modes no longer have.
  if (settings_.limit_energy && rings > 0) {
    const double left = std::sqrt(std::max(0.0, 1 - balance.given / rings));
    state.q *= left;
    state.v *= left;
  }
  advance(modes_, r.input.step, state);
  return result;
}

// Across the normal: the surface moves sideways as well when it comes up, and carries the body along as far
// as friction lets it. The paper discards this motion (section 5.4).
void ModalResponse::add_tangential_impulses(const ResponseContext& r, const ModeState& state,
                                            std::span<const Peak> peaks, double budget,
                                            ResponseResult& result) const
{
  for (Kick& kick : result.kicks) {
    const std::size_t k = at(std::find(r.resting.begin(), r.resting.end(), kick.contact) - r.resting.begin());
    if (k == r.resting.size()) continue;  // a corner that is only held
    ModeState then = state;
    advance(modes_, peaks[k].time, then);
    const SurfaceContact& contact = r.contact(kick.contact);
    const Vec3 v = *r.shapes[kick.contact] * then.v;
    const Vec3 across = v - contact.normal * contact.normal.dot(v);
    const double speed = across.norm();
    if (speed < settings_.min_kick) continue;
    SurfaceContact sideways = contact;
    sideways.normal = across / speed;
    const double inverse_mass = inverse_effective_mass(r.input.bodies, sideways, sideways);
    const double u = separation_speed(r.input, sideways);
    const double impulse = std::min((speed - u) / inverse_mass, contact.friction * kick.impulse);
    if (!(impulse > 0)) continue;
    const double share =
        max_scale_within_budget(impulse * u, impulse * impulse * inverse_mass, std::max(0.0, budget));
    const double energy = share * impulse * u + share * share * impulse * impulse * inverse_mass / 2;
    kick.tangential_impulse = share * impulse * sideways.normal;
    kick.energy += energy;
    budget -= energy;
    result.energy.given += energy;
  }
}

}  // namespace thrum::vibration
