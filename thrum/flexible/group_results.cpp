// SPDX-License-Identifier: MIT
// What a group has done, for those who build it.
#include <algorithm>

#include "thrum/base/index.h"
#include "thrum/flexible/contact_group.h"

namespace thrum::flexible {

namespace {

Vec3 three(const std::vector<double>& values, int first)
{
  return {values[at(first)], values[at(first + 1)], values[at(first + 2)]};
}

}  // namespace

Vec3 ContactGroup::displacement(int body) const
{
  return three(x_, bodies_[at(body)].first);
}

Vec3 ContactGroup::rotation(int body) const
{
  return bodies_[at(body)].axes * three(x_, bodies_[at(body)].first + 3);
}

Vec3 ContactGroup::velocity(int body) const
{
  return three(v_, bodies_[at(body)].first);
}

Vec3 ContactGroup::angular_velocity(int body) const
{
  return bodies_[at(body)].axes * three(v_, bodies_[at(body)].first + 3);
}

std::span<const double> ContactGroup::q(int body) const
{
  const Body& b = bodies_[at(body)];
  return {x_.data() + b.first + b.rigid, at(b.modes)};
}

std::span<const double> ContactGroup::u(int body) const
{
  const Body& b = bodies_[at(body)];
  return {v_.data() + b.first + b.rigid, at(b.modes)};
}

const ModalForces& ContactGroup::modal_forces(int body) const
{
  return modal_forces_[at(bodies_[at(body)].recorded)];
}

// J^T F of the substep that is committed. sum_forces() has those of the modes that take part.
void ContactGroup::record_forces(double dt)
{
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    const Body& body = bodies_[b];
    if (body.recorded < 0) continue;
    ModalForces& record = modal_forces_[at(body.recorded)];
    record.durations.push_back(dt);
    const std::size_t first = record.forces.size();
    record.forces.resize(first + at(body.modes), 0.0);
    std::copy_n(y_.begin() + body.first + body.rigid, body.active,
                record.forces.begin() + static_cast<std::ptrdiff_t>(first));
    if (body.active == body.modes) continue;
    const auto add_held = [&](int row, double force) {
      for (const Side& side : {rows_[at(row)].a, rows_[at(row)].b}) {
        if (side.body != static_cast<int>(b) || force == 0) continue;
        for (int m = body.active; m < body.modes; ++m)
          record.forces[first + at(m)] += force * J_[side.first + at(body.rigid + m)];
      }
    };
    for (const Contact& contact : contacts_) add_held(contact.row, contact.force);
    for (const Slip& slip : slips_) {
      for (std::size_t i = 0; i < at(slip.desc.count); ++i) add_held(slip.desc.rows[i], slip.force[i]);
    }
  }
}

double ContactGroup::indentation(int contact) const
{
  return contacts_[at(contact)].d;
}
double ContactGroup::force(int contact) const
{
  return contacts_[at(contact)].force;
}
double ContactGroup::impulse(int contact) const
{
  return contacts_[at(contact)].impulse;
}
double ContactGroup::approach(int contact) const
{
  return contacts_[at(contact)].approach;
}

std::array<double, 2> ContactGroup::slip_force(int slip) const
{
  const Slip& s = slips_[at(slip)];
  return {-s.desc.stiffness * s.stretch[0], -s.desc.stiffness * s.stretch[1]};
}

std::array<double, 2> ContactGroup::slip_impulse(int slip) const
{
  return slips_[at(slip)].impulse;
}

double ContactGroup::kinetic_energy() const
{
  double sum = 0;
  for (const Body& body : bodies_) {
    for (int k = 0; k < body.rigid; ++k) {
      const std::size_t i = at(body.first + k);
      if (inverse_mass_[i] > 0) sum += 0.5 * v_[i] * v_[i] / inverse_mass_[i];
    }
  }
  return sum;
}

double ContactGroup::modal_energy() const
{
  double sum = 0;
  for (const Body& body : bodies_) {
    for (int k = body.rigid; k < body.rigid + body.modes; ++k) {
      const std::size_t i = at(body.first + k);
      sum += 0.5 * (v_[i] * v_[i] + omega_[i] * omega_[i] * x_[i] * x_[i]);
    }
  }
  return sum;
}

double ContactGroup::external_work() const
{
  return work_;
}

}  // namespace thrum::flexible
