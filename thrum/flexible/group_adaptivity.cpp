// SPDX-License-Identifier: MIT
// Which modes of a group move, and how long its substeps are [Zheng11, section 4].
//
// The paper wakes modes by the change of the force on them, eq. (7) and (8), and drops them by their energy,
// eq. (9). Four departures: a change of force wakes a mode only if it would also give it energy that counts,
// since by the paper's threshold every marble that rolls wakes all modes; the energy of a mode is that about
// the displacement which the present forces hold; a mode that is left out stands at that displacement, so
// that a plate sags under a load however little it rings; and one that moves does so until it has a tenth of
// the energy that wakes it. One that is left out has no speed, to the last bit: all is decided from the state
// alone, so that a run that is resumed takes the same decisions.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

namespace {

/// Hertz' duration of an impact is this times (m^2 / (k^2 v))^(1/5) [Zener 1941].
constexpr double kHertzFactor = 3.218;
/// Flexible bodies lengthen an impact; it is over after so many of Hertz' durations at the latest.
constexpr double kMaxDurations = 5;
/// Modes above the highest are those up to this frequency, in reciprocal durations of the impact.
constexpr double kTailTop = 3;
/// Their spacing, likewise.
constexpr double kTailSpacing = 1.0 / 3;
/// Bodies with fewer modes in their upper octave are chunky: Hertz' contact holds their local compliance.
constexpr int kMinOctaveModes = 4;
constexpr double kMinForce = 1;  ///< [N]
/// A mode that moves is held when it has less than this share of the energy that wakes it.
constexpr double kHoldShare = 0.1;
/// A substep may be longer than wanted by about this share, so that rounding halves none.
constexpr double kLevelRounding = 1e-9;

/// Duration of an impact at a contact of the stiffness k [s].
double hertz_time(double mass, double k, double speed)
{
  return kHertzFactor * std::pow(mass * mass / (k * k * speed), 0.2);
}

}  // namespace

void ContactGroup::choose_modes(const FlexibleSettings& settings)
{
  for (Body& body : bodies_) body.active = body.modes;
  if (!settings.adapt_modes) return;
  std::fill(y_.begin(), y_.end(), 0.0);
  for (const Contact& contact : contacts_) add_along(rows_[at(contact.row)], J_, contact.force, y_);
  for (const Slip& slip : slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i)
      add_along(rows_[at(slip.desc.rows[i])], J_, slip.force[i], y_);
  }
  for (Body& body : bodies_) {
    const std::size_t first = at(body.first + body.rigid);
    const auto energy = [&](std::size_t i) {
      const double from_rest = omega_[i] * x_[i] - y_[i] / omega_[i];
      return 0.5 * (v_[i] * v_[i] + from_rest * from_rest);
    };
    const auto is_quiet = [&](std::size_t i) {
      return energy(i) <= (v_[i] == 0 ? 1 : kHoldShare) * settings.quiet_energy;
    };
    int active = body.modes;
    while (active > 0 && is_quiet(first + at(active - 1))) --active;
    for (int m = active; m < body.modes; ++m) {
      const std::size_t i = first + at(m);
      if (decay_[i] >= omega_[i]) continue;  // creeps
      if (v_[i] != 0) report_.held_mode_energy += energy(i);
      v_[i] = 0;
    }
    body.active = active;
  }
}

bool ContactGroup::wake_modes(const FlexibleSettings& settings)
{
  bool any = false;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    Body& body = bodies_[b];
    if (body.active == body.modes) continue;
    const double threshold = settings.excitation * std::max(kMinForce, body.weight);
    VecX change = VecX::Zero(body.modes - body.active);
    bool changed = false;
    for (const Contact& contact : contacts_) {
      const double step = contact.force - contact.held_force;
      if (std::abs(step) <= threshold) continue;
      for (const Side& side : {rows_[at(contact.row)].a, rows_[at(contact.row)].b}) {
        if (side.body != static_cast<int>(b)) continue;
        changed = true;
        change += step * Eigen::Map<const VecX>(&J_[side.first + at(body.moving())], change.size());
      }
    }
    if (!changed) continue;
    Eigen::Index last = change.size();
    const std::size_t first = at(body.first + body.moving());
    // The step of the force would leave the mode with the energy (step / omega)^2 / 2.
    const auto is_small = [&](Eigen::Index m) {
      const double step = std::abs(change[m]);
      const std::size_t i = first + at(m);
      return step <= threshold * scale_[i] ||
             0.5 * step * step <= settings.quiet_energy * omega_[i] * omega_[i];
    };
    while (last > 0 && is_small(last - 1)) --last;
    if (last == 0) continue;
    body.active += static_cast<int>(last);
    any = true;
  }
  if (any) prepared_ = 0;
  return any;
}

// Impacts that the slice before has left under way: the contact stores more than a slow impact would bring,
// and is not in balance.
void ContactGroup::find_running_impacts(const FlexibleSettings& settings)
{
  sum_forces();
  for (Contact& contact : contacts_) {
    if (!(contact.d > 0) || !(contact.mass > 0)) continue;
    const Row& row = rows_[at(contact.row)];
    double acceleration = 0;
    for (const Side& side : {row.a, row.b}) {
      if (side.body == kNoBody) continue;
      const Body& body = bodies_[at(side.body)];
      for (int k = 0; k < body.rigid; ++k) {
        const std::size_t i = at(body.first + k);
        acceleration += J_[side.first + at(k)] * (a_[i] + inverse_mass_[i] * y_[i]);
      }
    }
    const double rate = along(row, v_);
    const double speed = std::sqrt(rate * rate + 2 * contact.law.potential(contact.d) / contact.mass);
    const double reached =
        std::abs(rate) + std::abs(acceleration) * hertz_time(contact.mass, contact.law.stiffness, speed) / 4;
    if (std::min(speed, reached) > settings.min_impact_speed) begin_impact(contact, speed, 0, settings);
  }
}

void ContactGroup::begin_impact(Contact& contact, double speed, double time, const FlexibleSettings& settings)
{
  const double duration = hertz_time(contact.mass > 0 ? contact.mass : 1, contact.law.stiffness, speed);
  contact.impact_step = duration / settings.steps_per_impact;
  contact.impact_until = time + kMaxDurations * duration;
  add_tail(contact, duration, settings);
}

// The substep is h / 2^level.
int ContactGroup::wanted_level(double h, double time, const FlexibleSettings& settings)
{
  if (is_free()) return 0;
  double dt = std::min(h, settings.max_step);
  for (const Body& body : bodies_) {
    if (body.active == 0) continue;
    const double omega = omega_[at(body.first + body.moving() - 1)];
    dt = std::min(dt, 2 * std::numbers::pi / (settings.steps_per_period * omega));
  }
  for (Contact& contact : contacts_) {
    const Row& row = rows_[at(contact.row)];
    double rate = -along(row, v_);
    for (const TailMode& mode : contact.tail) rate -= mode.shape * mode.u;
    const bool is_over = time > contact.impact_until || (contact.force == 0 && contact.d <= 0 && rate <= 0);
    if (contact.impact_step > 0 && is_over) drop_tail(contact);
    const bool is_hertz = settings.contact == ContactLaw::hertz;
    if (is_hertz && contact.impact_step == 0 && rate > settings.min_impact_speed &&
        contact.d + rate * dt > 0) {
      begin_impact(contact, rate, time + std::max(0.0, -contact.d / rate), settings);
    }
    if (contact.impact_step == 0) continue;
    const double until_contact = contact.d < 0 && rate > 0 ? -contact.d / rate : 0;
    dt = std::min(dt, std::max(contact.impact_step, until_contact));
  }
  dt = std::max(dt, settings.min_step);
  return std::max(0, static_cast<int>(std::ceil(std::log2(h / dt) - kLevelRounding)));
}

// For an impact that is short for the highest mode, modes above it at the mean mobility of the upper octave:
// Y = sum of phi^2 over [f / 2, f] / 2 f, of a spacing df and phi^2 = 4 Y df. They live for the impact.
void ContactGroup::add_tail(Contact& contact, double duration, const FlexibleSettings& settings)
{
  if (!settings.tail_modes) return;
  for (const Side& side : {rows_[at(contact.row)].a, rows_[at(contact.row)].b}) {
    if (side.body == kNoBody) continue;
    const Body& body = bodies_[at(side.body)];
    if (body.modes == 0) continue;
    const double top = omega_[at(body.first + body.rigid + body.modes - 1)] / (2 * std::numbers::pi);
    if (duration >= 2 / top) continue;
    double sum = 0;
    int count = 0;
    for (int m = 0; m < body.modes; ++m) {
      if (omega_[at(body.first + body.rigid + m)] < std::numbers::pi * top) continue;
      const double shape = J_[side.first + at(body.rigid + m)];
      sum += shape * shape;
      ++count;
    }
    if (count < kMinOctaveModes) continue;
    const double mobility = sum / (2 * top);
    const double spacing = std::min(top, kTailSpacing / duration);
    for (double f = top + 0.5 * spacing; f < kTailTop / duration; f += spacing) {
      TailMode mode;
      mode.omega = 2 * std::numbers::pi * f;
      mode.shape = std::sqrt(4 * mobility * spacing);
      contact.tail.push_back(mode);
    }
  }
}

void ContactGroup::drop_tail(Contact& contact)
{
  for (const TailMode& mode : contact.tail)
    report_.tail_mode_energy += 0.5 * (mode.u * mode.u + mode.omega * mode.omega * mode.q * mode.q);
  contact.tail.clear();
  contact.impact_step = 0;
}

}  // namespace thrum::flexible
