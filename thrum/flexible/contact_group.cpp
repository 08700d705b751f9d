// SPDX-License-Identifier: MIT
#include "thrum/flexible/contact_group.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "thrum/base/index.h"
#include "thrum/elastic/damped_oscillation.h"
#include "thrum/numerics/small_cholesky.h"

namespace thrum::flexible {

namespace {

constexpr int kRigid = 6;
/// The finest substep is this share of a slice, as a power of two.
constexpr int kMaxLevel = 20;

double dot(const double* a, const double* b, int n)
{
  return numerics::wide_dot(a, b, at(n));
}

void add(const double* a, double factor, double* b, int n)
{
  numerics::wide_add(a, factor, b, at(n));
}

// Displacement of a mode by a unit force that is held for a time t from rest, r'' + 2 d r' + w^2 r = 1: its
// power series where (1 - cosine - d sine) / w^2 would cancel.
double held_response(double omega, double decay, double t, const elastic::DampedOscillation& now)
{
  constexpr double kSmallAngle = 0.1;
  constexpr int kTerms = 14;
  const double w2 = omega * omega;
  if ((omega + decay) * t > kSmallAngle) return (1 - now.cosine - decay * now.sine) / w2;
  double before = 0;  // terms of the powers n and n + 1 of t
  double term = 0;
  double sum = 0;
  for (int n = 0; n < kTerms; ++n) {
    const double source = n == 0 ? t * t : 0;
    const double next = (source - 2 * decay * t * (n + 1) * term - w2 * t * t * before) / ((n + 2) * (n + 1));
    sum += next;
    before = term;
    term = next;
  }
  return sum;
}

/// After so many sweeps their rate predicts how many are left.
constexpr int kMinSweeps = 5;

// If they go on as from the one before the last to the last.
double sweeps_left(double before, double residual, double tolerance)
{
  if (residual <= tolerance) return 0;
  if (!(residual < before)) return std::numeric_limits<double>::infinity();
  return std::log(tolerance / residual) / std::log(residual / before);
}

// A mode of which a substep is more than a quarter of a period, in a group with more contacts than such
// modes, is followed by its compliance: at the end it stands where the forces hold it, q = J^T F / w^2.
// Forces that are held over a substep cannot follow it any better, and (1 - cos w dt) / w^2 of its true
// motion may be anything between 0 and twice 1 / w^2. The contacts lose w^2 (q1 - q0)^2 / 2 and the speed of
// the mode by it, and never gain. Fewer contacts do not hold such modes, which carry off what an impact gives
// them.
bool is_static(double omega, double decay, double dt)
{
  constexpr double kMaxAngle = 0.5 * std::numbers::pi;
  return omega * dt > kMaxAngle && decay * dt < kMaxAngle;
}

}  // namespace

// -----------------------------------------------------------------------------------------------------------
// Building

void ContactGroup::clear()
{
  bodies_.clear();
  rows_.clear();
  contacts_.clear();
  slips_.clear();
  patches_.clear();
  modal_forces_.clear();
  for (std::vector<double>* values : {&x_, &v_, &a_, &inverse_mass_, &omega_, &decay_, &scale_, &J_})
    values->clear();
  report_ = {};
  work_ = 0;
  prepared_ = 0;
}

int ContactGroup::add_body(const GroupBodyDesc& desc)
{
  const int modes = desc.modes != nullptr ? static_cast<int>(desc.modes->size()) : 0;
  if (!desc.moves && modes == 0) return kNoBody;
  Body body;
  body.first = static_cast<int>(x_.size());
  body.rigid = desc.moves ? kRigid : 0;
  body.modes = modes;
  body.active = modes;
  body.axes = desc.inertia_axes;
  body.weight = desc.weight;
  if (desc.records_forces && modes > 0) {
    body.recorded = static_cast<int>(modal_forces_.size());
    modal_forces_.emplace_back();
  }
  const auto coordinate = [&](double x, double v, double a, double inverse_mass, double omega, double decay,
                              double scale) {
    x_.push_back(x);
    v_.push_back(v);
    a_.push_back(a);
    inverse_mass_.push_back(inverse_mass);
    omega_.push_back(omega);
    decay_.push_back(decay);
    scale_.push_back(scale);
  };
  if (desc.moves) {
    for (int k = 0; k < 3; ++k)
      coordinate(0, desc.velocity[k], desc.acceleration[k], desc.inverse_mass, 0, 0, 0);
    const Vec3 spin = body.axes.transpose() * desc.angular_velocity;
    const Vec3 gain = body.axes.transpose() * desc.angular_acceleration;
    for (int k = 0; k < 3; ++k) coordinate(0, spin[k], gain[k], desc.inverse_inertia[k], 0, 0, 0);
  }
  for (int m = 0; m < modes; ++m) {
    coordinate(desc.q.empty() ? 0 : desc.q[at(m)], desc.u.empty() ? 0 : desc.u[at(m)], 0, 1,
               desc.modes->omegas[m], desc.modes->decays[m],
               desc.mode_scale.empty() ? 1 : desc.mode_scale[at(m)]);
  }
  bodies_.push_back(body);
  return static_cast<int>(bodies_.size()) - 1;
}

int ContactGroup::add_row(const RowSide& a, const RowSide& b)
{
  const auto side = [&](const RowSide& desc) -> Side {
    if (desc.body == kNoBody) return {};
    const Body& body = bodies_[at(desc.body)];
    const Side result{desc.body, J_.size()};
    if (body.rigid > 0) {
      const Vec3 moment = body.axes.transpose() * desc.moment;
      for (int k = 0; k < 3; ++k) J_.push_back(desc.direction[k]);
      for (int k = 0; k < 3; ++k) J_.push_back(moment[k]);
    }
    for (int m = 0; m < body.modes; ++m) J_.push_back(desc.modes.empty() ? 0 : desc.modes[at(m)]);
    return result;
  };
  Row row;
  row.a = side(a);
  row.b = side(b);
  rows_.push_back(row);
  return static_cast<int>(rows_.size()) - 1;
}

double ContactGroup::effective_mass(int row) const
{
  double rigid = 0;
  double modal = 0;
  for (const Side& side : {rows_[at(row)].a, rows_[at(row)].b}) {
    if (side.body == kNoBody) continue;
    const Body& body = bodies_[at(side.body)];
    for (int k = 0; k < body.rigid + body.modes; ++k) {
      const double j = J_[side.first + at(k)];
      (k < body.rigid ? rigid : modal) += j * j * inverse_mass_[at(body.first + k)];
    }
  }
  const double mobility = rigid > 0 ? rigid : modal;
  return mobility > 0 ? 1 / mobility : 0;
}

double ContactGroup::modal_separation(int row, bool without_a, bool without_b) const
{
  const auto of = [&](const Side& side) {
    if (side.body == kNoBody) return 0.0;
    const Body& body = bodies_[at(side.body)];
    return dot(&J_[side.first + at(body.rigid)], &x_[at(body.first + body.rigid)], body.modes);
  };
  return (without_a ? 0 : of(rows_[at(row)].a)) + (without_b ? 0 : of(rows_[at(row)].b));
}

void ContactGroup::begin_patch()
{
  patches_.push_back({contacts_.size(), contacts_.size(), slips_.size(), slips_.size()});
}

int ContactGroup::add_contact(int row, const elastic::HeldContact& law, double d, double force)
{
  Contact contact;
  contact.row = row;
  contact.law = law;
  contact.d = d;
  contact.force = force;
  contact.held_force = force;
  contact.mass = effective_mass(row);
  contact.approach = along(rows_[at(row)], v_);
  contacts_.push_back(contact);
  patches_.back().end_contact = contacts_.size();
  return static_cast<int>(contacts_.size()) - 1;
}

int ContactGroup::add_slip(const SlipDesc& desc)
{
  Slip slip;
  slip.desc = desc;
  for (std::size_t i = 0; i < at(desc.count); ++i) {
    slip.stretch[i] = -desc.force[i] / desc.stiffness;
    slip.force[i] = desc.force[i];
  }
  slips_.push_back(slip);
  patches_.back().end_slip = slips_.size();
  return static_cast<int>(slips_.size()) - 1;
}

// -----------------------------------------------------------------------------------------------------------
// A slice

void ContactGroup::advance(double h, const FlexibleSettings& settings, SubstepObserver* observer)
{
  for (std::vector<double>* values :
       {&dx_, &v_free_, &weight_, &v_weight_, &cosine_, &sine_, &z_, &y_, &impulse_weight_, &hard_weight_})
    values->assign(x_.size(), 0.0);
  JW_.assign(J_.size(), 0.0);
  prepared_ = 0;
  lost_ = 0;
  sweeps_are_slow_ = false;
  const double before = kinetic_energy() + modal_energy() + stored_energy();
  choose_modes(settings);
  if (settings.contact == ContactLaw::hertz) find_running_impacts(settings);
  constexpr std::int64_t kTicks = std::int64_t{1} << kMaxLevel;
  int min_level = 0;  // of the rest of the slice
  int iterations_before = iterations();
  for (std::int64_t tick = 0; tick < kTicks;) {
    const double time = h * static_cast<double>(tick) / static_cast<double>(kTicks);
    int level = std::min(kMaxLevel, std::max(min_level, wanted_level(h, time, settings)));
    // Substeps of one length begin at its multiples.
    while ((tick & ((kTicks >> level) - 1)) != 0) ++level;
    const double dt = std::ldexp(h, -level);
    if (dt != prepared_) prepare_level(dt, settings);
    if (settings.contact == ContactLaw::hertz) move_freely(dt);
    const bool solved =
        settings.contact == ContactLaw::hertz ? solve(dt, settings) : solve_hard(dt, settings);
    if (settings.adapt_modes && wake_modes(settings)) continue;
    if (!solved && settings.contact == ContactLaw::hertz && 0.5 * dt >= settings.min_step) {
      // Bodies yield less in a shorter substep, so that contacts depend less on each other and sweeps
      // converge.
      min_level = level + 1;
      ++report_.shortened;
      continue;
    }
    if (!solved) {
      ++report_.unsolved;
      report_.max_residual = std::max(report_.max_residual, residual_);
    }
    if (observer != nullptr) {
      const SolveStatus status = solved ? SolveStatus::solved : SolveStatus::iteration_limit;
      observer->on_substep(*this, {time, dt, status, residual_, iterations() - iterations_before});
    }
    iterations_before = iterations();
    commit(dt, settings);
    tick += kTicks >> level;
  }
  for (Contact& contact : contacts_) drop_tail(contact);
  if (settings.contact == ContactLaw::hard) {
    for (Slip& slip : slips_) {
      for (std::size_t i = 0; i < at(slip.desc.count); ++i)
        slip.stretch[i] = -slip.force[i] / slip.desc.stiffness;
    }
    return;
  }
  report_.contact_energy = stored_energy();
  lost_ = std::max(0.0, before + work_ - kinetic_energy() - modal_energy() - report_.contact_energy);
}

// How each coordinate answers to a force that is held over dt, and what each row yields.
void ContactGroup::prepare_level(double dt, const FlexibleSettings& settings)
{
  prepared_ = dt;
  newton_fits_ = false;
  std::size_t fast_modes = 0;
  for (const Body& body : bodies_) {
    for (int k = body.rigid; k < body.moving(); ++k)
      fast_modes += is_static(omega_[at(body.first + k)], decay_[at(body.first + k)], dt) ? 1 : 0;
  }
  const bool is_hard = settings.contact == ContactLaw::hard;
  const bool is_exact = is_hard || contacts_.size() <= fast_modes;
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      if (k < body.rigid) {
        weight_[i] = 0.5 * dt * dt * inverse_mass_[i];
        v_weight_[i] = dt * inverse_mass_[i];
        continue;
      }
      const bool is_quiet = k >= body.moving() && decay_[i] < omega_[i];
      if (is_quiet || (!is_exact && is_static(omega_[i], decay_[i], dt))) {
        // Impulses cannot hold a mode: with them it stays where it is.
        cosine_[i] = 0;
        sine_[i] = 0;
        weight_[i] = is_hard ? 0 : 1 / (omega_[i] * omega_[i]);
        v_weight_[i] = 0;
        continue;
      }
      const elastic::DampedOscillation now = elastic::damped_oscillation(omega_[i], decay_[i], dt);
      cosine_[i] = now.cosine - decay_[i] * now.sine;
      sine_[i] = now.sine;
      weight_[i] = held_response(omega_[i], decay_[i], dt, now);
      v_weight_[i] = sine_[i];
    }
  }
  weigh_rows(weight_);
}

// W J^T and the compliance J W J^T of each row, by the weights of the coordinates.
void ContactGroup::weigh_rows(const std::vector<double>& weights)
{
  for (Row& row : rows_) {
    row.compliance = 0;
    for (const Side& side : {row.a, row.b}) {
      if (side.body == kNoBody) continue;
      const Body& body = bodies_[at(side.body)];
      for (int k = 0; k < body.coordinates(); ++k) {
        const std::size_t c = side.first + at(k);
        JW_[c] = J_[c] * weights[at(body.first + k)];
        row.compliance += J_[c] * JW_[c];
      }
    }
  }
}

void ContactGroup::move_freely(double dt)
{
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      if (k < body.rigid) {
        dx_[i] = dt * (v_[i] + 0.5 * dt * a_[i]);
        v_free_[i] = v_[i] + dt * a_[i];
        continue;
      }
      const double w2 = omega_[i] * omega_[i];
      dx_[i] = sine_[i] * v_[i] - w2 * weight_[i] * x_[i];
      v_free_[i] = cosine_[i] * v_[i] - w2 * sine_[i] * x_[i];
    }
  }
  for (Row& row : rows_) row.free = along(row, dx_);
  for (Contact& contact : contacts_) {
    contact.d_free = contact.d - rows_[at(contact.row)].free;
    contact.tail_compliance = 0;
    for (TailMode& mode : contact.tail) {
      const double angle = mode.omega * dt;
      const double cosine = std::cos(angle);
      const double sine = std::sin(angle) / mode.omega;
      mode.free = sine * mode.u - (1 - cosine) * mode.q;
      mode.u_free = cosine * mode.u - mode.omega * mode.omega * sine * mode.q;
      contact.d_free -= mode.shape * mode.free;
      contact.tail_compliance += mode.shape * mode.shape * (1 - cosine) / (mode.omega * mode.omega);
    }
    // In the middle of the substep, as far as it is known before the solution: a damper that depends on the
    // solution would not grow with it. One that stops the bodies within the substep is the strongest: held
    // over it, a stronger one would throw them back.
    const double compliance = rows_[at(contact.row)].compliance + contact.tail_compliance;
    contact.damper = contact.law.damper(0.5 * (contact.d + contact.d_free)) / dt;
    if (contact.damper * compliance > 1) contact.damper = 1 / compliance;
  }
}

double ContactGroup::along(const Row& row, const std::vector<double>& values) const
{
  double sum = 0;
  for (const Side& side : {row.a, row.b}) {
    if (side.body == kNoBody) continue;
    const Body& body = bodies_[at(side.body)];
    sum += dot(&J_[side.first], &values[at(body.first)], body.coordinates());
  }
  return sum;
}

void ContactGroup::add_along(const Row& row, const std::vector<double>& coefficients, double factor,
                             std::vector<double>& values) const
{
  for (const Side& side : {row.a, row.b}) {
    if (side.body == kNoBody) continue;
    const Body& body = bodies_[at(side.body)];
    add(&coefficients[side.first], factor, &values[at(body.first)], body.coordinates());
  }
}

// -----------------------------------------------------------------------------------------------------------
// Forces of a substep

double ContactGroup::normal_force(const Patch& patch) const
{
  double sum = 0;
  for (std::size_t i = patch.first_contact; i < patch.end_contact; ++i) sum += contacts_[i].force;
  return sum;
}

// Forces that have just vanished have changed by all of themselves: they have not settled.
double ContactGroup::relative_change(double change, double normal) const
{
  if (!(change > 0)) return 0;
  double largest = normal;
  for (std::size_t i = 0; i < slips_.size() && !(normal > 0); ++i) {
    const Slip& slip = slips_[i];
    if (!slip.desc.is_joint) continue;
    const double arm = std::max(slip.desc.limit, std::numeric_limits<double>::min());
    for (std::size_t k = 0; k < at(slip.desc.count); ++k)
      largest = std::max(largest, std::abs(slip.force[k]) / arm);
  }
  return largest > 0 ? change / largest : 1;
}

// W J^T F of the forces that there are.
void ContactGroup::sum_displacements()
{
  std::fill(z_.begin(), z_.end(), 0.0);
  for (const Contact& contact : contacts_) {
    if (contact.force != 0) add_along(rows_[at(contact.row)], JW_, contact.force, z_);
  }
  for (const Slip& slip : slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      if (slip.force[i] != 0) add_along(rows_[at(slip.desc.rows[i])], JW_, slip.force[i], z_);
    }
  }
}

// J^T F.
void ContactGroup::sum_forces()
{
  std::fill(y_.begin(), y_.end(), 0.0);
  for (const Contact& contact : contacts_) {
    if (contact.force != 0) add_along(rows_[at(contact.row)], J_, contact.force, y_);
  }
  for (const Slip& slip : slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
      if (slip.force[i] != 0) add_along(rows_[at(slip.desc.rows[i])], J_, slip.force[i], y_);
    }
  }
}

// Returns whether all forces have settled.
bool ContactGroup::solve(double dt, const FlexibleSettings& settings)
{
  if (sweeps_are_slow_ && solve_by_newton(dt, settings)) return true;
  // Sweeps that would need more than those before Newton's method make way for it at once.
  int last =
      sweeps_are_slow_ ? settings.iterations : std::min(settings.sweeps_before_newton, settings.iterations);
  sweeps_are_slow_ = false;
  sum_displacements();
  double before = std::numeric_limits<double>::infinity();
  for (int sweep = 0; sweep < settings.iterations; ++sweep) {
    const bool is_slow = sweep >= kMinSweeps && last < settings.iterations &&
                         sweep + sweeps_left(before, residual_, settings.tolerance) > last;
    if (sweep == last || is_slow) {
      last = settings.iterations;
      sweeps_are_slow_ = solve_by_newton(dt, settings);
      if (sweeps_are_slow_) return true;
      sum_displacements();
    }
    before = residual_;
    ++report_.sweeps;
    double change = 0;
    double largest = 0;
    for (const Patch& patch : patches_) {
      double normal = 0;
      for (std::size_t i = patch.first_contact; i < patch.end_contact; ++i) {
        change = std::max(change, sweep_contact(contacts_[i]));
        normal += contacts_[i].force;
      }
      largest = std::max(largest, normal);
      for (std::size_t i = patch.first_slip; i < patch.end_slip; ++i) {
        // Torques count by the force that has them on the arm of their limit.
        const double arm = std::max(slips_[i].desc.limit, std::numeric_limits<double>::min());
        change = std::max(change, sweep_slip(slips_[i], normal, dt) / std::max(arm, settings.tolerance));
      }
    }
    residual_ = relative_change(change, largest);
    if (residual_ <= settings.tolerance) return true;
  }
  return false;
}

// Returns by how much.
double ContactGroup::change_force(Contact& contact, double force)
{
  const double change = force - contact.force;
  if (change != 0) add_along(rows_[at(contact.row)], JW_, change, z_);
  contact.force = force;
  return std::abs(change);
}

double ContactGroup::change_force(Slip& slip, const std::array<double, 2>& force)
{
  double change = 0;
  for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
    const double step = force[i] - slip.force[i];
    if (step == 0) continue;
    add_along(rows_[at(slip.desc.rows[i])], JW_, step, z_);
    slip.force[i] = force[i];
    change = std::max(change, std::abs(step));
  }
  return change;
}

double ContactGroup::sweep_contact(Contact& contact)
{
  const Row& row = rows_[at(contact.row)];
  const double compliance = row.compliance + contact.tail_compliance;
  // With the force of this contact taken away.
  const double free = contact.d_free - along(row, z_) + row.compliance * contact.force;
  if (contact.force == 0 && free <= 0 && contact.d <= 0) return 0;
  return change_force(contact, elastic::solve_held_force(contact.law, contact.d, free, compliance,
                                                         contact.damper, contact.force));
}

// With the way s over the substep the spring and its damper give F = -(k (e + s / 2) + c s / dt), where
// s = s_free + r F: a linear equation for F in each direction. Both are brought nearer to it by the same
// share, so that a force that is limited points against the slip.
double ContactGroup::sweep_slip(Slip& slip, double normal, double dt)
{
  std::array<double, 2> wanted{};
  const double resistance = 0.5 * slip.desc.stiffness + slip.desc.damping / dt;
  const double limit = slip.max_force(normal);
  double compliance = 0;
  for (std::size_t i = 0; i < at(slip.desc.count); ++i)
    compliance = std::max(compliance, rows_[at(slip.desc.rows[i])].compliance);
  for (std::size_t i = 0; i < at(slip.desc.count) && limit > 0; ++i) {
    const Row& row = rows_[at(slip.desc.rows[i])];
    const double way = row.free + along(row, z_);
    wanted[i] = slip.force[i] - (slip.force[i] + slip.desc.stiffness * slip.stretch[i] + resistance * way) /
                                    (1 + resistance * compliance);
  }
  const double length = std::hypot(wanted[0], wanted[1]);
  slip.slips = length > limit || !(limit > 0);
  if (length > limit) wanted = {wanted[0] * limit / length, wanted[1] * limit / length};
  return change_force(slip, wanted);
}

// Moves everything by the forces found. The displacements are summed anew, since sweeps have rounded.
void ContactGroup::commit(double dt, const FlexibleSettings& settings)
{
  const bool is_hard = settings.contact == ContactLaw::hard;
  ++report_.substeps;
  sum_forces();
  if (!modal_forces_.empty()) record_forces(dt);
  if (is_hard) commit_hard(dt);
  for (const Body& body : bodies_) {
    report_.active_modes += static_cast<std::uint64_t>(body.active);
    for (int k = 0; k < body.coordinates(); ++k) {
      const std::size_t i = at(body.first + k);
      if (!is_hard) {
        dx_[i] += weight_[i] * y_[i];
        v_free_[i] += v_weight_[i] * y_[i];
      }
      x_[i] += dx_[i];
      v_[i] = v_free_[i];
      if (k < body.rigid && inverse_mass_[i] > 0) work_ += a_[i] / inverse_mass_[i] * dx_[i];
    }
  }
  for (Contact& contact : contacts_) {
    contact.d -= along(rows_[at(contact.row)], dx_);
    for (TailMode& mode : contact.tail) {
      const double half = std::sin(0.5 * mode.omega * dt) / mode.omega;
      const double way = mode.free + 2 * half * half * mode.shape * contact.force;
      mode.q += way;
      mode.u = mode.u_free + std::sin(mode.omega * dt) / mode.omega * mode.shape * contact.force;
      contact.d -= mode.shape * way;
    }
    contact.impulse += dt * contact.force;
  }
  for (Slip& slip : slips_) {
    for (std::size_t i = 0; i < at(slip.desc.count); ++i) slip.impulse[i] += dt * slip.force[i];
    if (!is_hard) stretch(slip);
  }
}

// A spring that slips keeps the stretch of its force, as far as the work of the substep allows.
void ContactGroup::stretch(Slip& slip)
{
  double stored = 0;
  double work = 0;  // on the bodies
  double left = 0;
  std::array<double, 2> stretch{};
  for (std::size_t i = 0; i < at(slip.desc.count); ++i) {
    const double way = along(rows_[at(slip.desc.rows[i])], dx_);
    stored += slip.stretch[i] * slip.stretch[i];
    work += slip.force[i] * way;
    stretch[i] = slip.slips ? -slip.force[i] / slip.desc.stiffness : slip.stretch[i] + way;
    left += stretch[i] * stretch[i];
  }
  const double allowed = std::max(0.0, stored - 2 * work / slip.desc.stiffness);
  if (slip.slips && left > allowed) {
    for (double& s : stretch) s *= std::sqrt(allowed / left);
  }
  slip.stretch = stretch;
}

}  // namespace thrum::flexible
